"""Kernels in helper processes: the surface of py-veo on HAM's libveo (docs/veo.md)."""
import gc, os, sys  # noqa: E401  a star import of py-veo gives these, too

import numpy as np

from . import _veo, logging
from ._veo import *  # noqa: F403
from ._veo import VEO_HMEM, OnStack, VeoArgs, VeoCtxt, VeoFunction, VeoLibrary, VeoMemRequest, VeoProc, VeoRequest
from .vebuild import VeBuild

__version__ = "1.5.0"
