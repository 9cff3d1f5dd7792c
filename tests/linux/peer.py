#!/usr/bin/env python3
"""The Linux end of a transfer: a plain socket program, with nothing of Outrider in it.

Usage: peer.py (listen|connect) (send|receive) ADDRESS PORT BYTES [option=value ...]

Sends BYTES of the pattern of trafficgen/frames/payload.h, or receives until the
end of the stream and compares. Prints one JSON object a line: {"ready": true} when
it listens or is connected, and the result at the end.

options  cc=reno|cubic     congestion control of its sockets
         tos=BYTE          TOS byte of its segments, whose ECN bits the kernel sets
         rcvbuf=BYTES      fixed receive buffer
         peek=BYTES        leave BYTES unread and copy them again and again, so that the
                           kernel mostly finds the socket in use
         pause_after=BYTES pause=SECONDS   stop reading for a while
         ss=0|1            take `ss -tino` of the connection half-way
         wrong_at=OFFSET   flip a bit of this byte when sending
"""
import array
import hashlib
import json
import socket
import subprocess
import sys
import time

MULTIPLIER = 0x9E3779B1
SO_RCVBUFFORCE = 33


def pattern(begin, end):
    """Bytes [begin, end) of the stream; begin is a multiple of 4."""
    words = array.array("I", [(w * MULTIPLIER) & 0xFFFFFFFF
                              for w in range(begin // 4 + 1, (end + 3) // 4 + 1)])
    return words.tobytes()[:end - begin]


class Pattern:
    """The pattern in pieces, made while nobody waits."""

    def __init__(self, size):
        self.bytes = pattern(0, size)

    def sha256(self):
        return hashlib.sha256(self.bytes).hexdigest()


def say(**fields):
    print(json.dumps(fields), flush=True)


def socket_statistics(connection):
    local, remote = connection.getsockname(), connection.getpeername()
    return subprocess.run(
        ["ss", "-tinoH", "src", f"{local[0]}:{local[1]}", "dst", f"{remote[0]}:{remote[1]}"],
        capture_output=True, text=True, check=False).stdout


def make_socket(options):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if "rcvbuf" in options:
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, int(options["rcvbuf"]))
    if "tos" in options:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(options["tos"]))
    if "cc" in options:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, options["cc"].encode())
    return s


def send(connection, data, options):
    if "wrong_at" in options:
        at = int(options["wrong_at"])
        data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
    half = len(data) // 2
    connection.sendall(data[:half])
    statistics = socket_statistics(connection) if "ss" in options else ""
    connection.sendall(data[half:])
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(30)
    leftover = connection.recv(1)  # the peer closes when it has all
    return {"sent": len(data), "closed_by_peer": leftover == b"", "ss": statistics}


def receive(connection, expected, options):
    digest = hashlib.sha256()
    received, first_wrong, statistics = 0, -1, ""
    pause_after = int(options.get("pause_after", -1))
    peek = int(options.get("peek", 0))
    connection.settimeout(30)
    while True:
        while peek and len(connection.recv(peek, socket.MSG_PEEK)) < min(
                peek, len(expected) - received):
            pass
        data = connection.recv(1 << 18)
        if not data:
            break
        if first_wrong < 0 and data != expected[received:received + len(data)]:
            first_wrong = received
        digest.update(data)
        received += len(data)
        if statistics == "" and "ss" in options and received >= len(expected) // 2:
            statistics = socket_statistics(connection)
        if 0 <= pause_after <= received:
            time.sleep(float(options["pause"]))
            pause_after = -1
    return {"received": received, "sha256": digest.hexdigest(), "first_wrong": first_wrong,
            "ss": statistics}


def main():
    way, role, address, port, size = sys.argv[1:6]
    options = dict(word.split("=", 1) for word in sys.argv[6:])
    stream = Pattern(int(size))
    s = make_socket(options)
    if way == "listen":
        s.bind((address, int(port)))
        s.listen()
        say(ready=True)
        s.settimeout(60)
        connection, _ = s.accept()
    else:
        s.settimeout(60)
        s.connect((address, int(port)))
        connection = s
        say(ready=True)
    began = time.monotonic()
    try:
        result = (send(connection, stream.bytes, options) if role == "send" else
                  receive(connection, stream.bytes, options))
    except OSError as error:
        result = {"error": str(error)}
    result.update(seconds=time.monotonic() - began, expected_sha256=stream.sha256())
    connection.close()
    say(**result)


if __name__ == "__main__":
    main()
