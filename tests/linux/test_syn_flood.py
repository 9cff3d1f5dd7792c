#!/usr/bin/env python3
"""A flood of SYNs at the generator's listener, in the name of the peer that it waits for: as many
connections as a host may have are half open, and the peer gets through."""

import lab
import raw_frames as raw

HOST, LINUX = "10.79.0.1", "10.79.0.2"
PORT, SIZE, TRANSFERS = 7001, 1_000_000, 2
FLOOD, MOST_HALF_OPEN = 20_000, 16_384  # SYNs; Host::Setup::max_half_open
STRANGERS = 500
FIRST_PORT = 1024  # of the flood; Linux takes its own from 32,768 on

CONFIG = """
payload = "pattern"
[[device]]
name = "eth"
device = "net_af_packet0,iface=cable,framecnt=8192"
[[neighbour]]
device = "eth"
address = "{linux}"
mac = "{mac}"
[[host]]
name = "h"
address = "{host}"
device = "eth"
[[transport]]
name = "tcp"
[[transfer]]
name = "in"
from = "{linux}"
to = "h"
bytes = "{size}B"
count = {count}
transport = "tcp"
tcp_port = {port}
"""


def flood(source, first, count):
    """In the Linux host's namespace."""
    frames = [raw.ethernet(raw.mac_of(HOST), raw.own_mac("eth0"),
                           raw.syn(source, HOST, first + i, PORT, 1000 + 7 * i))
              for i in range(count)]
    raw.send_paced(raw.packet_socket("eth0"), frames)


class SynFlood(lab.LabTest):
    def flood(self, *arguments):
        return lab.Process(self.lab, self.linux,
                           self.lab.call("test_syn_flood", f"flood(*{arguments!r})"),
                           "flood" + str(arguments[1]))

    def send(self):
        peer = self.lab.peer(self.linux, "connect", "send", HOST, PORT, SIZE)
        self.ended(peer, 0)
        self.assertNotIn("error", peer.result())

    def test_the_peer_gets_through(self):
        near, self.linux, mac = self.lab.silent_host()
        generator = self.lab.generator(near, CONFIG.format(
            host=HOST, linux=LINUX, mac=mac, size=SIZE, count=TRANSFERS, port=PORT))
        generator.says("sending")
        self.ended(self.flood("10.79.0.77", FIRST_PORT, STRANGERS), 0)
        self.ended(self.flood(LINUX, FIRST_PORT, FLOOD), 0)
        lab.run("ip", "-n", self.linux, "address", "add", LINUX + "/24", "dev", "eth0")
        lab.run("ip", "-n", self.linux, "neigh", "replace", HOST, "lladdr",
                raw.mac_of(HOST).hex(":"), "dev", "eth0", "nud", "permanent")
        again = self.flood(LINUX, FIRST_PORT + FLOOD, 10_000)
        self.send()  # while it is flooded, with a full table
        self.ended(again, 0)
        self.send()
        self.ended(generator, 0)
        report = self.lab.report()
        self.assertTrue(report["ledger_balanced"])
        for t in report["transfers"]:
            self.assertEqual((t["outcome"], t["delivered"]), ("completed", SIZE))
        self.assertEqual(report["payload"]["mismatched_bytes"], 0)
        missed = report["device_rx_missed"]
        events = report["tcp_events"]
        self.assertGreaterEqual(events["half_open_evicted"] + events["half_open_refused"] + missed,
                                FLOOD - MOST_HALF_OPEN)
        self.assertGreaterEqual(report["drops"]["no_connection"] + missed, STRANGERS,
                                "a stranger's SYNs take no place")


if __name__ == "__main__":
    lab.main()
