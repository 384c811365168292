"""Every plot finds its columns in what the programs of this build print: columns_test.py BUILD

Each program is run for as short as it can be; what it measures is not looked at. A column or a title that was renamed makes a series of a
plot disappear without an error otherwise.
"""
import os
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

BUILD = sys.argv.pop() if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else os.path.join(canned.REPOSITORY, "build/release")
ONE_S, ALL_S = 60, 200  # that the programs may take: two that spin share few cores with whatever else runs
SHORT = ("-r", "1", "--block-ms", "1")
# Measurement -> options that make it short. Those that cannot be made short are not here: they spawn processes by MPI.
QUICK = {
    "protocols": SHORT,
    "latency": SHORT,
    "placement": SHORT,
    "rate": SHORT,
    "values": SHORT,
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
    "himeno": ("--repetitions", "1", "--iterations", "1"),
    **{f"execution-models{link}": ("--repetitions", "1", "--iterations", "1") for link in ("", "-emulated")},
    **{f"formatted-output{link}": ("--repetitions", "1", "--lines", "10", "--steps", "1") for link in ("", "-emulated")},
    "forwarded-calls": ("--repetitions", "1", "--milliseconds", "0", "--max-bytes", "64"),
    "shallow-water": ("--steps", "10",),
    "coupled": ("--repetitions", "1", "--steps", "5", "--step-ms", "0"),
    "cg": ("--repetitions", "1", "--grid", "30", "--turn-ms", "1", "--workers", "2"),
    "peers": ("--repetitions", "1", "--only", "ham,futex"),
}
# Options of the evaluation that must not be given twice.
REPLACED = {"himeno": ("--size", "M"), "shallow-water": ("--columns", "1000", "--rows", "500", "--repetitions", "5")}


def argv_of(place, measurement):
    argv = place.argv(measurement)
    for option in REPLACED.get(measurement.name, ()):
        argv.remove(option)
    return [*argv, *QUICK[measurement.name]]


class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.place = runner.Place(canned.REPOSITORY, os.path.abspath(BUILD), cls.folder.name)
        cls.needs = runner.Requirements(cls.place)
        cls.found = {}
        cls.deadline = time.monotonic() + ALL_S

    def reports(self, name):
        """Reports of a measurement, or None if it is not tried, cannot be made here, or takes too long on a machine that is busy."""
        measurement = experiments.MEASUREMENTS.get(name)
        if name not in QUICK or self.needs.missing(measurement):
            return None
        if name not in self.found:
            left_s = min(ONE_S, self.deadline - time.monotonic())
            outcome = execution.run(argv_of(self.place, measurement), max(0, left_s), dict(measurement.environment), self.folder.name)
            if outcome.status is None:
                print(f"{name}: not tried to the end: no result within {left_s:.0f} s", file=sys.stderr)
                self.found[name] = None
                return None
            self.assertEqual(outcome.problem, "", f"{name}: {outcome.errors}")
            self.found[name] = results.reports(results.parse(outcome.output))
        return self.found[name]

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core: the programs want one for host and target each")
    def test_every_series_finds_its_columns(self):
        count = 0
        for experiment in experiments.EXPERIMENTS:
            for plot in experiment.plots:
                for series in plot.series:
                    found = None if series.source.startswith("paper:") else self.reports(series.source)
                    if found is None:
                        continue
                    with self.subTest(f"{experiment.name}: {plot.title}: {series.label}"):
                        one = points.of(series, found)
                        self.assertIsNotNone(one)
                        self.assertFalse(series.low and series.role == "ours" and one.low is None, "no quartiles")
                        count += 1
        if not count:
            self.skipTest(f"{BUILD} has none of the programs")


if __name__ == "__main__":
    unittest.main()
