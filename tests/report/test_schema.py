#!/usr/bin/env python3
"""summary.json of real runs is what docs/summary.schema.json says, and nothing else."""
import json
import sys
import tempfile
import unittest

import experiments

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = experiments.ROOT / "docs/summary.schema.json"


def strict(schema):
    """The schema allows fields that came later; here each must be in it."""
    if isinstance(schema, list):
        return [strict(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: strict(value) for key, value in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        out["additionalProperties"] = False
    return out


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="outrider-schema-")
        cls.addClassCleanup(directory.cleanup)
        cls.schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        cls.summaries = [json.loads((results / "summary.json").read_text(encoding="utf-8"))
                         for results in (experiments.run(directory.name, "one", seeds=1),
                                         experiments.run(directory.name, "more", attribution=True,
                                                         sweep=True),
                                         experiments.run(directory.name, "jobs", jobs=2),
                                         experiments.run_fabric(directory.name, seeds=1),
                                         experiments.run_groups(directory.name, seeds=1))]

    def faults(self, summary, schema=None):
        validator = jsonschema.Draft202012Validator(schema or self.schema)
        return [f"{e.json_path}: {e.message}" for e in validator.iter_errors(summary)]

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_real_summaries_agree_with_it(self):
        for summary in self.summaries:
            self.assertEqual(self.faults(summary), [])

    def test_it_names_every_field(self):
        for summary in self.summaries:
            self.assertEqual(self.faults(summary, strict(self.schema)), [])
        for number, metric in ((1, "time_window_share"), (2, "jobs_completion_seconds_mean")):
            self.assertTrue(any(metric in case["metrics"]
                                for case in self.summaries[number]["cases"]), metric)
        self.assertTrue(all("background_groups" in arm for arm in self.summaries[4]["arms"]))

    def test_faults_are_found(self):
        def changed(change):
            copy = json.loads(json.dumps(self.summaries[0]))
            change(copy)
            return copy
        for change in (lambda s: s.pop("question"), lambda s: s.update(schema_version=1),
                       lambda s: s["cases"][0]["metrics"].pop("background_goodput_bits_per_second"),
                       lambda s: s["cases"][0]["metrics"].update(rtos_per_burst="0"),
                       lambda s: s["arms"][0]["metrics"]["rtos_per_burst"].pop("change")):
            self.assertEqual(len(self.faults(changed(change))), 1)
        self.assertNotEqual(self.faults(changed(lambda s: s.update(new=1)), strict(self.schema)), [])


if __name__ == "__main__":
    if jsonschema is None:
        print("skipped: the Python module jsonschema is missing (tools/setup installs it)")
        sys.exit(experiments.SKIPPED)
    unittest.main(verbosity=2)
