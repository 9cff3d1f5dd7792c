#!/usr/bin/env python3
"""outrider-hostagent announces a job that knows nothing of it, and leaves nothing behind."""
import csv
import pathlib
import signal
import struct
import subprocess
import sys
import tomllib
import unittest

import agents
import lab
import ps_job
from agents import AGENT, BYTES, COMPUTE_S, IDLE_S, JOB, PORT, SERVER

LEAD_S = 0.02
AHEAD_S = 0.075  # a START that is further ahead of a burst was not meant for it
JOB_SERVER = ["--server", f"{SERVER}:{PORT}"]
# Takes, as nobody, every name in the abstract namespace that an agent of that kind might want.
SQUATTER = """
import os, socket, sys, time
os.setgid(65534); os.setuid(65534)
taken = []
for index in range(100):
    taken.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    taken[-1].bind(f"\\0outrider-hostagent/{sys.argv[1]}/{index}")
print("squats", flush=True)
time.sleep(60)
"""


def ms(text):
    """Of a duration as the project writes it."""
    number = text.rstrip("nmus")
    return float(number) * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1000}[text[len(number):]]


class Watcher(unittest.TestCase):
    """The test's own eyes, on literal segments: times in units of the pause."""

    def bursts(self, *segments):
        watcher = ps_job.Watcher(5900, PORT, 1.0)
        for now, flags, first, size in segments:
            tcp = struct.pack("!HHIIBBHHH", 40_000, PORT, first % (1 << 32), 0, 0x50, flags, 0, 0, 0)
            watcher.on_segment("10.0.0.1", tcp + bytes(size), now)
        return [now for _, now, _ in watcher.events]

    def test_payload_after_a_pause_is_a_burst(self):
        self.assertEqual(self.bursts((0, 2, 99, 0), (0.5, 16, 100, 50), (1.4, 16, 150, 50),
                                     (2.5, 16, 200, 50)), [0.5, 2.5])

    def test_what_is_sent_again_is_none_also_where_numbers_begin_anew(self):
        last = (1 << 32) - 60
        self.assertEqual(self.bursts((0, 2, last - 1, 0), (0.5, 16, last, 50), (2, 16, last, 50),
                                     (4, 16, last + 50, 50), (6, 16, last + 50, 50),
                                     (8, 16, last + 20, 30)), [0.5, 4])

    def test_an_acknowledgment_is_none(self):
        self.assertEqual(self.bursts((0, 2, 99, 0), (0.5, 16, 100, 0), (2, 16, 100, 1)), [2])


class HostAgent(agents.AgentTest):
    def run_job(self, iterations, *announce):
        """@return the worker's result; reports of agents and switch are in self"""
        self.start(agents.config(accept_udp="true"))
        self.assertEqual(self.ping("worker", SERVER, lab.PATIENCE), 64)
        answer = self.answer()
        agent = self.announce(*JOB_SERVER, *announce)
        watch = lab.Process(self.lab, self.hosts["server"],
                            [sys.executable, JOB, "watch", "eth0", 5900, PORT, IDLE_S], "watch")
        watch.says("ready")
        worker = self.job(iterations)
        self.interrupt(watch, agent, answer)
        self.announced, self.answered = self.lab.report("announce"), self.lab.report("answer")
        self.events = watch.result()
        self.stop()
        return worker

    def test_a_burst_is_announced_at_its_first_byte(self):
        self.run_job(8)
        bursts = 8 + 1  # the job says first how large its bursts are
        self.assertEqual(len([e for e in self.events if e[0] == "burst"]), bursts)
        self.assertEqual(len([e for e in self.events if e[0] == "start"]), bursts)
        self.assertEqual(self.announced["onsets"], bursts)
        self.assertEqual(self.announced["starts_at_first_byte"], bursts)
        self.assertEqual(self.announced["starts_sent"], bursts)
        self.assertEqual(self.answered["answered"], bursts)
        self.assertEqual(self.announced["acks_received"], bursts)
        self.assertEqual(self.queues["server"]["starts_armed"], bursts)
        self.assertEqual(self.announced["onsets_lost"], 0)

    def test_once_the_period_is_known_it_is_announced_ahead(self):
        self.run_job(30, "--lead", f"{int(LEAD_S * 1000)}ms")
        self.assertGreaterEqual(self.announced["periods_locked"], 1)
        ahead = [burst[1] - start[1] for start, burst in zip(self.events, self.events[1:])
                 if (start[0], burst[0]) == ("start", "burst") and burst[1] - start[1] < AHEAD_S]
        print("START ahead of the burst [ms]:", [round(1000 * a, 1) for a in ahead])
        self.assertGreaterEqual(len(ahead), 5)
        self.assertGreaterEqual(self.announced["starts_ahead_met"], 5)

    def test_a_recording_has_every_burst_and_a_profile(self):
        self.start(agents.config(accept_udp="true"))
        self.assertEqual(self.ping("worker", SERVER, lab.PATIENCE), 64)
        out = self.lab.directory / "recording"
        agent = self.agent("worker", "record", "--interface", "eth0", *JOB_SERVER, "--idle-gap",
                           f"{int(IDLE_S * 1000)}ms", "--out", out)
        agent.says("recording at eth0")
        iterations = 6
        worker = self.job(iterations)
        self.interrupt(agent)
        self.stop()
        with open(out / "bursts.csv", encoding="utf-8") as file:
            bursts = list(csv.DictReader(file))
        sizes = {way: [int(b["bytes"]) for b in bursts if b["direction"] == way]
                 for way in ("push", "pull")}
        # the job says first, in 8 bytes, how large its bursts are
        self.assertEqual(sizes, {"push": [8] + [BYTES] * iterations, "pull": [BYTES] * iterations})
        report = self.lab.report("record")
        self.assertEqual((report["onsets_lost"], report["bursts_left_out"]), (0, 0))
        with open(out / "profile.toml", "rb") as file:
            profile = tomllib.load(file)
        self.assertEqual(profile["total_bytes"], BYTES)
        computed = ms(profile["forward"]) + ms(profile["backward"])
        fastest = 1000 * min(worker["iteration_seconds"])
        print("computed [ms]", computed, "fastest iteration", fastest)
        self.assertGreater(computed, 1000 * COMPUTE_S * 0.98)
        self.assertLess(computed, 1000 * max(worker["iteration_seconds"]))
        self.assertEqual(self.filters("worker"), [])

    def test_what_is_sent_again_belongs_to_its_burst(self):
        out = self.lab.directory / "recording"
        agent = self.agent("worker", "record", "--interface", "eth0", *JOB_SERVER, "--idle-gap",
                           f"{int(IDLE_S * 1000)}ms", "--out", out)
        agent.says("recording at eth0")
        # Segments [after seconds, first byte, bytes]: the middle one is a repair, as after a
        # time-out; a pause of one and a half follows, twice.
        pause = 1.5 * IDLE_S
        self.lab.run_in(self.hosts["worker"], sys.executable, JOB, "segments", "eth0", SERVER, PORT,
                        0, 0, 1000, pause, 0, 1000, 0, 1000, 500, pause, 1500, 300)
        self.interrupt(agent)
        with open(out / "bursts.csv", encoding="utf-8") as file:
            bursts = list(csv.DictReader(file))
        self.assertEqual([int(b["bytes"]) for b in bursts], [1500, 300])
        lasted = [int(b["ended_ns"]) - int(b["begun_ns"]) for b in bursts]
        self.assertGreaterEqual(lasted[0], pause * 1e9)
        self.assertEqual(lasted[1], 0)

    def test_it_leaves_nothing_behind(self):
        self.assertEqual(self.filters("worker"), [])
        agent = self.announce(*JOB_SERVER)
        self.assertEqual(len(self.filters("worker")), 3)  # hook, filter's line, program's line
        agent.send(signal.SIGTERM)
        self.ended(agent, 0)
        self.assertEqual(self.filters("worker"), [])

    def test_what_a_killed_agent_left_is_taken_over_and_removed(self):
        killed = self.announce(*JOB_SERVER)
        killed.kill()
        self.assertNotEqual(self.filters("worker"), [], "this is why a restart has to clean up")
        agent = self.announce(*JOB_SERVER, name="restarted")
        agent.says("replaced what a killed agent had left")
        self.interrupt(agent)
        self.assertEqual(self.filters("worker"), [])

    def test_both_agents_share_an_interface(self):
        agent = self.announce(*JOB_SERVER)
        answer = self.agent("worker", "answer", "--interface", "eth0")
        answer.says("answering at eth0")
        self.interrupt(agent)
        self.assertNotEqual(self.filters("worker"), [])
        self.interrupt(answer)
        self.assertEqual(self.filters("worker"), [])

    def test_a_second_agent_of_a_kind_is_refused(self):
        agent = self.announce(*JOB_SERVER)
        second = self.agent("worker", "announce", "--interface", "eth0", *JOB_SERVER,
                            name="second")
        self.ended(second, 3)
        self.assertIn("another outrider-hostagent announce is at work on eth0", second.output())

    def test_nobody_else_can_keep_an_agent_from_starting(self):
        # Names that agents had in the abstract namespace, taken by another user of the host.
        squatter = lab.Process(self.lab, self.hosts["worker"],
                               [sys.executable, "-c", SQUATTER, "announce"], "squatter")
        squatter.says("squats")
        self.interrupt(self.announce(*JOB_SERVER))
        squatter.kill()
        mode = pathlib.Path("/run/outrider-hostagent").stat().st_mode
        self.assertEqual(mode & 0o777, 0o700)

    def test_somebody_elses_hook_stays(self):
        self.lab.run_in(self.hosts["worker"], "tc", "qdisc", "add", "dev", "eth0", "clsact")
        agent = self.announce(*JOB_SERVER)
        self.interrupt(agent)
        self.assertEqual(len(self.filters("worker")), 1)

    def test_refusals_name_the_cause_and_the_remedy(self):
        missing = self.agent("worker", "answer", "--interface", "eth9", name="missing")
        self.ended(missing, 3)
        self.assertIn('no interface "eth9" in this network namespace; there are: lo, eth0',
                      missing.output())
        done = subprocess.run(["ip", "netns", "exec", self.hosts["worker"], "setpriv",
                               "--bounding-set=-all", "--inh-caps=-all", "--reuid=65534",
                               "--clear-groups", AGENT, "answer", "--interface", "eth0"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("run as root, or with CAP_BPF and CAP_NET_ADMIN", done.stderr)
        wrong = self.agent("worker", "announce", "--interface", "eth0", "--server", "nowhere",
                           "--threshold", "7", "--lead", "2", name="wrong")
        self.ended(wrong, 2)
        for flag in ("--server", "--threshold", "--lead"):
            self.assertIn(flag + ": ", wrong.output())


if __name__ == "__main__":
    agents.main()
