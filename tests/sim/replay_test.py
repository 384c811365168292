"""A failure is made small, and what is printed replays it: replay_test.py PROGRAM [OPTION...], which must fail."""
import re
import shlex
import subprocess
import sys


def run(command):
    """Its output, and in which way it has failed, without the numbers of this run."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    failure = re.search(r"^FAILED after .*? hand-overs: (.*)$", done.stdout, re.MULTILINE)
    if done.returncode != 1 or failure is None:
        sys.exit(f"{shlex.join(command)} has not failed as a simulation does (status {done.returncode}):\n{done.stdout}")
    return done.stdout, re.sub(r"\d+", "", failure[1])


def value(command, option):
    return command[command.index(option) + 1]


def main():
    found, kind = run(sys.argv[1:])
    printed = re.search(r"^replay with: (.*)$", found, re.MULTILINE)
    if printed is None:
        sys.exit(f"no command is printed:\n{found}")
    replay = shlex.split(printed[1])
    again, same = run(replay)
    problems = []
    if same != kind:
        problems.append(f"it is another failure: {same}")
    if not re.search(r"^  thread \d+ of node -?\d+: waits ", again, re.MULTILINE):
        problems.append("who waits for what is not said")
    for option in ("--medium", "--devices", "--supervised", "--verbs", "--plant"):
        if option in sys.argv and (option not in replay or value(replay, option) != value(sys.argv, option)):
            problems.append(f"{option} is not as it was")
    if "--only" not in replay and "--without" not in replay:
        problems.append("no step was left out")
    if int(value(replay, "--nodes")) > int(value(sys.argv, "--nodes")):
        problems.append("there are more nodes than before")
    if problems:
        sys.exit("\n".join([*problems, found, again]))
    print(f"{shlex.join(replay)}: {kind}")


if __name__ == "__main__":
    main()
