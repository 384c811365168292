#!/usr/bin/env python3
"""Tests of the site's parts that need neither Doxygen nor Sphinx: texts of declarations, the stage, the check of the result."""
import pathlib
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import check_site  # noqa: E402
import declarations  # noqa: E402
import reference  # noqa: E402
import stage  # noqa: E402

HEADER = """// First line.
#pragma once

/// Waits.
template <class Result>
requires(!is_void<Result>)
[[nodiscard]] Result get(int x = f(1), std::array<int, 2> y = {}) const noexcept {
  return x;
}
struct point {
  explicit point(int x) : x_(x) {}
  int x = 0;  ///< to the right
};
enum class way { here, there };  ///< which
using name = std::string;
#define HAM_TWICE(X) \\
  ((X) + (X))
""".split("\n")

DECLARATIONS = [
    # line, kind, expected text
    (7, "function", "template <class Result>\nrequires(!is_void<Result>)\n"
                    "[[nodiscard]] Result get(int x = f(1), std::array<int, 2> y = {}) const noexcept"),
    (10, "class", "struct point"),
    (11, "function", "  explicit point(int x)"),
    (12, "variable", "  int x = 0"),
    (14, "enum", "enum class way { here, there };  // which"),
    (15, "typedef", "using name = std::string"),
    (16, "define", "#define HAM_TWICE(X)"),
]

DESCRIPTION = """<memberdef><briefdescription/><detaileddescription><para>Gives <computeroutput>a_b</computeroutput> for *x&lt;T&gt;*:
<programlisting><codeline><highlight>int<sp/>a;</highlight></codeline></programlisting> and <itemizedlist><listitem><para>one</para></listitem></itemizedlist>
</para></detaileddescription></memberdef>"""

PAGES = {
    "good": ('<a href="b.html#here">b</a><a id="x"></a><a href="#x">x</a><a href="https://example.org">e</a>', 0),
    "no file": ('<a href="c.html">c</a>', 1),
    "no anchor": ('<a href="b.html#there">b</a><a href="#y">y</a>', 2),
    "a folder": ('<a href="folder">f</a>', 1),
    "from outside": ('<script src="https://example.org/x.js"></script><link rel="stylesheet" href="//example.org/x.css">', 2),
    "an image": ('<img src="none.png">', 1),
}


def problems():
    for line, kind, expected in DECLARATIONS:
        text = declarations.declaration(HEADER, line, kind)
        if text != expected:
            yield f"line {line}: expected {expected!r}, found {text!r}"
    text = declarations.description(ElementTree.fromstring(DESCRIPTION))
    if text != "Gives `a_b` for \\*x\\<T\\>\\*:\n\n```cpp\nint a;\n```\n\nand\n\n- one":
        yield f"description: {text!r}"
    text = reference.leading_comment("// Says <what>:\n//\n//   int a;\n//\n// More.\n#pragma once\n")
    if text != "Says \\<what\\>:\n\n```cpp\nint a;\n```\n\nMore.":
        yield f"leading comment: {text!r}"
    parts, places = stage.split_readme("# HAM\n\nA.\n\n## Measures\n\nB.\n\n### Floor\n\n## Licence\n\nC.\n")
    if parts != {"index.md": "# HAM\n\nA.\n\n## Licence\n\nC.\n\n", "measures.md": "# Measures\n\nB.\n\n## Floor\n\n"} or places["floor"] != "measures.md":
        yield f"README: {parts} {places}"
    for name, (body, expected) in PAGES.items():
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            (folder / "folder").mkdir()
            (folder / "a.html").write_text(body, encoding="utf-8")
            (folder / "b.html").write_text('<h1 id="here">b</h1>', encoding="utf-8")
            wrong = check_site.check(folder)[0]
        if len(wrong) != expected:
            yield f"{name}: expected {expected} problems, found {wrong}"
    if check_site.styles_from_outside('@import "https://example.org/a.css"; a { background: url(b.png) }') != ["https://example.org/a.css"]:
        yield "styles from outside are not found"


if __name__ == "__main__":
    failures = list(problems())
    print("\n".join(failures + [f"self-test: {len(failures)} failures"]))
    sys.exit(1 if failures else 0)
