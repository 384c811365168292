#!/usr/bin/env python3
"""ham.Executor beside the executors of Python, in turns: executors.py [--rounds 5] [--workers 2] [--json]

Each measures: microseconds from submit to result of a task without content (median of the rounds' medians), tasks per second of a
map over 100 000 numbers with the peer's own way to chunk, and milliseconds for a task with an argument of 64 MiB. loky and joblib
are left out where they are not installed. Measure on a quiet machine: with other load both sides sleep, and wake-ups are measured.
"""
import argparse
import concurrent.futures
import json
import multiprocessing
import operator
import statistics
import time

TASKS = 100_000
SUBMITS = 1000
ARRAY_BYTES = 64 << 20


def nothing():
    pass


class executor:
    """Any executor of concurrent.futures. `chunks`: what its map is given."""

    def __init__(self, pool, **chunks):
        self.pool, self.chunks = pool, chunks

    def call(self, function, *arguments):
        return self.pool.submit(function, *arguments).result()

    def map(self, function, items):
        return sum(1 for _ in self.pool.map(function, items, **self.chunks))

    def close(self):
        self.pool.shutdown()


class pool:
    def __init__(self, workers):
        self.pool = multiprocessing.get_context("fork").Pool(workers)

    def call(self, function, *arguments):
        return self.pool.apply(function, arguments)

    def map(self, function, items):
        return len(self.pool.map(function, items))

    def close(self):
        self.pool.terminate()
        self.pool.join()


class joblib_parallel:
    def __init__(self, joblib, workers):
        self.delayed = joblib.delayed
        self.parallel = joblib.Parallel(n_jobs=workers, batch_size="auto")
        self.parallel.__enter__()

    def call(self, function, *arguments):
        return self.parallel([self.delayed(function)(*arguments)])[0]

    def map(self, function, items):
        return len(self.parallel(self.delayed(function)(item) for item in items))

    def close(self):
        self.parallel.__exit__(None, None, None)


def peers(workers):
    """Name and constructor of each that is there."""
    chunk = TASKS // (4 * workers)
    found = {
        "ProcessPoolExecutor": lambda: executor(concurrent.futures.ProcessPoolExecutor(workers), chunksize=chunk),
        "multiprocessing.Pool": lambda: pool(workers),
    }
    try:
        import loky
        found["loky"] = lambda: executor(loky.ProcessPoolExecutor(workers), chunksize=chunk)
    except ImportError:
        pass
    try:
        import joblib
        found["joblib"] = lambda: joblib_parallel(joblib, workers)
    except ImportError:
        pass
    try:
        import ham
        found["ham.Executor"] = lambda: executor(ham.Executor(workers))
    except ImportError as error:
        print(f"executors: ham.Executor is not measured ({error}): pip install ./python")
    return found


def submit_us(peer):
    times = []
    for _ in range(SUBMITS):
        begin = time.perf_counter()
        peer.call(nothing)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def tasks_per_s(peer):
    begin = time.perf_counter()
    assert peer.map(operator.neg, range(TASKS)) == TASKS
    return TASKS / (time.perf_counter() - begin)


def array_ms(peer):
    import numpy
    array = numpy.ones(ARRAY_BYTES // 8)
    times = []
    for _ in range(4):  # the first one imports NumPy there
        begin = time.perf_counter()
        assert peer.call(len, array) == len(array)
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


MEASURES = {"submit_us": submit_us, "tasks_per_s": tasks_per_s, "array_64MiB_ms": array_ms}


def measure(rounds, workers):
    """Medians, by peer; every round goes through all peers."""
    values = {}
    for _ in range(rounds):
        for name, make in peers(workers).items():
            peer = make()
            try:
                peer.call(nothing)
                for what, of in MEASURES.items():
                    values.setdefault(name, {}).setdefault(what, []).append(of(peer))
            finally:
                peer.close()
    return {name: {what: statistics.median(all_) for what, all_ in of.items()} for name, of in values.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    results = measure(given.rounds, given.workers)
    if given.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{'':22}" + "".join(f"{what:>18}" for what in MEASURES))
    for name, of in results.items():
        print(f"{name:22}" + "".join(f"{of[what]:18.1f}" for what in MEASURES))


if __name__ == "__main__":
    main()
