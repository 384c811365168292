#!/usr/bin/env python3
"""ham.Executor beside the executors of Python, in turns: executors.py [--rounds 5] [--workers 2] [--kernels LIBRARY] [--json]

Each measures: microseconds from submit to result of a task without content (median of the rounds' medians), tasks per second of a
map over 100 000 numbers with the peer's own way to chunk, milliseconds for a task with an argument of 64 MiB, and for the next one
with the same argument (HAM: a ham.Resident; else what the peer does). --kernels: the library of tests/python/kernels.cpp, for
microseconds of a call of a function in C++ with two numbers. Below the table are the bars that HAM is held to. loky, joblib, Ray and
mpi4py.futures, which is started by mpiexec, are left out where they are not installed. Measure on a quiet machine: with other load
both sides sleep, and wake-ups are measured.
"""
import argparse
import concurrent.futures
import json
import multiprocessing
import operator
import os
import shutil
import statistics
import subprocess
import sys
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

    def keep(self, array):
        return array

    def close(self):
        self.pool.shutdown()


class ham_executor(executor):
    def keep(self, array):
        import ham
        return ham.Resident(array)


class pool:
    keep = executor.keep

    def __init__(self, workers):
        self.pool = multiprocessing.get_context("fork").Pool(workers)

    def call(self, function, *arguments):
        return self.pool.apply(function, arguments)

    def map(self, function, items):
        return len(self.pool.map(function, items))

    def close(self):
        self.pool.terminate()
        self.pool.join()


class ray_pool(pool):
    def __init__(self, workers):
        import ray.util.multiprocessing
        ray.init(address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False)
        self.pool = ray.util.multiprocessing.Pool(workers)

    def close(self):
        import ray
        super().close()
        ray.shutdown()


class joblib_parallel:
    keep = executor.keep

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
        import ray.util.multiprocessing  # noqa: F401
        found["Ray"] = lambda: ray_pool(workers)
    except ImportError:
        pass
    try:
        import ham
        found["ham.Executor"] = lambda: ham_executor(ham.Executor(workers))
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


def array_again_ms(peer):
    import numpy
    kept = peer.keep(numpy.ones(ARRAY_BYTES // 8))
    times = []
    for _ in range(6):  # each of two workers may have to get it
        begin = time.perf_counter()
        assert peer.call(len, kept) == ARRAY_BYTES // 8
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


MEASURES = {"submit_us": submit_us, "tasks_per_s": tasks_per_s, "array_64MiB_ms": array_ms, "array_again_ms": array_again_ms}


def measure_peer(make):
    """One round of one peer."""
    peer = make()
    try:
        peer.call(nothing)
        return {what: of(peer) for what, of in MEASURES.items()}
    finally:
        peer.close()


def under_mpi(workers):
    """One round of mpi4py.futures, in a job of its own; None where it, or mpiexec, is not installed, or it fails."""
    launcher = shutil.which("mpiexec")
    if launcher is None:
        return None
    command = [launcher, "-n", str(workers + 1), sys.executable, "-m", "mpi4py.futures", os.path.abspath(__file__)]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    ended = subprocess.run([*command, "--mpi", "--workers", str(workers)], env=environment, capture_output=True, text=True)
    return json.loads(ended.stdout) if ended.returncode == 0 else None


def cpp_call_us(kernels):
    """A function in C++ with two numbers, called from Python: median, in microseconds."""
    import ham
    with ham.Targets("shm:1", libraries=[kernels]) as targets:
        call = targets[0].call
        times = []
        for _ in range(10 * SUBMITS):
            begin = time.perf_counter()
            call("py_test.add", 1.5, 2.5)
            times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def measure(rounds, workers, kernels=None):
    """Medians, by peer; every round goes through all peers."""
    values = {}

    def note(name, round_):
        for what, value in (round_ or {}).items():
            values.setdefault(name, {}).setdefault(what, []).append(value)

    for _ in range(rounds):
        for name, make in peers(workers).items():
            note(name, measure_peer(make))
        note("mpi4py.futures", under_mpi(workers))
        if kernels:
            note("ham.Node.call", {"cpp_call_us": cpp_call_us(kernels)})
    return {name: {what: statistics.median(all_) for what, all_ in of.items()} for name, of in values.items()}


def bars(results):
    """What HAM is held to: a text, the value, and whether it is met."""
    found, ours = [], results.get("ham.Executor")
    if "ham.Node.call" in results:
        value = results["ham.Node.call"]["cpp_call_us"]
        found.append(("C++ function, two floats: at most 5 us", f"{value:.2f} us", value <= 5))
    if ours:
        submit, theirs = ours["submit_us"], results["ProcessPoolExecutor"]["submit_us"]
        found.append(("submit + result: at most 30 us", f"{submit:.1f} us", submit <= 30))
        found.append(("submit + result: 5 x below ProcessPoolExecutor", f"{theirs / submit:.1f} x", theirs >= 5 * submit))
        rate, again = ours["tasks_per_s"], ours["array_again_ms"]
        found.append(("10^5 small tasks: at least 100 000/s", f"{rate:.0f}/s", rate >= 100_000))
        found.append(("64 MiB again: no copy, below 1 ms", f"{again:.3f} ms", again < 1))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kernels", metavar="LIBRARY")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--mpi", action="store_true", help="measure mpi4py.futures only, as its master; one round, as JSON")
    given = parser.parse_args()
    if given.mpi:
        import mpi4py.futures
        chunk = TASKS // (4 * given.workers)
        pool_of_ranks = mpi4py.futures.MPIPoolExecutor(given.workers)
        print(json.dumps(measure_peer(lambda: executor(pool_of_ranks, chunksize=chunk))))
        return
    results = measure(given.rounds, given.workers, given.kernels)
    if given.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{'':22}" + "".join(f"{what:>18}" for what in MEASURES))
    for name, of in results.items():
        if name != "ham.Node.call":
            print(f"{name:22}" + "".join(f"{of[what]:18.1f}" for what in MEASURES))
    for text, value, met in bars(results):
        print(f"{'met   ' if met else 'MISSED'} {text}: {value}")


if __name__ == "__main__":
    main()
