#!/usr/bin/env python3
"""virtio-net through vfio-pci: the quick experiment runs, a link that goes and comes is told and
counted under load, and a device that is unplugged ends both programs in good order."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $NICS
configure
quick
both_run
hand link 0 off
until_says switch.log "workers: link is down"
hand link 0 on
until_said_twice switch.log "workers: link is up"
hand unplug 2
ended switch $switch
hand unplug 3
ended trafficgen $trafficgen
"""


class Virtio(guest.GuestTest):
    SCRIPT = SCRIPT
    MACHINE = {"model": "virtio", "cables": 2}

    def test_the_quick_experiment_runs(self):
        self.quick_experiment_ran()

    def test_a_link_that_goes_and_comes_is_told(self):
        told = self.text("switch.log")
        self.assertRegex(told, r"(?s)workers: link is up.*workers: link is down"
                               r".*workers: link is up")

    def test_an_unplugged_device_ends_both_programs_with_a_report(self):
        for program, device in (("switch", "servers"), ("trafficgen", "servers")):
            self.assertEqual(self.status_of(program), 3, self.text(f"{program}.log"))
            self.assertIn(f"device {device}: was unplugged", self.text(f"{program}.log"))
            report = self.json(f"{program}.json")
            self.assertTrue(report["ledger_balanced"])

if __name__ == "__main__":
    guest.main()
