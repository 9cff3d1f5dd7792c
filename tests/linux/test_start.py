#!/usr/bin/env python3
"""What a program cannot have is named before it starts: memory, files, interfaces, drivers, options that
would have no effect. A signal ends a start that takes long."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

import lab

USAGE, ENVIRONMENT, INTERRUPTED = 2, 3, 130  # exit statuses
LARGE = 1_000_000  # packet buffers, 2.5 GB: seconds

SWITCH = """
{keys}
[[device]]
name = "d"
device = "{device}"
[[switch]]
name = "s"
[[switch.port]]
name = "p"
device = "d"
drain_rate = "1gbit"
{port}
[[switch.route]]
prefix = "10.0.0.0/8"
port = "p"
"""

GENERATOR = """
{keys}
duration = "100ms"
[[device]]
name = "d"
device = "{device}"
[[host]]
name = "h"
address = "10.0.0.1"
device = "d"
rate = "1gbit"
[[transport]]
name = "t"
[[transfer]]
name = "x"
from = "h"
to = "10.0.0.9"
transport = "t"
bytes = "1MB"
"""


class Start(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="outrider-start-")
        self.addCleanup(made.cleanup)
        self.directory = pathlib.Path(made.name)

    def words(self, program, text, *more, device="net_null0", keys="", port=""):
        file = self.directory / f"{pathlib.Path(program).name}.toml"
        file.write_text(text.format(device=device, keys=keys, port=port))
        return [program, "--config", file, *more]

    def refusal(self, words, status=ENVIRONMENT, **process):
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=lab.ENVIRONMENT,
                              timeout=lab.PATIENCE, **process)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_memory_that_is_not_there(self):
        for program, text in ((lab.SWITCH, SWITCH), (lab.GENERATOR, GENERATOR)):
            said = self.refusal(self.words(program, text, keys="mbufs = 4000000000"))
            self.assertRegex(said, r"memory: packet buffers and tables need \d{7} MiB, and \d+ MiB are free")
            self.assertIn("Lower `mbufs`", said)
        port = '[switch.port.queue]\nlimit_packets = 1000000\n'
        said = self.refusal(self.words(lab.SWITCH, SWITCH.replace("{port}", port + "".join(
            f'[[switch.port]]\nname = "p{i}"\ndevice = "d"\ndrain_rate = "1gbit"\n{port}'
            for i in range(300)))))
        self.assertIn("Lower `limit_packets` of queues", said)

    def test_a_signal_ends_a_long_start(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            words = self.words(lab.SWITCH, SWITCH, "--duration", "100ms", keys=f"mbufs = {LARGE}")
            with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                  env=lab.ENVIRONMENT) as process:
                said = process.stderr.readline()
                self.assertRegex(said, r"memory: 2\d{3} MiB")
                process.send_signal(number)
                said += process.stderr.read()
            self.assertEqual(process.returncode, INTERRUPTED, said)
            self.assertIn("interrupted while packet buffers were made", said)
            runtime = pathlib.Path("/var/run/dpdk") / f"outrider-switch-{process.pid}"
            self.assertFalse(runtime.exists())

    def test_few_files(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))

        lcores = sorted(os.sched_getaffinity(0))[:2]
        if len(lcores) < 2:
            self.skipTest("one CPU alone")
        keys = f"lcore = {lcores[0]}\nmore_lcores = [{lcores[1]}]"
        for words in (self.words(lab.SWITCH, SWITCH, keys=keys), self.words(lab.GENERATOR, GENERATOR)):
            self.assertIn("ulimit -n", self.refusal(words, preexec_fn=few))

    def test_absent_interfaces_and_drivers(self):
        capture = self.directory / "empty.pcap"
        capture.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"
                                          "0000000000000000" "3c0000003c000000") + bytes(60))
        said = self.refusal(self.words(lab.SWITCH, SWITCH, device="net_memif0,socket=/absent/s"))
        self.assertIn("rte_eth_dev_start(d): refused. DPDK's last lines:", said)
        for device, cause in (("net_af_packet0,iface=absent0", "no network interface absent0"),
                              ("net_pcap0,iface=absent0", "no network interface absent0"),
                              ("net_af_xdp0,iface=absent0", "no network interface absent0"),
                              ("net_absent0", "DPDK has no driver of this name here")):
            for words in (self.words(lab.SWITCH, SWITCH, device=device),
                          self.words(lab.GENERATOR, GENERATOR, device=device),
                          [lab.GENERATOR, "calibrate", "--device", device],
                          [lab.GENERATOR, "replay", "--file", capture, "--device", device]):
                with self.subTest(words[0], device=device):
                    said = self.refusal(words)
                    self.assertIn(cause, said)
                    self.assertNotIn("Operation not permitted", re.sub(r"\n    .*", "", said))

    def test_options_that_would_have_no_effect(self):
        file = self.directory / "f"
        switch, generator = self.words(lab.SWITCH, SWITCH), self.words(lab.GENERATOR, GENERATOR)
        replay = [lab.GENERATOR, "replay", "--file", file, "--device", "net_null0"]
        preview = ["--preview", self.directory / "p.pcap"]
        cases = [([*switch, *words], *named) for words, *named in (
            (["--check", "--report", file], "--check", "--report"),
            (["--check", "--live"], "--check", "--live"),
            (["--check", "--duration", "1s"], "--check", "--duration"),
            (["--check", "--capture", f"s.p={file}"], "--check", "--capture"),
            (["--capture-packets", "1"], "--capture-packets", "--capture"),
            (["--capture-bytes", "1MB"], "--capture-bytes", "--capture"),
            (["--capture-snap", "100"], "--capture-snap", "--capture"),
            (["--capture", f"s.p={file}", "--capture-bytes", "0B"], "--capture-bytes 0B: must be at least"),
            (["--capture", f"s.p={file}", "--capture-packets", "-1"], "-1: must be a whole number from 1"),
            (["keygen", file], "--config: is not for keygen"))]
        outputs = ["--report", "--csv", "--flow-records", "--streams-csv", "--samples", "--hops"]
        cases += [([*generator, *words], *named) for words, *named in (
            *(([*preview, option, file], "--preview", option) for option in outputs),
            *((["--check", option, file], "--check", option) for option in outputs),
            ([*preview, "--live"], "--preview", "--live"),
            ([*preview, "--stall", "1"], "--preview", "--stall"),
            ([*preview, "--check"], "--preview", "--check"),
            (["--preview-limit", "5"], "--preview-limit", "--preview"),
            ([*preview, "--preview-limit", "-1"], "-1: must be a whole number from 1"),
            (["--seed", "-1"], "-1: must be a whole number from 0"),
            *(([option, file], option, "there is no [[") for option in outputs[2:]))]
        cases += [([*replay, *words], *named) for words, *named in (
            ([*preview, "--report", file], "--preview", "--report"),
            ([*preview, "--live"], "--preview", "--live"),
            (["--preview-limit", "5"], "--preview-limit", "--preview"),
            (["--layer", "l2"], "--layer", "--rate"),
            (["--loops", "-1"], "-1: must be a whole number from 1"),
            (["--loops", "0"], "0: must be a whole number from 1"))]
        cases += [([lab.GENERATOR, command, *words], words[0]) for command in ("ndr", "pdr")
                  for words in (["--check"], ["--duration", "1s"])]
        for words, *named in cases:
            with self.subTest(words[1:]):
                said = self.refusal(words, USAGE)
                for text in named:
                    self.assertIn(text, said)
                self.assertFalse(file.exists())


if __name__ == "__main__":
    if os.getuid() != 0:
        print("skipped: not root")
        sys.exit(lab.SKIPPED)
    unittest.main(verbosity=2)
