#!/usr/bin/env python3
"""What outrider-lab suite writes is what docs/suite.schema.json and readers of JUnit say."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree

import browser
import experiments
from test_schema import strict

try:
    import jsonschema
except ImportError:
    jsonschema = None

LAB = os.environ.get("OUTRIDER_LAB_PROGRAM", experiments.ROOT / "build/release/bin/outrider-lab")
SCHEMA = experiments.ROOT / "docs/suite.schema.json"


class Suite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="outrider-suite-")
        cls.addClassCleanup(directory.cleanup)
        cls.out = pathlib.Path(directory.name)
        subprocess.run([LAB, "suite", "collectives", "--tests", "ring-all-reduce,uet", "--out", cls.out], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @unittest.skipIf(jsonschema is None, "no validator of JSON Schema")
    def test_json_is_what_its_schema_says_and_nothing_else(self):
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        written = json.loads((self.out / "suite.json").read_text(encoding="utf-8"))
        validator = jsonschema.Draft202012Validator(strict(schema))
        self.assertEqual([f"{e.json_path}: {e.message}" for e in validator.iter_errors(written)], [])
        self.assertEqual([test["verdict"] for test in written["tests"]], ["passed", "skipped"])

    @unittest.skipIf(browser.program() is None, "no Chromium")
    def test_page_has_pictures_and_fetches_nothing(self):
        page = self.out / "suite.html"
        with browser.Browser() as one:
            for scheme, width in (("light", 1280), ("dark", 390)):
                one.open(page, scheme, width)
                self.assertEqual(one.complaints, [])
                self.assertEqual({url.split("#")[0] for url in one.requests}, {page.as_uri()})
                marks = one.evaluate("[...document.querySelectorAll('figure')].map((f) => "
                                     "f.querySelectorAll('svg[role=img] .mark').length)")
                self.assertEqual(marks, [3, 3], "three sizes")
                self.assertLessEqual(one.evaluate("document.documentElement.scrollWidth"), width)
                if "OUTRIDER_SCREENSHOTS" in os.environ:
                    one.screenshot(pathlib.Path(os.environ["OUTRIDER_SCREENSHOTS"]) /
                                   f"suite-{scheme}-{width}.png", whole=True)

    @unittest.skipIf(shutil.which("xmllint") is None, "no validator of XML Schema")
    def test_junit_is_what_its_schema_says(self):
        done = subprocess.run(["xmllint", "--noout", "--schema", experiments.ROOT / "docs/junit.xsd",
                               self.out / "junit.xml"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_junit_has_the_counts_of_its_cases(self):
        [suite] = tree.parse(self.out / "junit.xml").getroot()
        self.assertEqual((suite.tag, suite.get("name")), ("testsuite", "collectives"))
        cases = suite.findall("testcase")
        self.assertEqual([case.get("name") for case in cases], ["ring-all-reduce", "uet"])
        for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            self.assertEqual(int(suite.get(attribute)), len(suite.findall(f"testcase/{element}")))
        self.assertEqual(int(suite.get("tests")), len(cases))


if __name__ == "__main__":
    sys.exit(unittest.main(argv=sys.argv[:1] + sys.argv[1:]))
