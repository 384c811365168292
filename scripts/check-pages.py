#!/usr/bin/env python3
"""Checks the links of all pages: check-pages.py [ROOT] | --self-test

Each link of a Markdown file to a file or folder of the tree must have its target, and each #anchor its heading, by the rules of
forges. Addresses on other machines are counted, not fetched. Prints one line for each broken link and ends with 1 if there is one.
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
import markdown_pages  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
PLACES = ("*.md", "docs/**/*.md", "examples/**/*.md", "python/**/*.md", "packaging/**/*.md", "benchmarks/**/*.md", "tests/**/*.md")


def pages_of(root):
    return sorted({page for place in PLACES for page in root.glob(place)})


def check(root):
    """What is wrong, as lines; numbers of pages, of links within the tree, of addresses elsewhere."""
    wrong, inside, elsewhere = [], 0, 0
    pages = pages_of(root)
    anchors = {}
    for page in pages:
        for number, target in markdown_pages.links(page.read_text(encoding="utf-8")):
            if "://" in target or target.startswith("mailto:"):
                elsewhere += 1
                continue
            inside += 1
            place = f"{page.relative_to(root)}:{number}"
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            if not file.exists() or not file.is_relative_to(root.resolve()):
                wrong.append(f"{place}: {target}: there is no such file")
            elif anchor and file.suffix != ".md":
                wrong.append(f"{place}: {target}: an anchor of what is no page")
            elif anchor:
                if file not in anchors:
                    anchors[file] = markdown_pages.anchors(file.read_text(encoding="utf-8"))
                if anchor not in anchors[file]:
                    wrong.append(f"{place}: {target}: that page has no such heading")
    return wrong, len(pages), inside, elsewhere


def self_test():
    """Builds small trees and sees whether the check says what it should."""
    other = "# Other\n\n## A `heading`, with (marks)\n\n## Twice\n\n## Twice\n"
    cases = [
        # text of a.md; expected number of broken links
        ("[b](docs/b.md) ![picture](docs/b.md)", 0),
        ("[b](docs/c.md)", 1),
        ("[b](docs/b.md#a-heading-with-marks) [b](docs/b.md#twice-1)", 0),
        ("[b](docs/b.md#a-heading) [b](docs/b.md#twice-2)", 2),
        ("# Here\n\n[here](#here) [there](#there)", 1),
        ("`[b](c.md)` and\n\n```text\n[b](c.md)\n```\n", 0),
        ("[`b`](c.md)", 1),
        ("[elsewhere](https://example.org/c.md#d)", 0),
        ("[docs](docs) [outside](../../etc)", 1),
        ("| [a](c.md) | [b](docs/b.md) |", 1),
    ]
    failures = 0
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder) / "root"
            (root / "docs").mkdir(parents=True)
            (root / "a.md").write_text(text, encoding="utf-8")
            (root / "docs/b.md").write_text(other, encoding="utf-8")
            wrong = check(root)[0]
        if len(wrong) != expected:
            failures += 1
            print(f"{text!r}: expected {expected} broken links, found {wrong}")
    print(f"self-test: {len(cases)} cases, {failures} failures")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0]).resolve() if arguments else REPOSITORY
    wrong, pages, inside, elsewhere = check(root)
    for problem in wrong:
        print(problem)
    print(f"links: {pages} pages, {inside} links, " + (f"{len(wrong)} broken" if wrong else "ok")
          + f"; {elsewhere} addresses elsewhere are not looked at")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
