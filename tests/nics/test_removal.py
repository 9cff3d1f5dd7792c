#!/usr/bin/env python3
"""e1000e under a QEMU whose link follows the cable: both programs outlive a cable that is pulled,
and end in good order when the kernel takes a NIC away from them."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $NICS
configure
both_run
hand link 0 off
until_says switch.log "workers: link is down"
hand link 0 on
until_said_twice switch.log "workers: link is up"
# taken ADDRESS: has the kernel remove a device, which waits for the program that uses it
taken() { echo 1 >/sys/bus/pci/devices/$1/remove; }
taken $near_b &
ended switch $switch
taken $far_b &
ended trafficgen $trafficgen
for _ in {1..100}; do [[ -e /sys/bus/pci/devices/$far_b ]] || break; sleep 0.2; done
ls /sys/bus/pci/devices >devices.txt
echo $near_b $far_b >taken.txt
"""


class Removal(guest.GuestTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True
    MACHINE = {"model": "e1000e", "cables": 2, "newer": True}

    def test_a_cable_that_is_pulled_and_put_back_is_told(self):
        self.assertRegex(self.text("switch.log"), r"(?s)workers: link is up.*workers: link is down"
                                                  r".*workers: link is up")

    def test_a_device_that_the_kernel_takes_away_ends_each_program_with_a_report(self):
        for program in ("switch", "trafficgen"):
            self.assertEqual(self.status_of(program), 3, self.text(f"{program}.log"))
            self.assertIn("device servers: was unplugged", self.text(f"{program}.log"))
            self.assertTrue(self.json(f"{program}.json")["ledger_balanced"])

    def test_the_kernel_gets_the_devices(self):
        for address in self.text("taken.txt").split():
            self.assertNotIn(address, self.text("devices.txt"))


if __name__ == "__main__":
    guest.main()
