#!/usr/bin/env python3
"""A parameter-server job over plain TCP that knows nothing of Outrider.

ps_job.py server ADDRESS PORT WORKERS
ps_job.py worker ADDRESS PORT ITERATIONS BYTES COMPUTE_SECONDS

Each iteration a worker computes (sleeps), pushes BYTES and waits for as many back; the
server answers when all workers have pushed. Both end with a line of JSON.
"""
import json
import selectors
import socket
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


def watch(device, port, server_port, idle, seconds):
    """When STARTs and first bytes of bursts arrive at `device`: [kind, time, worker address]."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    packets.bind((device, 3))
    print("ready", flush=True)
    events, last, end = [], {}, time.monotonic() + seconds
    wait = selectors.DefaultSelector()
    wait.register(packets, selectors.EVENT_READ)
    while time.monotonic() < end:
        if not wait.select(0.05):
            continue
        frame, source = packets.recvfrom(2048)
        now = time.monotonic()
        if source[2] == socket.PACKET_OUTGOING:
            continue
        if frame[12:14] != b"\x08\x00":
            continue
        ip = frame[14:]
        body = ip[(ip[0] & 15) * 4:int.from_bytes(ip[2:4], "big")]
        to, peer = int.from_bytes(body[2:4], "big"), socket.inet_ntoa(ip[12:16])
        if ip[9] == 17 and to == port:
            events.append(["start", now, peer])
        if ip[9] == 6 and to == server_port and len(body) > (body[12] >> 4) * 4:
            if now - last.get(peer, 0) > idle:
                events.append(["burst", now, peer])
            last[peer] = now
    print(json.dumps(events))


if __name__ == "__main__":
    role, words = sys.argv[1], sys.argv[2:]
    if role == "server":
        server(words[0], int(words[1]), int(words[2]))
    elif role == "worker":
        worker(words[0], int(words[1]), int(words[2]), int(words[3]), float(words[4]))
    else:
        watch(words[0], int(words[1]), int(words[2]), float(words[3]), float(words[4]))
