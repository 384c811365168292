"""Each process simulates a seed in the same way: same_trace_test.py PROGRAM SEEDS [OPTION...]

One process simulates the seeds from 0 on, and another one each of them alone, as the command that replays a failure does,
with other arguments and another environment.
"""
import os
import re
import subprocess
import sys

# ham_sim, which runs itself once more to have its addresses, says so there.
MARK = "HAM_SIM_ADDRESSES"
SKIPPED = 77


def trace(pattern, command, **others):
    environment = {name: value for name, value in {**os.environ, **others}.items() if name != MARK}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
                          check=False)
    if "addresses differ from process to process" in done.stdout:
        print(done.stdout)
        sys.exit(SKIPPED)
    found = re.search(pattern, done.stdout, re.MULTILINE)
    if done.returncode != 0 or found is None:
        sys.exit(f"{' '.join(command)} ends with {done.returncode}:\n{done.stdout[-4000:]}")
    return int(found[1], 16)


def main():
    program, seeds, *options = sys.argv[1:]
    together = trace(r" traces ([0-9a-f]{16}):", [program, "--seeds", seeds, *options])
    alone = [trace(r"^seed \d+: ok, trace ([0-9a-f]{16}),", [program, "--seed", str(seed), *options],
                   HAM_TEST_FILLER="x" * (17 + 1009 * seed)) for seed in range(int(seeds))]
    if sum(one * (2 * seed + 1) for seed, one in enumerate(alone)) % 2**64 != together:  # so main.cpp adds them up
        sys.exit(f"together they have the traces {together:016x}, each in a process of its own other ones: "
                 f"{' '.join(f'{one:016x}' for one in alone)}")


if __name__ == "__main__":
    main()
