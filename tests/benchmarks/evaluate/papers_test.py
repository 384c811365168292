"""The data of the papers: complete, of one form, and named by the experiments as they are."""
import unittest

import canned  # noqa: F401  finds the modules
import experiments
import papers
import points
from measurements import ALL
from model import EMULATED, PARTLY_EMULATED

FIGURES = {1: {"fig9", "fig10", "table4", "socket"}, 2: {"tests", "memory", "bandwidth"}, 3: {"fig5", "table1", "fig6"},
           4: {"fig4", "fig5", "fig6", "fig7", "fig8", "fig10", "table5", "fig11", "fig15"}, 5: {"fig3", "fig4"}}


class Papers(unittest.TestCase):
    def setUp(self):
        self.papers = papers.load()

    def test_every_figure_of_the_evaluation_is_there(self):
        for number, names in FIGURES.items():
            self.assertLessEqual(names, {one["id"] for one in self.papers[number]["figures"]})

    def test_form(self):
        for paper in self.papers.values():
            self.assertLessEqual({"paper", "title", "authors", "year", "machine", "figures"}, paper.keys())
            for figure in paper["figures"]:
                self.assertLessEqual({"id", "name", "section", "title"}, figure.keys())
                self.assertTrue({"tables", "values", "picture", "conditions"} & figure.keys(), figure["id"])
                for value in figure.get("values", []):
                    self.assertIsInstance(value["value"], (int, float))
                    self.assertTrue(value["unit"] and value["name"])
                for table in figure.get("tables", []):
                    self.assertTrue(table["title"] and table["rows"])
                    self.assertEqual(len({tuple(row) for row in table["rows"]}), 1, figure["id"])

    def test_table_of_aveo_tests_is_complete(self):
        _, figure = papers.figure(self.papers, "2/tests")
        rows = figure["tables"][0]["rows"]
        self.assertEqual(len(rows), 13)
        self.assertEqual(rows[-1], {"calls": 300000, "VEO Test 1 us": 87.07, "VEO Test 2 us": 94.36, "VEO Test 3 us": 661.19,
                                    "AVEO Test 1 us": 5.77, "AVEO Test 2 us": 10.20, "AVEO Test 3 us": 5.74, "AVEO Test 4 us": 6.74})

    def test_table_of_processors_is_complete(self):
        _, figure = papers.figure(self.papers, "4/table2")
        peaks = {row["processor"]: (row["cores"], row["peak Gflop/s"]) for row in figure["tables"][0]["rows"]}
        self.assertEqual(len(peaks), 6)
        self.assertEqual(peaks["Xeon Phi 7290 (KNL)"], (72, 3456))
        self.assertEqual(peaks["Xeon Phi 7210 (KNL)"], (64, 2662))

    def test_what_was_computed_from_the_text_says_so(self):
        _, figure = papers.figure(self.papers, "1/fig9")
        found = {row["method"]: row for row in figure["tables"][0]["rows"]}
        self.assertAlmostEqual(found["VEO, native call"]["us"], 13.1 * 6.1, places=6)
        self.assertAlmostEqual(found["HAM over VEO"]["us"], 70.8 * 6.1, places=6)
        self.assertIn("x", found["HAM over VEO"]["from"])

    def test_an_unknown_figure_is_an_error(self):
        with self.assertRaises(KeyError):
            papers.figure(self.papers, "1/fig99")


class Experiments(unittest.TestCase):
    def test_names_are_unique(self):
        for names in ([one.name for one in experiments.EXPERIMENTS], [one.name for one in ALL]):
            self.assertEqual(len(names), len(set(names)))

    def test_they_name_what_exists(self):
        known = papers.load()
        for one in experiments.EXPERIMENTS:
            for name in one.measurements:
                self.assertIn(name, experiments.MEASUREMENTS)
            for reference in one.paper:
                papers.figure(known, reference)
            for plot in one.plots:
                for series in plot.series:
                    if series.source.startswith("paper:"):
                        self.assertIsNotNone(points.of(series, [papers.report(known, series.source[6:])]), series.label)
                    else:
                        self.assertIn(series.source, one.measurements, f"{one.name}: {series.label}")

    def test_what_is_emulated_says_so(self):
        for one in experiments.EXPERIMENTS:
            for plot in one.plots:
                sources = {series.source for series in plot.series if not series.source.startswith("paper:")}
                if sources and all(experiments.MEASUREMENTS[name].emulated for name in sources):
                    self.assertTrue(plot.emulated, f"{one.name}: {plot.title}")
                for series in plot.series:
                    if not plot.emulated and series.source in experiments.MEASUREMENTS \
                            and experiments.MEASUREMENTS[series.source].emulated:
                        self.assertIn("emulated", series.label, f"{one.name}: {plot.title}")

    def test_titles_of_experiments_say_what_is_emulated(self):
        for one in experiments.EXPERIMENTS:
            emulated = {experiments.MEASUREMENTS[name].emulated for name in one.measurements}
            said = {(True,): EMULATED, (False, True): PARTLY_EMULATED, (False,): ""}[tuple(sorted(emulated))]
            self.assertEqual(one.emulated, said, one.name)

    def test_all_of_them_together_stay_in_their_time(self):
        self.assertLessEqual(sum(one.expected_s for one in ALL), 20 * 60)
        for one in ALL:
            self.assertLess(one.expected_s, one.timeout_s)


if __name__ == "__main__":
    unittest.main()
