#!/usr/bin/env python3
"""Bulk transfers between emulated and Linux hosts, both ways, every byte compared:
over a cable, through outrider-switch with marks, and with one packet in a hundred lost.
"""

import lab

BYTES = 4_000_000
HOST, LINUX = "10.77.0.1", "10.77.0.2"

HOSTS = """
payload = "pattern"
[[device]]
name = "eth"
device = "{device}"
arp = true
[[host]]
name = "h"
address = "{host}"
device = "eth"
rate = "1gbit"
[[transport]]
name = "tcp"
controller = "{controller}"
timestamps = true
"""

# Emulated to Linux, Linux to emulated; either may open.
TRANSFERS = """
[[transfer]]
name = "out"
from = "h"
to = "{linux}"
bytes = "{size}B"
transport = "tcp"
tcp_port = 7001
[[transfer]]
name = "fetched"
from = "{linux}"
to = "h"
bytes = "{size}B"
transport = "tcp"
opener = "receiver"
tcp_port = 7002
[[transfer]]
name = "in"
from = "{linux}"
to = "h"
bytes = "{size}B"
transport = "tcp"
tcp_port = 7003
"""

SWITCH = """
[[device]]
name = "gen"
device = "net_vhost0,iface={socket},client=1"
[[device]]
name = "lin"
device = "net_af_packet0,iface=cable"
[[switch]]
name = "s"
[switch.queue]
limit_packets = 200
[switch.marker]
kind = "{marker}"
threshold_packets = 20
[[switch.port]]
name = "gen"
device = "gen"
drain_rate = "200mbit"
delay = "500us"
loss = {loss}
[[switch.port]]
name = "lin"
device = "lin"
drain_rate = "200mbit"
delay = "500us"
loss = {loss}
[[switch.route]]
prefix = "10.77.0.1/32"
port = "gen"
[[switch.route]]
prefix = "10.77.0.2/32"
port = "lin"
"""


class Transfers(lab.LabTest):
    def setUp(self):
        super().setUp()
        self.near = self.lab.namespace("near")
        self.linux = self.lab.linux_host(self.near, "cable", LINUX + "/24")
        # Linux asks for no ECN after a SYN that was lost, as one in a hundred is here.
        self.lab.sysctl(self.linux, "net.ipv4.tcp_ecn_fallback=0")

    def start_switch(self, **settings):
        socket = self.lab.directory / "sock"
        self.switch = self.lab.switch(self.near, SWITCH.format(socket=socket, **settings))
        return f"net_virtio_user0,path={socket},server=1"

    def transfer_all(self, controller, device, *options):
        """@return reports of the three transfers by name, and of their peers"""
        options = ("cc=" + controller, "ss=1") + options
        out = self.lab.peer(self.linux, "listen", "receive", LINUX, 7001, BYTES, *options,
                            name="out")
        fetched = self.lab.peer(self.linux, "listen", "send", LINUX, 7002, BYTES, *options,
                                name="fetched")
        for peer in (out, fetched):
            peer.says("ready")
        config = HOSTS.format(device=device, host=HOST, controller=controller)
        generator = self.lab.generator(self.near, config + TRANSFERS.format(linux=LINUX,
                                                                            size=BYTES))
        generator.says("sending")
        into = self.lab.peer(self.linux, "connect", "send", HOST, 7003, BYTES, *options,
                             name="in")
        self.ended(generator, 0)
        report = self.lab.report()
        self.generator_says = generator.output()
        self.assertTrue(report["ledger_balanced"])
        transfers = {t["name"]: t for t in report["transfers"]}
        for name, t in transfers.items():
            self.assertEqual(t["outcome"], "completed", name)
            self.assertEqual(t["delivered"], BYTES, name)
        self.assertGreaterEqual(report["payload"]["verified_bytes"], 2 * BYTES)
        self.assertEqual(report["payload"]["mismatched_bytes"], 0)
        peers = {"out": out, "fetched": fetched, "in": into}
        for name, peer in peers.items():
            self.ended(peer, 0)
            peers[name] = peer.result()
            self.assertNotIn("error", peers[name])
        self.assertEqual(peers["out"]["sha256"], peers["out"]["expected_sha256"])
        self.assertEqual(peers["out"]["received"], BYTES)
        for name in ("fetched", "in"):
            self.assertTrue(peers[name]["closed_by_peer"], name)
        for name, peer in peers.items():
            words = peer["ss"].split()
            for option in ("ts", "sack", "ecn", controller):
                self.assertIn(option, words, f"{name}: {peer['ss']}")
            self.assertIn("wscale:", peer["ss"])
        # Only data may carry ECT, and Linux notes it of what it receives.
        self.assertIn("ecnseen", peers["out"]["ss"].split())
        return transfers, peers

    def check_cable(self, controller):
        self.transfer_all(controller, "net_af_packet0,iface=cable")

    def check_marks(self, controller):
        device = self.start_switch(marker="step", loss=0)
        transfers, _ = self.transfer_all(controller, device)
        self.end_switch()
        # Both directions were marked, and both senders heard of it and obeyed.
        self.assertGreater(transfers["out"]["ece_reductions"], 0)
        self.assertGreater(transfers["fetched"]["ce_received"], 0)
        for port in self.queues.values():
            marks = port["marks"]["background"]["marker"]
            self.assertGreater(marks, 0, port["port_name"])
            self.assertEqual(port["drops"]["background"]["tail_packets"], 0)

    def check_loss(self, controller):
        device = self.start_switch(marker="tail_drop", loss=0.01)
        transfers, _ = self.transfer_all(controller, device)
        self.end_switch()
        for port in self.queues.values():
            arrived = port["arrived"]["background"]
            lost = port["drops"]["background"]["injected_loss"]
            self.assertGreater(lost, 0)
            self.assertLess(abs(lost - 0.01 * arrived), 6 * (0.01 * arrived) ** 0.5 + 1)
        self.assertGreater(transfers["out"]["retransmitted"], 0)
        self.assertGreater(transfers["fetched"]["out_of_order_received"], 0)

    def end_switch(self):
        self.switch.send(lab.signal.SIGINT)
        self.ended(self.switch, 0)
        report = self.lab.report("switch")
        self.assertTrue(report["ledger_balanced"])
        self.queues = {q["port_name"]: q for q in report["queues"]}

    def test_reno_over_a_cable(self):
        self.check_cable("reno")

    def test_cubic_over_a_cable(self):
        self.check_cable("cubic")

    def test_segments_of_ef_are_no_starts(self):
        self.transfer_all("cubic", "net_af_packet0,iface=cable", f"tos={46 << 2}")

    def test_segments_of_af21_are_no_answers(self):
        self.transfer_all("cubic", "net_af_packet0,iface=cable", f"tos={18 << 2}")

    def test_reno_through_the_switch_with_marks(self):
        self.check_marks("reno")

    def test_cubic_through_the_switch_with_marks(self):
        self.check_marks("cubic")

    def test_reno_through_the_switch_with_loss(self):
        self.check_loss("reno")

    def test_cubic_through_the_switch_with_loss(self):
        self.check_loss("cubic")


if __name__ == "__main__":
    lab.main()
