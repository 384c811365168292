"""The experiments: what of the papers is repeated, by which measurements, and how their tables become plots."""
from measurements import MEASUREMENTS
from model import Experiment, Plot, Series

__all__ = ["EXPERIMENTS", "MEASUREMENTS"]

BANDWIDTH = "GB/s"


def _bandwidth_series(source, label, verbs=("put", "get"), role="ours"):
    return tuple(Series(f"{label}, {verb}", source, rf"^{verb}( GB/s)?$", "size", BANDWIDTH, role=role) for verb in verbs)


FIG9 = Experiment(
    "fig9", "Paper 1, Fig. 9: an empty offload over VEO, HAM over VEO, HAM over DMA",
    "HAM's two one-sided protocols over a link with the paper's latencies: messages, their number and their order are those of "
    "HAM, the link is emulated. The native call is the paper's figure.",
    ("protocols", "latency-emulated", "veo"),
    (Plot("Empty offload, the paper's latencies", "microseconds", (
        Series("paper 1", "protocols", "paper us", "empty offload", "Fig. 9", role="paper"),
        Series("here, emulated", "protocols", "here us", "empty offload", "Fig. 9")), "bars", emulated=True),
     Plot("Protocols over a PCIe link of 1.2 us", "nanoseconds", (
         Series("HAM", "protocols", "HAM ns", "protocol", "^empty offload"),
         Series("bare exchange over the link (floor)", "protocols", "floor ns", "protocol", "^empty offload", role="floor")),
          "bars", log_y=False, emulated=True),
     Plot("Native calls of this libveo", "microseconds per call", tuple(
         Series(f"Test {number}", "veo", rf"^Test {number}( us)?$", "#?calls", "us per call") for number in (2, 4)),
          x_label="calls")),
    ("1/fig9",),
    "No Vector Engine is here. VEO's and the DMA engine's latencies are the paper's, waited for by the emulated link. libveo is "
    "HAM's own, over shared memory.", True)

FIG10 = Experiment(
    "fig10", "Paper 1, Fig. 10: bandwidth of put and get over their size",
    "put, get and copy of 1 B to 256 MiB over every transport, each beside the memcpy of the same run.",
    ("bandwidth-emulated", "bandwidth-shm", "bandwidth-tcp", "mpi-openmpi", "mpi-mpich"),
    (Plot("Emulated link", "GB/s", (
        *_bandwidth_series("bandwidth-emulated", "emulated"),
        Series("memcpy (floor)", "bandwidth-emulated", "^(floor|memcpy)( GB/s)?$", "size", BANDWIDTH, role="floor")),
          x_label="size of the transfer", emulated=True),
     Plot("Shared memory", "GB/s", (
         *_bandwidth_series("bandwidth-shm", "shm", ("put", "get", "copy")),
         Series("memcpy (floor)", "bandwidth-shm", "^memcpy$", "size", BANDWIDTH, role="floor")), x_label="size of the transfer"),
     Plot("TCP and MPI", "GB/s", (
         *_bandwidth_series("bandwidth-tcp", "tcp"),
         *_bandwidth_series("mpi-openmpi", "Open MPI"), *_bandwidth_series("mpi-mpich", "MPICH")), x_label="size of the transfer")),
    ("1/fig10",), "The SHM and LHM instructions exist on the Vector Engine only.")

TABLE4 = Experiment(
    "table4", "Paper 1, Table IV: largest bandwidth between host and target",
    "The largest bandwidth of the runs of Fig. 10, for each transport.", ("bandwidth-emulated", "bandwidth-shm", "bandwidth-tcp"),
    (Plot("Bandwidth of large transfers", "GB/s", (
        *_bandwidth_series("bandwidth-shm", "shm"), *_bandwidth_series("bandwidth-tcp", "tcp"),
        *_bandwidth_series("bandwidth-emulated", "emulated")), "bars", log_y=False),),
    ("1/table4",), "The paper's figures are of PCIe Gen3 x16.")

PLACEMENT = Experiment(
    "placement", "Paper 1: second socket; here every kind of core pair",
    "An empty call between cores that share a core, an L2, an L3, a package, or nothing, as far as this machine has them.",
    ("placement", "latency"),
    (Plot("Empty call by pair of cores", "nanoseconds", (
        Series("HAM", "placement", "(sync|HAM|typical|median).*ns", "", ""),
        Series("cache line (floor)", "placement", "floor.*ns", "", "", role="floor")), "bars", log_y=False),),
    ("1/socket",), "A virtual machine shows the pairs that its host lets it see.")

VEO_TESTS = Experiment(
    "veo-tests", "Paper 2: Tests 1 to 4 of AVEO, transfers of 1 byte, bandwidth",
    "The tests of the paper with the same API, libveo of this library, the helper on the second core.", ("veo", "rate"),
    (Plot("Tests with this libveo and in the paper", "microseconds per call", (
        *(Series(f"Test {number}", "veo", rf"^Test {number}( us)?$", "#?calls", "us per call") for number in (1, 2, 3, 4)),
        *(Series(f"AVEO, Test {number}", "paper:2/tests", f"^AVEO Test {number} us", "calls", role="paper") for number in (1, 2))),
          x_label="calls"),
     Plot("The same tests with HAM's own calls", "nanoseconds per call", (
         *(Series(f"Test {number}", "rate", f"^Test {number}$", "calls", "nanoseconds per call") for number in (1, 2, 3, 4)),
         Series("batch", "rate", "^batch$", "calls", "nanoseconds per call"),
         Series("cache line (floor)", "rate", "^floor$", "calls", "nanoseconds per call", role="floor")), x_label="calls"),
     Plot("veo_write_mem and veo_read_mem", "GB/s", (
         Series("veo_write_mem", "veo", "veo_write_mem", "size", "GB/s"),
         Series("veo_read_mem", "veo", "veo_read_mem", "size", "GB/s"),
         Series("memcpy (floor)", "veo", "memcpy", "size", "GB/s", role="floor")), x_label="size of the transfer")),
    ("2/tests", "2/memory", "2/bandwidth"), "The helper is a process of this machine, not of a Vector Engine.")

FIG5 = Experiment(
    "fig5", "Paper 3, Fig. 5 and Table 1: cost of an offload, and the framework's part of it",
    "An empty call beside the bare exchange over the same medium: a cache line for shared memory, MPI_Send and MPI_Recv of the same "
    "bytes for MPI. The framework's part is the difference.", ("latency", "mpi-openmpi", "mpi-mpich", "peers"),
    (Plot("Empty call and its floor", "nanoseconds", (
        Series("HAM, shm", "latency", "^typical ns", "call", "one call", where=(("call", "empty"),)),
        Series("cache line (floor)", "latency", "^floor ns", "call", "one call", role="floor", where=(("call", "empty"),)),
        Series("HAM, Open MPI", "mpi-openmpi", "^HAM", "what", "floor", where=(("what", "sync, empty"),)),
        Series("MPI_Send, MPI_Recv (floor), Open MPI", "mpi-openmpi", "^floor", "what", "floor", role="floor",
               where=(("what", "sync, empty"),)),
        Series("HAM, MPICH", "mpi-mpich", "^HAM", "what", "floor", where=(("what", "sync, empty"),)),
        Series("MPI_Send, MPI_Recv (floor), MPICH", "mpi-mpich", "^floor", "what", "floor", role="floor",
               where=(("what", "sync, empty"),))), "bars", log_y=False),),
    ("3/fig5", "3/table1"),
    "LEO ended with the Xeon Phi. Its heir, the target directive of OpenMP, is among the peers, with LLVM's plug-in for the host.")

FIG6 = Experiment(
    "fig6", "Paper 3, Fig. 6: bandwidth of transfers beside raw MPI",
    "put and get over shared memory and over MPI, beside MPI_Send of the same sizes.", ("bandwidth-shm", "mpi-openmpi", "mpi-mpich"),
    (Plot("put, get and MPI_Send", "GB/s", (
        *_bandwidth_series("bandwidth-shm", "shm"),
        *_bandwidth_series("mpi-openmpi", "Open MPI"),
        Series("MPI_Send, Open MPI (floor)", "mpi-openmpi", r"^(MPI_Send|floor|stream)( GB/s)?$", "size", BANDWIDTH, role="floor"),
        Series("MPI_Send, MPICH (floor)", "mpi-mpich", r"^(MPI_Send|floor|stream)( GB/s)?$", "size", BANDWIDTH, role="floor")),
          x_label="size of the transfer"),),
    ("3/fig6",), "SCIF and its DMA engines ended with the Xeon Phi.")

GEMM = Experiment(
    "gemm", "Paper 4, Fig. 4: GEMM over targets", "OpenBLAS's SGEMM and DGEMM on 1 to n targets, checked, beside the same in one process.",
    ("gemm",),
    tuple(Plot(f"{name}MM over targets", "Gflop/s", (
        Series(f"{name}MM", "gemm", "^performance", "targets", low="lower quartile", high="upper quartile",
               where=(("product", f"^{name}"),)),
        Series("measured peak", "gemm", "^measured peak", "targets", role="floor", where=(("product", f"^{name}"),))),
               x_label="targets", log_x=False, log_y=False) for name in ("SGE", "DGE")),
    ("4/fig4",), "Targets are processes of this machine, one per core.")

STREAM = Experiment(
    "stream", "Paper 4, Fig. 5 and 6: STREAM Triad over targets", "Triad over resident vectors of 1 to n targets, checked.",
    ("stream",),
    (Plot("Triad over targets", "GB/s", (
        Series("targets", "stream", "^bandwidth", "targets", "STREAM", "lower quartile", "upper quartile",
               where=(("kernel", "Triad"),)),
        Series("threads of one process", "stream", "^threads of one process", "targets", "STREAM", role="floor",
               where=(("kernel", "Triad"),))), x_label="targets", log_x=False, log_y=False),),
    ("4/fig5", "4/fig6", "4/table2"), "Targets are processes of this machine and share its memory.")

HIMENO = Experiment(
    "himeno", "Paper 4, Fig. 7 and 8: Himeno over targets", "The Jacobi kernel on 1 to n targets that exchange halos, checked.",
    ("himeno",), (), ("4/fig7", "4/fig8"), "A smaller grid than XL, so that it fits into the time of this evaluation.")

ROOFLINE = Experiment(
    "roofline", "Paper 4, Fig. 10 and Table V: roofline and bytes per flop",
    "Kernels under the peak of GEMM and the bandwidth of Triad, both measured here.", ("gemm", "stream", "himeno"),
    (Plot("Roofline of all targets together", "Gflop/s", (
        Series("peak", "gemm", "^measured peak", "targets", role="peak", where=(("product", "^DGE"),)),
        Series("Triad", "stream", "^bandwidth", "targets", "STREAM", role="bandwidth", where=(("kernel", "Triad"),)),
        Series("DGEMM", "gemm", "^performance", "B/F", where=(("product", "^DGE"),), inverse_x=True),
        Series("STREAM Triad", "stream", "^performance", "B/F", "STREAM", where=(("kernel", "Triad"),), inverse_x=True),
        Series("Himeno", "himeno", "^performance", "B/F", inverse_x=True)),
          "roofline", "flop per byte"),),
    ("4/fig10", "4/table5"), "The kernels of Tohoku University are not public; actual bytes per flop need hardware counters.")

MODELS = Experiment(
    "execution-models", "Paper 4, Fig. 11: execution models",
    "Himeno with formatted output, run on the target alone, with kernels called by the host, and with the host called for output.",
    ("execution-models",), (), ("4/fig11",), "Host and target are cores of the same kind, so scalar code is no slower on the target.")

SYSTEM_CALLS = Experiment(
    "system-calls", "Paper 4: forwarded system calls", "Output and files of a target through VHcall, beside a local write.",
    ("veo",), (), ("4/fig15",), "System calls of a target on this machine need no forwarding; VHcall shows what it costs.")

KERNELS = Experiment(
    "kernels", "Paper 5, Fig. 3 and 4: start of MPI kernels",
    "A spawn for each kernel, one spawn with MPIX_Kernel_call, one spawn with MPIX_Kernel_call_multiple, for 1 to 128 kernels.",
    ("kernels-openmpi", "kernels-mpich"),
    (Plot("Start of kernels (Fig. 3), Open MPI", "seconds", tuple(
        Series(label, "kernels-openmpi", f"^{label} s$", "kernels", "start of kernels") for label in
        ("a spawn each", "a spawn each, extrapolated", "one spawn and Kernel_call", "one spawn and Kernel_call_multiple")),
          x_label="kernels"),
     Plot("Without the spawn (Fig. 4), Open MPI", "microseconds", tuple(
         Series(label, "kernels-openmpi", f"^{label} us$", "kernels", "without the spawn") for label in
         ("Kernel_call", "Kernel_call_multiple")), x_label="kernels")),
    ("5/fig3", "5/fig4"), "The paper's parents and children had nodes of their own; here they share this machine.")

HEAT = Experiment(
    "heat", "Paper 5: an application whose parallel part is called as kernel",
    "The heat example with as many children as parents, and with twice as many, as in the paper's two configurations.", ("heat",),
    (Plot("Whole run of the heat example", "seconds", (
        Series("heat", "heat", "median s", "parents:children", low="quartile 1 s", high="quartile 3 s"),
        Series("mpirun of an empty program (floor)", "heat", "floor s", "parents:children", role="floor")), "bars", log_y=False),),
    ("5/ratio",), "Few processes, because all of them share this machine.")

CG = Experiment(
    "cg", "Conjugate gradients beside plain MPI and OpenMP",
    "The same solver with HAM (vectors resident, halos between targets), in plain MPI, and with threads in one process.", ("cg",))

SHALLOW_WATER = Experiment(
    "shallow-water", "Shallow water on targets",
    "The domain split over targets, halos exchanged between them; the result is compared with the serial run.", ("shallow_water",), (),
    ("4/tsunami",))

COUPLED = Experiment(
    "coupled", "Coupled run: a resident solver called in a time loop",
    "A step calls a solver object on a target and overlaps it with work of the host, beside the same in one process.", ("coupled",))

PEERS = Experiment(
    "peers", "Peers: empty call, 1 KiB call, calls under way, 64 MiB, idleness, death of the server",
    "Each peer as its documentation recommends for low latency, all in turns with the floor.", ("peers",),
    (Plot("Empty call", "microseconds", (Series("empty call", "peers", "(median )?(empty|call).*us", "", ""),), "bars"),))

FLOORS = Experiment(
    "floors", "Floors of calls with arguments and results",
    "Calls with arguments and results of 8 B to 64 KiB beside as many bytes written by one process and copied out by the other.",
    ("latency", "values"),
    (Plot("Long arguments and results by value", "microseconds", (
        Series("argument", "values", "argument us", "size"), Series("result", "values", "result us", "size"),
        Series("written and copied out (floor)", "values", "floor us", "size", role="floor")), x_label="size"),))

EXPERIMENTS = (FIG9, FIG10, TABLE4, PLACEMENT, VEO_TESTS, FIG5, FIG6, GEMM, STREAM, HIMENO, ROOFLINE, MODELS, SYSTEM_CALLS, KERNELS, HEAT,
               CG, SHALLOW_WATER, COUPLED, PEERS, FLOORS)
