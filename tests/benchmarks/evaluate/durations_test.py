"""How long runs of make evaluate took is kept, and shown on the page and in Markdown."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import canned
import durations
import machine

SAME = {"CPU": "x", "cores": 2}


def a_run(began=None, installed=None, built=None, now=1000.0):
    return durations.Run(["a", "b"], ["a", "b"], SAME, "abc", now, began, installed, built)


class Durations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_phases_follow_each_other(self):
        run = a_run(100, 130, 930)
        run.done("measuring", 1600)
        run.done("writing the page", 1603)
        self.assertEqual(run.data["seconds"], {"installing and configuring": 30, "building": 800, "measuring": 600, "writing the page": 3})
        self.assertEqual(run.data["total"], 1503)

    def test_without_make_a_run_is_what_it_did_itself(self):
        for stamps in ((), (100,), (100, 90, 95), (100, 200, 2000)):
            run = a_run(*stamps)
            run.done("measuring", 1010)
            self.assertEqual(run.data["seconds"], {"measuring": 10}, stamps)
            self.assertEqual(run.data["total"], 910 if stamps else 10)

    def test_what_became_of_measurements(self):
        run = a_run()
        run.measured({"new": {"seconds": 3.5, "status": "measured"}, "old": {"seconds": 9, "status": "measured", "kept": True},
                      "none": {"status": "not measured", "reason": "x"}})
        self.assertEqual((run.data["measurements"], run.data["kept"], run.data["not measured"]), ({"new": 3.5}, ["old"], ["none"]))

    def test_runs_are_kept_and_the_oldest_are_dropped(self):
        for number in range(durations.MAX_RUNS + 3):
            run = a_run(now=1000.0 + number)
            run.done("measuring", 2000)
            durations.write(self.folder, durations.read(self.folder), run)
        found = durations.read(self.folder)
        self.assertEqual([one["total"] for one in found], [1000.0 - number for number in range(3, durations.MAX_RUNS + 3)])

    def test_a_file_that_is_none_counts_for_none(self):
        for text in ("", "[]", "{}", '{"runs": 1}', '{"runs": [1]}', '{"runs": [{"seconds": 1}]}'):
            pathlib.Path(self.folder, "runs.json").write_text(text, encoding="utf-8")
            self.assertEqual(durations.read(self.folder), [])

    def test_runs_of_other_machines_are_not_shown(self):
        run = a_run(100, 130, 930)
        run.done("measuring", 1600)
        self.assertEqual(durations.tables([run.data], {**SAME, "CPU": "y"}), [])
        (table,) = durations.tables([run.data], {**SAME, "name": "z"})
        (row,) = table["rows"]
        self.assertEqual((row["building s"], row["measuring s"], row["total s"], row["parts"]), (800, 600, 1500, "all"))

    def test_measurements_get_what_is_left_of_25_minutes(self):
        for installed_and_built_min, left_min in ((0, 20), (3.5, 20), (10, 13.5), (18.5, 5), (60, 5)):
            self.assertEqual(durations.minutes_left(1000 + installed_and_built_min * 60, 1000), left_min)
        self.assertEqual(durations.minutes_left(1000, None), 20)

    def test_a_run_is_recorded_and_shown(self):
        begin = time.time() - 3600
        stamps = ("--since", str(begin), "--installed", str(begin + 60), "--built", str(begin + 660))
        command = [sys.executable, os.path.join(canned.REPOSITORY, "benchmarks", "evaluate"), "--out", self.folder, "--build", self.folder]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([*command, *stamps, "placement"], capture_output=True, timeout=120, check=True, env=environment)
        (run,) = json.loads(pathlib.Path(self.folder, "runs.json").read_text(encoding="utf-8"))["runs"]
        self.assertEqual((run["seconds"]["installing and configuring"], run["seconds"]["building"]), (60, 600))
        self.assertGreaterEqual(run["total"], 3600)
        self.assertEqual((run["parts"], run["not measured"], run["machine"]), (["placement"], ["placement"], machine.identity()))
        page = pathlib.Path(self.folder, "report.html").read_text(encoding="utf-8")
        listed = subprocess.run([*command, "--markdown"], capture_output=True, text=True, timeout=120, check=True, env=environment).stdout
        for text in (page, listed):
            self.assertIn("duration of make evaluate on this machine", text)
        self.assertIn("| placement | 60 | 600 |", listed)
        subprocess.run([*command, "--page"], capture_output=True, timeout=120, check=True, env=environment)
        self.assertEqual(len(durations.read(self.folder)), 1)  # a page alone is no run
        self.assertIn("duration of make evaluate", pathlib.Path(self.folder, "report.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
