#!/usr/bin/env python3
"""Proves the models of tests/models (docs/testing.md): prove.py [--list] [--jobs N] [NAME...]

A model is a program that runs production code in all ways that schedule and memory model allow (tests/models/NAME_model.cpp),
or a protocol for Spin (tests/models/protocols/NAME.pml). Every model must hold, and must reject each of its mutants: the
production code with one change (NAME.mutants), or the protocol with one MUTANT_... defined. Protocols are also compared with
runs of the library that a simulation has recorded (scripts/recorded_runs.py). Prints one line each and ends with 1 if a model
fails, a mutant survives, something was not explored completely, or a model and the library differ. What is skipped for want of
Spin or of a simulation is counted; where CI=true, that is a failure, and so is a run that has taken more than 900 s.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

import recorded_runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ROOT / "tests/models"
BUILD = ROOT / "build/prove"
CXX = os.environ.get("CXX", "c++")
CC = os.environ.get("CC", "cc")
LAUNCHER = shlex.split(os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", ""))  # such as ccache, which knows most programs of old
FLAGS = ["-std=c++20", "-Wall", "-Wextra", f"-I{MODELS}"]
MODEL_SECONDS = 240  # a scenario; more, and it is reported as not complete
MUTANT_SECONDS = 120
MAX_PROTOCOL_DEPTH = 1_000_000
MAX_SECONDS_IN_CI = 900  # of everything; meant to take 600 s at most on 2 quiet cores, and machines differ


class problem(Exception):
    """What a line reports as wrong."""


def run(command, seconds=600, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False,
                          **options)


def must_run(command, **options):
    done = run(command, **options)
    if done.returncode != 0:
        raise problem(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def build(compile_command, source, program, objects=(), **options):
    """In two steps, because a compiler cache knows objects only."""
    target = program.with_name(f"{program.name}.o")
    must_run([*LAUNCHER, *compile_command, "-c", source, "-o", target], **options)
    must_run([compile_command[0], target, *objects, "-o", program], **options)


def build_explorer():
    """The object files that all models share."""
    BUILD.mkdir(parents=True, exist_ok=True)
    objects = []
    for source in sorted((MODELS / "explorer").glob("*.cpp")):
        if source.stem == "litmus":
            continue
        target = BUILD / f"{source.stem}.o"
        must_run([*LAUNCHER, CXX, *FLAGS, "-O2", "-g", "-c", source, "-o", target])
        objects.append(target)
    return objects


def build_model(source, program, objects, instead=None, optimise="-O1"):
    """Compiles a model; headers and sources are taken from `instead` before src/."""
    first = [f"-I{instead}"] if instead else []
    build([CXX, *FLAGS, optimise, "-g", "-DHAM_MODEL", *first, f"-I{MODELS / 'shadow'}", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}"],
          source, program, objects)


def read_mutants(path):
    """(title, file, old text, new text, options of the model) of each mutant; "in NAME": of one scenario."""
    found = []
    for block in re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
        title, file, *changes = block.rstrip("\n").split("\n")
        only = [f"--scenario={line.removeprefix('in ')}" for line in changes if line.startswith("in ")]
        old = "\n".join(line[1:] for line in changes if line.startswith("-"))
        new = "\n".join(line[1:] for line in changes if line.startswith("+"))
        found.append((title, file, old, new, only))
    return found


def mutate(folder, file, old, new):
    """Writes the changed file to a folder that is searched before src/."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise problem(f"{file} has the text of the mutant {text.count(old)} times, not once:\n{old}")
    target = folder / pathlib.Path(*pathlib.Path(file).parts[1:])
    shutil.rmtree(folder, ignore_errors=True)
    target.parent.mkdir(parents=True)
    target.write_text(text.replace(old, new), encoding="utf-8")


def explore(program, seconds, *options):
    """Exit status (0: holds, 3: rejected) and output of a model."""
    done = run([program, f"--seconds={seconds}", *options], seconds=1200)
    return done.returncode, done.stdout


def prove_model(name, source, objects):
    program = BUILD / f"{name}_model"
    build_model(source, program, objects, optimise="-O2")  # it runs for longer than that takes
    status, output = explore(program, MODEL_SECONDS)
    (BUILD / f"{name}.log").write_text(output)
    if status != 0:
        raise problem(f"see {program}\n{output}")
    states = sum(int(number) for number in re.findall(r" (\d+) states", output))
    return f"{len(output.splitlines())} scenarios, {states} states"


def prove_mutant(name, source, objects, number, mutant):
    _, file, old, new, only = mutant
    folder = BUILD / f"{name}-{number}"
    mutate(folder, file, old, new)
    program = BUILD / f"{name}_mutant_{number}"
    build_model(source, program, objects, folder)
    status, output = explore(program, MUTANT_SECONDS, "--stop", *only)
    if status != 3:
        raise problem(f"survives (status {status})\n{output}")
    reason = [line for line in output.splitlines() if ": " in line and not line.startswith("to see it")]
    return "rejected: " + (reason[-1] if reason else "")


def prove_protocol(name, source, mutant=None):
    """Spin's whole search; with a mutant defined it must find an error."""
    folder = BUILD / (f"{name}-{mutant}" if mutant else name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(source, folder)
    shutil.copy(source.with_name("trace.promela"), folder)
    must_run(["spin", *([f"-D{mutant}"] if mutant else []), "-a", source.name], cwd=folder)
    build([CC, "-O2", "-w", "-DSAFETY", "-DMEMLIM=4096", "-DVECTORSZ=4096"], "pan.c", folder / "pan", cwd=folder)
    output = run(["./pan", f"-m{MAX_PROTOCOL_DEPTH}"], cwd=folder).stdout
    errors = re.search(r"errors: (\d+)", output)
    if errors is None or (errors.group(1) == "0" and recorded_runs.CUT_OFF.search(output)):
        raise problem(f"the search is not complete\n{output}")
    found = re.search(r"pan:\d+: (.*?) \(at depth", output)
    states = re.search(r"(\d+) states, stored", output).group(1)
    if mutant is None:
        if errors.group(1) != "0":
            raise problem(f"{found.group(1) if found else 'fails'}: spin -t -p -g {source.name} in {folder} shows the run\n{output}")
        return f"{states} states"
    if errors.group(1) == "0":
        raise problem(f"survives: {states} states without an error")
    return f"rejected: {found.group(1) if found else 'error'}"


def compare_protocol(name, source, simulation):
    """Recorded runs are runs of the model, and runs that were changed are not. `name`: of the recording."""
    folder = BUILD / f"{name}-recorded"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in (source, source.with_name("trace.promela"), source.with_name("recorded.h")):
        shutil.copy(file, folder)
    observers = re.search(r"#define OBSERVERS (\d+)", source.read_text(encoding="utf-8")).group(1)
    must_run(["spin", "-DTRACE", f"-DRECORDED_{name.upper()}", "-a", source.name], cwd=folder)
    build([CC, "-O2", "-w", "-DSAFETY", "-DNOREDUCE", f"-DOBSERVERS={observers}", "-DMEMLIM=2048", "-DVECTORSZ=4096"], "pan.c",
          folder / "pan", cwd=folder)
    try:
        return recorded_runs.compare(name, folder, simulation)
    except recorded_runs.difference as wrong:
        raise problem(str(wrong)) from wrong


def mutants_of(source):
    return sorted(set(re.findall(r"\bMUTANT_\w+", source.read_text(encoding="utf-8"))))


def tasks(names, simulation):
    """(title, function without arguments) of everything that is to be proved."""
    models = {path.name.removesuffix("_model.cpp"): path for path in sorted(MODELS.glob("*_model.cpp"))}
    models["litmus"] = MODELS / "explorer/litmus.cpp"
    protocols = {path.stem: path for path in sorted((MODELS / "protocols").glob("*.pml"))}
    unknown = set(names) - models.keys() - protocols.keys()
    if unknown:
        sys.exit(f"prove: no model is called {', '.join(sorted(unknown))}; there are: {', '.join([*models, *protocols])}")
    wanted = lambda name: not names or name in names
    for name, source in protocols.items():
        if wanted(name):
            yield f"{name} (Spin)", lambda objects, name=name, source=source: prove_protocol(name, source)
            for recording in recorded_runs.recordings_of(name) if simulation is not None else ():
                yield (f"{name} (Spin), recorded runs of {recording}",
                       lambda objects, recording=recording, source=source: compare_protocol(recording, source, simulation))
            for mutant in mutants_of(source):
                yield (f"{name} (Spin), {mutant}",
                       lambda objects, name=name, source=source, mutant=mutant: prove_protocol(name, source, mutant))
    for name, source in models.items():
        if not wanted(name):
            continue
        yield name, lambda objects, name=name, source=source: prove_model(name, source, objects)
        list_of_mutants = source.with_name(f"{name}.mutants")
        for number, mutant in enumerate(read_mutants(list_of_mutants) if list_of_mutants.is_file() else [], start=1):
            yield (f"{name}, mutant {number}: {mutant[0]}",
                   lambda objects, name=name, source=source, number=number, mutant=mutant:
                   prove_mutant(name, source, objects, number, mutant))


def prove(title, work, objects):
    begin = time.monotonic()
    try:
        text, good = work(objects), True
    except (problem, subprocess.TimeoutExpired, OSError) as wrong:
        text, good = f"FAILS: {wrong}", False
    print(f"{title}: {text} ({time.monotonic() - begin:.1f} s)", flush=True)
    return good


def without_skipped(todo, has_spin, has_simulation):
    """What can be checked here, and a line for each kind of check that cannot."""
    protocols = [title for title, _ in todo if "(Spin)" in title]
    if not has_spin and protocols:
        return ([one for one in todo if "(Spin)" not in one[0]],
                [f"prove: skipped: spin is not installed (Debian: spin): {len(protocols)} checks of protocols"])
    if not has_simulation and protocols:
        compared = sum(len(recorded_runs.recordings_of(title.removesuffix(" (Spin)")))
                       for title in protocols if title.endswith(" (Spin)"))
        return todo, [f"prove: skipped: no --simulation: {compared} comparisons of protocols with the library"]
    return todo, []


def longest_first(todo):
    """Whole models of production code take longest: begun last, one would be waited for by idle cores."""
    return sorted(todo, key=lambda one: "," in one[0] or "(Spin)" in one[0])


def status(results, skipped, in_ci, seconds):
    """Of the process. In CI nobody reads what was skipped, nor how long it took; elsewhere something must have been checked."""
    if not all(results):
        return 1
    if in_ci and seconds > MAX_SECONDS_IN_CI:
        print(f"prove: FAILS: it took {seconds:.0f} s; with CI=true it may take {MAX_SECONDS_IN_CI} s")
        return 1
    if skipped and (in_ci or not results):
        print("prove: FAILS: " + ("with CI=true nothing may be skipped" if in_ci else "nothing was checked"))
        return 1
    return 0


def self_test():
    """What is skipped is told, and is a failure where nobody would read it, and so is what took too long. A search that was
    cut off rejects nothing."""
    work = lambda objects: ""
    todo = [("one (Spin)", work), ("one (Spin), recorded runs", work), ("one (Spin), MUTANT_A", work), ("ring", work)]
    assert without_skipped(todo, True, True) == (todo, [])
    left, skipped = without_skipped(todo, False, True)
    assert [title for title, _ in left] == ["ring"]
    assert len(skipped) == 1 and "skipped: spin is not installed" in skipped[0] and "3 checks" in skipped[0]
    left, skipped = without_skipped(todo, True, False)
    assert left == todo and len(skipped) == 1 and "1 comparisons" in skipped[0]
    assert without_skipped([("ring", work)], False, False) == ([("ring", work)], [])
    assert [title for title, _ in longest_first([*todo, ("ring, mutant 1: it", work)])] == [
        "ring", "one (Spin)", "one (Spin), recorded runs", "one (Spin), MUTANT_A", "ring, mutant 1: it"]
    assert status([True], [], True, 1) == 0 and status([True, False], [], False, 1) == 1
    assert status([True], ["skipped"], False, 1) == 0
    assert status([True], ["skipped"], True, 1) == 1 and status([], ["skipped"], False, 1) == 1
    assert status([True], [], True, MAX_SECONDS_IN_CI) == 0 and status([True], [], True, MAX_SECONDS_IN_CI + 1) == 1
    assert status([True], [], False, MAX_SECONDS_IN_CI + 1) == 0
    complete = "State-vector 60 byte, depth reached 40, errors: 0\n"
    assert recorded_runs.is_accepted("here", recorded_runs.ACCEPTED, "")
    assert not recorded_runs.is_accepted("here", 0, complete)
    for cut in ("error: max search depth too small\n" + complete, "pan: out of memory\n" + complete,
                "pan: reached -DMEMLIM bound\n" + complete, complete + "Warning: Search not completed\n", "pan: no such file\n"):
        try:
            assert not recorded_runs.is_accepted("here", 0, cut), cut
        except recorded_runs.difference as told:
            assert cut in str(told)
        else:
            assert False, f"a search that was cut off is a rejection: {cut}"
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--list", action="store_true", help="name everything, run nothing")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options.add_argument("--simulation", type=pathlib.Path, help="ham_sim, which records runs of the library; without it models "
                         "of protocols are not compared with the library")
    options.add_argument("names", nargs="*")
    wish = options.parse_args()
    todo = list(tasks(wish.names, wish.simulation and wish.simulation.resolve()))
    if wish.list:
        print("\n".join(title for title, _ in todo))
        return 0
    todo, skipped = without_skipped(todo, shutil.which("spin") is not None, wish.simulation is not None)
    begin = time.monotonic()
    results = []
    if todo:
        objects = build_explorer()
        with concurrent.futures.ThreadPoolExecutor(wish.jobs) as pool:
            results = list(pool.map(lambda one: prove(one[0], one[1], objects), longest_first(todo)))
    seconds = time.monotonic() - begin
    print("\n".join([*skipped, f"prove: {len(results)} checks, {results.count(False)} failures, {len(skipped)} kinds skipped, "
                     f"{seconds:.0f} s"]))
    return status(results, skipped, os.environ.get("CI") == "true", seconds)


if __name__ == "__main__":
    sys.exit(main())
