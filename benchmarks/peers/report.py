"""A report of tables, bars and remarks: as text, or as the JSON that ham-bench prints too."""
import json
import os
import platform
import statistics
import time


def quartiles(values):
    """Lower quartile, median, upper quartile."""
    if len(values) < 2:
        return (values[0],) * 3
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def quartile_text(values, digits=4):
    """As the columns of quartiles have it."""
    low, _, high = quartiles(values)
    return f"{low:.{digits}g}..{high:.{digits}g}"


def objects(text):
    """The objects of JSON in a program's output, each in a line of its own. Other lines, and what is cut off, are left out."""
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                pass
    return found


def bar(name, value, wanted, limit, unit=""):
    """A promise and what was found. What could not be measured, None, meets nothing."""
    met = value is not None and (value <= limit if wanted == "<=" else value >= limit)
    return {"name": name, "value": value, "wanted": wanted, "limit": limit, "unit": unit, "met": met}


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)


def print_table(table):
    print(f"\n{table['title']}")
    if not table["rows"]:
        return
    columns = list(table["rows"][0])
    lines = [columns] + [[shown(row.get(column)) for column in columns] for row in table["rows"]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def print_report(report, as_json):
    if as_json:
        print(json.dumps(report, indent=2))
        return
    for table in report["tables"]:
        print_table(table)
    print()
    for one in report["bars"]:
        verdict = "ok" if one["met"] else "MISSED"
        print(f"{one['name']}: {shown(one['value'])} {one['wanted']} {one['limit']} {one['unit']}".rstrip() + f": {verdict}")
    for remark in report["remarks"]:
        print(f"# {remark}")


def machine():
    """What kind of machine this is, in a few words."""
    model, virtual = platform.machine(), False
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            key, _, value = line.partition(":")
            key = key.strip()
            if key == "model name":
                model = value.strip()
            virtual = virtual or key == "flags" and "hypervisor" in value.split()
    system = "Linux"
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", system)
    except OSError:
        pass
    kind = "virtual machine" if virtual else "machine"
    return f"{kind} with {os.cpu_count()} cores, {model}, {system}, Linux {platform.release()}"


def today():
    return time.strftime("%Y-%m-%d")
