"""Table V of paper 4 for this machine: what bounds a kernel, by its bytes per flop."""
import points
import results

COMPUTATION, MEMORY, LLC = "computation-bound", "memory-bound", "LLC-bound"
ABOVE = "above the roof: its data stay in the last-level cache, or the bandwidth has changed since it was measured"
# Who does as much of the peak does not wait for a cache.
NEAR_PEAK = 0.8
TITLE = ("what bounds each kernel on most targets, as Table V of the paper defines it; memory B/F, LLC B/F: bandwidth of Triad from memory, from "
         "the last-level cache / measured peak of that precision; minimum B/F: each value passes the memory once")

IN_PART = "; STREAM's arrays are less than four times the last-level cache: what is called memory here may be the cache in part"


def bound(code, minimum, memory, of_the_peak, cache=None):
    """The class of a kernel. Its actual B/F lies between the minimum and that of the code, which is None where it is not known;
    `cache`, None if it was not measured, is the B/F of the last-level cache."""
    fits_cache = code is not None and cache is not None and code <= cache
    if minimum > memory:
        # Equations 1 and 2 of the paper: the cache, which is faster than memory, is no bound if it gets no more requests.
        return MEMORY if fits_cache or (code is not None and code <= minimum) else f"{MEMORY} or {LLC}"
    if of_the_peak >= NEAR_PEAK or (code is not None and code < memory):
        return COMPUTATION
    if code is None:
        return f"{COMPUTATION} or {LLC}"
    if cache is None:
        return "not decided by these figures"
    return f"{COMPUTATION} or {MEMORY}" if fits_cache else f"{MEMORY} or {LLC}"


def _most(reports, table, where=()):
    """The row of a table with the most targets; None if there is none."""
    found = results.find_table(reports, table)
    rows = points.largest([row for row in found["rows"] if points.kept(row, where)], "targets") if found else []
    return rows[0] if rows else None


def _quartiles(row, low, high):
    """The two of a row, None if they are not there. One column may have both."""
    names = [results.find_column([row], name) for name in (low, high)]
    return points.quartiles(row, *names) if None not in names else None


def _cell(row, column):
    name = results.find_column([row], column)
    return results.number(row.get(name)) if name else None


def _may_be_cached(reports):
    """Whether STREAM says that its arrays are too small to measure memory alone."""
    return any("less than four times the last-level cache" in remark for report in reports for remark in report.get("remarks", ()))


def table(reports_of):
    """Of the measurements gemm, stream and himeno, None if one of them is not there; and of stream-cache, if that is."""
    dgemm, sgemm = (_most(reports_of("gemm"), "^Matrix products", (("product", f"^{name}"),)) for name in ("DGE", "SGE"))
    triad = _most(reports_of("stream"), "^STREAM", (("kernel", "^Triad"),))
    himeno = _most(reports_of("himeno"), "^Himeno")
    if None in (dgemm, sgemm, triad, himeno):
        return None
    peaks = {"double": _cell(dgemm, "^measured peak"), "single": _cell(sgemm, "^measured peak")}
    bandwidth = _cell(triad, "^bandwidth")
    in_cache = _most(reports_of("stream-cache") or [], "^STREAM in the", (("kernel", "^Triad"),))
    cache_bandwidth = in_cache and _cell(in_cache, "^bandwidth")
    rows = []
    two_columns, one_column = ("^lower quartile \\(", "^upper quartile \\("), ("^performance.*quartiles$",) * 2
    for name, precision, row, scale, minimum_column, quartiles in (
            ("DGEMM", "double", dgemm, 1, "^minimum B/F", two_columns), ("SGEMM", "single", sgemm, 1, "^minimum B/F", two_columns),
            ("STREAM Triad", "double", triad, 1, "^code B/F", one_column), ("Himeno", "single", himeno, 1e-3, "^minimum B/F", two_columns)):
        reached, code, minimum = (_cell(row, column) for column in ("^performance", "^code B/F", minimum_column))
        peak = peaks[precision]
        if None in (reached, minimum, peak, bandwidth):
            return None
        reached *= scale
        spread = _quartiles(row, *quartiles)
        memory = bandwidth / peak
        cache = cache_bandwidth / peak if cache_bandwidth else None
        roof = min(peak, bandwidth / minimum)
        is_above = (scale * spread[0] if spread else reached) > 1.05 * roof
        rows.append({"kernel": name, "precision": precision, "targets": _cell(row, "^targets"), "Gflop/s": reached,
                     "Gflop/s: quartiles": spread and [scale * one for one in spread],
                     "measured peak Gflop/s": peak, "memory B/F": memory, "LLC B/F": "not measured" if cache is None else cache,
                     "code B/F": "not known" if code is None else code, "minimum B/F": minimum, "of the roof %": 100 * reached / roof,
                     "class": ABOVE if is_above else bound(code, minimum, memory, reached / peak, cache)})
    return {"title": TITLE + (IN_PART if _may_be_cached(reports_of("stream")) else ""), "rows": rows}
