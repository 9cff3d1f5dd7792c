#!/usr/bin/env python3
"""A NIC that verifies TCP checksums, and the same NIC as an af_packet device, which verifies none:
the switch sends the same bytes, and both programs count damaged frames under the same names."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
sysctl -q net.ipv6.conf.default.disable_ipv6=1  # nobody but the test speaks
modprobe e1000e
interface() { ls /sys/bus/pci/devices/$1/net; }
for nic in $NICS; do
  until interface $nic >/dev/null 2>&1; do sleep 0.2; done
  ip link set $(interface $nic) up
done
from=$(interface $far_a) to=$(interface $far_b)
ip link set $to promisc on
{
  two_ports "net_af_packet0,iface=$(interface $near_a)" "net_af_packet1,iface=$(interface $near_b)"
  route 10.79.0.0/24 right
} >switch.toml
PYTHONPATH=$root/tests/linux python3 -c '
import test_bad_frames
print(test_bad_frames.CONFIG.replace("iface=cable", "iface='$(interface $near_a)'"))' \
  >trafficgen.toml
# damage NAME: sends damaged frames through the switch, and then to the generator
damage() {
  outrider-switch --config switch.toml --report $1-switch.json >$1-switch.log 2>&1 &
  local switch=$! receiver
  until_says $1-switch.log "left: link is up"
  until_says $1-switch.log "right: link is up"
  python3 "$root/tests/nics/frames.py" receive $to $1.frames >$1-receiver.log 2>&1 &
  receiver=$!
  until_says $1-receiver.log receiving
  python3 "$root/tests/nics/frames.py" send $from
  ended $1-receiver $receiver
  kill -INT $switch
  ended $1-switch $switch
  outrider-trafficgen --config trafficgen.toml --report $1-trafficgen.json \
    >$1-trafficgen.log 2>&1 &
  local trafficgen=$!
  until_says $1-trafficgen.log "eth: link is up"
  python3 "$root/tests/nics/frames.py" send $from
  kill -INT $trafficgen
  ended $1-trafficgen $trafficgen
}
damage cpu
dpdk-devbind.py --bind=vfio-pci --force $near_a $near_b
sed -i "s/net_af_packet0[^\"]*/$near_a/; s/net_af_packet1[^\"]*/$near_b/" \
  switch.toml trafficgen.toml
damage nic
"""


class Checksums(guest.GuestTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True
    MACHINE = {"model": "e1000e", "cables": 2}

    def frames(self, name):
        """The different frames that came, in their order. Each is sent several times, as a cable
        of QEMU's loses one now and then."""
        return list(dict.fromkeys(self.text(f"{name}.frames").split()))

    def test_the_switch_sends_the_same_bytes(self):
        self.assertEqual(self.frames("cpu"), self.frames("nic"))
        # TCP with a right and a wrong checksum, of an unknown host, another protocol; UDP with
        # a right, a wrong and no checksum; the last one
        self.assertEqual(len(self.frames("nic")), 4 + 3 + 1)

    def drops(self, by, program):
        report = self.json(f"{by}-{program}.json")
        self.assertTrue(report["ledger_balanced"])
        return report["drops"]

    def test_the_switch_counts_a_damaged_ip_header_and_passes_the_rest_on(self):
        drops = self.drops("nic", "switch")
        self.assertEqual(drops, self.drops("cpu", "switch"))
        self.assertEqual(drops["background"]["bad_checksum"], 11)

    def test_the_generator_counts_damaged_tcp_too(self):
        drops = self.drops("nic", "trafficgen")
        self.assertEqual(drops, self.drops("cpu", "trafficgen"))
        self.assertEqual(drops["bad_checksum"], 11 + 12)


if __name__ == "__main__":
    guest.main()
