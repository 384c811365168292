#!/usr/bin/env python3
"""Checks that names and texts use the field's words: check-words.py [--list [WORD] | --lower] [ROOT] | --self-test

scripts/words.txt lists words of our own, what the field says instead, and how often each may still be found. More of
one is an error. --list shows the places, of all words or of those that match WORD; --lower writes the numbers of today
where they are lower.
"""
import pathlib
import re
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
CODE = ("include", "src", "tools", "tests", "examples", "benchmarks", "fuzz", "python")
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs")
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".txt", ".cmake", ".md"}


class word:
    """A line of the list. A word is one also inside of snake_case."""

    def __init__(self, line):
        allowed, self.where, rest = (part.strip() for part in line.split("|", 2))
        pattern, self.instead = (part.strip() for part in rest.rsplit(" | ", 1))
        self.allowed = int(allowed)
        self.pattern = pattern
        self.regex = re.compile(rf"(?<![A-Za-z])(?:{pattern})(?![A-Za-z])")


def read_list(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    return [word(line) for line in lines if line and not line.startswith("#")]


def files_below(root, places):
    for place in places:
        path = root / place
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from sorted(one for one in path.rglob("*") if one.is_file() and one.suffix in SUFFIXES)


def find(root, words):
    """For each word the lines where it stands: (path, number, text)."""
    found = {one.pattern: [] for one in words}
    for kind, places in (("code", CODE), ("pages", PAGES)):
        for path in files_below(root, places):
            text = path.read_text(encoding="utf-8", errors="replace")
            here = [one for one in words if (kind == "code" or one.where == "all") and one.regex.search(text)]
            for number, line in enumerate(text.splitlines() if here else [], start=1):
                for one in here:
                    count = len(one.regex.findall(line))
                    found[one.pattern] += [(path.relative_to(root), number, line.strip())] * count
    return found


def check(root, words):
    """Words of which there are more than allowed, as lines of text."""
    found = find(root, words)
    return [f"{len(found[one.pattern])} times \"{one.pattern}\", allowed {one.allowed}: write \"{one.instead}\" "
            f"(check-words.py --list '{one.pattern}' shows where)"
            for one in words if len(found[one.pattern]) > one.allowed]


def lower(root, file):
    words = read_list(file)
    found = find(root, words)
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            one = word(line)
            now = min(one.allowed, len(found[one.pattern]))
            line = f"{now} | " + line.split("|", 1)[1].strip()
        lines.append(line)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def self_test():
    """Small trees, and whether the check counts in them what it should."""
    line = "1 | {} | journeys? | round trip"
    cases = [
        # text of a source, text of a page, where the word counts, whether that is too much
        ("one_journey", "", "all", False),
        ("one_journey two_journeys", "", "all", True),
        ("journey", "a journey", "all", True),
        ("journey", "a journey, journeys", "code", False),
        ("journeyman", "journeying, sojourney", "all", False),
    ]
    failures = 0
    for source, page, where, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for place, text in (("src/base/a.cpp", source), ("docs/a.md", page)):
                (root / place).parent.mkdir(parents=True, exist_ok=True)
                (root / place).write_text(text + "\n")
            wrong = check(root, [word(line.format(where))])
        if bool(wrong) != expected:
            failures += 1
            print(f"{source!r}, {page!r} ({where}): expected {expected}, found {wrong}")
    print(f"self-test: {len(cases)} cases, {failures} failures")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    file = REPOSITORY / "scripts" / "words.txt"
    if arguments[:1] == ["--lower"]:
        lower(REPOSITORY, file)
        return 0
    words = read_list(file)
    if arguments[:1] == ["--list"]:
        for one in words:
            if len(arguments) > 1 and re.search(arguments[1], one.pattern) is None and arguments[1] != one.pattern:
                continue
            for path, number, text in find(REPOSITORY, [one])[one.pattern]:
                print(f"{path.as_posix()}:{number}: {text[:100]}")
        return 0
    root = pathlib.Path(arguments[0]).resolve() if arguments else REPOSITORY
    wrong = check(root, words)
    for problem in wrong:
        print(problem)
    left = sum(one.allowed for one in words)
    print(f"words: {len(words)} of our own, {left} places may have them, " + (f"{len(wrong)} problems" if wrong else "ok"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
