#!/usr/bin/env python3
"""Whether there is a GPU of NVIDIA's; builds what the evaluation runs on it, with tools/gpu_build.py: gpu.py

Without a GPU, or without nvcc, it builds nothing. Programs that cannot be built are reported by the page as not measured.
"""
import os
import pathlib
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join("build", "gpu-check")  # in the repository; that of tools/gpu-check, which builds the same
sys.path.append(os.path.join(SOURCE, "tools"))

import gpu_build  # noqa: E402


def capability():
    """Compute capability of the first GPU, like "9.0"; empty if there is none."""
    found = gpu_build.query(["compute_cap"])
    return found[0] if found else ""


def main():
    found = capability()
    if not found:
        return 0
    compiler = gpu_build.find_nvcc()
    if compiler is None:
        print("evaluate: there is a GPU, and no nvcc: nothing is measured on it (install the CUDA toolkit, or name nvcc in NVCC)")
        return 0
    try:
        folder = pathlib.Path(SOURCE, FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        gpu_build.build(folder, compiler, found, lambda seconds: seconds)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as problem:
        print(f"evaluate: programs for the GPU were not built: {problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
