#!/usr/bin/env python3
"""Checks that every recipe gives HAM the version of include/ham/version.h: check-recipes.py [ROOT] | --self-test

READERS says for each file that has a version how it is read: as the tool reads it that the file is for, as far as that goes
without the tool. Recipes that compute the version are executed with a stand-in for the tool. Prints one line for each file that
has another version or cannot be read, and ends with 1 if there is one.
"""
import ast
import json
import pathlib
import re
import shutil
import sys
import tempfile
import types

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
HEADER = "include/ham/version.h"


class Unreadable(Exception):
    pass


def found(pattern, text, what):
    match = re.search(pattern, text, re.M)
    if match is None:
        raise Unreadable(f"{what} is not there")
    return match.group(1)


def header(root, _):
    """HAM_VERSION_STRING, which must be what the three numbers are."""
    text = (root / HEADER).read_text(encoding="utf-8")
    numbers = [found(rf"^#define HAM_VERSION_{part} (\d+)$", text, f"HAM_VERSION_{part}")
               for part in ("MAJOR", "MINOR", "PATCH")]
    version = found(r'^#define HAM_VERSION_STRING "(.*)"$', text, "HAM_VERSION_STRING")
    if version != ".".join(numbers):
        raise Unreadable(f"HAM_VERSION_STRING is {version}, the numbers are {'.'.join(numbers)}")
    return version


def changelog(_, file):
    """The newest heading, with or without "(unreleased)" behind it."""
    return found(r"\A# .*\n(?:(?!## ).*\n)*## (\d+\.\d+\.\d+)(?: \(.*\))?$", file.read_text(encoding="utf-8"), "a first heading ## X.Y.Z")


def pyproject(_, file):
    """The version in [project]."""
    return found(r'^\[project\]\n(?:(?!\[).*\n)*?version = "(.*)"$', file.read_text(encoding="utf-8"), "project.version")


def vcpkg(_, file):
    """The version in the manifest of a port, whose other members must be those that vcpkg knows."""
    manifest = json.loads(file.read_text(encoding="utf-8"))
    known = {"name", "version", "port-version", "description", "homepage", "license", "supports", "dependencies",
             "default-features", "features"}
    if set(manifest) - known:
        raise Unreadable(f"members that vcpkg does not know: {sorted(set(manifest) - known)}")
    for name, feature in manifest.get("features", {}).items():
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or "description" not in feature:
            raise Unreadable(f"feature {name} has a wrong name or no description")
    if set(manifest.get("default-features", [])) - set(manifest.get("features", {})):
        raise Unreadable("default-features names one that is not in features")
    if manifest["name"] != file.parent.name:
        raise Unreadable(f"the port {manifest['name']} is in the folder {file.parent.name}")
    return manifest["version"]


def spack(_, file):
    """The first version("X.Y.Z", tag="vX.Y.Z") of the class."""
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "version":
            version = node.args[0].value
            tag = next((word.value.value for word in node.keywords if word.arg == "tag"), None)
            if tag is None:
                continue  # a branch
            if tag != "v" + version:
                raise Unreadable(f"version {version} has the tag {tag}")
            return version
    raise Unreadable("no version with a tag is there")


class AnyName(types.ModuleType):
    """A module in which every name is there."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Exception if name.endswith(("Exception", "Configuration")) else type(name, (), {})


def conan(_, file):
    """What set_version() of the recipe says, in a Python in which conan is a stand-in."""
    names = ["conan", "conan.errors", "conan.tools", "conan.tools.build", "conan.tools.cmake", "conan.tools.files",
             "conan.tools.gnu"]
    before = {name: sys.modules.get(name) for name in names}
    try:
        for name in names:
            sys.modules[name] = AnyName(name)
        sys.modules["conan.tools.files"].load = lambda _, path: pathlib.Path(path).read_text(encoding="utf-8")
        recipe = {"__name__": "conanfile"}
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), recipe)
        instance = recipe["Ham"]()
        instance.recipe_folder, instance.version = str(file.parent), None
        instance.set_version()
        return instance.version
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def conda(_, file):
    """What the recipe's load_file_regex finds, from its folder; the rest must be YAML where there is a reader of it."""
    text = file.read_text(encoding="utf-8")
    load = found(r'load_file_regex\(load_file="([^"]+)", from_recipe_dir=True', text, "load_file_regex from the recipe's folder")
    pattern = found(r"regex_pattern='([^']+)'", text, "its regex_pattern")
    if not re.search(r"^  version: \{\{ version \}\}$", text, re.M):
        raise Unreadable("package.version is not {{ version }}")
    source = (file.parent / load).read_text(encoding="utf-8")
    version = found(pattern, source, f"{pattern} in {load}")
    conda_yaml(text, re.search(pattern, source))
    return version


def conda_yaml(text, match):
    """Renders and parses a recipe as conda-build does, where Python has jinja2 and yaml."""
    try:
        import jinja2
        import yaml
    except ImportError:
        return
    words = {"load_file_regex": lambda **_: match, "compiler": lambda name: f"{name}_compiler_stub",
             "stdlib": lambda name: f"{name}_stdlib", "pin_subpackage": lambda name, **_: name}
    recipe = yaml.safe_load(jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render(words))
    for output in recipe["outputs"]:
        if "name" not in output or "test" not in output:
            raise Unreadable(f"an output without name or test: {output}")


# Each file that says a version, and who reads it.
READERS = {
    "CHANGELOG.md": changelog,
    "python/pyproject.toml": pyproject,
    "packaging/conan/conanfile.py": conan,
    "packaging/conda/meta.yaml": conda,
    "packaging/spack/packages/ham/package.py": spack,
    "packaging/vcpkg/ham/vcpkg.json": vcpkg,
}


def check(root):
    """What is wrong, as lines of text, and the version."""
    try:
        version = header(root, None)
    except (Unreadable, OSError) as problem:
        return [f"{HEADER}: {problem}"], None
    wrong = []
    for name, reader in READERS.items():
        try:
            other = reader(root, root / name)
            if other != version:
                wrong.append(f"{name}: has version {other}, {HEADER} has {version}")
        except Exception as problem:  # a recipe is a program: whatever it throws
            wrong.append(f"{name}: cannot be read: {type(problem).__name__}: {problem}")
    return wrong, version


def copied(root, folder):
    for name in [HEADER, *READERS]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, folder / name)


def self_test():
    """Changes one file of a copy after the other, and sees whether the check says so."""
    version = header(REPOSITORY, None)
    cases = [(name, lambda text: text.replace(version, "7.8.9"), name) for name in READERS
             if version in (REPOSITORY / name).read_text(encoding="utf-8")]
    cases += [(name, lambda text: text.replace("HAM_VERSION_STRING", "HAM_VERSION_WORD"), name)
              for name in ("packaging/conan/conanfile.py", "packaging/conda/meta.yaml")]
    cases += [
        (HEADER, lambda text: text.replace(f'"{version}"', '"7.8.9"'), HEADER),
        ("packaging/vcpkg/ham/vcpkg.json", lambda text: text.replace('"license"', '"licence"'), "packaging/vcpkg/ham/vcpkg.json"),
        ("packaging/spack/packages/ham/package.py", lambda text: text.replace('tag="v', 'tag="'),
         "packaging/spack/packages/ham/package.py"),
        ("CHANGELOG.md", lambda text: text, None),
    ]
    failures = 0
    for name, change, blamed in cases:
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            copied(REPOSITORY, folder)
            text = (folder / name).read_text(encoding="utf-8")
            (folder / name).write_text(change(text), encoding="utf-8")
            wrong, _ = check(folder)
        blames = [line.split(":")[0] for line in wrong]
        if blames != ([blamed] if blamed else []):
            failures += 1
            print(f"{name} changed: expected a problem of {blamed}, found {wrong}")
    print(f"self-test: {len(cases)} cases, {failures} failures")
    return 1 if failures else 0


def main(arguments):
    sys.dont_write_bytecode = True
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0]).resolve() if arguments else REPOSITORY
    wrong, version = check(root)
    for problem in wrong:
        print(problem)
    print(f"recipes: {len(READERS)} files, " + (f"{len(wrong)} problems" if wrong else f"all of version {version}"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
