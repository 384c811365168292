"""The programs of docs/python-tutorial.md print what the page says. Run by run.sh, with the package installed."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = re.findall(
    r"^## (.*?)\n.*?```python\n(.*?)```\n\n```text\n(.*?)```",
    (ROOT / "docs" / "python-tutorial.md").read_text(),
    re.DOTALL | re.MULTILINE,
)


def test_every_step_is_found():
    text = (ROOT / "docs" / "python-tutorial.md").read_text()
    assert len(STEPS) == text.count("```python\n") == text.count("\n## ") > 0


@pytest.mark.parametrize("program, output", [step[1:] for step in STEPS], ids=[step[0] for step in STEPS])
def test_step(program, output):
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == output
