"""What a reader of the page must see, from the results alone: titles and tables of each experiment, and of each plot its title, the labels
of its axes with their units, the names of its series, and the values beside its bars."""
import dataclasses

import papers
import points
import results
import summary

# How a plot's legend says of single values what they are.
ROLES = {"ours": "HAM", "floor": "floor", "paper": "paper", "peer": "other"}


@dataclasses.dataclass
class Shown:
    """headings, tables: texts of elements of the page. plots: pairs of a title and the texts in the plot."""

    headings: list
    tables: list
    plots: list


def _name(x):
    return x if isinstance(x, str) else results.number_text(x)


def _texts(plot, found):
    labels = [one.label for one in found]
    if plot.kind in ("lines", "roofline"):
        drawn = [one.label for one in found if one.role not in ("peak", "bandwidth")]
        roofs = [f"{one.label}:" for one in found if one.role == "peak"] if any(one.role == "bandwidth" for one in found) else []
        return [plot.x_label, plot.y_label, *drawn, *roofs]
    if plot.kind == "values":
        return [plot.y_label, *labels, *(ROLES[one.role] for one in found), *(results.number_text(one.y[0], 3) for one in found)]
    names = [_name(x) for one in found for x in one.x]
    if plot.kind == "stack":
        return [plot.y_label, *labels, *names]
    return [plot.y_label, *labels, *names, *(results.number_text(y, 3) for one in found for y in one.y)]


def _plot(plot, reports_of):
    found = [one for one in (points.of(series, reports_of(series.source)) for series in plot.series) if one]
    if not any(one.role == "ours" for one in found):
        return None
    return plot.title + (" (emulated link)" if plot.emulated else ""), [one for one in dict.fromkeys(_texts(plot, found)) if one]


def _of_paper(known, reference, into):
    paper, figure = papers.figure(known, reference)
    name = f"{paper['paper']}, {figure['name']}"
    into.headings.append(f"Paper {name} (section {figure['section']}): {figure['title']}")
    into.tables += [f"paper {name}: {table['title']}" for table in figure.get("tables", [])]
    if figure.get("values"):
        into.tables.append(f"paper {name}: values in the text")


def of(experiments, records, known):
    """records: of each measurement its record or None."""
    def reports_of(name):
        return [papers.report(known, name[6:])] if name.startswith("paper:") else results.reports_of(records.get(name))

    short = summary.table(reports_of)
    shown = Shown([], [short["title"]] if short else [], [])
    for one in experiments:
        shown.headings.append(one.title + (f" ({one.emulated})" if one.emulated else ""))
        shown.plots += [plot for plot in (_plot(plot, reports_of) for plot in one.plots) if plot]
        for reference in one.paper:
            _of_paper(known, reference, shown)
        shown.tables += [table["title"] for table in results.made_tables(one, reports_of)]
    for name in dict.fromkeys(name for one in experiments for name in one.measurements):
        shown.tables += [table.get("title") or "table" for report in reports_of(name) for table in report["tables"] if table["rows"]]
    return shown


def _words(text):
    return " ".join(str(text).split())


def _absent(wanted, texts):
    """Those of the wanted texts that are not there, as often as they are wanted. A long one may stand in several lines."""
    left, missing = list(texts), []
    joined = " ".join(texts)
    for one in map(_words, wanted):
        if one in left:
            left.remove(one)
        elif not (one.endswith(":") and any(text.startswith(one) for text in left)) and not (len(one) > 26 and one in joined):
            missing.append(one)
    return missing


def missing(shown, found):
    """What of it is not among the elements that a browser has found visible."""
    def full_texts(*kinds):
        return [_words(one["full"]) for one in found["blocks"] if one["kind"] in kinds]

    lost = _absent(shown.headings, full_texts("H2", "H3")) + _absent(shown.tables, full_texts("SUMMARY"))
    plots = [(_words(one["caption"] or ""), [_words(text["full"]) for text in one["texts"]]) for one in found["plots"]]
    captions = full_texts("FIGCAPTION")
    for title, texts in shown.plots:
        there = next((one for one in plots if one[0] == _words(title)), None)
        if there is None or _words(title) not in captions:
            lost.append(title)
            continue
        plots.remove(there)
        lost += [f"{title}: {one}" for one in _absent(texts, there[1])]
    return lost
