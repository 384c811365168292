"""Table 1 of paper 3 for this machine: what each framework adds to the round trip of its medium."""
import results

TITLE = ("the framework's part of an empty offload, all media; round trip: of a cache line between the two processes for shared memory, of the same "
         "bytes by MPI_Send and MPI_Recv for MPI, a call by address for OpenMP's device, which is in the same process")
SOURCES = (("latency", ""), ("mpi-openmpi", "Open MPI"), ("mpi-mpich", "MPICH"), ("openmp", ""))


def table(reports_of):
    """The rows of all measurements that are there, None if none is. Over MPI both have the same name: that of the MPI takes its place."""
    rows = {}
    for source, name in SOURCES:
        found = results.find_table(reports_of(source) or [], "^the framework")
        for row in found["rows"] if found else []:
            cells = dict(row)
            over = name or str(cells["offload over"])
            over = over if over.startswith(("HAM", "OpenMP")) else f"HAM over {over}"
            cells["offload over"] = over
            rows.setdefault(over, cells)  # over shm it is measured twice: first without OpenMP beside it
    return {"title": TITLE, "rows": list(rows.values())} if rows else None
