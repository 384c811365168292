#!/usr/bin/env python3
"""Times the heat example under mpirun with several numbers of parents and children: heat.py --programs FOLDER [--json]"""
import argparse
import json
import os
import statistics
import sys
import time

import execution
import processes

SETTINGS = ((1, 1), (2, 2), (1, 2), (2, 4))
EXPECTED = "total heat 1000.000"
END_S = 2  # of a run, in less time than this script gets when it is asked to end


def timed(argv, timeout_s):
    begin = time.monotonic()
    outcome = execution.run(argv, timeout_s, end_s=END_S)
    return time.monotonic() - begin, outcome


def quartiles(values):
    """Lower quartile, median, upper quartile."""
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def row_of(setting, times, floors):
    """times and floors: of the same rounds."""
    low, median, high = quartiles(times)
    floor_low, floor, floor_high = quartiles(floors)
    ratio_low, ratio, ratio_high = quartiles([time / floor for time, floor in zip(times, floors)])
    return {"parents:children": setting, "median s": median, "quartile 1 s": low, "quartile 3 s": high, "floor s": floor,
            "quartile 1 floor s": floor_low, "quartile 3 floor s": floor_high, "ratio": ratio, "quartiles": [ratio_low, ratio_high],
            "runs": len(times)}


def measured(programs, launcher, rounds, timeout_s):
    """One row for each setting, and what has gone wrong; the program and its floor take turns."""
    rows, problems = [], []
    for parents, children in SETTINGS:
        start = [launcher, "-n", str(parents)]
        times, floors = [], []
        for _ in range(rounds):
            floor = timed([*start, "/bin/true"], timeout_s)[0]
            seconds, outcome = timed([*start, os.path.join(programs, "heat"), os.path.join(programs, "heat_kernels"), str(children)],
                                     timeout_s)
            if outcome.problem or EXPECTED not in outcome.output:
                problems.append(f"{parents}:{children} {outcome.problem or 'printed another result'}")
            else:
                times.append(seconds)
                floors.append(floor)
        if times:
            rows.append(row_of(f"{parents}:{children}", times, floors))
    return rows, problems


def main(texts):
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("--programs", required=True, help="folder of heat and heat_kernels")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--timeout", type=float, default=30, help="seconds of one run")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(texts)
    processes.end_on_request()
    rows, problems = measured(options.programs, f"mpirun.{options.mpi}", options.rounds, options.timeout)
    failed = {"name": "runs that failed", "value": len(problems), "wanted": "<=", "limit": 0, "unit": "", "met": not problems}
    report = {"name": "heat", "bars": [failed],
              "tables": [{"title": "whole run of the heat example; floor: mpirun of as many empty programs", "rows": rows}],
              "remarks": ["of a whole run most is the start of the parents and MPI_Comm_spawn of the children",
                          *(f"a run failed: {problem}" for problem in problems)]}
    if options.json:
        print(json.dumps(report))
    else:
        for row in rows:
            print("  ".join(f"{name} {round(value, 3) if isinstance(value, float) else value}" for name, value in row.items()))
        print("\n".join([*report["remarks"], f"runs that failed: {len(problems)}"]))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
