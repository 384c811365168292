"""`python -m build` makes a wheel, with the stable ABI from Python 3.12 on, which later versions import. HAM_TEST_LIBRARY: the
libham.so that it is linked with. Run by run.sh."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[1]
LIBRARY = os.environ.get("HAM_TEST_LIBRARY", "")
FIRST_STABLE = (3, 12)
WAIT = 500  # seconds; generous, for machines under load

PROGRAM = """
import sys, ham
with ham.Executor(1) as pool:
    print(sys.version_info[:2], pool.submit(pow, 2, 10).result())
"""

pytestmark = pytest.mark.skipif(not LIBRARY, reason="HAM_TEST_LIBRARY is not set")


def version_of(python):
    """Of an interpreter that can build extensions; None if there is no such one."""
    ask = 'import os, sys, sysconfig; os.stat(sysconfig.get_paths()["include"] + "/Python.h"); print(*sys.version_info[:2])'
    found = subprocess.run([python, "-c", ask], capture_output=True, text=True, timeout=WAIT)
    return tuple(map(int, found.stdout.split())) if found.returncode == 0 else None


def interpreters():
    """Those of FIRST_STABLE and later that are there, by version."""
    found = {}
    installed = pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")
    for python in [sys.executable, *map(shutil.which, ("python3.12", "python3.13", "python3.14")), *map(str, installed)]:
        version = version_of(python) if python else None
        if version and version >= FIRST_STABLE:
            found.setdefault(version, python)
    return dict(sorted(found.items()))


def build(python, folder):
    """The wheel; the tools are those of this environment, which are all Python."""
    pytest.importorskip("build", reason="build is not installed: scripts/install-deps.sh python")
    tools = str(pathlib.Path(importlib.util.find_spec("build").origin).parents[1])
    command = [python, "-m", "build", "--wheel", "--no-isolation", "--skip-dependency-check", "--outdir", str(folder)]
    command += ["-C", f"cmake.define.HAM_LIBRARY={LIBRARY}", "-C", f"build-dir={folder}/build", str(SOURCE)]
    made = subprocess.run(command, env={**os.environ, "PYTHONPATH": tools}, capture_output=True, text=True, timeout=WAIT)
    assert made.returncode == 0, made.stdout[-4000:] + made.stderr[-4000:]
    (wheel,) = folder.glob("*.whl")
    return wheel


def run(python, packages):
    ended = subprocess.run(
        [python, "-c", PROGRAM], env={**os.environ, "PYTHONPATH": str(packages)}, capture_output=True, text=True, timeout=WAIT
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_wheel(tmp_path):
    known = interpreters()
    python, version = (known[min(known)], min(known)) if known else (sys.executable, sys.version_info[:2])
    wheel = build(python, tmp_path)
    tag = "cp312-abi3" if known else "cp%d%d-cp%d%d" % (*version, *version)
    assert re.fullmatch(rf"ham_offload-[0-9.]+-{tag}-linux_\w+\.whl", wheel.name), wheel.name
    packages = tmp_path / "packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
        names = archive.namelist()
    assert {"ham/__init__.py", "ham/py.typed", "ham/_ham.pyi", "ham/joblib.py", "veo/__init__.py"} <= set(names)
    for number, interpreter in (known or {version: python}).items():
        assert run(interpreter, packages) == f"{number} 1024\n"
