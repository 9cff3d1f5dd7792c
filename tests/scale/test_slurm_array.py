#!/usr/bin/env python3
"""The Slurm array of docs/scale.md, as it stands there, runs the parts of a sweep on a real cluster.

Its merged results are those of `outrider-lab run`, also if Slurm ends a part in the midst of a case
and it is submitted again.
"""
import os
import pathlib
import signal
import tempfile
import unittest

import cluster
import page

# The shortest time limit is a minute. Slurm looks at it twice a minute, and gives a job half a
# minute to end.
TIME_LIMIT_PATIENCE = 150 + cluster.PATIENCE


class SlurmArray(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="outrider-slurm-")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.slurm = cluster.Cluster(cls.scratch, page.LAB.resolve().parent)
        cls.slurm.start()
        cls.slurm.ask("outrider-lab", "run", *page.CASES, "--out", cls.scratch / "run")

    def setUp(self):
        self.place = self.scratch / self.id().rsplit(".", maxsplit=1)[-1]
        self.place.mkdir()
        self.script = self.place / "parts.sh"
        self.script.write_text(page.script("#SBATCH"), encoding="utf-8")

    def submit(self, *options):
        """The page's job, on one CPU. @return the job's number"""
        return self.slurm.submit(self.script, f"--chdir={self.place}", "--cpus-per-task=1",
                                 f"--output={self.scratch}/part-%A-%a.out", *options)

    def merge(self, may_fail=False):
        parts = sorted((self.place / "parts").iterdir())
        return self.slurm.ask("outrider-lab", "merge", *parts, "--out", self.place / "merged",
                              may_fail=may_fail)

    def expect_results_of_run(self):
        self.merge()
        page.expect_same_results(self, self.place / "merged", self.scratch / "run")

    def hold_a_case(self):
        """Stops the process that runs a case of part 1, which has two: somebody has to end it."""
        def lab_processes():
            for path in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    words = (path / "cmdline").read_bytes().split(b"\0")
                    children = (path / f"task/{path.name}/children").read_text("ascii").split()
                except OSError:
                    continue  # it has ended
                if words[0].endswith(b"outrider-lab") and b"1/20" in words and children:
                    yield from map(int, children)

        def holds():
            for child in lab_processes():
                os.kill(child, signal.SIGSTOP)
                return True
            return False

        self.slurm.wait_until("a case that is run", holds)

    def expect_part_to_go_on(self, state, seconds=cluster.PATIENCE):
        """Ends part 1 in a case, runs the others, and submits it again."""
        first = self.submit("--array=1", *(["--time=1"] if state == "TIMEOUT" else []))
        self.hold_a_case()
        if state == "CANCELLED":
            self.slurm.ask("scancel", f"{first}_1")
        self.assertEqual(self.slurm.ended(first, seconds), [state], self.slurm.logs())
        others = self.submit("--array=2-20")
        self.assertEqual(self.slurm.ended(others), ["COMPLETED"] * 19, self.slurm.logs())
        self.merge(may_fail=True)
        self.assertFalse((self.place / "merged").exists(), "part 1 lacks a case")
        again = self.submit("--array=1")
        self.assertEqual(self.slurm.ended(again), ["COMPLETED"], self.slurm.logs())
        self.expect_results_of_run()

    def test_merged_results_are_those_of_a_run(self):
        job = self.submit()
        self.assertEqual(self.slurm.ended(job), ["COMPLETED"] * 20, self.slurm.logs())
        self.expect_results_of_run()

    def test_a_cancelled_part_goes_on(self):
        self.expect_part_to_go_on("CANCELLED")

    def test_a_part_goes_on_after_its_time_limit(self):
        self.expect_part_to_go_on("TIMEOUT", TIME_LIMIT_PATIENCE)


def main():
    page.check_built()
    reason = cluster.why_not()
    if reason is None:
        try:
            cluster.enter_world()
        except OSError as error:
            reason = f"{error.strerror}. Needs root."
    if reason is not None:
        page.skip(reason)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
