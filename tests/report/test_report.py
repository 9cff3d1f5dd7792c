#!/usr/bin/env python3
"""report.html of real runs in headless Chromium: nothing to complain of, every figure drawn,
nothing fetched, no text over another, in light and dark, on a laptop's screen.

OUTRIDER_SCREENSHOTS=DIR keeps pictures of what was tested.
"""
import csv
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import browser
import experiments

sys.path.insert(0, str(experiments.ROOT / "tools/python"))
from outrider import Results  # noqa: E402


def query(directory, sql):
    with Results(directory) as results:
        return results.rows(sql)


FABRIC_FIGURES = {"links", "jobs-over-time", "slowdown"}
FIGURES = {"gain", "queue", "cdf", "attribution", "throughput", "cost", "marks", "drops",
           "timeline", "hosts"}

# Every pair of texts of a figure of which one hides a part of the other.
OVERLAPS = """
[...document.querySelectorAll("figure svg, #table svg")].flatMap((svg) => {
  const boxes = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim())
      .map((t) => [t.textContent, t.getBoundingClientRect(), t]);
  const found = [];
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [a, p] = boxes[i], [b, q] = boxes[j];
    const w = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const h = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (w > 1.5 && h > 3.5) found.push(`${svg.getAttribute("aria-label")}: "${a}" and "${b}"`);
  }
  const frame = svg.getBoundingClientRect();
  for (const [a, p] of boxes)
    if (p.left < frame.left - 1 || p.right > frame.right + 1 || p.top < frame.top - 3 || p.bottom > frame.bottom + 1)
      found.push(`${svg.getAttribute("aria-label")}: "${a}" is cut off`);
  return found;
})
"""

# The same after each choice that a figure offers, and with more arms, of longer names, than there are.
OVERLAPS_OF_CHOICES = """
(() => {
  const overlaps = () => %s, found = new Set(overlaps()), note = () => overlaps().forEach((o) => found.add(o));
  const figures = [...document.querySelectorAll("figure")];
  for (const figure of figures) {
    const buttons = () => figure.querySelectorAll("button[aria-pressed]"), selects = () => figure.querySelectorAll(".tools select");
    for (let i = 0; i < buttons().length; i++) { buttons()[i].click(); note(); }
    for (let i = 0; i < selects().length; i++) for (let k = 0; k < selects()[i].options.length; k++) {
      selects()[i].selectedIndex = k;
      selects()[i].dispatchEvent(new Event("change"));
      note();
    }
  }
  const more = data.arms.filter((a) => a.point === 0 && !a.off).map((a) => ({ ...a, name: `${a.name} with a higher threshold and h_packets=${a.name.length}` }));
  data.arms.push(...more);
  dress(data.arms);
  drawAll();
  note();
  return [...found];
})()
""" % OVERLAPS

DRAWN = """
Object.fromEntries([...document.querySelectorAll("figure")].map((f) => [f.dataset.figure, {
  state: f.dataset.drawn, marks: f.querySelectorAll("svg .mark").length,
  buttons: [...f.querySelectorAll(".tools button")].map((b) => b.textContent),
  text: f.querySelector(".plot").textContent}]))
"""

# What the button saves, read again as an XML document.
SAVED = """
(async () => {
  const saved = [];
  const native = URL.createObjectURL;
  URL.createObjectURL = (blob) => { saved.push(blob); return native(blob); };
  HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
  const buttons = document.querySelectorAll("figure[data-figure=%s] .tools button");
  [...buttons].find((b) => b.textContent === "%s").click();
  for (let i = 0; i < 200 && saved.length < 2; i++) await new Promise((r) => setTimeout(r, 20));
  URL.createObjectURL = native;
  const [blob, name] = saved;
  if (blob.type !== "image/svg+xml") return [name, blob.type, blob.size];
  const text = await blob.text();
  const xml = new DOMParser().parseFromString(text, "image/svg+xml");
  return [name, blob.type, blob.size, xml.querySelector("parsererror") === null,
          xml.querySelectorAll(".mark").length, /<(style|script|image)|class="plot/.test(text)];
})()
"""


# The terms of each part of the page, and the text that it may take them from.
TERMS_OF_PARTS = """
[...document.querySelectorAll("#page > header, #page > section:not(#terms)")].map((part) => ({
  id: part.id,
  text: [...part.querySelectorAll("h2, h3, p:not(.question), li, .help, th[scope=col]")]
      .filter((e) => !e.querySelector("a:not(.term), code")).map((e) => e.textContent).join("\\n"),
  terms: [...part.querySelectorAll(".term")].map((a) => ({
    name: document.querySelector(a.hash).textContent,
    described: document.getElementById(a.getAttribute("aria-describedby")).textContent,
    before: a.previousSibling ? a.previousSibling.textContent : "",
    after: a.nextSibling && a.nextSibling.nodeType === 3 ? a.nextSibling.textContent : ""}))}))
"""


def glossary():
    """Meanings by term, both without Markdown's marks."""
    rows = {}
    for line in (experiments.ROOT / "docs/glossary.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and line != "| term | meaning |":
            term, meaning = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line).replace("`", "")[2:-2].split(" | ")
            rows[term] = meaning
    return rows


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pictures = []
        cls.directory = tempfile.TemporaryDirectory(prefix="outrider-report-")
        cls.addClassCleanup(cls.directory.cleanup)
        root = cls.directory.name
        cls.quick = experiments.run(root, "quick", experiments.QUESTION, attribution=True)
        cls.plain = experiments.run(root, "plain", seeds=1)
        cls.sweep = experiments.run(root, "sweep", sweep=True)
        cls.several = experiments.run(root, "several", jobs=2, attribution=True)
        cls.fabric = experiments.run_fabric(root)
        cls.roce = experiments.run_roce(root)
        cls.page = cls.enterClassContext(browser.Browser()) if hasattr(cls, "enterClassContext") \
            else cls.entered(browser.Browser())

    @classmethod
    def entered(cls, context):
        cls.addClassCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def open(self, results, scheme="light", width=1280):
        self.page.open(results / "report.html", scheme, width)
        self.assertEqual(self.page.complaints, [])
        self.assertTrue(self.page.evaluate("document.documentElement.dataset.ready === 'yes'"))
        self.keep_picture(f"{results.name}-{scheme}-{width}")

    def keep_picture(self, name):
        """Of the first page, or of all where somebody wants to see them: each takes a second."""
        keep = os.environ.get("OUTRIDER_SCREENSHOTS")
        if not keep and self.pictures:
            return
        path = pathlib.Path(keep or self.directory.name) / f"{name}.png"
        self.page.screenshot(path, whole=True)
        self.pictures.append(path)
        self.assertGreater(path.stat().st_size, 20_000, "an empty picture")

    def check_figures(self, expected, empty=()):
        drawn = self.page.evaluate(DRAWN)
        self.assertEqual(set(drawn), set(expected))
        for name, figure in drawn.items():
            with self.subTest(figure=name):
                if name in empty:
                    self.assertEqual(figure["state"], "empty")
                    self.assertGreater(len(figure["text"]), 20, "it says why")
                    continue
                self.assertEqual(figure["state"], "yes", figure["text"])
                self.assertGreater(figure["marks"], 0)
                self.assertEqual(figure["buttons"][-2:], ["SVG", "PNG"])
        self.assertEqual(self.page.evaluate(OVERLAPS), [])
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"),
                             self.page.evaluate("innerWidth"), "the page scrolls sideways")
        self.assertEqual([u for u in self.page.requests if not u.startswith(("file:", "data:"))], [])

    def test_every_figure_is_drawn(self):
        for scheme, lightness in (("light", range(200, 256)), ("dark", range(0, 60))):
            with self.subTest(scheme=scheme):
                self.open(self.quick, scheme)
                self.check_figures(FIGURES, empty=("drops",))
                red = self.page.evaluate("getComputedStyle(document.body).backgroundColor")
                self.assertIn(int(re.search(r"\d+", red).group()), lightness)
                ink = self.page.evaluate(
                    "document.querySelector('figure svg').getAttribute('fill')")
                self.assertEqual(int(ink[1:3], 16) > 128, scheme == "dark", "text on its ground")

    def test_on_other_widths(self):
        for width in (1024, 1920):
            with self.subTest(width=width):
                self.open(self.quick, width=width)
                self.check_figures(FIGURES, empty=("drops",))

    def check_head(self, width):
        """No two parts of the head share a line, and none leaves the screen."""
        boxes = self.page.evaluate(
            "[...document.querySelectorAll('header > *')].map((e) => { const r = "
            "e.getBoundingClientRect(); return [e.tagName, r.top, r.right, r.bottom]; })")
        self.assertGreater(len(boxes), 3)
        for i, (name, top, right, bottom) in enumerate(boxes):
            for other, its_top, _, its_bottom in boxes[i + 1:]:
                self.assertLessEqual(min(bottom, its_bottom) - max(top, its_top), 1,
                                     f"{name} and {other}")
            self.assertLessEqual(right, width + 0.5, name)

    def test_on_a_phone(self):
        """Nothing hides anything else, and what is cut says that there is more."""
        for width in (1100, 390):
            self.open(self.quick, width=width)
            self.check_head(width)
        self.page.evaluate(
            "(async () => { for (const d of document.querySelectorAll('details')) d.open = true;"
            " for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); })()")
        cut = self.page.evaluate(
            "[...document.querySelectorAll('.scroll')].filter((s) => s.scrollWidth > s.clientWidth + 1)"
            ".map((s) => (s.previousElementSibling || {}).textContent || '')")
        self.assertGreater(len(cut), 0)
        for hint in cut:
            self.assertIn("scroll it sideways", hint)
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"),
                             self.page.evaluate("innerWidth"), "the page scrolls sideways")
        self.page.open(self.quick / "report.html", "light", 1920)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('#table .cut').length"), 0)

    def test_a_phone_shows_the_answer_first(self):
        """The head is short, and the change needs no scrolling to be seen."""
        for results in (self.quick, self.sweep, self.roce):
            with self.subTest(results=results.name):
                self.open(results, width=390)
                self.assertLessEqual(self.page.evaluate("document.querySelector('header').offsetHeight"), 120)
                (head, head_right), cells, right = self.page.evaluate(
                    "(() => { const s = document.querySelector('#table .scroll');"
                    " const of = (t) => [t.textContent, t.getBoundingClientRect().right];"
                    " return [of(s.querySelector('thead th:nth-child(2)')),"
                    " [...s.querySelectorAll('tbody td:nth-child(2)')].map(of), s.getBoundingClientRect().right]; })()")
                self.assertRegex(head, "^Against .*change of median")
                self.assertLessEqual(head_right, right)
                changes = self.page.evaluate(
                    "armsHere().map((a) => a.off ? '\u2013' : percent(median(a)[3]))")
                for (said, its_right), change in zip(cells, changes):
                    self.assertTrue(said.startswith(change), f"{said}, {change}")
                    self.assertLessEqual(its_right, right)
        question = "document.querySelector('.question')"
        self.page.evaluate(f"{question}.textContent = 'Is it all read? '.repeat(20)")
        self.assertLessEqual(self.page.evaluate("document.querySelector('header').offsetHeight"), 120)
        self.page.evaluate(f"{question}.focus()")
        self.assertGreater(self.page.evaluate(f"{question}.offsetHeight"), 100, "a tap shows the rest")

    def test_figures_are_drawn_for_a_phone(self):
        """None is scrolled, or made smaller as a whole until its texts cannot be read."""
        for results in (self.quick, self.sweep, self.several, self.fabric, self.roce):
            for width in (390, 360):
                with self.subTest(results=results.name, width=width):
                    self.open(results, width=width)
                    self.assertEqual(self.page.evaluate(OVERLAPS), [])
                    self.assertEqual(self.page.evaluate(
                        "[...document.querySelectorAll('figure svg')].filter((s) => s.parentNode.scrollWidth >"
                        " s.parentNode.clientWidth || s.getBoundingClientRect().width < s.getAttribute('width') - 1)"
                        ".map((s) => s.getAttribute('aria-label'))"), [])

    def test_figures_are_declared_in_a_few_lines(self):
        declared = {}
        for file in (experiments.ROOT / "tools/lab/report").glob("*.js"):
            for text in re.findall(r"^figure\(\{.*?^  [^\n]*\}\);$", file.read_text(encoding="utf-8"), re.S | re.M):
                declared[re.search(r'id: "(.*?)"', text).group(1)] = len(text.splitlines())
        self.assertEqual(set(declared), FIGURES | FABRIC_FIGURES | {"sweep", "pauses", "jobs-attribution"})
        self.assertEqual({name: lines for name, lines in declared.items() if lines > 30}, {})

    def test_no_label_covers_another_whatever_is_chosen(self):
        for results in (self.quick, self.sweep, self.several, self.fabric, self.roce):
            for width in (1280, 390):
                with self.subTest(results=results.name, width=width):
                    self.open(results, width=width)
                    self.assertEqual(self.page.evaluate(OVERLAPS_OF_CHOICES), [])
                    self.assertEqual(self.page.evaluate(
                        "[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right >"
                        " innerWidth + 1 && !e.parentNode.closest('.scroll, nav, .facts'))"
                        ".map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`)"), [],
                        "the page scrolls sideways")
                    self.assertEqual(self.page.complaints, [])

    def test_arms_that_lie_on_each_other_have_their_names_in_a_key(self):
        self.open(self.quick, width=390)
        self.page.evaluate(
            "(() => { for (let i = 0; i < 9; i++) data.arms.push({ ...data.arms[1], name: `one-of-many-${i}` });"
            " drawAll(); })()")
        names = self.page.evaluate("data.arms.map((a) => a.name)")
        self.assertEqual(self.page.evaluate(OVERLAPS), [])
        shown = self.page.evaluate("[...document.querySelectorAll('#figure-gain text')].map((t) => t.textContent)")
        for name in names:
            self.assertIn(name, shown)

    def test_names_of_rows_stay_when_a_table_is_scrolled(self):
        self.open(self.several, width=390)
        for box in ("#table", "#jobs", "#each-job-table"):
            left, name, column = self.page.evaluate(
                f"(() => {{ const s = document.querySelector('{box} .scroll'); s.scrollLeft = 1000;"
                " const x = (e) => e.getBoundingClientRect().left;"
                " return [x(s), x(s.querySelector('th[scope=row]')), x(s.querySelector('td'))]; })()")
            self.assertAlmostEqual(name, left, delta=1, msg=box)
            self.assertLess(column, name, box)

    def test_arms_are_explained(self):
        self.open(self.quick)
        arms = dict(self.page.evaluate(
            "[...document.querySelectorAll('#table .arms dt')].map((t) => "
            "[t.textContent, t.nextElementSibling.textContent])"))
        self.assertEqual(list(arms), ["off", "on", "on-hold-spared"])
        self.assertIn("baseline", arms["off"])
        self.assertIn("switch.regulation.mode = mark", arms["on"])
        self.assertIn("recovery = arrival", arms["on"])
        self.assertNotIn("recovery", arms["on-hold-spared"])

    def test_jobs_are_in_a_table_where_there_are_several(self):
        self.open(self.quick)
        self.assertTrue(self.page.evaluate("document.getElementById('jobs').hidden"))
        self.open(self.several)
        heads, rows = self.page.evaluate(
            "[[...document.querySelectorAll('#jobs thead th')].map((t) => t.firstChild.textContent),"
            " [...document.querySelectorAll('#jobs tbody tr')].map((r) => "
            "[...r.children].map((c) => c.querySelector('b') ? c.querySelector('b').textContent : c.textContent))]")
        self.assertIn("Completion of the jobs, mean", heads)
        summary = json.loads((self.several / "summary.json").read_text(encoding="utf-8"))
        self.assertEqual([r[0] for r in rows], [a["label"] for a in summary["arms"]])
        of = {m["name"]: m for m in self.page.evaluate("data.metrics")}["jobs_completion_seconds_mean"]
        for row, arm in zip(rows, summary["arms"]):
            value = arm["metrics"]["jobs_completion_seconds_mean"]["value"]["value"] * of["scale"]
            shown = float(row[heads.index("Completion of the jobs, mean")])
            self.assertAlmostEqual(shown, value, delta=value / 100)

    def roce_table(self):
        """@return headings, and of each row the arm, what distinguishes it, and the numbers"""
        return self.page.evaluate(
            "(() => { const plain = (e) => [...e.childNodes].filter((n) => n.className !== 'unit')"
            ".map((n) => n.textContent).join('');"
            " const text = (e) => e ? e.textContent : '';"
            " return [[...document.querySelectorAll('#roce-table thead th')].map(plain),"
            " [...document.querySelectorAll('#roce-table tbody tr')].map((r) => "
            "[r.querySelector('th').childNodes[1].data, text(r.querySelector('.of')),"
            " ...[...r.querySelectorAll('td b')].map(text)])]; })()")

    def test_pauses_and_queue_pairs_of_every_arm(self):
        summary = json.loads((self.roce / "summary.json").read_text(encoding="utf-8"))
        columns = {"Queue pairs": "roce_queue_pairs", "CNPs": "roce_cnps_per_burst",
                   "NAKs": "roce_naks_per_burst", "Sent again": "roce_retransmitted_per_burst",
                   "Pauses": "pauses_per_burst", "Hosts paused": "host_paused_seconds_per_burst"}
        for width in (1100, 390):
            self.open(self.roce, width=width)
            heads, rows = self.roce_table()
            self.assertEqual(heads, ["Arm", *columns])
            arms = [a for a in summary["arms"] if a["label"] != "off-tcp"]
            of_pfc = "off-pfc switch.queue.lossless.xoff_bytes="
            self.assertEqual([r[:2] for r in rows], [["no pauses", ""], [of_pfc + "50000", ""],
                                                     [of_pfc + "25000", ""]])
            self.assertTrue(all(r[0].startswith(a["label"]) for r, a in zip(rows, arms)))
            of = {m["name"]: m for m in self.page.evaluate("data.metrics")}
            for row, arm in zip(rows, arms):
                for shown, name in zip(row[2:], columns.values()):
                    with self.subTest(width=width, arm=row[:2], metric=name):
                        if name not in arm["metrics"]:
                            self.assertEqual(shown, "–")
                            continue
                        value = arm["metrics"][name]["value"]["value"] * of[name]["scale"]
                        self.assertAlmostEqual(float(shown), value, delta=abs(value) / 100 + 0.005)
            self.assertEqual([r[2] for r in rows], ["2", "2", "2"], "two workers and a server")
            self.assertEqual([r[6] == "–" for r in rows], [True, False, False])
            figure = self.page.evaluate(DRAWN)["pauses"]
            self.assertEqual(figure["state"], "yes", figure["text"])
            self.assertEqual(figure["marks"], 2 + 2 + 3, "pauses and time of two arms, CNPs of three")
            self.assertEqual(self.page.evaluate(OVERLAPS), [])
            self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), width)
            self.assertIn("RoCEv2 and pauses", self.page.evaluate("document.querySelector('nav').textContent"))

    def test_the_baseline_is_named_by_its_label(self):
        for width in (1100, 390):
            self.open(self.roce, width=width)
            page = self.page.evaluate("document.getElementById('page').innerText")
            self.assertEqual(re.findall(r"(?i)against (?:the )?off\b[^-\n]*|\boff(?:'s| arm|: )", page), [])
            self.assertIn("Against no pauses", page)
            self.assertIn("no pauses, mean", self.page.evaluate(DRAWN)["queue"]["text"])
            self.assertIn("no pauses", self.page.evaluate("document.getElementById('sentences').textContent"))

    def test_a_report_has_no_pauses_where_there_are_none(self):
        for results in (self.quick, self.fabric):
            self.open(results)
            self.assertIsNone(self.page.evaluate("document.getElementById('roce')"))
            self.assertIsNone(self.page.evaluate("document.getElementById('figure-pauses')"))
            said = self.page.evaluate("document.getElementById('page').innerText")
            for word in ("RoCEv2 and", "Pauses", "Queue pairs"):
                self.assertNotIn(word, said)
        self.open(experiments.run_roce(self.directory.name, "lossy", pauses=False, seeds=1))
        self.assertEqual(self.roce_table()[0], ["Arm", "Queue pairs", "CNPs", "NAKs", "Sent again"])
        self.assertEqual(self.page.evaluate("document.querySelector('#figure-pauses h3').textContent"),
                         "CNPs by arm")
        self.assertEqual(self.page.evaluate("document.querySelector('#roce h2').innerText"), "RoCEv2")

    def test_groups_of_background_have_a_row_for_each_arm(self):
        self.open(self.plain)
        self.assertIsNone(self.page.evaluate("document.getElementById('groups')"))
        results = experiments.run_groups(self.directory.name)
        summary = json.loads((results / "summary.json").read_text(encoding="utf-8"))
        for width in (1280, 390):
            self.open(results, width=width)
            heads, rows = self.page.evaluate(
                "(() => { const plain = (e) => [...e.childNodes].filter((n) => n.className !== 'unit')"
                ".map((n) => n.textContent).join('');"
                " return [[...document.querySelectorAll('#groups-table thead th')].map(plain),"
                " [...document.querySelectorAll('#groups-table tbody tr')].map((r) => "
                "[...r.querySelectorAll('td')].map((c) => [c.querySelector('b').textContent, c.innerText]))];"
                " })()")
            figures = {f["name"]: f for f in self.page.evaluate("data.group_figures")}
            self.assertEqual(heads[2:4], ["Offered", "Goodput"])
            self.assertEqual(len(rows), 3 * 2, "three groups under two arms")
            of_row = [(g, a) for g in range(3) for a in summary["arms"]]
            for cells, (g, arm) in zip(rows, of_row):
                own = arm["background_groups"][g]["figures"]["goodput_bits_per_second"]
                shown, whole = cells[heads.index("Goodput") - 2]
                value = own["value"]["value"] * figures["goodput_bits_per_second"]["scale"]
                self.assertAlmostEqual(float(shown), value, delta=value / 100)
                self.assertEqual(whole.count("["), 1 if arm["off"] else 2,
                                 "confidence, and that of the change")
            self.assertEqual([c[0][0] == "–" for c in rows], [True, True, False, False, True, True],
                             "only flows with sizes are offered")
            self.assertIn("lost against tail drop", self.page.evaluate(DRAWN)["gain"]["text"])
            self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), width)
        with open(results / "groups.csv", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual(len(lines), 3 * len(summary["cases"]))

    def test_links_and_jobs_of_a_fabric(self):
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390)):
            self.open(self.fabric, scheme, width)
            drawn = self.page.evaluate(DRAWN)
            self.assertEqual(set(drawn), FIGURES | FABRIC_FIGURES)
            for name in FABRIC_FIGURES:
                self.assertEqual(drawn[name]["state"], "yes", drawn[name]["text"])
                self.assertGreater(drawn[name]["marks"], 0)
                self.assertEqual(drawn[name]["buttons"][-2:], ["SVG", "PNG"])
            hidden = self.page.evaluate(OVERLAPS)
            self.assertEqual(hidden, [])
            self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"),
                                 self.page.evaluate("innerWidth"), "the page scrolls sideways")

    def test_heat_map_has_the_links_of_the_summary(self):
        self.open(self.fabric)
        tiers = query(self.fabric, "SELECT * FROM tiers WHERE case_index = 0 ORDER BY rowid")
        label, texts = self.page.evaluate(
            "(() => { const s = document.querySelector('figure[data-figure=links] svg'); return "
            "[s.getAttribute('aria-label'), [...s.querySelectorAll('text')].map((t) => t.textContent)]; })()")
        self.assertEqual([t["tier"] for t in tiers], ["leaf to spine", "spine to leaf", "leaf to host"])
        for tier in tiers:
            self.assertIn(tier["busiest"], label)
            self.assertIn(tier["busiest"], texts)
        self.assertIn("leaf to host, the 32 busiest of 40 links", texts)
        self.assertIn("8 others", texts)
        # Cells are what link_slices.csv says.
        with open(self.fabric / "link_slices.csv", encoding="utf-8") as file:
            lines = [l for l in csv.DictReader(file)
                     if l["case_index"] == "0" and l["link"] == "leaf_1.to_spine_0"]
        cells = self.page.evaluate("data.arms[0].links.tiers[0].rows.find("
                                   "(r) => r.link === 'leaf_1.to_spine_0').cells")
        self.assertEqual(len(cells), len(lines))
        for cell, line in zip(cells, lines):
            self.assertAlmostEqual(cell / 1000, float(line["utilisation"]), delta=0.0006)
        self.assertGreater(max(cells), 0)

    def job_rows(self):
        """Rows of the table of jobs, each with its job."""
        rows, job = [], None
        for row in self.page.evaluate(
                "[...document.querySelectorAll('#each-job-table tbody tr')].map((r) => [...r.children]"
                ".map((c) => [c.scope || '', (c.querySelector('b') || c).textContent]))"):
            if row[0][0] == "rowgroup":
                job = row.pop(0)[1]
            rows.append([job, *(text for _, text in row)])
        return rows

    def test_each_job_has_a_row_for_each_arm(self):
        self.open(self.several)
        summary = json.loads((self.several / "summary.json").read_text(encoding="utf-8"))
        rows = self.job_rows()
        self.assertEqual([r[:2] for r in rows],
                         [[job, a["label"]] for job in ("job0", "job1") for a in summary["arms"]])
        units = self.page.evaluate("[...document.querySelectorAll('#each-job-table thead .unit')]"
                                   ".map((u) => u.textContent.split(',')[0])")
        names = [None, None, None, "iteration_seconds_median", "iteration_seconds_p99",
                 "communication_seconds_median", "communication_seconds_p99", "completion_seconds"]
        for i, row in enumerate(rows):
            arm = summary["arms"][i % len(summary["arms"])]
            each = [job for c in arm["cases"] for job in
                    query(self.several, f"SELECT * FROM jobs WHERE case_index = {c} "
                         f"AND job = {i // len(summary['arms'])}")]
            for column, name in enumerate(names):
                if name is None:
                    continue
                value = sum(one[name] for one in each) / len(each) * \
                    {"s": 1, "ms": 1e3, "µs": 1e6}[units[column]]
                shown = float(row[column].replace("\u202f", ""))
                self.assertAlmostEqual(shown, value, delta=value / 150, msg=name)
            complete, parts = self.of_bursts(i // len(summary["arms"]), arm["cases"])
            self.assertEqual(int(row[2]), complete)
            self.assertEqual(row[8], self.page.evaluate(f"PART_NAMES.{max(parts, key=parts.get)}"))
        self.assertGreater(self.page.evaluate(DRAWN)["jobs-attribution"]["marks"], len(rows))
        # Arms that the reader hides are hidden here too.
        self.page.evaluate("document.querySelector('.chip[data-key=\"arm on\"]').click()")
        self.assertEqual(len(self.job_rows()), len(rows) - 2)

    def of_bursts(self, job, cases):
        """Complete iterations of a job, and the sums of its pushes' times, by bursts.csv."""
        with open(self.several / "bursts.csv", encoding="utf-8") as file:
            pushes = [l for l in csv.DictReader(file)
                      if int(l["case_index"]) in cases and int(l["job"]) == job and l["run"] == "measured" and
                      l["direction"] == "push" and int(l["iteration"]) >= self.skipped()]
        workers = len({p["worker"] for p in pushes})
        whole = {}
        for push in pushes:
            if push["delivered_ns"]:
                key = push["case_index"], push["iteration"]
                whole[key] = whole.get(key, 0) + 1
        parts = {n[5:-3]: sum(int(p[n] or 0) for p in pushes) for n in pushes[0] if n.startswith("time_")}
        return sum(n == workers for n in whole.values()), parts

    def skipped(self):
        return self.page.evaluate("data.settings.common.skip_iterations")

    def test_collectives_are_in_the_words_of_nccl_tests(self):
        self.open(self.fabric)
        rows = self.page.evaluate("[...document.querySelectorAll('#collectives-table tbody tr')].map((r) => "
                                  "[...r.children].map((c) => (c.querySelector('b') || c).textContent))")
        wanted = query(self.fabric, "SELECT * FROM arm_collectives ORDER BY arm")
        self.assertEqual([(r[0], r[1]) for r in rows[:1]], [("ring", "off")])
        self.assertEqual(len(rows), len(wanted))
        for row, want in zip(rows, wanted):
            self.assertEqual(row[-7:-4], [want["collective"], str(want["ranks"]), f"{want['size_bytes']:.0f}"])
            for cell, value in zip(row[-4:], (want["communication_seconds_median"] * 1e6,
                                              want["algbw_bits_per_second_median"] / 8e9,
                                              want["busbw_bits_per_second_median"] / 8e9,
                                              want["busbw_bits_per_second_median"] / 1e9)):
                self.assertAlmostEqual(float(cell.replace("\u202f", "")), value, delta=value / 150)

    def test_one_job_has_no_table_of_jobs(self):
        self.open(self.quick)
        self.assertIsNone(self.page.evaluate("document.getElementById('collectives')"))
        self.assertIsNone(self.page.evaluate("document.getElementById('each-job')"))

    def test_jobs_of_a_fabric_are_in_the_same_table(self):
        self.open(self.fabric)
        jobs = query(self.fabric, "SELECT name, worst_link, avg(iteration_seconds_median) AS median, "
                    "min(case_index) FROM jobs WHERE case_index < 2 GROUP BY job ORDER BY job")
        off = [r for r in self.job_rows() if r[1] == "off"]
        self.assertEqual([r[0] for r in off], [j["name"] for j in jobs])
        for row, job in zip(off, jobs):
            median = job["median"]
            self.assertAlmostEqual(float(row[3]), median * 1e3, delta=median * 10)
            self.assertEqual(row[8], job["worst_link"])
            self.assertGreater(int(row[2]), 0, "jobs with different numbers of workers")
        titles = self.page.evaluate(
            "[...document.querySelectorAll('#fabric-tables th[scope=col], #each-job-table th[scope=col]')]"
            ".map((h) => h.title)")
        self.assertGreater(len([t for t in titles if len(t) > 20]), 11, "headings say what they mean")
        marks = self.page.evaluate(DRAWN)["jobs-over-time"]["marks"]
        with open(self.fabric / "iterations.csv", encoding="utf-8") as file:
            iterations = {(l["job"], l["iteration"]) for l in csv.DictReader(file)
                          if l["case_index"] == "0" and l["run"] == "measured"}
        self.assertEqual(marks, len(iterations))

    def choose_hosts(self, arm, window):
        self.page.evaluate(f"state.hostsArm = '{arm}'; state.hostsWindow = {window}; drawAll()")

    def hosts_figure(self):
        """Its names of rows and titles, and the tips of its bursts."""
        return self.page.evaluate(
            "(() => { const f = document.querySelector('figure[data-figure=hosts]'); return {"
            " texts: [...f.querySelectorAll('svg text')].map((t) => t.textContent),"
            " what: f.querySelector('.what').textContent,"
            " lowered: f.querySelectorAll('svg rect[opacity=\"0.14\"]').length,"
            " strong: [...f.querySelectorAll('svg rect.strong')].map((r) => r.getAttribute('fill')),"
            " tips: [...f.querySelectorAll('svg g.mark')].map((m) => m.__tip)}; })()")

    def test_hosts_are_shown_with_the_bursts_of_the_iteration(self):
        self.open(self.several, width=390)
        with open(self.several / "bursts.csv", encoding="utf-8") as file:
            lines = [l for l in csv.DictReader(file) if l["run"] == "measured" and l["label"] == "on"
                     and l["seed"] == "1" and l["job"] == "1"]
        options = self.page.evaluate("[...document.querySelectorAll('#figure-hosts select option')]"
                                     ".map((o) => o.text)")
        self.assertIn("on", options)
        self.assertTrue(any(o.startswith("job1, iteration ") and "slowest" in o for o in options), options)
        windows = self.page.evaluate("data.arms.find((a) => a.name === 'on').hosts.windows")
        [at] = [i for i, w in enumerate(windows) if w["job"] == 1 and "slowest" in w["why"]]
        self.choose_hosts("on", at)
        self.keep_picture("several-hosts-390")
        iteration = str(windows[at]["iteration"])
        pushes = {l["iteration"]: int(l["delivered_ns"]) - int(l["due_ns"]) for l in lines
                  if l["direction"] == "push"}
        self.assertEqual(pushes[iteration], max(pushes.values()), "the slowest one of the job")
        figure = self.hosts_figure()
        self.assertEqual([t for t in figure["texts"] if t in ("server", "worker 0", "job0", "job1")][:3],
                         ["job1", "server", "worker 0"], "its own job comes first")
        self.assertGreater(figure["lowered"], 0, "regulated around its START")
        zero = min(int(l["due_ns"]) for l in lines if l["iteration"] == iteration)
        for line in (l for l in lines if l["iteration"] == iteration):
            way = "push of" if line["direction"] == "push" else "pull to"
            tips = [t for t in figure["tips"] if t[0] == f"job1, iteration {iteration}, {way} worker 0"]
            self.assertEqual(len(tips), 2, "on the worker's row and on the server's")
            said = float(re.search(r"delivered (\S+) ms", tips[0][-1]).group(1))
            self.assertAlmostEqual(said, (int(line["delivered_ns"]) - zero) * 1e-6, delta=0.06)

    def test_hosts_say_what_the_results_do_not_hold(self):
        self.open(self.quick)
        self.choose_hosts("off", 0)
        self.assertEqual(self.hosts_figure()["lowered"], 0, "off never lowers the threshold")
        self.assertNotIn("do not say", self.hosts_figure()["what"])
        # As where bursts are steered: regulated, and not by the threshold.
        self.page.evaluate("data.arms.find((a) => a.name === 'on').hosts.windows.forEach("
                           "(w) => w.threshold.fill(20))")
        self.choose_hosts("on", 0)
        self.assertIn("the results do not say when", self.hosts_figure()["what"])
        # No background at all is slow background.
        slow = self.page.evaluate("THEMES.light.parts.behind_background")
        self.page.evaluate("data.arms.find((a) => a.name === 'on').hosts.windows.forEach("
                           "(w) => w.background.fill(1e6))")
        self.choose_hosts("on", 0)
        self.assertNotIn(slow, self.hosts_figure()["strong"])
        self.page.evaluate("data.arms.find((a) => a.name === 'on').hosts.windows.forEach("
                           "(w) => w.background.fill(0, 3, 5))")
        self.choose_hosts("on", 0)
        self.assertEqual(self.hosts_figure()["strong"].count(slow), 1)
        # More workers than there is room for, one of which never sent.
        self.page.evaluate("(() => { const h = data.arms.find((a) => a.name === 'on').hosts; h.jobs[0].workers = 41;"
                           " const [b] = h.windows[0].bursts; h.windows[0].bursts = d3.range(40).map((i) =>"
                           " [b[0], b[1], i, 1, 0, null, null, 1, 100 + i, 0]); })()")
        self.choose_hosts("on", 0)
        texts = self.hosts_figure()["texts"]
        self.assertIn("worker 39", texts)
        self.assertNotIn("worker 0", texts, "the slowest are shown")
        self.assertIn("workers that were faster: 16", texts)
        self.assertIn("workers without a burst: 1", texts)
        self.assertEqual(self.page.complaints, [])

    def test_slowdown_of_flows_is_that_of_the_summary(self):
        """A mark for each arm and size, where its median and p99 are."""
        self.open(self.fabric)
        arms = json.loads((self.fabric / "summary.json").read_text(encoding="utf-8"))["arms"]
        marks = self.page.evaluate(
            "[...document.querySelectorAll('figure[data-figure=slowdown] .mark')].map((m) => ({tip: m.__tip,"
            " x: [...m.querySelectorAll('path')].map((p) => Number(/\\((.*),/.exec(p.getAttribute('transform'))[1]))}))")
        expected = [(arm, size) for size in ("small", "medium", "large") for arm in arms
                    if arm["metrics"][f"{size}_flow_slowdown_median"]["value"]["value"] is not None]
        self.assertGreater(len(expected), 3)
        self.assertEqual(len(marks), len(expected))
        spots = []
        for mark, (arm, size) in zip(marks, expected):
            tail, middle = (arm["metrics"][f"{size}_flow_slowdown_{s}"]["value"]["value"] for s in ("p99", "median"))
            self.assertTrue(mark["tip"][0].startswith(arm["label"] + ", flows of "))
            for line, value in zip(mark["tip"][1:], (middle, tail)):
                self.assertAlmostEqual(float(re.search(r"(?:median|p99) (\S+)", line).group(1)), value, delta=value / 100)
            spots += zip((tail, middle), mark["x"])
        spots.sort()
        self.assertEqual([x for _, x in spots], sorted(x for _, x in spots), "further right is slower")
        self.open(self.quick)  # whose background stays
        self.assertIsNone(self.page.evaluate("document.getElementById('figure-slowdown')"))

    def test_one_seed_without_attribution_says_so(self):
        self.open(self.plain)
        self.check_figures(FIGURES, empty=("drops", "attribution"))
        self.assertIn("trafficgen.attribution = true", self.page.evaluate(DRAWN)["attribution"]["text"])
        self.assertIn("One seed has no confidence interval",
                      self.page.evaluate("document.getElementById('sentences').textContent"))

    def test_texts_stay_texts(self):
        self.open(self.quick)
        self.assertEqual(self.page.evaluate("document.querySelector('.question').textContent"),
                         experiments.QUESTION)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('img').length"), 0)

    def test_table_has_the_figures_of_the_summary(self):
        self.open(self.quick)
        rows = self.page.evaluate(
            "[...document.querySelectorAll('#table tbody tr')].map((r) => "
            "[...r.children].map((c) => c.textContent))")
        summary = json.loads((self.quick / "summary.json").read_text(encoding="utf-8"))
        self.assertEqual([r[0] for r in rows], [a["label"] for a in summary["arms"]])
        for row, arm in zip(rows, summary["arms"]):
            ms = arm["metrics"]["communication_seconds_median"]["value"]["value"] * 1e3
            self.assertAlmostEqual(float(row[2]), ms, delta=ms / 100)

    def test_all_metrics_of_the_summary_are_there_with_their_definitions(self):
        self.open(self.quick)
        self.assertFalse(self.page.evaluate("document.querySelector('#metrics details').open"))
        self.page.evaluate("document.querySelector('#metrics details').open = true")
        self.keep_picture("quick-metrics")
        rows = self.page.evaluate(
            "[...document.querySelectorAll('#all-metrics tbody tr')].map((r) => "
            "[r.querySelector('code').textContent, r.querySelector('.help').textContent,"
            " [...r.querySelectorAll('td')].map((c) => c.querySelector('b').textContent)])")
        summary = json.loads((self.quick / "summary.json").read_text(encoding="utf-8"))
        arms = [arm["metrics"] for arm in summary["arms"]]
        def value(arm, name):
            return arm[name]["value"]["value"] if name in arm else None
        expected = [name for name in max(arms, key=len)
                    if any(value(arm, name) is not None for arm in arms)]
        self.assertEqual([name for name, _, _ in rows], expected)
        for name, text, cells in rows:
            with self.subTest(metric=name):
                self.assertGreater(len(text), 10)
                self.assertEqual([c == "–" for c in cells], [value(a, name) is None for a in arms])
        self.assertEqual(self.page.evaluate(OVERLAPS), [])
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"),
                             self.page.evaluate("innerWidth"), "the page scrolls sideways")

    def test_the_sweep(self):
        for scheme in ("light", "dark"):
            self.open(self.sweep, scheme)
            self.check_figures(FIGURES | {"sweep"}, empty=("drops", "attribution"))
            self.assertIn("time against tail drop", self.page.evaluate(DRAWN)["sweep"]["text"])
        names = self.page.evaluate(
            "[...document.querySelectorAll('select[data-key=point] option')].map((o) => o.text)")
        self.assertEqual(names, ["base", "transport.controller=reno", "job.burst_bytes=50000", "h_packets=10"])
        for i, name in enumerate(names):
            self.page.evaluate(f"(() => {{ const s = document.querySelector('select[data-key=point]');"
                               f" s.selectedIndex = {i}; s.dispatchEvent(new Event('change')); }})()")
            self.assertIn(name, self.page.evaluate("document.getElementById('point').textContent"))
            self.assertEqual(self.page.complaints, [])
            self.assertGreater(self.page.evaluate(DRAWN)["queue"]["marks"], 0)

    def press(self, key, code, **more):
        for kind in ("keyDown", "keyUp"):
            self.page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                           windowsVirtualKeyCode=code, **more)

    def test_terms_are_defined_where_they_first_occur(self):
        """In the words of docs/glossary.md, and all of them in the list at the end."""
        meanings = glossary()
        for results in (self.quick, self.fabric):
            self.open(results)
            self.check_terms(meanings)
        self.assertEqual(self.page.evaluate("document.querySelectorAll('.question .term').length"), 0)
        self.page.evaluate("choosePoint(0)")
        self.check_terms(meanings)  # once only, when drawn again

    def check_terms(self, meanings):
        parts = self.page.evaluate(TERMS_OF_PARTS)
        self.assertGreater(len(parts), 6)
        listed = dict(self.page.evaluate(
            "[...document.querySelectorAll('#terms dt')].map((t) => "
            "[t.textContent, t.nextElementSibling.textContent])"))
        self.assertGreater(len(listed), 15)
        for name, meaning in listed.items():
            self.assertEqual(meaning, meanings[name])
        for part in parts:
            with self.subTest(section=part["id"]):
                names = [t["name"] for t in part["terms"]]
                self.assertEqual(sorted(set(names)), sorted(names), "a second underline")
                for term in part["terms"]:
                    self.assertEqual(term["described"], meanings[term["name"]])
                    self.assertNotRegex(term["before"], r"[\w-]$", "a part of a name")
                    self.assertNotRegex(term["after"], r"^[\w-]", "a part of a name")
                # No term that is a plain word was overlooked.
                for name in meanings:
                    if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.=-])", part["text"]):
                        self.assertIn(name, listed)
                        self.assertIn(name, names)

    def tip(self):
        return self.page.evaluate(
            "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")

    def place_of(self, selector):
        return self.page.evaluate(
            f"(async () => {{ const e = document.querySelector(\"{selector}\");"
            " e.scrollIntoView({block: 'center'});"
            " for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);"
            " const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()")

    def tap(self, at):
        self.page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[at])
        self.page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def test_a_definition_is_shown_on_hover_focus_and_tap(self):
        term = "#answer a[href='#term-start-queue']"
        said = "start queue: " + glossary()["start queue"]
        self.open(self.quick)
        self.page.call("Input.dispatchMouseEvent", type="mouseMoved", **self.place_of(term))
        self.assertEqual(self.tip(), said)
        self.page.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
        self.assertEqual(self.tip(), "")
        for _ in range(200):  # from where a browser begins, once around the page
            self.press("Tab", 9)
            if self.page.evaluate(f"document.activeElement === document.querySelector(\"{term}\")"):
                break
        self.assertEqual(self.tip(), said)
        # As Chromium tells it when the page has scrolled to the term below a pointer at rest.
        self.page.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
        self.assertEqual(self.tip(), said)
        self.press("Escape", 27)
        self.assertEqual(self.tip(), "")
        self.press("Enter", 13, text="\r")
        self.assertEqual(self.page.evaluate("location.hash"), "#term-start-queue")

    def test_a_tap_opens_a_definition_and_a_tap_elsewhere_closes_it(self):
        term = "#answer a[href='#term-start-queue']"
        said = "start queue: " + glossary()["start queue"]
        self.page.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.addCleanup(self.page.call, "Emulation.setTouchEmulationEnabled", enabled=False)
        self.open(self.quick, width=390)
        self.tap(self.place_of(term))
        self.assertEqual(self.tip(), said + "\nIn the list of terms")
        self.assertEqual(self.page.evaluate("location.hash"), "", "a tap shows and does not lead away")
        self.keep_picture("quick-tapped")
        box = self.page.evaluate("(() => { const r = document.getElementById('tip').getBoundingClientRect();"
                                 " return [r.left, r.top, r.right - innerWidth, r.bottom - innerHeight]; })()")
        self.assertTrue(min(box[:2]) >= 0 and max(box[2:]) <= 0, f"on the screen: {box}")
        self.tap({"x": 3, "y": 700})
        self.assertEqual(self.tip(), "")
        self.tap(self.place_of(term))
        self.press("Escape", 27)
        self.assertEqual(self.tip(), "")
        self.tap(self.place_of(term))
        link = self.page.evaluate("(() => { const r = document.querySelector('#tip a').getBoundingClientRect();"
                                  " return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()")
        self.tap(link)
        self.assertEqual(self.page.evaluate("location.hash"), "#term-start-queue")
        # Headings of tables say on a tap what they say on hover.
        self.open(self.several, width=390)
        heading = "#each-job-table thead th:nth-child(4)"  # has no term: a finger near a link touches it
        self.tap(self.place_of(heading + " .unit"))
        self.assertEqual(self.tip(), self.page.evaluate(f"document.querySelector('{heading}').title"))
        self.assertGreater(len(self.tip()), 20)

    def test_keyboard(self):
        """Every control is reached with Tab, and a chip works with Enter and keeps the focus."""
        self.open(self.quick)
        reached = set()
        controls = self.page.evaluate(
            "[...document.querySelectorAll('button, select, a, summary')].filter((e) => e.checkVisibility())"
            ".map((e) => e.outerHTML.slice(0, 200))")
        self.assertGreater(len(controls), 20)
        for _ in range(len(controls) + 20):
            self.press("Tab", 9)
            reached.add(self.page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))
        self.assertEqual([c for c in controls if c not in reached], [])
        before = self.page.evaluate(DRAWN)["cdf"]["marks"]
        self.page.evaluate("document.querySelectorAll('.chip')[1].focus()")
        self.press("Enter", 13, text="\r")
        self.assertEqual(self.page.evaluate(DRAWN)["cdf"]["marks"], before - 1)
        self.assertEqual(self.page.evaluate("document.activeElement.dataset.key"), "arm on")

    def test_hovering_says_something(self):
        self.open(self.quick)
        self.hover(("gain", "queue", "cdf", "cost", "timeline", "hosts"))
        self.open(self.fabric)
        self.hover(("links", "jobs-over-time", "slowdown"))

    def hover(self, figures):
        for name in figures:
            box = self.page.evaluate(
                "(async () => { const size = (m) => m.getBoundingClientRect();"
                # the largest: a bar of nothing cannot be pointed at
                f" const m = [...document.querySelectorAll('figure[data-figure={name}] .mark')].reduce("
                "  (a, b) => size(b).width * size(b).height > size(a).width * size(a).height ? b : a);"
                " m.scrollIntoView({block: 'center'});"
                # scrolling, which hides the tip, is told with the next frame
                " for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);"
                " const r = m.getBoundingClientRect();"
                " return [r.x + r.width / 2, r.y + r.height / 2]; })()")
            self.page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
            tip = self.page.evaluate(
                "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
            self.assertGreater(len(tip.splitlines()), 1, name)

    def test_figures_are_saved(self):
        for figure in sorted(FIGURES - {"drops"}):
            self.open(self.quick, "dark")
            name, kind, size, well_formed, marks, foreign = self.page.evaluate(
                SAVED % (figure, "SVG"))
            self.assertEqual((name, kind), (f"quick-{figure}.svg", "image/svg+xml"))
            self.assertTrue(well_formed and marks > 0 and size > 1000 and not foreign, figure)
        self.open(self.quick)
        name, kind, size = self.page.evaluate(SAVED % ("gain", "PNG"))
        self.assertEqual((name, kind), ("quick-gain.png", "image/png"))
        self.assertGreater(size, 10_000)

    def test_a_report_is_made_again_to_the_byte(self):
        page = (self.quick / "report.html").read_bytes()
        self.assertEqual(experiments.lab("report", self.quick)[0], 0)
        self.assertEqual((self.quick / "report.html").read_bytes(), page)
        self.assertLess(len(page), 2_000_000)

    def test_what_is_missing_is_named(self):
        status, said = experiments.lab("report", self.directory.name)
        self.assertEqual(status, 2)
        self.assertIn("results.sqlite", said)


def why_not():
    if browser.program() is None:
        return "no Chromium is installed (tools/setup installs it)"
    return None


if __name__ == "__main__":
    if reason := why_not():
        print(f"skipped: {reason}")
        sys.exit(experiments.SKIPPED)
    unittest.main(verbosity=2)
