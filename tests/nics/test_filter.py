#!/usr/bin/env python3
"""virtio-net whose host neither sets a receive filter nor has a control queue: the switch says
which frames it may lack, and the generator, which knows its hosts' addresses, does not start."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $NICS
configure
kept switch outrider-switch --config switch.toml --duration 1s
kept trafficgen outrider-trafficgen --config trafficgen.toml --duration 1s
"""


class Filter(guest.GuestTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True
    MACHINE = {"model": "virtio", "cables": 2, "properties": "ctrl_rx=off,ctrl_vq=off"}

    def test_the_switch_says_what_it_receives(self):
        self.assertEqual(self.status_of("switch"), 0, self.text("switch.txt"))
        for device in ("workers", "servers"):
            self.assertIn(f"device {device}: it cannot be made promiscuous and receives frames to "
                          "its own MAC address alone", self.text("switch.txt"))

    def test_the_generator_is_refused_by_name(self):
        self.assertEqual(self.status_of("trafficgen"), 3, self.text("trafficgen.txt"))
        self.assertIn("device workers: it cannot be made promiscuous, nor receive for the MAC "
                      "addresses of 5 hosts", self.text("trafficgen.txt"))


if __name__ == "__main__":
    guest.main()
