"""Reading of what programs print, of cells, and of the points of a plot."""
import os
import unittest

import canned
import bottlenecks
import experiments
import points
import results
from model import Series


class Parsing(unittest.TestCase):
    def test_what_a_launcher_prints_around_it_is_left_out(self):
        self.assertEqual(results.parse('warning: [x]\n{"a": [1]}\nbye\n'), {"a": [1]})

    def test_output_without_json_is_refused(self):
        for text in ("", "  \n", "no json", "{broken", "[1, 2"):
            with self.assertRaises(results.BadResult, msg=text):
                results.parse(text)

    def test_every_form_of_document(self):
        report = canned.METHODS
        for document in (report, [report], {"host": "h", "reports": [report]}):
            self.assertEqual(results.reports(document)[0]["tables"], report["tables"])

    def test_documents_of_another_form_are_refused(self):
        for document in (None, 1, "x", {}, [], {"reports": []}, {"reports": [1]}, {"tables": 1}, {"tables": [{"rows": [1]}]},
                         {"tables": [], "bars": [{"name": "x"}]}):
            with self.assertRaises(results.BadResult, msg=document):
                results.reports(document)

    def kernels(self):
        row = {"spawn_each_us": 2e6, "spawn_each_us_quartiles": [1.8e6, 2.4e6]}
        for key, value in (("call", 10), ("call_multiple", 5), ("call_run", 100), ("call_multiple_run", 50)):
            row.update({f"{key}_us": value, f"{key}_us_quartiles": [value - 1, value + 2], f"{key}_us_floor": value / 2, f"{key}_us_floor_quartiles": [value / 3, value],
                        f"{key}_us_floor_ratio": 2.1, f"{key}_us_floor_ratio_quartiles": [1.9, 2.2]})
        document = {"benchmark": "kernels", "parents": 2, "children": 3, "repetitions": 9, "spawn_us": 1e6, "spawn_us_quartiles": [9e5, 1.2e6],
                    "bare_spawn_us": 6e5, "bare_spawn_us_quartiles": [5e5, 7e5], "bare_spawns_measured": 4,
                    "bars": [{"name": "2 calls / one of 2", "value": 2.0, "wanted": ">=", "limit": 5, "unit": "", "met": False}], "rows": [
                        {"kernels": 1, "spawn_each_measured": True, **row}, {"kernels": 2, "spawn_each_measured": False, **row}]}
        (report,) = results.reports(document)
        return report

    def test_kernels_separate_measured_from_extrapolated(self):
        first, second = self.kernels()["tables"][0]["rows"]
        self.assertEqual((first["a spawn each s"], first["a spawn each, extrapolated s"]), (2.0, None))
        self.assertEqual((second["a spawn each s"], second["a spawn each, extrapolated s"]), (None, 2.0))
        self.assertAlmostEqual(first["one spawn and Kernel_call s"], 1.00001)

    def test_kernels_have_the_quartiles_of_the_spawn_and_of_the_call(self):
        first = self.kernels()["tables"][0]["rows"][0]
        self.assertEqual(first["a spawn each: quartiles s"], [1.8, 2.4])
        for found, expected in zip(first["one spawn and Kernel_call: quartiles s"], (0.900009, 1.200012)):
            self.assertAlmostEqual(found, expected, 9)

    def test_the_floor_of_spawns_is_a_bare_spawn_for_each_kernel(self):
        for row, floor, quartiles in zip(self.kernels()["tables"][0]["rows"], (0.6, 1.2), ([0.5, 0.7], [1.0, 1.4])):
            self.assertAlmostEqual(row["a spawn each: floor s"], floor)
            self.assertEqual(row["a spawn each: quartiles of the floor s"], quartiles)
        self.assertTrue(any("do nothing: 600 ms, quartiles 500 and 700 ms of 4" in remark for remark in self.kernels()["remarks"]))

    def test_kernels_stand_beside_their_floor(self):
        _, calls, run = (table["rows"][0] for table in self.kernels()["tables"])
        for row, call in ((calls, 10), (run, 100)):
            self.assertEqual((row["Kernel_call us"], row["Kernel_call: quartiles us"], row["Kernel_call: floor us"]),
                             (call, [call - 1, call + 2], call / 2))
            self.assertEqual(row["Kernel_call: quartiles of the floor us"], [call / 3, call])
            self.assertEqual((row["Kernel_call: ratio"], row["Kernel_call: quartiles of the ratio"]), (2.1, [1.9, 2.2]))

    def test_the_bar_of_kernels_is_in_the_report(self):
        (bar,) = self.kernels()["bars"]
        self.assertFalse(results.bar_met(bar))


class Cells(unittest.TestCase):
    def test_numbers(self):
        for cell, value in ((1, 1.0), ("8 B", 8.0), ("64 KiB", 65536.0), ("1.5 MiB", 1572864.0), ("1 GiB", 2.0 ** 30), ("12", 12.0),
                            ("4096 B (span)", 4096.0), ("1 000", 1000.0), ("-", None), (None, None), (True, None), ("1.05..1.12", None)):
            self.assertEqual(results.number(cell), value, cell)

    def test_columns_are_found_by_name_before_expression(self):
        rows = [{"put us": 1, "put": 2}]
        self.assertEqual(results.find_column(rows, "put"), "put")
        self.assertEqual(results.find_column(rows, "us$"), "put us")
        self.assertIsNone(results.find_column(rows, "get"))

    def test_heads_of_quartiles_are_short(self):
        for column, head in (("quartile 1 put us", "q1"), ("quartile 3", "q3"), ("quartiles", "quartiles"), ("put us", "put us"),
                             ("lower quartile (ms)", "q1"), ("upper quartile, call (ms)", "q3")):
            self.assertEqual(results.header(column), head)

    def test_numbers_as_text(self):
        for value, text in ((0, "0"), (0.30004, "0.3"), (79.91, "79.91"), (12346.4, "12 346"), (1e-6, "0.000001"), (None, "not known"),
                            (float("nan"), "not known"), (432.50675, "432.5")):
            self.assertEqual(results.number_text(value), text)

    def test_sizes_as_text(self):
        for value, text in ((8, "8 B"), (65536, "64 KiB"), (1 << 28, "256 MiB"), (1 << 30, "1 GiB")):
            self.assertEqual(points.size_text(value), text)


class PointsOfSeries(unittest.TestCase):
    def of(self, series, document=canned.BANDWIDTH):
        return points.of(series, results.reports(document))

    def test_sizes_and_spread(self):
        found = self.of(Series("put", "", "^put$", "size", "GB", "lower", "upper"))
        self.assertEqual(found.x[:3], [8.0, 64.0, 1024.0])
        self.assertTrue(found.sizes)
        self.assertEqual(len(found.low), len(found.y))
        self.assertLess(found.low[1], found.y[1])

    def test_without_a_column_of_the_spread_there_is_none(self):
        self.assertIsNone(self.of(Series("put", "", "^put$", "size", "GB", "lower", "no such")).low)

    def test_what_is_not_there_gives_no_points(self):
        for series in (Series("", "", "no such"), Series("", "", "put", table="no such"), Series("", "", "put", "no such")):
            self.assertIsNone(self.of(series))

    def test_quartiles_in_one_column(self):
        for cell in ("1..3", [1, 3]):
            document = {"name": "x", "tables": [{"title": "t", "rows": [{"x": 1, "y": 2, "quartiles": cell}]}]}
            found = self.of(Series("", "", "^y$", low="quartiles"), document)
            self.assertEqual((found.low, found.high), ([1.0], [3.0]))

    def test_a_cell_without_quartiles_has_no_spread(self):
        document = {"name": "x", "tables": [{"title": "t", "rows": [{"x": 1, "y": 2, "quartiles": None}]}]}
        found = self.of(Series("", "", "^y$", low="quartiles"), document)
        self.assertEqual((found.low, found.high), ([2.0], [2.0]))

    def test_bandwidth_of_microseconds_and_bytes(self):
        document = {"name": "x", "tables": [{"title": "t", "rows": [
            {"size": "1 GiB", "bytes": 1 << 30, "us": 5e5, "quartile 1": 4e5, "quartile 3": 1e6}]}]}
        found = self.of(Series("", "", "^us$", "size", "", "quartile 1", "quartile 3", bandwidth=True), document)
        self.assertEqual(found.x, [2.0 ** 30])
        for values, value in ((found.y, 2), (found.low, 1), (found.high, 2.5)):
            self.assertAlmostEqual(values[0], value)

    def test_rows_are_chosen_and_scaled(self):
        found = self.of(Series("", "", "median us", "method", scale=1000, where=(("method", "^another"),)), canned.METHODS)
        self.assertEqual((found.x, found.y), (["another"], [431900.0]))

    def test_only_rows_with_the_most(self):
        document = {"name": "x", "tables": [{"title": "t", "rows": [{"n": n, "kind": kind, "y": y} for n, kind, y in (
            (1, "a", 5), (4, "a", 6), (2, "a", 7), (4, "b", 8), (8, "b", 9))]}]}
        for kind, y in (("a", [6.0]), ("b", [9.0])):
            self.assertEqual(self.of(Series("", "", "^y$", "n", where=(("kind", kind),), most="n"), document).y, y)
        self.assertIsNone(self.of(Series("", "", "^y$", "n", most="no such"), document))

    def test_bytes_per_flop_become_intensity(self):
        found = self.of(Series("", "", "Gflop", "B/F", inverse_x=True), canned.ROOFLINE)
        self.assertEqual(found.x, [1 / 12, 50.0])


class Bottlenecks(unittest.TestCase):
    """Table V of paper 4."""

    def test_classes(self):
        for code, minimum, of_the_peak, wanted in (
                (12, 12, 0.03, "memory-bound"), (3.76, 1.65, 0.06, "memory-bound or LLC-bound"), (None, 1.65, 0.06, "memory-bound or LLC-bound"),
                (0.2, 0.1, 0.5, "computation-bound"), (None, 0.01, 0.9, "computation-bound"), (2, 0.01, 0.9, "computation-bound"),
                (None, 0.01, 0.5, "computation-bound or LLC-bound"), (2, 0.01, 0.5, "not decided by these figures")):
            self.assertEqual(bottlenecks.bound(code, minimum, 0.3, of_the_peak), wanted, (code, minimum, of_the_peak))

    def test_classes_with_a_measured_cache(self):
        for code, minimum, of_the_peak, wanted in (
                (12, 12, 0.03, "memory-bound"), (3.76, 1.65, 0.06, "memory-bound"), (7, 1.65, 0.06, "memory-bound or LLC-bound"),
                (0.2, 0.1, 0.5, "computation-bound"), (None, 0.01, 0.5, "computation-bound or LLC-bound"),
                (2, 0.01, 0.5, "computation-bound or memory-bound"), (7, 0.01, 0.5, "memory-bound or LLC-bound")):
            self.assertEqual(bottlenecks.bound(code, minimum, 0.3, of_the_peak, cache=5), wanted, (code, minimum, of_the_peak))

    def test_the_table_is_of_all_targets_and_each_precision(self):
        measured = {name: [{"name": name, "bars": [], "remarks": [], "tables": [{"title": title, "rows": rows}]}] for name, title, rows in (
            ("gemm", "Matrix products of 10", [
                {"product": product, "targets": n, "performance (GFLOP/s)": 0.9 * n * peak, "measured peak (GFLOP/s)": n * peak,
                 "minimum B/F (bytes/flop)": 0.01} for product, peak in (("DGEMM", 50.0), ("SGEMM", 100.0)) for n in (1, 2)]),
            ("stream", "STREAM, 10", [{"kernel": "Triad", "targets": n, "bandwidth (GB/s)": 12.0 * n, "performance (GFLOP/s)": 1.0 * n,
                                       "code B/F (bytes/flop)": 12} for n in (1, 2)]),
            ("himeno", "Himeno, size S", [{"targets": n, "performance (MFLOPS)": 6000.0 * n, "minimum B/F (bytes/flop)": 1.6,
                                           "code B/F (bytes/flop)": 3.7} for n in (1, 2)]))}
        rows = {row["kernel"]: row for row in bottlenecks.table(measured.get)["rows"]}
        self.assertEqual({row["LLC B/F"] for row in rows.values()}, {"not measured"})
        self.assertEqual({name: row["class"] for name, row in rows.items()}, {
            "DGEMM": "computation-bound", "SGEMM": "computation-bound", "STREAM Triad": "memory-bound",
            "Himeno": "memory-bound or LLC-bound"})
        self.assertEqual({row["targets"] for row in rows.values()}, {2.0})
        for name, memory, roof in (("DGEMM", 0.24, 90), ("SGEMM", 0.12, 90), ("STREAM Triad", 0.24, 100), ("Himeno", 0.12, 80)):
            self.assertAlmostEqual(rows[name]["memory B/F"], memory)
            self.assertAlmostEqual(rows[name]["of the roof %"], roof)
        self.assertEqual(rows["DGEMM"]["code B/F"], "not known")
        self.assertIsNone(bottlenecks.table(lambda name: [] if name == "himeno" else measured.get(name)))
        self.assertEqual(bottlenecks.table(measured.get)["title"], bottlenecks.TITLE)
        measured["stream"][0]["remarks"] = ["the arrays of a target (229 MiB) are less than four times the last-level cache (480 MiB), which ..."]
        self.assertIn("may be the cache in part", bottlenecks.table(measured.get)["title"])
        measured["stream-cache"] = [{"name": "stream", "bars": [], "remarks": [], "tables": [{
            "title": "STREAM in the last-level cache, 10", "rows": [{"kernel": "Triad", "targets": 2, "bandwidth (GB/s)": 80.0}]}]}]
        rows = {row["kernel"]: row for row in bottlenecks.table(measured.get)["rows"]}
        self.assertAlmostEqual(rows["DGEMM"]["LLC B/F"], 0.8)
        self.assertEqual(rows["Himeno"]["class"], "memory-bound or LLC-bound")
        for row in measured["himeno"][0]["tables"][0]["rows"]:
            row["performance (MFLOPS)"] *= 2
        above = {row["kernel"]: row for row in bottlenecks.table(measured.get)["rows"]}
        self.assertIn("above the roof", above["Himeno"]["class"])
        self.assertEqual(above["STREAM Triad"]["class"], rows["STREAM Triad"]["class"])


class ReferencePage(unittest.TestCase):
    def test_every_experiment_has_a_section(self):
        """Except those that measure nothing without a GPU."""
        with open(os.path.join(canned.REPOSITORY, "docs", "evaluation-results.md"), encoding="utf-8") as file:
            sections = [line.removeprefix("### ").rstrip() for line in file if line.startswith("### ")]
        for one in experiments.EXPERIMENTS:
            measurements = [experiments.MEASUREMENTS[name] for name in one.measurements]
            if all(any(need.startswith("gpu:") for need in measurement.needs) for measurement in measurements):
                continue
            with self.subTest(one.name):
                title = one.title + (f" ({one.emulated})" if one.emulated else "")
                self.assertTrue(title in sections, f'docs/evaluation-results.md has no "{title}": python3 benchmarks/evaluate --markdown')


if __name__ == "__main__":
    unittest.main()
