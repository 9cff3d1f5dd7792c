#!/usr/bin/env python3
"""Goal: the profile `stack = "linux"` does with its window what this kernel does, through the same
losses, marks and idle times; `stack = "rfc"` does not, so the comparison can fail. Method: a part
of the scenarios of compare_tcp_traces.py, with a congestion control each."""

import os

import lab
import tcp_traces

# Losses that are found and repaired, also at a tail; reductions for marks; restarts; the end of
# slow start. Each takes seven seconds.
COMPARED = (("tail", "reno"), ("marks", "cubic"), ("idle-short", "cubic"), ("slow-start", "cubic"))
if os.environ.get("OUTRIDER_FULL") == "1":
    COMPARED += (("many-losses", "reno"), ("marks", "reno"))
DEPARTS = {"idle-short", "slow-start"}  # with stack = "rfc"


class TcpTraces(lab.LabTest):
    def virtual(self, s, controller, stack):
        samples, results = tcp_traces.run_virtual(s, self.lab.directory, stack, [controller])
        return samples[controller], results

    def test_the_profile_does_what_linux_does(self):
        hosts = tcp_traces.LinuxHosts(self.lab)
        for name, controller in COMPARED:
            with self.subTest(name, controller=controller):
                s = tcp_traces.scenario(name)
                ours, results = self.virtual(s, controller, "linux")
                wrong = None
                for _ in range(3):  # a busy machine may hold up a run
                    theirs, report = hosts.run(s, controller, results)
                    port = next(q for q in report["queues"] if q["port_name"] == "to_leaf_b")
                    self.assertEqual(injected(port), (len(s.lose), len(s.mark)))
                    wrong = departures(s, ours, theirs)
                    if not wrong:
                        break
                self.assertEqual(wrong, [])
                if name in DEPARTS:
                    basic, _ = self.virtual(s, controller, "rfc")
                    self.assertNotEqual(departures(s, basic, theirs), [],
                                        "the comparison sees no difference")


def departures(s, ours, theirs):
    return [f for f in tcp_traces.figures(s, ours, theirs) if not f.agrees()]


def injected(port):
    """Packets of the port that were lost, and marked, by their numbers."""
    return (sum(c["injected_loss"] for c in port["drops"].values()),
            sum(c["injected"] for c in port["marks"].values()))


if __name__ == "__main__":
    lab.main()
