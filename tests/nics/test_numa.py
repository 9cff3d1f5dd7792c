#!/usr/bin/env python3
"""Two NUMA nodes with all NICs at node 1: where the packet buffers are, and what the doctor and
the switch say of an lcore or of huge pages at the other node."""
import re

import guest

SCRIPT = r"""
dpdk-devbind.py --bind=vfio-pci $NICS
configure
# reserve PAGES PAGES: huge pages of node 0 and node 1
reserve() {
  local node
  for node in 0 1; do
    echo $1 >/sys/devices/system/node/node$node/hugepages/hugepages-2048kB/nr_hugepages
    shift
  done
}
# on_cpu NAME CPU: runs the switch and keeps the map of its memory
on_cpu() {
  sed -i "s/^lcore = .*/lcore = $2/" switch.toml
  outrider-switch --config switch.toml >$1.log 2>&1 &
  switch=$!
  until_says $1.log forwarding
  cat /proc/$switch/numa_maps >$1.maps
  kill -INT $switch
  ended $1 $switch
}
reserve 180 180
outrider-doctor --json >even.json
on_cpu near 1
on_cpu far 0
reserve 180 0
outrider-doctor --json >uneven.json
sed -i "s/^lcore = .*/lcore = 1/" switch.toml
kept no-pages outrider-switch --config switch.toml --duration 1s
"""


class Numa(guest.GuestTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True
    MACHINE = {"model": "e1000e", "cables": 2, "cpus": 2, "nodes": 2, "far_nodes": (0, 1, 2, 3)}

    def huge_pages(self, name):
        """Pages of the program at each node."""
        lines = [line for line in self.text(name).splitlines() if " huge " in line]
        return [sum(int(n) for n in re.findall(rf"\bN{node}=(\d+)", "\n".join(lines)))
                for node in (0, 1)]

    def test_the_doctor_knows_the_nodes_and_their_cpus(self):
        cause = self.finding("even.json", "numa.nodes")["cause"]
        self.assertIn("2 NUMA nodes: node0 has CPUs 0, node1 has CPUs 1", cause)

    def test_the_doctor_misses_huge_pages_of_the_nics_node(self):
        self.assertNotIn("numa.huge_pages", self.text("even.json"))
        self.assertEqual(self.finding("uneven.json", "numa.huge_pages")["severity"], "fail")

    def test_an_lcore_of_the_nics_node_has_all_buffers_there_and_no_warning(self):
        self.assertEqual(self.status_of("near"), 0, self.text("near.log"))
        self.assertNotIn("NUMA", self.text("near.log"))
        here, there = self.huge_pages("near.maps")[::-1]
        self.assertGreater(here, 10 * there)

    def test_an_lcore_of_another_node_is_warned_of_with_the_cpu_to_take(self):
        self.assertEqual(self.status_of("far"), 0, self.text("far.log"))
        for device in ("workers", "servers"):
            self.assertRegex(self.text("far.log"),
                             rf"device {device} is at NUMA node 1 and polled from CPU 0 at NUMA "
                             r"node 0: .* CPUs: 1")
        at_lcore, at_nic = self.huge_pages("far.maps")
        self.assertGreater(at_lcore, at_nic, "the pool is at the lcore's node")
        self.assertGreater(at_nic, 0, "the descriptors are at the NIC's node")

    def test_a_node_without_huge_pages_is_named(self):
        self.assertEqual(self.status_of("no-pages"), 3)
        self.assertRegex(self.text("no-pages.txt"),
                         r"NUMA node 1, which has CPU 1, 0000:\S+, 0000:\S+, has no free huge page. "
                         r"Reserve some: echo 512 > /sys/devices/system/node/node1/")


if __name__ == "__main__":
    guest.main()
