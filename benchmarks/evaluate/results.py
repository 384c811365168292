"""Results of programs that measure: one JSON document each, read into reports of tables, bars and remarks."""
import json
import re

SIZE = re.compile(r"^\s*([\d.]+)\s*(B|KiB|MiB|GiB)\s*(\(.*\))?$")  # also "4096 B (span)"
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


class BadResult(ValueError):
    """Output that is no result."""


def parse(text):
    """The JSON document in a program's output. What a launcher prints around it is left out."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    for match in re.finditer(r"^[\[{]", text, re.M):
        try:
            return json.JSONDecoder().raw_decode(text, match.start())[0]
        except json.JSONDecodeError:
            continue
    raise BadResult("printed no JSON document" if text.strip() else "printed nothing")


def _kernel_starts(document):
    """Fig. 3: rows in seconds. Quartiles of a spawn and calls are the sums of both."""
    spawn_s = document["spawn_us"] / 1e6
    quartiles_s = [one / 1e6 for one in document["spawn_us_quartiles"]]
    rows = []
    for row in document["rows"]:
        each_s, measured = row["spawn_each_us"] / 1e6, row["spawn_each_measured"]
        cells = {"kernels": row["kernels"], "a spawn each s": each_s if measured else None,
                 "a spawn each: quartiles s": [one / 1e6 for one in row["spawn_each_us_quartiles"]],
                 "a spawn each, extrapolated s": None if measured else each_s,
                 "a spawn each: floor s": row["kernels"] * document["bare_spawn_us"] / 1e6,
                 "a spawn each: quartiles of the floor s": [row["kernels"] * one / 1e6 for one in document["bare_spawn_us_quartiles"]]}
        for key, name in (("call_us", "one spawn and Kernel_call"), ("call_multiple_us", "one spawn and Kernel_call_multiple")):
            cells[f"{name} s"] = spawn_s + row[key] / 1e6
            cells[f"{name}: quartiles s"] = [one + call_us / 1e6 for one, call_us in zip(quartiles_s, row[f"{key}_quartiles"])]
        rows.append(cells)
    if all(row["a spawn each, extrapolated s"] is None for row in rows):
        for row in rows:
            del row["a spawn each, extrapolated s"]
    return rows


def _kernel_calls(document, run=""):
    """Fig. 4: rows in microseconds, with the floor of the same round."""
    rows = []
    for row in document["rows"]:
        cells = {"kernels": row["kernels"]}
        for key, name in ((f"call{run}_us", "Kernel_call"), (f"call_multiple{run}_us", "Kernel_call_multiple")):
            for column, field in ((" us", ""), (": quartiles us", "_quartiles"), (": floor us", "_floor"),
                                  (": quartiles of the floor us", "_floor_quartiles"), (": ratio", "_floor_ratio"),
                                  (": quartiles of the ratio", "_floor_ratio_quartiles")):
                cells[name + column] = row[key + field]
        rows.append(cells)
    return rows


def _kernels(document):
    """The document of `ham-bench kernels`, which has a form of its own."""
    processes = f"{document['parents']} parents, {document['children']} children"
    setting = f"{processes}, median of {document['repetitions']}"
    spawns = document.get("spawns_measured")
    of_spawns = f"of {spawns} spawns" if spawns else "of the spawns"
    low, high = document["spawn_us_quartiles"]
    bare_low, bare_high = document["bare_spawn_us_quartiles"]
    remarks = [f"one MPI_Comm_spawn: {document['spawn_us'] / 1e3:.0f} ms, quartiles {low / 1e3:.0f} and {high / 1e3:.0f} ms",
               f"floor, one MPI_Comm_spawn of as many children that do nothing: {document['bare_spawn_us'] / 1e3:.0f} ms, quartiles {bare_low / 1e3:.0f} "
               f"and {bare_high / 1e3:.0f} ms of {document['bare_spawns_measured']}; for more kernels times their number",
               "floor until all have run: the same bytes between the same processes, passed on by the children, and their answer; who waits "
               "polls and gives its core away, as the library does, because MPI_Recv spins"]
    return {"name": "kernels", "bars": document["bars"], "remarks": remarks, "tables": [
        {"title": f"start of kernels; {processes}; a spawn each: the sum of as many spawns, once, and as its quartiles those {of_spawns}, times "
                  f"the number of kernels; floor: spawns of children that do nothing; one spawn and calls: the medians and quartiles {of_spawns} and of {document['repetitions']} calls, added",
         "rows": _kernel_starts(document)},
        {"title": f"calls without the spawn; {setting}; floor: MPI_Send of the same bytes", "rows": _kernel_calls(document)},
        {"title": f"until all kernels have run, without the spawn; {setting}; floor: MPI_Send and MPI_Recv of the same bytes",
         "rows": _kernel_calls(document, "_run")}]}


def _checked(report):
    if not isinstance(report, dict) or not isinstance(report.get("tables", []), list):
        raise BadResult("its JSON is no report")
    for table in report.get("tables", []):
        rows = table.get("rows") if isinstance(table, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise BadResult("a table of its JSON has no rows")
    for bar in report.get("bars", []):
        if not isinstance(bar, dict) or not {"name", "value", "limit"} <= bar.keys():
            raise BadResult("a bar of its JSON lacks its name, value or limit")
    return {"name": str(report.get("name", "")), "tables": report.get("tables", []), "bars": report.get("bars", []),
            "remarks": [str(one) for one in report.get("remarks", [])]}


def reports(document):
    """The reports of a document; BadResult if it holds none."""
    if isinstance(document, list):
        found = document
    elif isinstance(document, dict) and "reports" in document:
        found = document["reports"]
    elif isinstance(document, dict) and document.get("benchmark") == "kernels":
        try:
            found = [_kernels(document)]
        except (KeyError, TypeError, ValueError) as problem:
            raise BadResult(f"its JSON of kernels is of another form ({problem!r})") from problem
    elif isinstance(document, dict) and "tables" in document:
        found = [document]
    else:
        found = None
    if not isinstance(found, list) or not found:
        raise BadResult("its JSON is no report")
    return [_checked(report) for report in found]


def reports_of(record):
    """The reports of a record of the runner; none if there is no result."""
    return reports(record["result"]) if record and "result" in record else []


SETTING = ("transport", "host_core", "target_core", "core_pair", "pair", "repetitions")


def _document(record):
    """The document of a record, if it has one with names."""
    document = record.get("result") if record else None
    return document if isinstance(document, dict) else {}


def setting(record):
    """What the document of a record says of its run, as "transport shm, host core 0"; empty if nothing."""
    document = _document(record)
    return ", ".join(f"{key.replace('_', ' ')} {document[key]}" for key in SETTING if key in document)


def core_pairs(records):
    """The pairs of cores that host and target of the measurements had, each once: "0 and 1 (same L3)"."""
    documents = [one for one in map(_document, records.values()) if {"host_core", "target_core"} <= one.keys()]
    return list(dict.fromkeys(f"{one['host_core']} and {one['target_core']}" + (f" ({one['core_pair']})" if one.get("core_pair") else "")
                              for one in documents))


def made_tables(experiment, reports_of_measurement):
    """What an experiment makes of several measurements, as far as they are there."""
    return [table for table in (make(reports_of_measurement) for make in experiment.tables) if table]


def number(value):
    """A cell as a number, sizes in bytes; None for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str):
        match = SIZE.match(value)
        if match:
            return float(match.group(1)) * UNITS[match.group(2)]
        try:
            return float(value.replace(" ", ""))
        except ValueError:
            return None
    return None


def is_size(value):
    return isinstance(value, str) and SIZE.match(value) is not None


def columns(rows):
    """Names of the columns in their order."""
    found = {}
    for row in rows:
        found.update(dict.fromkeys(row))
    return list(found)


def header(column):
    """The head of a column as it is shown: quartiles follow what they are of."""
    column = re.sub(r"^(lower|upper) quartile\b.*", lambda match: "q1" if match.group(1) == "lower" else "q3", column)
    return re.sub(r"^quartile ([13])\b.*", r"q\1", column)


def find_table(found, title):
    """The first table of reports whose title matches the regular expression, or None."""
    for report in found:
        for table in report["tables"]:
            if re.search(title, table.get("title", "")):
                return table
    return None


def find_column(rows, wanted):
    """The column that is called so, or the first that matches it as a regular expression; None if there is none."""
    names = columns(rows)
    if wanted in names:
        return wanted
    return next((name for name in names if re.search(wanted, name)), None)


def number_text(value, digits=4):
    """A number with as many digits as matter: 0.0123, 4.57, 1235, 12 346 000."""
    if value is None:
        return "not known"
    if value == 0 or value != value:
        return "0" if value == 0 else "not known"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}".replace(",", " ")
    text = f"{value:.{digits}g}"
    return f"{float(text):.10f}".rstrip("0").rstrip(".") if "e" in text else text


def cell_text(value):
    """A cell as it is shown."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " .. ".join(cell_text(one) for one in value)
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def bar_texts(bar):
    """Value and limit of a bar with their unit."""
    unit = f" {bar['unit']}" if bar.get("unit") else ""
    value, limit = number(bar["value"]), number(bar["limit"])
    return "no number" if value is None else number_text(value) + unit, (bar["limit"] if limit is None else number_text(limit)) + unit


def bar_met(bar):
    """As the program judged it, or by the limit. What is no number meets nothing."""
    value = number(bar["value"])
    if value is None:
        return False
    if "met" in bar:
        return bool(bar["met"])
    return value >= bar["limit"] if bar.get("wanted") == ">=" else value <= bar["limit"]
