"""Reading of what programs print, of cells, and of the points of a plot."""
import unittest

import canned
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

    def test_kernels_separate_measured_from_extrapolated(self):
        row = {"spawn_each_us": 2e6, "call_us": 10, "call_us_quartiles": [9, 12], "call_multiple_us": 5}
        document = {"benchmark": "kernels", "parents": 2, "children": 3, "repetitions": 9, "spawn_us": 1e6, "rows": [
            {"kernels": 1, "spawn_each_measured": True, **row}, {"kernels": 2, "spawn_each_measured": False, **row}]}
        (report,) = results.reports(document)
        first, second = report["tables"][0]["rows"]
        self.assertEqual((first["a spawn each s"], first["a spawn each, extrapolated s"]), (2.0, None))
        self.assertEqual((second["a spawn each s"], second["a spawn each, extrapolated s"]), (None, 2.0))
        self.assertEqual(report["tables"][1]["rows"][0]["Kernel_call: quartiles us"], [9, 12])
        self.assertAlmostEqual(first["one spawn and Kernel_call s"], 1.00001)


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
        for column, head in (("quartile 1 put us", "q1"), ("quartile 3", "q3"), ("quartiles", "quartiles"), ("put us", "put us")):
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

    def test_bytes_per_flop_become_intensity(self):
        found = self.of(Series("", "", "Gflop", "B/F", inverse_x=True), canned.ROOFLINE)
        self.assertEqual(found.x, [1 / 12, 50.0])


if __name__ == "__main__":
    unittest.main()
