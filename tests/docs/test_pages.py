#!/usr/bin/env python3
"""Goal: a page of docs/experiments cannot differ from its digest unnoticed. Method: `tools/pages`
on the pages as they are, on one made by hand, and on one that it makes of runs of seconds."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAB = str(pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", ROOT / "build/release/bin"),
                       "outrider-lab"))


def load_tool():
    loader = importlib.machinery.SourceFileLoader("pages_tool", str(ROOT / "tools/pages"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
with mock.patch.dict(os.environ, OUTRIDER_LAB=LAB):
    TOOL = load_tool()
import digest as digests  # noqa: E402  pylint: disable=wrong-import-position
import figures  # noqa: E402  pylint: disable=wrong-import-position
import page as pages  # noqa: E402  pylint: disable=wrong-import-position

NOW = TOOL.results_version()
DIGEST = f"""\
# results version: {NOW}
# program: outrider-lab 0.1.0
# processor minutes: 1.0
# command: build/release/bin/outrider-lab run a.toml --out results/a
# seeds: a 1-30
# point: a job.faults.forged=0.0 queue.limit=60
# column: seconds communic. [ms]
# column: lost lost [%]
experiment,arm,settings,metric,value,low,high,change,change_low,change_high,unit,against,change_to_off
a,off,,seconds,0.2,0.19,0.21,0,0,0,s,,
a,off,,lost,0,0,0,,,,share,,
a,on,,seconds,0.0567,0.05,0.06,-0.7165,-0.75,-0.7,s,,
a,on,,lost,0.204,0.19,0.22,,,,share,,
a,on,job.faults.forged=100.0,seconds,0.1,0.09,0.11,-0.5,-0.6,-0.4,s,,
a,on,job.faults.forged=100.0,lost,0.1386,0.13,0.15,,,,share,,
a,on,job.faults.forged=100.0 queue.limit=90,lost,0.02,0.01,0.03,-0.5,,,share,on,-0.25
"""
PAGE = f"""\
# A page

<!-- results-version: {NOW} -->

A burst takes <!--=fast-->57 ms<!--/-->; background loses up to <!--=lost-->20 %<!--/-->, and
with a longer queue <!--=long-->2.0 %<!--/-->.

<!-- outrider-lab table results/a --where limit=60 --columns seconds:range,seconds:change,lost -->

| arm | `job.faults.forged` | communic. [ms] | communic., change | lost [%] |
|---|---|---|---|---|
| `off` | | 200.0 [190,210] | +0.0 % [+0.0,+0.0] | 0.000 |
| `on` | 0.0 | 56.70 [50,60] | -72 % [-75,-70] | 20.40 |
| `on` | 100.0 | 100.0 [90,110] | -50 % [-60,-40] | 13.86 |

<!-- end of table -->

<!-- figures
fast = on seconds
lost = most(on forged=0,100 lost)
long = on forged=100 limit=90 lost
expect on seconds < off seconds
-->
"""


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="outrider-pages-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "data").mkdir()

    def put(self, page, digest=None):
        (self.folder / "a.md").write_text(page)
        if digest:
            (self.folder / "data/a.csv").write_text(digest)

    def tool(self, *words):
        """Returns (exit status, what is printed)."""
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out), \
                mock.patch("sys.argv", ["pages", *words]):
            return TOOL.main(), out.getvalue()

    def check(self):
        return self.tool("check", "--pages", str(self.folder))


class Check(Case):
    def test_pages_are_as_their_digests(self):
        self.assertEqual(self.tool("check"), (0, ""))

    def test_a_page_as_its_digest_passes(self):
        self.put(PAGE, DIGEST)
        self.assertEqual(self.check(), (0, ""))

    def test_values_may_be_lists(self):
        self.assertEqual(TOOL.digests.settings_of("a.dscps=[32, 24] b=x c.d=[]"),
                         (("a.dscps", "[32, 24]"), ("b", "x"), ("c.d", "[]")))
        self.assertEqual(TOOL.digests.settings_of(""), ())

    def test_what_differs_is_named(self):
        for page, digest, said in (
                (PAGE.replace("57 ms", "55 ms"), DIGEST,
                 'a.md:5: stands "55 ms", should be "57 ms"'),
                (PAGE.replace("| 13.86", "| 14.86"), DIGEST,
                 'a.md:14: stands "| `on` | 100.0 | 100.0 [90,110] | -50 % [-60,-40] | 14.86 |", '
                 'should be "| `on` | 100.0 | 100.0 [90,110] | -50 % [-60,-40] | 13.86 |"'),
                (PAGE, DIGEST.replace(",0.0567,", ",0.0667,"),
                 'a.md:5: stands "57 ms", should be "67 ms"'),
                (PAGE, DIGEST.replace("a,on,,seconds,0.0567", "a,on,,seconds,0.3"),
                 "a.md:22: on seconds < off seconds: is 300.0, not < 200.0"),
                (PAGE.replace("=fast-->", "=quick-->"), DIGEST,
                 "a.md:5: quick: is no figure of this page"),
                (PAGE.replace("takes <!--", "takes\n<!--"), DIGEST, "a.md:6: fast: begins a line"),
                (PAGE.replace("most(on", "worst(on"), DIGEST, "a.md:20: worst: is not seeds("),
                (PAGE.replace("fast = on ", "fast = onn "), DIGEST,
                 "a.md:19: onn: the digest has no such arm of a"),
                (PAGE.replace("fast = on seconds", "fast = on p99"), DIGEST,
                 "a.md:19: the digest has no p99 of a/on"),
                (PAGE.replace("seconds:change,lost", "seconds:change"), DIGEST,
                 "a.md:10: stands"),
                (PAGE, DIGEST + "a,on,,p99,1,,,,,,s,,\n",
                 "a.csv: rows that the page does not show: 1"),
                (PAGE, DIGEST.split("experiment,")[0],
                 "a.csv: has no results: tools/pages renew a"),
                (PAGE.replace(f"version: {NOW}", "version: 0"), DIGEST, "a.md:3: stands")):
            with self.subTest(said):
                self.put(page, digest)
                status, text = self.check()
                self.assertEqual(status, 1, text)
                self.assertIn(said, text)

    def test_write_mends_what_follows_from_the_digest(self):
        self.put(PAGE.replace("57 ms", "1\n ms").replace("| 13.86", "|").replace("20 %", ""),
                 DIGEST + "a,on,,p99,1,,,,,,s,,\n")
        self.assertEqual(self.tool("write", "--pages", str(self.folder)), (0, ""))
        self.assertEqual((self.folder / "a.md").read_text(), PAGE)
        self.assertEqual((self.folder / "data/a.csv").read_text(), DIGEST)

    def test_a_fault_of_the_page_does_not_cost_the_digest_rows(self):
        self.put(PAGE.replace("most(on", "worst(on"), DIGEST)
        self.assertEqual(self.tool("write", "--pages", str(self.folder))[0], 1)
        self.assertEqual((self.folder / "data/a.csv").read_text(), DIGEST)

    def test_a_picture_is_that_of_the_digest(self):
        query = "<!-- picture results/a --arms on --where limit=60 --x forged --y lost -->\n"
        self.put(PAGE + query + "![Lost](a.svg)\n", DIGEST)
        self.assertIn("a.md:24: stands \"another picture\"", self.check()[1])
        self.assertEqual(self.tool("write", "--pages", str(self.folder)), (0, ""))
        self.assertIn("lost [%]", (self.folder / "a.svg").read_text())
        self.put(PAGE + query + "![Lost](a.svg)\n", DIGEST.replace("0.1386,", "0.1389,"))
        self.assertIn("another picture", self.check()[1])

    def test_an_arm_without_the_setting_is_a_level_across(self):
        query = ("<!-- picture results/a --arms on,off --where limit=60 --x forged --y seconds "
                 "--xlabel \"forged a second\" -->\n")
        self.put(PAGE + query + "![Time](a.svg)\n", DIGEST)
        self.assertEqual(self.tool("write", "--pages", str(self.folder)), (0, ""))
        picture = (self.folder / "a.svg").read_text()
        self.assertIn("forged a second</text>", picture)
        self.assertIn("communic. [ms]</text>", picture)
        self.assertEqual(picture.count("stroke-dasharray"), 2, "off, in the picture and its legend")

    def test_a_setting_with_a_unit_is_drawn_by_its_number(self):
        query = "<!-- picture results/a --arms on --where limit=60 --x forged --y lost -->\n"

        def put(first, second):
            page = PAGE.replace("forged=0,100 ", "forged=* limit=60 ").replace(
                "forged=100 ", f"forged={second} ").replace("| 0.0 |", f"| {first} |").replace(
                "| 100.0 | 100.0", f"| {second} | 100.0")
            self.put(page + query + "![Lost](a.svg)\n", DIGEST.replace(
                "forged=0.0", f"forged={first}").replace("forged=100.0", f"forged={second}"))

        for first, second in (("2rtt", "4rtt"), ("3500us", "4ms")):
            put(first, second)
            self.assertEqual(self.tool("write", "--pages", str(self.folder)), (0, ""))
            self.assertIn(">4</text>", (self.folder / "a.svg").read_text())
        for second, said in (("4s", "is given in several units"), ("null", "null is no number")):
            put("2rtt", second)
            self.assertIn(f"forged: {said}", self.check()[1])

    def test_regimes_are_rows_and_dots(self):
        both = DIGEST.replace("\na,", "\nof-fast,").replace(": a ", ": of-fast ").replace(
            "# column: sec", "# point: of-slow\n# column: sec") + """\
of-slow,off,,seconds,0.4,0.3,0.5,0,0,0,s,,
of-slow,off,,lost,0,0,0,,,,share,,
of-slow,on,,seconds,0.08,0.07,0.09,-0.8,-0.9,-0.75,s,,
of-slow,on,,lost,0.3,0.2,0.4,,,,share,,
"""
        page = f"""# A page

<!-- results-version: {NOW} -->

<!-- regimes results/of-* --arms on,off --columns seconds:change -->

| regime | `on` | `off` |
|---|---|---|
| `fast` | -72 % [-75,-70] | +0.0 % [+0.0,+0.0] |
| `slow` | -80 % [-90,-75] | +0.0 % [+0.0,+0.0] |

<!-- end of table -->

<!-- dots results/of-* --arms off,on --columns seconds:change,lost --labels "time / off,lost" -->
![Two regimes](a.svg)

At most 25 % are lost in <!--=few-->1<!--/--> of two, 20 to 30 % (<!--=all-->20 to 30 %<!--/-->).

<!-- figures
few = count(of-*/on lost <= 25)
all = span(of-*/on lost)
-->
"""
        self.put(page, both)
        self.assertEqual(self.tool("write", "--pages", str(self.folder)), (0, ""))
        self.assertEqual((self.folder / "a.md").read_text(), page)
        picture = (self.folder / "a.svg").read_text()
        self.assertEqual(picture.count("<title>on: "), 4, "two regimes, two panels")
        for words in ("<title>on: 0.2</title>", "<title>on: 30</title>", ">time / off<", ">slow<"):
            self.assertIn(words, picture)
        self.put(page.replace("--arms on,off", "--arms onn,off"), both)
        self.assertIn("a.md:6: the digest has no seconds of of-fast/onn", self.check()[1])


    def test_commands_of_one_kind_are_a_loop(self):
        one, loop = "lab run c/{0}.toml --out r/{0}-x", "lab run d/{0}.toml --out r/v-{0}"
        text = pages.script([one.format("a"), loop.format("b"), loop.format("e-f")])
        self.assertEqual(text, one.format("a") + "\nfor name in b e-f; do\n  " +
                         loop.format("$name") + "\ndone\n")


class OtherPages(Case):
    TEXT = (f"# B\n\n<!-- results-version: {NOW} -->\n\nIt takes <!--=fast-->57 ms<!--/-->.\n\n"
            "<!-- figures\nof a\nfast = on seconds\nexpect on seconds < off seconds\n-->\n")

    def put_both(self, text):
        self.put(PAGE, DIGEST)
        (self.folder / "b.md").write_text(text)

    def test_figures_of_another_page(self):
        self.put_both(self.TEXT)
        self.assertEqual(self.check(), (0, ""))
        self.put_both(self.TEXT.replace("57 ms", "58 ms"))
        status, said = self.check()
        self.assertEqual(status, 1)
        self.assertIn('b.md:5: stands "58 ms", should be "57 ms"', said)

    def test_no_such_digest(self):
        self.put_both(self.TEXT.replace("of a", "of c"))
        self.assertIn("of c: there is no c.csv", self.check()[1])
        self.put_both(self.TEXT.replace("of a\n", ""))
        self.assertIn("this page has no digest; a line `of PAGE`", self.check()[1])


class Banner(unittest.TestCase):
    def test_a_page_says_when_its_version_is_an_older_one(self):
        mark, old = "<!-- results-version: 1 -->\n", "> **Measured at version 1, now 7**: "
        page = f"# T\n\n{mark}\ntext\n"
        wanted = pages.banner(page, 7).wanted
        self.assertTrue(wanted.startswith(mark + old))
        self.assertEqual(pages.differences(page, None, 1, None), [])
        self.assertEqual(pages.differences(f"# T\n\n{wanted}\ntext\n", None, 7, None), [])
        for text, now in ((page, 7), (f"# T\n\n{wanted}", 1), (f"# T\n\n{wanted}", 8),
                          ("# T\n\ntext\n", 1), (page.replace("1", "2"), 1)):
            self.assertEqual(len(pages.differences(text, None, now, None)), 1, text)


class Figures(unittest.TestCase):
    def test_words(self):
        digest = digests.read(DIGEST)
        for definition, words in (
                ("on seconds", "57 ms"), ("on seconds, 3 digits", "56.7 ms"),
                ("on seconds, without unit", "57"), ("off seconds", "200 ms"),
                ("on seconds:range", "57 ms [50, 60]"), ("on seconds:low", "50 ms"),
                ("on forged=100 limit=90 lost:change_to_off", "-25 %"),
                ("on seconds:change", "-72 %"), ("on seconds:change, without sign", "72 %"),
                ("span(on forged=0,100 seconds:change), without sign", "50 to 72 %"),
                ("span(on forged=* lost)", "14 to 20 %"), ("least(on forged=* lost)", "14 %"),
                ("span(off,on seconds)", "57 to 200 ms"), ("seeds(a)", "30"),
                ("ratio(off seconds; a/on forged=100 seconds)", "2.0"),
                ("ratio(most(on forged=* lost); on lost), 3 digits", "1.00"),
                ("difference(off seconds; on seconds), 3 digits", "143 ms"),
                ("most(difference(off seconds; least(on seconds)); on seconds)", "143 ms")):
            with self.subTest(definition):
                self.assertEqual(figures.in_words(definition, digest), words)

    def test_what_is_no_figure_is_refused(self):
        digest = digests.read(DIGEST)
        for definition in ("seconds", "on seconds:p99", "on forged=7 seconds", "on size=7 seconds",
                           "b/on seconds", "ratio(on forged=* seconds; off seconds)", "seeds(b)",
                           "on lost:change", "ratio(on seconds)", "on queue.limit=90 seconds"):
            with self.subTest(definition), self.assertRaises(digests.Fault):
                figures.in_words(definition, digest)


class DrawnPoints(Case):
    """The page on demotion has runs of files that tools/dev/draw-points writes."""
    def drawn(self, number, name):
        folder = self.folder / name
        subprocess.run([ROOT / "tools/dev/draw-points", number, folder, "--count", "3"], check=True)
        return {file.name: file.read_text() for file in sorted(folder.iterdir())}

    def test_a_number_draws_the_same_experiments_again_and_another_others(self):
        points = self.drawn("ce684ec3", "a")
        self.assertEqual(list(points), [f"points-{i:02d}.toml" for i in range(3)])
        self.assertEqual(points, self.drawn("ce684ec3", "b"))
        self.assertNotEqual(points, self.drawn("ce684ec4", "c"))
        for name in points:
            subprocess.run([LAB, "check", self.folder / "a" / name], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Renew(Case):
    def test_verify_names_the_intervals_that_do_not_hold(self):
        new = DIGEST.replace("a,on,,seconds,0.0567", "a,on,,seconds,0.0601")
        found = list(TOOL.judged(digests.read(DIGEST), digests.read(new)))
        self.assertEqual([text for text, holds in found if not holds],
                         ["a/on seconds:value: 0.0601, not in [0.05, 0.06]"])
        self.assertEqual(len(found), 10)

    def test_renew_writes_what_the_program_shows_and_verify_takes_other_seeds(self):
        out = self.folder / "results/a"
        columns = "communication_seconds_median:range,communication_seconds_median:change," \
                  "background_goodput_bits_per_second,rtos_per_burst"
        run = f"outrider-lab run conf/experiments/quick.toml --out {out}"
        self.put("# A\n\n<!-- results-version: 1 -->\n\n<!-- commands -->\n"
                 "<!-- end of commands -->\n\n<!-- outrider-lab table results/a "
                 f"--columns {columns} -->\n<!-- end of table -->\n", f"# command: {run}\n")
        status, text = self.tool("renew", "a", "--seeds", "3", "--pages", str(self.folder))
        self.assertEqual(status, 0, text)
        shown = subprocess.run([LAB, "table", out, "--markdown", "--columns", columns], text=True,
                               stdout=subprocess.PIPE, check=True).stdout
        page, digest = (self.folder / "a.md").read_text(), (self.folder / "data/a.csv").read_text()
        self.assertIn(f" -->\n\n{shown}\n<!-- end", page)
        self.assertIn(f"```\n{run} --repeat 3\n", page)
        self.assertIn("# seeds: a 1-3\n", digest)
        spent = TOOL.Command(f"{run} --repeat 3").spent()
        took, complete = spent.read_text().split()
        self.assertEqual(complete, "complete")
        self.assertIn(f"# processor minutes: {float(took) / 60:.1f}\n", digest)
        self.tool("renew", "a", "--pages", str(self.folder))
        self.assertEqual((self.folder / "data/a.csv").read_text(), digest)
        self.assertEqual(spent.read_text().split(), [took, complete], "nothing was run")
        spent.unlink()  # as for results of another place
        (self.folder / "data/a.csv").write_text("".join(
            line for line in digest.splitlines(True) if "minutes" not in line))
        self.tool("renew", "a", "--pages", str(self.folder))
        self.assertNotIn("minutes", (self.folder / "data/a.csv").read_text(), "it is not known")
        self.assertNotIn("minutes", (self.folder / "a.md").read_text())
        status, text = self.tool("verify", "a", "--seeds", "1", "--pages", str(self.folder))
        self.assertIn("seeds 1001 to 1001", text)
        self.assertEqual(status, 1 if ", not in [" in text else 0)
        self.assertIn(" of 15 intervals hold the new value", text)


if __name__ == "__main__":
    unittest.main()
