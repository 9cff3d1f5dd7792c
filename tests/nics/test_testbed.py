#!/usr/bin/env python3
"""The steps of docs/testbed.md that need no Linux host, in one machine with four ports: both programs
check their devices at the same time, with rates that are shares of a link which comes up only after
its device was opened, and the highest rate through the switch is searched by frame size."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $NICS
configure
sed -i 's/20mbit/1gbit/' switch.toml
kept switch-devices outrider-switch --config switch.toml --check --devices &
kept devices outrider-trafficgen --config streams.toml --check --devices
wait
outrider-switch --config switch.toml --report switch.json >switch.log 2>&1 &
switch=$!
until_says switch.log forwarding
# What a guest forwards at any load of the machine around it
sed 's/100%/0.1%/' streams.toml >slow.toml
kept search outrider-trafficgen ndr --config slow.toml --frame-bytes 64,1518 --report ndr.json
kill -INT $switch
ended switch $switch
"""


class Testbed(guest.GuestTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True
    MACHINE = {"model": "e1000e", "cables": 2}

    def test_both_ends_would_start(self):
        for end in ("switch-devices", "devices"):
            said = self.text(f"{end}.txt")
            self.assertEqual(self.status_of(end), 0, said)
            self.assertIn("device workers: link up at 1 Gbit/s", said)
            self.assertIn("huge pages", said)

    def test_a_rate_is_found_for_each_frame_size(self):
        self.assertIn('rate = "100%"', self.text("streams.toml"))
        said = self.text("search.txt")
        self.assertEqual(self.status_of("search"), 0, said)
        self.assertRegex(said, r"(?m)^ +64 +[\d.]+ .*\n +1518 +[\d.]+ ")
        self.assertTrue(self.json("switch.json")["ledger_balanced"])


if __name__ == "__main__":
    guest.main()
