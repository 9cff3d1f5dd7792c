#!/usr/bin/env python3
"""The generator's queue pair and Linux's rdma_rxe through the switch, either as the sender: every
byte is compared, over marks, which the queue pair answers with CNPs, and over a loss of 0.1 %."""
import guest
import rxe

SCRIPT = r"""
mac_of() { cat /sys/class/net/$1/address; }
ours_receives="outrider-roce-end receive right 10.0.2.1 right.numbers left.numbers
  --peer-mac $(mac_of left)"
ours_sends="outrider-roce-end send left 10.0.1.1 left.numbers right.numbers
  --peer-mac $(mac_of right)"

switch_runs marks
between ours-to-rxe $rxe_receives --expect zeros -- $ours_sends
between rxe-to-ours $ours_receives -- $rxe_sends
switch_ends marks
switch_runs loss "loss = 0.001"
between ours-to-rxe-loss $rxe_receives --expect zeros --count 64 -- $ours_sends --count 64
between rxe-to-ours-loss $ours_receives --count 64 -- $rxe_sends --count 64
switch_ends loss
"""


class RxeQueuePair(rxe.RxeOnTwoNetworks):
    SCRIPT = rxe.TOOLS + SCRIPT

    def ours_understood_all(self, name):
        ours = self.found(name)
        self.assertEqual((ours["bad_icrc"], ours["malformed"], ours["refused"]), (0, 0, 0))
        return ours

    def test_every_byte_arrives_at_rxe(self):
        for name, messages in (("ours-to-rxe", 16), ("ours-to-rxe-loss", 64)):
            found = self.every_byte_arrived(name, messages)
            self.assertEqual(found["immediates"], list(range(messages)))
            self.assertTrue(found["guards_untouched"])
            self.ours_understood_all(f"{name}-sender")

    def test_every_byte_arrives_at_the_queue_pair(self):
        for name, messages in (("rxe-to-ours", 16), ("rxe-to-ours-loss", 64)):
            self.every_byte_arrived(name, messages)
            self.ours_understood_all(f"{name}-receiver")

    def test_the_queue_pair_answers_marks_and_rxe_does_not(self):
        ours = self.found("rxe-to-ours-receiver")
        self.assertGreater(ours["marked"], 0)
        self.assertGreater(ours["cnps_sent"], 0)
        self.assertEqual(self.found("ours-to-rxe-sender")["cnps_received"], 0)
        to_left, _ = self.captures("marks")
        self.assertEqual(to_left.opcodes().count(rxe.CNP), ours["cnps_sent"])


if __name__ == "__main__":
    guest.main()
