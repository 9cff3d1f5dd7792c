#!/usr/bin/env python3
"""igb (82576), which needs QEMU 8: RSS over two lcores, the quick experiment, and a cable that is
pulled and put back while packets move."""
import guest
import rss

SCRIPT = rss.SCRIPT + r"""
configure
quick
both_run
hand link 0 off
until_says switch.log "workers: link is down"
hand link 0 on
until_said_twice switch.log "workers: link is up"
both_stop
"""


class Igb(rss.RssTest):
    SCRIPT = SCRIPT
    FULL_ONLY = True
    MACHINE = {"model": "igb", "cables": 2, "cpus": 3}

    def test_no_packet_is_lost_or_overtakes_one_of_its_flow(self):
        self.no_packet_was_lost_or_overtook_one_of_its_flow()
        self.both_queues_were_opened()

    def test_the_quick_experiment_runs(self):
        self.quick_experiment_ran()

    def test_both_programs_outlive_a_cable_that_is_pulled(self):
        self.assertRegex(self.text("switch.log"), r"(?s)workers: link is up.*workers: link is down"
                                                  r".*workers: link is up")
        # 130: the generator was ended before its job
        for program, statuses in (("switch", (0,)), ("trafficgen", (0, 130))):
            self.assertIn(self.status_of(program), statuses, self.text(f"{program}.log"))
            self.assertTrue(self.json(f"{program}.json")["ledger_balanced"])


if __name__ == "__main__":
    guest.main()
