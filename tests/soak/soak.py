#!/usr/bin/env python3
"""Soak test: soak.py --build FILE [--time 10m] [--json FILE] [shm] [tcp] [mpi]

Runs ham_soak over each transport for a part of the time, judges its samples, and checks what is left behind. FILE is
soak.json of the build. With --count=1e9 instead: so many small calls to one target, as fast as they go.
Ends with 1 if anything was lost, wrong, ran twice, hung, grew, or is left.
"""
import argparse
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import judge

LEDGER_BYTES = 16 * 4096 * 8
LEAST_SECONDS = 4
# What is plotted, how it is called, rows.
PLOTS = (("rss_kb", "resident memory in KiB", 6), ("heap_kb", "heap in use in KiB", 4), ("descriptors", "descriptors", 3),
         ("maps", "maps", 3))
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def seconds_in(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not found or float(found[1]) == 0:
        raise ValueError(f"{text} is no time such as 90s, 10m or 24h")
    return float(found[1]) * UNITS[found[2]]


def say(text):
    print(text, flush=True)


class Left:
    """What a run leaves on the machine: processes with a variable of the run, names of shared memory."""
    PLACES = ("/dev/shm", "/dev/mqueue")
    NOT_OURS = ("ham-peers-", "ham-cg-")  # of benchmarks/peers, which may run beside this

    def __init__(self, token):
        self.mark = f"HAM_SOAK_RUN={token}".encode()
        self.names_before = self.names()

    def names(self):
        return {f"{place}/{name}" for place in self.PLACES if os.path.isdir(place)
                for name in os.listdir(place) if "ham" in name and not name.startswith(self.NOT_OURS)}

    def processes(self):
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            try:
                environment = pathlib.Path("/proc", entry, "environ").read_bytes()
                command = pathlib.Path("/proc", entry, "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue
            if self.mark in environment.split(b"\0"):
                found.append((int(entry), command))
        return found

    def problems(self, timeout=5.0):
        """Ends processes that are left."""
        until = time.monotonic() + timeout
        while self.processes() and time.monotonic() < until:
            time.sleep(0.1)
        found = []
        for pid, command in self.processes():
            found.append(f"process {pid} is left: {command}")
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return found + [f"{name} is left" for name in sorted(self.names() - self.names_before)]


class Run:
    """One ham_soak, or the launcher that starts it."""

    def __init__(self, name, command, environment, silence):
        self.name, self.silence = name, silence
        self.samples, self.problems, self.end, self.flood = [], [], None, []
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        start_new_session=True)

    def read(self):
        waiting = b""
        file = self.process.stdout.fileno()
        while True:
            ready, _, _ = select.select([file], [], [], self.silence)
            if not ready:
                self.problems.append(f"nothing was heard of it for {self.silence:.0f} s; it was ended")
                os.killpg(self.process.pid, signal.SIGKILL)
                break
            got = os.read(file, 1 << 16)
            if not got:
                break
            *lines, waiting = (waiting + got).split(b"\n")
            for line in lines:
                self.take(line.decode(errors="replace"))
        self.process.stdout.close()
        status = self.process.wait()
        if status != 0 and not self.problems:
            self.problems.append(f"it ended with status {status}")
        if status == 0 and self.end is None and not self.flood:
            self.problems.append("it ended without a word")

    def take(self, line):
        found = re.fullmatch(r"soak (\w+) (.*)", line)
        if not found:
            if line:
                say(f"[{self.name}] {line}")
            return
        kind, value = found[1], json.loads(found[2])
        if kind == "sample":
            self.samples.append(value)
        elif kind == "end":
            self.end = value
        elif kind == "flood":
            self.flood.append(value)
            say(f"[{self.name}] {value['calls']:>14,} calls, {value['calls'] / value['seconds'] / 1e6:.2f} M/s")
        else:
            self.problems.append(("hangs: " if kind == "hang" else "") + value)
            say(f"[{self.name}] PROBLEM: {self.problems[-1]}")


class WaitingProgram:
    """The targets of tcp come from it."""

    def __init__(self, program, environment, folder, tls):
        self.output = open(folder / "waiting", "w+")
        command = [program, "--ham-serve=127.0.0.1:0", "--ham-jobs=100"]
        environment = dict(environment)
        self.variables = {}
        if tls:
            key = folder / "key"
            subprocess.run([program, f"--ham-make-key={key}"], env=environment, check=True, stdout=subprocess.DEVNULL)
            self.variables["HAM_KEY"] = str(key)
        else:
            self.variables["HAM_TCP_SECURITY"] = "off"
        environment.update(self.variables)
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=self.output,
                                        start_new_session=True)
        self.address = self.read_address()

    def text(self):
        self.output.flush()
        return pathlib.Path(self.output.name).read_text()

    def read_address(self):
        for _ in range(200):
            found = re.search(r" at (\S+)", self.text())
            if found:
                return found[1]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.close()
        raise RuntimeError("the waiting program says: " + self.text().strip())

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Soak:
    def __init__(self, options):
        self.options = options
        self.build = json.loads(pathlib.Path(options.build).read_text())
        self.token = f"{os.getpid()}-{time.time_ns()}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="soak-"))
        self.ledger = self.folder / "ledger"
        self.results, self.left_out = [], []

    def environment(self, **more):
        with open(self.ledger, "wb") as file:
            file.truncate(LEDGER_BYTES)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("HAM_")}
        if self.options.plant:
            clean["HAM_SOAK_PLANT"] = self.options.plant
        return {**clean, "HAM_SOAK_LEDGER": str(self.ledger), "HAM_SOAK_RUN": self.token, **more}

    def runs(self):
        """(name, function that starts it) of each."""
        wanted = self.options.transports or ["shm", "tcp", "mpi"]
        found = []
        for one in wanted:
            if one == "shm":
                found.append(("shm", self.shm))
            elif one == "tcp":
                found.append(("tcp", self.tcp))
            elif not self.build["mpi"]:
                self.left_out.append(("mpi", self.build["no_mpi"]))
            else:
                for mpi, launcher in self.build["mpi"].items():
                    if shutil.which(launcher):
                        found.append((f"mpi ({mpi})", lambda mpi=mpi: self.mpi(mpi)))
                    else:
                        self.left_out.append((f"mpi ({mpi})", f"its launcher {launcher} is not there"))
        return found

    def arguments(self, spare, spares):
        verbs = [f"--verbs={self.options.verbs}"] if self.options.verbs else []
        if self.options.leak:
            verbs.append(f"--leak={self.options.leak}")
        return [*verbs, f"--seconds={self.seconds:.1f}", f"--threads={self.options.threads}", f"--spare={spare}",
                f"--spares={spares}", f"--seed={self.options.seed}", f"--hang={self.options.hang}"]

    def shm(self):
        self.start("shm", [self.build["program"], *self.arguments("shm:1", 2)], self.environment(HAM_NODES="shm:3"))

    def tcp(self):
        environment = self.environment()
        try:
            try:
                waiting = WaitingProgram(self.build["program"], environment, self.folder, tls=True)
            except (RuntimeError, subprocess.CalledProcessError) as why:
                say(f"tcp: without TLS: {why}")
                waiting = WaitingProgram(self.build["program"], environment, self.folder, tls=False)
        except (RuntimeError, OSError) as why:
            self.left_out.append(("tcp", str(why)))
            return
        try:
            nodes = f"tcp://{waiting.address}"
            environment.update(waiting.variables, HAM_NODES=nodes + "*3", HAM_SOAK_SERVER=str(waiting.process.pid))
            self.start("tcp", [self.build["program"], *self.arguments(nodes, 2)], environment, waiting)
        finally:
            waiting.close()

    def mpi(self, mpi):
        self.start(f"mpi ({mpi})",
                   [self.build["mpi"][mpi], "-n", "3", self.build["program"], *self.arguments("shm:1", 1)],
                   self.environment(HAM_NODES="mpi,shm:1", **dict(one.split("=", 1) for one in self.build["environment"])))

    def start(self, name, command, environment, waiting=None):
        say(f"{name}: {self.seconds:.0f} s")
        left = Left(self.token)
        # Rounds of at most a minute, and what the watchdog grants.
        run = Run(name, command, environment, silence=self.options.hang + 90)
        run.read()
        if waiting is not None:
            waiting.close()
        run.problems += left.problems()
        self.judge(run, ["host", "target 1"] if waiting is None else ["host", "target 1", "waiting program"])

    def judge(self, run, processes):
        end = run.end or {"calls": 0, "seconds": 0, "kills": 0, "removals": 0, "spawned": 0, "restarts": 0, "verbs": []}
        findings = judge.judge(run.samples, end["kills"] + end["removals"] + end["restarts"])
        if not self.options.no_growth:
            run.problems += [f"{one['process']}: {one['what']} {one['problem']}" for one in findings if one["problem"]]
            run.problems += judge.not_judged(run.samples, processes)
        verbs = {}
        for one in end["verbs"]:
            for verb, count in one.items():
                verbs[verb] = verbs.get(verb, 0) + count
        if self.seconds >= 30:
            run.problems += [f"the verb {verb} was never completed" for verb, count in verbs.items() if count == 0]
            # Half of the targets that take the place of others, where processes are started by this machine.
            if run.name != "tcp" and end["kills"] + end["removals"] >= 30 and end["spawned"] == 0:
                run.problems.append("no target was ever spawned")
        self.results.append({"name": run.name, "calls": end["calls"], "seconds": end["seconds"], "kills": end["kills"],
                             "removals": end["removals"], "spawned": end["spawned"], "restarts": end["restarts"], "verbs": verbs, "samples": run.samples, "growth": findings,
                             "problems": run.problems})
        self.show(self.results[-1])

    def show(self, result):
        if len(result["samples"]) >= 4:
            for process in sorted({name for one in result["samples"] for name in one["processes"]}):
                for what, title, height in PLOTS:
                    points = judge.series(result["samples"], process, what)
                    if len(points) < 2:
                        continue
                    say("")
                    for line in judge.plot(points, f"{result['name']}, {process}: {title}", height=height):
                        say(line)
        say("")
        for one in result["growth"]:
            percent = one["percent_per_million_calls"]
            growth = "" if percent is None else f"{percent:+.3f} % in 10^6 calls"
            say(f"  {one['process']:16} {one['what']:12} {one['first']:>8} -> {one['last']:>8}  {growth}")
        say(f"  {judge.limit_of(result['samples'])}")
        say(f"  {result['calls']:,} calls in {result['seconds']:.0f} s, {result['kills']} targets killed, "
            f"{result['removals']} removed in order, {result['spawned']} of the next ones spawned, "
            f"{result['restarts']} started again")
        say("  " + ", ".join(f"{verb} {count}" for verb, count in result["verbs"].items()))
        for problem in result["problems"]:
            say(f"  PROBLEM: {problem}")

    def fast(self, count):
        left = Left(self.token)
        run = Run("fast", [self.build["program"], f"--count={count}"], self.environment(HAM_NODES="shm:1"),
                  silence=self.options.hang + 90)
        run.read()
        run.problems += left.problems()
        last = run.flood[-1] if run.flood else {"calls": 0, "seconds": 0}
        self.results.append({"name": "fast", **last, "problems": run.problems})
        say(f"{last['calls']:,} calls in {last['seconds']:.0f} s")
        for problem in run.problems:
            say(f"PROBLEM: {problem}")

    def go(self):
        if self.options.count:
            self.fast(int(float(self.options.count)))
        else:
            runs = self.runs()
            self.seconds = max(LEAST_SECONDS, seconds_in(self.options.time) / max(1, len(runs)))
            for _, start in runs:
                start()
            for name, why in self.left_out:
                say(f"{name}: LEFT OUT: {why}")
            if not self.results:
                say("nothing was run")
                return 1
        bad = [one["name"] for one in self.results if one["problems"]]
        say("soak: " + ("problems in " + ", ".join(bad) if bad else "all is well") + self.limits())
        if self.options.json:
            text = json.dumps({"runs": self.results, "left_out": dict(self.left_out)}, indent=1)
            if self.options.json == "-":
                say(text)
            else:
                pathlib.Path(self.options.json).write_text(text + "\n")
        return 1 if bad else 0

    def limits(self):
        """Behind the verdict: what it says of memory."""
        if self.options.count or self.options.no_growth:
            return ""
        return f" ({judge.limits_of([(one['name'], one['samples']) for one in self.results])})"

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transports", nargs="*", choices=[[], "shm", "tcp", "mpi"])
    parser.add_argument("--build", required=True, help="soak.json of the build")
    parser.add_argument("--time", default="10m", help="of all transports together: 90s, 10m, 24h")
    parser.add_argument("--threads", type=int, default=3, help="of the host that call")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hang", type=int, default=60, help="seconds after which a wait counts as a hang")
    parser.add_argument("--verbs", help="some of them, to look into a problem: 'graphs+put, get'")
    parser.add_argument("--count", help="the fast run: so many calls")
    parser.add_argument("--leak", type=int, help="bytes that the host loses with each verb, to see that this is found")
    parser.add_argument("--plant", metavar="NAME", help="a fault on purpose, to see that it is found (finds_test.py)")
    parser.add_argument("--no-growth", action="store_true", help="memory is not judged (sanitizers)")
    parser.add_argument("--json", help="all samples and results, to a file, or - for the output")
    options = parser.parse_args()
    try:
        seconds_in(options.time)
    except ValueError as why:
        parser.error(str(why))
    soak = Soak(options)
    try:
        return soak.go()
    finally:
        soak.close()


if __name__ == "__main__":
    sys.exit(main())
