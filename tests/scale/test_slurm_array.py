#!/usr/bin/env python3
"""The Slurm array of docs/scale.md, as it stands there, runs a queue on a real cluster.

Its results are those of `outrider-lab run`, also if Slurm ends a worker in the midst of a case.
"""
import os
import pathlib
import signal
import sys
import tempfile
import unittest

import cluster

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/docs"))

import commands  # pylint: disable=wrong-import-position

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
LAB = pathlib.Path(os.environ.get("OUTRIDER_LAB_PROGRAM", ROOT / "build/release/bin/outrider-lab"))
CASES = [str(ROOT / "conf/experiments/quick.toml"), "--repeat", "4"]  # twelve
QUEUE_OF_PAGE = "/shared/queues/quick"
# The shortest time limit is a minute. Slurm looks at it twice a minute, and gives a job half a
# minute to end.
TIME_LIMIT_PATIENCE = 150 + cluster.PATIENCE


def script_of_page():
    text = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
    scripts = ["\n".join(lines) for _, _, lines in commands.blocks(text)
               if any(line.startswith("#SBATCH") for line in lines)]
    if [script.count(QUEUE_OF_PAGE) for script in scripts] != [1]:
        raise AssertionError(f"docs/scale.md needs one script for sbatch, with {QUEUE_OF_PAGE}")
    return scripts[0] + "\n"


class SlurmArray(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="outrider-slurm-")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        cls.slurm = cluster.Cluster(cls.scratch, LAB.resolve().parent)
        cls.slurm.start()
        cls.slurm.ask("outrider-lab", "run", *CASES, "--out", cls.scratch / "run")

    def setUp(self):
        self.queue = self.scratch / f"queue-{self.id().split('.')[-1]}"
        # A case that a worker has not given back would wait for a day.
        self.slurm.ask("outrider-lab", "queue", *CASES, "--lease", "86400", "--queue", self.queue)

    def submit(self, *options):
        """The page's job, with other numbers. @return the job's number"""
        script = self.queue / "array.sh"
        text = script_of_page().replace(QUEUE_OF_PAGE, str(self.queue))
        script.write_text(text, encoding="utf-8")
        return self.slurm.submit(script, "--cpus-per-task=1", *options)

    def begun_and_not_done(self):
        """@return cases of each worker, the worker with the fewest first"""
        lines = [path.read_text(encoding="utf-8").splitlines()
                 for path in (self.queue / "workers").iterdir()]
        begun, done = ([{line.removeprefix(word) for line in journal if line.startswith(word)}
                        for journal in lines] for word in ("begun ", "done "))
        return sorted((b - d for b, d in zip(begun, done)), key=len)

    def expect_results_of_run(self):
        out = self.queue / "collected"
        self.slurm.ask("outrider-lab", "collect", "--queue", self.queue, "--out", out)
        self.assertEqual((out / "summary.json").read_bytes(),
                         (self.scratch / "run/summary.json").read_bytes())

    def hold_a_case(self):
        """Stops the process that runs a case: its worker has it until somebody ends them."""
        def send(children, number):
            for child in children:
                os.kill(child, number)

        def holds():
            for ticket in (self.queue / "running").iterdir():
                worker = ticket.name.split("-")[-2]
                children = pathlib.Path(f"/proc/{worker}/task/{worker}/children").read_text("ascii")
                children = [int(child) for child in children.split()]
                send(children, signal.SIGSTOP)
                if children and ticket.exists():
                    return True
                send(children, signal.SIGCONT)  # too late for this one
            return False

        self.slurm.wait_until("a case that is run", holds)

    def expect_next_task_to_finish(self, job, state, seconds=cluster.PATIENCE):
        self.assertEqual(self.slurm.ended(job, seconds), [state, "COMPLETED"], self.slurm.logs())
        none, given_back = self.begun_and_not_done()
        self.assertEqual((len(none), len(given_back)), (0, 1), self.slurm.logs())
        self.expect_results_of_run()

    def test_results_are_those_of_a_run(self):
        job = self.submit("--array=0-2")
        self.assertEqual(self.slurm.ended(job), ["COMPLETED"] * 3, self.slurm.logs())
        self.expect_results_of_run()

    def test_the_next_task_finishes_what_a_cancelled_one_had(self):
        job = self.submit("--array=0-1%1")
        self.hold_a_case()
        self.slurm.ask("scancel", f"{job}_0")
        self.expect_next_task_to_finish(job, "CANCELLED")

    def test_the_next_task_finishes_what_one_had_at_its_time_limit(self):
        job = self.submit("--array=0-1%1", "--time=1")
        self.hold_a_case()
        self.expect_next_task_to_finish(job, "TIMEOUT", TIME_LIMIT_PATIENCE)


def main():
    if not LAB.is_file():
        sys.exit(f"{LAB} is not there; build it, or set OUTRIDER_LAB_PROGRAM")
    reason = cluster.why_not()
    if reason is None:
        try:
            cluster.enter_world()
        except OSError as error:
            reason = f"{error.strerror}. Needs root."
    if reason is not None:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
