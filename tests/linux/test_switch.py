#!/usr/bin/env python3
"""Linux hosts reach each other through outrider-switch: bridged, tagged, and routed."""
import json
import socket
import sys

import lab
from two_hosts import PREFIX, SwitchTest, devices, ports

HOSTS = ["left", "right"]
BYTES = 4_000_000
BRIDGE = devices(HOSTS) + """
[[switch]]
name = "s"
[switch.l2]
learning = true
""" + ports(HOSTS, drain_rate='"1gbit"')

# Two networks and the switch as the gateway of both.
ROUTER = devices(HOSTS) + """
[[switch]]
name = "s"
mac = "02:00:00:00:00:fe"
""" + ports(HOSTS, drain_rate='"1gbit"') + """
[[switch.address]]
address = "10.76.1.254"
port = "left"
[[switch.address]]
address = "10.76.2.254"
port = "right"
[[switch.neighbour]]
address = "10.76.1.1"
mac = "{left}"
port = "left"
[[switch.neighbour]]
address = "10.76.2.1"
mac = "{right}"
port = "right"
"""

# Priority and VLAN of frames that go tagged; the kernel has no need to know VLANs for it.
TAGS = [7, 0xA008, 0x6FFF]
TEST_TYPE = 0x88B5  # IEEE 802: for local experiments


def send_tagged(mac):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind(("eth0", 0))
    for tag in TAGS:
        s.send(bytes.fromhex(mac.replace(":", "")) + s.getsockname()[4] + b"\x81\x00" +
               tag.to_bytes(2, "big") + TEST_TYPE.to_bytes(2, "big") + bytes(46))


def receive_tagged():
    """The kernel hands the tag over beside the frame, in struct tpacket_auxdata."""
    sol_packet, packet_auxdata = 263, 8
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    s.bind(("eth0", 3))
    s.setsockopt(sol_packet, packet_auxdata, 1)
    s.settimeout(lab.PATIENCE)
    print("ready", flush=True)
    tags = []
    while len(tags) < len(TAGS):
        frame, extra, _, _ = s.recvmsg(2048, 1024)
        if frame[12:14] == TEST_TYPE.to_bytes(2, "big"):
            tags += [int.from_bytes(data[16:18], sys.byteorder) for _, _, data in extra]
    print(json.dumps({"tags": tags}))


class Bridged(SwitchTest):
    def setUp(self):
        super().setUp()
        for name in HOSTS:
            self.host(name)

    def test_arp_and_pings_pass(self):
        self.start(BRIDGE)
        self.assertEqual(self.ping("left", PREFIX + "2", lab.PATIENCE), 64)
        self.assertEqual(self.ping("left", PREFIX + "2", size=1400), 64)
        self.assertEqual(self.ping("right", PREFIX + "1", ttl=1), 64, "a bridge takes no TTL")
        self.assertIsNone(self.ping("left", PREFIX + "77"), "nobody has that address")
        report = self.stop()
        self.assertEqual(sum(report["drops"]["background"].values()), 0)

    def test_two_lcores_share_the_bridge(self):
        # Each owns a port, so every packet is handed over; streams go both ways.
        self.start(f"more_lcores = [{self.lab.cpus[1]}]\n" + BRIDGE)
        self.assertEqual(self.ping("left", PREFIX + "2", lab.PATIENCE), 64)
        receivers, senders = [], []
        for i, name in enumerate(HOSTS):
            receiver = self.lab.peer(self.hosts[name], "listen", "receive", f"{PREFIX}{i + 1}",
                                     7001, BYTES, name="to-" + name)
            receiver.says("ready")
            receivers.append(receiver)
            senders.append(self.lab.peer(self.hosts[HOSTS[1 - i]], "connect", "send",
                                         f"{PREFIX}{i + 1}", 7001, BYTES, name="from-" + name))
        for process in senders + receivers:
            self.ended(process, 0)
        for receiver in receivers:
            self.assertEqual(receiver.result()["sha256"], receiver.result()["expected_sha256"])
        self.stop()
        for name in HOSTS:
            self.assertGreater(self.queues[name]["transmitted_bytes"]["background"], BYTES)

    def test_tagged_frames_keep_their_tag(self):
        self.start(BRIDGE)
        self.assertEqual(self.ping("left", PREFIX + "2", lab.PATIENCE), 64)
        receiver = self.python("right", "receive_tagged()")
        receiver.says("ready")
        self.ended(self.python("left", f"send_tagged({self.mac('right')!r})", "sender"), 0)
        self.ended(receiver, 0)
        self.assertEqual(receiver.result(), {"tags": TAGS})
        self.stop()

    def python(self, name, call, log="receiver"):
        """Starts a function of this file in a host's namespace."""
        return lab.Process(self.lab, self.hosts[name], self.lab.call("test_switch", call), log)


class Routed(SwitchTest):
    def setUp(self):
        super().setUp()
        for i, name in enumerate(HOSTS):
            host = self.host(name, f"10.76.{i + 1}.1/24")
            lab.run("ip", "-n", host, "route", "add", "default", "via", f"10.76.{i + 1}.254")
        self.start(ROUTER.format(left=self.mac("left"), right=self.mac("right")))

    def test_each_pass_takes_one_of_the_ttl(self):
        self.assertEqual(self.ping("left", "10.76.2.1", lab.PATIENCE), 63)
        self.assertEqual(self.ping("right", "10.76.1.1", size=1400), 63)
        self.assertEqual(self.ping("left", "10.76.2.1", ttl=2), 63, "1 is enough for a host")
        self.assertIsNone(self.ping("left", "10.76.2.1", ttl=1))
        self.assertIsNone(self.ping("left", "10.76.3.1"))
        self.assertIsNone(self.ping("left", "10.76.1.254"), "it answers ARP and nothing else")
        drops = self.stop()["drops"]["background"]
        for reason in ("ttl_expired", "no_route", "for_switch"):
            self.assertGreaterEqual(drops.pop(reason), 1, reason)
        self.assertEqual(sum(drops.values()), 0, drops)


if __name__ == "__main__":
    lab.main()
