#!/usr/bin/env python3
"""Goal: what docs/howto-pandas.md says in Python works, and prints what the page shows. Method: the
experiment of docs/howto-arms.md is run, and the page's blocks are carried out in their order, on
its results. Blocks for pandas are left out where it is missing."""
import contextlib
import importlib.util
import io
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import commands

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", ROOT / "build/release/bin"))
MODULE = ROOT / "tools/python/outrider.py"
HAS_PANDAS = importlib.util.find_spec("pandas") is not None
METRIC = "communication_seconds_median"

sys.dont_write_bytecode = True
sys.path.insert(0, str(MODULE.parent))
from outrider import Results


def blocks_of(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [(number, kind, "\n".join(lines)) for number, kind, lines in commands.blocks(text)]


def lines_of(text):
    return [line.rstrip() for line in text.strip().splitlines()]


class HowTo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="outrider-howto-")
        cls.addClassCleanup(directory.cleanup)
        cls.place = pathlib.Path(directory.name)
        shutil.copytree(ROOT / "conf", cls.place / "conf")
        file = cls.place / "conf/experiments/arms.toml"
        file.write_text(next(text for _, kind, text in blocks_of("howto-arms.md") if kind == "toml"),
                        encoding="utf-8")
        cls.run_lab(file, "results/own-figures")

    @classmethod
    def run_lab(cls, file, out, *options):
        done = subprocess.run([PROGRAMS / "outrider-lab", "run", file, "--out", out, *options],
                              cwd=cls.place, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return cls.place / out

    def setUp(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.place)

    def results(self):
        results = Results("results/own-figures")
        self.addCleanup(results.close)
        return results

    def test_the_blocks_print_what_the_page_shows(self):
        blocks, names, compared = blocks_of("howto-pandas.md"), {}, 0
        for (number, kind, text), (_, next_kind, shown) in zip(blocks, [*blocks[1:], (0, "", "")]):
            if kind != "python":
                continue
            with self.subTest(line=number):
                if not HAS_PANDAS and ("import pandas" in text or ".frame(" in text):
                    self.skipTest("pandas is not installed")
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(text, f"docs/howto-pandas.md:{number}", "exec"), names)
                if next_kind == "" and not shown.startswith("outrider-lab"):
                    self.assertEqual(lines_of(out.getvalue()), lines_of(shown))
                    compared += 1
        names["results"].close()
        self.assertEqual(compared, 2 if HAS_PANDAS else 1)

    def test_the_page_names_every_table(self):
        text = (ROOT / "docs/howto-pandas.md").read_text(encoding="utf-8")
        for table in self.results().tables():
            if table not in ("experiment", "metrics"):  # of a row; of what `metrics` lists
                self.assertIn(f"`{table}`", text)

    def test_arms_are_those_of_table_with_their_baselines(self):
        results = self.results()
        arms = results.arms(METRIC, "rtos_per_burst")
        self.assertEqual(len(arms), 6)
        self.assertEqual([row["job.burst_bytes"] for row in arms], [200000] * 4 + [400000] * 2)
        self.assertNotIn("workers", arms[0], "it is the same in all arms")
        both = next(row for row in arms if row["label"] == "on-both")
        self.assertEqual(both["against"], "off-two-queues")
        changes = {row["baseline"]: row["change"] for row in results.rows(
            "SELECT baseline, change FROM arm_metrics JOIN arms USING (arm) "
            "WHERE label = ? AND metric = ?", "on-both", METRIC)}
        self.assertEqual(sorted(changes), ["off", "off-two-queues"])
        self.assertEqual(both[f"{METRIC}_change"], changes["off-two-queues"])
        for row in arms:
            self.assertLessEqual(row[f"{METRIC}_low"], row[METRIC])
            self.assertLessEqual(row[METRIC], row[f"{METRIC}_high"])
            self.assertIn("rtos_per_burst_change", row)

    def test_rates_of_queue_pairs_have_an_index(self):
        made = self.run_lab("conf/experiments/dcqcn-join.toml", "results/rates", "--quick")
        text = next(text for _, kind, text in blocks_of("howto-pandas.md") if "jain" in text)
        out = io.StringIO()
        with Results(made) as results, contextlib.redirect_stdout(out):
            exec(text, {"results": results})
        index = [float(line.split()[1]) for line in lines_of(out.getvalue())]
        self.assertGreater(len(index), 10)
        self.assertTrue(all(0 < value <= 1 + 1e-9 for value in index), index)

    def test_what_is_refused_is_named(self):
        results = self.results()
        for fault, does in (("no metric comunication_seconds_median; there is.* " + METRIC,
                             lambda: results.arms("comunication_seconds_median")),
                            ("no table burst; there is bursts", lambda: results.columns("burst")),
                            ("has no results of outrider-lab", lambda: Results(__file__))):
            with self.subTest(fault=fault):
                self.assertRaisesRegex(ValueError, fault, does)
        self.assertRaisesRegex(FileNotFoundError, "results.sqlite is not there", Results, self.place)
        other = pathlib.Path(self.place) / "other.sqlite"
        database = sqlite3.connect(other)
        database.execute("PRAGMA user_version = 99")
        database.close()
        self.assertRaisesRegex(ValueError, "of version 99, not 1", Results, other)
        self.assertRaises(sqlite3.OperationalError, results.rows, "DELETE FROM cases")
        if not HAS_PANDAS:
            self.assertRaisesRegex(ImportError, "needs pandas", results.frame, "SELECT 1")


if __name__ == "__main__":
    if not (PROGRAMS / "outrider-lab").is_file():
        sys.exit(f"{PROGRAMS} has no programs; build them, or set OUTRIDER_PROGRAMS")
    unittest.main()
