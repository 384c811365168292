#!/usr/bin/env python3
"""Conjugate gradients: HAM beside MPI and OpenMP: cg.py [--json] [--grid N | --file MATRIX] [--repetitions N]

The same matrix, partition, arithmetic and stopping rule, with 1, 2, ... n targets, ranks or threads on the same cores, powers of two if
n is more than four, in rounds that begin with another one each time. A figure is the best of the turns of one run, of about 25 ms each: so long are the stretches of iterations that
the host of the example asks for at once. The table shows medians and quartiles over the rounds. Build the programs first:

  scripts/install-deps.sh peers && cmake --preset release -DHAM_PEERS=ON && ninja -C build/release peers conjugate_gradient
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import cores
import processes
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LAUNCHER_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                        "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MPI = {"openmpi": "Open MPI", "mpich": "MPICH"}
BAR = 1.05


class contestant:
    """One program with some number of workers."""

    def __init__(self, kind, workers, command, environment=None, only_on=None):
        self.kind = kind
        self.workers = workers
        self.command = command
        self.environment = environment or {}
        self.only_on = only_on  # cores of a program that has no option for them
        self.times = {}  # round -> us
        self.iterations = None
        self.residual = None
        self.problem = None
        if None in command or not shutil.which(str(command[0])):
            self.problem = "not built, or its launcher is absent"
        for part in command:
            if isinstance(part, pathlib.Path) and not part.exists():
                self.problem = f"not built: {part.name}"

    def run(self, number, given):
        problem = ["--file", given.file] if given.file else ["--grid", str(given.grid)]
        environment = {**os.environ, **LAUNCHER_ENVIRONMENT, **self.environment, "TMPDIR": given.temporary,
                       "OMPI_MCA_btl_vader_backing_directory": given.temporary,
                       "OMPI_MCA_btl_sm_backing_directory": given.temporary}
        command = [str(part) for part in self.command] + problem + ["--tol", str(given.tol), "--turn-ms", str(given.turn_ms), "--json"]
        ended = processes.run(command, environment, given.timeout, self.only_on)
        objects = report.objects(ended.output)
        if ended.timed_out:
            self.problem = f"hangs: ended after {given.timeout:g} s"
        elif ended.status != 0 or not objects:
            errors = [line for line in ended.errors.strip().splitlines() if line.strip("-= ")]
            self.problem = f"failed (status {ended.status}): {errors[-1] if errors else 'no output'}"
        else:
            try:
                self.take(number, objects[-1])
            except (IndexError, KeyError, TypeError, ValueError):
                self.problem = "printed another report than its own"

    def take(self, number, found):
        if self.kind == "HAM":
            solved, turns = found["tables"]
            row = solved["rows"][0]
            if row["targets"] != self.workers:
                self.problem = f"ran with {row['targets']} targets"
                return
            time_us = turns["rows"][0]["time per iteration, best turn: us"]
        else:
            row = found
            time_us = found["best_us"]
        self.iterations, self.residual = row["iterations"], row["residual"]
        self.times[number] = time_us


def counts_up_to(most):
    """As the applications count their targets: 1 to n, or powers of two and n if that is more than four."""
    return list(range(1, most + 1)) if most <= 4 else [1 << i for i in range((most - 1).bit_length())] + [most]


def contestants(given):
    binary = pathlib.Path(given.bin)
    peers = binary / "peers"
    launchers = peers / "launchers.json"
    launchers = json.loads(launchers.read_text()) if launchers.exists() else {}
    found = []
    for workers in counts_up_to(given.workers):
        theirs = given.order[:workers]
        # Ranks pin themselves to the first cores that they may use.
        only_on = theirs if set(theirs) != set(sorted(given.order)[:workers]) else None
        nodes = f"shm:{workers}@" + "+".join(str(core) for core in theirs)
        found.append(contestant("HAM", workers, [binary / "applications" / "conjugate_gradient", f"--ham-nodes={nodes}",
                                                "--targets-only"]))
        for name, title in MPI.items():
            bind = ["--bind-to", "none"] if name == "openmpi" else []  # the program pins its ranks itself
            launcher = launchers.get(name) or shutil.which(f"mpirun.{name}")
            found.append(contestant(title, workers, [launcher, "-n", str(workers), *bind, peers / f"cg_{name}"], only_on=only_on))
        places = ",".join(f"{{{core}}}" for core in theirs)
        found.append(contestant("OpenMP", workers, [peers / "cg_openmp"],
                                {"OMP_NUM_THREADS": str(workers), "OMP_PLACES": places, "OMP_PROC_BIND": "close",
                                 "OMP_WAIT_POLICY": "active"}))
    return found


def ratios(over, under):
    """Of the rounds that both have."""
    return [over.times[number] / under.times[number] for number in over.times if number in under.times]


def row_of(one, all_of_them):
    first = next(other for other in all_of_them if other.kind == one.kind and other.workers == 1)
    row = {"solver": one.kind, "workers": one.workers, "time per iteration: us": None, "quartiles: us": None,
           "speed-up over 1 worker": None, "speed-up: quartiles": None, "HAM / this": None, "HAM / this: quartiles": None, "iterations": one.iterations, "residual": one.residual,
           "rounds": len(one.times), "remark": one.problem or ""}
    if one.times:
        times = list(one.times.values())
        row["time per iteration: us"], row["quartiles: us"] = report.quartiles(times)[1], report.quartile_text(times)
        if ratios(first, one):
            row["speed-up over 1 worker"] = report.quartiles(ratios(first, one))[1]
            row["speed-up: quartiles"] = report.quartile_text(ratios(first, one))
        ham = next(other for other in all_of_them if other.kind == "HAM" and other.workers == one.workers)
        if ratios(ham, one):
            row["HAM / this"] = report.quartiles(ratios(ham, one))[1]
            row["HAM / this: quartiles"] = report.quartile_text(ratios(ham, one))
    return row


def measure(found, given):
    """Rounds over all, as many as fit into the budget. Gives a remark on what is left out."""
    end = time.monotonic() + given.budget
    for number in range(given.repetitions):
        for i in range(len(found)):
            one = found[(i + number) % len(found)]
            if one.problem is not None:
                continue
            if time.monotonic() >= end:
                leave_out(found, f"the time of {given.budget:g} s was over")
                return [f"the time of {given.budget:g} s was over in round {number + 1} of {given.repetitions}"]
            one.run(number, given)
    return []


def leave_out(found, why):
    """Marks what was not come to. A round that is not complete counts for those that it has come to: ratios are of the rounds that both have."""
    for one in found:
        if one.problem is None and not one.times:
            one.problem = f"not measured: {why}"


def make_report(found, remarks, given):
    bars = []
    for one in found:
        if one.kind in MPI.values() and one.workers == 2:
            ham = next(other for other in found if other.kind == "HAM" and other.workers == 2)
            if ham.problem or not ham.times:  # without HAM's own time the bar is missed, without that of the peer there is none
                bars.append(report.bar(f"HAM, 2 targets / {one.kind}, 2 ranks", None, "<=", BAR))
            elif ratios(ham, one):
                bars.append(report.bar(f"HAM, 2 targets / {one.kind}, 2 ranks", report.quartiles(ratios(ham, one))[1], "<=", BAR))
            else:
                remarks.append(f"no bar against {one.kind} with 2 ranks: it was not measured")
        if one.problem:
            remarks.append(f"{one.kind}, {one.workers}: {one.problem}")
    counts = {one.iterations for one in found if one.iterations is not None}
    if len(counts) > 1 and max(counts) > 1.02 * min(counts):
        remarks.append(f"iterations differ by more than rounding explains: {sorted(counts)}")
    remarks.append(f"{report.today()}, {report.machine()}, {given.placement}")
    what = given.file or f"Poisson, grid of {given.grid} x {given.grid}"
    return {"name": "conjugate_gradient_peers",
            "tables": [{"title": f"Conjugate gradients, {what}: best turn of each run",
                        "rows": [row_of(one, found) for one in found]}],
            "bars": bars, "remarks": remarks}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one object of JSON")
    parser.add_argument("--grid", type=int, default=300, help="points per side of the Poisson grid (default: 300)")
    parser.add_argument("--file", help="a Matrix Market file instead")
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--turn-ms", type=float, default=25, help="milliseconds of a turn (default: 25)")
    parser.add_argument("--repetitions", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--budget", type=float, default=120, help="seconds after which no further program is started (default: 120)")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="at most so many (default: cores)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one program")
    parser.add_argument("--bin", default=str(ROOT / "build" / "release" / "bin"), help="folder of the programs")
    given = parser.parse_args()
    if given.repetitions < 1 or not 1 <= given.workers <= len(os.sched_getaffinity(0)):
        parser.error("--repetitions: at least 1; --workers: at least 1, at most the number of usable cores")
    topology = cores.topology()
    given.order = topology.order()
    given.placement = "workers on cores " + ", ".join(str(core) for core in given.order[:given.workers])
    if given.workers > 1:
        given.placement += f" (the first two: {topology.kind(*given.order[:2])})"
    return given


def main():
    given = parse()
    processes.end_on_request()
    processes.adopt_orphans()
    found = contestants(given)
    # In memory: MPI's segments are files there, which a rank that is killed leaves behind.
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    status = None
    with tempfile.TemporaryDirectory(prefix="ham-cg-", dir=parent, ignore_cleanup_errors=True) as given.temporary:
        try:
            remarks = measure(found, given)
        except SystemExit as request:  # what was measured until then is a report, too
            status, why = request.code, f"ended by {signal.Signals(request.code - 128).name}"
            remarks = [f"{why}: some rounds, or all, are missing"]
            leave_out(found, why)
        processes.ignore_requests()
    measured = any(one.times for one in found)
    if measured or status is None:
        report.print_report(make_report(found, remarks, given), given.json)
    if status is not None:
        return status
    return 0 if measured else 1


if __name__ == "__main__":
    sys.exit(main())
