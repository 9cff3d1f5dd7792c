#!/usr/bin/env python3
"""vmxnet3, whose receive queues have two rings: both programs send and receive on it."""
import guest


class Vmxnet3(guest.GuestTest):
    SCRIPT = """
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $NICS
configure
quick
"""
    FULL_ONLY = True
    MACHINE = {"model": "vmxnet3", "cables": 2}

    def test_the_quick_experiment_runs(self):
        self.quick_experiment_ran()


if __name__ == "__main__":
    guest.main()
