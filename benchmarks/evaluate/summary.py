"""The results in short: some figures beside those of the papers, and the bars that are missed."""
import clock
import points
import results

TITLE = "in short, beside the papers"
EARLIER = "of an earlier build"


def _cell(reports, table, column, where=()):
    found = results.find_table(reports, table)
    rows = [row for row in found["rows"] if points.kept(row, where)] if found else []
    name = results.find_column(rows, column) if rows else None
    return results.number(rows[0].get(name)) if name else None


def _bar(reports, name):
    return next((results.number(bar["value"]) for report in reports for bar in report["bars"] if bar["name"].startswith(name)), None)


def _inverse(value):
    return 1 / value if value else None


def _rows(of):
    """(what, the paper's figures or None, those of this run): each group of figures is one cell. None stands for what is not there."""
    yield ("paper 1, Fig. 9, emulated link: HAM over VEO / native call; native call / HAM over DMA (the native call is the paper's)", "5.4; 13.1",
           [_cell(of("protocols"), "Fig. 9", "^here: of native", (("empty offload", "^HAM over VEO"),)),
            _inverse(_cell(of("protocols"), "Fig. 9", "^here: of native", (("empty offload", "^HAM over DMA"),)))])
    ways = ("host to target", "target to host")
    for name, paper in (("HAM over VEO", "9.9; 10.4"), ("HAM over DMA, by the target", "10.6; 11.1")):
        yield (f"paper 1, Table IV, emulated link: largest bandwidth to the target and back, {name}, GiB/s", paper,
               [_cell(of("bandwidth-emulated"), "Table IV", f"^here, {way}", (("method", f"^{name}"),)) for way in ways])
    for name, mpi in (("Open MPI", "openmpi"), ("MPICH", "mpich")):
        yield (f"paper 3, Table 1: the framework's part of an empty offload over {name}, ns; the offload, ns", None,
               [_cell(of(f"mpi-{mpi}"), "^the framework", f"^{column} ns", ()) for column in ("framework", "offload")])
        yield (f"paper 3, Fig. 6: speed of put and get of 64 MiB / that of MPI_Send, {name}", None,
               [_bar(of(f"mpi-{mpi}"), f"{verb} bandwidth / MPI_Send") for verb in ("put", "get")])
    yield ("paper 4, Fig. 5: STREAM Triad on targets / on as many threads of one process, for 1, 2, ... targets", None,
           [results.number(bar["value"]) for report in of("stream") for bar in report["bars"] if bar["name"].startswith("Triad on")])
    yield "paper 4, Fig. 7: Himeno on one target / on one thread of the host", None, [_bar(of("himeno"), "one target / one thread")]
    yield ("paper 4, Fig. 8: Himeno on 2, 3, ... targets / on as many threads of one process", None,
           [results.number(bar["value"]) for report in of("himeno") for bar in report["bars"] if "as many threads" in bar["name"]])
    yield ("conjugate gradients: HAM on 2 targets / 2 ranks of Open MPI; of MPICH", None,
           [_bar(of("cg"), f"HAM, 2 targets / {mpi}") for mpi in ("Open MPI", "MPICH")])
    yield ("conjugate gradients as a recorded graph / as a loop of the host, 1 target", None,
           [_bar(of("graphs"), "conjugate gradients on one target")])
    yield "messages of the host for a call of 128 targets", None, [_bar(of("groups"), "messages of the host, 128 targets")]


def table(reports_of, earlier=()):
    """reports_of: from a measurement's name to its reports; earlier: names of measurements of an earlier build, whose rows say so. Figures
    that are not there are left out; None if none is."""
    used, rows = set(), []

    def of(name):
        used.add(name)
        return reports_of(name)

    for what, paper, here in _rows(of):
        if any(one is not None for one in here):
            texts = "; ".join("-" if one is None else results.number_text(one, 3) for one in here)
            rows.append({"what": what, "papers": paper or "", "here": f"{texts} ({EARLIER})" if used & set(earlier) else texts})
        used.clear()
    return {"title": TITLE, "rows": rows} if rows else None


def earlier_ones(records):
    """Names of the measurements whose results are of an earlier build."""
    return [name for name, record in records.items() if record and record.get("earlier")]


def of_machine(records):
    """What the measurements say of the machine, beside its description."""
    found = {"cores of host and target": results.core_pairs(records), "clock": clock.of_records(records)}
    return {name: value for name, value in found.items() if value}


def revisions(records):
    """Revisions of the source that were measured, as a text; those of an earlier build say so."""
    found = {}
    for record in records.values():
        if record and record["status"] == "measured":
            found.setdefault(bool(record.get("earlier")), set()).add(record["revision"] or "unknown")
    parts = [", ".join(sorted(found[False]))] if False in found else []
    return "; ".join([*parts, *([f"{EARLIER}: {', '.join(sorted(found[True]))}"] if True in found else [])])


def counts(record):
    """Whether the bars of a record count: not those of a part of a result, or of an earlier build."""
    return bool(record) and record["status"] != "stopped" and not record.get("earlier")


def all_bars(records):
    """(measurement, bar) of everything that counts."""
    for name, record in records.items():
        for report in results.reports_of(record) if counts(record) else []:
            for bar in report["bars"]:
                yield name, bar
