"""Frames of 9,018 bytes, FCS included, on any kind of NIC: with mtu_bytes = 9000 they pass whole,
and the generator gives its NIC the MTU that its streams need; with 1500 none
passes the switch."""
import re

import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=320
dpdk-devbind.py --bind=vfio-pci $NICS
{ two_ports $near_a $near_b; stream_routes; } >small.toml
sed 's/^device = "0000.*/&\nmtu_bytes = 9000/' small.toml >large.toml
{
  stream_ends 'lcore = 1' 'duration = "2s"' 'stream_drain = "1s"'
  stream forth 'rate = "100pps"' 'frame_bytes = 9018' 'flows = 4'
} >streams.toml
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

    def frames_that_are_too_long_do_not_pass(self):
        self.assertEqual(self.status_of("small"), 0, self.text("small.log"))
        self.assertIn("received 0, lost", self.text("small-streams.txt"))
        self.assertTrue(self.json("small.json")["ledger_balanced"])

    def frames_that_are_too_long_do_not_enter_the_switch(self):
        self.frames_that_are_too_long_do_not_pass()
        self.assertEqual(self.json("small.json")["received"], 0)
