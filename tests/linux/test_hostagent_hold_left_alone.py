#!/usr/bin/env python3
"""Connections that outrider-hostagent cannot hold, and STARTs that it does not believe, are left
alone and counted."""
import sys
import time

import agents
import lab
from hold_lab import RTT, SERVER, HoldTest


class LeftAlone(HoldTest):
    def test_others_and_connections_that_do_not_exist_hold_nobody(self):
        agent, server, other = self.stream("--accept-from", "10.76.0.99/32", *RTT)
        self.ended(self.starts(3, 0.1), 0)
        self.end(agent)
        self.assertGreaterEqual(self.lab.report("hold")["not_accepted"], 2)
        agent = self.hold(*RTT, name="again")
        send = (f"import sys, socket, time; sys.path.insert(0, {str(lab.HERE)!r}); import two_hosts as t; "
                "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
                f"[(s.sendto(t.start_message(5, 4000 + i, 5000), ('{SERVER}', 5900)), "
                "time.sleep(0.005)) for i in range(50)]")
        self.lab.run_in(self.hosts["worker"], sys.executable, "-c", send)
        time.sleep(0.2)
        self.ended_well(server, other, 60)
        self.end(agent)
        report = self.lab.report("again")
        print(report)
        self.assertGreater(report["not_connected"], 10)
        self.assertEqual((report["starts"], report["acks_held"]), (0, 0))
        self.assertGreater(report["without_handshake"], 0, "they are older than the agent")

    def test_acks_that_leave_elsewhere_are_counted(self):
        other, server = self.hosts["other"], self.hosts["server"]
        self.lab.cable(other, "eth1", server, "eth1", "10.77.0.2/24")
        self.lab.run_in(server, "ip", "route", "add", "10.76.0.3/32", "dev", "eth1", "src", SERVER)
        agent, receiver, background = self.stream(*RTT, seconds=1)
        self.ended(self.starts(2, 0.2), 0)
        self.ended_well(receiver, background, 40)
        self.end(agent)
        report = self.lab.report("hold")
        self.assertEqual((report["without_handshake"], report["answered_elsewhere"]), (2, 2))
        self.assertEqual((report["connections"], report["acks_held"]), (1, 0), "the job's")

    def test_connections_without_timestamps_are_left_alone(self):
        self.lab.sysctl(self.hosts["other"], "net.ipv4.tcp_timestamps=0")
        agent, receiver, background = self.stream(*RTT, seconds=1)
        self.ended(self.starts(2, 0.2), 0)
        self.ended_well(receiver, background, 40)
        self.end(agent)
        report = self.lab.report("hold")
        self.assertEqual((report["connections"], report["without_timestamps"]), (3, 2))
        self.assertEqual(report["acks_held"], 0)


if __name__ == "__main__":
    agents.main()
