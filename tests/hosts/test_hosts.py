#!/usr/bin/env python3
"""The demonstration with Linux hosts shows what it is there to show, and leaves nothing."""
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

import bands
import demo
import own_world
from hosts_run import lab, why_not

HERE = pathlib.Path(__file__).resolve().parent


class Shows(unittest.TestCase):
    def test_regulated_bursts_find_less_and_a_recording_is_replayed(self):
        with tempfile.TemporaryDirectory() as out:
            modes = "mark,pace,window" if os.environ.get("OUTRIDER_FULL") else "window"
            self.assertEqual(demo.demonstrate(["--out", out, "--modes", modes]), [])
            for name in ("figures.json", "iterations.csv", "recording0/profile.toml"):
                self.assertGreater((pathlib.Path(out) / name).stat().st_size, 0, name)


class Bands(unittest.TestCase):
    """In the order of TensorLights' authors: whose class has the lowest priority number is first."""

    def test_jobs_share_seven_priorities(self):
        self.assertEqual([bands.band_of(j, 7) for j in range(7)], list(range(7)))
        self.assertEqual([bands.band_of(j, 21) for j in range(21)], [j // 3 for j in range(21)])

    def test_they_order_what_servers_send_and_nothing_else_and_end_jobs_sooner(self):
        rounds = 3 if os.environ.get("OUTRIDER_FULL") else 1
        setting = bands.Setting(rounds=rounds, iterations=8)
        found, sent = bands.run_all(setting)
        pulled = bands.pulled_bytes(setting)
        for job in range(setting.jobs):
            self.assertGreater(sent["bands"][str(11 + job)], pulled)
        # Acknowledgments of pushes leave from the same ports, so the rest is ARP alone.
        self.assertLess(sent["bands"]["10"], 10_000)
        self.assertGreater(sent["fifo"]["10"], pulled * setting.jobs)
        self.assertEqual(set(sent["fifo"]), {"1", "10"})
        mean = {arm: statistics.mean(map(statistics.mean, rounds)) for arm, rounds in found.items()}
        self.assertLess(mean["bands"], mean["fifo"])
        bands.say(setting, found)


class Refuses(unittest.TestCase):
    def test_bands_by_their_options(self):
        for words in (["--jobs", "22"], ["--rate", "fast"], ["--rounds", "0"]):
            done = subprocess.run([sys.executable, HERE / "bands.py", *words], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{words[0]}: must be", done.stderr)

    def test_all_faults_at_once_by_their_options(self):
        done = subprocess.run([sys.executable, HERE / "demo.py", "--lead", "5", "--ecn", "2",
                               "--asked", "7", "--warm-up", "99", "--modes", "mark,wish"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        for option in ("lead: 5", "ecn: 2", "asked: 7", "warm-up: 99", "modes: wish"):
            self.assertIn(f"tools/demo-hosts: --{option}: must be", done.stderr)


class LeavesNothing(unittest.TestCase):
    """Seen from outside of the demonstration's own world, where its user is."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.scratch = pathlib.Path(self.place.name) / "scratch"
        self.scratch.mkdir()

    def begin(self):
        """@return a demonstration in the midst of a run"""
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(  # pylint: disable=consider-using-with
                [sys.executable, HERE / "demo.py", "--out", self.place.name + "/out"], stdout=log,
                stderr=log, env={**os.environ, "TMPDIR": str(self.scratch)}, start_new_session=True)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        end = time.monotonic() + lab.PATIENCE
        while len(networks(started(process.pid))) < 4:  # the switch's, and hosts'
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        return process

    def gone(self, processes, used):
        end = time.monotonic() + lab.PATIENCE
        while any(same(pid, begun) for pid, begun in processes):
            self.assertLess(time.monotonic(), end, "something of it still runs")
            time.sleep(0.05)
        named = [p.name for p in pathlib.Path("/run/netns").glob("*") if p.stat().st_ino in used]
        self.assertEqual(named, [])
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_when_it_is_killed(self):
        self.ended_by(signal.SIGKILL, -signal.SIGKILL)

    def test_when_it_is_interrupted(self):
        self.ended_by(signal.SIGINT, 128 + signal.SIGINT)

    def test_when_it_is_asked_to_end(self):
        self.ended_by(signal.SIGTERM, 128 + signal.SIGTERM)

    def ended_by(self, number, status):
        process = self.begin()
        processes = started(process.pid)
        used = networks(processes)
        process.send_signal(number)
        self.assertEqual(process.wait(lab.PATIENCE), status)
        self.gone(processes, used)


def begun_at(pid):
    """Ticks; None if there is no such process. Also its parent."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 2:].split()
    return int(fields[1]), int(fields[19])


def same(pid, begun):
    found = begun_at(pid)
    return found is not None and found[1] == begun


def started(pid):
    """Processes that descend from `pid`, with their begin."""
    known = {int(p.name): begun_at(p.name) for p in pathlib.Path("/proc").glob("[0-9]*")}
    found, wanted = [], [pid]
    while wanted:
        parent = wanted.pop()
        children = [p for p, stat in known.items() if stat and stat[0] == parent]
        found += [(p, known[p][1]) for p in children]
        wanted += children
    return found


def networks(processes):
    """Network namespaces of processes, but this one's."""
    found = set()
    for pid, _ in processes:
        try:
            found.add(os.stat(f"/proc/{pid}/ns/net").st_ino)
        except OSError:
            pass  # it has ended
    return found - {os.stat("/proc/self/ns/net").st_ino}


def main():
    reason = why_not()
    if reason is None:
        # Its cases of cleaning up watch from outside.
        load = unittest.defaultTestLoader.loadTestsFromTestCase
        suite = unittest.TestSuite([load(Refuses), load(LeavesNothing)])
        if not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful():
            return 1
        try:
            own_world.enter()
        except OSError as error:
            reason = str(error)
    if reason is not None:
        print(f"skipped: {reason}")
        return lab.SKIPPED
    own_world.come_first()
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    suite = unittest.TestSuite([load(Shows), load(Bands)])
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
