#!/usr/bin/env python3
"""The other devices that a Linux host can be behind: a tap of the kernel, and AF_XDP."""
import os
import socket
import sys

import lab
from two_hosts import PREFIX, SwitchTest, ports

HOSTS = ["left", "right"]
BYTES = 4_000_000
FLOOD = 20_000  # frames; many more than the ring of net_af_packet holds
FAILING = 300  # datagrams; fewer than the ring of net_af_packet holds
ENVIRONMENT = 3  # exit status of the switch
AF_XDP = 44
BRIDGE = """
[[switch]]
name = "s"
[switch.l2]
learning = true
""" + ports(HOSTS, drain_rate='"1gbit"')


def devices(driver):
    return "".join(f"""
[[device]]
name = "{name}"
device = "net_{driver}{i},iface={name}"
""" for i, name in enumerate(HOSTS))


class Devices(SwitchTest):
    def start_or_skip(self, driver):
        """The driver may be missing, or refused by the kernel: then the switch says so."""
        try:
            self.start(devices(driver) + BRIDGE)
        except AssertionError:
            if self.switch.wait() != ENVIRONMENT:
                raise
            cause = [line.strip() for line in self.switch.output().splitlines()[-4:]]
            self.skipTest(f"no net_{driver} here: {'; '.join(cause)}")

    def check_traffic(self):
        """Pings, and a stream whose every byte is compared."""
        self.assertEqual(self.ping("left", PREFIX + "2", lab.PATIENCE), 64)
        self.assertEqual(self.ping("right", PREFIX + "1", size=1400), 64)
        receiver = self.lab.peer(self.hosts["right"], "listen", "receive", PREFIX + "2", 7001,
                                 BYTES, name="receiver")
        receiver.says("ready")
        sender = self.lab.peer(self.hosts["left"], "connect", "send", PREFIX + "2", 7001, BYTES,
                               name="sender")
        self.ended(sender, 0)
        self.ended(receiver, 0)
        end = receiver.result()
        self.assertEqual(end["sha256"], end["expected_sha256"])
        report = self.stop()
        self.assertGreater(self.queues["right"]["transmitted_bytes"]["background"], BYTES)
        return report

    def test_tap(self):
        if not os.path.exists("/dev/net/tun"):
            self.skipTest("no tap devices: /dev/net/tun is not there")
        self.start_or_skip("tap")
        for i, name in enumerate(HOSTS):  # the switch has made the taps
            host = self.hosts[name] = self.lab.namespace(name)
            lab.run("ip", "-n", self.near, "link", "set", name, "netns", host)
            lab.run("ip", "-n", host, "link", "set", name, "up")
            lab.run("ip", "-n", host, "address", "add", f"{PREFIX}{i + 1}/24", "dev", name)
        report = self.check_traffic()
        self.assertIsNone(report["device_rx_missed"], "not counted is not 0")
        self.assertEqual(report["device_rx_nombuf"], 0)
        self.assertEqual(report["devices_not_counting"], HOSTS)
        self.assertIn("receive missed not counted", self.switch.output())

    def test_af_xdp(self):
        try:
            socket.socket(AF_XDP, socket.SOCK_RAW).close()
        except OSError as error:
            self.skipTest(f"no AF_XDP sockets: {error.strerror}")
        for name in HOSTS:
            self.host(name)
        self.start_or_skip("af_xdp")
        self.check_traffic()

    def test_what_the_kernel_drops_before_a_switch_that_stands_still_is_counted(self):
        for name in HOSTS:
            self.host(name)
        self.start(devices("af_packet") + BRIDGE)
        self.switch.send(lab.signal.SIGSTOP)
        self.lab.run_in(self.hosts["left"], sys.executable, "-c", f"""
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
frame = bytes.fromhex("020000000002" "020000000001" "88b5") + bytes(100)
for _ in range({FLOOD}):
    s.send(frame)""")
        self.switch.send(lab.signal.SIGCONT)
        # The answer says that the ring has been emptied.
        self.assertEqual(self.ping("left", PREFIX + "2", lab.PATIENCE), 64)
        report = self.stop()
        self.assertGreater(report["device_rx_missed"], 0)
        self.assertEqual(report["devices_not_counting"], [])
        self.assertAlmostEqual(report["received"] + report["device_rx_missed"], FLOOD, delta=200,
                               msg="ARP, pings and what the hosts ask their neighbours")

    def test_what_a_device_takes_and_fails_to_send_has_an_end(self):
        """Once its interface is down, net_af_packet takes what its ring holds and sends nothing."""
        for name in HOSTS:
            self.host(name)
        self.start(devices("af_packet") + BRIDGE)
        self.assertEqual(self.ping("left", PREFIX + "2", lab.PATIENCE), 64)
        self.lab.run_in(self.hosts["left"], "ip", "neigh", "replace", PREFIX + "2", "lladdr",
                        self.mac("right"), "dev", "eth0", "nud", "permanent")
        lab.run("ip", "-n", self.near, "link", "set", "right", "down")
        self.lab.run_in(self.hosts["left"], sys.executable, "-c", f"""
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range({FAILING}):
    s.sendto(bytes(100), ("{PREFIX}2", 9))""")
        report = self.stop()
        drops = report["drops"]["background"]
        # A switch that the kernel has kept from its processor finds more than its queue holds.
        self.assertGreaterEqual(
            drops["device_tx_error"] + drops["device_tx_full"] + drops["tail_packets"], FAILING)
        self.assertGreater(drops["device_tx_error"], 0)
        ends = report["transmitted"] + report["resident"] + sum(
            n for by_reason in report["drops"].values() for n in by_reason.values())
        self.assertEqual(report["received"] + report["copied"], ends)


if __name__ == "__main__":
    lab.main()
