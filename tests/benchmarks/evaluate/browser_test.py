"""The page in a real browser: light, dark, as wide as a phone, and printed: browser_test.py [REPORT.html]

Without a file it is the page of canned results; of a file, the results are in the folder `data` beside it. What a reader must see, as the
results say, is there: titles, tables, axes, units, legends, each with pixels in a picture of the page; no text covers another one,
nothing is wider than the view, and everything contrasts with what is behind it.
"""
import copy
import io
import math
import os
import re
import shutil
import sys
import tempfile
import unittest

import browser
import canned
import expected
import experiments
import papers
import runner

try:
    from PIL import Image, ImageChops
    import matplotlib  # noqa: F401
except ImportError as problem:
    canned.end_without(f"{problem.name} is missing (Debian: python3-matplotlib)")
if not browser.find():
    canned.end_without("no Chromium (Debian: chromium; make evaluate installs it)")

import page

GIVEN = sys.argv.pop() if len(sys.argv) > 1 and sys.argv[1].endswith(".html") else None
# A sheet as the style asks for it: A4, landscape, with margins of 10 mm. A CSS px is 1/96 inch.
SHEET_MM = (297, 210)
MARGIN_MM = 10
PRINTED_PX = int((SHEET_MM[0] - 2 * MARGIN_MM) / 25.4 * 96)
VIEWS = {"desktop, light": (1100, 900, "light"), "desktop, dark": (1100, 900, "dark"), "phone, light": (390, 844, "light"),
         "phone, dark": (390, 844, "dark")}
MIN_TEXT_PX = 8
MIN_PRINTED_PX = 9  # letters on paper, as high as of 7 pt
# Of 255, between text and what is behind it. Thin letters have few pixels in their full colour.
MIN_DIFFERENCE = 24

MEASURE = """(() => {
  const described = (one, at) => ({text: one.textContent.trim().slice(0, 60), full: one.textContent, left: at.left, top: at.top,
    right: at.right, bottom: at.bottom});
  const box = (one) => described(one, one.getBoundingClientRect());
  // Of what is in it, which may be larger than the element.
  const inner = (one) => { const range = document.createRange(); range.selectNodeContents(one);
    return described(one, range.getBoundingClientRect()); };
  const colour = (one, name) => getComputedStyle(one)[name];
  // Pictures are scaled, and some of their text is turned.
  const scale = ({a, b, c, d}) => Math.sqrt(Math.abs(a * d - b * c));
  const letters = (one) => parseFloat(colour(one, 'fontSize')) * (one.getScreenCTM ? scale(one.getScreenCTM()) : 1);
  const plots = [...document.querySelectorAll('svg.plot')].map((svg) => ({
    caption: document.getElementById(svg.getAttribute('aria-labelledby'))?.textContent, box: box(svg),
    texts: [...svg.querySelectorAll('text')].map((one) => ({...box(one), fill: colour(one, 'fill')})),
    strokes: [...new Set([...svg.querySelectorAll('path')].filter((one) => one.style.stroke.startsWith('var(--s'))
      .map((one) => colour(one, 'stroke')))]}));
  const blocks = [...document.querySelectorAll('h1, h2, h3, p, figcaption, summary, pre, dt, dd, li')]
    .filter((one) => one.checkVisibility() && !one.closest('.wide')).map((one) => ({...box(one), kind: one.tagName,
      figure: one.closest('figure') !== null, colour: colour(one, 'color')}));
  const cells = [...document.querySelectorAll('.wide td, .wide th')].filter((one) => one.checkVisibility()).map((one) => {
    const around = one.closest('.wide').getBoundingClientRect();
    return {...inner(one), around: [around.left, around.right]};
  }).filter((one) => one.text && one.left >= one.around[0] && one.right <= one.around[1]);
  const gone = [...document.querySelectorAll('h1, h2, h3, figcaption, svg.plot, svg.plot text')]
    .filter((one) => one.textContent.trim() && !one.checkVisibility()).map(box);
  const sizes = [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility()
    && [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim()))
    .map((one) => ({text: one.textContent.trim().slice(0, 60), kind: one.tagName, size: letters(one)}));
  const wide = [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && !one.closest('.wide, svg'))
    .map(box).filter((one) => one.right > innerWidth + 1 || one.left < -1);
  return {plots, blocks, cells, gone, sizes, wide, width: document.documentElement.scrollWidth, view: innerWidth,
    height: document.documentElement.scrollHeight, background: colour(document.body, 'backgroundColor')};
})()"""
# Takes the text out of the page and leaves the rest as it is.
WITHOUT_TEXT = """(() => {
  const style = document.createElement('style');
  style.id = 'without-text';
  style.textContent = '* { color: transparent !important } svg text, svg text * { fill: transparent !important; stroke: none !important }';
  document.head.append(style);
})()"""
WITH_TEXT = "document.getElementById('without-text').remove()"


def channels(colour):
    return [float(one) for one in re.findall(r"[\d.]+", colour)[:3]]


def luminance(colour):
    linear = [one / 255 / 12.92 if one / 255 <= 0.03928 else ((one / 255 + 0.055) / 1.055) ** 2.4 for one in channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Of two colours, as WCAG defines it: 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def overlap(one, other):
    """Boxes of lines that follow each other touch: what counts is more than a part of a line."""
    lower = min(one["bottom"] - one["top"], other["bottom"] - other["top"])
    return (min(one["right"], other["right"]) - max(one["left"], other["left"]) > 1
            and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 0.3 * lower)


def overlaps(boxes):
    """Pairs of texts that cover each other."""
    found = []
    ordered = sorted(boxes, key=lambda one: one["top"])
    for index, one in enumerate(ordered):
        for other in ordered[index + 1:]:
            if other["top"] >= one["bottom"]:
                break
            if overlap(one, other):
                found.append((one["text"], other["text"]))
    return found


def image_of(png):
    return Image.open(io.BytesIO(png)).convert("RGB")


def text_pixels(one, found):
    """Two pictures of the open page, as large as it is in CSS px: in black and white where it differs from itself without its text,
    and in grey as it is."""
    shown = list(one.strips(found["view"], found["height"]))
    one.ask(WITHOUT_TEXT)
    bare = list(one.strips(found["view"], found["height"]))
    one.ask(WITH_TEXT)
    pixels, grey = (Image.new("L", (found["view"], found["height"])) for _ in range(2))
    for (top, with_text), (_, without_text) in zip(shown, bare):
        picture = image_of(with_text)
        there = ImageChops.difference(picture, image_of(without_text)).convert("L")
        pixels.paste(there.point(lambda value: 255 if value >= MIN_DIFFERENCE else 0), (0, top))
        grey.paste(picture.convert("L"), (0, top))
    return pixels, grey


def unseen(boxes, pixels):
    """Those of the texts that have fewer pixels than characters."""
    missing = []
    for one in boxes:
        place = (max(0, math.floor(one["left"])), max(0, math.floor(one["top"])), math.ceil(one["right"]), math.ceil(one["bottom"]))
        characters = len(one["text"].replace(" ", ""))
        if characters and pixels.crop(place).histogram()[255] < max(3, characters):
            missing.append(one["text"])
    return missing


def too_small(found):
    """What is printed in letters that cannot be read."""
    return [one for one in found["sizes"] if one["size"] < MIN_PRINTED_PX]


def given_results(path):
    """The records beside a page, as `make evaluate` has read them."""
    place = runner.Place(canned.REPOSITORY, "", os.path.dirname(os.path.abspath(path)))
    names = dict.fromkeys(name for one in experiments.EXPERIMENTS for name in one.measurements)
    records, _ = runner.of_one_machine({name: runner.read_record(place, name) for name in names})
    if not any(records.values()):
        sys.exit(f"{place.data}: has no results, which say what the page must show")
    return records


class Browsers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.path = GIVEN or os.path.join(cls.folder, "report.html")
        if not GIVEN:
            cls.write(page.written(canned.EXPERIMENTS, canned.records(), canned.PAPERS, canned.MACHINE))
            cls.shown = expected.of(canned.EXPERIMENTS, canned.records(), canned.PAPERS)
        else:
            cls.shown = expected.of(experiments.EXPERIMENTS, given_results(GIVEN), papers.load())
        cls.browser = browser.Browser(browser.find())
        cls.addClassCleanup(cls.browser.close)
        cls.found, cls.pixels, cls.histograms, cls.first_plots = {}, {}, {}, {}
        for name, view in VIEWS.items():
            cls.browser.open(cls.path, *view)
            cls.found[name] = found = cls.browser.ask(MEASURE)
            cls.pixels[name], grey = text_pixels(cls.browser, found)
            cls.histograms[name] = grey.histogram()
            if found["plots"]:
                plot = found["plots"][0]["box"]
                cls.first_plots[name] = image_of(cls.browser.picture(plot["left"], plot["top"], plot["right"] - plot["left"],
                                                                     plot["bottom"] - plot["top"]))

    @classmethod
    def write(cls, text):
        with open(cls.path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_titles_tables_axes_units_and_legends_are_visible(self):
        for name, found in self.found.items():
            with self.subTest(name):
                self.assertEqual(len(found["plots"]), len(self.shown.plots))
                self.assertEqual(expected.missing(self.shown, found), [])
                for plot in found["plots"]:
                    self.assertTrue(plot["caption"])
                    self.assertGreater(plot["box"]["right"] - plot["box"]["left"], 250)
                    self.assertGreaterEqual(len(plot["texts"]), 4)
                    for text in plot["texts"]:
                        self.assertGreater(text["right"] - text["left"], 1, text)
                        self.assertGreater(text["bottom"] - text["top"], 1, text)
                        for side, sign in (("left", 1), ("top", 1), ("right", -1), ("bottom", -1)):
                            self.assertGreaterEqual(sign * (text[side] - plot["box"][side]), -1, f"{text} is cut off")

    def test_all_text_is_in_the_picture(self):
        for name, found in self.found.items():
            with self.subTest(name):
                self.check_pixels(found, self.pixels[name])

    def check_pixels(self, found, pixels):
        self.assertEqual([one["text"] for one in found["gone"]], [])
        for plot in found["plots"]:
            self.assertEqual(unseen(plot["texts"], pixels), [], plot["caption"])
        self.assertEqual(unseen(found["blocks"], pixels), [])
        self.assertEqual(unseen(found["cells"], pixels), [])

    def test_no_text_covers_another(self):
        for name, found in self.found.items():
            with self.subTest(name):
                self.check_overlaps(found)

    def check_overlaps(self, found):
        """Of texts in plots, in tables, and of all else, with each other."""
        for plot in found["plots"]:
            self.assertEqual(overlaps(plot["texts"]), [], plot["caption"])
        self.assertEqual(overlaps(found["blocks"] + found["cells"] + [text for plot in found["plots"] for text in plot["texts"]]), [])

    def test_nothing_is_wider_than_the_view(self):
        for name, found in self.found.items():
            with self.subTest(name):
                self.assertLessEqual(found["width"], found["view"])
                self.assertEqual(found["wide"], [])

    def test_text_of_plots_can_be_read_on_a_phone(self):
        for name, found in self.found.items():
            with self.subTest(name):
                for plot in found["plots"]:
                    for text in plot["texts"]:
                        self.assertGreaterEqual(min(text["right"] - text["left"], text["bottom"] - text["top"]) if len(text["text"]) > 2
                                                else text["bottom"] - text["top"], MIN_TEXT_PX, text)

    def test_text_and_lines_contrast_with_the_page(self):
        for name, found in self.found.items():
            with self.subTest(name):
                for block in found["blocks"]:
                    self.assertGreaterEqual(contrast(block["colour"], found["background"]), 4.5, block)
                for plot in found["plots"]:
                    for text in plot["texts"]:
                        self.assertGreaterEqual(contrast(text["fill"], found["background"]), 4.5, text)
                    for stroke in plot["strokes"]:
                        self.assertGreaterEqual(contrast(stroke, found["background"]), 3, plot["caption"])

    def test_pictures_are_light_or_dark_and_not_empty(self):
        for name, histogram in self.histograms.items():
            with self.subTest(name):
                dark, light = sum(histogram[:64]), sum(histogram[192:])
                self.assertGreater(*((dark, 4 * light) if "dark" in name else (light, 4 * dark)))
                if name not in self.first_plots:  # a page of what could not be measured
                    continue
                part = self.first_plots[name]
                saturated = [one for count, one in part.getcolors(1 << 24) if max(one) - min(one) > 60 for _ in range(min(count, 1))]
                self.assertGreater(len(saturated), 0, "the first plot has no colours")
                self.assertGreater(len(part.getcolors(1 << 24)), 20)

    def printed(self, path):
        """What is found of a page as wide as it is printed."""
        self.browser.open(path, PRINTED_PX, 1000, "light")
        self.browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        return self.browser.ask(MEASURE)

    def test_printed(self):
        found = self.printed(self.path)
        self.assertEqual(too_small(found), [])
        self.assertEqual(expected.missing(self.shown, found), [])
        pixels, grey = text_pixels(self.browser, found)
        self.check_pixels(found, pixels)
        self.check_overlaps(found)
        histogram = grey.histogram()
        self.assertGreater(sum(histogram[192:]), 4 * sum(histogram[:64]))
        self.assertGreater(sum(histogram[:64]), 0)
        self.assertLessEqual(found["width"], found["view"])
        self.assertGreater(min(channels(found["background"])), 250)
        for plot in found["plots"]:
            for text in plot["texts"]:
                self.assertGreaterEqual(contrast(text["fill"], found["background"]), 4.5, text)
        hidden = self.browser.ask("[...document.querySelectorAll('table')].filter((one) => !one.checkVisibility() || "
                                  "one.getBoundingClientRect().height === 0).length")
        self.assertEqual(hidden, 0, "folded tables are not printed")
        document = self.browser.pdf()
        self.assertTrue(document.startswith(b"%PDF"))
        sheets = re.findall(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\s*\]", document)
        self.assertGreaterEqual(len(sheets), 1)
        for sheet in sheets:
            for points, millimetres in zip(sheet, SHEET_MM):
                self.assertAlmostEqual(float(points) / 72 * 25.4, millimetres, delta=1)
        self.assertGreater(len(document), 10_000)

    def with_style(self, style):
        """A copy of the page with another style."""
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        broken = os.path.join(self.folder, "broken.html")
        with open(broken, "w", encoding="utf-8") as file:
            file.write(text.replace("</style>", f"{style}</style>", 1))
        return broken

    def broken(self, style, view):
        """What is found on the page with another style, in a view."""
        self.browser.open(self.with_style(style), *VIEWS[view])
        return self.browser.ask(MEASURE)

    @unittest.skipIf(GIVEN, "of the canned page")
    def test_the_checks_find_text_that_is_hidden(self):
        for style in (".plot text { visibility: hidden } h2, h3, figcaption { opacity: 0 }",
                      ".plot text { fill: var(--page) !important } :is(h2, h3, figcaption), h2 * { color: var(--page) !important }",
                      "h2, h3, figure { position: relative } "
                      ":is(h2, h3, figure)::after { content: ''; position: absolute; inset: 0; background: var(--page) }"):
            for view in VIEWS:
                with self.subTest(view, style=style):
                    found = self.broken(style, view)
                    pixels, _ = text_pixels(self.browser, found)
                    for plot in found["plots"]:
                        self.assertEqual(unseen(plot["texts"], pixels), [one["text"] for one in plot["texts"] if one["text"]])
                    titles = [one for one in found["blocks"] if one["kind"] in ("H2", "H3", "FIGCAPTION")]
                    self.assertEqual(unseen(titles, pixels), [one["text"] for one in titles])
                    others = [one for one in found["blocks"] if one not in titles and not one["figure"]]
                    self.assertEqual(unseen(others, pixels), [])
        found = self.broken("h2, .plot text { display: none }", "desktop, light")
        gone = [one["text"] for one in found["gone"]]
        self.assertIn("Paper 1, Fig. 1: all kinds of plots (emulated link)", gone)
        self.assertIn("microseconds", gone)

    @unittest.skipIf(GIVEN, "of the canned page")
    def test_the_checks_find_what_is_missing(self):
        found = self.broken("summary, figcaption { display: none }", "desktop, light")
        lost = expected.missing(self.shown, found)
        self.assertEqual(sorted(lost), sorted([*self.shown.tables, *(title for title, _ in self.shown.plots)]))
        before = self.found["desktop, light"]
        for kind, lost in (("y_label", "GB/s"), ("label", "get"), ("title", "Bandwidth over size")):
            with self.subTest(kind):
                without = copy.deepcopy(before)
                plot = without["plots"][0]
                if kind == "title":
                    plot["caption"] = "another title"
                plot["texts"] = [one for one in plot["texts"] if one["text"] != lost]
                self.assertEqual([one for one in expected.missing(self.shown, without) if lost in one],
                                 expected.missing(self.shown, without))
                self.assertEqual(len(expected.missing(self.shown, without)), 1)

    @unittest.skipIf(GIVEN, "of the canned page")
    def test_the_checks_find_what_is_wrong(self):
        found = self.broken(".plot text { font-size: 40px !important } h2 { width: 2000px } p { margin-bottom: -1em }", "phone, light")
        self.assertGreater(len(overlaps(found["plots"][0]["texts"])), 0)
        self.assertGreater(len(overlaps(found["blocks"])), 0)
        tables = self.broken("td, th { white-space: nowrap; max-width: 10px } table { table-layout: fixed }", "desktop, light")
        self.assertGreater(len(overlaps(tables["cells"])), 0)
        self.assertGreater(found["width"], found["view"])
        self.assertGreater(len(found["wide"]), 0)

    @unittest.skipIf(GIVEN, "of the canned page")
    def test_the_checks_find_what_cannot_be_read_on_paper(self):
        for style, kinds in (("td { font-size: 8px !important }", {"TD"}), (".plot { width: 200px !important }", {"text"}),
                             (".note { font-size: 6pt !important }", {"P"})):
            found = self.printed(self.with_style(style))
            self.assertEqual({one["kind"] for one in too_small(found)} & kinds, kinds, style)
        found = self.printed(self.with_style("td.number { white-space: nowrap !important } table { font-size: 14px !important }"))
        self.assertGreater(found["width"], found["view"])


if __name__ == "__main__":
    unittest.main()
