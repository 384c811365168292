"""The module ``veo``, under this name, too: the surface of py-veo on HAM's libveo (docs/veo.md)."""

from veo import *  # noqa: F401,F403
