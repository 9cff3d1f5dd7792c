#!/usr/bin/env python3
"""GNU parallel, as docs/scale.md starts it, runs the parts of a sweep on three machines."""
import shutil
import unittest

import page
import starters

# Part 7 dies once, with its process.
DYING_LAB = """#!/bin/bash
if [[ " $* " == *" --case 7/20 "* ]] && mkdir "{mark}" 2>/dev/null; then kill -9 $$; fi
exec {lab} "$@"
"""


class Parallel(starters.Starters):
    def test_merged_results_are_those_of_a_run(self):
        self.expect_results_of_run(page.script("parallel "))

    def test_a_part_that_was_killed_is_started_again(self):
        mark = self.place / "killed"
        self.write_program("outrider-lab", DYING_LAB.format(mark=mark, lab=page.LAB.resolve()))
        self.expect_results_of_run(page.script("parallel "))
        self.assertTrue(mark.exists())


if __name__ == "__main__":
    page.check_built()
    if shutil.which("parallel") is None:
        page.skip("parallel is not installed (tools/setup --ci installs it)")
    unittest.main(verbosity=2)
