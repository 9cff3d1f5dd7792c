#!/usr/bin/env python3
"""Sends frames of a fixed list from an interface of the kernel, damaged ones among them, or writes
what arrives at one. Runs in a guest.

Usage: frames.py send INTERFACE | frames.py receive INTERFACE FILE
"""
import pathlib
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "linux"))
import test_bad_frames  # noqa: E402

ALL_PROTOCOLS = 3
UDP = 17
LAST = test_bad_frames.frame(b"the last frame", protocol=UDP)


def datagram(spoil=False, without_sum=False):
    """A UDP datagram of 100 bytes, in the frame of a TCP segment."""
    as_tcp = test_bad_frames.frame(protocol=UDP)
    head, addresses, ports = bytearray(as_tcp[:34]), as_tcp[26:34], as_tcp[34:38]
    payload = b"y" * 100
    length = (8 + len(payload)).to_bytes(2, "big")
    head[16:18] = (28 + len(payload)).to_bytes(2, "big")
    head[24:26] = b"\0\0"
    head[24:26] = test_bad_frames.checksum(bytes(head[14:34]))
    sum_of_all = test_bad_frames.checksum(addresses + bytes([0, UDP]) + length + ports + length +
                                          b"\0\0" + payload)
    if without_sum:
        sum_of_all = b"\0\0"
    if spoil:
        payload = b"z" + payload[1:]
    return bytes(head) + ports + length + sum_of_all + payload


def send(interface):
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind((interface, 0))
    kinds = [(count, data) for _, count, data in test_bad_frames.KINDS]
    kinds += [(7, d) for d in (datagram(), datagram(spoil=True), datagram(without_sum=True))]
    for count, data in [*kinds, (1, LAST)]:
        for _ in range(count):
            sender.send(data)
            time.sleep(0.01)  # emulated NICs drop what comes faster than the guest's CPU takes it


def receive(interface, file):
    """Ends with the last frame of the list. The other program may be between, so that addresses
    and lifetimes of LAST may differ, but not its payload."""
    receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    receiver.bind((interface, 0))
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    print("receiving", flush=True)
    with open(file, "w", encoding="utf-8") as out:
        data = b""
        while b"the last frame" not in data:
            data = receiver.recv(65536)
            out.write(data.hex() + "\n")


if __name__ == "__main__":
    {"send": send, "receive": receive}[sys.argv[1]](*sys.argv[2:])
