"""Frames of 9,018 bytes, FCS included, on any kind of NIC: with mtu_bytes = 9000 they pass whole,
and the generator gives its NIC the MTU that its streams need; with 1500 the device of the switch
takes none."""
import re

import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=320
dpdk-devbind.py --bind=vfio-pci $NICS
cat >large.toml <<SWITCH
lcore = 0
[[device]]
name = "left"
device = "$near_a"
mtu_bytes = 9000
[[device]]
name = "right"
device = "$near_b"
mtu_bytes = 9000
[[switch]]
name = "s"
[switch.queue]
limit_packets = 4096
[[switch.port]]
name = "left"
device = "left"
drain_rate = "100mbit"
[[switch.port]]
name = "right"
device = "right"
drain_rate = "100mbit"
[[switch.route]]
prefix = "198.19.0.0/16"
port = "right"
SWITCH
sed '/^mtu_bytes/d' large.toml >small.toml
cat >streams.toml <<STREAMS
lcore = 1
duration = "2s"
stream_drain = "1s"
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
rate = "100pps"
frame_bytes = 9018
flows = 4
source = "198.18.0.1"
destination = "198.19.0.1"
STREAMS
for mtu in large small; do
  outrider-switch --config $mtu.toml --report $mtu.json >$mtu.log 2>&1 &
  switch=$!
  until_says $mtu.log "right: link is up"
  kept $mtu-streams outrider-trafficgen --config streams.toml --report $mtu-streams.json
  kill -INT $switch
  ended $mtu $switch
done
"""


class JumboTest(guest.GuestTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True

    def sent(self, name):
        return int(re.search(r"sent (\d+) packets", self.text(f"{name}-streams.txt"))[1])

    def the_longest_frames_pass_whole(self):
        self.assertEqual(self.status_of("large"), 0, self.text("large.log"))
        self.assertIn(f"received {self.sent('large')}, lost 0", self.text("large-streams.txt"))
        self.assertIn("truncated 0, bad checksum 0", self.text("large-streams.txt"))
        self.assertTrue(self.json("large.json")["ledger_balanced"])

    def frames_that_are_too_long_do_not_enter_the_switch(self):
        self.assertEqual(self.status_of("small"), 0, self.text("small.log"))
        self.assertIn("received 0, lost", self.text("small-streams.txt"))
        self.assertEqual(self.json("small.json")["received"], 0)
