"""What `make evaluate` tells CMake does not stay there: `make test` afterwards builds what it built before."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import canned
import experiments


# What the make around this test was told is not for the one in it.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS", "HAM_", "EVALUATE", "PRESET", "GNUMAKEFLAGS"))}


def run(*arguments):
    return subprocess.run(["make", *arguments], cwd=canned.REPOSITORY, capture_output=True, text=True, timeout=60, check=False,
                          env=ENVIRONMENT)


def make(*arguments):
    """The commands that make would run."""
    process = run("-n", *arguments)
    if process.returncode != 0:
        raise AssertionError(process.stderr)
    return process.stdout


class Makefile(unittest.TestCase):
    def test_peers_are_built_for_the_evaluation_only(self):
        self.assertIn("-DHAM_PEERS=ON", make("evaluate"))
        for goal in ("build", "test", "bench", "demo"):
            self.assertIn("-DHAM_PEERS=OFF", make(goal))
        self.assertIn("-DHAM_PEERS=ON", make("test", "HAM_PEERS=ON"))

    def test_peers_are_installed_and_built_for_the_parts_that_need_them(self):
        for one in experiments.EXPERIMENTS:
            needs = any(need.startswith("program:peers/") for name in one.measurements for need in experiments.MEASUREMENTS[name].needs)
            for parts in (one.name, f"fig9 {one.name}"):
                commands = make("evaluate", f"EVALUATE={parts}")
                self.assertIn(f"-DHAM_PEERS={'ON' if needs else 'OFF'}", commands, parts)
                self.assertEqual("install-deps.sh peers" in commands, needs, parts)
        self.assertIn("install-deps.sh peers", make("evaluate"))
        self.assertIn("-DHAM_PEERS=ON", make("evaluate", "EVALUATE=fig9", "HAM_PEERS=ON"))

    def test_when_it_began_is_handed_on(self):
        begin = int(re.search(r"--since (\d+) ", make("evaluate")).group(1))
        self.assertLess(abs(time.time() - begin), 60)

    def test_when_parts_of_it_ended_is_handed_on(self):
        commands = make("evaluate")
        self.assertRegex(commands, r"--installed \$installed --built \$\(date \+%s\)")
        noted, built = commands.index("installed=$(date"), commands.index("--target evaluation")
        self.assertLess(commands.index("cmake --preset"), noted)
        self.assertLess(noted, built)
        self.assertLess(built, commands.index("--built"))

    def test_names_of_parts_are_checked_before_anything_is_built(self):
        commands = make("evaluate", "EVALUATE=fig9 peers")
        self.assertLess(commands.index("--check fig9 peers"), commands.index("install-deps.sh"))

    def test_packages_are_there_before_cmake_searches_them(self):
        """Also with -j: a shell that executes nothing notes when each command begins and ends."""
        with tempfile.TemporaryDirectory() as folder:
            log, shell = pathlib.Path(folder, "log"), pathlib.Path(folder, "shell")
            shell.write_text(f"#!/bin/sh\necho \"begin $2\" >>{log}\nsleep 0.1\necho \"end $2\" >>{log}\n", encoding="utf-8")
            shell.chmod(0o755)
            for goal, last in (("evaluate", "install-deps.sh peers"), ("test", "install-deps.sh trace")):
                log.write_text("", encoding="utf-8")
                process = run("-j4", f"SHELL={shell}", goal)
                self.assertEqual(process.returncode, 0, process.stderr)
                done = log.read_text(encoding="utf-8")
                self.assertLess(done.index(f"end scripts/{last}"), done.index("begin cmake --preset"), goal)

    def test_the_page_of_an_evaluation_is_looked_at(self):
        self.assertRegex(make("evaluate"), r"benchmarks/evaluate --look .*--build build/release")

    def test_an_unknown_part_ends_it(self):
        process = run("evaluate-parts", "EVALUATE=nonsense")
        self.assertNotEqual(process.returncode, 0)
        self.assertIn('no experiment "nonsense"', process.stderr)


if __name__ == "__main__":
    try:
        subprocess.run(["make", "--version"], capture_output=True, check=True)
    except OSError:
        print("SKIPPED: no make")
        sys.exit(77)
    unittest.main()
