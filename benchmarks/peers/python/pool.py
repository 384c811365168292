#!/usr/bin/env python3
"""multiprocessing.Pool with one worker."""
import multiprocessing
import platform

import peer


def start_worker(core):
    peer.end_with_parent()
    peer.pin_to(core)


class client:
    def __init__(self, pool):
        self.pool = pool

    def call(self, what, argument):
        return self.pool.apply(peer.execute, (what, argument))

    def call_many(self, count):
        return sum(one.get() for one in [self.pool.apply_async(peer.execute, ("touch", b"")) for _ in range(count)])


def main():
    given = peer.parse()
    with multiprocessing.get_context("fork").Pool(1, start_worker, (given.server_core,)) as pool:
        pool.apply(int)  # the worker has started
        peer.pin_to(given.client_core)
        peer.run_client(client(pool), ("multiprocessing_pool", f"Python {platform.python_version()}",
                                       "apply and apply_async to one forked worker"), given)


if __name__ == "__main__":
    main()
