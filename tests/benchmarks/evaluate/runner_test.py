"""Runs of commands that work, fail, hang and leave processes behind; what is kept and what is measured again."""
import dataclasses
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

import canned
import clock
import execution
import machine
import processes
import results
import runner
import toolchain
from measurements import MEASUREMENTS
from model import Measurement

GOOD = "echo '" + json.dumps(canned.METHODS).replace("<script>alert(\"x\")</script>", "x") + "'"


def take_interrupts():
    """What a shell starts in the background ignores them, and so would what that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def lives(pid):
    """Also false for a process that has ended and is not reaped yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pid, timeout_s=60):
    deadline = time.monotonic() + timeout_s
    while lives(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not lives(pid)


class Execution(unittest.TestCase):
    def test_output_and_status(self):
        outcome = execution.run(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"], 60)
        self.assertEqual((outcome.status, outcome.output, outcome.errors), (3, "out\n", "err\n"))
        self.assertEqual(outcome.problem, "ended with status 3")

    def test_the_time_so_far_is_told(self):
        seconds = []
        outcome = execution.run(["/bin/sh", "-c", "sleep 2.5; exit 4"], 60, tick=seconds.append)
        self.assertEqual(outcome.status, 4)
        self.assertGreaterEqual(len(seconds), 1)
        self.assertEqual(seconds, sorted(seconds))
        self.assertIsNone(execution.run(["/bin/sh", "-c", "sleep 1000"], 1.5, end_s=0.5, tick=seconds.append).status)

    def test_a_signal_is_named(self):
        self.assertEqual(execution.run(["/bin/sh", "-c", "kill -SEGV $$"], 60).problem, "ended by SIGSEGV")

    def test_a_program_that_is_not_there(self):
        self.assertIn("could not be started", execution.run(["/no/such/program"], 60).problem)

    def test_a_hanging_program_is_ended_with_its_children(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "pid")
            # The child does not listen to requests to end.
            text = f"(trap '' TERM; echo $$ >/dev/null; sh -c 'echo $PPID' > {file}.new; mv {file}.new {file}; while :; do sleep 1; done) & wait"
            limit_s = 1
            while not os.path.exists(file):  # a busy machine takes longer to get there
                outcome = execution.run(["/bin/sh", "-c", text], limit_s, end_s=0.5)
                self.assertIsNone(outcome.status)
                self.assertIn(f"did not end within {limit_s} s", outcome.problem)
                limit_s *= 4
            with open(file, encoding="ascii") as pid:
                self.assertTrue(gone(int(pid.read())))

    def test_what_a_program_leaves_behind_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "pid")
            outcome = execution.run(["/bin/sh", "-c", f"sleep 1000 & echo $! > {file}; echo done"], 60)
            self.assertEqual((outcome.status, outcome.output), (0, "done\n"))
            with open(file, encoding="ascii") as pid:
                self.assertTrue(gone(int(pid.read())))

    def test_what_a_script_runs_in_sessions_of_its_own_is_ended_with_it(self):
        """Scripts of benchmarks/peers start each program in a session of its own; one that heeds no request to end is ended all the same."""
        with tempfile.TemporaryDirectory() as folder:
            for heeds in (True, False):
                notes = pathlib.Path(folder, f"notes-{heeds}")
                script = f"""
                    import os, signal, sys, tempfile
                    sys.path.insert(0, {os.path.dirname(processes.__file__)!r})
                    import processes
                    processes.end_on_request() if {heeds} else signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    with tempfile.TemporaryDirectory(dir={folder!r}) as inner:
                        text = f"echo $$ {{inner}} > {notes}.new; mv {notes}.new {notes}; exec sleep 1000"
                        processes.run(["/bin/sh", "-c", text], dict(os.environ), 1000)
                """
                limit_s = 1
                while not notes.exists():  # a busy machine takes longer to get there
                    outcome = execution.run([sys.executable, "-c", textwrap.dedent(script)], limit_s, end_s=5 if heeds else 0.5)
                    self.assertIsNone(outcome.status)
                    limit_s *= 4
                pid, inner = notes.read_text(encoding="utf-8").split()
                self.assertFalse(lives(int(pid)))
                self.assertEqual(os.path.exists(inner), not heeds)

    def test_what_the_heat_example_runs_is_ended_with_its_script(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("mpirun.openmpi", "shift 2; \"$@\""), ("heat", f"echo $$ > {folder}/pid; exec sleep 1000")):
                path = pathlib.Path(folder, name)
                path.write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
                path.chmod(0o755)
            script = os.path.join(os.path.dirname(execution.__file__), "heat.py")
            pid, limit_s = pathlib.Path(folder, "pid"), 1
            while not pid.exists():
                outcome = execution.run([sys.executable, script, "--programs", folder, "--json"], limit_s,
                                        {"PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertIsNone(outcome.status)
                limit_s *= 4
            self.assertFalse(lives(int(pid.read_text(encoding="ascii"))))

    def test_an_interrupt_ends_the_program(self):
        """And has what it has printed."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "pid")
            code = textwrap.dedent(f"""
                import sys
                sys.path.insert(0, {os.path.dirname(execution.__file__)!r})
                import execution
                try:
                    execution.run(['/bin/sh', '-c', 'trap "echo said; exit" TERM; echo $$ > {file}.new; mv {file}.new {file}; sleep 1000 & wait'], 1000)
                except execution.Interrupted as interrupted:
                    print(interrupted.outcome.output, end="")
            """)
            process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True,
                                       preexec_fn=take_interrupts)
            deadline = time.monotonic() + 60
            while not file.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=60)[0], "said\n")
            self.assertTrue(gone(int(file.read_text(encoding="ascii"))))


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.place = runner.Place(canned.REPOSITORY, os.path.join(self.folder, "build"), os.path.join(self.folder, "out"))
        os.makedirs(self.place.programs)
        self.lines = []

    def run_all(self, *measurements, budget_s=1000, again=False):
        return runner.Runner(self.place, budget_s, again, self.lines.append, canned.MACHINE).run(measurements)

    def counting(self, name, **rest):
        """A measurement that notes each of its runs in a file."""
        file = os.path.join(self.folder, name)
        return canned.script(name, f"echo run >> {file}; {GOOD}", **rest), file

    def runs(self, file):
        return len(pathlib.Path(file).read_text(encoding="ascii").splitlines()) if os.path.exists(file) else 0

    def test_a_record_has_all_that_a_reader_needs(self):
        record = self.run_all(canned.script("good", GOOD))["good"]
        self.assertEqual((record["status"], record["exit_status"]), ("measured", 0))
        self.assertIn("/bin/sh -c", record["command"])
        self.assertEqual(record["machine"]["CPU"], "Example CPU")
        self.assertLessEqual({"date", "revision", "seconds", "fingerprint"}, record.keys())
        self.assertEqual(results.reports(record["result"])[0]["name"], "methods")
        self.assertEqual(runner.read_record(self.place, "good")["result"], record["result"])

    def test_failures_are_recorded_and_the_run_goes_on(self):
        found = self.run_all(canned.script("fails", "echo broken >&2; exit 4"), canned.script("hangs", "sleep 1000", timeout_s=1),
                             canned.script("chatters", "echo hello"), canned.script("other", "echo '{\"a\": 1}'"),
                             canned.script("good", GOOD))
        self.assertEqual([one["status"] for one in found.values()], ["failed"] * 4 + ["measured"])
        self.assertEqual(found["fails"]["reason"], "ended with status 4")
        self.assertIn("broken", found["fails"]["errors"])
        self.assertIn("did not end within", found["hangs"]["reason"])
        self.assertEqual(found["chatters"]["reason"], "printed no JSON document")
        self.assertIn("no report", found["other"]["reason"])

    def test_a_result_of_a_program_that_then_fails_is_kept_and_marked(self):
        record = self.run_all(canned.script("both", f"{GOOD}; exit 1"))["both"]
        self.assertEqual((record["status"], record["reason"]), ("failed", "ended with status 1"))
        self.assertIn("result", record)

    def test_what_is_there_is_not_measured_again_unless_asked(self):
        one, file = self.counting("one")
        self.run_all(one)
        self.assertTrue(self.run_all(one)["one"]["kept"])
        self.assertEqual(self.runs(file), 1)
        self.run_all(one, again=True)
        self.assertEqual(self.runs(file), 2)

    def test_another_build_is_measured_again(self):
        program = os.path.join(self.place.programs, "program")
        one = Measurement("one", ("{bin}/program",), ("program:program",))
        for text, kept in (("first", False), ("first", True), ("second", False)):
            pathlib.Path(program).write_text(f"#!/bin/sh\n# {text}\n{GOOD}\n", encoding="utf-8")
            os.chmod(program, 0o755)
            self.assertEqual(self.run_all(one)["one"].get("kept", False), kept, text)

    def test_results_of_another_build_are_marked(self):
        program = pathlib.Path(self.place.programs, "program")
        ones = {"one": Measurement("one", ("{bin}/program",), ("program:program",)), "two": canned.script("two", GOOD),
                "fails": canned.script("fails", "exit 1"), "never": canned.script("never", GOOD)}

        def marked():
            records = {name: runner.read_record(self.place, name) for name in ones}
            return {name for name, one in runner.with_marks(self.place, records, ones).items() if one and one.get("earlier")}

        program.write_text(f"#!/bin/sh\n{GOOD}\n", encoding="utf-8")
        program.chmod(0o755)
        self.run_all(ones["one"], ones["two"], ones["fails"])
        self.assertEqual(marked(), set())
        program.write_text(f"#!/bin/sh\n# changed\n{GOOD}\n", encoding="utf-8")
        self.run_all(ones["two"])
        self.assertEqual(marked(), {"one"})
        self.run_all(ones["one"])
        self.assertEqual(marked(), set())
        program.unlink()
        self.assertEqual(marked(), {"one"})

    def test_what_it_uses_beside_its_programs_counts(self):
        one = canned.script("one", GOOD, uses=("{bin}/others/*",))
        folder = pathlib.Path(self.place.programs, "others")
        folder.mkdir()
        self.run_all(one)
        self.assertTrue(self.run_all(one)["one"]["kept"])
        for text in ("there", "changed"):
            (folder / "other").write_text(text, encoding="ascii")
            self.assertNotIn("kept", self.run_all(one)["one"])
        (folder / "other").unlink()
        self.assertNotIn("kept", self.run_all(one)["one"])

    def test_shared_libraries_of_its_programs_count(self):
        self.assertTrue(any("libc" in one for one in runner._libraries_of(os.path.realpath("/bin/sh"), 0)))
        shutil.copy("/bin/sh", os.path.join(self.place.programs, "program"))
        one = Measurement("one", ("{bin}/program",), ("program:program",))
        of_system, of_build = pathlib.Path(self.folder, "libother.so"), pathlib.Path(self.place.build, "libbuilt.so")
        ldd = pathlib.Path(self.folder, "ldd")
        ldd.write_text(f"#!/bin/sh\necho '  linux-vdso.so.1 (0x1)'\necho '  libother.so => {of_system} (0x2)'\necho '  {of_build} (0x3)'\n"
                       "echo '  libgone.so => not found'\n", encoding="ascii")
        ldd.chmod(0o755)
        marks = []
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"}):
            for path, text in ((of_system, "one"), (of_system, "another"), (of_build, "one"), (of_build, "other")):
                path.write_text(text, encoding="ascii")
                marks.append(runner.fingerprint(self.place, one))
            self.assertEqual(len(set(marks)), 4)
            os.utime(of_build, (1, 1))  # built once more, to the same
            self.assertEqual(runner.fingerprint(self.place, one), marks[-1])
            os.utime(of_system, (1, 1))  # of another package
            self.assertNotIn(runner.fingerprint(self.place, one), marks)

    def test_scripts_that_its_script_imports_count(self):
        source = os.path.join(self.folder, "source")
        place = runner.Place(source, self.place.build, self.place.out)
        for name, text in (("evaluate/one.py", "import os\nimport two\n"), ("evaluate/two.py", "def late():\n    from three import thing\n"),
                           ("peers/three.py", "import one\n"), ("peers/other.py", "")):
            path = pathlib.Path(source, "benchmarks", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
        one = Measurement("one", ("{python}", "{source}/benchmarks/evaluate/one.py"))
        first = runner.fingerprint(place, one)
        for name, counts in (("evaluate/one.py", True), ("evaluate/two.py", True), ("peers/three.py", True), ("peers/other.py", False)):
            path = pathlib.Path(source, "benchmarks", name)
            before = path.read_text(encoding="ascii")
            path.write_text(before + "# changed\n", encoding="ascii")
            self.assertEqual(runner.fingerprint(place, one) != first, counts, name)
            path.write_text(before, encoding="ascii")
            self.assertEqual(runner.fingerprint(place, one), first)
        scripts = {os.path.basename(path) for path in runner._scripts_with({os.path.join(canned.REPOSITORY, "benchmarks/evaluate/heat.py")}, self.place)}
        self.assertEqual(scripts, {"heat.py", "execution.py", "processes.py"})

    def test_the_launcher_counts(self):
        launcher = pathlib.Path(self.folder, "mpirun.some")
        marks = set()
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"}):
            for one in (Measurement("one", ("mpirun.some", "-n", "2")), Measurement("one", ("{python}",), ("command:mpirun.some",))):
                for text in ("first", "another"):
                    launcher.write_text(f"#!/bin/sh\n# {text}\n", encoding="ascii")
                    launcher.chmod(0o755)
                    marks.add(runner.fingerprint(self.place, one))
        self.assertEqual(len(marks), 4)

    def test_another_machine_is_measured_again(self):
        one, file = self.counting("one")
        self.run_all(one)
        for name in ("CPU", "cores", "kernel", "architecture"):
            with unittest.mock.patch.object(machine, "identity", return_value={**machine.identity(), name: "another"}):
                self.assertNotIn("kept", self.run_all(one)["one"])
                self.assertTrue(self.run_all(one)["one"]["kept"])
        self.assertEqual(self.runs(file), 5)

    def test_results_of_several_machines_are_not_shown_together(self):
        records = {"new": canned.record("new", canned.METHODS, date="2026-01-02T03:04:05+00:00"), "never": None,
                   "old": canned.record("old", canned.METHODS, date="2026-01-02T03:04:05+02:00", machine={**canned.MACHINE, "cores": 64}),
                   "same": canned.record("same", canned.METHODS, date="2026-01-01T00:00:00+00:00", machine={**canned.MACHINE, "load": [9]})}
        found, described = runner.of_one_machine(records)
        self.assertEqual({name: one and one["status"] for name, one in found.items()},
                         {"new": "measured", "never": None, "old": "not measured", "same": "measured"})
        self.assertIn("another machine", found["old"]["reason"])
        self.assertNotIn("result", found["old"])
        self.assertIn("result", records["old"])
        self.assertEqual(described["cores"], 2)
        self.assertEqual(runner.of_one_machine({"never": None}), ({"never": None}, None))

    def test_the_machine_is_described_by_what_distinguishes_it(self):
        same = machine.identity()
        self.assertEqual({name: machine.describe()[name] for name in same}, same)

    def test_the_program_that_executes_calls_of_veo_counts(self):
        helpers = pathlib.Path(self.place.build, "libexec")
        helpers.mkdir()
        for name in ("veo", "veo-offload", "forwarded-calls"):
            marks = set()
            for text in ("first", "second"):
                (helpers / "aveorun").write_text(text, encoding="ascii")
                marks.add(runner.fingerprint(self.place, MEASUREMENTS[name]))
            self.assertEqual(len(marks), 2, name)

    def test_a_gpu_and_its_programs_are_needed_where_that_is_said(self):
        one = Measurement("one", ("{gpu}/gpu/program",), ("gpu:program",), ("{gpu}/lib/*",))
        place = runner.Place(os.path.join(self.folder, "source"), self.place.build, self.place.out)
        smi = pathlib.Path(self.folder, "nvidia-smi")
        program = pathlib.Path(place.gpu, "gpu", "program")
        program.parent.mkdir(parents=True)

        def reason(text, path=None):
            smi.write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
            smi.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, {"PATH": path or f"{self.folder}:{os.environ['PATH']}"}):
                return runner.Requirements(place).missing(one)

        self.assertIn("no GPU", reason("", path="/nowhere"))
        self.assertIn("no GPU", reason("echo 'No devices were found'; exit 6"))
        self.assertIn("there is a GPU, and no program program for it", reason("echo 9.0"))
        program.write_text(f"#!/bin/sh\n{GOOD}\n", encoding="utf-8")
        program.chmod(0o755)
        self.assertEqual(reason("echo 9.0"), "")
        first = runner.fingerprint(place, one)
        (pathlib.Path(place.gpu) / "lib").mkdir()
        (pathlib.Path(place.gpu) / "lib" / "libham.so").write_text("other", encoding="ascii")
        self.assertNotEqual(runner.fingerprint(place, one), first)
        self.assertEqual(runner.shown_command(place, one), "build/gpu-check/gpu/program")

    def test_an_mpi_that_cannot_spawn_is_a_reason_and_is_tried_once(self):
        programs, trials = pathlib.Path(self.place.programs), pathlib.Path(self.folder, "trials")
        shutil.rmtree(programs, ignore_errors=True)
        for name in ("ham-bench", "kernels/mpich/heat", "ham-bench-kernels-mpich", "ham-bench-kernels-mpich-child"):
            if name == "ham-bench-kernels-mpich":
                with unittest.mock.patch.object(shutil, "which", return_value="/bin/true"):
                    reason = runner.Requirements(self.place).missing(MEASUREMENTS["heat-mpich"])
                self.assertEqual(reason, "this build has no program ham-bench-kernels-mpich")
            program = programs / name
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text(f"#!/bin/sh\necho \"$5\" >> {trials}; exit $(cat {self.folder}/status)\n", encoding="ascii")
            program.chmod(0o755)
        for status, reason in ((0, ""), (1, "mpich cannot spawn processes here")):
            pathlib.Path(self.folder, "status").write_text(str(status), encoding="ascii")
            trials.unlink(missing_ok=True)
            needs = runner.Requirements(self.place)
            with unittest.mock.patch.object(shutil, "which", return_value="/bin/true"):
                self.assertEqual([needs.missing(MEASUREMENTS[name]) for name in ("kernels-mpich", "heat-mpich")], [reason] * 2)
            self.assertEqual(trials.read_text(encoding="ascii").split(), ["--spawns"])

    def test_the_shown_command_has_what_it_takes_to_start_open_mpi(self):
        shown = runner.shown_command(self.place, MEASUREMENTS["mpi-openmpi"])
        self.assertTrue(shown.startswith("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 mpirun.openmpi -n 2"))
        for name in ("mpi-mpich", "latency", "heat-openmpi"):
            self.assertNotIn("OMPI_", runner.shown_command(self.place, MEASUREMENTS[name]))

    def test_the_clock_is_sampled_before_and_after(self):
        notes = os.path.join(self.folder, "notes")
        program = f"#!/bin/sh\necho clock >> {notes}; for core; do echo $core 2.5 1.5; echo $core 3.5 2; echo $core 3 1; done"
        compiler = pathlib.Path(self.folder, "compiler")
        compiler.write_text(f"#!/bin/sh\nwhile test $1 != -o; do shift; done\ncat > $2 <<'END'\n{program}\nEND\nchmod +x $2\n", encoding="ascii")
        compiler.chmod(0o755)
        cache = pathlib.Path(self.place.build, "CMakeCache.txt")
        cache.write_text(f"CMAKE_C_COMPILER:FILEPATH={compiler}\n", encoding="ascii")
        record = self.run_all(canned.script("one", f"echo run >> {notes}; {GOOD}"))["one"]
        self.assertEqual(pathlib.Path(notes).read_text(encoding="ascii").split(), ["clock", "run", "clock"])
        found = record["clock"]
        self.assertEqual((found["GHz"], found["GHz of elapsed time"]), ({"lowest": 2.5, "median": 3, "highest": 3.5},
                                                                        {"lowest": 1, "median": 1.5, "highest": 2}))
        self.assertEqual(found["samples"], 2 * 3 * len(found["cores"]))
        self.assertEqual(runner.read_record(self.place, "one")["clock"], found)

    def test_without_a_compiler_there_is_no_clock(self):
        pathlib.Path(self.place.build, "CMakeCache.txt").write_text("CMAKE_C_COMPILER:FILEPATH=/no/such/compiler\n", encoding="ascii")
        record = self.run_all(canned.script("one", GOOD))["one"]
        self.assertEqual((record["status"], record["clock"]), ("measured", None))

    def test_a_result_is_kept_when_there_is_no_time_to_repeat_it(self):
        one, file = self.counting("one", expected_s=50)
        self.run_all(one)
        self.assertTrue(self.run_all(one, budget_s=10, again=True)["one"]["kept"])
        self.assertEqual(self.runs(file), 1)

    def test_what_failed_is_tried_again(self):
        flag = os.path.join(self.folder, "flag")
        one = canned.script("one", f"test -e {flag} || exit 1; {GOOD}")
        self.assertEqual(self.run_all(one)["one"]["status"], "failed")
        pathlib.Path(flag).touch()
        self.assertEqual(self.run_all(one)["one"]["status"], "measured")

    def test_an_interrupted_run_goes_on_where_it_was(self):
        one, first = self.counting("one")
        two, second = self.counting("two")
        self.run_all(one)
        self.run_all(one, two)
        self.assertEqual((self.runs(first), self.runs(second)), (1, 1))

    def test_a_damaged_record_is_measured_again(self):
        one, file = self.counting("one")
        self.run_all(one)
        for text in ("", "{", "[]", "{}"):
            pathlib.Path(self.place.record("one")).write_text(text, encoding="utf-8")
            self.assertEqual(self.run_all(one)["one"]["status"], "measured")
        self.assertEqual(self.runs(file), 5)

    def test_a_result_of_an_older_form_is_measured_again(self):
        one, file = self.counting("one")
        record = self.run_all(one)["one"]
        for result in ({"benchmark": "kernels", "rows": [], "spawn_us": 1}, {"tables": [1]}):
            runner.write_record(self.place, "one", dict(record, result=result))
            self.assertIsNone(runner.read_record(self.place, "one"))
            self.assertNotIn("kept", self.run_all(one)["one"])
        self.assertEqual(self.runs(file), 3)

    def test_a_measurement_that_this_run_has_no_time_for_has_not_failed(self):
        slow, flag = canned.script("slow", "sleep 1000", expected_s=0.5, timeout_s=100), os.path.join(self.folder, "flag")
        record = self.run_all(slow, budget_s=1.5)["slow"]
        self.assertEqual(record["status"], "not measured")
        self.assertIn("next run", record["reason"])
        late = canned.script("late", f"test ! -e {flag} || sleep 1000; {GOOD}", expected_s=0.5, timeout_s=100)
        self.run_all(late)
        pathlib.Path(flag).touch()
        record = self.run_all(late, budget_s=1.5, again=True)["late"]
        self.assertTrue(record["kept"])
        self.assertEqual(runner.read_record(self.place, "late")["status"], "measured")
        # Its own limit is another thing.
        hanging = canned.script("late", f"test ! -e {flag} || sleep 1000; {GOOD}", expected_s=0.5, timeout_s=1)
        self.assertEqual(self.run_all(hanging, budget_s=100, again=True)["late"]["status"], "failed")

    def test_what_a_program_prints_when_its_time_ends_is_kept_as_a_part(self):
        """And measured again; a complete result of the same build is worth more."""
        flag, file = os.path.join(self.folder, "flag"), os.path.join(self.folder, "begun")
        for name, document in (("complete", canned.NAMES), ("part", canned.MODELS)):
            pathlib.Path(self.folder, name).write_text(json.dumps(document), encoding="utf-8")
        text = f"cd {self.folder}; test -e flag && exec cat complete; trap 'cat part; exit 143' TERM; touch begun; while :; do sleep 0.1; done"
        one = canned.script("one", text, expected_s=0.5, timeout_s=1000)
        budget_s = 1
        while not os.path.exists(file):  # a busy machine takes longer to get there
            record = self.run_all(one, budget_s=budget_s)["one"]
            budget_s *= 2
        self.assertEqual((record["status"], record["result"]["name"]), ("stopped", "models"))
        self.assertIn("the time for this run was over; this is what was measured until then", record["reason"])
        self.assertEqual(runner.read_record(self.place, "one")["status"], "stopped")
        pathlib.Path(flag).touch()
        record = self.run_all(one)["one"]
        self.assertEqual((record["status"], record["result"]["name"]), ("measured", "names"))
        os.unlink(flag)
        record = self.run_all(one, budget_s=budget_s, again=True)["one"]
        self.assertEqual((record["status"], record["result"]["name"]), ("measured", "names"))
        self.assertTrue(record["kept"])

    def test_what_a_program_prints_when_it_is_interrupted_is_kept_as_a_part(self):
        partly = execution.Outcome(None, 1.5, json.dumps(canned.MODELS), "", "was interrupted")
        one = canned.script("one", GOOD)
        for outcome, again, status, name in ((dict(output="half of"), False, None, None), ({}, False, "stopped", "models"),
                                             (None, False, "measured", "methods"), ({}, True, "measured", "methods")):
            with self.subTest(status=status, again=again):
                if outcome is None:
                    self.run_all(one)
                else:
                    interrupt = execution.Interrupted(dataclasses.replace(partly, **outcome))
                    with unittest.mock.patch.object(execution, "run", side_effect=interrupt), self.assertRaises(KeyboardInterrupt):
                        self.run_all(one, again=again)
                record = runner.read_record(self.place, "one")
                self.assertEqual((record and record["status"], record and record["result"]["name"]), (status, name))

    def test_what_does_not_fit_into_the_time_is_left_for_the_next_run(self):
        one, file = self.counting("one", expected_s=50)
        record = self.run_all(one, budget_s=10)["one"]
        self.assertEqual(record["status"], "not measured")
        self.assertIn("next run", record["reason"])
        self.assertEqual(self.runs(file), 0)
        self.assertEqual(self.run_all(one, budget_s=100)["one"]["status"], "measured")

    def test_what_is_missing_is_the_reason(self):
        for need, reason in (("program:nothing", "this build has no program nothing"), ("file:no/such", "there is no no/such"),
                             ("command:no-such-command", "no-such-command is not installed"), ("cores:100000", "needs 100000 cores"),
                             ("subcommand:placement", "this ham-bench has no placement"),
                             ("option:cores", "this ham-bench has no option --cores")):
            record = self.run_all(canned.script("one", GOOD, needs=(need,)))["one"]
            self.assertEqual(record["status"], "not measured")
            self.assertIn(reason, record["reason"])

    def test_subcommands_and_options_are_read_from_the_help(self):
        program = os.path.join(self.place.programs, "ham-bench")
        pathlib.Path(program).write_text("#!/bin/sh\necho '  --cores TEXT   cores'\necho '  -r,--repetitions INT'\necho '  placement   pairs'\n",
                                         encoding="ascii")
        os.chmod(program, 0o755)
        needs = runner.Requirements(self.place)
        for need in ("option:cores", "option:repetitions", "subcommand:placement"):
            self.assertEqual(needs.missing(canned.script("one", GOOD, needs=(need,))), "")
        self.assertNotEqual(needs.missing(canned.script("one", GOOD, needs=("subcommand:place",))), "")

    def test_progress_names_what_runs_and_what_came_of_it(self):
        self.run_all(canned.script("good", GOOD), canned.script("fails", "exit 4"))
        shown = "\n".join(self.lines)
        for part in ("[ 1/2] good", "about 10 s", "failed: ended with status 4", "1 failed, 1 measured",
                     "2 measurements, about"):
            self.assertIn(part, shown)


class CommandLine(unittest.TestCase):
    def evaluate(self, *arguments, path=os.environ["PATH"]):
        return subprocess.run([sys.executable, os.path.dirname(runner.__file__), *arguments], capture_output=True, text=True, timeout=120,
                              check=False, env={**os.environ, "PATH": path})

    def test_an_unknown_part_is_refused_with_the_known_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            process = self.evaluate("--out", folder, "--build", folder, "nonsense")
        self.assertEqual(process.returncode, 1)
        self.assertIn('no experiment "nonsense"', process.stderr)
        self.assertIn("fig9", process.stderr)

    def test_names_are_checked_without_measuring(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.evaluate("--out", folder, "--check", "fig9 peers").returncode, 0)
            self.assertEqual(os.listdir(folder), [])
            self.assertEqual(self.evaluate("--out", folder, "--check", "fig9 nonsense").returncode, 1)

    def test_an_interrupted_evaluation_writes_the_page_of_what_is_there(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                self.check_an_interruption(number)

    def check_an_interruption(self, number):
        with tempfile.TemporaryDirectory() as folder:
            programs = pathlib.Path(folder, "build", "bin")
            programs.mkdir(parents=True)
            program = programs / "ham-bench"
            program.write_text(f"#!/bin/sh\ncase \"$*\" in *--help*) echo '  placement   pairs' ;; *rate*) touch {folder}/runs; sleep 1000 ;; "
                               f"*) {GOOD} ;; esac\n", encoding="utf-8")
            program.chmod(0o755)
            process = subprocess.Popen([sys.executable, os.path.dirname(runner.__file__), "--out", folder, "--build", f"{folder}/build",
                                        "fig5 veo-tests"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       start_new_session=True, preexec_fn=take_interrupts)
            deadline = time.monotonic() + 100
            while not os.path.exists(f"{folder}/runs") and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(number)
            _, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 130, errors)
            self.assertIn("interrupted; the next run goes on here", errors)
            self.assertNotIn("Traceback", errors)
            self.assertIn("</html>", pathlib.Path(folder, "report.html").read_text(encoding="utf-8"))

    def test_the_page_marks_what_is_of_an_earlier_build(self):
        with tempfile.TemporaryDirectory() as folder:
            place = runner.Place(canned.REPOSITORY, folder, folder)
            record = canned.record("placement", canned.METHODS, fingerprint="of before", machine=machine.describe())
            runner.write_record(place, "placement", record)
            for mark, count in (("of before", 1), (runner.fingerprint(place, MEASUREMENTS["placement"]), 0)):
                runner.write_record(place, "placement", dict(record, fingerprint=mark))
                self.assertEqual(self.evaluate("--out", folder, "--build", folder, "--page").returncode, 0)
                page = pathlib.Path(folder, "report.html").read_text(encoding="utf-8")
                self.assertEqual(page.count("placement: of an earlier build"), count)
                listed = self.evaluate("--out", folder, "--build", folder, "--markdown").stdout
                self.assertEqual(listed.count("\nplacement: of an earlier build"), count)

    def test_the_page_is_looked_at_where_there_is_a_browser(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no matplotlib (Debian: python3-matplotlib)")
        with tempfile.TemporaryDirectory() as folder:
            programs = pathlib.Path(folder, "programs")
            programs.mkdir()
            asked = ("--out", folder, "--build", folder, "--page", "--look", "--since", str(time.time() - 3600))
            done = self.evaluate(*asked, path=str(programs))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout.splitlines()[-2], "^evaluate: the page was not checked: no Chromium")
            self.assertRegex(done.stdout.splitlines()[-1], r"^evaluate: took 6\d min \d+ s$")
            place = runner.Place(canned.REPOSITORY, folder, folder)
            measured = runner.Runner(place, 1000, False, lambda _: None, canned.MACHINE).run([canned.script("bandwidth-shm", GOOD)])
            self.assertEqual(measured["bandwidth-shm"]["status"], "measured")
            browser = programs / "chromium"
            browser.write_text("#!/bin/sh\necho this browser shows nothing >&2\n", encoding="ascii")
            browser.chmod(0o755)
            done = self.evaluate(*asked, path=f"{programs}:/usr/bin:/bin")
            self.assertEqual(done.returncode, 1)
            self.assertIn("this browser shows nothing", done.stdout)
            self.assertRegex(done.stdout.splitlines()[-2], "^evaluate: the page does not show what it must")

    def test_parts_of_an_empty_build_are_not_measured_and_the_page_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            process = self.evaluate("--out", folder, "--build", os.path.join(folder, "build"), "fig10 placement")
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertIn("placement", process.stdout)
            self.assertNotIn("kernels-openmpi", process.stdout)
            page = pathlib.Path(folder, "report.html").read_text(encoding="utf-8")
            self.assertIn("this build has no program ham-bench", page)
            self.assertIn("not asked for so far", page)
            listed = self.evaluate("--out", folder, "--build", os.path.join(folder, "build"), "--markdown").stdout
        self.assertIn("## Reference results", listed)
        self.assertIn("bandwidth-shm: not measured: this build has no program ham-bench", listed)


class Scripts(unittest.TestCase):
    """With stand-ins for the commands that they start."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def command(self, name, text):
        path = pathlib.Path(self.folder, name)
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
        path.chmod(0o755)

    def run_script(self, name, *arguments, path=None):
        environment = {"PATH": path or f"{self.folder}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, os.path.join(os.path.dirname(runner.__file__), name), *arguments], capture_output=True,
                              text=True, timeout=120, check=False, env=environment)

    def test_runs_of_heat_that_fail_miss_a_bar(self):
        for text, failed in (("echo total heat 1000.000", 0), ("case \"$2 $3\" in *heat) test $2 = 1 ;; esac && echo total heat 1000.000", 4),
                             ("echo total heat 7", 8)):
            self.command("mpirun.openmpi", text)
            done = self.run_script("heat.py", "--programs", self.folder, "--rounds", "2", "--json")
            (report,) = results.reports(json.loads(done.stdout))
            (bar,) = report["bars"]
            self.assertEqual((bar["name"], bar["value"], results.bar_met(bar)), ("runs that failed", failed, failed == 0))
            self.assertEqual(len([one for one in report["remarks"] if "a run failed" in one]), failed)
            self.assertEqual(done.returncode, 1 if failed == 8 else 0)

    def test_nothing_is_built_for_a_gpu_that_is_not_there_or_has_no_compiler(self):
        done = self.run_script("gpu.py", path=self.folder)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.command("nvidia-smi", "echo 9.0")
        if not os.path.exists("/usr/local/cuda/bin/nvcc"):
            done = self.run_script("gpu.py", path=self.folder)
            self.assertEqual(done.returncode, 0)
            self.assertIn("there is a GPU, and no nvcc", done.stdout)


class Machine(unittest.TestCase):
    def test_it_is_described(self):
        found = machine.describe()
        self.assertGreaterEqual(found["cores"], 1)
        for name in ("CPU", "kernel", "architecture", "governor", "SMT", "turbo", "frequencies", "microcode", "transparent huge pages", "CPU quota",
                     "compiler", "flags", "libraries"):
            self.assertTrue(found[name], name)
        self.assertEqual(len(found["load"]), 3)

    def test_what_was_built_and_with_what_is_described(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("CMakeCache.txt", "CMAKE_BUILD_TYPE:STRING=Release\nCMAKE_CXX_FLAGS:STRING=-O1 -fno-x\nCMAKE_CXX_FLAGS_RELEASE:STRING=\n"),
                               ("CMakeFiles/3.1/CMakeCXXCompiler.cmake", 'set(CMAKE_CXX_COMPILER_ID "GNU")\nset(CMAKE_CXX_COMPILER_VERSION "12.2.0")\n')):
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="ascii")
            found = machine.describe(folder)
            self.assertEqual((found["compiler"], found["flags"]), ("GNU 12.2.0", "Release: -O1 -fno-x"))
            commands = [{"file": "/src/other.cpp", "command": "c++ -O0"},
                        {"file": "/src/tools/bench/main.cpp", "command": "c++ -DX -I/x -O3 -DNDEBUG -Wall -std=c++20 -march=native -o x.o -c main.cpp"}]
            pathlib.Path(folder, "compile_commands.json").write_text(json.dumps(commands), encoding="ascii")
            self.assertEqual(toolchain.flags(folder), "Release: -O3 -DNDEBUG -std=c++20 -march=native")
        self.assertEqual((toolchain.compiler("/no/such"), toolchain.flags("/no/such")), ("not visible", "not visible"))

    def test_libraries_have_their_versions(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("mpirun.openmpi", "mpirun.openmpi (OpenRTE) 4.1.4"), ("mpirun.mpich", "HYDRA build details:\n    Version:      4.0.2"),
                               ("clang++", "Debian clang version 14.0.6")):
                path = pathlib.Path(folder, name)
                path.write_text(f"#!/bin/sh\necho '{text}'\n", encoding="ascii")
                path.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}"}):
                found = toolchain.libraries()
        self.assertLessEqual({"Open MPI 4.1.4", "MPICH 4.0.2", "clang and its OpenMP 14.0.6"}, set(found))
        if platform.libc_ver()[0] == "glibc":
            self.assertIn(f"glibc {platform.libc_ver()[1]}", found)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_the_clock_is_that_of_some_processor(self):
        with tempfile.TemporaryDirectory() as folder:
            one = clock.Clock(folder)
            samples = one.samples()
            self.assertGreater(len(samples), 1)
            for ghz, of_elapsed in samples:
                self.assertTrue(0.05 < ghz < 20, samples)
                self.assertLessEqual(of_elapsed, 1.05 * ghz)
            self.assertEqual(one.described(samples)["samples"], len(samples))

    def test_without_git_there_is_no_revision(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(machine.revision(folder), "")


if __name__ == "__main__":
    unittest.main()
