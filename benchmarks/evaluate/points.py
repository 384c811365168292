"""From reports to the points of a plot."""
import dataclasses
import re

import results


@dataclasses.dataclass
class Points:
    """One line, or one group of bars. x are numbers or texts; low and high are None or as long as y."""

    label: str
    role: str
    x: list
    y: list
    low: list | None = None
    high: list | None = None
    sizes: bool = False  # x are bytes


def kept(row, where):
    return all(re.search(expression, str(row.get(column, ""))) for column, expression in where)


def largest(rows, column):
    """The rows with the largest number in this column; none if it is not there."""
    name = results.find_column(rows, column)
    most = max((results.number(row.get(name)) for row in rows if results.number(row.get(name)) is not None), default=None)
    return [row for row in rows if most is not None and results.number(row.get(name)) == most]


def quartiles(row, low, high):
    """The two of a row, from two columns or from one that has both as a pair or as "1.2..3.4"; None if they are not there."""
    if low != high:
        found = [results.number(row.get(low)), results.number(row.get(high))]
    else:
        cell = row.get(low)
        found = [results.number(one) for one in (cell.split("..") if isinstance(cell, str) else cell or [])]
    return found if len(found) == 2 and None not in found else None


def _gib_per_s(row, microseconds):
    size = results.number(row.get("bytes"))
    return size / (1 << 30) / (microseconds * 1e-6) if size and microseconds > 0 else None


def of(series, found):
    """Points of a series in reports; None if they do not have them. Cells that are no numbers are left out."""
    table = results.find_table(found, series.table)
    if not table or not table["rows"]:
        return None
    rows = [row for row in table["rows"] if kept(row, series.where)]
    if series.most:
        rows = largest(rows, series.most)
    names = results.columns(table["rows"])
    x_name = results.find_column(table["rows"], series.x) if series.x else names[0]
    y_name = results.find_column(table["rows"], series.y)
    if x_name is None or y_name is None:
        return None
    low, high = (results.find_column(table["rows"], name) if name else None for name in (series.low, series.high or series.low))

    def shown(row, value):
        return _gib_per_s(row, value) if series.bandwidth else value * series.scale

    points = Points(series.label, series.role, [], [], [] if low and high else None, [] if low and high else None)
    for row in rows:
        y = results.number(row.get(y_name))
        x = results.number(row.get(x_name))
        if y is None or row.get(x_name) is None or shown(row, y) is None or (series.inverse_x and not x):
            continue
        points.sizes = points.sizes or results.is_size(row[x_name])
        points.x.append(row[x_name] if x is None else 1 / x if series.inverse_x else x)
        points.y.append(shown(row, y))
        if points.low is not None:
            ends = sorted(shown(row, value) for value in quartiles(row, low, high) or (y, y))
            points.low.append(ends[0])
            points.high.append(ends[1])
    return points if points.y else None


def size_text(value):
    """Bytes as 8 B, 4 KiB, 64 MiB."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"
