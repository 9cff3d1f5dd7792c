#!/usr/bin/env python3
"""virtio-net with two receive queues: RSS spreads flows over two lcores and keeps their order, and
what needs one queue, or more than there are, is refused by name."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $NICS
cat >two-lcores.toml <<SWITCH
lcore = 0
more_lcores = [1]
[[device]]
name = "left"
device = "$near_a"
[[device]]
name = "right"
device = "$near_b"
[[switch]]
name = "s"
[[switch.port]]
name = "left"
device = "left"
drain_rate = "100mbit"
[[switch.port]]
name = "right"
device = "right"
drain_rate = "100mbit"
[[switch.route]]
prefix = "198.18.0.0/16"
port = "left"
[[switch.route]]
prefix = "198.19.0.0/16"
port = "right"
SWITCH
sed '0,/^name = "left"$/s//name = "left"\nrx_queues = 3/' two-lcores.toml >three-queues.toml
sed 's/^name = "s"$/&\n[switch.signals]\naccept_udp = true\naccept_from = ["198.18.0.0\/16"]\n[switch.regulation]\nmode = "window"\nrecovery = "burst_end"/' \
  two-lcores.toml >window.toml
kept three-queues outrider-switch --config three-queues.toml --duration 1s
kept window outrider-switch --config window.toml --duration 1s

cat >streams.toml <<STREAMS
lcore = 2
duration = "5s"
stream_drain = "2s"
[[device]]
name = "left"
device = "$far_a"
[[device]]
name = "right"
device = "$far_b"
[[stream]]
name = "forth"
device = "left"
receive_device = "right"
rate = "1kpps"
frame_bytes = 128
flows = 64
source = "198.18.0.1"
destination = "198.19.0.1"
[[stream]]
name = "back"
device = "right"
receive_device = "left"
rate = "1kpps"
frame_bytes = 128
flows = 64
source = "198.19.0.1"
destination = "198.18.0.1"
STREAMS
outrider-switch --config two-lcores.toml --report switch.json --eal "--file-prefix=rss" \
  >switch.log 2>&1 &
switch=$!
until_says switch.log "right: link is up"
kept streams outrider-trafficgen --config streams.toml --report streams.json
for port in 0 1; do
  echo "/ethdev/xstats,$port" | dpdk-telemetry.py -f rss >"xstats-$port.txt" 2>&1
done
kill -INT $switch
ended switch $switch
"""


class Rss(guest.GuestTest):
    SCRIPT = SCRIPT
    MACHINE = {"model": "virtio", "cables": 2, "cpus": 3, "queues": 2}

    def received(self, port, queue):
        """Packets that a device has handed over by one of its receive queues."""
        text = self.text(f"xstats-{port}.txt")
        self.assertRegex(text, rf'"rx_q{queue}_\w*packets": \d+')
        return int(text.split(f'"rx_q{queue}_good_packets": ')[1].split(",")[0].rstrip("}"))

    def test_flows_are_spread_over_both_queues(self):
        for port in (0, 1):
            for queue in (0, 1):
                self.assertGreater(self.received(port, queue), 500, f"device {port}")

    def test_no_packet_is_lost_or_overtakes_one_of_its_flow(self):
        self.assertEqual(self.status_of("streams"), 0, self.text("streams.txt"))
        self.assertEqual(self.status_of("switch"), 0, self.text("switch.log"))
        self.assertEqual(self.text("streams.txt").count("received 5000, lost 0, reordered 0"), 2,
                         self.text("streams.txt"))
        self.assertTrue(self.json("switch.json")["ledger_balanced"])

    def test_more_queues_than_the_device_has_are_refused(self):
        self.assertEqual(self.status_of("three-queues"), 3)
        self.assertIn("rx_queues: 3 are more than its 2", self.text("three-queues.txt"))

    def test_held_windows_on_two_queues_are_refused(self):
        self.assertIn(self.status_of("window"), (2, 3))
        self.assertIn("rx_queues", self.text("window.txt"))


if __name__ == "__main__":
    guest.main()
