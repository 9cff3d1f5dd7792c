#!/usr/bin/env python3
"""Packets of RoCEv2 that no peer should send, to queue pairs with an open window: each is counted
under one name, and the transfers end as if none had come."""
import json
import random
import struct
import zlib

import lab
import raw_frames as raw

HOST, LINUX = "10.79.0.1", "10.79.0.2"
OUT, IN, VICTIM = 17, 18, 19  # queue pairs of the generator
PEER = 100  # plus those: the peer's
FIRST_PSN = 0xFFFFF0  # wraps within the window
MTU, PACKETS = 1024, 64  # of a message: all are in flight at once
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY, SEND_MIDDLE = 6, 7, 8, 10, 1
ACKNOWLEDGE, CNP = 0x11, 0x81
ACK, NAK_SEQUENCE = 0x1F, 0x60
FATAL, NOT_READY, RESERVED = (0x61, 0x62, 0x63), 0x21, (0x40, 0x64, 0x7F)
KNOWN = {*range(0, 12), ACKNOWLEDGE, CNP}
WILD = 2000  # packets that are drawn
# Each kind of fatal NAK and the outcome that it gives, by the queue pair that gets it.
ERRORS = {61: (0x61, "invalid_request"), 62: (0x62, "remote_access_error"),
          63: (0x63, "remote_operational_error")}
# Every packet that arrives is in one of them.
NAMED = ("in_order", "out_of_order", "duplicate", "acks_received", "naks_received",
         "cnps_received", "bad_icrc", "malformed", "refused")

CONFIG = """
[[device]]
name = "eth"
device = "net_af_packet0,iface=cable,framecnt=8192"
[[neighbour]]
device = "eth"
address = "{linux}"
mac = "{mac}"
[[host]]
name = "h"
address = "{host}"
device = "eth"
rate = "1gbit"
[[transport]]
name = "roce"
protocol = "roce"
[transport.roce]
controller = "fixed"
timeout = "60s"
repair = "{repair}"
""".replace("{host}", HOST).replace("{linux}", LINUX)

TRANSFER = """
[[transfer]]
name = "{name}"
from = "{source}"
to = "{target}"
bytes = "{size}B"
transport = "roce"
timeout = "{timeout}"
[transfer.queue_pair]
own = {own}
own_first_psn = {psn}
peer = {peer}
peer_first_psn = {psn}
"""


def transfer(own, name, outwards, timeout="20s"):
    ends = ("h", LINUX) if outwards else (LINUX, "h")
    return TRANSFER.format(name=name, source=ends[0], target=ends[1], size=MTU * PACKETS,
                           own=own, peer=PEER + own, psn=FIRST_PSN, timeout=timeout) + (
                               f"peer_key = {PEER + own}\npeer_address = 0\n" if outwards else "")


class Wire:
    """Writes packets to the generator, and counts them by the name that they should get."""

    def __init__(self):
        self.socket = raw.packet_socket("eth0")
        self.socket.settimeout(10)
        self.own = raw.own_mac("eth0")
        self.sent = {}
        self.number = 0

    def send(self, name, pair, opcode, psn, body=b"", spoil=False, asks=False, pad=0):
        bth = struct.pack("!BBHII", opcode, pad << 4, 0xFFFF, pair,
                          asks << 31 | (FIRST_PSN + psn) & 0xFFFFFF)
        rest = bytearray(raw.udp(0xC000, 4791, bth + body + bytes(4))[:-4])
        packet = bytearray(raw.ipv4(LINUX, HOST, 17, bytes(rest) + bytes(4), tos=2)[:20])
        masked_ip, masked = bytearray(packet), bytearray(rest)
        masked_ip[1] = masked_ip[8] = masked_ip[10] = masked_ip[11] = 0xFF
        masked[6:8], masked[12] = b"\xff\xff", 0xFF
        icrc = zlib.crc32(b"\xff" * 8 + bytes(masked_ip) + bytes(masked))
        tail = struct.pack("<I", icrc ^ spoil)
        raw.send_paced(self.socket, [raw.ethernet(raw.mac_of(HOST), self.own,
                                                  bytes(packet) + bytes(rest) + tail)])
        self.sent[name] = self.sent.get(name, 0) + 1
        self.number += 1
        if self.number % raw.BATCH == 0:
            raw.time.sleep(raw.PAUSE_S)

    def answer(self, name, pair, psn, syndrome, **more):
        self.send(name, pair, ACKNOWLEDGE, psn, bytes([syndrome, 0, 0, 0]), **more)

    def await_data(self, pair, packets):
        """Until so many data packets of the queue pair have come."""
        while packets > 0:
            frame = self.socket.recv(4096)
            if frame[36:38] == b"\x12\xb7" and frame[42] < ACKNOWLEDGE:
                packets -= int.from_bytes(frame[47:50], "big") == PEER + pair


def reth(key, length):
    return struct.pack("!QII", 0, key, length)


def attack_requester(wire):
    """All of its packets are in flight."""
    answer = wire.answer
    for opcode in range(256):
        if opcode not in KNOWN:
            wire.send("malformed", OUT, opcode, opcode % PACKETS, bytes(4))
    for i in range(20):
        answer("bad_icrc", OUT, PACKETS - 1, ACK, spoil=True)
        wire.send("malformed", OUT, ACKNOWLEDGE, i, bytes(3))
        wire.send("malformed", OUT, ACKNOWLEDGE, i, bytes(5))
        answer("refused", OUT, PACKETS + i, ACK)
        answer("acks_received", OUT, -2 - i, ACK)  # of the past
    for syndrome in (*FATAL, NOT_READY):
        answer("refused", OUT, PACKETS, syndrome)  # the first that was never sent
        answer("refused", OUT, PACKETS + 1000, syndrome)
        answer("naks_received", OUT, -3, syndrome)  # of the past
    for syndrome in RESERVED:
        for i in range(PACKETS):
            answer("refused", OUT, i, syndrome)
    wire.send("cnps_received", OUT, CNP, 0, bytes(16))
    wire.send("malformed", OUT, CNP, 0, bytes(15))


def attack_responder(wire):
    """In the midst of a message of which it has PACKETS / 2."""
    full, at = bytes(MTU), PACKETS // 2
    for _ in range(20):
        wire.send("refused", IN, WRITE_FIRST, at, reth(IN, MTU * PACKETS) + full)
        wire.send("refused", IN, WRITE_ONLY, at, reth(IN, MTU) + full)
        wire.send("refused", IN, WRITE_FIRST, at, reth(IN + 1, 2 * MTU) + full)  # another's key
        wire.send("refused", IN, WRITE_MIDDLE, at, bytes(MTU - 4))
        wire.send("refused", IN, WRITE_MIDDLE, at, bytes(MTU + 4))
        wire.send("refused", IN, WRITE_LAST, at, full)  # too soon
        wire.send("refused", IN, SEND_MIDDLE, at, full)
        wire.send("refused", IN, WRITE_MIDDLE, at)
        wire.send("bad_icrc", IN, WRITE_MIDDLE, at, full, spoil=True)
        wire.send("malformed", IN, WRITE_FIRST, at, bytes(8))  # half an RETH
        wire.send("duplicate", IN, WRITE_MIDDLE, at - 1, full)
        wire.send("refused", IN, ACKNOWLEDGE, at, bytes([ACK, 0, 0, 0]))  # it has sent nothing


def attack_at_random(wire):
    """Anything, within a window that strangers may close."""
    draw = random.Random(1)
    for _ in range(WILD):
        opcode = draw.choice(sorted(KNOWN)) if draw.random() < 0.7 else draw.randrange(256)
        body = bytes(draw.choice((0, 3, 4, 16, 20, MTU, MTU + 16, draw.randrange(1400))))
        if opcode == ACKNOWLEDGE:
            body = bytes([draw.randrange(256), 0, 0, draw.randrange(80)])
        elif draw.random() < 0.5:
            body = reth(VICTIM, draw.choice((MTU, 2 * MTU, 1 << 31, 0xFFFFFFFF, 0))) + body
        wire.send("wild", VICTIM, opcode, draw.randrange(-8, PACKETS + 8), body,
                  spoil=draw.random() < 0.05, asks=draw.random() < 0.5, pad=draw.randrange(4))


def be_the_peer(wild):
    """In the Linux host's namespace. Prints what was sent."""
    wire = Wire()
    full = bytes(MTU)
    print("ready", flush=True)
    wire.await_data(OUT, PACKETS)
    attack_requester(wire)
    wire.answer("acks_received", OUT, PACKETS - 1, ACK)
    wire.send("in_order", IN, WRITE_FIRST, 0, reth(IN, MTU * PACKETS) + full)
    for psn in range(1, PACKETS // 2):
        wire.send("in_order", IN, WRITE_MIDDLE, psn, full)
    attack_responder(wire)
    if wild:
        attack_at_random(wire)
    wire.send("nobody", 4000, WRITE_ONLY, 0, reth(4000, MTU) + full)
    for psn in range(PACKETS // 2, PACKETS):
        opcode = WRITE_LAST if psn == PACKETS - 1 else WRITE_MIDDLE
        wire.send("in_order", IN, opcode, psn, full, asks=True)
    print(json.dumps(wire.sent))


def refuse_each():
    """Answers a packet of each queue pair of ERRORS with its NAK."""
    wire = Wire()
    print("ready", flush=True)
    for pair, (syndrome, _) in ERRORS.items():
        wire.await_data(pair, 1)
        wire.answer("naks_received", pair, 0, syndrome)


class HostileRoce(lab.LabTest):
    def run_against(self, repair, wild):
        """@return the generator's counters, and what the peer sent by the name that it should get"""
        near, linux, mac = self.lab.silent_host("-" + repair)
        peer = lab.Process(self.lab, linux,
                           self.lab.call("test_hostile_roce", f"be_the_peer({wild})"), "peer")
        peer.says("ready")
        config = CONFIG.format(mac=mac, repair=repair) + transfer(OUT, "out", True) + transfer(
            IN, "in", False)
        generator = self.lab.generator(
            near, config + (transfer(VICTIM, "victim", True, "3s") if wild else ""))
        self.ended(peer, 0)
        generator.wait()
        report, sent = self.lab.report(), peer.result()
        self.assertTrue(report["ledger_balanced"])
        ends = {t["name"]: t for t in report["transfers"]}
        for name in ("out", "in"):
            self.assertEqual((ends[name]["outcome"], ends[name]["delivered"]),
                             ("completed", MTU * PACKETS), name)
        self.assertEqual(report["device_rx_missed"], 0, "else the counts are not all")
        self.assertEqual(report["drops"]["no_connection"], sent.pop("nobody"))
        return report["background_roce"], sent

    def test_each_is_counted_under_its_name(self):
        for repair in ("go_back_n", "selective"):
            with self.subTest(repair):
                counts, sent = self.run_against(repair, False)
                self.assertEqual({name: counts[name] for name in NAMED if counts[name]}, sent)
                self.assertEqual(sum(n for name, n in counts.items() if name.startswith("ended")), 0)

    def test_whatever_comes_is_counted_once(self):
        for repair in ("go_back_n", "selective"):
            with self.subTest(repair):
                counts, sent = self.run_against(repair, True)
                self.assertEqual(counts["arrived"], sum(sent.values()))
                self.assertEqual(sum(counts[name] for name in NAMED), counts["arrived"])

    def test_a_nak_of_an_error_ends_its_transfer_at_once_and_names_it(self):
        near, linux, mac = self.lab.silent_host("-errors")
        peer = lab.Process(self.lab, linux, self.lab.call("test_hostile_roce", "refuse_each()"), "peer")
        peer.says("ready")
        generator = self.lab.generator(near, CONFIG.format(mac=mac, repair="go_back_n") + "".join(
            transfer(pair, outcome, True) for pair, (_, outcome) in ERRORS.items()))
        self.ended(peer, 0)
        generator.wait()
        report = self.lab.report()
        self.assertEqual({t["name"]: t["outcome"] for t in report["transfers"]},
                         {outcome: outcome for _, outcome in ERRORS.values()})
        self.assertEqual([t["rtos_data"] for t in report["transfers"]], [0, 0, 0])
        self.assertLess(report["end_ns"], 10e9, "before their time-outs of 20 s")
        self.assertTrue(report["ledger_balanced"])


if __name__ == "__main__":
    lab.main()
