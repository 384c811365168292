"""Every plot finds its columns in what the programs of this build print: columns_test.py BUILD

Each program is run for as short as it can be; what it measures is not looked at. A column or a title that was renamed makes a series of a
plot disappear without an error otherwise. What this build does not have, or this machine cannot run, is printed. For some of it what the
program has printed elsewhere is in the folder `stored`, which is held against the programs where they are there.
"""
import json
import os
import re
import sys
import tempfile
import time
import unittest

import canned  # noqa: F401  finds the modules
import execution
import experiments
import points
import results
import runner
from model import Measurement

BUILD = sys.argv.pop() if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else os.path.join(canned.REPOSITORY, "build/release")
ONE_S, ALL_S = 60, 200  # that the programs may take: two that spin share few cores with whatever else runs
SHORT = ("-r", "1", "--block-ms", "1")
# Measurement -> options that make it short.
QUICK = {
    "protocols": SHORT,
    "latency": SHORT,
    "placement": SHORT,
    "rate": SHORT,
    "values": (*SHORT, "--largest", "0.1"),
    "groups": (*SHORT, "--most-targets", "4"),
    "graphs": SHORT,
    "veo": (*SHORT, "--largest", "0.001"),
    "veo-offload": SHORT,
    "openmp": (*SHORT, "--largest", "0.001"),
    **{f"mpi-{mpi}": ("-r", "1") for mpi in ("openmpi", "mpich")},
    **{f"bandwidth-mpi-{mpi}": ("-r", "1", "--largest", "0.001") for mpi in ("openmpi", "mpich")},
    "bandwidth-shm": (*SHORT, "--largest", "0.001"),
    "bandwidth-emulated": (*SHORT, "--largest", "0.001"),
    "bandwidth-tcp": (*SHORT, "--largest", "0.001"),
    "gemm": ("--repetitions", "1", "--size", "64"),
    "stream": ("--repetitions", "1", "--elements", "1000"),
    "stream-cache": ("--repetitions", "1"),
    "himeno": ("--repetitions", "1", "--iterations", "1"),
    **{f"execution-models{link}": ("--repetitions", "1", "--iterations", "1") for link in ("", "-emulated")},
    **{f"formatted-output{link}": ("--repetitions", "1", "--lines", "10", "--steps", "1") for link in ("", "-emulated")},
    "forwarded-calls": ("--repetitions", "1", "--milliseconds", "0", "--max-bytes", "64"),
    "shallow-water": ("--repetitions", "1", "--columns", "60", "--rows", "50", "--steps", "10", "--every", "5"),
    "coupled": ("--repetitions", "1", "--steps", "5", "--step-ms", "0"),
    **{f"kernels-{mpi}": ("--spawns", "1", "--repetitions", "1") for mpi in ("openmpi", "mpich")},
    **{f"heat-{mpi}": ("--rounds", "1") for mpi in ("openmpi", "mpich")},
    "cg": ("--repetitions", "1", "--grid", "30", "--turn-ms", "1", "--workers", "2"),
    "peers": ("--repetitions", "1", "--only", "ham,futex"),
}
# Options of the evaluation that must not be given twice.
REPLACED = {"himeno": ("--size", "M"),
            "shallow-water": ("--columns", "1000", "--rows", "500", "--steps", "60", "--every", "15", "--repetitions", "5"),
            **{f"kernels-{mpi}": ("--spawns", "128") for mpi in ("openmpi", "mpich")}}
# What is run in place of a measurement that needs a GPU: the same source for the CPU, with an emulated one.
STAND_INS = {"device-himeno": Measurement(
    "device-himeno", ("{bin}/applications/device_himeno", "XS", "--models", "--json", "--iterations", "2", "--repetitions", "1"),
    ("program:applications/device_himeno",), environment=(("HAM_NODES", "cuda-emulated:1/blocks=2/warps=1/lanes=1"),))}
# Documents that the programs have printed, with options as above: of builds with peers, of machines whose MPI spawns.
STORED = {"kernels-openmpi": "kernels", "kernels-mpich": "kernels", "heat-openmpi": "heat", "heat-mpich": "heat", "cg": "cg", "peers": "peers",
          "device-himeno": "device-himeno"}


# What is counted, or measured once for each program.
WITHOUT_SPREAD = ("Messages of a call", "Idle server")
# Beside a ratio of the rounds with quartiles: the same of the medians; what a difference to the floor is, as a ratio has a spread.
RATIO_TWICE = ("ratio of medians", "over floor ns")


def argv_of(place, measurement):
    argv = place.argv(measurement)
    for option in REPLACED.get(measurement.name, ()):
        argv.remove(option)
    return [*argv, *QUICK.get(measurement.name, ())]


def stored(name):
    """Reports that a program has printed before, or None."""
    if name not in STORED:
        return None
    with open(os.path.join(canned.STORED, f"{STORED[name]}.json"), encoding="utf-8") as file:
        return results.reports(json.load(file))


def form(reports):
    """What the plots rely on: which columns the tables have, in their order."""
    return [(report["name"], [sorted(results.columns(table["rows"])) for table in report["tables"]]) for report in reports]


class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.place = runner.Place(canned.REPOSITORY, os.path.abspath(BUILD), cls.folder.name)
        cls.needs = runner.Requirements(cls.place)
        cls.found, cls.left_out = {}, {}
        cls.deadline = time.monotonic() + ALL_S

    def reports(self, name):
        """Reports of a measurement, or None if it cannot be made here, or takes too long on a machine that is busy."""
        if name not in self.found:
            self.found[name], self.left_out[name] = self.made(STAND_INS.get(name, experiments.MEASUREMENTS[name]))
        return self.found[name]

    def made(self, measurement):
        """Reports, or None and the reason."""
        missing = self.needs.missing(measurement)
        if missing:
            return None, missing
        left_s = max(0, min(ONE_S, self.deadline - time.monotonic()))
        outcome = execution.run(argv_of(self.place, measurement), left_s, dict(measurement.environment), self.folder.name)
        if outcome.status is None:
            return None, f"no result within {left_s:.0f} s"
        self.assertEqual(outcome.problem, "", f"{measurement.name}: {outcome.errors}")
        return results.reports(results.parse(outcome.output)), ""

    def check(self, experiment, plot, series, found):
        with self.subTest(f"{experiment.name}: {plot.title}: {series.label}"):
            one = points.of(series, found)
            self.assertIsNotNone(one)
            self.assertFalse(series.low and series.role in ("ours", "total", "floor", "peer") and one.low is None, "no quartiles")

    def test_every_measurement_of_a_plot_is_tried(self):
        for experiment in experiments.EXPERIMENTS:
            for name in experiment.measurements:
                self.assertTrue(name in QUICK or name in STAND_INS, name)

    def test_what_is_measured_several_times_has_a_spread(self):
        for experiment in experiments.EXPERIMENTS:
            for plot in experiment.plots:
                if plot.kind == "stack" or plot.title in WITHOUT_SPREAD:  # a stack has that of the total
                    continue
                for series in plot.series:
                    with self.subTest(f"{experiment.name}: {plot.title}: {series.label}"):
                        self.assertTrue(series.low or series.role in ("paper", "level", "peak", "bandwidth"))

    def test_ratios_and_floors_of_tables_have_a_spread(self):
        """In what the programs print: the column itself has both quartiles, or one of those that follow it."""
        for name in QUICK:
            for table in (table for report in self.reports(name) or [] for table in report["tables"] if table["rows"]):
                columns = results.columns(table["rows"])
                for index, column in enumerate(columns):
                    values = [row.get(column) for row in table["rows"]]
                    if not re.search(r"\bfloor\b|\bratio\b", column) or "quartile" in column or not any(isinstance(one, float) for one in values):
                        continue
                    if column in RATIO_TWICE:
                        continue
                    with self.subTest(f"{name}: {table['title']}: {column}"):
                        self.assertTrue(any("quartile" in one for one in columns[index + 1:index + 3]))

    def test_series_find_their_columns_in_what_is_stored(self):
        count = 0
        for experiment in experiments.EXPERIMENTS:
            for plot in experiment.plots:
                for series in plot.series:
                    found = stored(series.source)
                    if found:
                        self.check(experiment, plot, series, found)
                        count += 1
        self.assertGreater(count, 20)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core: the programs want one for host and target each")
    def test_every_series_finds_its_columns(self):
        count = 0
        for experiment in experiments.EXPERIMENTS:
            for plot in experiment.plots:
                for series in plot.series:
                    found = None if series.source.startswith("paper:") else self.reports(series.source)
                    if found is not None:
                        self.check(experiment, plot, series, found)
                        count += 1
            for make in experiment.tables:
                if all(self.reports(name) for name in experiment.measurements):
                    with self.subTest(f"{experiment.name}: table"):
                        self.assertIsNotNone(make(self.reports))
        for name, found in self.found.items():
            if found and experiments.MEASUREMENTS[name].emulated:
                for table in (table for report in found for table in report["tables"]):
                    with self.subTest(f"{name}: {table['title']}"):
                        self.assertIn("emulated", table["title"])
        for name, reason in self.left_out.items():
            if reason:
                print(f"{name}: left out: {reason}" + (" (what is stored was checked)" if name in STORED else ""), file=sys.stderr)
        for name, found in self.found.items():
            if found and name in STORED:
                with self.subTest(f"stored/{STORED[name]}.json"):
                    self.assertEqual(form(stored(name)), form(found), "print it anew")
        if not count:
            self.skipTest(f"{BUILD} has none of the programs")


if __name__ == "__main__":
    unittest.main()
