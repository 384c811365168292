"""Experiments, papers and results that are not measured: the smallest set that has everything a page can have."""
import os
import sys

STORED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stored")
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(REPOSITORY, "benchmarks", "evaluate"))

from model import EMULATED, Experiment, Measurement, Plot, Series  # noqa: E402

MACHINE = {"name": "machine <one>", "CPU": "Example CPU", "cores": 2, "caches": ["L1 32 KiB", "L2 1 MiB"], "load": [0.1, 0.2, 0.3]}
CLOCK = {"cores": [0, 1], "samples": 40, "GHz": {"lowest": 2.5, "median": 3.25, "highest": 3.5},
         "GHz of elapsed time": {"lowest": 0.5, "median": 1.75, "highest": 3.5}}
SIZES = ["8 B", "64 B", "1 KiB", "64 KiB", "1 MiB", "256 MiB"]
HOSTILE = '<script>alert("x")</script> & more'

BANDWIDTH = {"host": "machine", "transport": "shm", "cores": 2, "host_core": 0, "target_core": 1, "core_pair": "same L3",
             "repetitions": 3, "reports": [{
    "name": "bandwidth",
    "tables": [{"title": "GB/s", "rows": [
        {"size": size, "put": 0.1 * 4 ** index, "lower quartile": 0.09 * 4 ** index, "upper quartile": 0.12 * 4 ** index,
         "get": 0.08 * 4 ** index, "memcpy": 0.2 * 4 ** index} for index, size in enumerate(SIZES)]}],
    "bars": [{"name": "put / memcpy", "value": 0.5, "wanted": ">=", "limit": 0.9, "unit": "", "met": False},
             {"name": "get / memcpy", "value": 0.95, "wanted": ">=", "limit": 0.9, "unit": "", "met": True},
             {"name": "nothing measured", "value": None, "wanted": "<=", "limit": 1, "unit": "us", "met": False}],
    "remarks": [HOSTILE]}]}

METHODS = {"name": "methods", "bars": [], "remarks": [], "tables": [{"title": "empty call", "rows": [
    {"method": name, "median us": value, "paper us": value * 1.3, "quartiles": [value / 2, value * 20],
     "beyond the floor us": value - 5.59, "difference: quartiles": [value - 6.5, value - 5.25]} for name, value in
    (("HAM", 0.3), ("a method with a name that is much too long for one line of the plot", 70.0),
     ("the next one, whose name is as long as that of the one before it", 80.0), ("another", 431.9), (HOSTILE, 5.0))]}]}

# One bar for each long name: names need more room than bars.
NAMES = {"name": "names", "bars": [], "remarks": ["a remark"], "tables": [{"title": "many columns", "rows": [
    {"name": f"entry {index} of the table, with a name as long as names of libraries and of their settings can be", "us": index + 1.0,
     **{f"column {number} with a name of some words": "a text of some words" for number in range(12)}} for index in range(6)]},
    {"title": "two directions and their floors", "rows": [
        {"size": f"{size} KiB", "bytes": size << 10,
         **{f"{what} {column}": value for what in ("put", "put floor", "get", "get floor") for column, value in
            (("microseconds", size * 1.234), ("q1", size * 1.1), ("q3", size * 1.301), ("GiB/s", 0.01234),
             ("GiB/s: quartiles", [0.01198, 0.01251]), ("ratio: quartiles", [0.9871, 1.123]))}} for size in (1, 32, 1024, 65536)]}]}

MODELS = {"name": "models", "bars": [], "remarks": [], "tables": [{"title": "execution models", "rows": [
    {"model": name, "computing ms": a, "transfer ms": b, "output ms": c, "total ms": d, "quartiles ms": [d - 1, d + 2]} for name, a, b, c, d in
    (("native on the target", 10, 0, 30, 43.5), ("host calls kernels", 10, 25, 5, 39.5), ("target calls the host", 10, 2, 6, 18.5))]}]}

ROOFLINE = {"name": "roofline", "bars": [], "remarks": [], "tables": [{"title": "kernels", "rows": [
    {"kernel": "Triad", "B/F": 12.0, "Gflop/s": 1.5, "peak": 60.0, "other peak": 120.0, "GB/s": 18.0},
    {"kernel": "GEMM", "B/F": 0.02, "Gflop/s": 55.0, "peak": 60.0, "other peak": 120.0, "GB/s": 0.0}]}]}

PAPERS = {1: {"paper": 1, "figures": [
    {"id": "fig", "name": "Fig. 1", "section": "V", "title": "Empty <offload>", "picture": "bars; not readable from the text",
     "conditions": {"repetitions": 100},
     "tables": [{"title": "us", "rows": [{"method": "HAM", "us": 6.1}, {"method": "another", "us": 79.9}]}],
     "values": [{"name": "ratio", "value": 13.1, "unit": "x"}]}]}}

PLOTS = (
    Plot("Bandwidth over size", "GB/s", (
        Series("put", "bandwidth", "^put$", "size", "GB/s", "lower quartile", "upper quartile"),
        Series("get", "bandwidth", "^get$", "size", "GB/s"),
        Series("memcpy (floor)", "bandwidth", "memcpy", "size", "GB/s", role="floor"),
        Series("a series that is not there", "absent", "y")), x_label="size of the transfer", emulated=True),
    Plot("Empty call by method", "microseconds", (
        Series("here", "methods", "median us"), Series("in the paper", "methods", "paper us", role="paper"),
        Series("text of the paper", "paper:1/fig", "^us$", "method", role="paper")), "bars"),
    Plot("Long names", "microseconds", (Series("a bar each", "names", "^us$"),), "bars"),
    Plot("Single values", "microseconds", (
        Series("HAM, with a spread", "methods", "median us", "method", "", "quartiles", where=(("method", "^HAM"),)),
        Series("another one", "methods", "median us", "method", where=(("method", "^another"),), role="floor"),
        Series("of the paper", "paper:1/fig", "^us$", "method", role="paper")), "values", log_y=False),
    Plot("Execution models", "milliseconds", (
        *(Series(name, "models", name, "model") for name in ("computing", "transfer", "output")),
        Series("measured total", "models", "total", "model", "", "quartiles", role="total")), "stack"),
    Plot("Roofline", "Gflop/s", (
        Series("double precision", "roofline", "^peak", role="peak"), Series("single precision", "roofline", "^other peak", role="peak"),
        Series("bandwidth", "roofline", "GB/s", role="bandwidth"),
        Series("Triad", "roofline", "Gflop/s", "B/F", where=(("kernel", "Triad"),), inverse_x=True),
        Series("GEMM", "roofline", "Gflop/s", "B/F", where=(("kernel", "GEMM"),), inverse_x=True)), "roofline", "flop per byte"),
    Plot("Beyond the floor", "microseconds", (
        Series("HAM", "methods", "^beyond the floor", "method", "", "^difference: quartiles"),), "bars", log_y=False),
)

def end_without(missing):
    """Ends a test that cannot run: it is skipped, but fails with CI=true, where nobody reads what was skipped."""
    fails = os.environ.get("CI") == "true"
    print(f"{'FAILS' if fails else 'SKIPPED'}: {missing}")
    sys.exit(1 if fails else 77)


def kernels_table(reports_of):
    """A table made of a measurement, as experiments make them of several."""
    rows = reports_of("roofline")[0]["tables"][0]["rows"]
    return {"title": "made of <several>", "rows": [{"kernel": row["kernel"], "flop per byte": 1 / row["B/F"]} for row in rows]}


EXPERIMENTS = (
    Experiment("everything", "Paper 1, Fig. 1: all kinds of plots", "What is measured.", ("bandwidth", "methods", "names", "models", "roofline"),
               PLOTS, ("1/fig",), "The link is emulated.", EMULATED, (kernels_table, lambda reports_of: None)),
    Experiment("nothing", "Experiment without results", "Measured elsewhere.", ("absent", "broken", "never")),
)


def record(name, result, **rest):
    return {"measurement": name, "command": f"build/bin/{name} --json", "emulated": False, "date": "2026-01-02T03:04:05+00:00",
            "revision": "0123456789ab", "machine": MACHINE, "seconds": 1.5, "exit_status": 0, "errors": "", "status": "measured",
            "reason": "", "result": result, "clock": CLOCK, **rest}


def records():
    failed = record("broken", None, status="failed", reason="ended with status 3", errors="it <broke>", exit_status=3)
    del failed["result"]
    absent = record("absent", None, status="not measured", reason="this build has no program absent")
    del absent["result"]
    return {"bandwidth": record("bandwidth", BANDWIDTH, emulated=True), "methods": record("methods", METHODS),
            "names": record("names", NAMES), "models": record("models", MODELS), "roofline": record("roofline", ROOFLINE), "absent": absent, "broken": failed,
            "never": None}


def script(name, text, **rest):
    """A measurement that runs a text of the shell."""
    return Measurement(name, ("/bin/sh", "-c", text), **rest)
