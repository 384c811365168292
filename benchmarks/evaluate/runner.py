"""Measures what is asked for and not there yet, and keeps a file of JSON for every measurement."""
import ast
import dataclasses
import datetime
import functools
import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

import clock
import execution
import gpu
import machine
import results
import toolchain

SPAWN_TRIAL_S = 40
OUT_OF_TIME = "the time for this run was over"


@dataclasses.dataclass
class Place:
    """Where programs, sources and results are."""

    source: str
    build: str
    out: str

    @property
    def programs(self):
        return os.path.join(self.build, "bin")

    @property
    def data(self):
        return os.path.join(self.out, "data")

    @property
    def gpu(self):
        return os.path.join(self.source, gpu.FOLDER)

    def record(self, name):
        return os.path.join(self.data, f"{name}.json")

    def filled(self, part):
        texts = {"{bin}": self.programs, "{source}": self.source, "{gpu}": self.gpu, "{python}": sys.executable}
        return re.sub(r"\{\w+\}", lambda match: texts.get(match.group(0), match.group(0)), part)

    def argv(self, measurement):
        return [self.filled(part) for part in measurement.argv]


class Requirements:
    """Whether this machine and this build have what a measurement needs."""

    def __init__(self, place):
        self._place = place
        self._help = None
        self._without_spawn = {}  # MPI -> why it cannot spawn

    def _ham_bench_help(self):
        if self._help is None:
            program = os.path.join(self._place.programs, "ham-bench")
            try:
                self._help = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=30, check=False,
                                            stdin=subprocess.DEVNULL).stdout
            except (OSError, subprocess.SubprocessError):
                self._help = ""
        return self._help

    def _why_no_spawn(self, mpi):
        """Whether MPI_Comm_spawn works: not every MPI of a distribution was built with it. Tried once for each."""
        if mpi not in self._without_spawn:
            programs = ("ham-bench", f"ham-bench-kernels-{mpi}", f"ham-bench-kernels-{mpi}-child")
            reason = next(filter(None, (self._reason("program", name) for name in programs)), "")
            if not reason:
                trial = [os.path.join(self._place.programs, programs[0]), "kernels", "--json", "--mpi", mpi, "--spawns", "1", "--repetitions", "1"]
                reason = "" if execution.run(trial, SPAWN_TRIAL_S).status == 0 else f"{mpi} cannot spawn processes here"
            self._without_spawn[mpi] = reason
        return self._without_spawn[mpi]

    def missing(self, measurement):
        """Why it cannot be measured; empty if it can."""
        for need in measurement.needs:
            reason = self._reason(*need.split(":", 1))
            if reason:
                return reason
        return ""

    def _reason(self, kind, name):
        if kind == "program":
            there = os.access(os.path.join(self._place.programs, name), os.X_OK)
            return "" if there else f"this build has no program {name}"
        if kind == "file":
            return "" if os.path.exists(os.path.join(self._place.source, name)) else f"there is no {name}"
        if kind == "command":
            return "" if shutil.which(name) else f"{name} is not installed"
        if kind == "subcommand":
            return "" if re.search(rf"^\s+{re.escape(name)}\s", self._ham_bench_help(), re.M) else f"this ham-bench has no {name}"
        if kind == "option":
            return "" if re.search(rf"^\s+(-\w,)?--{re.escape(name)}\b", self._ham_bench_help(), re.M) \
                else f"this ham-bench has no option --{name}"
        if kind == "spawns":
            return self._why_no_spawn(name)
        if kind == "gpu":
            if not gpu.capability():
                return "there is no GPU of NVIDIA's (nvidia-smi shows none)"
            there = os.access(os.path.join(self._place.gpu, "gpu", name), os.X_OK)
            return "" if there else f"there is a GPU, and no program {name} for it (tools/gpu-check builds it; needs nvcc)"
        if kind == "cores":
            there = len(os.sched_getaffinity(0))
            return "" if there >= int(name) else f"it needs {name} cores and may use {there}"
        raise ValueError(f"unknown requirement {kind}:{name}")


@functools.lru_cache(maxsize=None)
def _libraries_of(path, _changed_ns):
    """Shared libraries that the dynamic linker loads with a program; none of what is no such program."""
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return ()
    try:
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(sorted(set(re.findall(r"(?:=>\s*|^\s*)(/\S+)", listed, re.M))))


@functools.lru_cache(maxsize=None)
def _imported_by(path, folders, _changed_ns):
    """Scripts of the repository that a script imports, and those that these import."""
    with open(path, "rb") as file:
        try:
            tree = ast.parse(file.read())
        except (SyntaxError, ValueError):
            return ()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    found = set()
    for name in names:
        found.update(one for one in (os.path.join(folder, *name.split(".")) + ".py" for folder in folders) if os.path.isfile(one))
    return tuple(sorted(found))


def _scripts_with(files, place):
    """Scripts among the files, with all that they import of the repository."""
    folders = tuple(os.path.join(place.source, "benchmarks", name) for name in ("evaluate", "peers"))
    found, left = set(), [path for path in files if path.endswith(".py")]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += _imported_by(path, (os.path.dirname(path), *folders), os.stat(path).st_mtime_ns)
    return found


def fingerprint(place, measurement):
    """Changes with the command, its programs, their shared libraries, its scripts, the launcher, what else it uses, and the machine. Of
    what the build and the repository have the contents count, of the system's libraries and commands which file it is, its size and date."""
    digest = hashlib.sha256()
    argv = place.argv(measurement)
    digest.update(json.dumps([list(measurement.argv), sorted(measurement.environment), machine.identity()]).encode())
    files = {part for part in argv if os.path.isfile(part) and part != sys.executable}
    commands = set() if os.path.isabs(argv[0]) else {argv[0]}
    for need in measurement.needs:
        kind, name = need.split(":", 1)
        if kind == "program":
            files.add(os.path.join(place.programs, name))
        elif kind == "command":
            commands.add(name)
    for pattern in measurement.uses:
        found = sorted(glob.glob(place.filled(pattern)))
        digest.update(json.dumps(found).encode())
        files.update(found)
    for pattern in ("libham*.so*", "libveo*.so*", "libmpixkernel*.so*"):
        files.update(glob.glob(os.path.join(place.build, "lib*", pattern)))
    files = {one for one in files if os.path.isfile(one)}
    files |= _scripts_with(files, place)
    of_system = {path for path in map(shutil.which, sorted(commands)) if path}
    for path in sorted(files | of_system):
        for library in filter(os.path.isfile, _libraries_of(os.path.realpath(path), os.stat(path).st_mtime_ns)):
            (files if library.startswith(place.build + os.sep) else of_system).add(library)
    for path in sorted(files):
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    for path in sorted(map(os.path.realpath, of_system)):
        state = os.stat(path)
        digest.update(json.dumps([path, state.st_size, state.st_mtime_ns]).encode())
    return digest.hexdigest()[:16]


def read_record(place, name):
    """What was measured before, or None; also for a result of a form that is read no more."""
    try:
        with open(place.record(name), encoding="utf-8") as file:
            record = json.load(file)
        if not isinstance(record, dict) or "status" not in record:
            return None
        if "result" in record:
            results.reports(record["result"])
        return record
    except (OSError, ValueError):
        return None


def of_one_machine(records):
    """The records, without results of other machines than the newest one's, and the description of that; None if there is no result."""
    def of(record):
        return [record["machine"].get(name) for name in machine.IDENTITY]

    with_result = [one for one in records.values() if one and "result" in one]
    if not with_result:
        return records, None
    newest = max(with_result, key=lambda one: datetime.datetime.fromisoformat(one["date"]))
    kept = {}
    for name, one in records.items():
        if one and "result" in one and of(one) != of(newest):
            one = {key: value for key, value in one.items() if key != "result"}
            one.update(status="not measured", reason="the result that is there is of another machine")
        kept[name] = one
    return kept, newest["machine"]


def with_marks(place, records, measurements):
    """The records; those with a result of another build than the one that is there have the mark "earlier". measurements: by their names."""
    return {name: dict(one, earlier=True) if one and "result" in one and one.get("fingerprint") != fingerprint(place, measurements[name]) else one
            for name, one in records.items()}


def write_record(place, name, record):
    os.makedirs(place.data, exist_ok=True)
    path = place.record(name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1, ensure_ascii=False)
        file.write("\n")
    os.replace(path + ".new", path)


def shown_command(place, measurement):
    """The command as it is typed in the repository."""
    # What it takes to start Open MPI as root, or with more ranks than cores, is said where the launcher is the command itself.
    of_mpi = execution.MPI_ENVIRONMENT.items() if measurement.argv[0] == "mpirun.openmpi" else ()
    parts = [f"{name}={shlex.quote(value)}" for name, value in (*of_mpi, *measurement.environment)]
    for part in place.argv(measurement):
        if part == sys.executable:
            part = "python3"
        elif os.path.isabs(part) and part.startswith(place.source + os.sep):
            part = os.path.relpath(part, place.source)
        parts.append(shlex.quote(part))
    return " ".join(parts)


class Runner:
    """budget_s: the time that all measurements together may take; what does not fit is left for the next run. say: called with each
    line of the progress; tick: about once a second with a line that the next one replaces."""

    def __init__(self, place, budget_s, again=False, say=print, described=None, tick=None):
        self._place = place
        self._requirements = Requirements(place)
        self._deadline = time.monotonic() + budget_s
        self._again = again
        self._say = say
        self._tick = tick
        self._budget_s = budget_s
        self._machine = described or machine.describe(place.build)
        self._revision = machine.revision(place.source)
        self._clock = clock.Clock(place.out, toolchain.cached(place.build, "CMAKE_C_COMPILER") or "cc")

    def run(self, measurements):
        """Records of all of these by their names."""
        total_s = sum(one.expected_s for one in measurements)
        found = {}
        self._say(f"{len(measurements)} measurements, about {total_s / 60:.0f} min if all are new, at most {self._budget_s / 60:.0f} min")
        for index, one in enumerate(measurements, start=1):
            begin = f"[{index:2}/{len(measurements)}] {one.name:22}"
            found[one.name] = record = self._one(one, begin)
            self._say(f"{begin} {self._line(record)}")
        self._say(f"{len(measurements)} measurements: " + ", ".join(f"{count} {status}" for status, count in self._count(found.values())))
        return found

    @staticmethod
    def _count(records):
        found = {}
        for record in records:
            status = record["status"]
            found[status] = found.get(status, 0) + 1
        return sorted(found.items())

    @staticmethod
    def _line(record):
        if record.get("kept"):
            return "is there already"
        if record["status"] == "measured":
            return f"{record['seconds']:.1f} s"
        return f"{record['status']}: {record['reason']}"

    def _one(self, measurement, begin):
        mark = fingerprint(self._place, measurement)
        old = read_record(self._place, measurement.name)
        is_of_this_build = old and old["status"] == "measured" and old.get("fingerprint") == mark
        if is_of_this_build and not self._again:
            return dict(old, kept=True)
        missing = self._requirements.missing(measurement)
        if missing:
            return self._not_measured(measurement, missing)
        left_s = self._deadline - time.monotonic()
        if left_s < measurement.expected_s:
            return self._out_of_time(measurement, old if is_of_this_build else None)
        self._say(f"{begin} about {measurement.expected_s:.0f} s ...")
        tick = self._tick and (lambda seconds: self._tick(f"{begin} about {measurement.expected_s:.0f} s, {seconds:.0f} s so far"))
        head = {**self._head(measurement), "fingerprint": mark}
        samples = self._clock.samples()
        try:
            outcome = execution.run(self._place.argv(measurement), min(measurement.timeout_s, left_s), dict(measurement.environment),
                                    self._place.source, tick=tick)
        except execution.Interrupted as interrupted:
            record = {**self._with_outcome(head, interrupted.outcome), "clock": self._clock.described(samples)}
            if not is_of_this_build and "result" in record:
                write_record(self._place, measurement.name, self._stopped(record, "interrupted"))
            raise
        record = {**self._with_outcome(head, outcome), "clock": self._clock.described(samples + self._clock.samples())}
        if outcome.status is None and left_s < measurement.timeout_s:
            # It is this run that had no time: the measurement has not failed.
            if is_of_this_build or "result" not in record:
                return self._out_of_time(measurement, old if is_of_this_build else None)
            record = self._stopped(record, OUT_OF_TIME)
        write_record(self._place, measurement.name, record)
        return record

    @staticmethod
    def _stopped(record, why):
        """What a program prints when it is asked to end is a part of its result."""
        return {**record, "status": "stopped", "reason": f"{why}; this is what was measured until then, the next run measures it again"}

    def _out_of_time(self, measurement, old):
        """What is there of this build stays."""
        return dict(old, kept=True) if old else self._not_measured(measurement, f"{OUT_OF_TIME}; the next run goes on here")

    def _not_measured(self, measurement, reason):
        record = self._head(measurement)
        record.update(status="not measured", reason=reason)
        # An older result of another build is not this build's.
        write_record(self._place, measurement.name, record)
        return record

    def _head(self, measurement):
        return {"measurement": measurement.name, "command": shown_command(self._place, measurement),
                "emulated": measurement.emulated, "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
                "revision": self._revision, "machine": dict(self._machine, load=[round(value, 2) for value in os.getloadavg()])}

    @staticmethod
    def _with_outcome(head, outcome):
        record = {**head, "seconds": round(outcome.seconds, 2), "exit_status": outcome.status, "errors": outcome.errors}
        problem = outcome.problem
        try:
            document = results.parse(outcome.output)
            results.reports(document)
            record["result"] = document
        except results.BadResult as bad:
            problem = problem or str(bad)
            record["output"] = outcome.output[-2000:]
        record.update(status="failed" if problem else "measured", reason=problem)
        return record
