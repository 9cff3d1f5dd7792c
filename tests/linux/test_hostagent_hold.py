#!/usr/bin/env python3
"""outrider-hostagent holds background back at its receiver, where no switch of ours is on the
path: the queue that a burst meets is short."""
import signal
import statistics

import agents
from hold_lab import DELAY_MS, JOB_PORT, SERVER, HoldTest


class Hold(HoldTest):
    def test_bursts_find_a_short_queue(self):
        off = self.run_bursts(4)
        on = self.run_bursts(4, hold=("--rtt", f"{4 * DELAY_MS}ms"))
        print("off", off, "on", on)
        # The first START finds the windows that were offered before bursts were expected.
        self.assertGreater(statistics.median(off["found"]), 40)
        self.assertLess(statistics.median(on["found"][1:]), 20)
        self.assertLess(1.3 * statistics.median(on["completion_ms"][1:]),
                        statistics.median(off["completion_ms"]))
        self.assertGreater(on["background_mbit"], 0.9 * off["background_mbit"])
        report = on["report"]
        self.assertGreaterEqual(report["starts"], 3, "the queue may drop one")
        self.assertEqual(report["bursts_complete"], report["starts"])
        self.assertEqual((report["connections"], report["without_handshake"]), (4, 0))
        self.assertEqual(report["out_of_window"], 0)
        self.assertGreater(report["acks_held"], 0)
        self.assertEqual(self.damaged("other"), (0, 0), "checksums")

    def test_starts_in_the_tos_byte_hold_too_beside_an_agent_that_answers(self):
        answer = self.answer("--form", "tos")
        on = self.run_bursts(3, hold=("--form", "tos", "--user", "nobody"), options=("tos",))
        answer.send(signal.SIGINT)
        self.ended(answer, 0)
        print(on)
        report = on["report"]
        self.assertGreaterEqual(report["starts"], 2, "the queue may drop one")
        self.assertEqual(report["bursts_idle"] + report["bursts_cut"], report["starts"])
        self.assertEqual(self.lab.report("answer")["answered"], report["starts"])
        self.assertLess(statistics.median(on["found"][1:]), 30)
        self.assertEqual(self.filters("server"), [])

    def test_connections_of_the_jobs_port_are_never_held(self):
        on = self.run_bursts(2, hold=("--job-port", "6001"))
        self.assertEqual(on["report"]["acks_held"], 0)
        self.assertGreaterEqual(on["report"]["bursts_complete"], 1)


if __name__ == "__main__":
    agents.main()
