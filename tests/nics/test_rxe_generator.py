#!/usr/bin/env python3
"""outrider-trafficgen on a NIC of its own and Linux's rdma_rxe through the switch, either as the
sender: rxe's end compares every byte, over marks and over a loss of 0.1 %."""
import guest
import rxe

SCRIPT = r"""
# The left host is the generator's now, with the address that the kernel had
rdma link delete rxe_left
ip link set left down
dpdk-devbind.py --bind=vfio-pci $far_a
own=4660 own_first_psn=16777200  # it wraps soon
cat >ours.numbers <<NUMBERS
{"host": "10.0.1.1", "queue_pair": $own, "first_psn": $own_first_psn, "key": $own, "address": 0}
NUMBERS
number() { grep -o "\"$1\": [0-9]*" right.numbers | grep -o "[0-9]*$"; }
# generator NAME COUNT ENDS...: starts it with a transfer between these ends. It stays after the
# last one, for a peer that has not heard an acknowledgment.
generator() {
  cat >$1-ours.toml <<CONFIG
lcore = 0
duration = "60s"
[[device]]
name = "left"
device = "$far_a"
arp = true
[[host]]
name = "ours"
address = "10.0.1.1"
device = "left"
rate = "50mbit"
[[neighbour]]
device = "left"
address = "10.0.2.1"
mac = "$(cat /sys/class/net/right/address)"
[[transport]]
name = "rdma"
protocol = "roce"
[transport.roce]
window_packets = 64
timeout = "500ms"
retry_limit = 20
[[transfer]]
name = "$1"
bytes = "64KiB"
count = $2
transport = "rdma"
timeout = "50s"
$(printf '%s\n' "${@:3}")
[transfer.queue_pair]
own = $own
own_first_psn = $own_first_psn
peer = $(number queue_pair)
peer_first_psn = $(number first_psn)
peer_key = $(number key)
peer_address = $(number address)
CONFIG
  outrider-trafficgen --config $1-ours.toml --report $1-ours.json >$1-ours.log 2>&1 &
  ours=$!
  until_says $1-ours.log "sending from"
}
until_file() { for _ in {1..600}; do [[ -e $1 ]] && return; sleep 0.2; done; }

# ends NAME ROLE COUNT OPTIONS ENDS...: rxe's end first, whose numbers the generator needs. It gets
# ours when the generator runs, and answers ARP.
ends() {
  rm -f left.numbers right.numbers
  "$root/tests/nics/rdma_end.py" $2 rxe_right 10.0.2.1 right.numbers left.numbers --count $3 $4 \
    >$1-rxe.txt 2>&1 &
  local rxe_end=$!
  until_file right.numbers
  generator $1 $3 "${@:5}"
  cp ours.numbers whole.numbers
  mv whole.numbers left.numbers  # at once
  ended $1-rxe $rxe_end
  kill -INT $ours
  ended $1-ours $ours
}
sends() { ends $1 receive $2 "--expect zeros" 'from = "ours"' 'to = "10.0.2.1"'; }
receives() { ends $1 send $2 "" 'from = "10.0.2.1"' 'to = "ours"'; }

switch_starts marks
sends marks-out 16
receives marks-in 16
switch_ends marks
switch_starts loss "loss = 0.001"
sends loss-out 64
receives loss-in 64
switch_ends loss
"""

MESSAGES = {"marks-out": 16, "marks-in": 16, "loss-out": 64, "loss-in": 64}


class RxeGenerator(rxe.RxeOnTwoNetworks):
    SCRIPT = rxe.TOOLS + SCRIPT

    def report(self, name):
        report = self.json(f"{name}-ours.json")
        self.assertTrue(report["ledger_balanced"])
        return report

    def test_every_byte_arrives_at_rxe(self):
        for name in ("marks-out", "loss-out"):
            found = self.found(f"{name}-rxe")
            self.assertEqual(found["compared_bytes"], MESSAGES[name] * 65536)
            self.assertEqual(found["wrong_bytes"], 0)
            self.assertEqual(found["immediates"], list(range(MESSAGES[name])))
            self.assertTrue(found["guards_untouched"])

    def test_every_transfer_is_completed(self):
        for name, messages in MESSAGES.items():
            transfers = self.report(name)["transfers"]
            self.assertEqual(len(transfers), messages)
            for transfer in transfers:
                self.assertEqual((transfer["outcome"], transfer["delivered"]), ("completed", 65536))
        for name in ("marks-in", "loss-in"):
            self.found(f"{name}-rxe")

    def test_the_generator_understood_all(self):
        for name in MESSAGES:
            roce = self.report(name)["background_roce"]
            self.assertEqual((roce["bad_icrc"], roce["malformed"], roce["refused"]), (0, 0, 0))

    def test_the_generator_answers_marks_and_rxe_does_not(self):
        ours = self.report("marks-in")["background_roce"]
        self.assertGreater(ours["marked"], 0)
        self.assertGreater(ours["cnps_sent"], 0)
        self.assertEqual(self.report("marks-out")["background_roce"]["cnps_received"], 0)
        _, to_right = self.captures("marks")
        self.assertEqual(to_right.opcodes().count(rxe.CNP), ours["cnps_sent"])


if __name__ == "__main__":
    guest.main()
