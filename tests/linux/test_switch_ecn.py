#!/usr/bin/env python3
"""Linux senders overload a slow port: with ECN they are slowed down by marks alone,
without it by drops."""
import json
import re
import shutil
import statistics

import lab
from two_hosts import MARKING_SWITCH, PREFIX, SwitchTest, devices, ports

HOSTS = ["left", "right"]
BYTES = 8_000_000
THRESHOLD = 20
LIMIT = 3 * THRESHOLD  # where nothing is marked

CONFIG = 'bin = "10ms"' + devices(HOSTS) + MARKING_SWITCH + ports(HOSTS, drain_rate='"50mbit"', record="true")


class Overload(SwitchTest):
    def setUp(self):
        super().setUp()
        for name in HOSTS:
            self.host(name)

    def start_marker(self, marker, limit=10 * LIMIT):
        self.start(CONFIG.format(marker=marker, threshold=THRESHOLD, limit=limit))
        self.assertEqual(self.ping("left", PREFIX + "2", lab.PATIENCE), 64)

    def transfer(self, controller):
        """From left to right. @return what `ss` of both ends says half-way, and the queue"""
        receiver = self.lab.peer(self.hosts["right"], "listen", "receive", PREFIX + "2", 7001,
                                 BYTES, "ss=1", name="receiver")
        receiver.says("ready")
        sender = self.lab.peer(self.hosts["left"], "connect", "send", PREFIX + "2", 7001, BYTES,
                               "cc=" + controller, "ss=1", name="sender")
        self.ended(sender, 0)
        self.ended(receiver, 0)
        end = receiver.result()
        self.assertEqual(end["sha256"], end["expected_sha256"])
        self.stop()
        queue = self.queues["right"]
        rate = BYTES * 8 / end["seconds"]
        print(f"{rate / 1e6:.1f} Mbit/s, {standing_queue(queue):g} packets waiting, "
              f"{queue['marks']['background']['marker']} marks, "
              f"{sum(queue['drops']['background'].values())} drops")
        self.assertLess(rate, queue["drain_bits_per_second"])
        self.assertGreater(rate, 0.5 * queue["drain_bits_per_second"], "the port was busy")
        return sender.result()["ss"], end["ss"], queue

    def check_marks(self, controller):
        self.start_marker("step")
        sender, receiver, queue = self.transfer(controller)
        for end in (sender, receiver):
            self.assertIn("ecn", end.split(), end)
        self.assertIn("ecnseen", receiver.split(), "ECT reached it")
        self.assertGreater(queue["marks"]["background"]["marker"], 0)
        self.assertEqual(sum(queue["drops"]["background"].values()), 0)
        # It heard of them, its window became smaller, and the queue stands where K is,
        # though there is room for thirty times as much.
        self.assertGreater(number_of("delivered_ce", sender), 0, sender)
        self.assertGreater(number_of("ssthresh", sender), 0, sender)
        self.assertLess(number_of("cwnd", sender), LIMIT, sender)
        self.assertLess(standing_queue(queue), 2 * THRESHOLD)

    def test_cubic_obeys_marks(self):
        self.check_marks("cubic")

    def test_reno_obeys_marks(self):
        self.check_marks("reno")

    def test_without_ecn_the_queue_overflows(self):
        self.lab.sysctl(self.hosts["left"], "net.ipv4.tcp_ecn=0")
        self.start_marker("tail_drop", LIMIT)
        sender, _, queue = self.transfer("cubic")
        self.assertNotIn("ecn", sender.split())
        self.assertEqual(sum(queue["marks"]["background"].values()), 0)
        self.assertGreater(queue["drops"]["background"]["tail_packets"], 0)
        self.assertIn("retrans:", sender)
        self.assertGreater(standing_queue(queue), 2 * THRESHOLD)

    def iperf3(self, *words):
        """From left to right. @return the summary of both ends, and the queue"""
        if shutil.which("iperf3") is None:
            self.skipTest("iperf3 is not installed (tools/setup installs it)")
        self.start_marker("step")
        port = ["--port", "7001"]  # iperf3's own, 5201, is among the default ddl_ports
        server = lab.Process(self.lab, self.hosts["right"],
                             ["iperf3", "--server", "--one-off", "--forceflush", *port], "server")
        server.says("listening")
        client = lab.Process(self.lab, self.hosts["left"],
                             ["iperf3", "--client", PREFIX + "2", *port, "--time", "2", "--json",
                              *words], "client")
        self.ended(client, 0)
        self.ended(server, 0)
        self.stop()
        return json.loads(client.output())["end"], self.queues["right"]

    def test_datagrams_at_half_the_rate_all_pass(self):
        result, queue = self.iperf3("--udp", "--bitrate", "25M", "--length", "1400")
        self.assertGreater(result["sum"]["packets"], 3000)
        self.assertEqual(sum(queue["drops"]["background"].values()), 0)
        self.assertEqual(sum(queue["marks"]["background"].values()), 0, "Not-ECT")
        self.assertGreaterEqual(queue["transmitted"]["background"], result["sum"]["packets"])

    def test_four_flows_of_iperf3_share_the_port(self):
        result, queue = self.iperf3("--parallel", "4", "--congestion", "cubic")
        received = result["sum_received"]["bits_per_second"]
        self.assertGreater(received, 0.5 * queue["drain_bits_per_second"])
        self.assertGreater(queue["marks"]["background"]["marker"], 0)
        self.assertEqual(sum(queue["drops"]["background"].values()), 0)


def standing_queue(queue):
    """Median over the bins of the second half of a transfer of the largest occupancy [packets]"""
    busy = [b["max_packets"] for b in queue["bins"] if b["bytes"]["background"] > 10_000]
    return statistics.median(busy[len(busy) // 2:])


def number_of(name, text):
    """Value of "name:value" in the output of `ss`; 0 without it"""
    found = re.search(rf"(?<![a-z_]){name}:(\d+)", text)
    return int(found.group(1)) if found else 0


if __name__ == "__main__":
    lab.main()
