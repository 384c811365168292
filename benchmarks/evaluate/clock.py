"""The clock that the cores had when something was measured: governors change it, and hypervisors and other processes share cores."""
import hashlib
import os
import shlex
import statistics
import subprocess

import execution  # noqa: F401  finds the modules of the peers
import cores

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock.c")
ALL_S = 60  # that compiling and sampling may take
CLOCK, ELAPSED = "GHz", "GHz of elapsed time"
SPREAD = ("lowest", "median", "highest")


class Clock:
    """Samples the two cores that measurements use by default. folder: where the program is compiled to; compiler: of C."""

    def __init__(self, folder, compiler="cc"):
        self._folder = folder
        self._compiler = compiler
        self._program = None
        self._cores = list(dict.fromkeys(cores.topology().pair()))

    def _compiled(self):
        """The program, or None if there is no compiler."""
        if self._program is None:
            with open(SOURCE, "rb") as file:
                path = os.path.join(self._folder, f"clock-{hashlib.sha256(file.read()).hexdigest()[:12]}")
            if not os.access(path, os.X_OK):
                os.makedirs(self._folder, exist_ok=True)
                subprocess.run([*shlex.split(self._compiler), "-O2", "-o", path + ".new", SOURCE], check=True, capture_output=True,
                               stdin=subprocess.DEVNULL, timeout=ALL_S)
                os.replace(path + ".new", path)
            self._program = path
        return self._program

    def samples(self):
        """Pairs of GHz, of the time that the program had the core and of the time that passed; none where they cannot be had."""
        try:
            done = subprocess.run([self._compiled(), *map(str, self._cores)], check=True, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=ALL_S)
            return [tuple(float(one) for one in line.split()[1:3]) for line in done.stdout.splitlines()]
        except (OSError, ValueError, subprocess.SubprocessError):
            return []

    def described(self, samples):
        """What a record has of samples; None if there are none."""
        if not samples:
            return None
        found = {"cores": self._cores, "samples": len(samples)}
        for name, values in zip((CLOCK, ELAPSED), zip(*samples)):
            found[name] = {what: round(how(values), 3) for what, how in zip(SPREAD, (min, statistics.median, max))}
        return found


def _spread(found):
    return " / ".join(f"{found[what]:.2f}" for what in SPREAD)


def text(found):
    """A described clock in one line."""
    return (f"clock of core {' and '.join(map(str, found['cores']))}: {_spread(found[CLOCK])} GHz ({', '.join(SPREAD)} of {found['samples']} samples before "
            f"and after); of the time that passed, with what others took of it: {_spread(found[ELAPSED])} GHz")


def cells(found):
    """Columns of a table."""
    return {f"{what} {name}": found[name][what] if found else None for name in (CLOCK, ELAPSED) for what in SPREAD}


def of_records(records):
    """One line on all measurements, a median being that of their medians; empty if none has a clock."""
    found = [record["clock"] for record in records.values() if record and record.get("clock") and "result" in record]
    if not found:
        return ""
    ways = (min, statistics.median, max)
    merged = {name: {what: how([one[name][what] for one in found]) for what, how in zip(SPREAD, ways)} for name in (CLOCK, ELAPSED)}
    return (f"{_spread(merged[CLOCK])} GHz ({', '.join(SPREAD)} of {sum(one['samples'] for one in found)} samples before and after each measurement, by "
            f"additions each of which waits for the one before); of the time that passed, with what others took of it: {_spread(merged[ELAPSED])} GHz")
