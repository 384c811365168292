#!/usr/bin/env python3
"""Builds the site: build.py FOLDER [--list]. Run by `make docs`, with Doxygen and, in Python's path, Sphinx, MyST and Furo.

FOLDER gets source/ (the pages as Sphinx reads them), doxygen/ (what the headers declare) and html/ (the site), and
undocumented.txt: public names without a comment, of which there may be no more than reference.MAX_UNDOCUMENTED (--list prints
them). Ends with 1, and a line for each, on broken links and references, on what would be loaded from outside and on new names
without a comment. Uses no network.
"""
import importlib.util
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import check_site  # noqa: E402
import reference  # noqa: E402
import stage  # noqa: E402


def missing_tools():
    found = [] if shutil.which("doxygen") else ["doxygen (Debian: doxygen)"]
    for module, package in (("sphinx", "sphinx"), ("myst_parser", "myst-parser"), ("furo", "furo")):
        if importlib.util.find_spec(module) is None:
            found.append(f"{package} (PyPI)")
    return found


def run_doxygen(folder):
    shutil.rmtree(folder / "doxygen", ignore_errors=True)
    settings = (HERE / "Doxyfile").read_text(encoding="utf-8")
    settings += f'INPUT = include\nOUTPUT_DIRECTORY = "{folder / "doxygen"}"\n'
    subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return folder / "doxygen/xml"


def synchronise(new, old):
    """Makes `old` what `new` is, and leaves what is the same alone: Sphinx builds only what has changed."""
    wanted = {path.relative_to(new) for path in new.rglob("*") if path.is_file()}
    for path in [path for path in old.rglob("*") if path.is_file() and path.relative_to(old) not in wanted]:
        path.unlink()
    for name in wanted:
        (old / name).parent.mkdir(parents=True, exist_ok=True)
        if not (old / name).is_file() or (old / name).read_bytes() != (new / name).read_bytes():
            shutil.copy(new / name, old / name)
    shutil.rmtree(new)


def main(arguments):
    folders = [one for one in arguments if one != "--list"]
    if len(folders) != 1:
        print(__doc__)
        return 2
    missing = missing_tools()
    if missing:
        print(f"docs: the site is not built: it needs {', '.join(missing)}")
        return 1
    folder = pathlib.Path(folders[0]).resolve()
    new = folder / "source.new"
    shutil.rmtree(new, ignore_errors=True)
    names, undocumented = reference.write(run_doxygen(folder), ROOT, new / "reference")
    stage.stage(ROOT, new).all(names)
    synchronise(new, folder / "source")
    (folder / "undocumented.txt").write_text("".join(one + "\n" for one in undocumented), encoding="utf-8")
    if "--list" in arguments:
        print("\n".join(undocumented))
    built = subprocess.run([sys.executable, "-m", "sphinx", "-b", "html", "-n", "-W", "--keep-going", "-q", "-d", folder / "doctrees",
                            folder / "source", folder / "html"])
    wrong, pages, links = check_site.check(folder / "html")
    for problem in wrong:
        print(f"docs: {problem}")
    most = reference.MAX_UNDOCUMENTED
    print(f"docs: {pages} pages, {links} links, {len(names)} headers, {len(undocumented)} public names without a comment "
          f"(at most {most}; {folder / 'undocumented.txt'})")
    if len(undocumented) > most:
        print("docs: there are new public names without a comment: give them one")
    elif len(undocumented) < most:
        print(f"docs: lower MAX_UNDOCUMENTED to {len(undocumented)} in docs/site/reference.py")
    if built.returncode or wrong or len(undocumented) > most:
        print("docs: FAILED, see the lines above")
        return 1
    print(f"docs: {folder / 'html/index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
