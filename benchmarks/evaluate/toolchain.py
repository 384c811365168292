"""What the programs were built with, and versions of the libraries that are measured with them."""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

ABSENT = "not visible"
PROGRAM = os.path.join("tools", "bench", "")  # whose flags are shown
FLAG = re.compile(r"-(O|m|f|g|std=|DNDEBUG|march|static|pthread)")
# Name, command, and where its version is in what the command prints.
COMMANDS = (("Open MPI", ("mpirun.openmpi", "--version"), r"\(\D*\)\s*([\d.]+\w*)"), ("MPICH", ("mpirun.mpich", "--version"), r"Version:\s*(\S+)"),
            ("clang and its OpenMP", ("clang++", "--version"), r"version\s+([\d.]+)"))
# Name, shared library, its function that tells the version, and where that is.
LIBRARIES = (("OpenBLAS", "libopenblas.so.0", "openblas_get_config()", r"OpenBLAS\s+([\d.]+)"),
             ("kernels of OpenBLAS", "libopenblas.so.0", "openblas_get_corename()", r"(\w+)"),
             ("OpenSSL", "libcrypto.so.3", "OpenSSL_version(0)", r"OpenSSL\s+(\S+)"), ("glibc", "libc.so.6", "gnu_get_libc_version()", r"([\d.]+)"))
LIMIT_S = 20


def cached(build, name):
    """An entry of CMake's cache; empty if there is none."""
    try:
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8", errors="replace") as file:
            match = re.search(rf"^{re.escape(name)}:\w+=(.*)$", file.read(), re.M)
    except OSError:
        return ""
    return match.group(1).strip() if match else ""


def _printed(argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def compiler(build):
    """Name and version of the compiler for C++, as CMake has found them."""
    found = {}
    for path in sorted(glob.glob(os.path.join(build, "CMakeFiles", "*", "CMakeCXXCompiler.cmake"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            found.update(re.findall(r'^set\(CMAKE_CXX_COMPILER_(ID|VERSION) "(.*)"\)$', file.read(), re.M))
    return f"{found['ID']} {found['VERSION']}" if {"ID", "VERSION"} <= found.keys() else ABSENT


def flags(build):
    """Kind of the build, and the flags of ham-bench that matter for its speed."""
    kind = cached(build, "CMAKE_BUILD_TYPE")
    try:
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            command = next(one["command"] for one in json.load(file) if PROGRAM in one["file"])
        used = [one for one in shlex.split(command) if FLAG.match(one)]
    except (OSError, ValueError, KeyError, StopIteration):
        used = [cached(build, name) for name in ("CMAKE_CXX_FLAGS", f"CMAKE_CXX_FLAGS_{kind.upper()}")]
    return ": ".join(one for one in (kind, " ".join(filter(None, used))) if one) or ABSENT


def libraries():
    """Texts like "Open MPI 4.1.4", of those that are there."""
    found = []
    for name, argv, pattern in COMMANDS:
        match = re.search(pattern, _printed(argv))
        found += [f"{name} {match.group(1)}"] if match else []
    for name, library, function, pattern in LIBRARIES:
        # In another process: a library that is loaded stays, and may start threads.
        code = (f"import ctypes; library = ctypes.CDLL({library!r}); function = library.{function.split('(')[0]}; "
                f"function.restype = ctypes.c_char_p; print(function({function.split('(')[1]}.decode())")
        match = re.search(pattern, _printed([sys.executable, "-c", code]))
        found += [f"{name} {match.group(1)}"] if match else []
    return found or [ABSENT]
