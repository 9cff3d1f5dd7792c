#!/usr/bin/env python3
"""outrider-hostagent answers what is meant for its host, from accepted hosts, at a bounded rate."""
import json
import sys

import agents
from agents import SERVER
from test_hostagent_vlan import start

WORKER, STRANGER, NEIGHBOUR = "10.76.0.1", "192.0.2.7", "10.76.0.77"
BURST = 256  # answers at once, by the documentation
FLOOD = 20_000

# In a namespace: from eth0, STARTs `times` times from one MAC and IP address to another. Then the
# MAC addresses that answers come from, until nothing comes for a second.
SEND = """
import json, socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.bind(("eth0", 0x0800))
s.settimeout(1)
for to, by, source, destination, times in json.loads(sys.argv[1]):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len({message}), 0, 0, 64, 17, 0,
                       socket.inet_aton(source), socket.inet_aton(destination))
    total = sum(struct.unpack("!10H", head))
    while total > 0xFFFF: total = (total & 0xFFFF) + (total >> 16)
    head = head[:10] + struct.pack("!H", ~total & 0xFFFF) + head[12:]
    frame = bytes.fromhex((to + by).replace(":", "")) + b"\\x08\\x00" + head + {message}
    for _ in range(times): s.send(frame)
seen = []
try:
    while True:
        frame, origin = s.recvfrom(2048)
        if origin[2] != socket.PACKET_OUTGOING and frame[23] == 17:
            seen.append(frame[6:12].hex(":"))
except TimeoutError:
    print(json.dumps(seen))
"""


class Answer(agents.AgentTest):
    def answered(self, frames, *words):
        """@return the MAC addresses that answers came from, and the agent's report"""
        self.start(agents.config(accept_udp="true"))
        self.assertEqual(self.ping("worker", SERVER, agents.lab.PATIENCE), 64)
        answer = self.answer(*words)
        said = self.lab.run_in(self.hosts["worker"], sys.executable, "-c",
                               SEND.format(message=start()), json.dumps(frames))
        self.interrupt(answer)
        self.stop()
        return json.loads(said), self.lab.report("answer")

    def test_only_what_is_sent_to_this_host_is_answered(self):
        worker, server = self.mac("worker"), self.mac("server")
        other, everybody, group = "02:00:00:00:00:99", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"
        seen, report = self.answered([
            (server, worker, WORKER, SERVER, 1),
            (everybody, worker, WORKER, SERVER, 1),
            (group, worker, WORKER, SERVER, 1),
            (other, worker, WORKER, SERVER, 1),
            (server, worker, WORKER, NEIGHBOUR, 1),
            (server, worker, WORKER, "10.76.0.255", 1),
            (server, group, WORKER, SERVER, 1),
            (server, worker, STRANGER, SERVER, 1),
        ])
        self.assertEqual(seen, [server])
        self.assertEqual((report["answered"], report["not_accepted"]), (1, 1))
        self.assertEqual(report["not_for_host"], 6)

    def test_networks_that_are_named_replace_those_of_the_interface(self):
        worker, server = self.mac("worker"), self.mac("server")
        _, report = self.answered([(server, worker, WORKER, SERVER, 1),
                                   (server, worker, STRANGER, SERVER, 1)],
                                  "--accept-from", "192.0.2.0/24")
        self.assertEqual((report["answered"], report["not_accepted"]), (1, 1))

    def test_the_rate_is_bounded(self):
        _, report = self.answered(
            [(self.mac("server"), self.mac("worker"), WORKER, SERVER, FLOOD)])
        handled = report["answered"] + report["over_rate"]
        self.assertGreaterEqual(report["answered"], BURST)
        self.assertGreater(report["over_rate"], 0, report)
        self.assertEqual(report["not_for_host"] + report["not_accepted"], 0)
        self.assertLessEqual(handled, FLOOD)


if __name__ == "__main__":
    agents.main()
