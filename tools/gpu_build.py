"""The GPU of this machine; builds the library and the programs of tools/gpu-check for it."""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Examples with device functions -> the source that they share with other examples.
NUMERICS = {"device_conjugate_gradient": "csr_matrix", "device_himeno": "grid"}


def run(command, seconds, **more):
    return subprocess.run(command, timeout=seconds, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)


def expect(done, what):
    if done.returncode != 0:
        raise RuntimeError(f"{what} has failed: {(done.stderr or done.stdout).strip()[-2000:]}")


def query(fields):
    """What nvidia-smi says of the first GPU, or None."""
    try:
        done = run(["nvidia-smi", "-i", "0", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"], 20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0 or not done.stdout.strip():
        return None
    return [one.strip() for one in done.stdout.strip().splitlines()[0].split(",")]


def find_nvcc():
    """The compiler for device code, or None."""
    places = (os.environ.get("NVCC"), "nvcc", "/usr/local/cuda/bin/nvcc")
    return next((path for path in map(shutil.which, filter(None, places)) if path), None)


class objects:
    """Sources that are compiled beside the library, all at once."""

    def __init__(self, folder, nvcc, capability):
        self.folder = folder / "gpu"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.device = [nvcc, "-std=c++20", f"-arch=sm_{capability.replace('.', '')}", "-rdc=true", "--expt-relaxed-constexpr", "-O3"]
        applications = ROOT / "examples/applications"
        self.places = [f"-I{ROOT / 'include'}", f"-I{applications}", f"-I{applications / 'conjugate_gradient'}"]
        toolkit = pathlib.Path(nvcc).resolve().parent.parent
        self.host = [os.environ.get("CXX", "g++"), "-std=c++20", "-O3", f"-I{toolkit / 'include'}"]
        self.cusparse = (toolkit / "include/cusparse.h").exists()
        self.running = []
        newest = max(one.stat().st_mtime for place in (ROOT / "include", ROOT / "benchmarks/gpu", applications)
                     for one in place.rglob("*") if one.is_file())
        for name, source, more in self.sources(applications):
            target = self.folder / f"{name}.o"
            if target.exists() and target.stat().st_mtime > newest:
                continue
            for_device = source.suffix == ".cu" or "-x" in more
            command = (self.device if for_device else self.host) + self.places + more + ["-c", str(source), "-o", f"{target}.new"]
            self.running.append((name, target, subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)))

    def sources(self, applications):
        for source in sorted((ROOT / "benchmarks/gpu").iterdir()):
            if source.suffix in (".cu", ".cpp"):
                sparse = source.stem == "plain_cuda" and self.cusparse
                yield source.stem, source, ["-DGPU_BENCHMARK_CUSPARSE"] if sparse else []
        for name in NUMERICS:
            yield name, applications / name / "main.cpp", ["-x", "cu"]
        yield "csr_matrix", applications / "conjugate_gradient/csr_matrix.cpp", []
        yield "grid", applications / "himeno/grid.cpp", []

    def wait(self, left):
        """For all of them; the first that fails is an error."""
        for name, target, process in self.running:
            _, errors = process.communicate(timeout=left(400))
            if process.returncode != 0:
                raise RuntimeError(f"{name} does not compile: {errors.strip()[-2000:]}")
            pathlib.Path(f"{target}.new").replace(target)
        self.running = []

    def stop(self):
        for _, _, process in self.running:
            process.kill()

    def link(self, library, program, names, more, left):
        target = self.folder / program
        command = self.device + [str(self.folder / f"{name}.o") for name in names] + more
        expect(run([*command, f"-L{library}", "-lham", "-Xlinker", f"-rpath={library}", "-o", str(target)], left(120)), f"linking {program}")
        return target


def build(folder, nvcc, capability, left):
    """The library, the module and all programs; their paths by name."""
    jobs = str(os.cpu_count() or 1)
    parts = objects(folder, nvcc, capability)
    try:
        if not (folder / "CMakeCache.txt").exists():
            configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release", "-DHAM_LTO=OFF", "-DHAM_VEO=OFF",
                         "-DHAM_MPI=OFF", "-DHAM_BUILD_EXAMPLES=OFF", "-DHAM_BUILD_STATIC=OFF", "-DHAM_BUILD_BENCHMARKS=OFF",
                         f"-DCUDAToolkit_ROOT={pathlib.Path(nvcc).resolve().parent.parent}"]
            expect(run(configure, left(120)), "cmake")
        expect(run(["cmake", "--build", str(folder), "-j", jobs, "--target", "ham", "ham_main", "ham_cuda", "ham-info"], left(420)),
               "the build")
        parts.wait(left)
    finally:
        parts.stop()
    library = (folder / "lib").resolve()
    wrapped = [str(library / "libham_main.a"), "-Xlinker", "--wrap=main"]
    calls = ("device_calls", "device_functions", "floor", "gpu_calls", "random_frames")
    result = {"gpu_calls": parts.link(library, "gpu_calls", calls, [], left)}
    for name, of in NUMERICS.items():
        result[name] = parts.link(library, name, (name, of), wrapped, left)
    result["plain_cuda"] = parts.link(library, "plain_cuda", ("plain_cuda", "csr_matrix", "grid"),
                                      ["-lcusparse"] if parts.cusparse else [], left)
    return result
