"""The executor within pytest and Jupyter, which import programs in ways of their own. Run by run.sh, with the package installed."""

import importlib.machinery
import json
import os
import subprocess
import sys
import textwrap

import pytest

from ham import _pickles

WAIT = 240  # seconds; generous, for machines under load

TESTS = """
    import asyncio, pytest
    import ham

    class Point:
        def __init__(self, x): self.x = x

    def twice(point):
        assert isinstance(point, Point)
        return Point(2 * point.x)

    @pytest.fixture(scope="session")
    def pool():
        with ham.Executor(workers=1) as executor:
            yield executor

    def test_functions_of_the_test(pool):
        assert pool.submit(lambda: "from a lambda").result() == "from a lambda"

    def test_functions_and_classes_of_the_module(pool):
        assert pool.submit(twice, Point(21)).result().x == 42

    def test_a_failed_assertion_is_told(pool):
        def fails():
            assert 1 == 2, "of the task"
        with pytest.raises(AssertionError, match="of the task"):
            pool.submit(fails).result()

    @pytest.mark.parametrize("n", range(3))
    def test_parameters(pool, n):
        assert asyncio.run(run(pool, n)) == n * n

    async def run(pool, n):
        return await asyncio.get_running_loop().run_in_executor(pool, square, n)

    def square(n): return n * n
"""


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_under_pytest(tmp_path, mode):
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_of_a_program.py").write_text(textwrap.dedent(TESTS))
    run = "import sys, pytest; sys.path.remove(''); sys.exit(pytest.main(sys.argv[1:]))"  # as the command pytest does
    command = [sys.executable, "-c", run, "-q", "-p", "no:cacheprovider", f"--import-mode={mode}", "tests"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=WAIT)
    assert ended.returncode == 0 and "6 passed" in ended.stdout, ended.stdout + ended.stderr


def test_packages_with_a_finder_of_their_own_cross_by_reference(monkeypatch):
    class Finder:
        @staticmethod
        def find_spec(name, path, target=None):
            return importlib.machinery.ModuleSpec(name, None) if name == "installed_in_place" else None

    assert not _pickles._importable("not_installed.part")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert _pickles._importable("installed_in_place.part")


CELLS = [
    """
    import ham
    pool = ham.Executor(workers=1)
    def square(x): return x * x
    """,
    "list(pool.map(square, range(5)))",
    "await __import__('asyncio').wrap_future(pool.submit(square, 7))",
    "def square(x): return -x",  # defined again, as one does in notebooks
    "pool.submit(square, 7).result()",
    """
    class Point:
        def __init__(self, x): self.x = x
    pool.submit(lambda p: Point(p.x + 1), Point(1)).result().x
    """,
    """
    try:
        pool.submit(lambda: 1 / 0).result()
    except ZeroDivisionError as error:
        print("caught:", error)
    """,
    "pool.shutdown()",
]
OUTPUTS = ["[0, 1, 4, 9, 16]", "49", "-7", "2", "caught: division by zero"]


def test_in_a_notebook(tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: scripts/install-deps.sh python")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: scripts/install-deps.sh python")
    import nbformat

    spec = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "here", "language": "python"}
    kernel = tmp_path / "kernels" / "here"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(spec))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(cell)) for cell in CELLS])
    environment = {**os.environ, "JUPYTER_PATH": str(tmp_path)}
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        nbclient.NotebookClient(notebook, timeout=WAIT, kernel_name="here", resources={"metadata": {"path": str(tmp_path)}}).execute()
    finally:
        os.environ.clear()
        os.environ.update(before)
    outputs = []
    for cell in notebook.cells:
        for output in cell.outputs:
            outputs.append(output.get("text") or output["data"]["text/plain"])
    assert [text.strip() for text in outputs] == OUTPUTS
