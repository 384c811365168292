"""The commands of the evaluation. Times are those of two cores."""
from model import Measurement

BENCH = "{bin}/ham-bench"
# Peers that were installed since are measured, too.
PEERS = ("{bin}/peers/*", "{source}/benchmarks/peers/*.*", "{source}/benchmarks/peers/python/*",
         "{source}/build/peers-python/lib/*/site-packages/*")
EMULATED = (("HAM_NODES", "emulated:1"),)
# What executes VEO's calls; libveo starts it, so that no command names it.
HELPER = "{bin}/../libexec/aveorun*"


def _bench(name, *arguments, needs=(), **rest):
    return Measurement(name, (BENCH, "--json", *arguments), ("program:ham-bench", *needs), **rest)


def _mpi(name, mpi, program, *arguments, ranks=2, needs=(), environment=(), **rest):
    """A program under the launcher of one MPI, each rank bound to a core."""
    bind = ("--bind-to", "core:overload-allowed") if mpi == "openmpi" else ("-bind-to", "core")
    return Measurement(f"{name}-{mpi}", (f"mpirun.{mpi}", "-n", str(ranks), *bind, f"{{bin}}/{program}-{mpi}", *arguments),
                       (f"program:{program}-{mpi}", f"command:mpirun.{mpi}", *needs), environment=environment, **rest)


def _script(name, path, *arguments, **rest):
    return Measurement(name, ("{python}", "{source}/" + path, "--json", *arguments), (f"file:{path}", *rest.pop("needs", ())), **rest)


def _application(name, *arguments, program=None, **rest):
    program = f"applications/{program or name}"
    return Measurement(name, ("{bin}/" + program, "--json", *arguments), (f"program:{program}",), **rest)


def _kernels(mpi):
    """Every spawn is measured, none extrapolated: a process each, 128 of them."""
    programs = (f"program:ham-bench-kernels-{mpi}", f"program:ham-bench-kernels-{mpi}-child")
    return Measurement(f"kernels-{mpi}", (BENCH, "kernels", "--json", "--mpi", mpi, "--spawns", "128"),
                       ("program:ham-bench", *programs, f"command:mpirun.{mpi}", f"spawns:{mpi}"), expected_s=122, timeout_s=320)


def _heat(mpi):
    folder = f"kernels/{mpi}"
    return _script(f"heat-{mpi}", "benchmarks/evaluate/heat.py", "--programs", "{bin}/" + folder, "--mpi", mpi,
                   needs=(f"program:{folder}/heat", f"command:mpirun.{mpi}", f"spawns:{mpi}"), uses=(f"{{bin}}/{folder}/heat_kernels",),
                   expected_s=20, timeout_s=240)


ALL = (
    _bench("protocols", "protocols", expected_s=10, emulated=True),
    _bench("latency", "latency", expected_s=12),
    _bench("placement", "placement", needs=("subcommand:placement",), expected_s=3),
    _bench("bandwidth-shm", "bandwidth", expected_s=30),
    _bench("bandwidth-emulated", "--transport", "emulated", "bandwidth", expected_s=70, timeout_s=200, emulated=True),
    _bench("bandwidth-tcp", "--transport", "tcp", "bandwidth", expected_s=80, timeout_s=240),
    _bench("values", "values", expected_s=30),
    _bench("rate", "rate", expected_s=6),
    _bench("groups", "groups", needs=("subcommand:groups",), expected_s=30),
    _bench("graphs", "graphs", needs=("subcommand:graphs",), expected_s=10),
    _bench("veo", "veo", needs=("subcommand:veo",), uses=(HELPER,), expected_s=25),
    _bench("veo-offload", "veo-offload", needs=("subcommand:veo-offload", "program:ham-bench.ve.so"), uses=(HELPER,), expected_s=6),
    _bench("openmp", "openmp", needs=("program:ham-bench.openmp.so",), expected_s=35),
    _mpi("mpi", "openmpi", "ham-bench-mpi", "--json", expected_s=10),
    _mpi("mpi", "mpich", "ham-bench-mpi", "--json", expected_s=10),
    _mpi("bandwidth-mpi", "openmpi", "ham-bench-mpi", "bandwidth", "--json", expected_s=30),
    _mpi("bandwidth-mpi", "mpich", "ham-bench-mpi", "bandwidth", "--json", expected_s=30),
    _kernels("openmpi"),
    _kernels("mpich"),
    _heat("openmpi"),
    _heat("mpich"),
    _application("gemm", expected_s=10),
    _application("stream", expected_s=15),
    _application("stream-cache", "--in-cache", program="stream", expected_s=4),
    _application("himeno", "--size", "M", expected_s=40, timeout_s=240),
    _application("execution-models", "--model", "all", program="himeno", expected_s=5),
    _application("execution-models-emulated", "--model", "all", program="himeno", environment=EMULATED, emulated=True, expected_s=5),
    _application("formatted-output", program="formatted_output", expected_s=5),
    _application("formatted-output-emulated", program="formatted_output", environment=EMULATED, emulated=True, expected_s=5),
    _application("forwarded-calls", program="forwarded_calls", uses=("{bin}/applications/libforwarded_calls*", HELPER),
                 expected_s=10),
    Measurement("device-himeno", ("{gpu}/gpu/device_himeno", "S", "--models", "--json", "--iterations", "50"), ("gpu:device_himeno",),
                ("{gpu}/lib*/libham*.so*",), environment=(("HAM_NODES", "cuda/blocks=64/threads=256"),), expected_s=10),
    _application("shallow-water", "--measure", "--columns", "1000", "--rows", "500", "--steps", "60", "--every", "15", "--repetitions", "5",
                 program="shallow_water", expected_s=22),
    _application("coupled", expected_s=20),
    _script("cg", "benchmarks/peers/cg.py", "--bin", "{bin}", "--budget", "120",
            needs=("program:applications/conjugate_gradient", "program:peers/cg_openmp"), uses=PEERS, expected_s=70, timeout_s=240),
    _script("peers", "benchmarks/peers/run.py", "--bin", "{bin}/peers", "--budget", "240", needs=("program:peers/floor", "program:peers/ham"),
            uses=PEERS, expected_s=260, timeout_s=500),
)

MEASUREMENTS = {one.name: one for one in ALL}
