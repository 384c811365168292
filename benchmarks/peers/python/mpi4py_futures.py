#!/usr/bin/env python3
"""mpi4py.futures.MPIPoolExecutor: mpirun -n 2 python3 -m mpi4py.futures mpi4py_futures.py"""
import mpi4py
import mpi4py.futures

import peer


class client:
    def __init__(self, pool):
        self.pool = pool

    def call(self, what, argument):
        return self.pool.submit(peer.execute, what, argument).result()

    def call_many(self, count):
        return sum(one.result() for one in [self.pool.submit(peer.execute, "touch", b"") for _ in range(count)])


def main():
    given = peer.parse()
    with mpi4py.futures.MPIPoolExecutor(1) as pool:
        pool.submit(peer.end_with_parent).result()
        pool.submit(peer.pin_to, given.server_core).result()
        peer.pin_to(given.client_core)
        peer.run_client(client(pool), ("mpi4py_futures", mpi4py.__version__, "submit to the other rank"), given)


if __name__ == "__main__":
    main()
