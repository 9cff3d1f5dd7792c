"""Senders of Linux and of the generator through the same impairments: what both do with their
congestion window. The test of the profile and compare_tcp_traces.py use it.

A scenario is an experiment file that is made here: one worker sends bursts to one server over a
connection that it keeps. The switch loses and marks the data packets with the given numbers.
outrider-lab runs it in virtual time; the same switch then runs between two network namespaces,
with a socket as sender. Figures of windows are in segments, times in seconds since the first
byte was written.
"""
import csv
import dataclasses
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import time
import tomllib

import lab

ROOT = lab.HERE.parent.parent
# Payload of a full segment: 1448 with timestamps, less the option by which a burst is identified.
MSS = 1436
MAX_SEGMENT = 1448  # told to the Linux peer, which takes the timestamps from it
RTT_S = 0.04
PERIOD_S = 0.001  # between two samples
INFINITE = 100_000  # segments; a slow start threshold above it was never set
CONTROLLERS = ("reno", "cubic")
QUIET_S = 0.1  # before the first byte


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    segments: int  # of each burst
    bursts: int = 1
    period_s: float = 2.0  # from the begin of a burst to that of the next
    megabits: int = 100
    lose: tuple = ()
    mark: tuple = ()
    shown_s: float = 2.0  # in the picture

    def seconds(self):
        return self.bursts * self.period_s


# The first loss ends slow start at a window far below the bandwidth-delay product, 325 segments.
# So no queue builds up, and nothing but the impairments and the stack decides about the window.
FIRST = 100
SCENARIOS = (
    Scenario("one-loss", "one loss in steady state", 3000, period_s=2.5, lose=(FIRST, 1500)),
    Scenario("many-losses", "six losses in one window", 3000, period_s=2.5,
             lose=(FIRST, 1500, 1502, 1503, 1510, 1511, 1530)),
    Scenario("tail", "lost tails: one, three, one and its probe", 200,
             bursts=4, period_s=1.5, shown_s=6,
             # A burst has 200 numbers, and one for each segment that is sent again.
             lose=(FIRST, 401, 600, 601, 602, 805, 806)),
    Scenario("marks", "three marks, then one in each of five round trips", 2500, period_s=4.5,
             shown_s=4.5, mark=(FIRST, 700, 1300, 1700, 1760, 1820, 1880, 1940)),
    Scenario("idle-short", "idle for about 0.5 s, three times", 200, bursts=4, period_s=0.75,
             shown_s=3, lose=(FIRST,)),
    Scenario("idle-long", "idle for about 2 s", 200, bursts=2, period_s=2.25, shown_s=3,
             lose=(FIRST,)),
    Scenario("slow-start", "slow start into a queue, without loss", 1500, megabits=20, shown_s=1),
)


@dataclasses.dataclass(frozen=True)
class Sample:
    at_s: float
    cwnd: float
    ssthresh: float
    retransmitted: int
    timeouts: int
    acked: int


def scenario(name):
    return next(s for s in SCENARIOS if s.name == name)


# -- the generator, in virtual time

def experiment(s, stack, controllers):
    numbers = "".join(f"{key} = {list(values)}\n" for key, values in
                      (("lose_packets", s.lose), ("mark_packets", s.mark)) if values)
    first, *others = controllers
    sweep = f"""
[[sweep]]
transport.controller = {json.dumps(others)}
arms = ["off"]
""" if others else ""
    hosts = "".join(f"""
[[hosts]]
name = "{name}"
count = "{name}s"
switch = "{leaf}"
rate = "1gbit"
delay = "5ms"
""" for name, leaf in (("worker", "leaf_a"), ("server", "leaf_b")))
    return f"""
name = "{s.name}"
question = "How does the window answer: {s.title}?"
[network]
measured = "leaf_a.to_leaf_b"
rtt = "40ms"
[[switch]]
name = "leaf_a"
[[switch]]
name = "leaf_b"
[[link]]
a = "leaf_a"
b = "leaf_b"
rate = "{s.megabits}mbit"
delay = "10ms"
{numbers}{hosts}
[parameters]
switch.queue.limit_packets = 4000
switch.marker.kind = "tail_drop"
transport.controller = "{first}"
transport.stack = "{stack}"
transport.ecn = true
transport.receive_buffer_bytes = 16000000
transport.connections = "idle_restart"
job.burst_bytes = {s.segments * MSS}
job.pull = false
job.announce.lead_source = "none"
warm_up_seconds = {QUIET_S}
job.period = "{round(1e6 * s.period_s)}us"
job.iterations = {s.bursts}
background.flows_per_pair = 0
trafficgen.send_jitter = 0.0
trafficgen.connection_sample_period = "{round(1e6 * PERIOD_S)}us"
[[arm]]
label = "off"
{sweep}"""


def run_virtual(s, directory, stack="linux", controllers=CONTROLLERS, program=None):
    """@return {controller: [Sample]}, and the directory of the results"""
    program = program or os.environ.get("OUTRIDER_LAB_PROGRAM", "build/release/bin/outrider-lab")
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / f"{s.name}-{stack}.toml"
    file.write_text(experiment(s, stack, controllers))
    out = directory / f"{s.name}-{stack}"
    done = subprocess.run([program, "run", file, "--out", out, "--repeat", "1"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{program} run {file}: {done.stderr}{done.stdout}")
    summary = json.loads((out / "summary.json").read_text())
    names = [c["settings"]["transport.controller"] for c in summary["cases"]]
    samples = {name: [] for name in names}
    with open(out / "connections.csv", newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["run"] != "measured":
                continue
            mss = int(row["mss_bytes"])
            samples[names[int(row["case_index"])]].append(Sample(
                int(row["at_ns"]) / 1e9 - QUIET_S, int(row["cwnd_bytes"]) / mss,
                int(row["ssthresh_bytes"]) / mss, int(row["retransmitted_segments"]),
                int(row["rtos_data"]), int(row["acked_bytes"]) // mss))
    return samples, out


# -- Linux

PORT = 7001
BUFFER = 32_000_000
INFO_BYTES = 256


class LinuxHosts:
    """Two namespaces with a switch between them, for any number of runs."""

    def __init__(self, test):
        self.test = test
        self.near = test.namespace("switch")
        self.sender, self.receiver = (test.namespace(name) for name in ("sender", "receiver"))
        self.addresses = []

    def cable(self, addresses):
        for i, (host, address) in enumerate(zip((self.sender, self.receiver), addresses)):
            self.test.cable(self.near, f"cable{i}", host, "eth0", address + "/32")
            lab.run("ip", "-n", host, "route", "add", "0.0.0.0/0", "dev", "eth0")
            self.test.sysctl(host, "net.ipv4.tcp_ecn=1", "net.ipv4.tcp_no_metrics_save=1",
                             f"net.ipv4.tcp_wmem=4096 {BUFFER} {2 * BUFFER}",
                             f"net.ipv4.tcp_rmem=4096 {BUFFER} {2 * BUFFER}")
        self.addresses = addresses

    def run(self, s, controller, results):
        """Sends through the switches of the virtual run whose directory is `results`.
        @return [Sample], and the switch's report"""
        config = next((results / "config").iterdir())
        text = (config / "switch.toml").read_text()
        hosts = tomllib.loads((config / "trafficgen.toml").read_text())["host"]
        if not self.addresses:
            self.cable([h["address"] for h in hosts])
        for i, device in enumerate(tomllib.loads(text)["device"]):
            text = text.replace(device["device"], f"net_af_packet{i},iface=cable{i}")
        work = {"controller": controller, "bytes": s.segments * MSS, "bursts": s.bursts,
                "period_s": s.period_s, "address": self.addresses[1]}
        switch = self.test.switch(self.near, text)
        switch.says("forwarding")
        receiver = self.start(self.receiver, "receiver", work)
        receiver.says("ready")
        sender = self.start(self.sender, "sender", work)
        if sender.wait(lab.PATIENCE + s.seconds()) != 0:
            raise AssertionError(sender.output())
        receiver.kill()
        switch.send(lab.signal.SIGINT)
        if switch.wait() != 0:
            raise AssertionError(switch.output())
        samples = [Sample(*row) for row in sender.result()["samples"]]
        return samples, self.test.report("switch")

    def start(self, namespace, role, work):
        return lab.Process(self.test, namespace,
                           [sys.executable, __file__, role, json.dumps(work)], role)


def kernel():
    return os.uname().release


def info(connection):
    """The state of a connection: (cwnd, ssthresh, retransmitted, time-outs, acked segments)."""
    data = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
    data = data.ljust(INFO_BYTES, b"\0")
    words = struct.unpack_from("=24I", data, 8)
    acked_bytes, = struct.unpack_from("=Q", data, 120)
    timeouts, = struct.unpack_from("=H", data, 240)  # tcpi_total_rto, since Linux 6.7
    return words[18], words[17], words[23], timeouts, acked_bytes // MSS


def send(work):
    s = make_socket(work)
    s.connect((work["address"], PORT))
    time.sleep(QUIET_S)
    block = bytes(work["bytes"])
    began = time.monotonic()
    samples = []
    for i in range(work["bursts"]):
        s.sendall(block)
        while (now := time.monotonic() - began) < (i + 1) * work["period_s"]:
            samples.append((now, *info(s)))
            time.sleep(PERIOD_S / 2)
    print(json.dumps({"samples": samples}), flush=True)


def receive(work):
    listener = make_socket(work)
    listener.bind((work["address"], PORT))
    listener.listen()
    print("ready", flush=True)
    connection, _ = listener.accept()
    while connection.recv(1 << 20):
        pass


def make_socket(work):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, MAX_SEGMENT)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, work["controller"].encode())
    return s


# -- what both did

@dataclasses.dataclass(frozen=True)
class Figure:
    name: str
    ours: float
    theirs: float
    tolerance: float

    def agrees(self):
        return abs(self.ours - self.theirs) <= self.tolerance


def thresholds(samples):
    """The slow start thresholds that were set, one after the other: [(instant, segments)].
    Linux has whole segments, so another fraction of the generator's is no other threshold."""
    found = []
    for sample in samples:
        if sample.ssthresh < INFINITE and (not found or
                                           int(sample.ssthresh) != int(found[-1][1])):
            found.append((sample.at_s, sample.ssthresh))
    return found


def cwnd_at(samples, at_s):
    return [s for s in samples if s.at_s <= at_s][-1].cwnd


# Two segments: an ACK of two segments may fall on either side of an event, or the least that Linux
# loses as it counts whole segments, one at each of two roundings.
WINDOW = 2
# A window is read some round trips after a reduction, when its steps are over. Until then it grows
# by up to one segment a round trip, and the reading may fall on either side of that.
SETTLED_RTTS = 3
GROWTH = 1
BEFORE_ACKS_S = RTT_S / 4  # after the begin of a burst, while nothing is acknowledged


def settled(samples, events):
    """The windows that follow the thresholds, where no other one comes before they have settled."""
    ends = [at for at, _ in events[1:]] + [samples[-1].at_s]
    return [cwnd_at(samples, at + SETTLED_RTTS * RTT_S)
            if at + SETTLED_RTTS * RTT_S < end else None for (at, _), end in zip(events, ends)]


def figures(s, ours, theirs):
    """What is compared of a scenario. Thresholds that only one has stand beside 0."""
    def get(values, i):
        return values[i] if i < len(values) and values[i] is not None else 0

    found = []
    events = [thresholds(samples) for samples in (ours, theirs)]
    windows = [settled(samples, e) for samples, e in zip((ours, theirs), events)]
    for i in range(max(map(len, events))):
        values = [get([v for _, v in e], i) for e in events]
        found.append(Figure(f"ssthresh {i + 1}", *values, WINDOW))
        values = [get(w, i) for w in windows]
        if all(values):
            found.append(Figure(f"cwnd after {i + 1}", *values, WINDOW + GROWTH))
    for i in range(1, s.bursts):
        at = i * s.period_s + BEFORE_ACKS_S
        found.append(Figure(f"cwnd of burst {i + 1}", cwnd_at(ours, at), cwnd_at(theirs, at),
                            WINDOW))
    end = s.seconds() - BEFORE_ACKS_S
    found.append(Figure("cwnd at the end", cwnd_at(ours, end), cwnd_at(theirs, end),
                        WINDOW + GROWTH))
    found.append(Figure("sent again", ours[-1].retransmitted, theirs[-1].retransmitted, 0))
    found.append(Figure("time-outs", ours[-1].timeouts, theirs[-1].timeouts, 0))
    return found


if __name__ == "__main__":
    {"sender": send, "receiver": receive}[sys.argv[1]](json.loads(sys.argv[2]))
