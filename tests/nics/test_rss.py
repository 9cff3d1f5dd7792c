#!/usr/bin/env python3
"""virtio-net with two receive queues: RSS spreads flows over two lcores and keeps their order, and
what needs one queue, or more than there are, is refused by name."""
import guest
import rss

REFUSED = r"""
sed '0,/^name = "left"$/s//name = "left"\nrx_queues = 3/' two-lcores.toml >three-queues.toml
sed 's/^name = "s"$/&\n[switch.signals]\naccept_udp = true\naccept_from = ["198.18.0.0\/16"]\n[switch.regulation]\nmode = "window"\nrecovery = "burst_end"/' \
  two-lcores.toml >window.toml
kept three-queues outrider-switch --config three-queues.toml --duration 1s
kept window outrider-switch --config window.toml --duration 1s
"""


class Rss(rss.RssTest):
    SCRIPT = rss.SCRIPT + REFUSED
    MACHINE = {"model": "virtio", "cables": 2, "cpus": 3, "queues": 2}

    def received(self, port, queue):
        """Packets that a device has handed over by one of its receive queues."""
        text = self.text(f"xstats-{port}.txt")
        self.assertRegex(text, rf'"rx_q{queue}_\w*packets": \d+')
        return int(text.split(f'"rx_q{queue}_good_packets": ')[1].split(",")[0].rstrip("}"))

    def test_flows_are_spread_over_both_queues(self):
        for port in (0, 1):
            for queue in (0, 1):
                self.assertGreater(self.received(port, queue), 300, f"device {port}")

    def test_no_packet_is_lost_or_overtakes_one_of_its_flow(self):
        self.no_packet_was_lost_or_overtook_one_of_its_flow()
        self.both_queues_were_opened()

    def test_probes_come_back_with_hop_records(self):
        self.each_packet_has_one_hop_record()

    def test_more_queues_than_the_device_has_are_refused(self):
        self.assertEqual(self.status_of("three-queues"), 3)
        self.assertIn("rx_queues: 3 are more than its 2", self.text("three-queues.txt"))

    def test_held_windows_on_two_queues_are_refused(self):
        self.assertIn(self.status_of("window"), (2, 3))
        self.assertIn("rx_queues", self.text("window.txt"))


if __name__ == "__main__":
    guest.main()
