#!/usr/bin/env python3
"""Virtual functions of igb, whose driver takes a promiscuous mode for granted that they do not
have: the limit is named, the remedy that is printed lets packets pass, and a virtual function that
its parent takes away ends the switch in good order."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
modprobe igb
parents=() functions=()
for nic in $near_a $near_b; do
  until parent=$(ls /sys/bus/pci/devices/$nic/net 2>/dev/null); do sleep 0.2; done
  echo 2 >/sys/bus/pci/devices/$nic/sriov_numvfs
  ip link set $parent up
  parents+=($parent)
  functions+=($(basename $(readlink /sys/bus/pci/devices/$nic/virtfn0)))
done
dpdk-devbind.py --bind=vfio-pci $far_a $far_b ${functions[@]}
{ two_ports ${functions[@]}; stream_routes; } >functions.toml
settings=('rate = "200pps"' 'frame_bytes = 128' 'flows = 8')
{
  stream_ends 'lcore = 1' 'duration = "2s"' 'stream_drain = "1s"'
  stream forth "${settings[@]}" 'destination_mac = "02:00:00:00:aa:00"'
  stream back "${settings[@]}" 'destination_mac = "02:00:00:00:bb:00"'
} >streams.toml
# streams NAME: sends them through the switch, and leaves it running
streams() {
  outrider-switch --config functions.toml --report switch.json >$1.log 2>&1 &
  switch=$!
  until_says $1.log "left: link is up"
  until_says $1.log "right: link is up"
  kept $1-streams outrider-trafficgen --config streams.toml --report $1-streams.json
}
streams unknown
kill -INT $switch
ended unknown $switch
outrider-doctor --json >doctor.json
ip link set ${parents[0]} vf 0 mac 02:00:00:00:aa:00 spoofchk off
ip link set ${parents[1]} vf 0 mac 02:00:00:00:bb:00 spoofchk off
streams known
echo 0 >/sys/bus/pci/devices/$near_a/sriov_numvfs &
ended known $switch
wait
"""


class Sriov(guest.GuestTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True
    MACHINE = {"model": "igb", "cables": 2}

    def test_what_a_virtual_function_does_not_receive_is_named(self):
        self.assertIn("received 0, lost", self.text("unknown-streams.txt"))
        said = self.text("unknown.log")
        self.assertIn("device left: a virtual function: its physical function 0000:01:00.0 decides",
                      said)
        self.assertIn("mend: ip link set eth0 vf 0", said)
        finding = self.finding("doctor.json", "devices.0000:01:10.0")
        self.assertIn("ip link set eth0 vf 0", finding["remedy"])

    def test_with_their_address_packets_pass(self):
        said = self.text("known-streams.txt")
        self.assertEqual(said.count("lost 0, reordered 0"), 2, said)
        self.assertRegex(said, r"received [1-9]\d\d, lost 0")

    def test_a_virtual_function_that_is_taken_away_ends_the_switch(self):
        self.assertEqual(self.status_of("known"), 3, self.text("known.log"))
        self.assertIn("device left: was unplugged", self.text("known.log"))
        self.assertTrue(self.json("switch.json")["ledger_balanced"])


if __name__ == "__main__":
    guest.main()
