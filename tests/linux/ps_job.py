#!/usr/bin/env python3
"""A parameter-server job over plain TCP that knows nothing of Outrider.

ps_job.py server ADDRESS PORT WORKERS
ps_job.py worker ADDRESS PORT ITERATIONS BYTES COMPUTE_SECONDS
ps_job.py watch DEVICE SIGNAL_PORT SERVER_PORT IDLE_SECONDS
ps_job.py segments DEVICE ADDRESS PORT [AFTER_SECONDS FIRST_BYTE BYTES ...]

Each iteration a worker computes (sleeps), pushes BYTES and waits for as many back; the
server answers when all workers have pushed. The others belong to the test, not to the job:
`watch` notes what arrives at a device until SIGINT, `segments` sends TCP segments of no
connection. All but that end with a line of JSON.
"""
import json
import signal
import socket
import struct
import sys
import time


def receive(connection, size):
    left = size
    while left:
        got = len(connection.recv(min(left, 1 << 20)))
        if not got:
            return False
        left -= got
    return True


def worker(address, port, iterations, size, compute):
    connection = socket.create_connection((address, port))
    connection.sendall(size.to_bytes(8, "big"))
    seconds = []
    for _ in range(iterations):
        begin = time.monotonic()
        time.sleep(compute)
        connection.sendall(bytes(size))
        receive(connection, size)
        seconds.append(time.monotonic() - begin)
    print(json.dumps({"iteration_seconds": seconds}))


def server(address, port, workers):
    listener = socket.create_server((address, port))
    print("ready", flush=True)
    connections = [listener.accept()[0] for _ in range(workers)]
    sizes = [int.from_bytes(c.recv(8, socket.MSG_WAITALL), "big") for c in connections]
    iterations = 0
    while all([receive(c, size) for c, size in zip(connections, sizes)]):
        for c, size in zip(connections, sizes):
            c.sendall(bytes(size))
        iterations += 1
    print(json.dumps({"iterations": iterations}))


class Watcher:
    """What it is told of a device's packets: STARTs, and the first payload after a pause."""

    def __init__(self, port, server_port, idle):
        self.port, self.server_port, self.idle = port, server_port, idle
        self.events = []  # [kind, time, worker address]
        self.next_sequence = {}  # of a connection, behind the newest payload
        self.last = {}  # when that came

    def on_frame(self, frame, now):
        if frame[12:14] != b"\x08\x00":
            return
        ip = frame[14:]
        body = ip[(ip[0] & 15) * 4:int.from_bytes(ip[2:4], "big")]
        to, peer = int.from_bytes(body[2:4], "big"), socket.inet_ntoa(ip[12:16])
        if ip[9] == 17 and to == self.port:
            self.events.append(["start", now, peer])
        if ip[9] == 6 and to == self.server_port:
            self.on_segment(peer, body, now)

    def on_segment(self, peer, segment, now):
        connection = peer, segment[:2]
        end = int.from_bytes(segment[4:8], "big") + len(segment) - (segment[12] >> 4) * 4
        if segment[13] & 2:  # SYN, which takes a number as well
            self.next_sequence[connection] = end + 1
        fresh = (end - self.next_sequence.get(connection, end)) % (1 << 32)
        if fresh == 0 or fresh >= 1 << 31:
            return  # no payload, or sent again: not a burst, and no part of one
        if now - self.last.get(connection, now - 2 * self.idle) > self.idle:
            self.events.append(["burst", now, peer])
        self.next_sequence[connection], self.last[connection] = end, now


def watch(device, port, server_port, idle):
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    packets.bind((device, 3))
    packets.settimeout(0.05)
    stopped = []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    print("ready", flush=True)
    watcher = Watcher(port, server_port, idle)
    while not stopped:
        try:
            frame, source = packets.recvfrom(2048)
        except TimeoutError:
            continue
        if source[2] != socket.PACKET_OUTGOING:
            watcher.on_frame(frame, time.monotonic())
    print(json.dumps(watcher.events))


def segments(device, address, port, described):
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((device, 0x0800))
    for after, first, size in zip(described[::3], described[1::3], described[2::3]):
        time.sleep(float(after))
        tcp = struct.pack("!HHIIBBHHH", 40_000, port, int(first), 0, 0x50, 0x10, 1000, 0, 0)
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40 + int(size), 0, 0, 64, 6, 0,
                         socket.inet_aton("192.0.2.1"), socket.inet_aton(address))
        out.send(b"\xff" * 6 + b"\x02" + bytes(5) + b"\x08\x00" + ip + tcp + bytes(int(size)))


if __name__ == "__main__":
    role, words = sys.argv[1], sys.argv[2:]
    if role == "server":
        server(words[0], int(words[1]), int(words[2]))
    elif role == "worker":
        worker(words[0], int(words[1]), int(words[2]), int(words[3]), float(words[4]))
    elif role == "segments":
        segments(words[0], words[1], int(words[2]), words[3:])
    else:
        watch(words[0], int(words[1]), int(words[2]), float(words[3]))
