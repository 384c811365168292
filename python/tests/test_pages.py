"""The blocks of docs/python.md and what they say. HAM_TEST_PAGE_KERNELS: the library made of tests/snippets/page_kernels.cpp."""

import os
import pathlib
import shutil
import subprocess
import sys

import joblib
import numpy
import pytest

import ham

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import snippets  # noqa: E402

BLOCKS = {one.name: one.block.text for one in snippets.snippets_of(ROOT) if one.name and one.name.startswith("python/")}
KERNELS = os.environ.get("HAM_TEST_PAGE_KERNELS", "")


def run(name, **given):
    """Executes a block with these names, as the page's reader has them; gives all names afterwards."""
    given["__name__"] = "__main__"  # functions of the block cross by value, as those of a program do
    exec(compile(BLOCKS[name], name, "exec"), given)
    return given


def test_executor():
    ended = subprocess.run([sys.executable, "-c", BLOCKS["python/executor.py"]], capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "49\n[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]\n"


def test_stop():
    with ham.Executor(workers=1) as pool:
        after = run("python/stop.py", ham=ham, pool=pool)
        try:
            assert 0 <= after["future"].result(60) <= 1_000_000
        except ham.OperationCancelled:
            pass  # it had not begun


def test_resident():
    with ham.Executor(workers=2) as pool:
        after = run("python/resident.py", ham=ham, numpy=numpy, pool=pool)
    assert after["sums"] == [float((8 << 20) - n) for n in range(100)]


class Search:
    """What an estimator of scikit-learn does in fit, as far as joblib sees it."""

    def fit(self, values, factor):
        self.found = joblib.Parallel()(joblib.delayed(lambda x: (os.getpid(), x * factor))(x) for x in values)


def test_joblib():
    search = Search()
    run("python/joblib.py", search=search, X=[1, 2, 3], y=2)
    assert [value for _, value in search.found] == [2, 4, 6]
    assert os.getpid() not in [process for process, _ in search.found]


@pytest.mark.skipif(not os.path.exists(KERNELS), reason="tests/snippets/page_kernels.cpp is not built")
def test_functions_in_cpp(tmp_path, monkeypatch, capsys):
    shutil.copy(KERNELS, tmp_path / "libmy_kernels.so")
    monkeypatch.chdir(tmp_path)
    run("python/targets.py", ham=ham, numpy=numpy)
    assert capsys.readouterr().out == "vec<f8>,f8->vec<f8>\n[0. 2. 4. 6. 8.]\n"


def test_functions_in_python(tmp_path):
    script = tmp_path / "handlers.py"
    script.write_text("import ham\n\n" + BLOCKS["python/handlers.py"])
    with ham.Targets("shm:1", scripts=[str(script)]) as targets:
        assert targets[0].call("my.total", [1, 2, 3.5], 2) == 13


def test_graphs(tmp_path):
    script = tmp_path / "functions.py"
    script.write_text(
        "import ham\n"
        "ham.offer('my_kernels.ramp', 'f8,i4->vec<f8>', lambda first, count: [first + n for n in range(count)])\n"
        "ham.offer('my_kernels.total', 'vec<f8>->f8', sum)\n"
        "ham.offer('my_kernels.update', 'f8->f8', lambda value: value + 1)\n"
    )
    program = f"""
import ham
with ham.Targets("shm:2", scripts=[{str(script)!r}]):
    host_data, target_buffer = b"1234", ham.allocate(1, 4)
    exec({BLOCKS["python/graph.py"]!r})
    print(bytes(target_buffer.get()))
    del step
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "13.0\nb'1234'\n"
