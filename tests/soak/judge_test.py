"""What the judge of soak runs finds, and what it lets pass."""
import contextlib
import io
import types
import unittest

import judge
import soak


def samples(count, value, calls=1_000_000, what="rss_kb"):
    usual = {"rss_kb": 20000, "pss_kb": 9000, "private_kb": 8000, "descriptors": 30, "maps": 200, "threads": 3}
    return [{"calls": i * calls, "processes": {"host": {**usual, what: value(i)}}} for i in range(count)]


def problems(*arguments, **named):
    return [(one["what"], one["problem"]) for one in judge.judge(samples(*arguments, **named)) if one["problem"]]


class Judge(unittest.TestCase):
    def test_what_is_flat_passes(self):
        self.assertEqual(problems(20, lambda i: 20000 + i % 3 * 100), [])

    def test_memory_that_grows_by_more_than_one_percent_in_a_million_calls(self):
        found = problems(20, lambda i: 20000 + 600 * i)
        self.assertEqual([what for what, _ in found], ["rss_kb"])
        self.assertIn("in 10^6 calls", found[0][1])
        self.assertEqual(problems(20, lambda i: 20000 + 150 * i), [])

    def test_the_warm_up_does_not_count(self):
        self.assertEqual(problems(20, lambda i: 20000 if i > 3 else 5000), [])

    def test_one_peak_does_not_count(self):
        self.assertEqual(problems(20, lambda i: 90000 if i == 15 else 20000), [])

    def test_what_comes_and_goes_is_no_growth(self):
        self.assertEqual(problems(10, lambda i: 20000 + (3000 if i in (2, 5, 6, 8, 9) else 0)), [])
        self.assertEqual(len(problems(40, lambda i: 20000 + i % 2 * 1000 + 500 * i)), 1)

    def test_a_short_run_may_grow_a_little(self):
        self.assertEqual(problems(5, lambda i: 20000 + 1000 * i, calls=1000), [])
        self.assertEqual(len(problems(5, lambda i: 20000 + 4000 * i, calls=1000)), 1)

    def test_places_of_nodes_that_came_are_no_growth_up_to_their_number(self):
        grown = {by: samples(20, lambda i, by=by: 20000 + by * i, calls=100_000) for by in (85, 140)}
        judged = lambda by, nodes: [one["what"] for one in judge.judge(grown[by], nodes) if one["problem"]]
        self.assertEqual(judged(85, 0), ["rss_kb"])
        self.assertEqual(judged(85, 1200), [])
        self.assertEqual(judged(140, 1200), ["rss_kb"])
        self.assertEqual(judged(140, 4096), [])
        self.assertIsNotNone(judge.judge(samples(20, lambda i: 20000 + 170 * i, calls=100_000), 100_000)[0]["problem"])

    def test_the_limit_that_counts_is_said(self):
        self.assertEqual(judge.limit_of(samples(20, lambda i: 20000)), "memory may grow by 1.0 % in 10^6 calls")
        self.assertIn("by 25.0 %, as fewer than 10^6 calls", judge.limit_of(samples(20, lambda i: 20000, calls=1000)))

    def test_says_which_runs_were_held_to_which_limit(self):
        long, short = samples(20, lambda i: 20000), samples(20, lambda i: 20000, calls=1000)
        self.assertEqual(judge.limits_of([("shm", long), ("tcp", long)]), "shm, tcp held to 1 % of memory in 10^6 calls")
        self.assertEqual(judge.limits_of([("shm", long), ("tcp", short), ("mpi", [])]),
                         "shm held to 1 % of memory in 10^6 calls; tcp too short for that: held to 25 % in the run; mpi not judged")

    def test_descriptors_maps_and_threads(self):
        for what, value in (("descriptors", 30), ("maps", 200), ("threads", 3)):
            self.assertEqual(problems(20, lambda i: value + i % 2, what=what), [])
            self.assertEqual([one for one, _ in problems(20, lambda i: value + 2 * i, what=what)], [what])

    def test_the_heap_has_less_noise_than_resident_memory(self):
        self.assertEqual(problems(20, lambda i: 3000 + i % 4 * 20, what="heap_kb"), [])
        # 64 bytes in each of 10 000 of a million calls.
        leak = [("heap_kb", lambda i: 3000 + 10 * i, 100_000), ("rss_kb", lambda i: 20000 + 10 * i, 100_000)]
        found = [[one for one, _ in problems(20, value, calls=calls, what=what)] for what, value, calls in leak]
        self.assertEqual(found, [["heap_kb"], []])

    def test_what_is_not_known_is_not_judged(self):
        self.assertEqual([one["what"] for one in judge.judge(samples(20, lambda i: 1)) if one["what"] == "heap_kb"], [])

    def test_what_was_not_sampled_is_a_problem(self):
        enough = samples(4, lambda i: 20000)
        self.assertEqual(judge.not_judged(enough, ["host"]), [])
        self.assertEqual(judge.not_judged(enough, ["host", "target 1"]),
                         ["target 1: 0 samples behind the warm-up, 3 are needed to judge growth"])
        for few in ([], samples(1, lambda i: 20000), samples(3, lambda i: 20000)):
            self.assertEqual(len(judge.not_judged(few, ["host"])), 1)
        lost = [*samples(3, lambda i: 20000), *({"calls": i, "processes": {}} for i in range(17))]
        self.assertEqual(len(judge.not_judged(lost, ["host"])), 1)

    def test_a_run_without_samples_is_not_well(self):
        for no_growth, wanted in ((False, 2), (True, 0)):
            one = soak.Soak.__new__(soak.Soak)
            one.options = types.SimpleNamespace(no_growth=no_growth)
            one.seconds, one.results = 10, []
            run = types.SimpleNamespace(name="shm", samples=[], problems=[], end=None)
            with contextlib.redirect_stdout(io.StringIO()):
                one.judge(run, ["host", "target 1"])
            self.assertEqual(len(run.problems), wanted)

    def test_a_plot_shows_all_columns(self):
        lines = judge.plot([(i, i) for i in range(60)], "title", width=60, height=6)
        self.assertEqual(lines[0], "title")
        self.assertEqual(lines[1].count("*"), 10)
        self.assertEqual(lines[6].count("*"), 60)


    def test_a_plot_of_what_never_changes_is_a_line(self):
        self.assertEqual(judge.plot([(i, 7) for i in range(60)], "maps"), ["maps: 7 throughout"])


class Times(unittest.TestCase):
    def test_are_read_with_units(self):
        for text, wanted in (("24h", 86400), ("10m", 600), ("90s", 90), ("7", 7), ("1.5m", 90)):
            self.assertEqual(soak.seconds_in(text), wanted)

    def test_others_are_refused(self):
        for text in ("", "h", "10x", "-5s", "0"):
            with self.assertRaises(ValueError):
                soak.seconds_in(text)


if __name__ == "__main__":
    unittest.main()
