"""Judges the samples of a soak run: what grows, and a plot of it as text."""
import statistics

MEMORY = ("rss_kb", "pss_kb", "heap_kb")
COUNTS = {"descriptors": 2, "threads": 1, "maps": 6}  # what may come and go
WARM_UP = 0.2
PERCENT_PER_MILLION = 1.0
# Of a run with less than a million calls behind the warm-up: of all its growth. Caches and arenas still fill.
PERCENT_OF_SHORT_RUN = 25.0
# Resident memory: the longest message. The heap of the C library is what is in use, to the byte.
NOISE_KB = {"rss_kb": 1024, "pss_kb": 1024, "heap_kb": 96}
# A node keeps a place for each number that a node of its job has had, up to so many. 7000 restarts over tcp: 9.5 MB after
# 500 of them, 10.6 MB after 4500, 10.4 MB at the end.
PLACE_KB = {"rss_kb": 0.3, "pss_kb": 0.3, "heap_kb": 0}
MAX_PLACES = 4096
LEAST_SAMPLES = 3  # behind the warm-up, of each process that must be judged
NOISE_DEVIATIONS = 4  # of the median distance of the samples from their trend


def behind_warm_up(samples):
    """The first samples fill caches, arenas and tables."""
    return samples[max(1, round(len(samples) * WARM_UP)):] if len(samples) > 2 else samples


def slope(points):
    """Theil-Sen: the median of the slopes of all pairs. Single peaks do not count."""
    slopes = [(y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(points) for x2, y2 in points[i + 1:] if x2 > x1]
    return statistics.median(slopes) if slopes else 0.0


def spread(points):
    """The median distance of the samples from their trend."""
    rises = slope(points)
    rests = [y - rises * x for x, y in points]
    middle = statistics.median(rests)
    return statistics.median(abs(one - middle) for one in rests)


def series(samples, process, what):
    return [(one["calls"], one["processes"][process][what]) for one in samples
            if what in one["processes"].get(process, {})]


def is_long(calls):
    """Whether so many calls behind the warm-up show what grows with each of them."""
    return calls >= 1e6


def judge_memory(points, noise_kb):
    """Growth in percent of 10^6 calls, and what is wrong with it, or None."""
    calls = points[-1][0] - points[0][0]
    usual = statistics.median(y for _, y in points)
    growth_kb = slope(points) * calls
    per_million = 100 * slope(points) * 1e6 / usual
    if growth_kb <= max(noise_kb, NOISE_DEVIATIONS * spread(points)):
        return per_million, None
    if is_long(calls) and per_million > PERCENT_PER_MILLION:
        return per_million, f"grows by {per_million:.2f} % in 10^6 calls ({growth_kb:.0f} KiB in {calls} calls)"
    if not is_long(calls) and 100 * growth_kb / usual > PERCENT_OF_SHORT_RUN:
        return per_million, f"grows by {100 * growth_kb / usual:.1f} % ({growth_kb:.0f} KiB in {calls} calls)"
    return per_million, None


def is_judged_by_calls(samples):
    """Whether a run made so many calls that memory may grow by a share of each million of them, not by one of the run."""
    kept = behind_warm_up(samples)
    return bool(kept) and is_long(kept[-1]["calls"] - kept[0]["calls"])


def limit_of(samples):
    """By how much memory may grow in a run, in words."""
    if is_judged_by_calls(samples):
        return f"memory may grow by {PERCENT_PER_MILLION} % in 10^6 calls"
    return f"memory may grow by {PERCENT_OF_SHORT_RUN} %, as fewer than 10^6 calls were made behind the warm-up"


def limits_of(runs):
    """By which of the two limits the memory of each run was judged: runs are pairs of name and samples."""
    by_calls, short, others = [], [], []
    for name, samples in runs:
        judged = len(behind_warm_up(samples)) >= LEAST_SAMPLES
        (others if not judged else by_calls if is_judged_by_calls(samples) else short).append(name)
    parts = []
    if by_calls:
        parts.append(f"{', '.join(by_calls)} held to {PERCENT_PER_MILLION:.0f} % of memory in 10^6 calls")
    if short:
        parts.append(f"{', '.join(short)} too short for that: held to {PERCENT_OF_SHORT_RUN:.0f} % in the run")
    if others:
        parts.append(f"{', '.join(others)} not judged")
    return "; ".join(parts)


def judge_count(points, noise):
    third = max(1, len(points) // 3)
    before = statistics.median(y for _, y in points[:third])
    after = statistics.median(y for _, y in points[-third:])
    return None if after <= before + noise else f"grow from {before:.0f} to {after:.0f}"


def judge(samples, nodes=0):
    """[{process, what, first, last, per_million, problem}] of what was sampled behind the warm-up of a run in which so
    many nodes came."""
    found = []
    kept = behind_warm_up(samples)
    for process in sorted({name for one in kept for name in one["processes"]}):
        for what in (*MEMORY, *COUNTS):
            points = series(kept, process, what)
            if len(points) < 2:
                continue
            per_million, problem = None, None
            if what in MEMORY:
                per_million, problem = judge_memory(points, NOISE_KB[what] + PLACE_KB[what] * min(nodes, MAX_PLACES))
            else:
                problem = judge_count(points, COUNTS[what])
            found.append({"process": process, "what": what, "first": points[0][1], "last": points[-1][1],
                          "percent_per_million_calls": per_million, "problem": problem})
    return found


def not_judged(samples, processes):
    """What was sampled too seldom to say that it does not grow: nothing is known of it."""
    kept = behind_warm_up(samples)
    counts = {process: sum(process in one["processes"] for one in kept) for process in processes}
    return [f"{process}: {count} samples behind the warm-up, {LEAST_SAMPLES} are needed to judge growth"
            for process, count in counts.items() if count < LEAST_SAMPLES]


def plot(points, title, width=60, height=6):
    """Lines of text: values over calls, from the least to the largest of them."""
    least, largest = min(y for _, y in points), max(y for _, y in points)
    if least == largest:
        return [f"{title}: {least} throughout"]
    begin, end = points[0][0], points[-1][0]
    columns = [[] for _ in range(width)]
    for x, y in points:
        columns[min(width - 1, int((x - begin) * width / max(1, end - begin)))].append(y)
    rows = []
    for row in range(height, 0, -1):
        def filled(values):
            return values and (statistics.mean(values) - least) * height >= (row - 1) * max(1, largest - least)
        marks = "".join("*" if filled(one) else " " for one in columns)
        label = largest if row == height else least if row == 1 else ""
        rows.append(f"{label!s:>10} |{marks}")
    return [title, *rows, " " * 11 + "+" + "-" * width, f"{'':11} calls: {begin} to {end}"]
