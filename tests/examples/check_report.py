"""Runs a measuring application and checks that its standard output is one report: check_report.py COMMAND..."""
import json
import subprocess
import sys

run = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True, check=False)
if run.returncode != 0:
    sys.exit(f"exit status {run.returncode}")
report = json.loads(run.stdout)
assert set(report) == {"name", "tables", "bars", "remarks"}, sorted(report)
assert report["name"] and report["tables"], "a report has a name and a table"
for table in report["tables"]:
    assert set(table) == {"title", "rows"} and table["title"] and table["rows"], table
    for row in table["rows"]:
        assert row.keys() == table["rows"][0].keys(), row
for bar in report["bars"]:
    assert set(bar) == {"name", "value", "wanted", "limit", "unit", "met"} and bar["wanted"] in ("<=", ">="), bar
    held = bar["value"] <= bar["limit"] if bar["wanted"] == "<=" else bar["value"] >= bar["limit"]
    assert bar["met"] == held, bar
