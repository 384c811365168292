#!/usr/bin/env python3
"""Tests of benchmarks/peers/cg.py with programs that are told what to print, that fail and that hang."""
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PEERS = HERE.parent.parent / "benchmarks" / "peers"
sys.path.insert(0, str(PEERS))
import cg  # noqa: E402
import cores  # noqa: E402

# A launcher that starts one process and tells it how many there would be.
LAUNCHER = """#!/bin/sh
shift
FAKE_RANKS=$1
export FAKE_RANKS
shift
[ "$1" = --bind-to ] && shift 2
exec "$@"
"""


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def command_in(folder, *options):
    """cg.py with stand-ins for all programs, which are made in the folder."""
    binary = pathlib.Path(folder)
    fake = (HERE / "fake_cg.py").read_text()
    for name in ("applications/conjugate_gradient", "peers/cg_openmpi", "peers/cg_mpich", "peers/cg_openmp"):
        executable(binary / name, fake)
    executable(binary / "launcher", LAUNCHER)
    launcher = str(binary / "launcher")
    (binary / "peers" / "launchers.json").write_text(json.dumps({"openmpi": launcher, "mpich": launcher}))
    return [sys.executable, str(PEERS / "cg.py"), "--json", "--bin", folder, *options]


def measured(*options, **environment):
    """The report of cg.py."""
    with tempfile.TemporaryDirectory() as folder:
        command = command_in(folder, "--timeout", "12", *options)
        ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, env={**os.environ, **environment})
    return json.loads(ended.stdout)


def take_interrupts():
    """What a shell starts in the background ignores them, and so would what that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def asked_to_end(number, *options, hangs, **environment):
    """Exit status, output, and what a program that hangs has noted: cg.py is sent the signal when the program of this name hangs."""
    with tempfile.TemporaryDirectory() as folder:
        notes = pathlib.Path(folder, "notes")
        environment = {**os.environ, "FAKE_NOTES": str(notes), "FAKE_HANGS": hangs, **environment}
        process = subprocess.Popen(command_in(folder, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                   preexec_fn=take_interrupts)
        deadline = time.monotonic() + 60
        while not notes.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors, notes.read_text(encoding="utf-8").split()


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cores")
class cg_test(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = measured("--workers", "2", "--repetitions", "3")

    def row(self, solver, workers):
        rows = self.report["tables"][0]["rows"]
        return next(row for row in rows if (row["solver"], row["workers"]) == (solver, workers))

    def test_where_the_workers_are(self):
        order, topology = cores.topology().order(), cores.topology()
        self.assertIn(f"workers on cores {order[0]}, {order[1]} (the first two: {topology.kind(*order[:2])})", self.report["remarks"][-1])
        self.assertEqual(self.row("Open MPI", 2)["remark"], "")

    def test_time_and_scaling(self):
        row = self.row("HAM", 2)
        self.assertEqual((row["time per iteration: us"], row["rounds"]), (55.0, 3))
        self.assertAlmostEqual(row["speed-up over 1 worker"], 2.0)
        self.assertEqual(row["iterations"], 100)
        self.assertEqual(self.row("Open MPI", 2)["HAM / this: quartiles"], "1.1..1.1")

    def test_the_bar(self):
        bar = self.report["bars"][0]
        self.assertEqual((bar["name"], bar["wanted"], bar["limit"]), ("HAM, 2 targets / Open MPI, 2 ranks", "<=", 1.05))
        self.assertAlmostEqual(bar["value"], 1.1)
        self.assertFalse(bar["met"])
        self.assertEqual(len(self.report["bars"]), 1)

    def test_a_program_that_fails(self):
        self.assertIn("no matrix", self.row("MPICH", 1)["remark"])
        self.assertIsNone(self.row("MPICH", 2)["time per iteration: us"])
        self.assertTrue(any("no bar against MPICH" in remark for remark in self.report["remarks"]))

    def test_a_program_that_hangs(self):
        self.assertIn("hangs", self.row("OpenMP", 2)["remark"])
        self.assertEqual(self.row("OpenMP", 1)["time per iteration: us"], 90.0)


class small_test(unittest.TestCase):
    def test_numbers_of_workers_are_those_of_the_applications(self):
        for most, counts in ((1, [1]), (2, [1, 2]), (4, [1, 2, 3, 4]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8]), (12, [1, 2, 4, 8, 12]),
                             (128, [1, 2, 4, 8, 16, 32, 64, 128])):
            self.assertEqual(cg.counts_up_to(most), counts)

    def test_all_run_on_the_same_cores(self):
        with tempfile.TemporaryDirectory() as folder:
            for order, wanted in (([0, 2, 1, 3], {1: None, 2: [0, 2], 3: None, 4: None}), ([2, 3], {1: None, 2: None})):
                found = cg.contestants(types.SimpleNamespace(bin=folder, order=order, workers=len(order)))
                self.assertEqual({one.workers: one.only_on for one in found if one.kind == "MPICH"}, wanted)
                most = {one.kind: one for one in found if one.workers == 2}
                self.assertIn("--ham-nodes=shm:2@" + "+".join(map(str, order[:2])), most["HAM"].command)
                self.assertEqual(most["OpenMP"].environment["OMP_PLACES"], ",".join(f"{{{core}}}" for core in order[:2]))

    def test_the_budget_ends_it_with_what_is_there(self):
        report = measured("--workers", "1", "--repetitions", "1000", "--budget", "2", FAKE_SECONDS="0.1")
        rows = {row["solver"]: row for row in report["tables"][0]["rows"]}
        self.assertTrue(0 < rows["HAM"]["rounds"] < 100)
        self.assertTrue(any("was over in round" in remark for remark in report["remarks"]))
        self.assertEqual(rows["HAM"]["remark"], "")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cores")
    def test_a_bar_without_a_figure_of_ham_is_missed(self):
        report = measured("--workers", "2", "--repetitions", "1", "--timeout", "2", FAKE_HAM="fails")
        self.assertEqual([(bar["value"], bar["met"]) for bar in report["bars"]], [(None, False)] * 2)

    def test_what_the_budget_leaves_out_says_so(self):
        report = measured("--workers", "1", "--budget", "0.5", FAKE_SECONDS="1")
        rows = {row["solver"]: row for row in report["tables"][0]["rows"]}
        self.assertEqual(rows["HAM"]["rounds"], 1)
        self.assertEqual(rows["OpenMP"]["remark"], "not measured: the time of 0.5 s was over")

    def test_a_request_to_end_leaves_no_process_and_no_folder_and_a_report_of_what_was_measured(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                status, output, errors, (pid, temporary) = asked_to_end(number, "--workers", "1", hangs="cg_openmp")
                self.assertEqual((status, errors), (128 + number, ""))
                self.assertFalse(os.path.exists(f"/proc/{pid}"))
                self.assertFalse(os.path.exists(temporary))
                report, why = json.loads(output), f"ended by {number.name}"
                rows = {row["solver"]: row for row in report["tables"][0]["rows"]}
                self.assertEqual((rows["HAM"]["time per iteration: us"], rows["HAM"]["rounds"], rows["HAM"]["remark"]), (110.0, 1, ""))
                self.assertAlmostEqual(rows["Open MPI"]["HAM / this"], 1.1)
                self.assertEqual((rows["OpenMP"]["time per iteration: us"], rows["OpenMP"]["remark"]), (None, f"not measured: {why}"))
                self.assertIn(f"{why}: some rounds, or all, are missing", report["remarks"])

    def test_a_request_to_end_before_anything_is_measured_prints_nothing(self):
        status, output, errors, _ = asked_to_end(signal.SIGTERM, "--workers", "1", hangs="conjugate_gradient")
        self.assertEqual((status, output, errors), (128 + signal.SIGTERM, "", ""))

    def test_a_program_that_prints_something_else(self):
        report = measured("--workers", "1", "--repetitions", "1", FAKE_FORM="other")
        rows = {row["solver"]: row for row in report["tables"][0]["rows"]}
        self.assertEqual(rows["MPICH"]["remark"], "printed another report than its own")
        self.assertEqual(rows["HAM"]["time per iteration: us"], 110.0)


if __name__ == "__main__":
    unittest.main()
