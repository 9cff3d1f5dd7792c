#!/usr/bin/env python3
"""outrider-hostagent beside a job that opens connection after connection stays as it is."""
import sys

import agents
from agents import PORT, SERVER

REMEMBERED = 1024  # flows, by the documentation
FLOWS, ROUNDS = 6000, 2
GROWTH_KB = 128  # of the second half of the flows; the first fills what is bounded
MAX_BURSTS = 500

# In a namespace: from eth0, bursts of connections that nobody has, each with a port of its own.
SEND = """
import socket, struct, sys
first, flows = int(sys.argv[1]), int(sys.argv[2])
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0x0800))
for sequence in (1, 101):
    for port in range(first, first + flows):
        tcp = struct.pack("!HHIIBBHHH", port, {port}, sequence, 0, 0x50, 0x10, 1000, 0, 0)
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 140, 0, 0, 64, 6, 0,
                         socket.inet_aton("10.76.0.1"), socket.inet_aton("{server}"))
        s.send(b"\\xff" * 6 + b"\\x02" + bytes(5) + b"\\x08\\x00" + ip + tcp + bytes(100))
"""


class Bounds(agents.AgentTest):
    def send(self, first):
        self.lab.run_in(self.hosts["worker"], sys.executable, "-c",
                        SEND.format(port=PORT, server=SERVER), first, FLOWS)

    def memory_kb(self, agent):
        """Resident, once the agent has handled all onsets that there were."""
        agents.lab.time.sleep(0.5)
        status = agents.lab.pathlib.Path(f"/proc/{agent.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)

    def grown(self, *words):
        """What the second of two halves of new flows adds. @return [kB], the report"""
        agent = self.agent("worker", *words, "--interface", "eth0", "--server",
                           f"{SERVER}:{PORT}", "--idle-gap", "1us")
        agent.says(" eth0")
        self.send(10_000)
        between = self.memory_kb(agent)
        self.send(10_000 + FLOWS)
        grown = self.memory_kb(agent) - between
        self.interrupt(agent)
        report = self.lab.report(words[0])
        print(f"{words[0]}: {between} kB, then {grown} kB more", report)
        handled = report["onsets"] - report["onsets_lost"]
        self.assertGreater(handled, FLOWS * ROUNDS, "of both halves")
        self.assertEqual(report["flows_forgotten"], report["flows"] - REMEMBERED)
        return grown, report

    def test_announcing(self):
        grown, _ = self.grown("announce")
        self.assertLess(grown, GROWTH_KB)

    def test_recording(self):
        out = self.lab.directory / "recording"
        grown, report = self.grown("record", "--out", out, "--max-bursts", MAX_BURSTS)
        self.assertLess(grown, GROWTH_KB)
        self.assertEqual(report["bursts_written"], MAX_BURSTS)
        self.assertGreater(report["bursts_left_out"], 0)
        self.assertEqual(report["bursts_written"] + report["bursts_left_out"] +
                         report["bursts_forgotten"], report["onsets"])
        self.assertEqual(len((out / "bursts.csv").read_text().splitlines()), 1 + MAX_BURSTS)


if __name__ == "__main__":
    agents.main()
