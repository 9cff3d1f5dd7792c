"""A host that receives bursts and background through a queue that is not ours."""
import pathlib
import signal
import sys
import time

import agents
import lab
from two_hosts import PREFIX, SwitchTest, devices, ports

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "hosts"))
from port_capture import PortCapture  # pylint: disable=wrong-import-position

FLOWS = str(lab.HERE / "hold_flows.py")
HOSTS = ["worker", "server", "other"]
SERVER = PREFIX + "2"
JOB_PORT, BACKGROUND_PORT = 5000, 6001  # of the switch's classes
MEGABITS, LIMIT = 100, 100
DELAY_MS = 1  # a quarter of the base round trip
RTT = "--rtt", f"{4 * DELAY_MS}ms"
BURST_BYTES, PERIOD_S, LEAD_S = 500_000, 0.5, 0.04
WARM_UP_S = 1

# A queue that is not ours: no signal is read, and nothing is regulated.
CONFIG = devices(HOSTS) + """
[[switch]]
name = "s"
[switch.l2]
learning = true
[switch.queue]
limit_packets = {limit}
[switch.marker]
{marker}
""" + ports(HOSTS, drain_rate='"{megabits}mbit"', delay='"{delay}us"')


class HoldTest(agents.AgentTest):
    marker = 'kind = "tail_drop"'
    congestion = "cubic"
    megabits, limit, burst_bytes = MEGABITS, LIMIT, BURST_BYTES

    def setUp(self):
        SwitchTest.setUp(self)
        for name in HOSTS:
            self.lab.sysctl(self.host(name), "net.ipv4.tcp_ecn=0")

    def start_switch(self):
        capture = self.lab.directory / "server.pcapng"
        config = self.lab.write("switch.toml", CONFIG.format(
            limit=self.limit, marker=self.marker, megabits=self.megabits, delay=DELAY_MS * 1000))
        self.switch = lab.Process(
            self.lab, self.near,
            [lab.SWITCH, "--config", config, "--report", self.lab.directory / "switch.json",
             "--lcore", self.lab.cpus[0], "--capture", f"s.server={capture}", "--capture-packets",
             10_000_000, "--capture-bytes", "2GB"], "switch")
        self.switch.says("forwarding on CPU")
        self.assertEqual(self.ping("worker", SERVER, lab.PATIENCE), 64)
        self.assertEqual(self.ping("other", SERVER, lab.PATIENCE), 64)
        return capture

    def flows(self, host, *words, name=None):
        return lab.Process(self.lab, self.hosts[host], [sys.executable, FLOWS, *words],
                           name or words[0])

    def hold(self, *words, name="hold"):
        agent = lab.Process(self.lab, self.hosts["server"],
                            [agents.AGENT, "hold", "--interface", "eth0", "--rate",
                             f"{self.megabits}mbit", "--report",
                             self.lab.directory / f"{name}.json", *words], name)
        agent.says("holding at eth0")
        return agent

    def receive(self):
        server = self.flows("server", "server", SERVER, self.burst_bytes, JOB_PORT, BACKGROUND_PORT)
        server.says("ready")
        return server

    def end(self, process):
        process.send(signal.SIGINT)
        self.ended(process, 0)

    def run_bursts(self, count, hold=None, options=(), background=3, lead=LEAD_S):
        """@param hold  words of the agent; None: there is none
        @return what became of the bursts and of the background"""
        capture = self.start_switch()
        agent = None if hold is None else self.hold(*hold)
        server = self.receive()
        seconds = WARM_UP_S + count * PERIOD_S + 1
        if background:
            other = self.flows("other", "background", SERVER, BACKGROUND_PORT, background, seconds,
                               self.congestion)
        time.sleep(WARM_UP_S)
        worker = self.flows("worker", "bursts", SERVER, JOB_PORT, count, self.burst_bytes, PERIOD_S,
                            lead, *options)
        self.ended(worker, 0)
        if background:
            self.ended(other, 0)
        self.end(server)
        if agent:
            self.end(agent)
        self.stop()
        due, done = worker.result()["due"], server.result()["bursts"]
        port = self.queues["server"]
        found = PortCapture(capture, self.burst_bytes, JOB_PORT, 5900)
        dropped = {name: sum(reasons.values()) for name, reasons in port["drops"].items()}
        result = {
            "completion_ms": [1000 * (d - b) for b, d in zip(due, done)],
            "found": [b.queue for bursts in found.bursts.values() for b in bursts][:count],
            "background_mbit": 8e-6 * server.result()["received"][str(BACKGROUND_PORT)] / seconds,
            "dropped": (dropped["background"], dropped["ddl"]),
            "late": worker.result()["late"],
        }
        if agent:
            result["report"] = self.lab.report("hold")
        return result

    def stream(self, *hold, seconds=3.0, flows=2):
        """Background that goes on for so long at least, and until ended_well.
        @return agent, server, background"""
        self.start_switch()
        agent = self.hold(*hold)
        server = self.receive()
        other = self.flows("other", "background", SERVER, BACKGROUND_PORT, flows, seconds, "cubic",
                           "until-told")
        time.sleep(0.5)
        return agent, server, other

    def starts(self, count, period, *options, name="bursts", lead=0.04):
        return self.flows("worker", "bursts", SERVER, JOB_PORT, count, self.burst_bytes, period,
                          lead, *options, name=name)

    def ended_well(self, server, other, megabits):
        """Ends background: all that it sent was received, and at that rate."""
        self.end(other)
        self.end(server)
        got, result = server.result()["received"][str(BACKGROUND_PORT)], other.result()
        self.assertEqual(got, sum(result["sent"]))
        self.assertGreater(8e-6 * got / result["seconds"], megabits)
