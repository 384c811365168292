"""The results as Markdown, for the reference page of docs/evaluation.md."""
import re

import durations
import papers
import results
import summary


def _text(value):
    """In one line, and never an element of HTML."""
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\<", " ".join(str(value).split()))


def _cell(value):
    return _text(results.cell_text(value)).replace("|", "\\|")


def table(rows):
    names = results.columns(rows)
    lines = ["| " + " | ".join(_cell(results.header(name)) for name in names) + " |", "|" + " --- |" * len(names)]
    return lines + ["| " + " | ".join(_cell(row.get(name)) for name in names) + " |" for row in rows]


def _bar(bar):
    value, limit = results.bar_texts(bar)
    return f"- {bar['name']}: {value}, wanted {bar.get('wanted', '<=')} {limit}: " + ("met" if results.bar_met(bar) else "MISSED")


def _measurement(name, record):
    if record is None or record["status"] == "not measured":
        return [f"{name}: not measured: {record['reason'] if record else 'not asked for'}.", ""]
    setting = results.setting(record)
    lines = [f"`{record['command']}`" + (" (emulated link)" if record.get("emulated") else "") + (f", {setting}" if setting else ""), ""]
    if record.get("earlier"):
        lines += [f"{name}: {summary.EARLIER}; its bars do not count.", ""]
    if record["status"] in ("failed", "stopped"):
        lines += [f"{record['status'].upper()}: {record['reason']}.", ""]
    if "result" not in record:
        return lines
    for report in results.reports(record["result"]):
        for one in report["tables"]:
            if one["rows"]:
                lines += [f"{one.get('title', '')}:", "", *table(one["rows"]), ""]
        lines += [f"- Note: {_text(remark)}" for remark in report["remarks"]] + ([""] if report["remarks"] else [])
        lines += [_bar(bar) for bar in report["bars"]] + ([""] if report["bars"] else [])
    return lines


def _paper(known, reference):
    """What a paper says, in a line; and its tables."""
    paper, figure = papers.figure(known, reference)
    said = [f"In the paper: {figure['picture']}."] if figure.get("picture") else []
    if figure.get("values"):
        said.append("; ".join(f"{one['name']}: {results.number_text(one['value'])} {one['unit']}" for one in figure["values"]) + ".")
    if figure.get("conditions"):
        said.append("Measured there with " + "; ".join(f"{name}: {value}" for name, value in figure["conditions"].items()) + ".")
    name = f"Paper {paper['paper']}, {figure['name']}"
    lines = [_text(" ".join([f"{name} (section {figure['section']}): {figure['title']}.", *said])), ""]
    for one in figure.get("tables", []):
        lines += [f"{name}: {one['title']}:", "", *table(one["rows"]), ""]
    return lines


def _short(records):
    """What a reader wants first: some figures, and what is missed."""
    bars = list(summary.all_bars(records))
    missed = [(name, bar) for name, bar in bars if not results.bar_met(bar)]
    earlier = summary.earlier_ones(records)
    short = summary.table(lambda name: results.reports_of(records.get(name)), earlier)
    lines = ["### In short", ""] + ([*table(short["rows"]), ""] if short else [])
    if earlier:
        lines += [f"{summary.EARLIER.capitalize()}, and their bars are not counted: {', '.join(earlier)}.", ""]
    lines += [f"{len(bars)} bars: {len(bars) - len(missed)} met, {len(missed)} MISSED" + (":" if missed else "."), ""]
    return lines + [f"- {name}: {_bar(bar).removeprefix('- ')}" for name, bar in missed] + ([""] if missed else [])


def _durations(records, described, runs):
    seconds, each = durations.of_measurements(records)
    lines = [f"The measurements took {durations.text(seconds)} together.", ""] if each["rows"] else []
    for one in (*durations.tables(runs, described), *([each] if each["rows"] else [])):
        lines += [f"{one['title']}:", "", *table(one["rows"]), ""]
    return lines


def written(experiments, records, known, described, runs=()):
    """All results, beside what the papers say. A measurement that several experiments share is printed with the first of them."""
    lines = ["## Reference results", ""]
    for name, value in {**described, **summary.of_machine(records)}.items():
        lines.append(f"- {name}: {'; '.join(str(one) for one in value) if isinstance(value, list) else value}")
    dates = sorted({record["date"][:10] for record in records.values() if record and record["status"] == "measured"})
    lines += [f"- revision: {summary.revisions(records)}", f"- measured: {', '.join(dates)}", ""]
    lines += _short(records)
    lines += _durations(records, described, runs)
    printed = {}
    for one in experiments:
        lines += [f"### {one.title}" + (f" ({one.emulated})" if one.emulated else ""), ""]
        for reference in one.paper:
            lines += _paper(known, reference)
        for made in results.made_tables(one, lambda name: results.reports_of(records.get(name))):
            lines += [f"{made['title']}:", "", *table(made["rows"]), ""]
        for name in one.measurements:
            if name in printed:
                lines += [f"{name}: see {printed[name]}.", ""]
            else:
                printed[name] = one.title
                lines += _measurement(name, records.get(name))
    return "\n".join(lines).rstrip() + "\n"
