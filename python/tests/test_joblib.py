"""joblib's and scikit-learn's use of the package. Run by run.sh, with the package installed."""

import multiprocessing
import os
import time

import numpy as np
import pytest

joblib = pytest.importorskip("joblib", reason="joblib is not installed: scripts/install-deps.sh python")

import ham
import ham.joblib
from ham import _ham


@pytest.fixture(autouse=True, scope="module")
def end_of_workers():
    yield
    ham.joblib.shutdown()


def test_results_come_from_workers():
    with joblib.parallel_config("ham", n_jobs=2):
        squares = joblib.Parallel()(joblib.delayed(lambda x: (x * x, os.getpid()))(n) for n in range(200))
    assert [square for square, _ in squares] == [n * n for n in range(200)]
    assert os.getpid() not in {pid for _, pid in squares}


def test_workers_stay_for_the_next_call():
    pids = set()
    for _ in range(3):
        with joblib.parallel_config("ham", n_jobs=2):
            pids.update(joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(20)))
    assert len(pids) <= 2


def test_calls_with_other_workers_leave_those_that_go_on_alone():
    with joblib.parallel_config("ham", n_jobs=2):
        first = joblib.Parallel(return_as="generator", batch_size=1)(joblib.delayed(abs)(-n) for n in range(50))
        assert next(first) == 0
    with joblib.parallel_config("ham", n_jobs=3):
        assert joblib.Parallel()(joblib.delayed(abs)(-n) for n in range(10)) == list(range(10))
    assert list(first) == list(range(1, 50))
    assert not ham.joblib._users


def test_an_executor_of_the_program():
    with ham.Executor(workers=1) as pool:
        with joblib.parallel_config("ham", executor=pool):
            assert joblib.Parallel()(joblib.delayed(abs)(-n) for n in range(5)) == list(range(5))
        assert pool.submit(len, "abc").result(60) == 3
    with pytest.raises(ValueError, match="not both"):
        ham.joblib.HamBackend(nodes="shm:1", executor=pool)


def test_nodes():
    with joblib.parallel_config("ham", nodes="shm:1"):
        assert joblib.Parallel()(joblib.delayed(abs)(-n) for n in range(5)) == list(range(5))


def test_exceptions():
    def fails(n):
        if n == 3:
            raise KeyError("of the call")
        return n

    with joblib.parallel_config("ham", n_jobs=2):
        with pytest.raises(KeyError, match="of the call"):
            joblib.Parallel()(joblib.delayed(fails)(n) for n in range(20))
        assert joblib.Parallel()(joblib.delayed(fails)(n) for n in range(3)) == [0, 1, 2]


def test_generators_and_timeouts():
    with joblib.parallel_config("ham", n_jobs=2):
        results = joblib.Parallel(return_as="generator")(joblib.delayed(abs)(-n) for n in range(10))
        assert list(results) == list(range(10))
        with pytest.raises(multiprocessing.TimeoutError):  # joblib's choice
            joblib.Parallel(timeout=0.1)(joblib.delayed(time.sleep)(3) for _ in range(2))


def test_large_arrays_are_sent_once_to_each_worker(monkeypatch):
    sizes, allocate = [], _ham.allocate
    monkeypatch.setattr(_ham, "allocate", lambda node, nbytes: sizes.append(nbytes) or allocate(node, nbytes))
    array = np.ones(1 << 18)  # 2 MiB
    with joblib.parallel_config("ham", n_jobs=2):
        sums = joblib.Parallel(batch_size=1)(
            joblib.delayed(lambda a, n: (a.sum() + n, a.flags.writeable))(array, n) for n in range(40)
        )
    assert sums == [((1 << 18) + n, False) for n in range(40)]
    assert 1 <= len(sizes) <= 3  # once as it is, then once for each worker


def test_nested_calls_are_sequential():
    def outer(n):
        return sum(joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(-k) for k in range(n))), os.getpid()

    with joblib.parallel_config("ham", n_jobs=2):
        assert [total for total, _ in joblib.Parallel()(joblib.delayed(outer)(n) for n in range(6))] == [0, 0, 1, 3, 6, 10]


def test_one_job_needs_no_worker():
    with joblib.parallel_config("ham", n_jobs=1):
        assert set(joblib.Parallel()(joblib.delayed(os.getpid)() for _ in range(3))) == {os.getpid()}
    with joblib.parallel_config("ham", n_jobs=2), pytest.raises(ValueError):
        joblib.Parallel(n_jobs=0)(joblib.delayed(abs)(1) for _ in range(2))


def test_grid_search_of_scikit_learn():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: scripts/install-deps.sh python")
    from sklearn.datasets import load_digits
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    numbers, digits = load_digits(return_X_y=True)
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [1e-3, 1e-4]}, cv=3)
    with joblib.parallel_config("ham", n_jobs=2):
        search.fit(numbers, digits)
    best = dict(search.best_params_)
    scores = search.cv_results_["mean_test_score"]
    search.fit(numbers, digits)  # in this process
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores)
    assert search.best_params_ == best and scores.max() > 0.9
