#!/usr/bin/env python3
"""DCTCP that outrider-hostagent brings: its queue, its echo of CE, and that it goes again."""
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import unittest

import lab
from two_hosts import MARKING_SWITCH, PREFIX, SwitchTest, devices, ports

AGENT = os.environ.get("OUTRIDER_HOSTAGENT_PROGRAM", "build/release/bin/outrider-hostagent")
ECHO = str(lab.HERE / "ecn_echo.py")
AVAILABLE = pathlib.Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
NAME = "outrider_dctcp"
HOSTS = ["left", "right"]
SERVER, PORT = PREFIX + "2", 7001
BYTES = 8_000_000
# Segments that find the receiver's socket in use wait in its backlog and are processed together.
IN_USE = "peek=2000000", "rcvbuf=8000000"
FLOWS, SECONDS = 4, 3
# Of the drain rate. A machine busy with something else stops the senders: they may try again.
BUSY, TRIES = 0.9, 3
THRESHOLD, LIMIT = 20, 600
MEGABITS = 50

# The base round trip is four times `delay`: 33 full frames at this rate.
CONFIG = 'bin = "10ms"' + devices(HOSTS) + MARKING_SWITCH + ports(HOSTS, drain_rate=f'"{MEGABITS}mbit"', delay='"2ms"', record="true")

CHOOSE = f"""
import socket
s = socket.socket()
try:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"{NAME}")
    print("chosen")
except OSError as error:
    print(error.strerror)
"""


def available():
    return AVAILABLE.read_text().split()


class Dctcp(SwitchTest):
    def setUp(self):
        super().setUp()
        for name in HOSTS:
            self.host(name)

    def agent(self, *words, name="dctcp"):
        report = self.lab.directory / f"{name}.json"
        return lab.Process(self.lab, self.hosts["left"],
                           [AGENT, "dctcp", "--report", report, *words], name)

    def registered(self, *words, name="dctcp"):
        agent = self.agent(*words, name=name)
        agent.says(f"registered {NAME}")
        return agent

    def interrupt(self, process):
        process.send(signal.SIGINT)
        self.ended(process, 0)

    def start_marker(self, marker, limit=LIMIT):
        self.start(CONFIG.format(marker=marker, threshold=THRESHOLD, limit=limit))
        self.assertEqual(self.ping("left", SERVER, lab.PATIENCE), 64)

    def peers(self, *receiver_options, receiver_cc=NAME, size=BYTES):
        """A transfer from left to right that has begun. @return sender, receiver"""
        receiver = self.lab.peer(self.hosts["right"], "listen", "receive", SERVER, PORT, size,
                                 "cc=" + receiver_cc, *receiver_options, name="receiver")
        receiver.says("ready")
        sender = self.lab.peer(self.hosts["left"], "connect", "send", SERVER, PORT, size,
                               "cc=" + NAME, "ss=1", name="sender")
        return sender, receiver

    def transferred(self, sender, receiver):
        """@return what `ss` of the sender said half-way, as words"""
        self.ended(sender, 0)
        self.ended(receiver, 0)
        self.assertEqual(receiver.result()["sha256"], receiver.result()["expected_sha256"])
        return sender.result()["ss"].split()

    def iperf3(self, controller):
        """Flows from left to right through a step marker. @return the port's queue"""
        self.start_marker("step")
        server = lab.Process(self.lab, self.hosts["right"],
                             ["iperf3", "--server", "--one-off", "--forceflush", "--port", PORT],
                             "server")
        server.says("listening")
        client = lab.Process(self.lab, self.hosts["left"],
                             ["iperf3", "--client", SERVER, "--port", PORT, "--time", SECONDS,
                              "--parallel", FLOWS, "--congestion", controller, "--json"], "client")
        self.ended(client, 0)
        self.ended(server, 0)
        self.stop()
        return self.queues["right"]

    @unittest.skipUnless(shutil.which("iperf3"), "no iperf3 (tools/setup installs it)")
    def test_the_queue_stands_at_the_threshold_and_the_link_is_busy(self):
        agent = self.registered()
        for _ in range(TRIES):
            queue = self.iperf3(NAME)
            rate, occupancy = steady(queue)
            print(f"{NAME}: {rate:.3f} of the rate, waiting {quantiles(occupancy)}")
            self.assertEqual(sum(queue["drops"]["background"].values()), 0)
            if rate > BUSY:
                break
        self.assertGreater(rate, BUSY)
        self.assertGreater(statistics.median(occupancy), THRESHOLD / 2)
        self.assertLess(statistics.median(occupancy), 1.25 * THRESHOLD)
        of_cubic, occupancy_of_cubic = steady(self.iperf3("cubic"))
        print(f"cubic: {of_cubic:.3f} of the rate, waiting {quantiles(occupancy_of_cubic)}")
        self.assertLess(2 * below_half(occupancy), below_half(occupancy_of_cubic),
                        "cubic lets the queue run empty after each mark")
        self.interrupt(agent)
        self.assertEqual(self.lab.report("dctcp")["connections"] % (2 * FLOWS), 0, "both ends")

    def test_each_byte_is_acknowledged_as_it_was_marked(self):
        agent = self.registered()
        self.start_marker("step")
        echo = lab.Process(self.lab, self.hosts["right"], [sys.executable, ECHO, "eth0", PORT],
                           "echo")
        echo.says("ready")
        statistics_of_sender = self.transferred(*self.peers(*IN_USE))
        self.assertIn(NAME, statistics_of_sender)
        self.assertIn("ecn", statistics_of_sender)
        self.interrupt(echo)
        self.interrupt(agent)
        self.stop()
        seen, report = echo.result(), self.lab.report("dctcp")
        print(seen, report)
        self.assertEqual(seen["lost"], 0)
        self.assertEqual(seen["ce_segments"], self.queues["right"]["marks"]["background"]["marker"])
        self.assertGreater(seen["ce_segments"], 20)
        self.assertLess(seen["ce_segments"], seen["segments"] / 2)
        self.assertLess(seen["acks"], 0.8 * seen["segments"], "ACKs were delayed")
        self.assertEqual((seen["ece_bytes"], seen["wrong_bytes"]), (seen["ce_bytes"], 0))
        # Both ends are counted, and each end's FIN has a sequence number. It is acknowledged as
        # the last segment was marked, if it has no data and so no ECT itself.
        self.assertEqual(report["acked_bytes"], BYTES + 2)
        self.assertEqual(report["echoed_bytes"], seen["ce_bytes"] + seen.get("fins_ece", 0))
        self.assertEqual(report["connections"], 2)
        self.assertGreater(report["mark_reductions"], 2)

    def test_without_marks_losses_reduce_the_window(self):
        agent = self.registered()
        self.start_marker("tail_drop", 30)
        self.transferred(*self.peers())
        self.interrupt(agent)
        self.stop()
        self.assertGreater(self.queues["right"]["drops"]["background"]["tail_packets"], 0)
        report = self.lab.report("dctcp")
        print(report)
        self.assertGreater(report["loss_reductions"], 0)
        self.assertEqual((report["mark_reductions"], report["echoed_bytes"]), (0, 0))

    def check_left_to_reno(self):
        """A connection to a listener that has cubic."""
        agent = self.registered()
        self.start_marker("step")
        words = self.transferred(*self.peers(receiver_cc="cubic", size=BYTES // 4))
        self.assertIn("reno", words)
        self.assertNotIn("ecn", words)
        self.interrupt(agent)
        self.stop()
        self.assertEqual(sum(self.queues["right"]["marks"]["background"].values()), 0, "Not-ECT")
        report = self.lab.report("dctcp")
        self.assertEqual((report["connections"], report["connections_without_ecn"]), (0, 1))

    def test_without_ecn_a_connection_is_left_to_reno(self):
        self.lab.sysctl(self.hosts["right"], "net.ipv4.tcp_ecn=0")
        self.check_left_to_reno()

    def test_so_is_one_to_a_listener_without_it_that_has_ecn(self):
        self.check_left_to_reno()

    def test_connections_keep_it_when_the_agent_has_gone(self):
        agent = self.registered()
        self.start_marker("step")
        sender, receiver = self.peers()
        sender.says("ready")
        self.interrupt(agent)
        self.assertNotIn(NAME, available())
        self.assertIn(NAME, self.transferred(sender, receiver))
        self.stop()

    def test_it_is_registered_as_long_as_the_agent_runs(self):
        self.assertNotIn(NAME, available())
        agent = self.registered()
        self.assertIn(NAME, available())
        self.assertIn(NAME, self.lab.run_in(self.hosts["right"], "cat", str(AVAILABLE)),
                      "all network namespaces have it")
        second = self.agent(name="second")
        self.ended(second, 3)
        self.assertIn(f"there is a congestion control {NAME} already", second.output())
        agent.send(signal.SIGTERM)
        self.ended(agent, 0)
        self.assertNotIn(NAME, available())

    def test_a_killed_agent_leaves_nothing(self):
        self.registered().kill()
        self.assertNotIn(NAME, available())
        self.interrupt(self.registered(name="restarted"))
        self.assertNotIn(NAME, available())

    def unprivileged(self, *words):
        done = subprocess.run(["ip", "netns", "exec", self.hosts["left"], "setpriv",
                               "--bounding-set=-all", "--inh-caps=-all", "--reuid=65534",
                               "--clear-groups", *words], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr

    def test_who_may_choose_it(self):
        choose = [sys.executable, "-c", CHOOSE]
        self.assertEqual(self.unprivileged(*choose), (0, "No such file or directory\n"))
        agent = self.registered()
        self.assertEqual(self.unprivileged(*choose), (0, "Operation not permitted\n"))
        self.interrupt(agent)
        agent = self.registered("--allow")
        self.assertEqual(self.unprivileged(*choose), (0, "chosen\n"))
        self.interrupt(agent)

    def test_without_privilege_it_names_the_remedy(self):
        status, text = self.unprivileged(AGENT, "dctcp")
        self.assertEqual(status, 3, text)
        self.assertIn("run as root, or with CAP_BPF and CAP_NET_ADMIN", text)


def steady(queue):
    """Of the middle of a transfer. @return share of the drain rate, and for each bin the mean
    number of packets that wait"""
    busy = [b for b in queue["bins"] if b["bytes"]["background"] > 10_000]
    bins = busy[len(busy) // 3:-len(busy) // 10]
    seconds = 0.01 * len(bins)
    carried = 8 * sum(b["bytes"]["background"] for b in bins)
    return (carried / seconds / queue["drain_bits_per_second"],
            [b["sojourn_ns"] / 1e7 for b in bins])


def below_half(occupancy):
    """Share of the bins in which less than half of the threshold waits."""
    return sum(o < THRESHOLD / 2 for o in occupancy) / len(occupancy)


def quantiles(values):
    """10, 50 and 90 %"""
    of_ten = statistics.quantiles(values, n=10)
    return [round(q, 1) for q in (of_ten[0], of_ten[4], of_ten[8])]


def why_no_struct_ops():
    """What keeps the agent from registering a congestion control here, or None."""
    if NAME in available():
        return f"{NAME} is registered already"
    probe = lab.Lab()
    agent = lab.Process(probe, probe.namespace("bpf"), [AGENT, "dctcp"], "probe")
    try:
        agent.says(f"registered {NAME}")
    except AssertionError:
        return agent.output().strip()
    finally:
        probe.close()
    return None


if __name__ == "__main__":
    if lab.why_not() is None and (reason := why_no_struct_ops()) is not None:
        print(f"skipped: {reason}")
        sys.exit(lab.SKIPPED)
    lab.main()
