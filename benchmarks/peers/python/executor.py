#!/usr/bin/env python3
"""concurrent.futures.ProcessPoolExecutor with one worker."""
import concurrent.futures
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
        return self.pool.submit(peer.execute, what, argument).result()

    def call_many(self, count):
        return sum(one.result() for one in [self.pool.submit(peer.execute, "touch", b"") for _ in range(count)])


def main():
    given = peer.parse()
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork"), start_worker,
                                                (given.server_core,)) as pool:
        pool.submit(int).result()  # the worker has started
        peer.pin_to(given.client_core)
        peer.run_client(client(pool), ("process_pool_executor", f"Python {platform.python_version()}",
                                       "submit to one forked worker"), given)


if __name__ == "__main__":
    main()
