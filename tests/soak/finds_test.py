#!/usr/bin/env python3
"""Every check of the soak test finds what it is for: finds_test.py FILE, which is soak.json of the build

Starts a short run over shared memory with each fault that ham_soak can plant (plants.hpp), and expects that soak.py ends
with 1 and says the problem: with one fault of each kind and three others, which change from day to day, or with all if
HAM_TEST_ALL is 1.
"""
import contextlib
import glob
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import types
import unittest

import soak

BUILD = None
SHORT = ("--time=4s", "--no-growth")
# Fault: (options, what the script says of it).
FOUND = {
    "wrong-result": (("--verbs=sync",), r"sync, node \d+, worker \d+: the result is wrong"),
    "wrong-checksum": (("--verbs=put, get",), r"put, get, node \d+, worker \d+: the result is wrong"),
    "changed-bytes": (("--verbs=put, get",), r"put, get, .*: get brings back what was not put"),
    "lost-exception": (("--verbs=exceptions",), r"exceptions, .*: an exception was lost"),
    "lost-call": (("--verbs=ping",), r"call \d+ \(ping\) ran 0 times and should have run once"),
    "double-run": (("--verbs=async",), r"call \d+ \(async\) ran 2 times and should have run once"),
    "late-run": (("--verbs=failing graphs",), r"call \d+ \(failing graphs\) ran 1 times and should have run never"),
    "unannounced-kill": (("--verbs=sync",), r"(of a node that was left alone|sync): .*killed by signal 9"),
    "unkilled": (("--verbs=sync",), r"node \d+ was killed and still counts as alive"),
    "unannounced-death": (("--verbs=supervised",), r"of a supervised node whose process was left alone: .*signal 9"),
    "no-restart": (("--verbs=supervised",), "a supervised process was killed, and no other one has its number"),
    "unprepared": (("--verbs=supervised",), "a supervised process was called before it was prepared"),
    "usable-handle": (("--verbs=old handles",), "memory of a process that has died can be used"),
    "lost-line": (("--verbs=output",), r"output, .*: lines of its output are missing, or are others"),
    "no-stop": (("--verbs=late stops",), r"node \d+: \d+ calls were never told to stop"),
    "hang": (("--verbs=sync", "--hang=3"), r"hangs: a worker waits for more than 3 s\.(\n|.)*since \d+ ms in sync, node \d+"
             r"(\n|.)*host, process \d+: state"),
    "hanging-replacement": (("--verbs=sync", "--hang=3"),
                            r"hangs: the thread that replaces targets waits for more than 3 s\."),
    "early-end": (("--verbs=sync",), "it ended without a word"),
    "crash": (("--verbs=sync",), "it ended with status -6"),
    "left-behind": (("--verbs=sync",), r"process \d+ is left: /bin/sleep 120"),
    "lost-event": (("--verbs=sync",), r"node \d+ was (killed|removed in order), and is said to be lost 0 times"),
    "no-heartbeat": (("--verbs=hangs",), r"a node is lost though it gives signs of life: node \d+ failed"),
    "kept-stop": (("--verbs=shields",), r"shields, .*: a shield lets a stop or a deadline through"),
    "uncounted": (("--count=1000",), "1000 calls were made and 0 have run"),
}
# What else is said of some.
ALSO = {
    "left-behind": (r"/dev/shm/ham-soak-planted-\d+ is left",),
}
# One of each kind: results, counts of runs, deaths, restarts, stops, standing still, what is left, ends.
OF_EACH_KIND = ("wrong-result", "lost-call", "double-run", "unannounced-kill", "no-restart", "no-stop", "hang", "left-behind", "early-end")
GROWTH = "growth"
TOO_SHORT = "growth that cannot be judged"
OTHERS = (*(plant for plant in FOUND if plant not in OF_EACH_KIND), GROWTH, TOO_SHORT)
OTHERS_IN_A_DAY = 3


def turn_of(day):
    """The others of a day: each has its turn in every so many days as they fill."""
    return {OTHERS[(day * OTHERS_IN_A_DAY + i) % len(OTHERS)] for i in range(OTHERS_IN_A_DAY)}


CHOSEN = {*OF_EACH_KIND, *(OTHERS if os.environ.get("HAM_TEST_ALL") == "1" else turn_of(int(time.time()) // 86400))}
NOT_TODAY = "it is not its turn today, and HAM_TEST_ALL is not 1"


class Planted(unittest.TestCase):
    def run_soak(self, *options):
        """Exit status, problems of all runs, and the output."""
        with tempfile.NamedTemporaryFile(prefix="soak-") as found:
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "soak.py")
            done = subprocess.run([sys.executable, script, "--build", BUILD, "--json", found.name, *options], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            text = found.read()
        runs = json.loads(text)["runs"] if text else []
        self.samples = [one for run in runs for one in run.get("samples", [])]
        return done.returncode, [one for run in runs for one in run["problems"]], done.stdout

    def remove_names(self):
        for name in glob.glob("/dev/shm/ham-soak-planted-*"):
            os.unlink(name)

    def test_every_fault_is_found(self):
        self.addCleanup(self.remove_names)
        for plant, (options, says) in FOUND.items():
            if plant not in CHOSEN:
                continue
            with self.subTest(plant):
                status, problems, output = self.run_soak("shm", *SHORT, *options, f"--plant={plant}")
                self.assertEqual(status, 1, output)
                for one in (says, *ALSO.get(plant, ())):
                    self.assertTrue(any(re.match(one, problem) for problem in problems), f"{one}\n{output}")
                self.assertRegex(output, "soak: problems in (shm|fast)")

    def test_a_wrong_result_of_the_fast_run(self):
        status, problems, output = self.run_soak("--count=1000", "--plant=wrong-result")
        self.assertEqual(status, 1, output)
        self.assertTrue(any(re.match(r"the result of call \d+ is wrong", one) for one in problems), output)

    @unittest.skipUnless(GROWTH in CHOSEN, NOT_TODAY)
    def test_growth(self):
        """Of every kind, as much for each sample; and what the host loses with each verb is in its samples."""
        leak = 20000
        status, problems, output = self.run_soak("shm", "--time=16s", "--verbs=sync", "--plant=growth", f"--leak={leak}")
        self.assertEqual(status, 1, output)
        for process in ("host", "target 1"):
            for what in ("descriptors", "threads", "maps"):
                self.assertTrue(any(re.match(rf"{process}: {what} grow from \d+ to \d+", one) for one in problems), f"{what}\n{output}")
            for what in ("rss_kb", "pss_kb", "heap_kb"):
                self.assertTrue(any(one.startswith(f"{process}: {what} grows by ") for one in problems), f"{what}\n{output}")
        first, last = self.samples[0], self.samples[-1]
        verbs = [sum(of["sync"] for of in one["verbs"]) for one in (first, last)]
        heap_kb = [one["processes"]["host"]["heap_kb"] for one in (first, last)]
        self.assertGreater(heap_kb[1] - heap_kb[0], (verbs[1] - verbs[0]) * leak / 1024)

    @unittest.skipUnless(TOO_SHORT in CHOSEN, NOT_TODAY)
    def test_growth_that_cannot_be_judged(self):
        status, problems, output = self.run_soak("shm", "--time=4s", "--verbs=sync")
        self.assertEqual(status, 1, output)
        self.assertTrue(any(re.match(r"target 1: \d samples behind the warm-up, 3 are needed", one) for one in problems), output)

    def test_a_test_for_each_fault_and_no_other_ones(self):
        status, problems, output = self.run_soak("shm", *SHORT, "--plant=nonsense")
        self.assertEqual((status, problems), (1, ["it ended with status 2"]), output)
        known = re.search(r'there is no fault "nonsense" to plant; there are: (.*)', output)
        self.assertIsNotNone(known, output)
        self.assertEqual(sorted(known[1].split()), sorted([*FOUND, GROWTH]))

    def test_each_fault_has_its_turn_within_a_week(self):
        days = range(20000, 20007)
        self.assertEqual(set().union(*map(turn_of, days)), set(OTHERS))


class Script(unittest.TestCase):
    """What the script finds by itself."""
    def run_command(self, command, silence):
        with contextlib.redirect_stdout(io.StringIO()):
            one = soak.Run("this", command, dict(os.environ), silence)
            one.read()
        return one.problems

    def test_who_says_nothing_is_ended(self):
        self.assertEqual(self.run_command(["sleep", "600"], silence=0.2), ["nothing was heard of it for 0 s; it was ended"])

    def test_who_ends_without_an_end(self):
        self.assertEqual(self.run_command(["true"], silence=60), ["it ended without a word"])
        self.assertEqual(self.run_command(["false"], silence=60), ["it ended with status 1"])

    def judged(self, name="shm", seconds=60, **end):
        usual = {"calls": 1, "seconds": 60, "kills": 20, "removals": 20, "spawned": 10, "restarts": 0, "verbs": [{"sync": 1}]}
        one = soak.Soak.__new__(soak.Soak)
        one.options = types.SimpleNamespace(no_growth=True)
        one.seconds, one.results = seconds, []
        run = types.SimpleNamespace(name=name, samples=[], problems=[], end={**usual, **end})
        with contextlib.redirect_stdout(io.StringIO()):
            one.judge(run, ["host"])
        return run.problems

    def test_verbs_that_no_thread_has_completed(self):
        verbs = [{"sync": 1, "async": 0, "ping": 0}, {"sync": 0, "async": 0, "ping": 2}]
        self.assertEqual(self.judged(verbs=verbs), ["the verb async was never completed"])
        self.assertEqual(self.judged(seconds=29, verbs=verbs), [])  # too short for all

    def test_targets_that_are_never_spawned(self):
        self.assertEqual(self.judged(), [])
        self.assertEqual(self.judged(spawned=0), ["no target was ever spawned"])
        self.assertEqual(self.judged(spawned=0, name="tcp"), [])  # where this machine starts none
        self.assertEqual(self.judged(spawned=0, kills=3), [])


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    print(f"with one fault of each kind: {', '.join(sorted(CHOSEN.difference(OF_EACH_KIND)))}", flush=True)
    unittest.main()
