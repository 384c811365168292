"""Makes the site's sources out of the pages of the tree, which stay as a forge shows them.

Pages keep their places, so their links hold. README.md becomes three pages. What is no page but linked (sources of examples,
the licence) gets one. Names of headers and of examples become links.
"""
import pathlib
import posixpath
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import markdown_pages  # noqa: E402

# Section of README.md -> page; all others are the start page.
README_PAGES = {
    "Measures": "measures.md",
    "Five-minute tutorial": "tutorial.md",
    "Linking": "tutorial.md",
    "Targets and options": "tutorial.md",
    "Other machines, other instruction sets": "tutorial.md",
    "VEO": "tutorial.md",
}

# Headings of the menu: (title in the menu, page).
MENU = {
    "Start": [("Tutorial", "tutorial"), ("Python tutorial", "docs/python-tutorial"), ("Examples", "examples/README"),
              ("Installing: packages", "docs/packages")],
    "How-to": [("Running on machines and MPI", "docs/running"), ("Richer calls: loops, pools, graphs", "docs/richer-calls"),
               ("Debugging and operation", "docs/debugging"), ("Tracing", "docs/tracing"), ("Python", "docs/python"),
               ("C, Fortran, Rust: the C API", "docs/c-api"), ("VEO", "docs/veo"), ("MPI kernels", "docs/mpix"),
               ("Writing a transport", "docs/writing-a-transport"), ("Upgrading", "docs/upgrading")],
    "Reference": [("Headers in groups", "docs/headers"), ("Every header", "reference/index"), ("Configuration", "docs/configuration"),
                  ("Messages and types", "docs/messages"), ("Errors", "docs/errors"), ("Failures", "docs/failure-semantics"),
                  ("Threads", "docs/thread-model"), ("Security", "docs/security"), ("Versions", "docs/versions"),
                  ("Wire format", "docs/wire-format")],
    "Architecture": [("Architecture", "ARCHITECTURE"), ("One-sided protocols", "docs/one-sided-protocols"),
                     ("Decisions", "docs/decisions/README")],
    "Measures": [("Measures", "measures"), ("Performance", "docs/performance"), ("Peers", "docs/peers"),
                 ("Evaluation", "docs/evaluation"), ("Results of an evaluation", "docs/evaluation-results")],
    "Project": [("Testing", "docs/testing"), ("Contributing", "CONTRIBUTING"), ("Changes", "CHANGELOG"), ("Licence", "LICENSE")],
}

LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".c": "c", ".py": "python", ".f90": "fortran", ".f": "fortran",
             ".sh": "sh", ".txt": "cmake", ".rs": "rust"}


def split_readme(text):
    """README.md as {page: text}, and {anchor: page}."""
    parts, places = {"index.md": ""}, {}
    page, first = "index.md", False
    marks = {number: (level, title, anchor) for number, level, title, anchor in markdown_pages.headings(text)}
    for number, line in enumerate(text.split("\n"), 1):
        if number in marks:
            level, title, anchor = marks[number]
            if level == 2:
                page = README_PAGES.get(title, "index.md")
                first = page != "index.md" and page not in parts
                if first:
                    parts[page] = ""
                    line = "# " + title
            elif first and level > 2:
                line = line[1:]  # its section has become a page
            places[anchor] = page
        parts[page] += line + "\n"
    return parts, places


def without_gaps(text):
    """A page whose sections begin at the third level, with one level less."""
    found = list(markdown_pages.headings(text))
    if len(found) < 2 or found[0][1] != 1 or min(level for _, level, _, _ in found[1:]) <= 2:
        return text
    lines = text.split("\n")
    for number, _, _, _ in found[1:]:
        lines[number - 1] = lines[number - 1][1:]
    return "\n".join(lines)


class stage:
    def __init__(self, root, target):
        self.root, self.target = root, target
        self.headers = set()   # that have a page in reference/
        self.folders = {}      # folder of examples -> {name of its files: anchor}
        self.titles = {}       # page -> its first heading
        self.readme, self.readme_places = split_readme((root / "README.md").read_text(encoding="utf-8"))

    def write(self, page, text):
        (self.target / page).parent.mkdir(parents=True, exist_ok=True)
        (self.target / page).write_text(text, encoding="utf-8")

    def pages(self):
        """The pages of the tree that the site has, as paths."""
        found = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"]
        return found + sorted(path.relative_to(self.root).as_posix() for path in (self.root / "docs").rglob("*.md")
                              if (self.root / "docs/site") not in path.parents)

    def source_page(self, folder):
        """The page that shows the sources in a folder of examples."""
        files = [path for path in sorted((self.root / folder).rglob("*")) if path.is_file()
                 and (path.suffix in LANGUAGES) and "__pycache__" not in path.parts]
        self.folders[folder] = {path.relative_to(self.root / folder).as_posix(): "file-" + re.sub(r"[^a-z0-9]+", "-", path.relative_to(self.root).as_posix().lower())
                                for path in files}
        lines = [f"# {folder}", ""]
        for path in files:
            name = path.relative_to(self.root / folder).as_posix()
            text = path.read_text(encoding="utf-8").rstrip("\n")
            lines += [f"({self.folders[folder][name]})=", f"## {name}", "", "`````" + LANGUAGES[path.suffix], text, "`````", ""]
        self.write(folder + "/sources.md", "\n".join(lines))

    def example_anchor(self, path):
        """The place of a file or folder of examples/ in the site; None if it has none."""
        for folder, names in self.folders.items():
            if path == folder:
                return folder + "/sources.md"
            name = path.removeprefix(folder + "/")
            if name != path and name in names:
                return f"{folder}/sources.md#{names[name]}"
            if name != path and any(one.startswith(name + "/") for one in names):
                return folder + "/sources.md"
        return None

    def title(self, page):
        """The first heading of a page, for links whose text is the name of its file."""
        if page not in self.titles:
            found = next(markdown_pages.headings((self.root / page).read_text(encoding="utf-8")), None)
            self.titles[page] = markdown_pages.plain(found[2]) if found else page
        return self.titles[page]

    def target_of(self, page, link):
        """Where a link of a page (a path in the tree) leads to in the site, as a path there; None for addresses elsewhere."""
        if "://" in link:
            return None
        name, _, anchor = link.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), name)) if name else page
        if path == "README.md":
            return (self.readme_places[anchor] + "#" + anchor) if anchor else "index.md"
        if path == "LICENSE":
            return "LICENSE.md"
        if path.startswith("include/") and path.removeprefix("include/") in self.headers:
            return f"reference/{path.removeprefix('include/')}.md"
        if path.startswith("examples/") and not path.endswith(".md"):
            shown = self.example_anchor(path)
            if shown is None:
                raise SystemExit(f"docs: {page}: {link}: the site has no page for {path}; add its folder in docs/site/stage.py")
            return shown
        return path + ("#" + anchor if anchor else "")

    def rewritten(self, page, place, text):
        """A page's text with links as the site has them. `page`: its path in the tree, `place`: in the site."""
        folder = posixpath.dirname(place)

        def relative(target):
            name, _, anchor = target.partition("#")
            name = "" if name == place and anchor else posixpath.relpath(name, folder or ".")
            return name + ("#" + anchor if anchor else "")

        def link(match):
            target = self.target_of(page, match.group(3))
            text = match.group(2)
            name = posixpath.normpath(posixpath.join(posixpath.dirname(page), match.group(3).split("#")[0]))
            if target is not None and text.strip("`").endswith((".md", "/")) and name.endswith(".md") and (self.root / name).is_file():
                text = self.title(name)
            return match.group(0) if target is None else f"{match.group(1)}[{text}]({relative(target)})"

        def name(match):
            code = match.group(1)
            path = code if not code.startswith("examples/") else None
            if path in self.headers:
                return f"[`{code}`]({relative(f'reference/{path}.md')})"
            shown = self.example_anchor(code) if code.startswith("examples/") else self.example_anchor("examples/usage/" + code)
            return f"[`{code}`]({relative(shown)})" if shown and (code.endswith((".cpp", ".c", ".py")) or "/" in code) else match.group(0)

        outside = {number for number, _ in markdown_pages.outside_of_blocks(text)}
        lines = text.split("\n")
        for number in outside:
            line = lines[number - 1]
            if line.startswith("    ") or markdown_pages.HEADING.match(line):
                lines[number - 1] = markdown_pages.LINK.sub(link, line)
                continue
            pieces, at = [], 0
            for match in markdown_pages.LINK.finditer(line):
                pieces += [re.sub(r"(?<!`)`([\w./-]+)`(?!`)", name, line[at:match.start()]), link(match)]
                at = match.end()
            pieces.append(re.sub(r"(?<!`)`([\w./-]+)`(?!`)", name, line[at:]))
            lines[number - 1] = "".join(pieces)
        return "\n".join(lines)

    def menu(self):
        lines = []
        for title, pages in MENU.items():
            lines += ["```{toctree}", ":hidden:", f":caption: {title}", ""]
            lines += [f"{name} <{page}>" for name, page in pages] + ["```", ""]
        return "\n".join(lines)

    def all(self, headers):
        self.headers = set(headers)
        folders = sorted(path.relative_to(self.root).as_posix() for path in (self.root / "examples").iterdir() if path.is_dir())
        for folder in folders:
            self.source_page(folder)
        for page in self.pages():
            text = (self.root / page).read_text(encoding="utf-8")
            text = without_gaps(self.rewritten(page, page, text))
            if page == "examples/README.md":
                text += "\n```{toctree}\n:caption: Sources\n\n" + "\n".join(f"{folder.removeprefix('examples/')} </{folder}/sources>" for folder in folders) + "\n```\n"
            if page == "docs/decisions/README.md":
                text += "\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"
            self.write(page, text)
        for place, text in self.readme.items():
            text = self.rewritten("README.md", place, text)
            self.write(place, text + ("\n" + self.menu() if place == "index.md" else ""))
        self.write("LICENSE.md", "# Licence\n\n```text\n" + (self.root / "LICENSE").read_text(encoding="utf-8") + "```\n")
        shutil.copytree(self.root / "docs/images", self.target / "docs/images", dirs_exist_ok=True)
        (self.target / "_static").mkdir(parents=True, exist_ok=True)
        for name in ("conf.py", "ham.css"):
            shutil.copy(self.root / "docs/site" / name, self.target / ("" if name == "conf.py" else "_static"))
