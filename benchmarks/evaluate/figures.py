"""Plots as inline SVG: text stays text, colours are variables of the page, ids are of one plot alone."""
import dataclasses
import io
import itertools
import math
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib import ticker  # noqa: E402

from points import size_text  # noqa: E402
from results import number_text  # noqa: E402

WIDTH_PT = 360  # as wide as a phone's page, so that text keeps its size there
FONT_PT = 9
# Colours that stand for variables of the page's style until the picture is written.
INK, GRID = "#010101", "#020202"
SERIES = [f"#0303{index:02x}" for index in range(8)]
MARKERS = "osD^vP*X"
VARIABLES = {INK: "var(--ink)", GRID: "var(--grid)", **{colour: f"var(--s{index})" for index, colour in enumerate(SERIES)}}
STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "ham", "font.size": FONT_PT, "font.family": "DejaVu Sans",
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "text.color": INK,
    "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK, "grid.color": GRID,
    "axes.labelsize": FONT_PT, "legend.fontsize": FONT_PT, "xtick.labelsize": FONT_PT, "ytick.labelsize": FONT_PT,
    "axes.spines.top": False, "axes.spines.right": False, "lines.markersize": 4, "axes.unicode_minus": False,
}
LINES = {"ours": "-", "floor": ":", "paper": "--", "peer": "-.", "level": "--"}
ROLES = {"ours": "HAM", "floor": "floor", "paper": "paper", "peer": "other"}
MAX_X_LABELS = 6
MAX_LABEL_CHARACTERS = 26


def _wrapped(text, width=MAX_LABEL_CHARACTERS):
    """Text in lines of at most that many characters, broken at spaces."""
    lines = [""]
    for word in str(text).split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def _finish_number_axis(axis, logarithmic, values):
    axis.set_minor_formatter(ticker.NullFormatter())
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: number_text(value)))
    if not logarithmic:
        axis.set_major_locator(ticker.MaxNLocator(5))
        return
    positive = [value for value in values if value > 0]
    decades = math.log10(max(positive) / min(positive)) if positive else 0
    if decades < 2.2:
        axis.set_major_locator(ticker.LogLocator(base=10, subs=(1, 2, 5) if decades < 1.2 else (1, 3), numticks=8))
    else:
        axis.set_major_locator(ticker.LogLocator(base=10, numticks=7))


def _finish_x_axis(axes, all_points, logarithmic):
    values = sorted({x for points in all_points for x in points.x})
    if any(points.sizes for points in all_points):
        axes.set_xscale("log", base=2)
        chosen = values[:: max(1, math.ceil(len(values) / MAX_X_LABELS))]
        axes.xaxis.set_major_locator(ticker.FixedLocator(chosen))
        axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: size_text(value)))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
    elif logarithmic and values[0] > 0 and values[-1] / values[0] >= 16:
        axes.set_xscale("log")
        _finish_number_axis(axes.xaxis, True, values)
    else:
        if all(value == int(value) for value in values) and len(values) <= 2 * MAX_X_LABELS:
            axes.xaxis.set_major_locator(ticker.FixedLocator(values[:: math.ceil(len(values) / MAX_X_LABELS)]))
        else:
            axes.xaxis.set_major_locator(ticker.MaxNLocator(MAX_X_LABELS - 1))
        axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: number_text(value)))


def _spread(points):
    if points.low is None:
        return None
    return [[max(0, y - low) for y, low in zip(points.y, points.low)], [max(0, high - y) for y, high in zip(points.y, points.high)]]


def _lines(axes, plot, all_points):
    for index, points in enumerate(all_points):
        colour = SERIES[index % len(SERIES)]
        if points.role == "level":
            axes.axhline(max(points.y), color=colour, linestyle="--", linewidth=1, label=points.label)
            continue
        order = sorted(range(len(points.x)), key=lambda at, points=points: points.x[at])
        spread = _spread(points)
        axes.errorbar([points.x[at] for at in order], [points.y[at] for at in order],
                      yerr=spread and [[side[at] for at in order] for side in spread], color=colour, label=points.label,
                      linestyle=LINES[points.role], linewidth=1.2, marker=MARKERS[index % len(MARKERS)],
                      markerfacecolor="none" if points.role in ("paper", "floor") else colour, elinewidth=0.8, capsize=2)
    curves = [points for points in all_points if points.role != "level"]
    _finish_x_axis(axes, curves, plot.log_x)
    heights = [y for points in all_points for y in points.y]
    if plot.log_y and min(heights) > 0:
        axes.set_yscale("log")
        _finish_number_axis(axes.yaxis, True, heights)
    else:
        axes.set_ylim(bottom=0)
        _finish_number_axis(axes.yaxis, False, heights)
    axes.grid(True, linewidth=0.5)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)


def _name(x):
    return x if isinstance(x, str) else number_text(x)


def _categories(all_points):
    return list(dict.fromkeys(_name(x) for points in all_points for x in points.x))


def _colour(plot, points, index):
    """In a plot of single values the colour says what a bar is, elsewhere which series."""
    return SERIES[list(ROLES).index(points.role) if plot.kind == "values" else index % len(SERIES)]


def _single_values(all_points):
    """The first value of each series, under its name."""
    return [dataclasses.replace(points, x=[points.label], y=points.y[:1], low=points.low and points.low[:1],
                                high=points.high and points.high[:1]) for points in all_points]


def _slots(all_points):
    """Names of the rows; for each of them the series that have a bar there."""
    found = {}
    for index, points in enumerate(all_points):
        for x in points.x:
            found.setdefault(_name(x), []).append(index)
    return found


def _finish_rows(axes, plot, names):
    axes.set_yticks(range(len(names)), [_wrapped(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel(plot.y_label)


def _bars(axes, plot, all_points):
    """Horizontal, because the names of what is compared are long. Each bar has its value beside it."""
    slots = _slots(all_points)
    names = list(slots)
    largest = max(max(points.high or points.y) for points in all_points)
    smallest = min(min(points.y) for points in all_points)
    least = min(0, *(min(points.low or points.y) for points in all_points))  # a difference may be below zero
    logarithmic = plot.log_y and smallest > 0
    left = 10 ** math.floor(math.log10(smallest / 2)) if logarithmic else 0
    for index, points in enumerate(all_points):
        rows = [_name(x) for x in points.x]
        heights = [0.8 / len(slots[row]) for row in rows]
        at = [names.index(row) - 0.4 + height * (slots[row].index(index) + 0.5) for row, height in zip(rows, heights)]
        axes.barh(at, [y - left for y in points.y], left=left, height=[0.9 * height for height in heights], label=points.label,
                  color=_colour(plot, points, index), alpha=0.45 if points.role == "paper" else 1, xerr=_spread(points),
                  error_kw={"ecolor": INK, "elinewidth": 0.8})
        for row, y, high in zip(at, points.y, points.high or points.y):
            axes.annotate(number_text(y, 3), (max(y, high) if logarithmic else max(y, high, 0), row), xytext=(4, 0),
                          textcoords="offset points", va="center", fontsize=FONT_PT - 1)
    if logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(left, largest * (largest / left) ** 0.22)
    else:
        axes.set_xlim(1.2 * least, (max(largest, 0) or 1) * 1.2)
    _finish_number_axis(axes.xaxis, logarithmic, [left or smallest, largest])
    _finish_rows(axes, plot, names)


def _stack(axes, plot, all_points):
    names = _categories(all_points)
    begin = dict.fromkeys(names, 0.0)
    for index, points in enumerate(one for one in all_points if one.role != "total"):
        left = [begin[_name(x)] for x in points.x]
        axes.barh([names.index(_name(x)) for x in points.x], points.y, left=left, height=0.6, label=points.label,
                  color=SERIES[index % len(SERIES)])
        for x, y in zip(points.x, points.y):
            begin[_name(x)] += y
    # Medians of parts need not add up to the median of the whole: that is shown as it was measured.
    end = {name: (sum_of_parts, sum_of_parts) for name, sum_of_parts in begin.items()}
    for points in (one for one in all_points if one.role == "total"):
        axes.errorbar(points.y, [names.index(_name(x)) for x in points.x], xerr=_spread(points), color=INK, label=points.label,
                      linestyle="none", marker="|", markersize=9, elinewidth=0.8, capsize=2)
        end.update({_name(x): (y, max(high, begin[_name(x)])) for x, y, high in zip(points.x, points.y, points.high or points.y)})
    for row, name in enumerate(names):
        axes.annotate(number_text(end[name][0], 3), (max(end[name]), row), xytext=(4, 0), textcoords="offset points", va="center",
                      fontsize=FONT_PT - 1)
    largest = max(max(both) for both in end.values())
    axes.set_xlim(0, largest * 1.2)
    _finish_number_axis(axes.xaxis, False, [largest])
    _finish_rows(axes, plot, names)


def _roofline(axes, plot, all_points):
    """Points under what the machine's arithmetic and its memory allow; series of the roles peak and bandwidth say how much. Each
    peak is a roof of its own."""
    bandwidth = max((y for points in all_points if points.role == "bandwidth" for y in points.y), default=None)
    peaks = [(points.label, max(points.y)) for points in all_points if points.role == "peak"] if bandwidth else []
    kernels = [points for points in all_points if points.role not in ("peak", "bandwidth")]
    xs = [*(x for points in kernels for x in points.x), *(peak / bandwidth for _, peak in peaks)]
    for (name, peak), line in zip(peaks, itertools.cycle(("-", "--", ":"))):
        left, right = min(xs) / 4, max(xs) * 4
        label = f"{name}: {number_text(peak, 3)} Gflop/s, {number_text(bandwidth, 3)} GB/s"
        axes.plot([left, peak / bandwidth, right], [left * bandwidth, peak, peak], color=INK, linewidth=1.2, linestyle=line,
                  label=label)
    for index, points in enumerate(kernels):
        axes.errorbar(points.x, points.y, yerr=_spread(points), linestyle="none", marker=MARKERS[index % len(MARKERS)], markersize=6,
                      color=SERIES[index % len(SERIES)], label=points.label, elinewidth=0.8, capsize=2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    _finish_number_axis(axes.xaxis, True, axes.get_xlim())
    _finish_number_axis(axes.yaxis, True, axes.get_ylim())
    axes.grid(True, linewidth=0.5)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)


KINDS = {"lines": _lines, "bars": _bars, "values": _bars, "stack": _stack, "roofline": _roofline}


def _height_of_bars_pt(plot, all_points):
    """Every name has room for its lines, and every bar for its value."""
    names = _categories(all_points)
    lines = max(_wrapped(name).count("\n") + 1 for name in names)
    bars = 1 if plot.kind == "stack" else max(len(series) for series in _slots(all_points).values())
    return 60 + len(names) * max(1.5 * FONT_PT * lines, 1.5 * FONT_PT * bars, 18)


def _legend(figure, axes, plot, all_points):
    """Under the axes, in as many columns as fit; the axes give way to it."""
    handles, labels = axes.get_legend_handles_labels()
    if plot.kind == "values":
        by_role = {points.role: handle for points, handle in zip(all_points, handles)}
        handles, labels = list(by_role.values()), [ROLES[role] for role in by_role]
    renderer = figure.canvas.get_renderer()
    for count in (3, 2, 1):
        legend = figure.legend(handles, [_wrapped(label, 60) for label in labels], loc="lower left", ncol=count, frameon=False,
                               borderaxespad=0.2, handlelength=2.2, columnspacing=1.2)
        box = legend.get_window_extent(renderer)
        if box.width <= figure.bbox.width or count == 1:
            return box.height / figure.dpi * 72
        legend.remove()
    return 0


def _thin_x_labels(figure, axes):
    """Leaves out every other tick of the x axis until labels have room between them, also in a wider font of the browser."""
    renderer = figure.canvas.get_renderer()
    left, right = axes.get_xlim()
    while True:
        figure.draw_without_rendering()
        ticks = [at for at in axes.xaxis.get_majorticklocs() if left <= at <= right]
        boxes = [one.get_window_extent(renderer) for one in axes.get_xticklabels() if one.get_text() and left <= one.get_position()[0] <= right]
        if len(ticks) < 3 or all(other.x0 - one.x1 >= 1.5 * FONT_PT for one, other in zip(boxes, boxes[1:])):
            return
        axes.xaxis.set_major_locator(ticker.FixedLocator(ticks[::2]))


def _with_page_variables(text, prefix):
    text = text[text.index("<svg"):]
    text = re.sub(r"<(metadata|style)\b.*?</\1>\s*", "", text, flags=re.S)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r"url\(#", f"url(#{prefix}-", text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    text = text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, variable)
    return text


def svg(plot, all_points, prefix):
    """The plot as an element <svg>; its ids begin with prefix. At least one of the points must be there."""
    if plot.kind == "values":
        all_points = _single_values(all_points)
    with plt.rc_context(STYLE):
        height_pt = 250 if plot.kind in ("lines", "roofline") else _height_of_bars_pt(plot, all_points)
        figure, axes = plt.subplots(figsize=(WIDTH_PT / 72, height_pt / 72), dpi=72)
        try:
            KINDS[plot.kind](axes, plot, all_points)
            legend_pt = _legend(figure, axes, plot, all_points) + 6
            figure.set_size_inches(WIDTH_PT / 72, (height_pt + legend_pt) / 72)
            figure.tight_layout(pad=0.4, rect=(0, legend_pt / (height_pt + legend_pt), 1, 1))
            _thin_x_labels(figure, axes)
            written = io.StringIO()
            figure.savefig(written, format="svg", metadata={"Date": None})
        finally:
            plt.close(figure)
    text = _with_page_variables(written.getvalue(), prefix)
    box = re.search(r'viewBox="[^"]*"', text).group(0)
    return re.sub(r"<svg[^>]*>", f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box} '
                  f'class="plot" role="img" aria-labelledby="{prefix}-caption">', text, count=1)
