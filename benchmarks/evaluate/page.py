"""The page: one file of HTML with the plots inside, made of the records of the measurements and of what the papers say."""
import html
import math
import os
import re

import clock
import durations
import papers as paper_data
import points
import results
import summary

try:
    import figures
except ImportError:  # without matplotlib the page has tables only
    figures = None

STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "style.css")
WANTED = {"<=": "at most", ">=": "at least"}


def text(value):
    return html.escape(str(value), quote=True)


MAX_OPEN_ROWS = 24  # longer tables are folded
MAX_COLUMNS = 16  # more do not fit on a sheet in letters that can be read


def _is_number(value):
    return isinstance(value, (int, float, list)) and not isinstance(value, bool)


def _kind_of_column(values):
    """Numbers stand under each other at the right, and like sizes in one line."""
    there = [value for value in values if value is not None and value != "-"]
    if there and all(map(_is_number, there)):
        return ' class="number"'
    return ' class="size"' if there and all(map(results.is_size, there)) else ""


def head_html(name, kind):
    """A head, which may go on in the next line behind a sign as well."""
    return f"<th{kind}>{re.sub(r'(?<=[_/])(?=.)', '<wbr>', text(results.header(name)))}</th>"


def parts_of_columns(names):
    """Columns in parts that fit on a sheet, each with the first column; quartiles stay with what they are of."""
    first, rest = names[:1], names[1:]
    count = math.ceil(len(rest) / (MAX_COLUMNS - 1))
    begins = [at for at, name in enumerate(rest) if not re.search(r"quartile|\bq[13]\b", name)]
    if count < 2 or not begins:
        return [names]
    cuts = [0, *(min(begins, key=lambda at, wanted=len(rest) * index / count: abs(at - wanted)) for index in range(1, count)), len(rest)]
    return [first + rest[begin:end] for begin, end in zip(cuts, cuts[1:]) if begin < end]


def table_html(table, caption=None, is_open=True):
    names = results.columns(table["rows"])
    kinds = {name: _kind_of_column(row.get(name) for row in table["rows"]) for name in names}
    shown = " open" if is_open and len(table["rows"]) <= MAX_OPEN_ROWS else ""
    lines = [f"<details{shown}><summary>{text(caption or table.get('title', '') or 'table')}</summary>"]
    for part in parts_of_columns(names):
        lines += ['<div class="wide"><table>',
                  "<thead><tr>" + "".join(head_html(name, kinds[name]) for name in part) + "</tr></thead><tbody>"]
        lines += ["<tr>" + "".join(f"<td{kinds[name]}>{text(results.cell_text(row.get(name)))}</td>" for name in part) + "</tr>"
                  for row in table["rows"]]
        lines.append("</tbody></table></div>")
    return "\n".join([*lines, "</details>"])


def bar_sentence(bar):
    """A bar in plain words: what was promised, what was found."""
    value, limit = results.bar_texts(bar)
    wanted = bar.get("wanted", "<=")
    return f"{bar['name']}: {value}; wanted: {WANTED.get(wanted, wanted)} {limit}"


def bars_html(bars, count=True):
    if not bars:
        return ""
    lines = ["<h3>Bars</h3>" if count else "<h3>Bars, which do not count</h3>", "<ul>"]
    for bar in bars:
        met = results.bar_met(bar)
        lines.append(f'<li>{text(bar_sentence(bar))}: <span class="{"met" if met else "missed"}">{"met" if met else "MISSED"}</span></li>')
    return "\n".join([*lines, "</ul>"])


def paper_html(known, reference):
    paper, figure = paper_data.figure(known, reference)
    lines = [f"<h3>Paper {paper['paper']}, {text(figure['name'])} (section {text(figure['section'])}): {text(figure['title'])}</h3>"]
    if figure.get("picture"):
        lines.append(f'<p class="note">In the paper: {text(figure["picture"])}.</p>')
    for table in figure.get("tables", []):
        lines.append(table_html(table, f"paper {paper['paper']}, {figure['name']}: {table['title']}"))
    if figure.get("values"):
        rows = [{"as the text says": value["name"], "value": value["value"], "unit": value["unit"]} for value in figure["values"]]
        lines.append(table_html({"rows": rows}, f"paper {paper['paper']}, {figure['name']}: values in the text"))
    if figure.get("conditions"):
        shown = "; ".join(f"{name}: {value}" for name, value in figure["conditions"].items())
        lines.append(f'<p class="note">Measured there with {text(shown)}.</p>')
    return "\n".join(lines)


class Sources:
    """Reports of measurements and of papers by their names."""

    def __init__(self, records, known):
        self._records = records
        self._papers = known

    def reports(self, name):
        if name.startswith("paper:"):
            return [paper_data.report(self._papers, name.removeprefix("paper:"))]
        return results.reports_of(self._records.get(name))


def plot_html(plot, sources, prefix):
    found, absent = [], []
    for series in plot.series:
        one = points.of(series, sources.reports(series.source))
        (found if one else absent).append(one or series.label)
    # What is ours is what makes a plot worth its place.
    if figures is None or not any(one.role == "ours" for one in found):
        return ""
    title = plot.title + (" (emulated link)" if plot.emulated else "")
    lines = ["<figure>", f'<figcaption id="{prefix}-caption">{text(title)}</figcaption>', figures.svg(plot, found, prefix)]
    if any(one.low is not None for one in found):
        lines.append('<p class="note">Whiskers: quartiles over the repetitions.</p>')
    if absent:
        lines.append(f'<p class="note">Not in this run: {text("; ".join(absent))}.</p>')
    return "\n".join([*lines, "</figure>"])


def record_html(name, record):
    """How one measurement was made, its tables, and what became of it if not what was hoped for."""
    if record is None:
        return f'<p class="absent">{text(name)}: not measured: not asked for so far</p>'
    if record["status"] == "not measured":
        return (f'<p class="absent">{text(name)}: not measured: {text(record["reason"])}<br>'
                f'command: <code>{text(record["command"])}</code></p>')
    lines = []
    if record["status"] == "failed":
        lines.append(f'<p class="problem"><span class="missed">{text(name)} FAILED</span>: {text(record["reason"])}</p>')
        shown = record.get("errors", "").strip() or record.get("output", "").strip()
        if shown:
            lines.append(f"<pre>{text(shown[-1500:])}</pre>")
    if record.get("earlier"):
        lines.append(f'<p class="absent"><span class="missed">{text(name)}: {summary.EARLIER}</span>: its programs, or what they use, have changed '
                     "since; the next run measures it again</p>")
    if record["status"] == "stopped":
        lines.append(f'<p class="absent"><span class="missed">{text(name)} STOPPED</span>: {text(record["reason"])}</p>')
    kind = '<span class="emulated">emulated link</span>, ' if record.get("emulated") else ""
    lines.append(f'<p class="note">{kind}<code>{text(record["command"])}</code>, {text(record["date"])}, revision '
                 f'{text(record["revision"] or "unknown")}, {text(record.get("seconds", "?"))} s, load '
                 f'{text(" ".join(str(value) for value in record["machine"].get("load", [])))}, '
                 f'<code>data/{text(name)}.json</code> beside this page</p>')
    if record.get("clock"):
        lines.append(f'<p class="note">{text(clock.text(record["clock"]))}</p>')
    if "result" not in record:
        return "\n".join(lines)
    setting = results.setting(record)
    if setting:
        lines.append(f'<p class="note">{text(setting)}</p>')
    for report in results.reports(record["result"]):
        lines += [table_html(table) for table in report["tables"] if table["rows"]]
        lines += [f'<p class="note">{text(remark)}</p>' for remark in report["remarks"]]
        lines.append(bars_html(report["bars"], summary.counts(record)))
    return "\n".join(line for line in lines if line)


def experiment_html(experiment, records, known, shown):
    """shown: of each measurement the experiment that has its tables; a measurement that several share is printed once."""
    sources = Sources(records, known)
    emulated = f' <span class="emulated">({text(experiment.emulated)})</span>' if experiment.emulated else ""
    lines = [f'<section id="{text(experiment.name)}">', f"<h2>{text(experiment.title)}{emulated}</h2>", f"<p>{text(experiment.about)}</p>"]
    earlier = [name for name in summary.earlier_ones(records) if name in experiment.measurements]
    if earlier:
        lines.append(f'<p class="absent"><span class="missed">Of an earlier build</span>, in plots and tables of this section: '
                     f'{text(", ".join(earlier))}</p>')
    if experiment.differs:
        lines.append(f"<p><b>Differs from the paper:</b> {text(experiment.differs)}</p>")
    plots = [plot_html(plot, sources, f"{experiment.name}-{index}") for index, plot in enumerate(experiment.plots)]
    if any(plots):
        lines += ['<div class="plots">', *[plot for plot in plots if plot], "</div>"]
    lines += [paper_html(known, reference) for reference in experiment.paper]
    lines.append("<h3>Measured here</h3>")
    lines += [table_html(table) for table in results.made_tables(experiment, sources.reports)]
    for name in experiment.measurements:
        first = shown.setdefault(name, experiment)
        if first is experiment:
            lines.append(record_html(name, records.get(name)))
        else:
            lines.append(f'<p class="note">{text(name)}: in the section <a href="#{text(first.name)}">{text(first.title)}</a></p>')
    return "\n".join([*lines, "</section>"])


def machine_html(described, records):
    lines = ["<dl>"]
    for name, value in {**described, **summary.of_machine(records)}.items():
        shown = "; ".join(str(one) for one in value) if isinstance(value, list) else value
        lines.append(f"<dt>{text(name)}</dt><dd>{text(shown)}</dd>")
    return "\n".join([*lines, "</dl>"])


def durations_html(records, described, runs):
    """How long what is shown took to measure, and what make evaluate took altogether."""
    seconds, each = durations.of_measurements(records)
    of_runs = [table_html(one) for one in durations.tables(runs, described)]
    if not each["rows"]:
        return of_runs
    return [f"<p>The measurements of this page took {text(durations.text(seconds))} together.</p>", *of_runs, table_html(each, is_open=False)]


def summary_html(experiments, records, described, runs):
    measured = {name for name, record in records.items() if record and record["status"] == "measured"}
    failed = [name for name, record in records.items() if record and record["status"] == "failed"]
    bars = list(summary.all_bars(records))
    missed = [(name, bar) for name, bar in bars if not results.bar_met(bar)]
    lines = [f"<p>{len(measured)} of {len(records)} measurements are there. {len(bars)} bars: {len(bars) - len(missed)} met, "
             f"{len(missed)} <span class=\"missed\">MISSED</span>.</p>"]
    earlier = summary.earlier_ones(records)
    if earlier:
        lines.append(f'<p class="absent"><span class="missed">Of an earlier build</span>, and their bars are not counted: {text(", ".join(earlier))}</p>')
    if failed:
        lines.append(f'<p class="problem">Failed: {text(", ".join(failed))}</p>')
    stopped = [name for name, record in records.items() if record and record["status"] == "stopped"]
    if stopped:
        lines.append(f'<p class="absent">Measured in part, without a count of bars: {text(", ".join(stopped))}</p>')
    absent = [(name, record["reason"] if record else "not asked for so far") for name, record in records.items()
              if not record or record["status"] == "not measured"]
    if absent:
        lines.append('<p class="absent">Not measured: '
                     + "; ".join(f'<span>{text(name)}: {text(reason)}</span>' for name, reason in absent) + "</p>")
    if missed:
        lines += ["<details><summary>Missed bars</summary><ul>",
                  *[f"<li>{text(name)}: {text(bar_sentence(bar))}</li>" for name, bar in missed], "</ul></details>"]
    short = summary.table(lambda name: results.reports_of(records.get(name)), earlier)
    if short:
        lines.append(table_html(short))
    lines += durations_html(records, described, runs)
    lines += ["<nav><ul>", *[f'<li><a href="#{text(one.name)}">{text(one.title)}{f" ({text(one.emulated)})" if one.emulated else ""}</a></li>'
                             for one in experiments], "</ul></nav>"]
    return "\n".join(lines)


def written(experiments, records, known, described, runs=()):
    """The whole page. records: of each measurement its record or None; runs: of make evaluate, as durations.read() gives them."""
    with open(STYLE, encoding="utf-8") as file:
        style = file.read()
    shown = {}
    revisions = summary.revisions(records)
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">', "<title>HAM: evaluation</title>",
        f"<style>\n{style}</style></head><body>", "<h1>HAM: the papers' evaluations, repeated here</h1>",
        "<p>Each section has what was measured here, the command, what a paper says of it where it is from one, and the bars that HAM is "
        "held against, where there are some. Where there is a floor, a bare exchange or copy of the same bytes over the same medium, it was "
        "measured in the same run. Times of other machines compare through ratios to the floor at best. "
        "What goes over an emulated link says so in its title. Values are medians; q1 and q3 are the quartiles of what stands before "
        "them, \"quartiles\" those of the ratio.</p>",
        summary_html(experiments, records, described, runs), "<h2>Machine</h2>", machine_html(described, records),
        f'<p class="note">Source: revision {text(revisions or "unknown")}.'
        + ("" if figures else " matplotlib was missing when this page was written: it has no plots.") + "</p>",
        *[experiment_html(one, records, known, shown) for one in experiments], "</body></html>", ""])
