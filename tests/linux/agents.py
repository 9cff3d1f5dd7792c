"""outrider-hostagent on the hosts behind a switch, and a job that knows nothing of it."""
import os
import signal
import subprocess
import sys

import lab
from two_hosts import PREFIX, SwitchTest, devices, ports

AGENT = os.environ.get("OUTRIDER_HOSTAGENT_PROGRAM", "build/release/bin/outrider-hostagent")
JOB = str(lab.HERE / "ps_job.py")
HOSTS = ["worker", "server"]
SERVER, PORT = PREFIX + "2", 5000
# A busy machine stops a sender or its receiver for tens of milliseconds: the pause that ends
# a burst is longer than that, and computing longer still.
BYTES, COMPUTE_S, IDLE_S = 100_000, 0.4, 0.15


def config(worker=PREFIX + "1", **signals):
    """TOML of a switch between the hosts that takes such signals of the worker's address."""
    keys = "".join(f"{key} = {value}\n" for key, value in signals.items())
    return 'bin = "10ms"' + devices(HOSTS) + f"""
[[switch]]
name = "s"
[switch.l2]
learning = true
[switch.queue]
limit_packets = 200 # a burst of 69: nothing is lost, so nothing waits for a time-out
[switch.signals]
accept_from = ["{worker}/32"]
{keys}
[switch.regulation]
mode = "mark"
recovery = "burst_end"
idle_end = "20ms"
expiry = "1s"
budget_share = 1
""" + ports(HOSTS, drain_rate='"1gbit"')


class AgentTest(SwitchTest):
    def setUp(self):
        super().setUp()
        for name in HOSTS:
            self.host(name)

    def agent(self, host, *words, name=None):
        name = name or words[0]
        return lab.Process(self.lab, self.hosts[host],
                           [AGENT, *words, "--report", self.lab.directory / f"{name}.json"], name)

    def announce(self, *words, interface="eth0", name=None):
        agent = self.agent("worker", "announce", "--interface", interface, "--idle-gap",
                           f"{int(IDLE_S * 1000)}ms", *words, name=name)
        agent.says(f"watching {interface}")
        return agent

    def answer(self, *words, interface="eth0"):
        agent = self.agent("server", "answer", "--interface", interface, *words)
        agent.says(f"answering at {interface}")
        return agent

    def interrupt(self, *processes):
        for process in processes:
            process.send(signal.SIGINT)
            self.ended(process, 0)

    def filters(self, host):
        """What tc knows of eth0 of the host: hook and filters."""
        text = self.lab.run_in(self.hosts[host], "tc", "qdisc", "show", "dev", "eth0")
        for side in ("ingress", "egress"):
            text += self.lab.run_in(self.hosts[host], "tc", "filter", "show", "dev", "eth0", side)
        return [line for line in text.splitlines() if "clsact" in line or "bpf" in line]

    def job(self, iterations, address=SERVER, within=()):
        """Runs a job of one worker, which is started by the words `within`. @return its result"""
        server = lab.Process(self.lab, self.hosts["server"],
                             [sys.executable, JOB, "server", address, PORT, 1], "ps")
        server.says("ready")
        worker = lab.Process(self.lab, self.hosts["worker"],
                             [*within, sys.executable, JOB, "worker", address, PORT, iterations,
                              BYTES, COMPUTE_S], "job")
        self.ended(worker, 0)
        self.ended(server, 0)
        self.assertEqual(server.result()["iterations"], iterations)
        return worker.result()

    def damaged(self, host):
        """IP headers and TCP segments that the host found damaged, by /proc/net/snmp."""
        lines = self.lab.run_in(self.hosts[host], "cat", "/proc/net/snmp").splitlines()
        tables = {}
        for names, values in zip(lines[::2], lines[1::2]):
            tables[names.split(":")[0]] = dict(zip(names.split()[1:], values.split()[1:]))
        return int(tables["Ip"]["InHdrErrors"]), int(tables["Tcp"]["InErrs"])


def why_no_bpf():
    """What keeps BPF programs from being loaded here, or None."""
    done = subprocess.run([AGENT, "answer", "--interface", "no-such"], capture_output=True,
                          text=True, check=False)
    if done.returncode != 3:
        return done.stderr.strip()
    probe = lab.Lab()
    agent = lab.Process(probe, probe.namespace("bpf"), [AGENT, "answer", "--interface", "lo"],
                        "probe")
    try:
        agent.says("answering at lo")
    except AssertionError:
        return agent.output().strip()
    finally:
        probe.close()
    return None


def main():
    """Runs the tests of the calling file, or says why they cannot run here."""
    if lab.why_not() is None and (reason := why_no_bpf()) is not None:
        print(f"skipped: {reason}")
        sys.exit(lab.SKIPPED)
    lab.main()
