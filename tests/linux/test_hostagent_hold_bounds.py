#!/usr/bin/env python3
"""No sender that outrider-hostagent holds is stuck, whatever becomes of the agent and of bursts,
and STARTs that nobody meant hold for a bounded time."""
import time

import agents
from hold_lab import RTT, HoldTest


class Bounds(HoldTest):
    def test_starts_without_bursts_hold_for_a_bounded_share_of_the_time(self):
        agent, server, other = self.stream(*RTT, "--wait", "50ms", "--longest", "200ms",
                                           seconds=2)
        worker = self.starts(20, 0.05, "empty")
        self.ended(worker, 0)
        self.ended_well(server, other, 40)
        self.end(agent)
        report = self.lab.report("hold")
        print(report)
        self.assertGreaterEqual(report["starts"], 18, "the queue may drop some")
        self.assertEqual(report["bursts_complete"] + report["bursts_cut"], 0)
        self.assertGreaterEqual(report["bursts_never_came"], report["starts"] - 1)
        self.assertGreater(report["acks_held"], 0)

    def test_forged_starts_use_up_the_budget_and_no_more(self):
        agent, server, other = self.stream(*RTT, "--floor", "0", "--sender-share", "0.05",
                                           "--budget-share", "0.06", seconds=2)
        worker = self.starts(300, 0.004, "empty")
        self.ended(worker, 0)
        self.ended_well(server, other, 50)
        self.end(agent)
        report = self.lab.report("hold")
        print(report)
        self.assertGreater(report["over_budget"], 100)
        self.assertLessEqual(report["held_ms"], 2 * 600, "two windows of 10 s at most")
        heard = report["starts"] + report["over_budget"] + report["over_table"]
        self.assertGreater(heard, 200, "the queue may drop some")

    def test_an_agent_that_is_killed_holds_nobody_for_long(self):
        agent, server, other = self.stream(*RTT, "--floor", "0", "--wait", "10s",
                                           "--longest", "300ms", "--sender-share", "1",
                                           "--budget-share", "1", seconds=6)
        worker = self.starts(100, 0.05, "empty")
        time.sleep(0.3)
        agent.kill()
        self.ended(worker, 0)
        self.assertNotEqual(self.filters("server"), [], "the filters stay")
        # Held, two flows of two segments have 12 Mbit/s. STARTs that come 3 s after the kill hold
        # nobody.
        self.ended_well(server, other, 30)
        again = self.hold(*RTT, name="again")
        self.assertIn("replaced what a killed agent had left", again.output())
        self.end(again)
        self.assertEqual(self.filters("server"), [])

    def test_more_connections_than_the_table_holds_are_left_alone(self):
        agent, server, other = self.stream(*RTT, "--max-connections", "16", seconds=2,
                                           flows=60)
        worker = self.starts(2, 0.5)
        self.ended(worker, 0)
        self.ended_well(server, other, 50)
        self.end(agent)
        report = self.lab.report("hold")
        print(report)
        self.assertEqual(report["connections"], 61)
        self.assertGreater(report["without_handshake"], 30)


if __name__ == "__main__":
    agents.main()
