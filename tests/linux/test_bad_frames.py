#!/usr/bin/env python3
"""Frames that no host should send: each is counted under its name, and the generator
goes on as if they had not come."""
import random

import lab

HOST, LINUX = "10.79.0.1", "10.79.0.2"
SIZE = 1_000_000

CONFIG = """
payload = "pattern"
[[device]]
name = "eth"
device = "net_af_packet0,iface=cable"
arp = true
[[host]]
name = "h"
address = "10.79.0.1"
device = "eth"
[[transport]]
name = "tcp"
[[transfer]]
name = "in"
from = "10.79.0.2"
to = "h"
bytes = "1MB"
transport = "tcp"
tcp_port = 7001
"""


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(int.from_bytes(data[i:i + 2], "big") for i in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (~total & 0xFFFF).to_bytes(2, "big")


def frame(payload=b"x" * 100, destination=HOST, spoil_ip=False, spoil_tcp=False, ether_type=0x0800,
          protocol=6, total=None):
    """Ethernet, IPv4 and a TCP segment of nobody's connection."""
    def address(text):
        return bytes(map(int, text.split(".")))

    addresses = address(LINUX) + address(destination)
    tcp = bytearray((4000).to_bytes(2, "big") + (7777).to_bytes(2, "big") + bytes(8) + b"\x50\x10" +
                    b"\x10\x00" + bytes(4) + payload)
    tcp[16:18] = checksum(addresses + bytes([0, 6]) + len(tcp).to_bytes(2, "big") + bytes(tcp))
    if spoil_tcp:
        tcp[-1] ^= 0xFF
    length = 20 + len(tcp) if total is None else total
    ip = bytearray(b"\x45\x00" + length.to_bytes(2, "big") + b"\0\0\x40\0\x40" + bytes([protocol]) +
                   b"\0\0" + addresses)
    ip[10:12] = checksum(bytes(ip))
    if spoil_ip:
        ip[10] ^= 0x55
    mac = b"\x02\x00" + address(HOST)
    return mac + b"\x02\xaa\xaa\xaa\xaa\xaa" + ether_type.to_bytes(2, "big") + bytes(ip) + bytes(tcp)


# Name of the drop, and how many frames of the kind; each kind has its own number.
KINDS = [
    ("bad_checksum", 11, frame(spoil_ip=True)),
    ("bad_checksum", 12, frame(spoil_tcp=True)),
    ("malformed", 13, frame(total=2000)),
    ("malformed", 14, frame()[:30]),
    ("malformed", 15, frame(total=30)),
    ("not_ipv4", 16, frame(ether_type=0x86DD)),
    ("not_ipv4", 17, frame(ether_type=0x0806)[:60]),
    ("unknown_host", 18, frame(destination="10.79.0.77")),
    ("no_connection", 19, frame()),
    ("no_connection", 20, frame(protocol=47)),
]


def send_all(device):
    """In the Linux host's namespace."""
    import socket  # pylint: disable=import-outside-toplevel
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((device, 0))
    for _, count, data in KINDS:
        for _ in range(count):
            s.send(data)
    noise = random.Random(1)
    for _ in range(300):
        s.send(frame()[:14] + noise.randbytes(noise.randrange(1, 200)))


class BadFrames(lab.LabTest):
    def test_each_has_its_name_and_does_no_harm(self):
        near = self.lab.namespace("near")
        linux = self.lab.linux_host(near, "cable", LINUX + "/24")
        generator = self.lab.generator(near, CONFIG)
        generator.says("sending")
        self.lab.run_in(linux, *self.lab.call("test_bad_frames", "send_all('eth0')"))
        peer = self.lab.peer(linux, "connect", "send", HOST, 7001, SIZE)
        self.ended(generator, 0)
        self.ended(peer, 0)
        report = self.lab.report()
        self.assertTrue(report["ledger_balanced"])
        self.assertEqual(report["transfers"][0]["outcome"], "completed")
        self.assertEqual(report["payload"]["mismatched_bytes"], 0)
        expected = {}
        for name, count, _ in KINDS:
            ignored = name == "not_ipv4" and count == 17  # ARP that is none is counted as ARP
            expected[name] = expected.get(name, 0) + (0 if ignored else count)
        for name, count in expected.items():
            self.assertGreaterEqual(report["drops"][name], count, name)
            self.assertLessEqual(report["drops"][name], count + 300, name)
        self.assertGreaterEqual(report["neighbourhood"]["totals"]["arp_ignored"], 17)
        named = sum(report["drops"].values()) + report["neighbourhood"]["totals"]["arp_ignored"]
        self.assertGreaterEqual(named, sum(count for _, count, _ in KINDS) + 300)


if __name__ == "__main__":
    lab.main()
