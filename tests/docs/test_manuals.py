#!/usr/bin/env python3
"""Manual pages and completions that tools/dev/manuals makes of the built programs: every option of
--help is in the page, groff has nothing to complain of, and bash completes with them."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", ROOT / "build/release/bin"))
NAMES = ("outrider-lab", "outrider-switch", "outrider-trafficgen")


def output_of(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True).stdout


class Manuals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="outrider-manuals-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.man = pathlib.Path(cls.directory.name, "man1")
        cls.completions = pathlib.Path(cls.directory.name, "completions")
        output_of(ROOT / "tools/dev/manuals", "--man", cls.man, "--completions", cls.completions,
                  *(PROGRAMS / name for name in NAMES))

    def completed(self, name, *words):
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  f"_{name.replace('-', '_')}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return output_of("bash", "-euc", script, "bash", self.completions / name, name,
                         *words).split()

    def completed_commands(self, name):
        """The subcommands that bash offers for an empty word, in the order of --help."""
        return [word for word in self.completed(name, "") if not word.startswith("-")]

    def test_every_option_is_in_the_page(self):
        for name in NAMES:
            page = (self.man / f"{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
            commands = [[]] + [[c] for c in re.findall(
                r"^  ([a-z]+)  ", output_of(PROGRAMS / name, "--help").partition("Subcommands:")[2],
                re.MULTILINE)]
            self.assertEqual([c for [c] in commands[1:]], self.completed_commands(name))
            for command in commands:
                text = output_of(PROGRAMS / name, *command, "--help")
                for option in re.findall(r"^  (-\S+)", text, re.MULTILINE):
                    self.assertIn(option, page, f"{name} {command}")

    def test_the_name_says_what_the_program_is_in_whole_words(self):
        for name, brief in (("outrider-lab", "Runs an experiment"), ("outrider-switch",
                            "Software switch with ECN marking and regulation before announced bursts")):
            page = (self.man / f"{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
            self.assertIn(f".SH NAME\n{name} - {brief}\n", page)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_the_pages_are_well_formed(self):
        for name in NAMES:
            done = subprocess.run(["groff", "-ww", "-man", "-Tascii", self.man / f"{name}.1"],
                                  capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "", name)
            self.assertIn("EXIT STATUS", re.sub(".\b|\x1b\\[[0-9]*m", "", done.stdout))

    def test_bash_completes(self):
        self.assertEqual(self.completed("outrider-lab", "ru"), ["run"])
        self.assertEqual(self.completed("outrider-lab", "run", "--ru"), ["--runtime"])
        self.assertEqual(self.completed("outrider-lab", "run", "--runtime", "l"), ["loopback"])
        self.assertEqual(self.completed("outrider-lab", "run", "conf"), [], "bash knows files")
        self.assertEqual(self.completed("outrider-lab", "compare", "--fail"), ["--fail-on-change"])
        self.assertIn("--capture", self.completed("outrider-switch", "--cap"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
