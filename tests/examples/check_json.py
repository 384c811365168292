#!/usr/bin/env python3
"""Runs the solver with --json and checks the object that it prints: check_json.py PROGRAM"""
import json
import subprocess
import sys

result = json.loads(subprocess.run([sys.argv[1], "--grid", "60", "--json"], check=True, capture_output=True).stdout)
solved, turns = result["tables"]
row = solved["rows"][0]
assert result["name"] == "conjugate_gradient" and result["bars"] == [], result
assert row["targets"] == 2 and row["rows"] == 3600 and row["nonzeros"] == 17760, row
assert row["converged"] == "yes" and 0 < row["residual"] <= 1e-8 and row["iterations"] > 10, row
assert row["time per iteration, solve: us"] > 0 and row["among targets: bytes per iteration"] > 480, row
times = {one["solver"]: one["time per iteration, best turn: us"] for one in turns["rows"]}
alone = subprocess.run([sys.argv[1], "--grid", "60", "--targets-only", "--json"], check=True, capture_output=True).stdout
assert [one["solver"] for one in json.loads(alone)["tables"][1]["rows"]] == ["HAM, 2 targets"], alone
text = subprocess.run([sys.argv[1], "--grid", "60", "--targets-only"], check=True, capture_output=True, text=True).stdout
assert "in turns" in text and "speed-up" not in text, text
assert times["HAM, 2 targets"] > 0 and times["without HAM, 1 thread"] > 0, times
