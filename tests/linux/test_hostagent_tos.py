#!/usr/bin/env python3
"""outrider-hostagent announces and answers in the TOS byte, and TCP does not notice."""
import sys

import agents
from agents import PORT, SERVER

START, ACK = 0x80, 0x40
CODE = 2 << 2  # of a threshold of 10 packets

# In a namespace: TCP segments without payload to the server, each with a TOS byte and flags.
SEND = """
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
for tos, flags in {segments}:
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
    s.sendto(struct.pack("!HHIIBBHHH", 40000, {port}, 1, 1, 0x50, flags, 0, 0, 0), ("{server}", 0))
"""
# What arrives at a host's eth0: TOS byte, flags and payload bytes of TCP, until SIGINT.
SEE = """
import json, signal, socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.bind(("eth0", 0x0800))
s.settimeout(0.05)
stopped, seen = [], []
signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
print("ready", flush=True)
while not stopped:
    try:
        frame, origin = s.recvfrom(2048)
    except TimeoutError:
        continue
    ip = frame[14:]
    if origin[2] != socket.PACKET_OUTGOING and ip[9] == 6:
        seen.append((ip[1], ip[33], int.from_bytes(ip[2:4], "big") - 20 - (ip[32] >> 4) * 4,
                     ip[8], ip[24:28].hex()))
print(json.dumps(seen))
"""


class TosForm(agents.AgentTest):
    def see(self, host):
        watch = agents.lab.Process(self.lab, self.hosts[host], [sys.executable, "-c", SEE],
                                   f"see-{host}")
        watch.says("ready")
        return watch

    def run_job(self, iterations, *words):
        self.start(agents.config(accept_tos="true"))
        self.assertEqual(self.ping("worker", SERVER, agents.lab.PATIENCE), 64)
        seen = self.see("server"), self.see("worker")
        answer = self.answer("--form", "tos")
        announce = self.announce("--form", "tos", "--server", f"{SERVER}:{PORT}", *words)
        self.job(iterations)
        self.interrupt(*seen, announce, answer)
        self.stop()
        self.at_server, self.at_worker = ([tuple(p) for p in s.result()] for s in seen)
        return self.lab.report("announce"), self.lab.report("answer")

    def test_every_burst_is_announced_answered_and_armed(self):
        announced, answered = self.run_job(6)
        # The job says first how large its bursts are; a busy machine may stop one half-way.
        bursts = announced["onsets"]
        self.assertGreaterEqual(bursts, 6 + 1)
        self.assertEqual(announced["starts_sent"], bursts)
        self.assertEqual(self.queues["server"]["starts_armed"], bursts)
        self.assertEqual((answered["answered"], answered["not_understood"]), (bursts, 0))
        self.assertEqual(announced["acks_received"], bursts)
        acks = [p for p in self.at_worker if p[1] == 0]
        self.assertEqual([p[:4] for p in acks], bursts * [(ACK | CODE, 0, 0, 64)])
        self.assertEqual([p for p in self.at_server if p[1] == 0], [], "answered before")
        # Their checksums are right, and the job's own packets as they were.
        self.assertEqual((self.damaged("worker"), self.damaged("server")), ((0, 0), (0, 0)))
        self.assertEqual({p[0] & ~3 for p in self.at_server + self.at_worker if p[1]}, {0})

    def test_it_comes_ahead_once_the_period_is_known(self):
        announced, answered = self.run_job(20, "--lead", "50ms", "--threshold", "75")
        self.assertGreater(announced["starts_ahead_met"], 0, announced)
        self.assertEqual(answered["answered"], announced["starts_sent"])
        self.assertEqual({p[0] for p in self.at_worker if p[1] == 0}, {ACK | 15 << 2})

    def test_only_what_tcp_never_sends_is_answered(self):
        self.start(agents.config(accept_tos="true"))
        self.assertEqual(self.ping("worker", SERVER, agents.lab.PATIENCE), 64)
        answer, seen = self.answer("--form", "tos"), self.see("worker")
        segments = [(START | CODE, 0), (START | CODE | 2, 0),  # STARTs
                    (START, 0), (START | ACK | CODE, 0), (ACK | CODE, 0), (0, 0),  # flawed
                    (START | CODE, 0x10), (0xB8, 0x10), (START | CODE, 0x02)]  # of TCP, by DSCP
        self.lab.run_in(self.hosts["worker"], sys.executable, "-c",
                        SEND.format(segments=segments, port=PORT, server=SERVER))
        # Behind them on their way.
        self.assertEqual(self.ping("worker", SERVER, agents.lab.PATIENCE), 64)
        self.interrupt(answer, seen)
        self.stop()
        report = self.lab.report("answer")
        self.assertEqual((report["answered"], report["not_understood"]), (2, 4))
        acks = [p[0] for p in map(tuple, seen.result()) if p[1] == 0]
        self.assertEqual(acks, [ACK | CODE, ACK | CODE | 2])

    def test_announcing_and_answering_share_an_interface(self):
        announce = self.announce("--form", "tos", "--server", f"{SERVER}:{PORT}")
        both = len(self.filters("worker"))
        answer = self.agent("worker", "answer", "--interface", "eth0", "--form", "tos")
        answer.says("answering at eth0")
        self.assertEqual(len(self.filters("worker")), both + 2)  # a filter has two lines
        self.interrupt(answer)
        self.assertEqual(len(self.filters("worker")), both)
        self.interrupt(announce)
        self.assertEqual(self.filters("worker"), [])

    def test_what_the_form_has_no_room_for_is_refused(self):
        wrong = self.agent("worker", "announce", "--interface", "eth0", "--server",
                           f"{SERVER}:{PORT}", "--form", "tos", "--job", "3", "--signal-port",
                           "5901", name="wrong")
        self.ended(wrong, 2)
        for flag in ("--job", "--signal-port"):
            self.assertIn(f"{flag}: the TOS byte has no room for it", wrong.output())


if __name__ == "__main__":
    agents.main()
