#!/usr/bin/env python3
"""outrider-hostagent finds a job's connections by the cgroup of its processes."""
import csv
import os
import pathlib
import secrets
import sys
import unittest

import agents
from agents import BYTES, COMPUTE_S, JOB, SERVER

ITERATIONS, OTHER_PORT = 3, 5001


def cgroup_root():
    """Of cgroup v2, or None."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        if line.split()[2] == "cgroup2":
            # `ip netns exec` hides it behind a /sys of its own.
            return pathlib.Path(f"/proc/{os.getpid()}/root{line.split()[1]}")
    return None


@unittest.skipIf(cgroup_root() is None, "cgroup v2 is not mounted")
class Cgroup(agents.AgentTest):
    def setUp(self):
        super().setUp()
        self.cgroup = cgroup_root() / f"outrider-test-{secrets.token_hex(3)}"
        self.cgroup.mkdir()
        self.addCleanup(self.cgroup.rmdir)
        (self.cgroup / "inner").mkdir()
        self.addCleanup((self.cgroup / "inner").rmdir)
        self.start(agents.config(accept_udp="true"))
        self.assertEqual(self.ping("worker", SERVER, agents.lab.PATIENCE), 64)

    def within(self):
        """Words that start a program in a cgroup below the one that is named."""
        procs = self.cgroup / "inner" / "cgroup.procs"
        return ["sh", "-c", f'echo $$ > {procs}; exec "$@"', "sh"]

    def other_job(self):
        """The same beside it, in another cgroup."""
        server = agents.lab.Process(self.lab, self.hosts["server"],
                                    [sys.executable, JOB, "server", SERVER, OTHER_PORT, 1],
                                    "other-ps")
        server.says("ready")
        return agents.lab.Process(self.lab, self.hosts["worker"],
                                  [sys.executable, JOB, "worker", SERVER, OTHER_PORT, ITERATIONS,
                                   BYTES, COMPUTE_S], "other-job")

    def test_announcing(self):
        answer, announce = self.answer(), self.announce("--cgroup", self.cgroup)
        other = self.other_job()
        self.job(ITERATIONS, within=self.within())
        self.ended(other, 0)
        self.interrupt(announce, answer)
        self.stop()
        report = self.lab.report("announce")
        self.assertEqual(report["flows"], 1)
        # The job says first how large its bursts are; a busy machine may stop one half-way.
        self.assertGreaterEqual(report["onsets"], ITERATIONS + 1)
        self.assertEqual(report["acks_received"], report["onsets"])
        self.assertEqual(self.queues["server"]["starts_armed"], report["onsets"])

    def test_recording_both_directions(self):
        out = self.lab.directory / "recording"
        record = self.agent("worker", "record", "--interface", "eth0", "--cgroup", self.cgroup,
                            "--idle-gap", f"{int(agents.IDLE_S * 1000)}ms", "--out", out)
        record.says("recording at eth0")
        other = self.other_job()
        self.job(ITERATIONS, within=self.within())
        self.ended(other, 0)
        self.interrupt(record)
        self.stop()
        report = self.lab.report("record")
        self.assertEqual((report["flows"], report["bursts_forgotten"]), (2, 0))
        with open(out / "bursts.csv", encoding="utf-8") as file:
            bursts = list(csv.DictReader(file))
        sums = {way: sum(int(b["bytes"]) for b in bursts if b["direction"] == way)
                for way in ("push", "pull")}
        self.assertEqual(sums, {"push": 8 + ITERATIONS * BYTES, "pull": ITERATIONS * BYTES})

    def test_what_is_no_cgroup_is_refused(self):
        wrong = self.agent("worker", "announce", "--interface", "eth0", "--cgroup",
                           self.lab.directory, name="wrong")
        self.ended(wrong, 3)
        self.assertIn(f"--cgroup: {self.lab.directory}: is no directory of cgroup v2",
                      wrong.output())
        self.assertEqual(self.filters("worker"), [])
        both = self.agent("worker", "announce", "--interface", "eth0", "--cgroup", self.cgroup,
                          "--server", f"{SERVER}:{OTHER_PORT}", name="both")
        self.ended(both, 2)
        self.assertIn("--server, --cgroup: one of them", both.output())
        self.stop()


if __name__ == "__main__":
    agents.main()
