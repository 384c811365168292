#!/usr/bin/env python3
"""Whether there is a GPU of NVIDIA's; builds what the evaluation runs on it, with tools/gpu_build.py: gpu.py

Without a GPU, or without nvcc, it builds nothing. Programs that cannot be built are reported by the page as not measured.
"""
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join("build", "gpu-check")  # in the repository; that of tools/gpu-check, which builds the same
QUERY_S = 20


def capability():
    """Compute capability of the first GPU, like "9.0"; empty if there is none."""
    try:
        done = subprocess.run(["nvidia-smi", "-i", "0", "--query-gpu=compute_cap", "--format=csv,noheader"], capture_output=True, text=True,
                              timeout=QUERY_S, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.split()
    return lines[0] if done.returncode == 0 and lines else ""


def nvcc():
    """The compiler for device code, or None."""
    places = (os.environ.get("NVCC"), "nvcc", "/usr/local/cuda/bin/nvcc")
    return next((path for path in map(shutil.which, filter(None, places)) if path), None)


def main():
    found = capability()
    if not found:
        return 0
    compiler = nvcc()
    if compiler is None:
        print("evaluate: there is a GPU, and no nvcc: nothing is measured on it (install the CUDA toolkit, or name nvcc in NVCC)")
        return 0
    sys.path.insert(0, os.path.join(SOURCE, "tools"))
    import gpu_build
    try:
        folder = pathlib.Path(SOURCE, FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        gpu_build.build(folder, compiler, found, lambda seconds: seconds)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as problem:
        print(f"evaluate: programs for the GPU were not built: {problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
