#!/usr/bin/env python3
"""outrider-hostagent sees and answers tagged frames, wherever the tag is.

The frames are written by hand: a kernel need not have VLAN devices.
"""
import struct
import sys

import agents
from agents import PORT, SERVER
from two_hosts import start_message

# In a namespace: sends a TCP segment with payload for each list of tags, or a START.
SEND = """
import socket, struct, sys
def ip(protocol, body):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 9, protocol, 0,
                       socket.inet_aton("10.76.0.1"), socket.inet_aton("{server}"))
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack("!H", ~total & 0xFFFF) + head[12:] + body
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 3))  # the protocol is that of the frame
for (tags, protocol, body) in {frames}:
    tagged = b"".join(struct.pack("!HH", *tag) for tag in tags)
    s.send(bytes.fromhex("{mac}") + b"\\x02" + bytes(5) + tagged + b"\\x08\\x00" + ip(protocol, body))
"""
# UDP datagrams that come in at eth0: tag beside the frame or None, TTL, bytes of UDP; until SIGINT.
SEE = """
import json, signal, socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.setsockopt(263, 8, 1)  # PACKET_AUXDATA
s.bind(("eth0", 3))
s.settimeout(0.05)
stopped, seen = [], []
signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
print("ready", flush=True)
while not stopped:
    try:
        frame, extra, _, origin = s.recvmsg(2048, 256)
    except TimeoutError:
        continue
    status, _, _, _, _, control, _ = struct.unpack("IIIHHHH", extra[0][2])
    if origin[2] != socket.PACKET_OUTGOING and frame[23] == 17:
        seen.append((control if status & 0x10 else None, frame[22], frame[34:].hex()))
print(json.dumps(seen))
"""
OUTER, INNER = (0x88A8, 5), (0x8100, 7)


def segment(port):
    return struct.pack("!HHIIBBHHH", port, PORT, 1, 0, 0x50, 0x10, 1000, 0, 0) + bytes(50)


def start():
    message = start_message(10, 40_000, PORT)
    return struct.pack("!HHHH", 5900, 5900, 8 + len(message), 0) + message


class Tagged(agents.AgentTest):
    def send(self, *frames):
        self.lab.run_in(self.hosts["worker"], sys.executable, "-c",
                        SEND.format(server=SERVER, frames=frames,
                                    mac=self.mac("server").replace(":", "")))

    def test_bursts_are_seen(self):
        announce = self.announce("--server", f"{SERVER}:{PORT}")
        self.send(([], 6, segment(1)), ([INNER], 6, segment(2)), ([OUTER, INNER], 6, segment(3)),
                  ([OUTER, INNER, INNER], 6, segment(4)))
        self.interrupt(announce)
        report = self.lab.report("announce")
        self.assertEqual((report["onsets"], report["flows"]), (3, 3), "three tags are too many")

    def test_the_answer_goes_back_into_the_vlan(self):
        self.start(agents.config(accept_udp="true"))
        self.assertEqual(self.ping("worker", SERVER, agents.lab.PATIENCE), 64)
        answer = self.answer()
        see = agents.lab.Process(self.lab, self.hosts["worker"], [sys.executable, "-c", SEE], "see")
        see.says("ready")
        self.send(([], 17, start()), ([(0x8100, 7)], 17, start()),
                  ([(0x8100, 0x6009)], 17, start()))
        # Behind them on their way.
        self.assertEqual(self.ping("worker", SERVER, agents.lab.PATIENCE), 64)
        self.interrupt(see, answer)
        self.stop()
        self.assertEqual(self.lab.report("answer")["answered"], 3)
        acks = see.result()
        self.assertEqual([tag for tag, _, _ in acks], [None, 7, 0x6009])
        kind_at = 2 * (8 + 5)  # hexadecimal digits
        for _, ttl, udp in acks:
            self.assertEqual(ttl, 64)
            expected = start().hex()
            self.assertEqual(udp, expected[:kind_at] + "02" + expected[kind_at + 2:])


if __name__ == "__main__":
    agents.main()
