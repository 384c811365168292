#!/usr/bin/env python3
"""HAM beside other ways to call a function in another process: run.py [--json | --markdown] [--only NAME,...]

Runs every program of peers.json that is built, in rounds, so that all meet the same state of the machine: first times,
then once what happens when the server is killed in mid-call. Prints medians and quartiles over the rounds; a peer that
is absent, fails or hangs is a row that says so. Build them first:

  scripts/install-deps.sh peers && cmake --preset release -DHAM_PEERS=ON && ninja -C build/release peers
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cores
import processes
import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Key of a program's output -> column.
MEASURES = {
    "empty_us": "empty call: us",
    "kib_us": "1 KiB call: us",
    "rate_million_per_s": "1000 under way: M/s",
    "transfer_gb_per_s": "64 MiB: GB/s",
}
IDLE = "idle server: % of a core"
RATIO = "empty call / floor"
DEATH = "server killed in mid-call"
FLOOR_VARIES = 0.05  # measured once more among the peers, the floor is 1 of itself, or the machine was busy
LAUNCHER_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                        "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class peer:
    """One of the catalogue: how it is run, and what was found."""

    def __init__(self, name, entry, places):
        self.name = name
        self.title = entry["title"]
        self.rounds = entry.get("rounds")
        self.document = entry.get("document", "")
        self.command = [places.fill(part) for part in entry["command"]]
        self.settings = {key: places.fill(value) for key, value in entry.get("environment", {}).items()}
        self.samples = {key: [] for key in MEASURES}
        self.ratios = []
        self.idle = None
        self.version = self.how = ""
        self.death = None
        self.problem = self.absence(entry, places)

    def absence(self, entry, places):
        if None in self.command:
            return "no launcher of this MPI" if places.venv.exists() else "not installed: scripts/install-deps.sh peers"
        for part in self.command:
            if part.startswith(str(places.bin)) and not os.path.exists(part):
                return "not built: its package was absent, or HAM_PEERS is off"
        module = entry.get("module")
        if module and not places.has_module(module):
            return f"the Python package {module} is not installed: scripts/install-deps.sh peers"
        return None if shutil.which(self.command[0]) else f"{self.command[0]} is absent"

    def run(self, arguments, given, places):
        """The last object of JSON that it prints, or None after noting what is wrong."""
        environment = {**os.environ, **LAUNCHER_ENVIRONMENT, "TMPDIR": str(places.temporary), **self.settings}
        ended = processes.run([*self.command, *arguments, "--json", "--cores", given.cores], environment, given.timeout)
        objects = report.objects(ended.output)
        if ended.timed_out:
            self.problem = f"hangs: ended after {given.timeout:g} s"
            return None
        if "--death" in arguments and objects and objects[-1].get("death") == "begun":
            return {"death": "job"}
        if ended.status != 0 or not objects:
            lines = [line for line in ended.errors.strip().splitlines() if line.strip("-= ")]
            self.problem = f"failed (status {ended.status}): {lines[-1] if lines else 'no output'}"
            return None
        expected = {"death"} if "--death" in arguments else {"empty_us"} if "--empty" in arguments else {"version", "how", *MEASURES}
        if not expected <= objects[-1].keys():
            self.problem = "printed no " + ", ".join(sorted(expected - objects[-1].keys()))
            return None
        return objects[-1]

    def measure(self, number, given, places, floor, end):
        """One round, right after the floor: the virtual cores of a machine may move while others are measured. Nothing is begun after
        the end."""
        below = None
        if floor is not None and floor.problem is None:
            below = floor.run(["--empty"], given, places)
        if time.monotonic() >= end:
            return
        found = self.run([] if number == 0 else ["--no-idle"], given, places)
        if found is None:
            return
        self.version, self.how = found["version"], found["how"]
        for key, values in self.samples.items():
            values.append(found[key])
        self.idle = found.get("idle_percent", self.idle)
        if below:
            self.ratios.append(found["empty_us"] / below["empty_us"])

    def measure_death(self, given, places):
        found = self.run(["--death"], given, places)
        if found is None:
            self.death, self.problem = f"not measured: {self.problem}", None
        elif found["death"] == "error":
            self.death = f"error after {found['error_ms']:.2g} ms"
        else:
            self.death = {"hangs": "nothing within 3 s: hangs", "job": "the launcher ends the whole job",
                          "no server": "no server: the same process"}.get(found["death"], f"failed: {found}")

    def row(self):
        row = {"peer": self.title}
        for key, column in MEASURES.items():
            samples = self.samples[key]
            row[column] = report.quartiles(samples)[1] if samples else None
            row[f"{column.split(':')[0]}: quartiles"] = report.quartile_text(samples, 3) if samples else None
            if key == "empty_us":
                row[RATIO] = report.quartiles(self.ratios)[1] if self.ratios else None
                row[f"{RATIO}: quartiles"] = report.quartile_text(self.ratios, 3) if self.ratios else None
        row[IDLE] = self.idle
        row[DEATH] = self.death or "-"
        row["rounds"] = len(self.samples["empty_us"])
        row["remark"] = self.problem or ""
        return row

    def how_row(self, places):
        command = " ".join(pathlib.Path(part).name if part.startswith(("/", str(places.bin))) else part
                           for part in self.command if part)
        # The folder of this run is gone when somebody reads this; the one that it was in is as good.
        settings = " ".join(f"{key}={value.replace(str(places.temporary), os.path.dirname(places.temporary))}"
                            for key, value in self.settings.items())
        return {"peer": self.title, "version": self.version or "-", "command": command, "settings": settings or "-",
                "how": self.how or self.problem or "-", "documentation": self.document or "-"}


class places_of:
    """What the braces of the catalogue stand for."""

    def __init__(self, given, temporary):
        self.bin = pathlib.Path(given.bin)
        self.here = pathlib.Path(given.catalogue).resolve().parent
        self.venv = ROOT / "build" / "peers-python" / "bin" / "python"
        self.temporary = temporary
        self.modules = {}
        launchers = self.bin / "launchers.json"
        self.launchers = json.loads(launchers.read_text()) if launchers.exists() else {}

    def launcher(self, name):
        known = [self.launchers.get(name), shutil.which(f"mpirun.{name}"), shutil.which(f"mpiexec.{name}")]
        return next((one for one in known if one and shutil.which(one)), None)

    def fill(self, text):
        if text.startswith("{launcher:"):
            return self.launcher(text[len("{launcher:"):-1])
        if text == "{venv}" and not self.venv.exists():
            return None
        return text.format(bin=self.bin, here=self.here, venv=self.venv, python=sys.executable, shm=self.temporary)

    def has_module(self, name):
        if name not in self.modules:
            probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
            self.modules[name] = self.venv.exists() and subprocess.run([self.venv, "-c", probe], check=False).returncode == 0
        return self.modules[name]


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def measure(peers, given, places):
    """Rounds over all peers, each beginning with another one; then the deaths. No program is begun after the end of the budget. Gives
    remarks on what is left out."""
    begin = time.monotonic()
    end = begin + given.budget
    here = [one for one in peers if one.problem is None]
    floor = next((one for one in here if one.name == "floor"), None)
    rounds = 0
    for number in range(given.repetitions):
        # What a round takes is known after the first one; deaths take up to three seconds each.
        if number > 0 and time.monotonic() + (time.monotonic() - begin) / number > end - 2.0 * len(here):
            break
        for i in range(len(here)):
            one = here[(i + number) % len(here)]
            if one.problem is not None or number >= (one.rounds or given.repetitions):
                continue
            if time.monotonic() >= end:
                break
            progress(f"round {number + 1} of {given.repetitions}: {one.title}")
            one.measure(number, given, places, floor, end)
        else:
            rounds += 1
    for one in here:
        if one.problem is None and time.monotonic() < end:
            progress(f"death of the server: {one.title}")
            one.measure_death(given, places)
    progress("")
    return [] if rounds == given.repetitions else [f"{rounds} of {given.repetitions} rounds within {given.budget:g} s"]


def leave_out(peers, why):
    """Marks what was not come to."""
    for one in peers:
        if one.problem is None and not one.samples["empty_us"]:
            one.problem = f"not measured: {why}"
        elif one.problem is None and one.death is None:
            one.death = f"not measured: {why}"


def make_report(peers, remarks, places, pair):
    bars = []
    ham = next((one for one in peers if one.name == "ham"), None)
    if ham:
        value = report.quartiles(ham.ratios)[1] if ham.ratios and not ham.problem else None
        bars.append(report.bar("HAM: empty call / floor", value, "<=", 1.2))
    floor = next((one for one in peers if one.name == "floor" and one.ratios and not one.problem), None)
    of_itself = report.quartiles(floor.ratios)[1] if floor else 1
    if abs(of_itself - 1) > FLOOR_VARIES:
        remarks.append(f"the floor is {of_itself:.2f} of itself: the machine was too busy, or its clock changed too much, "
                       "for the ratios to mean something")
    for one in peers:
        if one.problem:
            remarks.append(f"{one.title}: {one.problem}")
    where = f"{report.today()}, {report.machine()}, {pair}"
    remarks += [where, "medians over the rounds; idle and death are measured once"]
    return {"name": "peers",
            "tables": [{"title": "Calls to another process on this machine, both pinned to cores of their own",
                        "rows": [one.row() for one in peers]},
                       {"title": "How each peer is run", "rows": [one.how_row(places) for one in peers]}],
            "bars": bars, "remarks": remarks, "when and where": where}


def number(value, digits=2):
    if value is None:
        return ""
    return f"{value:.0f}" if round(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def spread(row, column):
    """The quartiles of a column in brackets, if several rounds have some."""
    text = row.get(f"{column.split(':')[0]}: quartiles")
    if row["rounds"] < 2 or not text:
        return ""
    low, high = (number(float(one)) for one in text.split(".."))
    return f" ({low})" if low == high else f" ({low}–{high})"


def labelled(title, version):
    """A version that names its program does so once."""
    if version in ("-", ""):
        return title
    return version if version.startswith(title) else f"{title} {version}"


def read(path):
    """A report that --json has printed, or that make evaluate has stored."""
    document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return document.get("result", document)


def print_markdown(result):
    """The table of README.md."""
    rows, hows = (table["rows"] for table in result["tables"])
    versions = {row["peer"]: row["version"] for row in hows}
    print("| | empty call / floor | empty call | 1 KiB call | 1000 under way | 64 MiB | idle server | server is killed in mid-call |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        if row["empty call: us"] is None:
            continue
        title, version = row["peer"], versions.get(row["peer"], "-")
        idle = "" if row[IDLE] is None else f"{number(row[IDLE])} % of a core"
        units = {"empty_us": "µs", "kib_us": "µs", "rate_million_per_s": "M/s", "transfer_gb_per_s": "GB/s"}
        cells = [labelled(title, version), number(row[RATIO]) + spread(row, RATIO),
                 *(f"{number(row[column])}{spread(row, column)} {units[key]}" for key, column in MEASURES.items()), idle, row[DEATH]]
        print("| " + " | ".join(cells) + " |")
    rounds = max((row["rounds"] for row in rows), default=0)
    brackets = " (quartiles in brackets)" if rounds > 1 else ""
    print(f"\nMedians of {rounds} round{'' if rounds == 1 else 's'}{brackets}, {result['when and where']} (`benchmarks/peers/run.py --markdown`).")
    absent = [f"{row['peer']} ({row['remark']})" for row in rows if row["remark"]]
    if absent:
        print("Not measured: " + "; ".join(absent) + ".")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one object of JSON")
    parser.add_argument("--markdown", action="store_true", help="the table of README.md")
    parser.add_argument("--from", dest="source", metavar="FILE",
                        help="measure nothing: what --json has printed, or make evaluate has stored (build/evaluation/data/peers.json)")
    parser.add_argument("--only", default="", help="names, separated by commas; floor is always run")
    parser.add_argument("--repetitions", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--budget", type=float, default=220, help="seconds after which no further program is begun (default: 220)")
    parser.add_argument("--timeout", type=float, default=40, help="seconds for one program")
    parser.add_argument("--bin", default=str(ROOT / "build" / "release" / "bin" / "peers"), help="folder of the programs")
    parser.add_argument("--catalogue", default=str(HERE / "peers.json"))
    topology = cores.topology()
    parser.add_argument("--cores", default="{},{}".format(*topology.pair()),
                        help="of client and server (default: two near each other that are no siblings)")
    given = parser.parse_args()
    if given.repetitions < 1:
        parser.error("--repetitions: at least 1")
    pair = given.cores.split(",")
    if len(pair) != 2 or not all(core.isdigit() and int(core) in topology.usable for core in pair):
        parser.error("--cores: two of the cores that this process may use, separated by a comma")
    given.pair = "client on core {}, server on core {} ({})".format(*pair, topology.kind(*map(int, pair)))
    return parser, given


def main():
    parser, given = parse()
    if given.source:
        result = read(given.source)
        if given.markdown:
            print_markdown(result)
        else:
            report.print_report(result, given.json)
        return 0
    catalogue = json.loads(pathlib.Path(given.catalogue).read_text(encoding="utf-8"))
    only = [name for name in given.only.split(",") if name]
    unknown = [name for name in only if name not in catalogue]
    if unknown:
        parser.error(f"--only: unknown: {', '.join(unknown)}; known: {', '.join(catalogue)}")
    processes.end_on_request()
    processes.adopt_orphans()
    # In memory: MPI's segments are files there.
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ham-peers-", dir=parent, ignore_cleanup_errors=True) as temporary:
        places = places_of(given, temporary)
        peers = [peer(name, entry, places) for name, entry in catalogue.items()
                 if not only or name in only or name == "floor"]
        try:
            remarks, why, status = measure(peers, given, places), f"the time of {given.budget:g} s was over", None
        except SystemExit as request:  # what was measured until then is a report, too
            why, status = f"ended by {signal.Signals(request.code - 128).name}", request.code
            remarks = [f"{why}: some rounds, or all, are missing"]
        processes.ignore_requests()
        if status is not None and not any(one.samples["empty_us"] for one in peers):
            return status
        leave_out(peers, why)
        result = make_report(peers, remarks, places, given.pair)
        if given.markdown:
            print_markdown(result)
        else:
            report.print_report(result, given.json)
    if status is not None:
        return status
    return 0 if any(one.samples["empty_us"] for one in peers) else 1


if __name__ == "__main__":
    sys.exit(main())
