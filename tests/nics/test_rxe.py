#!/usr/bin/env python3
"""Two ends of Linux's rdma_rxe through the switch: perftest, and a program that compares every
byte; over marks, and over a loss of 0.1 %."""
import guest
import rxe

SCRIPT = r"""
gid() { grep -ls "ffff:$2" /sys/class/infiniband/rxe_$1/ports/1/gids/* | grep -o '[0-9]*$'; }
# perftest NAME PROGRAM: between the two rxe devices. They agree on their numbers by TCP inside.
perftest() {
  local shape="-s 65536 -n 16 -F --tclass=2 --qp-timeout=18"
  timeout 90 $2 -d rxe_right -x $(gid right 0a00:0201) $shape >$1-server.txt 2>&1 &
  local pid=$!
  for _ in {1..150}; do ss -ltn | grep -q :18515 && break; sleep 0.2; done
  kept $1-client timeout 90 $2 -d rxe_left -x $(gid left 0a00:0101) $shape 10.0.2.1
  ended $1-server $pid
}

switch_runs marks
perftest marks-write ib_write_bw
perftest marks-send ib_send_bw
between marks-writes $rxe_receives -- $rxe_sends
between marks-sends $rxe_receives --operation send -- $rxe_sends --operation send
switch_ends marks
switch_runs loss "loss = 0.001"
perftest loss-write ib_write_bw
perftest loss-send ib_send_bw
between loss-writes $rxe_receives --count 64 -- $rxe_sends --count 64
switch_ends loss
"""


class Rxe(rxe.RxeTest):
    SCRIPT = rxe.TOOLS + SCRIPT

    def test_perftest_runs(self):
        for name in ("marks-write", "marks-send", "loss-write", "loss-send"):
            for side in ("client", "server"):
                said = self.text(f"{name}-{side}.txt")
                self.assertEqual(self.status_of(f"{name}-{side}"), 0, said)
                self.assertRegex(said, r"(?m)^ 65536 +16 ")

    def test_every_byte_arrives(self):
        for name, messages in (("marks-writes", 16), ("marks-sends", 16), ("loss-writes", 64)):
            found = self.every_byte_arrived(name, messages)
            self.assertEqual(found["immediates"], list(range(messages)))
            self.assertTrue(found["guards_untouched"])

    def test_icrcs_leave_the_switch_as_they_came(self):
        self.icrcs_are_right("marks")
        self.icrcs_are_right("loss")

    def test_rxe_answers_no_mark(self):
        to_left, to_right = self.captures("marks")
        self.assertGreater(to_right.marked(), 0)
        self.assertEqual(set(to_left.opcodes()), {rxe.ACKNOWLEDGE})

    def test_the_loss_was_there(self):
        self.assertEqual(set(self.dropped("loss")), {"injected_loss"})
        self.assertEqual(self.dropped("marks"), {})

    def test_the_switch_accounts_for_every_packet(self):
        self.the_switch_accounts_for_every_packet("marks")
        self.the_switch_accounts_for_every_packet("loss")


if __name__ == "__main__":
    guest.main()
