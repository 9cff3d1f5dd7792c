#!/usr/bin/env python3
"""What outrider-lab suite writes is what docs/suite.schema.json and readers of JUnit say."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree

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
        subprocess.run([LAB, "suite", "collectives", "--tests", "job,uet", "--out", cls.out], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @unittest.skipIf(jsonschema is None, "no validator of JSON Schema")
    def test_json_is_what_its_schema_says_and_nothing_else(self):
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        written = json.loads((self.out / "suite.json").read_text(encoding="utf-8"))
        validator = jsonschema.Draft202012Validator(strict(schema))
        self.assertEqual([f"{e.json_path}: {e.message}" for e in validator.iter_errors(written)], [])
        self.assertEqual([test["verdict"] for test in written["tests"]], ["passed", "skipped"])

    def test_junit_has_the_counts_of_its_cases(self):
        [suite] = tree.parse(self.out / "junit.xml").getroot()
        self.assertEqual((suite.tag, suite.get("name")), ("testsuite", "collectives"))
        cases = suite.findall("testcase")
        self.assertEqual([case.get("name") for case in cases], ["job", "uet"])
        for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            self.assertEqual(int(suite.get(attribute)), len(suite.findall(f"testcase/{element}")))
        self.assertEqual(int(suite.get("tests")), len(cases))


if __name__ == "__main__":
    sys.exit(unittest.main(argv=sys.argv[:1] + sys.argv[1:]))
