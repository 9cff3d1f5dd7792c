#!/usr/bin/env python3
"""A switch and a generator on two lcores, built with ThreadSanitizer, report no data race.

Packets pass from one lcore of the switch to the other, both ports are captured, readers scrape
all the while, and the configuration is read again and again. The generator's lcores have a pair
of hosts each, share its buffers, and are watched for --live, --stall and Prometheus. Sanitized
programs are slow, and the lcores may share two CPUs with anything else: the rates are low, and the
test waits for packets, never for a time.
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

PROGRAMS = pathlib.Path(os.environ.get("OUTRIDER_PROGRAMS", "build/tsan/bin"))
RACES = pathlib.Path(__file__).resolve().parent / "races.supp"
TSAN = f"history_size=4:exitcode=66:print_suppressions=0:suppressions={RACES}"
PATIENCE = 120  # seconds; of failing tests: a passing one never waits so long
RELOADS = 10
TWO_LCORES = f"--eal=--lcores=(0-1)@({','.join(map(str, sorted(os.sched_getaffinity(0))))})"
PACKETS = 100  # that move between two reloads
MOVED = re.compile(r"^outrider_queue_packets_total\{[^}]*\} (\d+)", re.MULTILINE)

SWITCH = """
more_lcores = [0]

[telemetry]
prometheus = "127.0.0.1:{port}"

[[device]]
name = "left"
device = "net_vhost0,iface={directory}/left,client=1"

[[device]]
name = "right"
device = "net_vhost1,iface={directory}/right,client=1"

[[switch]]
name = "s"

[switch.signals]
accept_tos = true
accept_from = ["10.0.1.0/24"]

[switch.regulation]
mode = "mark"
budget_share = {share}

[[switch.port]]
name = "left"
device = "left"
drain_rate = "20mbit"

[[switch.port]]
name = "right"
device = "right"
drain_rate = "5mbit"

[[switch.route]]
prefix = "10.0.1.0/24"
port = "left"

[[switch.route]]
prefix = "10.0.2.0/24"
port = "right"
"""

GENERATOR = """
[[device]]
name = "left"
device = "net_virtio_user0,path={directory}/left,server=1"

[[device]]
name = "right"
device = "net_virtio_user1,path={directory}/right,server=1"

[[host]]
name = "bulk"
address = "10.0.1.20"
device = "left"
rate = "20mbit"

[[host]]
name = "worker"
address = "10.0.1.10"
device = "left"
rate = "20mbit"

[[host]]
name = "sink"
address = "10.0.2.20"
device = "right"
rate = "20mbit"

[[host]]
name = "server"
address = "10.0.2.10"
device = "right"
rate = "20mbit"

[[transport]]
name = "dctcp"
controller = "dctcp"

[[job]]
name = "train"
workers = ["worker"]
servers = ["server"]
transport = "dctcp"
burst_bytes = "20kB"
iterations = 1000000
schedule = "fixed"
first_due = "100ms"
period = "200ms"

[job.announce]
lead_source = "overlap"
lead = "10ms"

[[long_flows]]
name = "background"
from = ["bulk"]
to = ["sink"]
flows_per_pair = 2
transport = "dctcp"
"""

LCORES = """
more_lcores = [0]

[telemetry]
prometheus = "127.0.0.1:{port}"

[[transport]]
name = "dctcp"
controller = "dctcp"
"""

PAIR = """
[[device]]
name = "loop{n}"
device = "net_ring{n}"

[[host]]
name = "worker{n}"
address = "10.0.{n}.1"
device = "loop{n}"
rate = "20mbit"

[[host]]
name = "server{n}"
address = "10.0.{n}.2"
device = "loop{n}"
rate = "20mbit"

[[job]]
name = "train{n}"
workers = ["worker{n}"]
servers = ["server{n}"]
transport = "dctcp"
tcp_port = 500{n}
burst_bytes = "20kB"
compute = "5ms"
iterations = {iterations}

[[long_flows]]
name = "background{n}"
from = ["worker{n}"]
to = ["server{n}"]
transport = "dctcp"
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Programs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="outrider-threads-")
        self.addCleanup(scratch.cleanup)
        self.directory = pathlib.Path(scratch.name)
        self.port = free_port()
        self.write("switch.toml", SWITCH, share=0.5)
        self.write("trafficgen.toml", GENERATOR)
        self.processes = []
        self.scraping = threading.Event()
        self.scraped = {"metrics": 0, "telemetry": 0}

    def write(self, name, text, **more):
        (self.directory / name).write_text(
            text.format(directory=self.directory, port=self.port, **more))

    def start(self, program, *more):
        name = program.removeprefix("outrider-")
        log = open(self.directory / f"{name}.log", "wb")  # pylint: disable=consider-using-with
        self.addCleanup(log.close)
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [PROGRAMS / program, "--config", self.directory / f"{name}.toml", "--live",
             "--report", self.directory / f"{name}.json", *more],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            env=dict(os.environ, TSAN_OPTIONS=TSAN))
        self.processes.append(process)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def log(self, name):
        return (self.directory / f"{name}.log").read_text(errors="replace")

    def wait_until(self, what, holds):
        end = time.monotonic() + PATIENCE
        while not holds():
            gone = [p.args[0].name for p in self.processes if p.poll() is not None]
            if (gone and not holds()) or time.monotonic() > end:
                self.fail(f"not in {PATIENCE} s: {what}; ended: {gone}\n" +
                          self.log("switch")[:20000] + self.log("trafficgen")[:20000])
            time.sleep(0.05)

    def metrics(self):
        """@return what the program with an endpoint tells; nothing if it does not answer yet"""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as r:
                return r.read().decode()
        except OSError:
            return ""

    def moved(self):
        """@return packets that have left the switch's queues; 0 if it does not answer yet"""
        return sum(map(int, MOVED.findall(self.metrics())))

    def wait_for_packets(self):
        aim = self.moved() + PACKETS
        self.wait_until(f"{PACKETS} packets", lambda: self.moved() >= aim)

    def ask_dpdk(self, path):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.connect(path)
            s.recv(16384)
            for command in ("switch", "port,right", "queue,right,0", "drops", "devices"):
                s.send(f"/outrider/{command}".encode())
                json.loads(s.recv(65536))

    def scrape(self, path):
        while not self.scraping.wait(0.02):
            self.scraped["metrics"] += self.moved() > 0
            try:
                self.ask_dpdk(path)
                self.scraped["telemetry"] += 1
            except OSError:
                pass  # it ends

    def ended(self, process, name):
        process.send_signal(signal.SIGINT)
        status = process.wait(PATIENCE)
        said = self.log(name)
        if "ThreadSanitizer" in said:
            self.fail(said[:40000])
        self.assertIn(status, (0, 130), said)
        return json.loads((self.directory / f"{name}.json").read_text())

    def test_generator(self):
        """One lcore finishes long before the other, and both end together. Both are scraped."""
        def ended():
            self.scraped["metrics"] += "outrider_job_bursts_total" in self.metrics()
            return generator.poll() is not None

        pairs = "".join(PAIR.format(n=n, iterations=20 * (1 + n)) for n in range(2))
        self.write("trafficgen.toml", LCORES + pairs)
        generator = self.start("outrider-trafficgen", TWO_LCORES, "--stall", "60")
        self.wait_until("the end of the jobs", ended)
        report = self.ended(generator, "trafficgen")
        self.assertTrue(report["ledger_balanced"])
        self.assertTrue(report["jobs_finished"])
        self.assertGreater(self.scraped["metrics"], 0)

    def test_generator_with_one_device(self):
        """Both lcores send and receive by the device that one of them owns."""
        pairs = "".join(PAIR.format(n=n, iterations=20) for n in range(2))
        own = '[[device]]\nname = "loop1"\ndevice = "net_ring1"\n'
        self.assertIn(own, pairs)
        pairs = pairs.replace(own, "").replace('device = "loop1"', 'device = "loop0"')
        self.write("trafficgen.toml", LCORES + pairs)
        generator = self.start("outrider-trafficgen", TWO_LCORES, "--stall", "60")
        self.wait_until("the end of the jobs", lambda: generator.poll() is not None)
        report = self.ended(generator, "trafficgen")
        self.assertTrue(report["jobs_finished"])
        self.assertEqual(report["drops"].get("unknown_host", 0), 0)

    def test_switch(self):
        generator = self.start("outrider-trafficgen")
        switch = self.start(
            "outrider-switch", TWO_LCORES,
            "--capture", f"s.left={self.directory}/left.pcapng",
            "--capture", f"s.right={self.directory}/right.pcapng")
        socket_line = re.compile(r"telemetry socket (\S+)")
        self.wait_until("telemetry socket", lambda: socket_line.search(self.log("switch")))
        reader = threading.Thread(
            target=self.scrape, args=[socket_line.search(self.log("switch"))[1]])
        reader.start()
        try:
            self.wait_for_packets()
            for n in range(RELOADS):
                self.write("switch.toml", SWITCH, share=0.3 + 0.05 * n)
                switch.send_signal(signal.SIGHUP)
                self.wait_for_packets()
        finally:
            self.scraping.set()
            reader.join()
        report = self.ended(switch, "switch")
        self.ended(generator, "trafficgen")
        self.assertTrue(report["ledger_balanced"])
        self.assertGreater(min(self.scraped.values()), 0)
        self.assertGreater(self.log("switch").count("reload"), 0)


if __name__ == "__main__":
    unittest.main()
