#!/usr/bin/env python3
"""Plots Figures 3 and 4 of paper 5 from the output of `ham-bench kernels --json`: plot.py RESULT.json [PICTURE.png|svg]"""
import json
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("plot.py: matplotlib is missing (Debian: python3-matplotlib; or pip install matplotlib)")


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        result = json.load(file)
    rows = result["rows"]
    kernels = [row["kernels"] for row in rows]
    spawn = result["spawn_us"]

    figure, (total, detail) = plt.subplots(1, 2, figsize=(11, 4.2))
    each = [row["spawn_each_us"] / 1e6 for row in rows]
    measured = sum(row["spawn_each_measured"] for row in rows)
    total.plot(kernels[:measured], each[:measured], "s-", color="C0", label="a spawn for each kernel")
    if measured < len(rows):
        begin = max(measured - 1, 0)
        total.plot(kernels[begin:], each[begin:], ":", color="C0", label="the same, extrapolated")
    total.plot(kernels, [(spawn + row["call_us"]) / 1e6 for row in rows], "o-", label="spawn + MPIX_Kernel_call")
    label = "spawn + MPIX_Kernel_call_multiple"
    total.plot(kernels, [(spawn + row["call_multiple_us"]) / 1e6 for row in rows], "x--", label=label)
    total.set(title="Start of kernels (Fig. 3)", ylabel="seconds", yscale="log")
    detail.plot(kernels, [row["call_us"] for row in rows], "o-", color="C1", label="MPIX_Kernel_call")
    label = "MPIX_Kernel_call_multiple"
    detail.plot(kernels, [row["call_multiple_us"] for row in rows], "x--", color="C2", label=label)
    detail.set(title="Without the spawn (Fig. 4)", ylabel="microseconds", yscale="log")
    for axes in (total, detail):
        axes.set_xscale("log", base=2)
        axes.set_xticks(kernels, [str(count) for count in kernels])
        axes.set_xlabel("kernels")
        axes.grid(True, alpha=0.3)
        axes.legend()
    figure.suptitle(f"{result['parents']} parents, {result['children']} children, median of {result['repetitions']}")
    figure.tight_layout()
    picture = arguments[1] if len(arguments) == 2 else "kernels.png"
    figure.savefig(picture, dpi=120)
    print(picture)


main(sys.argv[1:])
