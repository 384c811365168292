"""make evaluate: runs the evaluation of the papers and writes its page.

  python3 benchmarks/evaluate [--build build/release] [--out build/evaluation] [PART...]

Parts are experiments (--list shows them); without any, all are measured. What is there and of the same build is not measured
again, unless --again is given.
"""
import argparse
import os
import signal
import subprocess
import sys
import time

import durations
import experiments
import machine
import markdown
import papers
import runner

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SYSTEM_PYTHON = "/usr/bin/python3"
INTERRUPTED = 130  # as of a program that SIGINT has ended
LOOK = os.path.join(SOURCE, "tests", "benchmarks", "evaluate", "browser_test.py")
LOOK_S = 900
SKIPPED = 77


def use_a_python_that_plots():
    """matplotlib comes from the distribution, so it may be there for another interpreter than this one."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON) and os.access(SYSTEM_PYTHON, os.X_OK) \
                and "HAM_EVALUATE_PYTHON" not in os.environ:
            os.environ["HAM_EVALUATE_PYTHON"] = "tried"
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])
        print("evaluate: matplotlib is missing (Debian: python3-matplotlib): the page has tables and no plots", file=sys.stderr)


def arguments_of(texts):
    parser = argparse.ArgumentParser(prog="evaluate", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("parts", nargs="*", help="experiments to run, all if none is named")
    parser.add_argument("--build", default="build/release", help="build folder")
    parser.add_argument("--out", default="build/evaluation", help="folder of the page and of its data")
    parser.add_argument("--minutes", type=float, default=None,
                        help=f"time that the measurements may take ({durations.MEASURING_MIN}; with --since less, so that all takes {durations.WHOLE_MIN})")
    parser.add_argument("--again", action="store_true", help="measure also what is there")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page of what is there")
    parser.add_argument("--look", action="store_true", help="have the page looked at in Chromium when it is written, where that is installed")
    parser.add_argument("--markdown", action="store_true", help="measure nothing, print the results of what is there as Markdown")
    parser.add_argument("--since", type=float, default=None, metavar="SECONDS",
                        help="when make evaluate began, as `date +%%s` prints it: the durations are recorded and shown")
    for name, what in (("--installed", "packages were installed and the build was configured"), ("--built", "the programs were built")):
        parser.add_argument(name, type=float, default=None, metavar="SECONDS", help=f"when {what}, likewise")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--check", action="store_true", help="measure and write nothing, only check the names of the parts")
    return parser.parse_args(texts)


def chosen(parts):
    """Experiments with these names, in the order of the list."""
    names = [name for part in parts for name in part.split()]
    known = {one.name for one in experiments.EXPERIMENTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"evaluate: there is no experiment \"{unknown[0]}\" (there are: {' '.join(sorted(known))})")
    return [one for one in experiments.EXPERIMENTS if not names or one.name in names]


def measurements_of(parts):
    """Measurements of these experiments, each once, in their order."""
    names = dict.fromkeys(name for part in parts for name in part.measurements)
    return [experiments.MEASUREMENTS[name] for name in names]


def say(line):
    print(("\r\033[K" if sys.stdout.isatty() else "") + line, flush=True)


def progress(line):
    print(f"\r\033[K{line}", end="", flush=True)


def interrupt(_number, _frame):
    raise KeyboardInterrupt


def interrupted_as_by_the_terminal():
    """Whoever ends this run in another way than by ctrl-C, as make does when it is ended, leaves as little behind."""
    for number in (signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)


def looked_at(path):
    """Whether the page shows in a browser what a reader must see; true as well if nobody can look."""
    try:
        done = subprocess.run([sys.executable, LOOK, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=LOOK_S, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "CI": ""})
    except (OSError, subprocess.TimeoutExpired) as problem:
        print(f"evaluate: the page was not checked: {problem}")
        return False
    if done.returncode == SKIPPED:
        print(f"evaluate: the page was not checked: {done.stdout.strip().removeprefix('SKIPPED: ')}")
        return True
    print("evaluate: the page was checked in Chromium: ok" if done.returncode == 0 else
          f"{done.stdout}evaluate: the page does not show what it must, see the lines above")
    return done.returncode == 0


def write_page(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def main(texts):
    begin = time.time()
    options = arguments_of(texts)
    if options.list:
        for one in experiments.EXPERIMENTS:
            print(f"{one.name:18} {one.title}")
        return 0
    place = runner.Place(SOURCE, os.path.abspath(options.build), os.path.abspath(options.out))
    parts = chosen(options.parts)
    if options.check:
        return 0
    everything = experiments.EXPERIMENTS
    interrupted = False
    earlier, measures = durations.read(place.out), not options.page and not options.markdown
    run = durations.Run([one.name for one in parts], [one.name for one in everything], machine.identity(), machine.revision(SOURCE), begin,
                        options.since, options.installed, options.built)
    if measures:
        minutes = durations.minutes_left(begin, options.since) if options.minutes is None else options.minutes
        interrupted_as_by_the_terminal()
        try:
            show = progress if sys.stdout.isatty() else None
            run.measured(runner.Runner(place, minutes * 60, options.again, say, tick=show).run(measurements_of(parts)))
        except KeyboardInterrupt:
            interrupted = run.data["interrupted"] = True
            print("\nevaluate: interrupted; the next run goes on here", file=sys.stderr, flush=True)
    run.done("measuring", time.time())
    records, described = runner.of_one_machine({one.name: runner.read_record(place, one.name) for one in measurements_of(everything)})
    records = runner.with_marks(place, records, experiments.MEASUREMENTS)
    described = described or machine.describe(place.build)
    if options.markdown:
        print(markdown.written(everything, records, papers.load(), described, earlier))
        return 0
    import page  # after the choice of an interpreter
    path = os.path.join(place.out, "report.html")
    os.makedirs(place.out, exist_ok=True)
    write_page(path, page.written(everything, records, papers.load(), described, [*earlier, run.data] if measures else earlier))
    print(f"evaluate: {os.path.relpath(path)}", flush=True)
    run.done("writing the page", time.time())
    shows = interrupted or not options.look or looked_at(path)
    if options.look and not interrupted:
        run.done("checking the page", time.time())
    if measures:  # the page once more, with the time that all of it took
        durations.write(place.out, earlier, run)
        write_page(path, page.written(everything, records, papers.load(), described, durations.read(place.out)))
    print(f"evaluate: took {durations.text(time.time() - (begin if options.since is None else options.since))}", flush=True)
    if interrupted:
        return INTERRUPTED
    return 0 if shows else 1


if __name__ == "__main__":
    if not {"--check", "--list", "--markdown", "--help", "-h"} & set(sys.argv):
        use_a_python_that_plots()
    sys.exit(main(sys.argv[1:]))
