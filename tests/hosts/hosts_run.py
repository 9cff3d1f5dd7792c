"""One run of the job between Linux hosts, behind one outrider-switch."""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
LINUX = HERE.parent / "linux"
sys.path.insert(0, str(LINUX))

import agents  # pylint: disable=wrong-import-position
import lab  # pylint: disable=wrong-import-position
import training_job  # pylint: disable=wrong-import-position
from port_capture import PortCapture  # pylint: disable=wrong-import-position
from two_hosts import MARKING_SWITCH, devices, ports  # pylint: disable=wrong-import-position

AGENT = os.environ.get("OUTRIDER_HOSTAGENT_PROGRAM", "build/release/bin/outrider-hostagent")
JOB_PORT, BACKGROUND_PORT, SIGNAL_PORT = 5000, 7001, 5900
DCTCP = "outrider_dctcp"
PREFIX = "10.76.0."
SERVER = PREFIX + "1"
IDLE_GAP_MS = 230  # above Linux's shortest time-out, below computing
PATIENCE_S = 60  # of a job
WARM_UP_S = 1.5  # of the background, before the job begins

SWITCH = MARKING_SWITCH + """{more}
[switch.signals]
accept_udp = true
accept_from = ["{prefix}0/24"]
[switch.regulation]
mode = "{mode}"
recovery = "burst_end"
spare_ddl = true
idle_end = "20ms"
expiry = "300ms"
budget_share = 1
"""


# What regulation is set against: the marker, and further keys of [switch.marker]. Delays are in
# parts of the round trip, as in conf/rivals.toml.
MARKERS = {
    "static_pair": ("step", "background_threshold_packets = {asked}"),
    "red": ("red", "red = {{ kmin_packets = {asked}.0, kmax_packets = {threshold}.0 }}"),
    "pie": ("pie", 'pie = {{ target = "{sixth}us" }}'),
    "codel": ("codel", 'codel = {{ target = "{sixth}us", interval = "{thrice}us" }}'),
}
# Two queues, by the job's port: the scheduler, and the keys of the first and the second. With
# "_split" they have the room of one queue between them.
TWO_QUEUES = {
    "dwrr": ("dwrr", "weight = 9.0", "weight = 1.0"),
    "strict_floor": ("strict_floor", "", 'floor_rate = "{floor}bit"'),
}
RIVALS = [*MARKERS, *(name + room for name in TWO_QUEUES for room in ("", "_split"))]
FLOOR = 20  # the background's: a twentieth of the port
RATE_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9}
DURATION_UNITS_US = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def round_trip_us(delay):
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", delay).groups()
    return 4 * float(number) * DURATION_UNITS_US[unit]


def bits_per_second(rate):
    number, unit = re.fullmatch(r"([\d.]+)([kmg])bit", rate).groups()
    return float(number) * RATE_UNITS[unit]


def one_queue(setting, arm):
    """@return marker and threshold of every queue, and further keys of the marker"""
    marker, more = MARKERS.get(arm.rival, ("step", ""))
    rtt = round_trip_us(setting.delay)
    more = more.format(asked=setting.asked, threshold=setting.threshold, sixth=round(rtt * 0.17),
                       thrice=round(rtt * 3))
    return marker, setting.threshold, more


def two_queues(setting, arm):
    """@return keys of a port with a queue for the job, or of one queue"""
    name = arm.rival.removesuffix("_split")
    if name not in TWO_QUEUES:
        return {}
    scheduler, *own = TWO_QUEUES[name]
    half = ""
    if name != arm.rival:
        half = (f"limit_packets = {setting.limit // 2}, "
                f"marker = {{ threshold_packets = {max(1, setting.threshold // 2)} }}")
    floor = round(bits_per_second(setting.rate) / FLOOR)
    queues = (", ".join(filter(None, (half, keys.format(floor=floor)))) for keys in own)
    return {"scheduler": f'"{scheduler}"',
            "queues": "[" + ", ".join(f"{{ {keys} }}" for keys in queues) + "]"}


@dataclasses.dataclass
class Setting:
    """What all runs of a demonstration share."""
    profile: pathlib.Path
    scale: int = 4
    workers: int = 2
    compute_s: float = 0.3
    iterations: int = 15
    warm_up: int = 8  # iterations before the period is known, which do not count
    rate: str = "100mbit"
    delay: str = "875us"  # the base round trip is four times this
    limit: int = 100
    threshold: int = 40
    lead: str = "80ms"
    asked: int = 5  # packets, by START
    flows: int = 3  # of background
    control: str = "cubic"
    ecn: int = 1
    device: str = "af_packet"

    def burst_bytes(self):
        return sum(training_job.tensor_bytes(self))


@dataclasses.dataclass
class Arm:
    name: str
    mode: str = "off"
    rival: str = ""  # of RIVALS
    background: bool = True
    record: bool = False


def why_not():
    """What this machine lacks, or None."""
    if (reason := lab.why_not()) is not None:
        return reason
    if shutil.which("iperf3") is None:
        return "iperf3 is not installed (tools/setup installs it)"
    return agents.why_no_bpf()


class HostsRun:
    """Hosts, switch, agents and background of one arm; close() ends all."""

    def __init__(self, setting, arm):
        self.setting, self.arm = setting, arm
        self.lab = lab.Lab()
        self.near = self.lab.namespace("switch")
        self.names = ["server", *(f"worker{i}" for i in range(setting.workers)), "background"]
        self.hosts, self.agents = {"switch": self.near}, []
        if setting.control == DCTCP:
            self.start_agent("switch", ["dctcp"])  # for all namespaces
        for i, name in enumerate(self.names):
            self.hosts[name] = self.host(i, name)

    def close(self):
        self.lab.close()

    def host(self, number, name):
        host = self.lab.linux_host(self.near, name, f"{PREFIX}{number + 1}/24", name)
        self.lab.sysctl(host, f"net.ipv4.tcp_ecn={self.setting.ecn}",
                        "net.ipv4.tcp_no_metrics_save=1")
        lab.run("ip", "-n", host, "route", "replace", PREFIX + "0/24", "dev", "eth0", "congctl",
                self.setting.control)
        return host

    def process(self, host, name, *words):
        pinned = ["taskset", "-c", self.lab.cpus[1], *words]  # the switch polls on the other
        return lab.Process(self.lab, self.hosts[host], pinned, name)

    def start_switch(self):
        s = self.setting
        marker, threshold, more = one_queue(s, self.arm)
        queues = two_queues(s, self.arm)
        classes = "[switch.classes]\nbackground_queue = 1\n" if queues else ""
        text = (devices(self.names).replace("af_packet", s.device) +
                SWITCH.format(prefix=PREFIX, mode=self.arm.mode, marker=marker, limit=s.limit,
                              threshold=threshold, more=more) + classes +
                ports(self.names, drain_rate=f'"{s.rate}"', delay=f'"{s.delay}"', **queues))
        self.capture = self.lab.directory / "server.pcapng"
        self.switch = lab.Process(
            self.lab, self.near,
            [lab.SWITCH, "--config", self.lab.write("switch.toml", text), "--report",
             self.lab.directory / "switch.json", "--lcore", self.lab.cpus[0], "--capture",
             f"s.server={self.capture}", "--capture-packets", 10_000_000, "--capture-bytes",
             "2GB"], "switch")
        self.switch.says("forwarding on CPU")
        for name in self.names[1:]:
            code = (f"import sys; sys.path.insert(0, {str(LINUX)!r}); import lab; "
                    f"sys.exit(lab.ping_for({lab.PATIENCE}, {SERVER!r}) is None)")
            self.lab.run_in(self.hosts[name], sys.executable, "-c", code)

    def start_agents(self):
        """Of the workers to announce, or to record; of the server to answer."""
        server = f"{SERVER}:{JOB_PORT}"
        for i in range(self.setting.workers):
            words = ["--interface", "eth0", "--server", server, "--idle-gap", f"{IDLE_GAP_MS}ms"]
            if self.arm.record:
                words = ["record", *words, "--out", self.lab.directory / f"recording{i}"]
            else:
                words = ["announce", *words, "--job", 1, "--worker", i, "--lead",
                         self.setting.lead, "--threshold", self.setting.asked]
            self.start_agent(f"worker{i}", words)
        if not self.arm.record:
            self.start_agent("server", ["answer", "--interface", "eth0"])

    def start_agent(self, host, words):
        report = self.lab.directory / f"agent-{host}.json"
        agent = self.process(host, f"agent-{host}", AGENT, *words, "--report", report)
        agent.says("registered" if words == ["dctcp"] else "eth0")
        self.agents.append((host, agent, report))

    def start_background(self):
        sink = self.process("server", "sink", "iperf3", "--server", "--one-off", "--forceflush",
                            "--port", BACKGROUND_PORT)
        sink.says("listening")
        self.background = self.process("background", "source", "iperf3", "--client", SERVER,
                                       "--port", BACKGROUND_PORT, "--time", 600, "--parallel",
                                       self.setting.flows, "--congestion", self.setting.control)
        time.sleep(WARM_UP_S)
        if self.background.process.poll() is not None:
            raise AssertionError(f"no background:\n{self.background.output()}")

    def run_job(self):
        """@return the log of each worker"""
        s = self.setting
        job = [sys.executable, HERE / "training_job.py"]
        shape = [SERVER, JOB_PORT, "--profile", s.profile, "--scale", s.scale, "--iterations",
                 s.iterations]
        server = self.process("server", "job-server", *job, "server", *shape, "--workers",
                              s.workers)
        server.says("ready")
        workers = [self.process(f"worker{i}", f"job-worker{i}", *job, "worker", *shape, "--rank", i,
                                "--compute", s.compute_s) for i in range(s.workers)]
        for process in (*workers, server):
            if process.wait(PATIENCE_S) != 0:
                raise AssertionError(f"the job failed:\n{process.output()}")
        return [w.output().splitlines() for w in workers]

    def stop(self, process, number=signal.SIGINT):
        process.send(number)
        if process.wait() != 0:
            raise AssertionError(f"ended with {process.process.returncode}:\n{process.output()}")

    def run(self):
        """@return what happened, for figures.py"""
        self.start_switch()
        self.start_agents()
        if self.arm.background:
            self.start_background()
        logs = self.run_job()
        if self.arm.background:
            self.background.kill()  # it would go on for long
        for _, agent, _ in self.agents:
            self.stop(agent)
        self.stop(self.switch)
        report = self.lab.report("switch")
        if not report["ledger_balanced"]:
            raise AssertionError("the switch cannot account for every packet")
        return Outcome(
            arm=self.arm, logs=logs,
            capture=PortCapture(self.capture, self.setting.burst_bytes(), JOB_PORT, SIGNAL_PORT),
            queue=next(q for q in report["queues"] if q["port_name"] == "server"),
            agents={host: json.loads(path.read_text()) for host, _, path in self.agents},
            longest_gap_ns=report["longest_poll_gap_ns"])


@dataclasses.dataclass
class Outcome:
    """Of one run, as programs tell it."""
    arm: Arm
    logs: list  # [worker] lines of the job's log
    capture: PortCapture  # of the port to the server
    queue: dict  # the switch's report on it
    agents: dict  # reports, by host
    longest_gap_ns: int  # for which the switch did not poll
