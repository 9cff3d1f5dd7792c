#!/usr/bin/env python3
"""Linux hosts that leave their checksums to virtio-net, on cables that carry them unfinished within
one machine: behind the switch the checksums are complete."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $near_a $near_b
modprobe virtio_net
{ two_ports $near_a $near_b; printf '[switch.l2]\nlearning = true\n'; } >switch.toml
number=0
for nic in $far_a $far_b; do
  until interface=$(ls /sys/bus/pci/devices/$nic/virtio*/net 2>/dev/null); do sleep 0.2; done
  number=$((number + 1))
  ip netns add host$number
  ip link set $interface netns host$number name eth0
  ip -n host$number address add 10.0.0.$number/24 dev eth0
  ip -n host$number link set eth0 up
done
ip netns exec host1 ethtool -k eth0 >offloads.txt
outrider-switch --config switch.toml --report switch.json >switch.log 2>&1 &
switch=$!
until_says switch.log "right: link is up"
ip netns exec host2 python3 "$root/tests/linux/peer.py" listen receive 10.0.0.2 7001 100000 \
  >receiver.log 2>&1 &
receiver=$!
until_says receiver.log ready
kept sender ip netns exec host1 timeout 60 python3 "$root/tests/linux/peer.py" \
  connect send 10.0.0.2 7001 100000
ended receiver $receiver
ip netns exec host2 nstat -az TcpInCsumErrors >errors.txt
kill -INT $switch
ended switch $switch
"""


class Unfinished(guest.GuestTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True
    MACHINE = {"model": "virtio", "cables": 2, "queues": 2}

    def test_hosts_understand_each_other(self):
        self.assertRegex(self.text("offloads.txt"), "tx-checksum-ip-generic: on")
        self.assertRegex(self.text("errors.txt"), r"TcpInCsumErrors +0 ")
        self.assertEqual(self.status_of("sender"), 0, self.text("sender.txt"))
        self.assertEqual(self.status_of("receiver"), 0, self.text("receiver.log"))
        self.assertTrue(self.json("switch.json")["ledger_balanced"])


if __name__ == "__main__":
    guest.main()
