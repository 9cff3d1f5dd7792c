#!/usr/bin/env python3
"""outrider-hostagent signs its STARTs, answers without a key, and believes no other answers.

Tags are computed by libsodium here, not by the program's own code.
"""
import ctypes
import os
import socket
import struct
import sys
import time

import agents
import lab
from agents import PORT, SERVER
from test_hostagent_vlan import SEE

WORKER, SIGNAL_PORT = "10.76.0.1", 5900
KEY_ID, SECRET = 7, bytes(range(16))
HEAD, TAG_AT, KIND_AT = 8, 48, 5  # bytes: UDP header; offsets in the message, see udp_signal.h
BURSTS = 5 + 1  # the job says first how large its bursts are

# In a namespace: sends messages from the server's signal port to the worker's.
SEND = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], {port}))
for message in sys.argv[3:]: s.sendto(bytes.fromhex(message), (sys.argv[2], {port}))
"""


def tag_of(message):
    """SipHash-2-4-128 of a START from the worker to the server."""
    sodium = ctypes.CDLL("libsodium.so.23")
    signed = message[:TAG_AT] + socket.inet_aton(WORKER) + socket.inet_aton(SERVER) + struct.pack(
        "!HH", SIGNAL_PORT, SIGNAL_PORT)
    out = ctypes.create_string_buffer(16)
    sodium.crypto_shorthash_siphashx24(out, signed, ctypes.c_ulonglong(len(signed)), SECRET)
    return out.raw


def ack_of(start):
    return start[:KIND_AT] + b"\x02" + start[KIND_AT + 1:]


class Signed(agents.AgentTest):
    def key(self):
        path = self.lab.directory / "job.key"
        path.write_text(f"outrider-signal-key 1 {KEY_ID} {SECRET.hex()}\n")
        os.chmod(path, 0o600)
        return path

    def see(self, host):
        see = lab.Process(self.lab, self.hosts[host], [sys.executable, "-c", SEE], f"see-{host}")
        see.says("ready")
        return see

    def begin(self):
        self.start(agents.config(accept_udp="true"))
        self.assertEqual(self.ping("worker", SERVER, lab.PATIENCE), 64)
        return self.announce("--server", f"{SERVER}:{PORT}", "--signal-key", self.key())

    def messages(self, see):
        self.interrupt(see)
        return [bytes.fromhex(udp)[HEAD:] for _, _, udp in see.result()]

    def test_starts_are_signed_and_their_answers_believed(self):
        before = time.time_ns()
        agent = self.begin()
        answer = self.answer()
        at_server, at_worker = self.see("server"), self.see("worker")
        self.job(BURSTS - 1)
        starts, acks = self.messages(at_server), self.messages(at_worker)
        self.interrupt(agent, answer)
        self.stop()
        self.assertEqual(len(starts), BURSTS)
        counters = []
        for start in starts:
            self.assertEqual((start[4], start[KIND_AT]), (2, 1), "version and kind")
            self.assertEqual(start[24], KEY_ID)
            self.assertEqual(start[TAG_AT:], tag_of(start))
            counters += struct.unpack_from("!Q", start, 40)
        self.assertEqual(counters, sorted(set(counters)))
        self.assertGreater(counters[0], before)
        self.assertLess(counters[-1], time.time_ns())
        self.assertEqual(acks, [ack_of(start) for start in starts], "with their tags")
        report = self.lab.report("announce")
        self.assertEqual((report["acks_received"], report["acks_not_ours"]), (BURSTS, 0))
        self.assertNotIn(SECRET.hex(), agent.output())

    def test_answers_of_strangers_are_not_believed(self):
        agent = self.begin()
        at_server = self.see("server")
        self.job(1)
        good = ack_of(self.messages(at_server)[0])
        stranger = good[:TAG_AT] + bytes(16)
        unsigned = good[:4] + b"\x01" + good[5:24] + bytes(1) + good[25:TAG_AT] + bytes(16)
        self.lab.run_in(self.hosts["server"], sys.executable, "-c", SEND.format(port=SIGNAL_PORT),
                        SERVER, WORKER, *(m.hex() for m in (stranger, unsigned, good, good)))
        self.assertEqual(self.ping("worker", SERVER, lab.PATIENCE), 64)
        time.sleep(0.2)  # the agent is scheduled
        self.interrupt(agent)
        self.stop()
        report = self.lab.report("announce")
        self.assertEqual((report["acks_received"], report["acks_not_ours"]), (1, 3), "and once")


if __name__ == "__main__":
    agents.main()
