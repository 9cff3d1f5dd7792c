#!/usr/bin/env python3
"""Bursts that are announced ahead, and background to the same host, over plain TCP.

hold_flows.py server ADDRESS BYTES JOB_PORT BACKGROUND_PORT    receives until SIGINT
hold_flows.py bursts ADDRESS PORT COUNT BYTES PERIOD LEAD [option ...]
hold_flows.py background ADDRESS PORT FLOWS SECONDS CONGESTION [until-told]

`bursts` sends COUNT bursts of BYTES over one connection, one each PERIOD seconds whatever
becomes of them (an open loop), and a START of the UDP form LEAD seconds ahead of each. Options:
`empty` sends no burst, `no-bytes` does not say how long bursts are, `tos` sends STARTs of the TOS
form. The server says when each burst is complete. With `until-told`, background goes on after
SECONDS until SIGINT, but no longer than a minute. All times are of CLOCK_MONOTONIC, which
namespaces share. The last line is JSON.
"""
import json
import selectors
import signal
import socket
import struct
import sys
import threading
import time

from two_hosts import start_message

SIGNAL_PORT, THRESHOLD = 5900, 5
# From the server to a connection of bursts. A full queue may drop the last ACK of the handshake, and
# for the second until SYN-ACK is sent again the server does not have the connection that STARTs name.
ACCEPTED = b"+"
# linux/tcp.h
TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ = 19, 20, 21
TCP_SEND_QUEUE, TCP_REPAIR_OFF_NO_WINDOW_PROBE = 2, -1


def server(address, size, job_port, *ports):
    waiting = selectors.DefaultSelector()
    ports = job_port, *ports
    for port in ports:
        listener = socket.create_server((address, int(port)), backlog=512)
        waiting.register(listener, selectors.EVENT_READ, None)
    stopped = []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    print("ready", flush=True)
    received, bursts = {port: 0 for port in ports}, []
    buffer = bytearray(1 << 20)
    while not stopped:
        for key, _ in waiting.select(0.1):
            if key.data is None:
                connection, _ = key.fileobj.accept()
                if connection.getsockname()[1] == int(job_port):
                    connection.sendall(ACCEPTED)
                waiting.register(connection, selectors.EVENT_READ,
                                 Receiver(connection, int(size), job_port))
                continue
            try:
                got = key.fileobj.recv_into(buffer)
            except ConnectionError:
                got = 0
            if not got:
                waiting.unregister(key.fileobj)
                key.fileobj.close()
                continue
            port = str(key.data.port)
            received[port] += got
            bursts += key.data.complete(got)
    print(json.dumps({"received": received, "bursts": bursts}))


class Receiver:
    """Of one connection."""

    def __init__(self, connection, size, job_port):
        self.port = connection.getsockname()[1]
        self.size = size if self.port == int(job_port) else None
        self.bytes, self.done = 0, 0

    def complete(self, got):
        """@return times of the bursts that have become complete"""
        if self.size is None:
            return []
        now, before = time.monotonic(), self.done
        self.bytes += got
        self.done = self.bytes // self.size
        return [now] * (self.done - before)


def first_sequence(connection):
    """Sequence number of the next byte that is sent. Needs CAP_NET_ADMIN."""
    connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR_QUEUE, TCP_SEND_QUEUE)
    sequence = connection.getsockopt(socket.IPPROTO_TCP, TCP_QUEUE_SEQ)
    connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_OFF_NO_WINDOW_PROBE)
    return sequence


def send_tos_start(connection, sequence):
    """START in the TOS byte of a segment of the connection without payload and flags."""
    own, other = connection.getsockname(), connection.getpeername()
    segment = struct.pack("!HHIIBBHHH", own[1], other[1], sequence, 0, 5 << 4, 0, 0, 0, 0)
    pseudo = socket.inet_aton(own[0]) + socket.inet_aton(other[0]) + struct.pack("!HH", 6, 20)
    total = sum(struct.unpack("!16H", pseudo + segment))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    segment = segment[:16] + struct.pack("!H", ~total & 0xFFFF) + segment[18:]
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP) as raw:
        raw.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x80 | THRESHOLD // 5 << 2)
        raw.sendto(segment, (other[0], 0))


def bursts(address, port, count, size, period, lead, *options):
    port, size, lead = int(port), int(size), float(lead)
    connection = socket.create_connection((address, port))
    if connection.recv(1) != ACCEPTED:
        raise ConnectionError("the server has ended")
    signals = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sequence = first_sequence(connection)
    own_port = connection.getsockname()[1]
    begin = time.monotonic() + 2 * lead
    due, late = [], 0
    for i in range(int(count)):
        at = begin + i * float(period)
        sleep_until(at - lead)
        if "tos" in options:
            send_tos_start(connection, sequence & 0xFFFFFFFF)
        else:
            told = 0 if "no-bytes" in options else size
            due_ns = max(0, int((at - time.monotonic()) * 1e9))
            message = start_message(THRESHOLD, own_port, port, due_ns, told, i + 1,
                                    sequence & 0xFFFFFFFF)
            signals.sendto(message, (address, SIGNAL_PORT))
        sleep_until(at)
        due.append(at)
        if "empty" in options:
            sequence += 1  # as if there had been one
            continue
        late += time.monotonic() - at > 0.005
        connection.sendall(bytes(size))
        sequence += size
    time.sleep(float(period))
    print(json.dumps({"due": due, "late": late}))


def sleep_until(at):
    time.sleep(max(0, at - time.monotonic()))


def background(address, port, flows, seconds, congestion, *options):
    begin = time.monotonic()
    end = begin + float(seconds)
    told = threading.Event()
    if "until-told" in options:
        signal.signal(signal.SIGINT, lambda *_: told.set())
    else:
        told.set()

    def goes_on(now):
        return now < end or not told.is_set() and now < begin + 60

    sent = [0] * int(flows)

    def send(number):
        with socket.socket() as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
            connection.connect((address, int(port)))
            while goes_on(time.monotonic()):
                connection.sendall(bytes(1 << 16))
                sent[number] += 1 << 16
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # the other end has read it all

    threads = [threading.Thread(target=send, args=(i,)) for i in range(int(flows))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"sent": sent, "seconds": time.monotonic() - begin}))


if __name__ == "__main__":
    {"server": server, "bursts": bursts, "background": background}[sys.argv[1]](*sys.argv[2:])
