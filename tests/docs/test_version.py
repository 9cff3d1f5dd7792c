#!/usr/bin/env python3
"""The version of CMakeLists.txt is what every program says, what is cited, and the newest of the
change log, with one date."""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", ROOT / "build/release/bin"))
NAMES = ("lab", "switch", "trafficgen", "hostagent", "doctor")


def found(pattern, file):
    """The groups of the first line of the project's file that the pattern is all of."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.search(f"^{pattern}$", text, re.MULTILINE).groups()


class Version(unittest.TestCase):
    def setUp(self):
        [self.version] = found(r"project\(outrider VERSION (\S+) .*", "CMakeLists.txt")

    def test_programs_say_it(self):
        for name in NAMES:
            said = subprocess.run([PROGRAMS / f"outrider-{name}", "--version"], text=True,
                                  stdout=subprocess.PIPE, check=True).stdout
            self.assertEqual(said, f"outrider-{name} {self.version}\n")

    def test_it_is_cited_with_the_date_of_the_change_log(self):
        version, date = found(r"## ([\d.]+), (\d{4}-\d\d-\d\d)", "CHANGELOG.md")
        self.assertEqual(version, self.version)
        self.assertEqual(found(r"version: (\S+)", "CITATION.cff"), (version,))
        self.assertEqual(found(r"date-released: (\S+)", "CITATION.cff"), (date,))


if __name__ == "__main__":
    unittest.main()
