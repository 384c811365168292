"""How long runs of `make evaluate` took: a file of JSON beside the page, and the tables that the page shows of it."""
import datetime
import json
import os

import clock

MAX_RUNS = 20  # that are kept
SHOWN_RUNS = 5
WHOLE_MIN, MEASURING_MIN, WRITING_MIN, LEAST_MIN = 25, 20, 1.5, 5  # minutes
PHASES = ("installing and configuring", "building", "measuring", "writing the page", "checking the page")


def text(seconds):
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def minutes_left(now, since):
    """Minutes for measurements that begin now; what packages and the build took since then, if that is known, counts, too."""
    if since is None:
        return MEASURING_MIN
    return min(MEASURING_MIN, max(LEAST_MIN, WHOLE_MIN - WRITING_MIN - (now - since) / 60))


class Run:
    """One run. began, installed, built: seconds since the epoch, as make evaluate hands them on; None if it did not."""

    def __init__(self, parts, all_parts, identity, revision, now, began=None, installed=None, built=None):
        self.data = {"date": datetime.datetime.fromtimestamp(now).astimezone().isoformat(timespec="seconds"), "parts": parts if parts != all_parts else [],
                     "machine": identity, "revision": revision, "seconds": {}, "measurements": {}, "kept": [], "not measured": [], "interrupted": False}
        self._began = began
        self._last = now
        ends = [one for one in (began, installed, built) if one is not None]
        if len(ends) == 3 and began <= installed <= built <= now:
            self.data["seconds"].update(zip(PHASES, (installed - began, built - installed)))
        self._total_from = began if began is not None else now

    def done(self, phase, now):
        self.data["seconds"][phase] = round(now - self._last, 1)
        self._last = now
        self.data["total"] = round(now - self._total_from, 1)

    def measured(self, records):
        """What became of each measurement that was asked for."""
        for name, record in records.items():
            if record.get("kept"):
                self.data["kept"].append(name)
            elif "seconds" in record:
                self.data["measurements"][name] = record["seconds"]
            else:
                self.data["not measured"].append(name)


def _file(out):
    return os.path.join(out, "runs.json")


def read(out):
    """Runs that were recorded, the newest last. A file that is none counts for none."""
    try:
        with open(_file(out), encoding="utf-8") as file:
            found = json.load(file)["runs"]
        return [one for one in found if isinstance(one["seconds"], dict) and {"date", "parts", "total", "machine"} <= one.keys()]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def write(out, earlier, run):
    with open(_file(out) + ".new", "w", encoding="utf-8") as file:
        json.dump({"runs": [*earlier, run.data][-MAX_RUNS:]}, file, indent=1, ensure_ascii=False)
        file.write("\n")
    os.replace(_file(out) + ".new", _file(out))


def tables(runs, described):
    """The last runs on the machine that is described."""
    def same(run):
        return all(described.get(name) == value for name, value in run["machine"].items())

    rows = []
    for run in [one for one in runs if same(one)][-SHOWN_RUNS:]:
        phases = {f"{name} s": run["seconds"].get(name) for name in PHASES}
        rows.append({"begun": run["date"], "parts": " ".join(run["parts"]) or "all", **phases, "total s": run["total"],
                     "measured": len(run.get("measurements", {})), "kept": len(run.get("kept", [])), "not measured": len(run.get("not measured", [])),
                     "remark": "interrupted" if run.get("interrupted") else ""})
    return [{"title": "duration of make evaluate on this machine, the last runs (kept: measurements that were there already)", "rows": rows}] if rows else []


def of_measurements(records):
    """(Seconds of all measurements together, a table of each)."""
    rows = [{"measurement": name, "s": record["seconds"], "begun": record["date"], **clock.cells(record.get("clock"))} for name, record in records.items()
            if record and record["status"] != "not measured" and "seconds" in record]
    return sum(row["s"] for row in rows), {"title": "duration of each measurement, and the clock of the cores right before and after it", "rows": rows}
