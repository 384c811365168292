"""The examples of Python's page on concurrent.futures, with only the constructor's name changed; where they load pages from the
internet, a function stands in for that."""

import concurrent.futures
import math
import os
import subprocess
import sys
import textwrap

import ham

WAIT = 60

PRIMES = [112272535095293, 112582705942171, 112272535095293, 115280095190773, 115797848077099, 1099726899285419]


# "Executor Objects": submit, and map; ProcessPoolExecutor is ham.Executor


def test_submit():
    with ham.Executor(max_workers=1) as executor:
        future = executor.submit(pow, 323, 1235)
        assert future.result(WAIT) == pow(323, 1235)


# "ProcessPoolExecutor Example", as a program of its own

PROGRAM = f"""
    import ham
    import math

    PRIMES = {PRIMES}

    def is_prime(n):
        if n < 2:
            return False
        if n == 2:
            return True
        if n % 2 == 0:
            return False

        sqrt_n = int(math.floor(math.sqrt(n)))
        for i in range(3, sqrt_n + 1, 2):
            if n % i == 0:
                return False
        return True

    def main():
        with ham.Executor() as executor:
            for number, prime in zip(PRIMES, executor.map(is_prime, PRIMES)):
                print('%d is prime: %s' % (number, prime))

    if __name__ == '__main__':
        main()
"""


def test_primes():
    program = textwrap.dedent(PROGRAM)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=10 * WAIT)
    assert ended.returncode == 0, ended.stderr
    expected = [f"{number} is prime: {number != PRIMES[-1]}" for number in PRIMES]
    assert ended.stdout.splitlines() == expected


# "ThreadPoolExecutor Example": as_completed over a dictionary of futures

URLS = ["http://www.foxnews.com/", "http://www.cnn.com/", "http://europe.wsj.com/", "http://nonexistent-subdomain.python.org/"]


def load_url(url, timeout):
    if "nonexistent" in url:
        raise OSError(f"{url} cannot be reached within {timeout} s")
    return b"x" * len(url)


def test_pages():
    lines = []
    with ham.Executor(max_workers=2) as executor:
        future_to_url = {executor.submit(load_url, url, 60): url for url in URLS}
        for future in concurrent.futures.as_completed(future_to_url):
            url = future_to_url[future]
            try:
                data = future.result()
            except Exception as exc:
                lines.append("%r generated an exception: %s" % (url, exc))
            else:
                lines.append("%r page is %d bytes" % (url, len(data)))
    assert sorted(lines) == sorted(
        [f"{url!r} page is {len(url)} bytes" for url in URLS[:3]]
        + [f"{URLS[3]!r} generated an exception: {URLS[3]} cannot be reached within 60 s"]
    )


# "Future Objects" and "Module Functions"


def test_futures():
    with ham.Executor(max_workers=1) as executor:
        futures = [executor.submit(math.factorial, n) for n in range(8)]
        done, not_done = concurrent.futures.wait(futures, timeout=WAIT, return_when=concurrent.futures.ALL_COMPLETED)
        assert not not_done and sum(future.result() for future in done) == sum(map(math.factorial, range(8)))
        first = concurrent.futures.wait([executor.submit(int, "no number")], return_when=concurrent.futures.FIRST_EXCEPTION)
        assert isinstance(first.done.pop().exception(), ValueError)
        called = []
        executor.submit(os.getpid).add_done_callback(called.append)
    assert len(called) == 1 and called[0].done() and not called[0].cancelled() and not called[0].running()


# "Exception classes": a lost worker is a BrokenExecutor there; here it is the task's own error, and the pool goes on


def test_lost_worker():
    with ham.Executor(max_workers=1) as executor:
        assert isinstance(executor.submit(os._exit, 1).exception(WAIT), ham.NodeFailure)
        assert executor.submit(pow, 2, 3).result(WAIT) == 8
