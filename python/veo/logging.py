"""What the module says: the logger VEO, and where it writes."""
import logging

VEO = logging.getLogger("veo")


def reset_handler():
    for handler in list(VEO.handlers):
        VEO.removeHandler(handler)


def set_stream_handler(stream=None, level=logging.DEBUG):
    reset_handler()
    VEO.addHandler(logging.StreamHandler(stream))
    VEO.setLevel(level)


def set_file_handler(filename, level=logging.DEBUG):
    reset_handler()
    VEO.addHandler(logging.FileHandler(filename))
    VEO.setLevel(level)
