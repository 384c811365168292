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


def _kept(row, where):
    return all(re.search(expression, str(row.get(column, ""))) for column, expression in where)


def of(series, found):
    """Points of a series in reports; None if they do not have them. Cells that are no numbers are left out."""
    table = results.find_table(found, series.table)
    if not table or not table["rows"]:
        return None
    rows = [row for row in table["rows"] if _kept(row, series.where)]
    names = results.columns(table["rows"])
    x_name = results.find_column(table["rows"], series.x) if series.x else names[0]
    y_name = results.find_column(table["rows"], series.y)
    if x_name is None or y_name is None:
        return None
    spread = [results.find_column(table["rows"], name) if name else None for name in (series.low, series.high)]
    points = Points(series.label, series.role, [], [], [] if all(spread) else None, [] if all(spread) else None)
    for row in rows:
        y = results.number(row.get(y_name))
        if y is None or row.get(x_name) is None:
            continue
        x = results.number(row[x_name])
        if series.inverse_x:
            if not x:
                continue
            x = 1 / x
        points.sizes = points.sizes or results.is_size(row[x_name])
        points.x.append(row[x_name] if x is None else x)
        points.y.append(y * series.scale)
        if points.low is not None:
            for values, name in zip((points.low, points.high), spread):
                value = results.number(row.get(name))
                values.append((y if value is None else value) * series.scale)
    return points if points.y else None


def size_text(value):
    """Bytes as 8 B, 4 KiB, 64 MiB."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"
