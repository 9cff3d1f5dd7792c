#!/usr/bin/env python3
"""The loop over ssh of docs/scale.md, as it stands there, runs the parts of a sweep."""
import unittest

import page
import starters


class Ssh(starters.Starters):
    def test_merged_results_are_those_of_a_run(self):
        self.expect_results_of_run(page.script("ssh "))


if __name__ == "__main__":
    page.check_built()
    unittest.main(verbosity=2)
