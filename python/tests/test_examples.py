"""The programs of examples/python print what their lines "# expect: ..." say, in that order; docs/python.md's first one runs."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


def run(*command):
    ended = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_there_are_some():
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example):
    expected = re.findall(r"^# expect: (.*)$", example.read_text(), re.MULTILINE)
    assert expected
    lines = run(str(example)).splitlines()
    assert len(lines) == len(expected), lines
    for line, pattern in zip(lines, expected):
        assert re.fullmatch(pattern, line), line


def test_program_of_the_manual():
    program = re.search(r"```python\n(import ham\n.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL).group(1)
    assert run("-c", program).split() == ["49", "[0,", "1,", "4,", "9,", "16,", "25,", "36,", "49,", "64,", "81]"]
