"""The experiments: what of the papers is repeated, by which measurements, and how their tables become plots."""
import bottlenecks
import framework
from measurements import MEASUREMENTS
from model import EMULATED, PARTLY_EMULATED, Experiment, Plot, Series

__all__ = ["EXPERIMENTS", "MEASUREMENTS"]

SIZE = "size of the transfer"


def _transfer(source, label, verb, role="ours", table="", column=None):
    """Bandwidth over size from a table of microseconds and bytes, with the quartiles if it has them."""
    y = column or f"{verb} us"
    return Series(label, source, f"^{y}$", "size", table, f"^quartile 1 {y}$", f"^quartile 3 {y}$", role, bandwidth=True)


def _emulated_way(way, column):
    """Both protocols, accesses word by word and the bare link, one way; the paper's largest bandwidths as lines."""
    source = "bandwidth-emulated"

    def of(method, label):
        title = f"^emulated link, {way}, {method};"
        return _transfer(source, label, "", table=title, column="us")

    def floor(method, label):
        return _transfer(source, label, "", "floor", f"^emulated link, {way}, {method};", "floor us")

    word_by_word = "^emulated link, word by word"
    words = (_transfer(source, "bare LHM, emulated", "", "floor", word_by_word, "LHM us"),) if way == "host to target" else (
        _transfer(source, "HAM with SHM, emulated", "", table="^emulated link, target to host, HAM with SHM", column="us"),
        _transfer(source, "bare SHM, emulated", "", "floor", word_by_word, "SHM us"))
    return Plot(way[0].upper() + way[1:], "GiB/s", (
        of("HAM over VEO", "HAM over VEO, emulated"), floor("HAM over VEO", "bare VEO (floor), emulated"),
        of("HAM over DMA, by the target", "HAM over DMA, emulated"),
        floor("HAM over DMA, by the target", "bare DMA (floor), emulated"),
        *words,
        Series("paper: VEO, largest", "paper:1/table4", column, "method", role="level", where=(("method", "^VEO read"),)),
        Series("paper: DMA, largest", "paper:1/table4", column, "method", role="level", where=(("method", "user DMA"),))),
                x_label=SIZE, emulated=True)


FIG9 = Experiment(
    "fig9", "Paper 1, Fig. 9: an empty offload over VEO, HAM over VEO, HAM over DMA",
    "HAM's two one-sided protocols over an emulated link: messages, their number and their order are those of HAM. PCIe takes "
    "the paper's 1.2 us; a VEO transfer (108 us) and the DMA set-up (1.25 us) are fitted to its times, so that what is reproduced is how "
    "many of them an offload takes. The native call in the first plot is the paper's figure. The last plot is measured without emulation: "
    "native calls of HAM's own libveo, and HAM's host-initiated protocol over that libveo.",
    ("protocols", "veo-offload"),
    (Plot("Empty offload, latencies fitted to the paper", "microseconds", (
        Series("paper 1", "protocols", "^paper us", "empty offload", "Fig. 9", role="paper"),
        Series("here, emulated", "protocols", "^here us", "empty offload", "Fig. 9", "^quartile 1 here", "^quartile 3 here"),
        Series("bare exchange (floor), emulated", "protocols", "^floor us", "empty offload", "Fig. 9", "^quartile 1 floor", "^quartile 3 floor",
               "floor")),
          "bars", emulated=True),
     Plot("Protocols over a PCIe link of 1.2 us", "nanoseconds", (
         Series("HAM, emulated", "protocols", "^HAM ns", "protocol", "^empty offload", "^quartile 1 HAM", "^quartile 3 HAM"),
         Series("bare exchange over the link (floor), emulated", "protocols", "^floor ns", "protocol", "^empty offload", "^quartile 1 floor",
                "^quartile 3 floor", "floor")),
          "bars", log_y=False, emulated=True),
     Plot("Native calls of this libveo, and HAM over it, measured", "microseconds", (
         *(Series(label, "veo-offload", "^us$", "offload", "^empty offload", "^quartile 1 us", "^quartile 3 us",
                  where=(("offload", expression),), role=role) for label, expression, role in (
             ("HAM over this libveo", "^HAM", "ours"),
             ("native: veo_call_async, veo_call_wait_result", "veo_call_async", "peer"),
             ("native: veo_call_sync", "veo_call_sync", "peer"))),
         Series("cache line (floor)", "veo-offload", "^floor us", "offload", "^empty offload", "^quartile 1 floor", "^quartile 3 floor",
                "floor", where=(("offload", "^HAM"),))), "values")),
    ("1/fig9",),
    "No Vector Engine is here. The latencies of VEO transfers and of the DMA engine are fitted to the paper's times, and waited for by the emulated link. libveo is "
    "HAM's own: its helper is a process of this machine, so that a native call costs about a hundredth of the paper's.", PARTLY_EMULATED)

FIG10 = Experiment(
    "fig10", "Paper 1, Fig. 10: bandwidth of put and get over their size",
    "Transfers of 1 B to 256 MiB over every transport, each beside the floor of the same run: a bare exchange over the emulated link, "
    "memcpy between two shared mappings, a bare socket, MPI_Send and MPI_Recv.",
    ("bandwidth-emulated", "bandwidth-shm", "bandwidth-tcp", "bandwidth-mpi-openmpi", "bandwidth-mpi-mpich"),
    (_emulated_way("host to target", "to the device"), _emulated_way("target to host", "to the host"),
     Plot("Shared memory", "GiB/s", (
         _transfer("bandwidth-shm", "put", "put"), _transfer("bandwidth-shm", "get", "get"),
         _transfer("bandwidth-shm", "copy between targets", "copy"), _transfer("bandwidth-shm", "memcpy (floor)", "memcpy", "floor")),
          x_label=SIZE),
     Plot("TCP on loopback", "GiB/s", (
         _transfer("bandwidth-tcp", "put", "put", table="in plaintext;"), _transfer("bandwidth-tcp", "get", "get", table="in plaintext;"),
         _transfer("bandwidth-tcp", "put with TLS", "put", table="with TLS;"),
         _transfer("bandwidth-tcp", "bare socket (floor)", "", "floor", "in plaintext;", "floor us")), x_label=SIZE)),
    ("1/fig10",), "The SHM and LHM instructions exist on the Vector Engine only: here every word stored takes 120 ns, as the "
    "paper's 0.06 GiB/s implies, and every word loaded a round trip of 1.2 us; up to 4 MiB, as in the paper. Ratios of "
    "short transfers are not the paper's, because the set-up of a DMA is chosen so that an empty offload takes the paper's 6.1 us: a table "
    "below has both. MPI is in the section of paper 3, Fig. 6.", PARTLY_EMULATED)

TABLE4 = Experiment(
    "table4", "Paper 1, Table IV: largest bandwidth between host and target",
    "The largest bandwidths of the runs of Fig. 10 over the emulated link.", ("bandwidth-emulated",),
    tuple(Plot(f"Largest bandwidth, {way}", "GiB/s", (
        Series("paper 1", "bandwidth-emulated", f"^paper, {way}", "method", "Table IV", role="paper"),
        Series("here, emulated", "bandwidth-emulated", f"^here, {way}", "method", "Table IV", f"^quartiles here, {way}")), "bars", log_y=False, emulated=True)
          for way in ("host to target", "target to host")),
    ("1/table4",), "The link has the paper's largest bandwidths as limits; a copy in this machine's memory may be slower.", EMULATED)

PLACEMENT = Experiment(
    "placement", "Paper 1: second socket; here every kind of core pair",
    "An empty call between two cores that share a core, an L2, an L3, a socket, or nothing, as far as this machine has them.",
    ("placement",),
    (Plot("Empty call by pair of cores", "nanoseconds", (
        Series("HAM", "placement", "^ns$", "cores", "", "^quartile 1 ns", "^quartile 3 ns"),
        Series("cache line (floor)", "placement", "^floor ns", "cores", "", "^quartile 1 floor", "^quartile 3 floor", "floor")), "bars", log_y=False),),
    ("1/socket",), "A virtual machine shows the pairs that its host lets it see.")

VEO_TESTS = Experiment(
    "veo-tests", "Paper 2: Tests 1 to 4 of AVEO, transfers of 1 byte, bandwidth",
    "The tests of the paper with the same API, libveo of this library, the helper on the second core; and with HAM's own calls.",
    ("veo", "rate"),
    (Plot("This libveo, and AVEO in the paper", "microseconds per call", (
        *(Series(f"Test {number}", "veo", f"^Test {number}$", "#calls", "^us per call", f"^quartile 1 Test {number}$",
                 f"^quartile 3 Test {number}$") for number in (1, 2, 3, 4)),
        Series("cache line (floor)", "veo", "^floor$", "#calls", "^us per call", "^quartile 1 floor", "^quartile 3 floor", "floor"),
        *(Series(f"AVEO, Test {number}", "paper:2/tests", f"^AVEO Test {number} us", "calls", role="paper") for number in (1, 2))),
          x_label="calls"),
     Plot("The same tests with HAM's own calls", "nanoseconds per call", (
         *(Series(name, "rate", f"^{name}$", "calls", "nanoseconds per call", f"^quartile 1 {name}$", f"^quartile 3 {name}$")
           for name in ("Test 1", "Test 2", "Test 3", "Test 4", "batch")),
         Series("cache line (floor)", "rate", "^floor$", "calls", "nanoseconds per call", "^quartile 1 floor", "^quartile 3 floor", "floor")),
          x_label="calls"),
     Plot("Transfer of 1 byte", "microseconds", tuple(
         Series(f"{verb}, {name}", source, f"^{verb}$" if role == "ours" else f"^{name} us", x, table,
                *((f"^quartile 1 {verb}$", f"^quartile 3 {verb}$") if role == "ours" else ("", "")), role, where=((x, expression),))
         for verb in ("veo_write_mem", "veo_read_mem") for name, source, x, table, expression, role in (
             ("here", "veo", "measure", "^transfers of 1 byte", "^1 byte", "ours"), ("AVEO", "paper:2/memory", "call", "", verb, "paper"),
             ("VEO", "paper:2/memory", "call", "", verb, "paper"))), "values"),
     Plot("veo_write_mem and veo_read_mem", "GiB/s", (
         *(_transfer("veo", verb, verb, table="^transfers of all sizes") for verb in ("veo_write_mem", "veo_read_mem")),
         _transfer("veo", "memcpy (floor)", "memcpy", "floor", "^transfers of all sizes")), x_label=SIZE)),
    ("2/tests", "2/memory", "2/bandwidth"), "The helper is a process of this machine, not of a Vector Engine.")

FIG5 = Experiment(
    "fig5", "Paper 3, Fig. 5 and Table 1: cost of an offload, and the framework's part of it",
    "An empty call beside the bare exchange over the same medium: a cache line for shared memory, MPI_Send and MPI_Recv of the same "
    "bytes for MPI. The framework's part is the difference. Beside it an empty target region of OpenMP on LLVM's plug-in for the host, "
    "whose device is in the same process.", ("latency", "openmp", "mpi-openmpi", "mpi-mpich"),
    (Plot("Empty offload and its floor, shared memory", "nanoseconds", (
        Series("HAM", "latency", "^typical ns", "call", "^one call", "^quartile 1", "^quartile 3", where=(("call", "empty"),)),
        Series("cache line (floor)", "latency", "^floor ns", "call", "^one call", "^quartile 1 floor", "^quartile 3 floor", "floor",
               where=(("call", "empty"),))),
          "values", log_y=False),
     Plot("Empty offload beside OpenMP target", "nanoseconds", (
         *(Series(label, "openmp", "^ns$", "offload", "^empty offload", "^quartile 1 ns", "^quartile 3 ns", role,
                  where=(("offload", expression),)) for label, expression, role in (
             ("HAM, another process", "^HAM", "ours"), ("OpenMP target, same process", "^OpenMP", "peer"))),
         Series("cache line (floor)", "openmp", "^floor ns", "offload", "^empty offload", "^quartile 1 floor", "^quartile 3 floor", "floor",
                where=(("offload", "^HAM"),))),
          "values", log_y=False),
     Plot("Framework's part of an empty offload (Table 1)", "% of the offload", (
         Series("paper 3", "paper:3/table1", "^of the offload %", "offload", role="paper"),
         *(Series(label, source, "^% of the offload$", "offload over", "^the framework", "^% of the offload: quartiles") for label, source in
           (("HAM here, shm", "latency"), ("HAM here, Open MPI", "mpi-openmpi"), ("HAM here, MPICH", "mpi-mpich"))),
         Series("OpenMP target here", "openmp", "^% of the offload$", "offload over", "^the framework", "^% of the offload: quartiles", role="peer",
                where=(("offload over", "^OpenMP"),))),
          "bars", log_y=False),
     *(Plot(f"Empty offload and its floor, {name}", "nanoseconds", (
         Series("HAM", source, "^HAM$", "what", "^floor", "^quartile 1", "^quartile 3", where=(("what", "empty"),)),
         Series("MPI_Send, MPI_Recv (floor)", source, "^floor$", "what", "^floor", "^quartile 1 floor", "^quartile 3 floor", "floor",
                where=(("what", "empty"),))),
            "values", log_y=False) for name, source in (("Open MPI", "mpi-openmpi"), ("MPICH", "mpi-mpich")))),
    ("3/fig5", "3/table1"),
    "LEO ended with the Xeon Phi. The target directive of OpenMP, its heir, runs here with LLVM's plug-in for the host: its medium is a call "
    "of a function in the same process.", tables=(framework.table,))

FIG6 = Experiment(
    "fig6", "Paper 3, Fig. 6: bandwidth of transfers beside raw MPI",
    "put and get over shared memory and over MPI, beside MPI_Send and MPI_Recv of the same sizes, and beside target update of OpenMP.",
    ("bandwidth-shm", "openmp", "bandwidth-mpi-openmpi", "bandwidth-mpi-mpich"),
    (Plot("Transfers beside OpenMP target update", "GiB/s", (
        *(_transfer("openmp", verb, f"HAM {verb}", table=f"^transfers {way} the device") for verb, way in (("put", "to"), ("get", "from"))),
        *(_transfer("openmp", f"target update {way}", f"OpenMP target update {way}", "peer", f"^transfers {way} the device")
          for way in ("to", "from")),
        _transfer("openmp", "memcpy (floor)", "memcpy", "floor", "^transfers to the device")), x_label=SIZE),
     *(Plot(f"Transfers over {name}", "GiB/s", (
        _transfer(source, "put", "put"), _transfer(source, "get", "get"),
        _transfer(source, "MPI_Send (floor)", "", "floor", "", "put floor us"),
        _transfer("bandwidth-shm", "put over shm, for comparison", "put", "peer")), x_label=SIZE)
       for name, source in (("Open MPI", "bandwidth-mpi-openmpi"), ("MPICH", "bandwidth-mpi-mpich")))),
    ("3/fig6",), "SCIF and its DMA engines ended with the Xeon Phi. put and get over MPI between processes of one machine are copies "
    "through memory that both map. OpenMP's device is in the same process.")

GEMM = Experiment(
    "gemm", "Paper 4, Fig. 4: GEMM over targets", "OpenBLAS's SGEMM and DGEMM on 1 to n targets, checked, beside the measured peak.",
    ("gemm",),
    tuple(Plot(f"{name}MM over targets", "Gflop/s", (
        Series(f"{name}MM", "gemm", "^performance", "targets", "", "^lower quartile", "^upper quartile", where=(("product", f"^{name}"),)),
        Series("threads of one process", "gemm", "^threads of one process", "targets", "", "^lower quartile, threads", "^upper quartile, threads", "peer", where=(("product", f"^{name}"),)),
        Series("measured peak (limit)", "gemm", "^measured peak", "targets", "", "^lower quartile, measured", "^upper quartile, measured", "floor", where=(("product", f"^{name}"),))),
               x_label="targets", log_x=False, log_y=False) for name in ("SGE", "DGE")),
    ("4/fig4",), "Targets are processes of this machine, one per core.")

STREAM = Experiment(
    "stream", "Paper 4, Fig. 5 and 6: STREAM Triad over targets", "Triad over resident vectors of 1 to n targets, checked.",
    ("stream",),
    (Plot("Triad over targets", "GB/s", (
        Series("targets", "stream", "^bandwidth", "targets", "STREAM", "^lower quartile", "^upper quartile", where=(("kernel", "Triad"),)),
        Series("threads of one process", "stream", "^threads of one process", "targets", "STREAM", "^lower quartile, threads",
               "^upper quartile, threads", "floor", where=(("kernel", "Triad"),))), x_label="targets", log_x=False, log_y=False),),
    ("4/fig5", "4/fig6", "4/table2"), "Targets are processes of this machine and share its memory.")

HIMENO = Experiment(
    "himeno", "Paper 4, Fig. 7 and 8: Himeno over targets",
    "The Jacobi kernel on 1 to n targets that exchange halos, checked, in turns with one thread of the host, and with as many threads of one "
    "process on the targets' cores and with their partition. Against one thread the ratio is the speed-up, which the memory limits; against as "
    "many threads it is what calls and halos between processes cost: the bar. Of one target the bar is one thread of the host.",
    ("himeno",),
    (Plot("Himeno over targets", "Gflop/s", (
        Series("targets", "himeno", "^performance", "targets", "^Himeno", "^lower quartile", "^upper quartile", scale=1e-3),
        Series("as many threads of one process (floor)", "himeno", "^as many threads", "targets", "^Himeno", "^lower quartile, as many",
               "^upper quartile, as many", "floor", 1e-3),
        Series("one thread of the host", "himeno", "^one thread", "targets", "^Himeno", "^lower quartile, one", "^upper quartile, one", "peer",
               1e-3)),
          x_label="targets", log_x=False, log_y=False),
     Plot("Himeno on targets against threads", "ratio of the speeds", tuple(
         Series(label, "himeno", f"^{column}$", "targets", "^Himeno", f"^{column}: quartiles", role=role) for label, column, role in (
             ("targets / as many threads (the bar, from two on)", "targets / as many threads", "ours"),
             ("targets / one thread (speed-up)", "targets / one thread", "ours"))), x_label="targets", log_x=False, log_y=False)),
    ("4/fig7", "4/fig8"), "The grid is of size M, not XL, so that it fits into the time of this evaluation. The residual is the "
    "benchmark's gosa, added up in double precision plane by plane; the benchmark adds all points in one float.")

ROOFLINE = Experiment(
    "roofline", "Paper 4, Fig. 10 and Table V: roofline and bytes per flop",
    "Kernels under the measured peaks and the bandwidth of Triad, on all targets together, and what bounds each of them.",
    ("gemm", "stream", "stream-cache", "himeno"),
    (Plot("Roofline of all targets together", "Gflop/s", (
        Series("double precision", "gemm", "^measured peak", "targets", role="peak", where=(("product", "^DGE"),), most="targets"),
        Series("single precision", "gemm", "^measured peak", "targets", role="peak", where=(("product", "^SGE"),), most="targets"),
        Series("Triad", "stream", "^bandwidth", "targets", "STREAM", role="bandwidth", where=(("kernel", "Triad"),), most="targets"),
        *(Series(label, "gemm", "^performance", "B/F", "", "^lower quartile \\(", "^upper quartile \\(", where=(("product", f"^{name}"),),
                 inverse_x=True, most="targets") for label, name in (("DGEMM", "DGE"), ("SGEMM (single precision)", "SGE"))),
        Series("STREAM Triad", "stream", "^performance \\(GFLOP/s\\)$", "B/F", "STREAM", "^performance.*quartiles$",
               where=(("kernel", "Triad"),), inverse_x=True, most="targets"),
        Series("Himeno (single precision; each plane read once)", "himeno", "^performance", "^minimum B/F", "^Himeno", "^lower quartile \\(",
               "^upper quartile \\(", scale=1e-3, inverse_x=True, most="targets")), "roofline", "flop per byte"),),
    ("4/fig10", "4/table5"), "The kernels of Tohoku University are not public. Actual bytes per flop need hardware counters: in their "
    "place are the fewest bytes that have to pass the memory, and where they do not decide, the table has both classes. The code B/F of GEMM "
    "is not known: the paper counts the memory operations of the object code, and OpenBLAS chooses its kernel when it runs. What a virtual "
    "machine has of the last-level cache, others may use. The paper divides by the theoretical peak, this table by the measured one.", tables=(bottlenecks.table,))


def _models(title, source, emulated=False):
    return Plot(title, "milliseconds", (
        *(Series(name, source, f"^{name} \\(ms\\)", "model", "execution models") for name in ("computing", "transfer", "call", "I/O")),
        Series("measured total, quartiles", source, r"^total \(ms\)", "model", "execution models", r"^lower quartile \(ms\)",
               r"^upper quartile \(ms\)", "total")), "stack", emulated=emulated)


MODELS = Experiment(
    "execution-models", "Paper 4, Fig. 11: execution models",
    "Himeno that prints a line per iteration, and a program that formats much output, in three models: native on the target (VE "
    "execution in the paper), the host calling kernels (VE offload), and the target calling the host for formatting and writing (VH "
    "offload); and without a target. On a GPU, where there is one: Himeno as device functions, called for each iteration (kernels), or "
    "one that iterates and calls the host (callback).",
    ("execution-models", "formatted-output", "execution-models-emulated", "formatted-output-emulated", "device-himeno"),
    (_models("Himeno, shared memory", "execution-models"), _models("Formatted output, shared memory", "formatted-output"),
     _models("Himeno", "execution-models-emulated", True), _models("Formatted output", "formatted-output-emulated", True),
     _models("Himeno on a GPU", "device-himeno")),
    ("4/fig11",), "Targets are cores of the same kind as the host's, so scalar code is no slower there. A GPU formats and writes nothing by "
    "itself, so there is no native execution on it.", PARTLY_EMULATED)

SYSTEM_CALLS = Experiment(
    "system-calls", "Paper 4: forwarded system calls",
    "Writes and reads of a file of the host that a target asks for: by a HAM call to the host, and by VHcall of libveo; beside the same "
    "system call made by the host itself. And lines of a target's output, until the host has them in a file: by on_output and by VHcall, "
    "beside a local write.", ("forwarded-calls",),
    (*(Plot(f"{verb[0].upper()}{verb[1:]} of a file of the host", "microseconds per call", tuple(
        Series(label, "forwarded-calls", r"^time per call \(us\)", "bytes", "^System calls", r"^lower quartile \(us\)",
               r"^upper quartile \(us\)", role, where=(("system call", f"^{verb}, {expression}"),))
        for label, expression, role in (("HAM call to the host", "HAM", "ours"), ("VHcall", "VHcall", "ours"),
                                        ("local system call (floor)", "local", "floor"))), x_label="bytes")
       for verb in ("write", "read")),
     Plot("Lines of a target's output", "microseconds per line", tuple(
         Series(label, "forwarded-calls", r"^time per line \(us\)", "bytes", "^Lines that a target prints", r"^lower quartile \(us\)",
                r"^upper quartile \(us\)", role, where=(("output", f"^{expression}"),))
         for label, expression, role in (("on_output", "on_output", "ours"), ("VHcall", "VHcall", "ours"),
                                         ("local write (floor)", "local", "floor"))), x_label="bytes")),
    ("4/fig15",), "A target of this machine needs no forwarding: what is shown is the cost that a Vector Engine has, without its PCIe "
    "link. The paper's file system is replaced by a file in memory of the kernel.")

KERNELS = Experiment(
    "kernels", "Paper 5, Fig. 3 and 4: start of MPI kernels",
    "A spawn for each kernel, one spawn with MPIX_Kernel_call, one spawn with MPIX_Kernel_call_multiple, for 1 to 128 kernels; beside spawns of "
    "as many children that do nothing, and beside bare messages.",
    ("kernels-openmpi", "kernels-mpich"),
    tuple(plot for name, source in (("Open MPI", "kernels-openmpi"), ("MPICH", "kernels-mpich")) for plot in (
        Plot(f"Start of kernels (Fig. 3), {name}", "seconds", (
            *(Series(label, source, f"^{column} s$", "kernels", "start of kernels", f"^{column}: quartiles s") for label, column in
              (("a spawn each (whiskers: of one spawn, times kernels)", "a spawn each"), ("one spawn and Kernel_call", "one spawn and Kernel_call"),
               ("one spawn and Kernel_call_multiple", "one spawn and Kernel_call_multiple"))),
            Series("a spawn each of children that do nothing (floor)", source, "^a spawn each: floor s$", "kernels", "start of kernels",
                   "^a spawn each: quartiles of the floor s", role="floor")), x_label="kernels"),
        Plot(f"Without the spawn (Fig. 4), {name}", "microseconds", tuple(
            one for label in ("Kernel_call", "Kernel_call_multiple") for one in (
                Series(label, source, f"^{label} us$", "kernels", "^calls without the spawn", f"^{label}: quartiles us"),
                Series(f"{label}: bare MPI_Send (floor)", source, f"^{label}: floor us$", "kernels", "^calls without the spawn",
                       f"^{label}: quartiles of the floor us", role="floor"))), x_label="kernels"))),
    ("5/fig3", "5/fig4"), "The paper's parents and children had nodes of their own; here they share this machine.")

HEAT = Experiment(
    "heat", "Paper 5: an application whose parallel part is called as kernel",
    "The heat example with as many children as parents, and with twice as many, as in the paper's two configurations.",
    ("heat-openmpi", "heat-mpich"),
    tuple(Plot(f"Whole run of the heat example, {name}", "seconds", (
        Series("heat, parents:children", source, "median s", "parents:children", "", "quartile 1 s", "quartile 3 s"),
        Series("mpirun of an empty program (floor)", source, "floor s", "parents:children", "", "quartile 1 floor s", "quartile 3 floor s",
               "floor")), "bars", log_y=False) for name, source in (("Open MPI", "heat-openmpi"), ("MPICH", "heat-mpich"))),
    ("5/ratio",), "Few processes, because all of them share this machine: of the paper's 80 parents and 80 children, and 48 and 96, the proportions are "
    "repeated, 1:1 and 1:2, not the numbers.")

CG = Experiment(
    "cg", "Conjugate gradients beside plain MPI and OpenMP",
    "The same solver with HAM (vectors resident, halos between targets), in plain MPI, and with threads in one process.", ("cg",),
    (Plot("Time per iteration over workers (strong scaling)", "microseconds", tuple(
        Series(name, "cg", "^time per iteration", "workers", "", "^quartiles: us", role="ours" if name == "HAM" else "peer",
               where=(("solver", f"^{name}$"),)) for name in ("HAM", "Open MPI", "MPICH", "OpenMP")),
          x_label="targets, ranks or threads", log_x=False, log_y=False),
     Plot("Speed-up over workers", "times one worker", tuple(
         Series(name, "cg", "^speed-up over", "workers", "", "^speed-up: quartiles", role="ours" if name == "HAM" else "peer",
                where=(("solver", f"^{name}$"),))
         for name in ("HAM", "Open MPI", "MPICH", "OpenMP")), x_label="targets, ranks or threads", log_x=False, log_y=False)))

_WATER_PARTS = ("steps", "state to and from targets", "files")
SHALLOW_WATER = Experiment(
    "shallow-water", "Shallow water on targets",
    "The domain split over targets, halos exchanged between them, in turns with as many threads of one process on the same cores; what it costs "
    "when the host collects the state on the way, and writes it as a checkpoint or as a picture; and a run in which a target is killed and the "
    "others go on from the last checkpoint. Every run must end as the serial run does, bit by bit.", ("shallow-water",),
    (Plot("Cells per second over targets", "million cells per second", (
        Series("targets", "shallow-water", "^rate", "targets", "^Shallow water on targets", "^lower quartile \\(", "^upper quartile \\("),
        Series("as many threads of one process (floor)", "shallow-water", "^as many threads", "targets", "^Shallow water on targets",
               "^lower quartile, as many", "^upper quartile, as many", "floor")), x_label="targets", log_x=False, log_y=False),
     Plot("Checkpoints and pictures", "milliseconds", (
         *(Series(name, "shallow-water", f"^{name} \\(ms\\)", "kept", "^What a run keeps") for name in _WATER_PARTS),
         Series("measured total, quartiles", "shallow-water", r"^total \(ms\)", "kept", "^What a run keeps", r"^lower quartile \(ms\)",
                r"^upper quartile \(ms\)", "total")), "stack"),
     Plot("A target is killed", "milliseconds", (
         *(Series(name, "shallow-water", f"^{name} \\(ms\\)", "run", "^Death of a target") for name in (*_WATER_PARTS, "steps lost", "giving up")),
         Series("measured total", "shallow-water", r"^total \(ms\)", "run", "^Death of a target", role="total")), "stack")),
    ("4/tsunami",), "The paper's code is not public; this is another one of the same kind. A death ends a target for good, so that it is measured "
    "once.")

COUPLED = Experiment(
    "coupled", "Coupled run: a resident solver called in a time loop",
    "A step calls a solver object on a target and overlaps it with work of the host, beside the same in one process.", ("coupled",),
    (Plot("Time per step", "microseconds", (
        Series("time per step", "coupled", "^time per step", "solver on", "", "^lower quartile", "^upper quartile"),),
          "bars", log_y=False),))

def _peers(title, y_label, column, quartiles="", log_y=True):
    """HAM and the floor first, each in a colour of its own."""
    return Plot(title, y_label, tuple(
        Series(label, "peers", column, "peer", "", quartiles, role=role, where=(("peer", expression),)) for label, expression, role in
        (("HAM", "^HAM", "ours"), ("floor", "floor", "floor"), ("others", "^(?!HAM)(?!.*floor)", "peer"))), "bars", log_y=log_y)


PEERS = Experiment(
    "peers", "Peers: empty call, 1 KiB call, calls under way, 64 MiB, idleness, death of the server",
    "Each peer as its documentation recommends for low latency, all in turns with the floor.", ("peers",),
    (_peers("Empty call", "microseconds", "^empty call: us", "^empty call: quartiles"),
     _peers("Call with 1 KiB", "microseconds", "^1 KiB call: us", "^1 KiB call: quartiles"),
     _peers("1000 calls under way", "million calls per second", "^1000 under way: M/s", "^1000 under way: quartiles"),
     _peers("64 MiB", "GB/s", "^64 MiB: GB/s", "^64 MiB: quartiles", log_y=False),
     _peers("Idle server", "% of a core", "^idle server", log_y=False)))

FLOORS = Experiment(
    "floors", "Floors of calls with arguments and results",
    "Calls with arguments and results of 8 B to 32 MiB beside as many bytes written by one process and copied out by the other.",
    ("latency", "values"),
    (Plot("Calls with arguments", "nanoseconds", (
        Series("call", "latency", "^typical ns", "arguments", "^calls with arguments", "^quartile 1", "^quartile 3"),
        Series("written and copied out (floor)", "latency", "^floor ns", "arguments", "^calls with arguments", "^quartile 1 floor",
               "^quartile 3 floor", "floor")),
          x_label="bytes of arguments"),
     Plot("Calls with results", "nanoseconds", (
         Series("call", "latency", "^typical ns", "result", "^calls with results", "^quartile 1", "^quartile 3"),
         Series("written and copied out (floor)", "latency", "^floor ns", "result", "^calls with results", "^quartile 1 floor",
               "^quartile 3 floor", "floor")),
          x_label="bytes of the result"),
     Plot("Long arguments and results by value", "microseconds", (
         *(Series(name, "values", f"^{name} us$", "size", "", f"^quartile 1 {name} us$", f"^quartile 3 {name} us$")
           for name in ("argument", "result")),
         Series("written and copied out (floor of arguments)", "values", "^floor us", "size", "", "^quartile 1 floor us", "^quartile 3 floor us",
                "floor"),
         Series("the same, and a vector made of it (floor of results)", "values", "^floor and making us", "size", "",
                "^quartile 1 floor and making us", "^quartile 3 floor and making us", "floor")),
          x_label="size")))

GROUPS = Experiment(
    "groups", "Calls of groups over 1 to 256 targets",
    "An empty call for all targets, passed on along a tree from target to target, beside one call to each of them by the host. The "
    "second plot has what does not depend on cores: the messages that follow one another until the last target has its call, computed "
    "from the shape of the tree, and those that the host and the busiest target send, counted.", ("groups",),
    (Plot("Call of all targets", "microseconds", (
        *(Series(label, "groups", f"^{name} us", "targets", "", f"^quartile 1 {name}", f"^quartile 3 {name}", role)
          for label, name, role in (("async_all", "async_all", "ours"), ("reduce_all", "reduce_all", "ours"),
                                    ("an async to each", "async to each", "peer"))),), x_label="targets"),
     Plot("Messages of a call", "messages", (
         Series("in a row, to the last target (computed)", "groups", r"^messages in a row \(computed\)", "targets"),
         Series("by the host (counted)", "groups", "^by the host", "targets"),
         Series("by the busiest target (counted)", "groups", "^most by a target", "targets")), x_label="targets", log_y=False)),
    differs="Times need a core for each target; with fewer, targets take turns, and any way to call them takes time in proportion to their "
    "number.")

GRAPHS = Experiment(
    "graphs", "Recorded graphs beside the same calls one by one",
    "Dependent calls, recorded once and replayed with one message, and an iteration that goes on without the host; beside the host making "
    "the same calls one after the other.", ("graphs",),
    (Plot("Replays, and the calls that they stand for", "microseconds", tuple(
        Series(label, "graphs", column, "graph", "^replays", low, high, role) for label, column, low, high, role in (
            ("replay", "^time per replay us", "^quartile 1 time", "^quartile 3 time", "ours"),
            ("calls one by one (of the first: one)", "^floor us", "^quartile 1 floor", "^quartile 3 floor", "peer"))), "bars"),),
    differs="With fewer than three cores both targets of the second graph share one.")

EXPERIMENTS = (FIG9, FIG10, TABLE4, PLACEMENT, VEO_TESTS, FIG5, FIG6, GEMM, STREAM, HIMENO, ROOFLINE, MODELS, SYSTEM_CALLS, KERNELS, HEAT,
               CG, SHALLOW_WATER, COUPLED, GROUPS, GRAPHS, PEERS, FLOORS)
