"""The commands of the evaluation. Times are those of two cores."""
from model import Measurement

BENCH = "{bin}/ham-bench"


def _bench(name, *arguments, needs=(), **rest):
    return Measurement(name, (BENCH, "--json", *arguments), ("program:ham-bench", *needs), **rest)


def _mpi(name, mpi, program, *arguments, ranks=2, needs=(), environment=(), **rest):
    """A program under the launcher of one MPI, each rank bound to a core."""
    bind = ("--bind-to", "core") if mpi == "openmpi" else ("-bind-to", "core")
    return Measurement(f"{name}-{mpi}", (f"mpirun.{mpi}", "-n", str(ranks), *bind, f"{{bin}}/{program}-{mpi}", *arguments),
                       (f"program:{program}-{mpi}", f"command:mpirun.{mpi}", *needs), environment=environment, **rest)


def _script(name, path, *arguments, **rest):
    return Measurement(name, ("{python}", "{source}/" + path, "--json", *arguments), (f"file:{path}", *rest.pop("needs", ())), **rest)


def _application(name, *arguments, program=None, **rest):
    program = f"applications/{program or name}"
    return Measurement(name, ("{bin}/" + program, "--json", *arguments), (f"program:{program}",), **rest)


ALL = (
    _bench("protocols", "protocols", expected_s=8, emulated=True),
    _bench("latency", "latency", expected_s=10),
    _bench("latency-emulated", "--transport", "emulated", "latency", expected_s=10, emulated=True),
    _bench("placement", "placement", needs=("subcommand:placement",), expected_s=20),
    _bench("bandwidth-shm", "bandwidth", expected_s=30),
    _bench("bandwidth-emulated", "--transport", "emulated", "bandwidth", expected_s=40, timeout_s=180, emulated=True),
    _bench("bandwidth-tcp", "--transport", "tcp", "bandwidth", expected_s=40, timeout_s=180),
    _bench("values", "values", expected_s=20),
    _bench("rate", "rate", expected_s=10),
    _bench("veo", "veo", needs=("subcommand:veo",), expected_s=30),
    _mpi("mpi", "openmpi", "ham-bench-mpi", "--json", expected_s=30, timeout_s=180),
    _mpi("mpi", "mpich", "ham-bench-mpi", "--json", expected_s=30, timeout_s=180),
    Measurement("kernels-openmpi", (BENCH, "kernels", "--json", "--mpi", "openmpi", "--spawns", "16"),
                ("program:ham-bench", "program:ham-bench-kernels-openmpi", "command:mpirun.openmpi"), expected_s=60, timeout_s=240),
    Measurement("kernels-mpich", (BENCH, "kernels", "--json", "--mpi", "mpich", "--spawns", "16"),
                ("program:ham-bench", "program:ham-bench-kernels-mpich", "command:mpirun.mpich", "spawns:mpich"), expected_s=60,
                timeout_s=240),
    _script("heat", "benchmarks/evaluate/heat.py", "--programs", "{bin}/kernels/openmpi", "--mpi", "openmpi",
            needs=("program:kernels/openmpi/heat", "command:mpirun.openmpi"), expected_s=40, timeout_s=240),
    _application("gemm", expected_s=30, timeout_s=180),
    _application("stream", expected_s=30, timeout_s=180),
    _application("himeno", expected_s=40, timeout_s=180),
    _application("execution-models", "--models", program="himeno", expected_s=30, timeout_s=180),
    _application("shallow_water", expected_s=40, timeout_s=180),
    _application("coupled", expected_s=30, timeout_s=180),
    _script("cg", "benchmarks/peers/cg.py", expected_s=60, timeout_s=240),
    _script("peers", "benchmarks/peers/run.py", expected_s=240, timeout_s=480),
)

MEASUREMENTS = {one.name: one for one in ALL}
