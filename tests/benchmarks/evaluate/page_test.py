"""The page made of canned results: what is in it, what is escaped, and that its plots do not meet."""
import dataclasses
import os
import re
import subprocess
import sys
import unittest
from html.parser import HTMLParser

import canned

try:
    import matplotlib  # noqa: F401
except ImportError:
    canned.end_without("matplotlib is missing (Debian: python3-matplotlib)")

import markdown
import page
import summary

VOID = {"meta", "wbr", "br", "link", "input", "hr", "img"}


class Elements(HTMLParser):
    """Checks that what is opened is closed, and collects ids, references and text."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.references, self.words, self.outside = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "xlink:href", "src", "aria-labelledby"):
                (self.references if name == "aria-labelledby" or value.startswith("#") else self.outside).append(value.lstrip("#"))
            for match in re.finditer(r"url\(#([^)]*)\)", value or ""):
                self.references.append(match.group(1))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = page.written(canned.EXPERIMENTS, canned.records(), canned.PAPERS, canned.MACHINE)
        cls.elements = Elements()
        cls.elements.feed(cls.text)
        cls.shown = " ".join(" ".join(cls.elements.words).split())

    def test_it_is_complete(self):
        self.assertEqual(self.elements.open, [])
        self.assertEqual(self.text.count('class="plot"'), len(canned.PLOTS))

    def test_nothing_is_fetched(self):
        self.assertEqual(self.elements.outside, [])
        self.assertNotRegex(self.text, r"@import|url\((?!#)|<script|<link|<iframe|<img")

    def test_ids_are_unique_and_references_resolve(self):
        self.assertEqual(len(self.elements.ids), len(set(self.elements.ids)))
        self.assertLessEqual(set(self.elements.references), set(self.elements.ids))

    def test_text_is_escaped(self):
        self.assertNotIn("<script>alert", self.text)
        self.assertIn("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; more", self.text)
        self.assertIn("machine &lt;one&gt;", self.text)

    def test_plots_name_axes_units_and_series(self):
        for plot in canned.PLOTS:
            self.assertIn(plot.title, self.shown)
            for label in (plot.y_label, plot.x_label):
                self.assertIn(label, self.shown)
        for label in ("put", "memcpy (floor)", "in the paper", "computing", "Triad", "256 MiB"):
            self.assertRegex(self.text, f"<text[^>]*>{re.escape(label)}</text>")

    def test_a_stack_shows_the_total_that_was_measured(self):
        """Medians of the parts of the first one add up to 40."""
        (plot,) = [one for one in re.findall(r"<figure>.*?</figure>", self.text, re.S) if "Execution models" in one]
        shown = re.findall(r"<text[^>]*>([^<]*)</text>", plot)
        for total in ("43.5", "39.5", "18.5"):
            self.assertIn(total, shown)
        self.assertIn("Whiskers: quartiles", plot)
        self.assertIn("measured total", shown)

    def test_each_peak_is_a_roof(self):
        for label in ("double precision: 60 Gflop/s, 18 GB/s", "single precision: 120 Gflop/s, 18 GB/s"):
            self.assertRegex(self.text, f"<text[^>]*>{label}</text>")

    def test_tables_of_several_measurements_are_there(self):
        self.assertIn("<summary>made of &lt;several&gt;</summary>", self.text)
        self.assertIn("| GEMM | 50 |", markdown.written(canned.EXPERIMENTS, canned.records(), canned.PAPERS, canned.MACHINE).splitlines())

    def test_plots_have_no_colours_of_their_own(self):
        for plot in re.findall(r"<svg.*?</svg>", self.text, re.S):
            self.assertNotRegex(plot, r"#[0-9a-f]{6}\b")
            self.assertIn("var(--ink)", plot)

    def test_emulated_links_are_named_in_titles(self):
        self.assertRegex(self.shown, r"all kinds of plots \(emulated link\)")
        self.assertIn("Bandwidth over size (emulated link)", self.shown)

    def test_bars_in_plain_words(self):
        self.assertIn("put / memcpy: 0.5; wanted: at least 0.9: MISSED", self.shown)
        self.assertIn("get / memcpy: 0.95; wanted: at least 0.9: met", self.shown)
        self.assertIn("nothing measured: no number; wanted: at most 1 us: MISSED", self.shown)
        self.assertIn("3 bars: 1 met, 2 MISSED", self.shown)

    def test_commands_and_what_is_missing(self):
        self.assertIn("build/bin/methods --json", self.shown)
        self.assertIn("absent: not measured: this build has no program absent", self.shown)
        self.assertIn("never: not measured: not asked for so far", self.shown)
        self.assertIn("FAILED : ended with status 3", self.shown)
        self.assertIn("it <broke>", self.shown)
        self.assertIn("Not in this run: a series that is not there", self.shown)

    def test_the_machine_has_the_cores(self):
        self.assertIn("<dt>cores of host and target</dt><dd>0 and 1 (same L3)</dd>", self.text)

    def test_the_clock_is_with_each_measurement_and_of_all_with_the_machine(self):
        records = canned.records()
        records["methods"]["clock"] = {**canned.CLOCK, "GHz": {"lowest": 1.25, "median": 1.5, "highest": 1.75}}
        records["names"]["clock"] = None
        text = page.written(canned.EXPERIMENTS, records, canned.PAPERS, canned.MACHINE)
        self.assertIn('<p class="note">clock of core 0 and 1: 1.25 / 1.50 / 1.75 GHz (lowest, median, highest of 40 samples', text)
        self.assertRegex(text, "<dt>clock</dt><dd>1.25 / 3.25 / 3.50 GHz .* of 160 samples .*: 0.50 / 1.75 / 3.50 GHz</dd>")
        self.assertRegex(text, '<td.*?>methods</td><td.*?>1.5</td><td.*?</td><td class="number">1.25</td><td class="number">1.5</td>')
        lines = markdown.written(canned.EXPERIMENTS, records, canned.PAPERS, canned.MACHINE).splitlines()
        self.assertTrue(any(line.startswith("- clock: 1.25 / 3.25 / 3.50 GHz") for line in lines))
        self.assertIn("| methods | 1.5 | 2026-01-02T03:04:05+00:00 | 1.25 | 1.5 | 1.75 | 0.5 | 1.75 | 3.5 |", lines)
        without = {name: record and {**record, "clock": None} for name, record in records.items()}
        self.assertNotIn("<dt>clock</dt>", page.written(canned.EXPERIMENTS, without, canned.PAPERS, canned.MACHINE))

    def test_the_paper_is_beside_it(self):
        self.assertIn("Paper 1, Fig. 1 (section V): Empty <offload>", self.shown)
        self.assertIn("not readable from the text", self.shown)
        self.assertIn("13.1", self.shown)

    def test_a_measurement_of_several_experiments_is_printed_once(self):
        again = dataclasses.replace(canned.EXPERIMENTS[0], name="again", title="The same once more", plots=())
        text = page.written((*canned.EXPERIMENTS, again), canned.records(), canned.PAPERS, canned.MACHINE)
        self.assertEqual(text.count("build/bin/methods --json"), 1)
        self.assertIn('methods: in the section <a href="#everything">', text)

    def test_columns_of_numbers_and_sizes_are_marked(self):
        self.assertIn('<th class="size">size</th><th class="number">put</th>', self.text)
        self.assertIn('<td class="size">256 MiB</td>', self.text)

    def test_wide_tables_are_in_parts_that_fit_on_a_sheet(self):
        """Each with the first column, and with quartiles beside what they are of."""
        (wide,) = re.findall(r"<summary>two directions and their floors</summary>.*?</details>", self.text, re.S)
        heads = [re.findall(r"<th(?: [^>]*)?>(.*?)</th>", part.replace("<wbr>", "")) for part in wide.split("<table>")[1:]]
        self.assertEqual([part[:2] for part in heads], [["size", "bytes"], ["size", "get microseconds"]])
        self.assertEqual(heads[0] + heads[1][1:], list(canned.NAMES["tables"][1]["rows"][0]))
        for count in range(1, 80):
            names = ["size", *(f"{kind} {number}" for number in range(count) for kind in ("us", "lower quartile", "upper quartile"))]
            parts = page.parts_of_columns(names)
            self.assertEqual([names[0], *(name for part in parts for name in part[1:])], names)
            for part in parts:
                self.assertLessEqual(len(part), page.MAX_COLUMNS + 2)
                self.assertEqual(part[0], "size")
                self.assertTrue(part[1].startswith("us"), part)

    def test_what_was_not_measured_is_listed_with_its_reason(self):
        self.assertIn("Not measured: absent: this build has no program absent ; never: not asked for so far", self.shown)

    def test_bars_of_a_part_of_a_result_do_not_count(self):
        records = canned.records()
        records["bandwidth"].update(status="stopped", reason="interrupted")
        text = page.written(canned.EXPERIMENTS, records, canned.PAPERS, canned.MACHINE)
        self.assertIn("0 bars: 0 met, 0 <", text)
        self.assertIn('<span class="missed">bandwidth STOPPED</span>: interrupted', text)
        self.assertIn("<h3>Bars, which do not count</h3>", text)
        self.assertIn("Measured in part, without a count of bars: bandwidth<", text)
        lines = markdown.written(canned.EXPERIMENTS, records, canned.PAPERS, canned.MACHINE).splitlines()
        self.assertIn("STOPPED: interrupted.", lines)
        self.assertIn("0 bars: 0 met, 0 MISSED.", lines)

    def test_results_of_an_earlier_build_say_so_and_their_bars_do_not_count(self):
        records = canned.records()
        records["bandwidth"].update(earlier=True, revision="before")
        text = page.written(canned.EXPERIMENTS, records, canned.PAPERS, canned.MACHINE)
        self.assertIn("0 bars: 0 met, 0 <", text)
        self.assertNotIn("Missed bars", text)
        self.assertIn("<h3>Bars, which do not count</h3>", text)
        of_section = '<span class="missed">Of an earlier build</span>, in plots and tables of this section: bandwidth</p>'
        self.assertEqual(text.count(of_section), 1)
        self.assertIn('<span class="missed">Of an earlier build</span>, and their bars are not counted: bandwidth</p>', text)
        self.assertIn('<span class="missed">bandwidth: of an earlier build</span>', text)
        self.assertIn("revision 0123456789ab; of an earlier build: before.", text)
        self.assertNotIn("earlier build", self.text)
        lines = markdown.written(canned.EXPERIMENTS, records, canned.PAPERS, canned.MACHINE).splitlines()
        for line in ("bandwidth: of an earlier build; its bars do not count.", "0 bars: 0 met, 0 MISSED.",
                     "Of an earlier build, and their bars are not counted: bandwidth.", "- revision: 0123456789ab; of an earlier build: before"):
            self.assertIn(line, lines)

    def test_figures_in_short_of_an_earlier_build_say_so(self):
        reports = {"graphs": ("conjugate gradients on one target: x", 0.5), "groups": ("messages of the host, 128 targets", 8)}

        def reports_of(name):
            return [{"tables": [], "bars": [{"name": reports[name][0], "value": reports[name][1], "limit": 1}]}] if name in reports else []

        for earlier, shown in (((), ["0.5", "8"]), (("graphs", "latency"), ["0.5 (of an earlier build)", "8"])):
            self.assertEqual([row["here"] for row in summary.table(reports_of, earlier)["rows"]], shown)

    def test_a_plot_without_results_of_ours_is_left_out(self):
        records = dict(canned.records(), bandwidth=None)
        text = page.written(canned.EXPERIMENTS, records, canned.PAPERS, canned.MACHINE)
        self.assertEqual(text.count('class="plot"'), len(canned.PLOTS) - 1)

    def test_a_plot_of_peers_alone_is_left_out(self):
        records = dict(canned.records(), names=None)
        series = tuple(dataclasses.replace(one, role="peer") for one in canned.PLOTS[0].series)
        experiment = dataclasses.replace(canned.EXPERIMENTS[0], plots=(dataclasses.replace(canned.PLOTS[0], series=series),))
        self.assertNotIn('class="plot"', page.written((experiment,), records, canned.PAPERS, canned.MACHINE))

    def test_without_matplotlib_there_are_tables(self):
        figures, page.figures = page.figures, None
        try:
            text = page.written(canned.EXPERIMENTS, canned.records(), canned.PAPERS, canned.MACHINE)
        finally:
            page.figures = figures
        self.assertNotIn("<svg", text)
        self.assertIn("<table>", text)
        self.assertIn("matplotlib was missing", text)

    def test_the_same_results_make_the_same_page(self):
        self.assertEqual(self.text, page.written(canned.EXPERIMENTS, canned.records(), canned.PAPERS, canned.MACHINE))


class Markdown(unittest.TestCase):
    def test_tables_bars_and_what_is_missing(self):
        text = markdown.written(canned.EXPERIMENTS, canned.records(), canned.PAPERS, canned.MACHINE)
        for line in ("### Paper 1, Fig. 1: all kinds of plots (emulated link)", "| 8 B | 0.1 | 0.09 | 0.12 | 0.08 | 0.2 |",
                     "- put / memcpy: 0.5, wanted >= 0.9: MISSED", "- get / memcpy: 0.95, wanted >= 0.9: met",
                     "absent: not measured: this build has no program absent.", "FAILED: ended with status 3.",
                     "- CPU: Example CPU", "`build/bin/methods --json`"):
            self.assertIn(line, text.splitlines())
        self.assertIn("- nothing measured: no number, wanted <= 1 us: MISSED", text.splitlines())

    def test_remarks_papers_and_cores(self):
        lines = markdown.written(canned.EXPERIMENTS, canned.records(), canned.PAPERS, canned.MACHINE).splitlines()
        for line in (r'- Note: \<script>alert("x")\</script> & more', "- Note: a remark", "- cores of host and target: 0 and 1 (same L3)",
                     "`build/bin/bandwidth --json` (emulated link), transport shm, host core 0, target core 1, core pair same L3, repetitions 3",
                     r"Paper 1, Fig. 1 (section V): Empty \<offload>. In the paper: bars; not readable from the text. ratio: 13.1 x. "
                     "Measured there with repetitions: 100.", "Paper 1, Fig. 1: us:", "| another | 79.9 |"):
            self.assertIn(line, lines)


class Browser(unittest.TestCase):
    def test_without_chromium_the_test_of_the_browser_is_skipped_but_fails_in_ci(self):
        test = os.path.join(os.path.dirname(os.path.abspath(__file__)), "browser_test.py")
        for in_ci, status, word in (("", 77, "SKIPPED"), ("true", 1, "FAILS")):
            done = subprocess.run([sys.executable, test], capture_output=True, text=True, timeout=100, check=False,
                                  env={**os.environ, "PATH": "/nowhere", "CI": in_ci})
            self.assertEqual((done.returncode, done.stdout.split(":")[0]), (status, word), done.stderr)
            self.assertIn("no Chromium", done.stdout)


if __name__ == "__main__":
    unittest.main()
