#!/usr/bin/env python3
"""Compares, byte by byte, CE of the segments that reach a host with ECE of its ACKs.

Usage: ecn_echo.py DEVICE PORT

Watches TCP segments to PORT of this host at DEVICE and the ACKs from it, without options of
capture programs, until SIGINT. Prints {"ready": true}, and at the end one JSON object: segments
of data and of these with CE, payload bytes, of these with CE, acknowledged by ACKs with ECE,
acknowledged with another mark than they came with; FINs acknowledged with ECE, a byte each; ACKs;
frames that the socket lost.
"""
import json
import signal
import socket
import struct
import sys
from collections import Counter

ETHERTYPE_IPV4, ETHERNET_BYTES, OUTGOING = 0x0800, 14, 4
SOL_PACKET, PACKET_STATISTICS = 263, 6
SNAPPED, ROOM = 96, 64 << 20
ACK, ECE = 0x10, 0x40
CE = 3
WRAP = 1 << 32


class Flow:
    """One connection as its receiver sees it."""

    def __init__(self, begin):
        self.acked = begin  # sequence number
        self.marks = {}     # of segments not acknowledged yet: begin -> (bytes, ce)
        self.ended = False  # its FIN is acknowledged

    def data(self, sequence, size, ce, sums):
        sums["segments"] += 1
        sums["ce_segments"] += ce
        if 0 < (self.acked - sequence) % WRAP < WRAP // 2 or sequence in self.marks:
            return  # sent again
        sums["bytes"] += size
        sums["ce_bytes"] += size * ce
        self.marks[sequence] = (size, ce)

    def ack(self, number, ece, sums):
        sums["acks"] += 1
        while self.acked != number and self.acked in self.marks:
            size, ce = self.marks[self.acked]
            if (number - self.acked) % WRAP < size:
                break  # part of a segment
            del self.marks[self.acked]
            sums["ece_bytes"] += size * ece
            sums["wrong_bytes"] += size * (ece != ce)
            self.acked = (self.acked + size) % WRAP
        if number == (self.acked + 1) % WRAP and self.acked not in self.marks and not self.ended:
            self.ended = True
            sums["fins_ece"] += ece


def compare(frames, port):
    flows, sums = {}, Counter()
    for outgoing, frame in frames:
        ip = frame[ETHERNET_BYTES:]
        header = (ip[0] & 15) * 4
        if ip[9] != socket.IPPROTO_TCP or len(ip) < header + 20:
            continue
        source, destination, sequence, number, offset, flags = struct.unpack_from("!HHIIBB", ip,
                                                                                  header)
        size = struct.unpack_from("!H", ip, 2)[0] - header - (offset >> 4) * 4
        if not outgoing and destination == port and size > 0:
            flow = flows.setdefault((ip[12:16], source), Flow(sequence))
            flow.data(sequence, size, int(ip[1] & 3 == CE), sums)
        elif outgoing and source == port and flags & ACK and (ip[16:20], destination) in flows:
            flows[ip[16:20], destination].ack(number, int(flags & ECE != 0), sums)
    return sums


def main():
    device, port = sys.argv[1], int(sys.argv[2])
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(socket.SOL_SOCKET, 33, ROOM)  # SO_RCVBUFFORCE
    s.bind((device, 3))
    frames, stopped = [], []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    print(json.dumps({"ready": True}), flush=True)
    s.settimeout(0.1)
    while not stopped:
        try:
            frame, origin = s.recvfrom(SNAPPED)
        except TimeoutError:
            continue
        if origin[1] == ETHERTYPE_IPV4:
            frames.append((origin[2] == OUTGOING, frame))
    lost = struct.unpack("II", s.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
    print(json.dumps({**compare(frames, port), "lost": lost}), flush=True)


if __name__ == "__main__":
    main()
