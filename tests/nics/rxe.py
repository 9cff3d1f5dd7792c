"""Linux's soft RoCE (rdma_rxe) at both sides of the switch, in one guest: two of its NICs are two
hosts, each with an rxe device. Rules of routing keep the kernel from taking the short way between
its own addresses."""
import shutil
import struct
import subprocess
import sys
import zlib

import guest

sys.path.insert(0, str(guest.ROOT / "tests" / "hosts"))
import port_capture  # noqa: E402

PORT = 4791
CE, CNP, ACKNOWLEDGE = 3, 0x81, 0x11
IP_AT, UDP_AT, BTH_AT = 14, 34, 42

# What the scripts share
TOOLS = r"""
modprobe -a e1000e rdma_rxe ib_uverbs
# host NAME DEVICE ADDRESS PEER TABLE: makes a NIC a host of its own
host() {
  ip link set "$(ls /sys/bus/pci/devices/$2/net)" name $1
  ip address add $3/32 dev $1
  sysctl -q net.ipv4.conf.$1.accept_local=1 net.ipv4.conf.$1.arp_ignore=1
  ip link set $1 up
  ip route add $4 dev $1 src $3 table $5
  ip rule add pref 10 iif $1 lookup local
  ip rule add pref 20 from $3 to $4 lookup $5
}
sysctl -q net.ipv4.conf.all.rp_filter=0
host left $far_a 10.0.1.1 10.0.2.1 101
host right $far_b 10.0.2.1 10.0.1.1 102
ip rule add pref 30 lookup local
ip rule del pref 0
for name in left right; do rdma link add rxe_$name type rxe netdev $name; done

sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $near_a $near_b
# switch_starts NAME PORT'S-SETTING: starts the switch, which marks above 5 packets
switch_starts() {
  two_ports $near_a $near_b | sed -e "s/^drain_rate = .*/&\n$2/" -e 's/^lcore = 0/lcore = 1/' \
    -e 's/^\[switch.queue\]/[switch.marker]\nkind = "step"\nthreshold_packets = 5\n&/' \
    -e 's/^\[switch.marker\]/[switch.l2]\nlearning = true\n&/' >$1.toml
  outrider-switch --config $1.toml --report $1.json --capture s.left=$1-left.pcapng \
    --capture s.right=$1-right.pcapng --capture-snap 1200 >$1.log 2>&1 &
  switch=$!
  until_says $1.log "left: link is up"
  until_says $1.log "right: link is up"
}
# switch_runs NAME PORT'S-SETTING: starts it between two hosts of the kernel
switch_runs() {
  switch_starts "$@"
  kept $1-ping ping -c 3 -W 5 -I 10.0.1.1 10.0.2.1
}
switch_ends() { kill -INT $switch; ended $1 $switch; }

# between NAME RECEIVER... -- SENDER...: runs both ends until they have ended
between() {
  local name=$1 receiver=(); shift
  while [[ $1 != -- ]]; do receiver+=("$1"); shift; done; shift
  rm -f left.numbers right.numbers
  "${receiver[@]}" >$name-receiver.txt 2>&1 &
  local pid=$!
  kept $name-sender "$@"
  ended $name-receiver $pid
}
rxe_receives="$root/tests/nics/rdma_end.py receive rxe_right 10.0.2.1 right.numbers left.numbers"
rxe_sends="$root/tests/nics/rdma_end.py send rxe_left 10.0.1.1 left.numbers right.numbers"
"""


def icrc(packet):
    """@param packet  from the IPv4 header to the ICRC, which is not included
    @return the ICRC as its four bytes, by annex A17: fields that routers change count as ones"""
    masked = bytearray(b"\xff" * 8 + packet)
    for at in (1, 8, 10, 11, 26, 27, 32):  # TOS, TTL, checksums of IP and UDP, flags of the BTH
        masked[8 + at] = 0xFF
    return struct.pack("<I", zlib.crc32(masked))


class Capture:
    """Frames of RoCEv2 that left a port."""

    def __init__(self, path):
        self.frames = [bytes(frame) for _, _, frame in port_capture.packets(path)
                       if frame[12:14] == b"\x08\x00" and frame[IP_AT + 9] == 17 and
                       frame[UDP_AT + 2:UDP_AT + 4] == PORT.to_bytes(2, "big")]

    def opcodes(self):
        return [frame[BTH_AT] for frame in self.frames]

    def marked(self):
        return sum(frame[IP_AT + 1] & 3 == CE for frame in self.frames)

    def wrong_icrcs(self):
        wrong = 0
        for frame in self.frames:
            packet = frame[IP_AT:IP_AT + int.from_bytes(frame[IP_AT + 2:IP_AT + 4], "big")]
            wrong += icrc(packet[:-4]) != packet[-4:]
        return wrong


class RxeTest(guest.GuestTest):
    MACHINE = {"cables": 2, "memory_mib": 1536}
    FULL_ONLY = True

    @classmethod
    def run_script(cls, programs):
        verbs = subprocess.run(["/usr/bin/python3", "-c", "import pyverbs"], check=False,
                               capture_output=True).returncode == 0
        if not verbs or shutil.which("ib_write_bw") is None:
            raise guest.kernel.Missing("perftest or python3-pyverbs is missing; tools/setup --nics "
                                       "installs them")
        return super().run_script(programs)

    def found(self, name):
        """Returns what an end wrote last."""
        self.assertEqual(self.status_of(name), 0, self.text(f"{name}.txt"))
        return guest.json.loads(self.text(f"{name}.txt").splitlines()[-1])

    def every_byte_arrived(self, name, messages):
        found = self.found(f"{name}-receiver")
        self.assertEqual(found["compared_bytes"], messages * 65536)
        self.assertEqual(found["wrong_bytes"], 0)
        self.found(f"{name}-sender")
        return found

    def captures(self, name):
        return [Capture(self.files / f"{name}-{side}.pcapng") for side in ("left", "right")]

    def dropped(self, name):
        """Returns packets of all classes that the switch's queues dropped, by reason."""
        counts = {}
        for queue in self.json(f"{name}.json")["queues"]:
            for drops in queue["drops"].values():
                for reason, packets in drops.items():
                    counts[reason] = counts.get(reason, 0) + packets
        return {reason: packets for reason, packets in counts.items() if packets != 0}

    def icrcs_are_right(self, name):
        for capture in self.captures(name):
            self.assertGreater(len(capture.frames), 0)
            self.assertEqual(capture.wrong_icrcs(), 0)

    def the_switch_accounts_for_every_packet(self, name):
        self.assertEqual(self.status_of(name), 0, self.text(f"{name}.log"))
        self.assertTrue(self.json(f"{name}.json")["ledger_balanced"])


class RxeOnTwoNetworks(RxeTest):
    """Of a script whose switch is named by what it does: first it marks, then it loses packets."""
    NETWORKS = "marks", "loss"

    def test_icrcs_are_right(self):
        for name in self.NETWORKS:
            self.icrcs_are_right(name)

    def test_the_loss_was_there(self):
        self.assertEqual(set(self.dropped("loss")), {"injected_loss"})

    def test_the_switch_accounts_for_every_packet(self):
        for name in self.NETWORKS:
            self.the_switch_accounts_for_every_packet(name)
