#!/usr/bin/env python3
"""The fenced blocks of README.md and docs/*.md, which tests compile and run.

snippets.py [check] [ROOT]      says what is wrong with their marks; --list says how each is tested
snippets.py extract FOLDER      writes FOLDER/NAME for each named block, only what has changed
snippets.py --self-test

Each block in C, C++, Python or sh has a comment of HTML before it:

    <!-- snippet: calls/pool.inc -->      it is FOLDER/calls/pool.inc, which one file of TESTS includes, compiles or runs
    <!-- snippet: not run: REASON -->     REASON is one of REASONS, which has the number of blocks that may give it

or stands on a page of PAGES, all blocks of which are tested by one program. A line of C++ that ends with "// does not compile" is left
out. Other blocks, such as output, may have a name. Blocks in sh, run or not, must be right as far as
that can be seen: the syntax, targets of make, presets, files of the tree, names of settings.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import markdown_pages  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
LANGUAGES = ("c", "cpp", "python", "sh")
OTHERS = ("", "text", "ini", "cmake")  # output of programs, files of other programs
TESTS = ("tests/snippets", "python/tests")

# Page -> (language, what tests every block of it).
PAGES = {"docs/python-tutorial.md": ("python", "python/tests/test_tutorial.py")}

# Why a block is not run -> how many may say so; a number that is only ever lowered.
REASONS = {
    "builds or measures for minutes": 9,
    "changes the system": 3,
    "other machines or hardware": 9,
    "another tool": 8,
    "an MPI launcher": 3,
    "a process of the reader": 2,
    "needs nvcc": 1,
}

MARK = re.compile(r"snippet: (?:not run: (?P<reason>.+)|(?P<name>[\w/.-]+))$")


class snippet:
    """A block of a page: where it is, and how it is tested: `name`, `reason` or `page`, the program for its page."""

    def __init__(self, page, block):
        self.page, self.block = page, block
        self.place = f"{page}:{block.line}"
        self.name = self.reason = self.program = None
        match = MARK.match(block.comment or "")
        if page in PAGES and PAGES[page][0] == block.language:
            self.program = PAGES[page][1]
        elif match:
            self.name, self.reason = match.group("name"), match.group("reason")

    def text(self, root):
        """What is extracted: errors of compilers name the page."""
        if not self.name.endswith((".inc", ".c", ".cpp")):
            return self.block.text
        code = re.sub(r"(?m)^.*// does not compile$", "", self.block.text)
        return f'#line {self.block.line} "{root / self.page}"\n{code}'


def pages_of(root):
    return [page for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))] if page.is_file()]


def snippets_of(root):
    return [snippet(page.relative_to(root).as_posix(), block) for page in pages_of(root)
            for block in markdown_pages.blocks(page.read_text(encoding="utf-8"))]


def users(root):
    """Text of all files that may use a block."""
    return {path: path.read_text(encoding="utf-8") for place in TESTS for path in sorted((root / place).rglob("*"))
            if path.is_file() and path.suffix in (".c", ".cpp", ".py", ".sh", ".txt")}


def settings_of(root):
    """Names of environment variables that the sources and the build know."""
    known = set()
    for place in ("src", "tests", "tools", "cmake", "benchmarks", "docs/configuration.md", "Makefile", "CMakeLists.txt"):
        path = root / place
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and (file.suffix in (".cpp", ".hpp", ".sh", ".txt", ".cmake", ".md", ".py") or file.name == "Makefile"):
                known |= set(re.findall(r"\bHAM_[A-Z_]+", file.read_text(encoding="utf-8", errors="replace")))
    return known


def shell_problems(root, one, known):
    """What can be seen to be wrong in a block of commands."""
    text = one.block.text
    checked = subprocess.run(["sh", "-n"], input=text, capture_output=True, text=True)
    if checked.returncode:
        yield f"{one.place}: sh does not read this: {checked.stderr.strip().splitlines()[0]}"
    code = re.sub(r"(?m)(^|\s)#.*$", "", text)
    makefile = (root / "Makefile").read_text(encoding="utf-8") if (root / "Makefile").is_file() else ""
    for line in re.findall(r"(?m)^\s*make\b([^&|;\n]*)", code):
        for word in re.sub(r'"[^"]*"', "", line).split():
            if re.fullmatch(r"[a-z-]+", word) and not re.search(rf"(?m)^{word}:", makefile):
                yield f"{one.place}: make has no target {word}"
    presets = root / "CMakePresets.json"
    for name in re.findall(r"--preset[ =](\S+)", code):
        if not presets.is_file() or f'"{name}"' not in presets.read_text(encoding="utf-8"):
            yield f"{one.place}: there is no preset {name}"
    for path in re.findall(r"(?<![\w./=-])(?:\./)?((?:scripts|benchmarks|packaging|tests|examples|tools|python|\.ci)(?:/[\w.-]+)+)", code):
        if not (root / path).exists():
            yield f"{one.place}: there is no {path}"
    for name in sorted(set(re.findall(r"\bHAM_[A-Z_]+", code)) - known):
        yield f"{one.place}: nothing knows {name}"


def check(root, reasons=None):
    """What is wrong, as lines; all blocks."""
    reasons = REASONS if reasons is None else reasons
    every, wrong, names, counts = snippets_of(root), [], {}, dict.fromkeys(reasons, 0)
    texts, known = users(root), settings_of(root)
    for one in every:
        if one.block.language in OTHERS and not one.name:
            continue
        if one.block.language not in LANGUAGES + OTHERS:
            wrong.append(f"{one.place}: the language {one.block.language} is not known to snippets.py")
        if one.block.language == "sh":
            wrong += shell_problems(root, one, known)
        if one.program and not (root / one.program).is_file():
            wrong.append(f"{one.place}: {one.program}, which tests this page, is not there")
        elif one.reason is not None:
            if one.reason not in reasons:
                wrong.append(f"{one.place}: '{one.reason}' is no reason of snippets.py: {', '.join(reasons)}")
            else:
                counts[one.reason] += 1
        elif one.name:
            if one.name in names:
                wrong.append(f"{one.place}: {one.name} is the block at {names[one.name]}, too")
            names[one.name] = one.place
            if not any(re.search(rf"(?<![\w.-]){re.escape(one.name)}(?![\w/-])", text) for text in texts.values()):
                wrong.append(f"{one.place}: no file in {' or '.join(TESTS)} uses {one.name}")
        elif not one.program:
            wrong.append(f"{one.place}: a block that nothing tests: give it a mark, see scripts/snippets.py")
    for reason, count in counts.items():
        if count > reasons[reason]:
            wrong.append(f"{count} blocks are not run because of '{reason}', {reasons[reason]} may be: test the new ones")
    for path, text in texts.items():
        for name in re.findall(r'(?m)^#include "([\w-]+/[\w-]+\.inc)"', text):
            if name not in names:
                wrong.append(f"{path.relative_to(root)}: no page has {name}")
    return wrong, every, counts


def extract(root, folder):
    """Writes the named blocks; what is the same stays untouched."""
    for one in snippets_of(root):
        if not one.name:
            continue
        file = folder / one.name
        text = one.text(root)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def self_test():
    """Builds small trees and sees whether the check says what it should."""
    fence = "```"
    cases = [
        # README.md; tests/snippets/a.cpp; expected number of problems
        (f"{fence}cpp\nint a;\n{fence}\n", "", 1),
        (f"<!-- snippet: p/a.inc -->\n{fence}cpp\nint a;\n{fence}\n", '#include "p/a.inc"\n', 0),
        (f"<!-- snippet: p/a.inc -->\n\n{fence}cpp\nint a;\n{fence}\n", '#include "p/a.inc"\n', 0),
        (f"<!-- snippet: p/a.inc -->\n\nText.\n\n{fence}cpp\nint a;\n{fence}\n", '#include "p/a.inc"\n', 2),
        (f"<!-- snippet: p/a.inc -->\n{fence}cpp\nint a;\n{fence}\n", '#include "p/aa.inc"\n', 2),
        (f"<!-- snippet: p/a.inc -->\n{fence}cpp\n{fence}\n<!-- snippet: p/a.inc -->\n{fence}cpp\n{fence}\n", '#include "p/a.inc"\n', 1),
        (f"<!-- snippet: not run: why -->\n{fence}sh\ntrue\n{fence}\n", "", 0),
        (2 * f"<!-- snippet: not run: why -->\n{fence}sh\ntrue\n{fence}\n", "", 1),
        (f"<!-- snippet: not run: because -->\n{fence}sh\ntrue\n{fence}\n", "", 1),
        (f"<!-- snippet: not run: why -->\n{fence}sh\nif true\n{fence}\n", "", 1),
        (f"<!-- snippet: not run: why -->\n{fence}sh\nmake all none\n{fence}\n", "", 1),
        (f"<!-- snippet: not run: why -->\n{fence}sh\nscripts/none.sh # make none\n{fence}\n", "", 1),
        (f"<!-- snippet: not run: why -->\n{fence}sh\nHAM_NONE=1 ./app\n{fence}\n", "", 1),
        (f"<!-- snippet: not run: why -->\n{fence}sh\nHAM_KNOWN=1 cmake --preset none\n{fence}\n", "", 1),
        (f"{fence}rust\n{fence}\n", "", 2),
        (f"{fence}\n./app\n{fence}\n{fence}text\na\n{fence}\n", "", 0),
    ]
    failures = 0
    for readme, user, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "tests/snippets").mkdir(parents=True)
            (root / "README.md").write_text(readme, encoding="utf-8")
            (root / "tests/snippets/a.cpp").write_text(user, encoding="utf-8")
            (root / "Makefile").write_text("all:\n\ttrue HAM_KNOWN\n", encoding="utf-8")
            wrong = check(root, {"why": 1})[0]
            extract(root, root / "out")
            written = sorted(path.name for path in (root / "out").rglob("*") if path.is_file())
        if len(wrong) != expected or written != (["a.inc"] if re.search("a.inc -->\\n\\n?`", readme) else []):
            failures += 1
            print(f"{readme!r}: expected {expected} problems, found {wrong}; wrote {written}")
    print(f"self-test: {len(cases)} cases, {failures} failures")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments[:1] == ["extract"]:
        extract(REPOSITORY, pathlib.Path(arguments[1]))
        return 0
    places = [one for one in arguments if one not in ("check", "--list")]
    root = pathlib.Path(places[0]).resolve() if places else REPOSITORY
    wrong, every, counts = check(root)
    tested = [one for one in every if one.block.language in LANGUAGES or one.name]
    for one in tested if "--list" in arguments else []:
        print(f"{one.place}: {one.block.language}: {one.name or one.program or 'not run: ' + str(one.reason)}")
    for problem in wrong:
        print(problem)
    print(f"snippets: {len(every)} blocks, {sum(1 for one in tested if one.name or one.program)} are run, not run: "
          + ", ".join(f"{count} {reason}" for reason, count in counts.items()) + f"; {len(every) - len(tested)} are no programs; "
          + (f"{len(wrong)} problems" if wrong else "ok"))
    for reason, count in counts.items():
        if count < REASONS[reason]:
            print(f"snippets: lower '{reason}' to {count} in scripts/snippets.py")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
