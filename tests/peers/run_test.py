#!/usr/bin/env python3
"""Tests of benchmarks/peers/run.py with peers that hang, fail or are absent."""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
PEERS = HERE.parent.parent / "benchmarks" / "peers"
sys.path.insert(0, str(PEERS))
import cores  # noqa: E402
import processes  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402


def fake(behaviour, **entry):
    return {"title": f"fake {behaviour}", "command": [sys.executable, str(HERE / "fake_peer.py"), behaviour], **entry}


def started(folder, catalogue, *options):
    path = pathlib.Path(folder, "peers.json")
    path.write_text(json.dumps(catalogue))
    command = [sys.executable, str(PEERS / "run.py"), "--catalogue", str(path), "--bin", folder, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def take_interrupts():
    """What a shell starts in the background ignores them, and so would what that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def of_title(result, title):
    return next(row for row in result["tables"][0]["rows"] if row["peer"] == title)


class run_test(unittest.TestCase):
    def json_of(self, catalogue, *options):
        with tempfile.TemporaryDirectory() as folder:
            ended = started(folder, catalogue, "--json", *options)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return json.loads(ended.stdout)

    def test_medians_and_ratio_to_the_floor(self):
        result = self.json_of({"floor": fake("good"), "ham": fake("good")}, "--repetitions", "3")
        row = result["tables"][0]["rows"][1]
        self.assertEqual(row["empty call: us"], 3.0)
        self.assertEqual(row["empty call: quartiles"], "3..3")
        self.assertEqual(row["64 MiB: quartiles"], "6..6")
        self.assertEqual(row["empty call / floor"], 1.5)
        self.assertEqual(row["empty call / floor: quartiles"], "1.5..1.5")
        self.assertEqual(row["64 MiB: GB/s"], 6.0)
        self.assertEqual(row["idle server: % of a core"], 7.0)
        self.assertEqual(row["server killed in mid-call"], "error after 1.5 ms")
        self.assertEqual(row["rounds"], 3)
        self.assertEqual(result["bars"][0]["value"], 1.5)
        self.assertFalse(result["bars"][0]["met"])
        self.assertEqual(result["name"], "peers")
        self.assertTrue(any("the floor is 1.50 of itself" in one for one in result["remarks"]), result["remarks"])

    def test_the_cores_and_what_they_share(self):
        pair = cores.topology().pair()
        kind = cores.topology().kind(*pair)
        result = self.json_of({"one": fake("good")}, "--repetitions", "1")
        self.assertIn(f"client on core {pair[0]}, server on core {pair[1]} ({kind})", result["when and where"])
        result = self.json_of({"one": fake("good")}, "--repetitions", "1", "--cores", f"{pair[1]},{pair[1]}")
        self.assertIn("(one logical CPU)", result["when and where"])
        with tempfile.TemporaryDirectory() as folder:
            for wrong in ("0", "0,1,2", "0,x", "0,100000"):
                self.assertEqual(started(folder, {"one": fake("good")}, "--cores", wrong).returncode, 2, wrong)

    def test_how_it_is_run_stands_beside_it(self):
        result = self.json_of({"one": fake("good", environment={"FAKE": "y"}, document="docs")})
        row = result["tables"][1]["rows"][0]
        self.assertEqual((row["version"], row["how"], row["settings"]), ("1.2", "as told", "FAKE=y"))
        self.assertIn("fake_peer.py good", row["command"])

    def test_a_peer_that_hangs_is_a_row_and_leaves_nothing_behind(self):
        result = self.json_of({"one": fake("hangs"), "two": fake("good")}, "--timeout", "10", "--repetitions", "2")
        row = of_title(result, "fake hangs")
        self.assertIn("hangs", row["remark"])
        self.assertIsNone(row["empty call: us"])
        self.assertEqual(of_title(result, "fake good")["rounds"], 2)
        self.assertTrue(any("fake hangs" in remark for remark in result["remarks"]))

    def test_a_request_to_end_leaves_no_process_and_no_folder_and_a_report_of_what_was_measured(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name), tempfile.TemporaryDirectory() as folder:
                notes, catalogue = pathlib.Path(folder, "notes"), pathlib.Path(folder, "peers.json")
                catalogue.write_text(json.dumps({"floor": fake("good"), "one": fake("good", title="measured"),
                                                 "two": fake("hangs", environment={"FAKE_NOTES": str(notes)}),
                                                 "three": fake("good", title="never begun")}))
                command = [sys.executable, str(PEERS / "run.py"), "--catalogue", str(catalogue), "--bin", folder, "--json"]
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=take_interrupts)
                deadline = time.monotonic() + 60
                while not notes.exists() and time.monotonic() < deadline:
                    time.sleep(0.02)
                process.send_signal(number)
                output, errors = process.communicate(timeout=60)
                self.assertEqual((process.returncode, errors), (128 + number, ""))
                pid, temporary = notes.read_text(encoding="utf-8").split()
                self.assertFalse(os.path.exists(f"/proc/{pid}"))
                self.assertFalse(os.path.exists(temporary))
                result, why = json.loads(output), f"not measured: ended by {number.name}"
                row = of_title(result, "measured")
                self.assertEqual((row["empty call: us"], row["empty call / floor"], row["rounds"], row["remark"]), (3.0, 1.5, 1, ""))
                self.assertEqual(row["server killed in mid-call"], why)
                for title in ("fake hangs", "never begun"):
                    self.assertEqual((of_title(result, title)["empty call: us"], of_title(result, title)["remark"]), (None, why))

    def test_a_peer_that_fails_is_a_row_with_its_reason(self):
        result = self.json_of({"one": fake("fails"), "two": fake("good")}, "--repetitions", "1")
        self.assertEqual(of_title(result, "fake fails")["remark"], "failed (status 1): fake: the server did not start")

    def test_a_peer_that_prints_something_else_is_a_row_with_its_reason(self):
        result = self.json_of({"one": fake("forgets"), "two": fake("good")}, "--repetitions", "1")
        self.assertIn("printed no empty_us, kib_us", of_title(result, "fake forgets")["remark"])
        self.assertEqual(of_title(result, "fake good")["rounds"], 1)

    def test_a_bar_without_a_figure_of_ham_is_missed(self):
        for catalogue in ({"floor": fake("good"), "ham": fake("fails"), "one": fake("good")}, {"floor": fake("fails"), "ham": fake("good")}):
            bar = self.json_of(catalogue, "--repetitions", "1")["bars"][0]
            self.assertEqual((bar["name"], bar["value"], bar["met"]), ("HAM: empty call / floor", None, False))
        self.assertEqual(self.json_of({"one": fake("good")}, "--repetitions", "1")["bars"], [])

    def test_a_folder_of_the_run_in_the_settings_is_the_one_around_it(self):
        result = self.json_of({"one": fake("good", environment={"FAKE": "{shm}"})}, "--repetitions", "1")
        self.assertIn(result["tables"][1]["rows"][0]["settings"], ("FAKE=/dev/shm", f"FAKE={tempfile.gettempdir()}"))

    def test_an_absent_program_and_an_absent_package(self):
        catalogue = {"one": {"title": "not built", "command": ["{bin}/no_such_peer"]},
                     "two": {"title": "no module", "command": [sys.executable], "module": "no_such_module_of_python"},
                     "three": {"title": "no launcher", "command": ["{launcher:no_such_mpi}", "x"]},
                     "four": fake("good")}
        result = self.json_of(catalogue, "--repetitions", "1")
        self.assertIn("not built", of_title(result, "not built")["remark"])
        self.assertIn("no_such_module_of_python", of_title(result, "no module")["remark"])
        self.assertNotEqual(of_title(result, "no launcher")["remark"], "")

    def test_what_the_death_of_a_server_does(self):
        catalogue = {"one": fake("silent"), "two": fake("job")}
        result = self.json_of(catalogue, "--repetitions", "1")
        self.assertEqual(of_title(result, "fake silent")["server killed in mid-call"], "nothing within 3 s: hangs")
        self.assertEqual(of_title(result, "fake job")["server killed in mid-call"], "the launcher ends the whole job")

    def test_only_some_and_the_floor(self):
        catalogue = {"floor": fake("good"), "one": fake("good"), "two": fake("fails")}
        result = self.json_of(catalogue, "--repetitions", "1", "--only", "one")
        self.assertEqual(len(result["tables"][0]["rows"]), 2)
        with tempfile.TemporaryDirectory() as folder:
            ended = started(folder, catalogue, "--only", "three")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("three", ended.stderr)

    def test_nothing_that_can_be_measured_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = started(folder, {"one": fake("fails")})
        self.assertEqual(ended.returncode, 1)

    def test_markdown_has_a_line_for_each_measured_peer(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = started(folder, {"floor": fake("good"), "one": fake("fails")}, "--markdown", "--repetitions", "1")
        self.assertIn("| fake good 1.2 | 1.5 | 3 µs |", ended.stdout)
        self.assertIn("Not measured: fake fails", ended.stdout)
        self.assertIn("core", ended.stdout)

    def test_markdown_has_the_quartiles_of_several_rounds(self):
        with tempfile.TemporaryDirectory() as folder:
            catalogue = {"floor": fake("good"), "one": fake("good")}
            row = {"empty call: us": 3.14, "empty call: quartiles": "2.91..3.52"}
            measured = json.loads(started(folder, catalogue, "--json", "--repetitions", "3").stdout)
            measured["tables"][0]["rows"][1].update(row)
            path = pathlib.Path(folder, "stored.json")
            path.write_text(json.dumps(measured), encoding="utf-8")
            ended = started(folder, catalogue, "--from", str(path), "--markdown")
        self.assertIn("| 3.1 (2.9–3.5) µs |", ended.stdout)
        self.assertIn("Medians of 3 rounds (quartiles in brackets)", ended.stdout)

    def test_a_stored_report_makes_the_same_table(self):
        catalogue = {"floor": fake("good"), "one": fake("fails")}
        with tempfile.TemporaryDirectory() as folder:
            measured = json.loads(started(folder, catalogue, "--json", "--repetitions", "1").stdout)
            for document in (measured, {"status": "measured", "result": measured}):
                path = pathlib.Path(folder, "stored.json")
                path.write_text(json.dumps(document), encoding="utf-8")
                ended = started(folder, catalogue, "--from", str(path), "--markdown")
                self.assertEqual(ended.returncode, 0, ended.stderr)
                self.assertIn("| fake good 1.2 | 1.5 | 3 µs |", ended.stdout)
                self.assertIn("Not measured: fake fails", ended.stdout)
                self.assertIn(measured["when and where"], ended.stdout)

    def test_nothing_is_measured_after_the_budget(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = started(folder, {"one": fake("good")}, "--json", "--budget", "0", "--repetitions", "9")
        self.assertEqual(ended.returncode, 1)
        result = json.loads(ended.stdout)
        self.assertEqual(of_title(result, "fake good")["remark"], "not measured: the time of 0 s was over")
        self.assertTrue(any("0 of 9 rounds" in remark for remark in result["remarks"]))

    def test_the_catalogue_is_complete(self):
        for name, entry in json.loads((PEERS / "peers.json").read_text()).items():
            self.assertTrue(entry["title"] and entry["command"], name)
            for part in entry["command"]:
                if part.startswith("{here}"):
                    self.assertTrue(pathlib.Path(part.format(here=PEERS)).exists(), part)
                elif part.startswith("{bin}/"):
                    self.assertIn(part[len("{bin}/"):], (PEERS / "CMakeLists.txt").read_text())


class budget_test(unittest.TestCase):
    """With programs that take ten seconds each, of a clock that only they move."""

    def measured(self, budget, hanging=0, repetitions=3):
        """Peers, remarks, and when each program was begun. The first ones after the floor hang until their timeout."""
        now, begun = [1000.0], []
        with tempfile.TemporaryDirectory() as folder:
            given = argparse.Namespace(bin=folder, catalogue=str(PEERS / "peers.json"), budget=budget, repetitions=repetitions, timeout=40)
            places = run.places_of(given, folder)
            peers = [run.peer(name, fake("good", title=name), places) for name in ("floor", "one", "two", "three")]

        def program(one, arguments, *_):
            begun.append(now[0] - 1000)
            hangs = one in peers[1:1 + hanging] and "--empty" not in arguments
            now[0] += given.timeout if hangs else 10
            if hangs:
                one.problem = "hangs"
                return None
            return {"death": "hangs"} if "--death" in arguments else {"version": "", "how": "", **dict.fromkeys(run.MEASURES, 1.0)}

        with unittest.mock.patch.object(run.peer, "run", program), unittest.mock.patch.object(run.time, "monotonic", lambda: now[0]):
            remarks = run.measure(peers, given, places)
        run.leave_out(peers, "over")
        return peers, remarks, begun

    def test_it_is_exceeded_by_one_program_at_most(self):
        for hanging in range(4):
            for budget in range(0, 600, 5):
                _, remarks, begun = self.measured(budget, hanging)
                self.assertTrue(all(one < budget for one in begun), (budget, hanging, begun))
                self.assertTrue(remarks or len(begun) > 1)

    def test_what_is_left_out_says_so_and_what_was_measured_stays(self):
        peers, remarks, _ = self.measured(50)
        self.assertEqual([len(one.samples["empty_us"]) for one in peers], [1, 1, 0, 0])
        self.assertEqual([one.problem for one in peers], [None, None, "not measured: over", "not measured: over"])
        self.assertEqual([one.death for one in peers], ["not measured: over"] * 2 + [None] * 2)
        self.assertEqual(remarks, ["0 of 3 rounds within 50 s"])

    def test_with_enough_time_all_is_measured(self):
        peers, remarks, begun = self.measured(1000)
        self.assertEqual([len(one.samples["empty_us"]) for one in peers], [3] * 4)
        self.assertEqual({one.problem for one in peers}, {None})
        self.assertEqual({one.death for one in peers}, {"nothing within 3 s: hangs"})
        self.assertEqual((remarks, len(begun)), ([], 3 * 4 * 2 + 4))


class processes_test(unittest.TestCase):
    def test_grandchildren_are_ended(self):
        processes.adopt_orphans()
        script = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True); print('done')"
        ended = processes.run([sys.executable, "-c", script], dict(os.environ), 60)
        self.assertEqual((ended.status, ended.output, ended.timed_out), (0, "done\n", False))
        self.assertEqual(processes.descendants(os.getpid()), [])

    def test_only_some_cores(self):
        one = min(os.sched_getaffinity(0))
        script = "import os; print(os.sched_getaffinity(0))"
        self.assertEqual(processes.run([sys.executable, "-c", script], dict(os.environ), 60, [one]).output, f"{{{one}}}\n")

    def test_a_program_that_does_not_exist(self):
        self.assertEqual(processes.run(["/no/such/program"], {}, 1).status, 127)


class report_test(unittest.TestCase):
    def test_quartiles(self):
        self.assertEqual(report.quartiles([5]), (5, 5, 5))
        self.assertEqual(report.quartiles([1, 2, 3, 4, 5]), (2, 3, 4))

    def test_quartiles_as_text(self):
        self.assertEqual(report.quartile_text([1, 2, 3, 4, 5.00001]), "2..4")
        self.assertEqual(report.quartile_text([1.23456], 3), "1.23..1.23")

    def test_objects_of_an_output(self):
        self.assertEqual(report.objects('text\n{"a": 1}\n{"b":\n{}} and more\n[1]\n{"c": 2}\n{'), [{"a": 1}, {"c": 2}])

    def test_bars(self):
        self.assertTrue(report.bar("a", 1.0, "<=", 1.0)["met"])
        self.assertFalse(report.bar("a", 1.0, ">=", 1.1)["met"])
        for wanted in ("<=", ">="):
            self.assertFalse(report.bar("a", None, wanted, 1.1)["met"])


if __name__ == "__main__":
    unittest.main()
