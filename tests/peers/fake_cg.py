#!/usr/bin/env python3
"""A conjugate gradient program that solves nothing: its name says how it behaves, as the programs of cg.py are called."""
import json
import os
import sys
import time

name = os.path.basename(sys.argv[0])
if "FAKE_SECONDS" in os.environ:
    time.sleep(float(os.environ["FAKE_SECONDS"]))
if name == os.environ.get("FAKE_HANGS"):
    with open(os.environ["FAKE_NOTES"] + ".new", "w", encoding="utf-8") as notes:
        notes.write(f"{os.getpid()} {os.environ['TMPDIR']}")
    os.rename(os.environ["FAKE_NOTES"] + ".new", os.environ["FAKE_NOTES"])
    time.sleep(1000)
if name == "cg_openmp":
    if os.environ["OMP_NUM_THREADS"] == "2":
        time.sleep(1000)
    print(json.dumps({"name": name, "iterations": 100, "residual": 1e-9, "best_us": 90.0}))
    sys.exit(0)
if name == "cg_mpich" and "FAKE_FORM" in os.environ:
    print("{}")
    sys.exit(0)
if name == "cg_mpich":
    print("cg_mpi: rank 0: no matrix", file=sys.stderr)
    sys.exit(1)
if name == "conjugate_gradient" and "FAKE_HAM" in os.environ:
    sys.exit("no target")
if name == "conjugate_gradient":
    workers = int(sys.argv[1].split(":")[1].split("@")[0])
    solved = {"targets": workers, "iterations": 100, "residual": 1e-9}
    turns = [{"solver": "HAM", "time per iteration, best turn: us": 110.0 / workers}]
    print(json.dumps({"name": "conjugate_gradient", "tables": [{"rows": [solved]}, {"rows": turns}]}))
    print('{"a line": "that is cut off')
else:
    workers = int(os.environ["FAKE_RANKS"])
    print(json.dumps({"name": name, "iterations": 100, "residual": 1e-9, "best_us": 100.0 / workers}))
