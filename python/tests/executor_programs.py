"""Programs with an executor, and processes that come and go."""

import subprocess
import sys
import textwrap
import time

WAIT = 60  # seconds; generous, for machines under load


def run_program(text, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *arguments], capture_output=True, text=True, timeout=WAIT, **options
    )


def exists(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def eventually(condition):
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
