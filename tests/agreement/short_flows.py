"""Short flows between Linux's sockets, as a [[flows]] table of outrider-trafficgen has them: each
on a connection of its own, by a Poisson process, of a size that a distribution gives.

A process has one thread for all that it sends, and one for all that it receives.
"""
import bisect
import json
import random
import selectors
import socket
import time

ZEROS = bytes(1 << 16)


class Sizes:
    """A file of conf/distributions: sizes, each with the share of flows of at most that size."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            rows = [line.split() for line in file if line.strip() and line[0] != "#"]
        self.bytes = [float(size) for size, _ in rows]
        self.shares = [float(share) for _, share in rows]

    def mean(self):
        points = list(zip(self.bytes, self.shares))
        return sum((b + a) / 2 * (q - p) for (a, p), (b, q) in zip(points, points[1:]))

    def at(self, share):
        """Between two sizes all are as likely."""
        i = max(1, bisect.bisect_left(self.shares, share))
        (a, p), (b, q) = ((self.bytes[j], self.shares[j]) for j in (i - 1, i))
        return max(1, round(a + (b - a) * (share - p) / (q - p))) if q > p else round(b)


def arrivals(group, seed):
    """Yields (seconds, source, target, bytes), the earliest first, without end."""
    sizes, draw, at = Sizes(group["sizes"]), random.Random(seed), 0.0
    per_second = group["bits_per_second"] / 8 / sizes.mean()
    while True:
        at += draw.expovariate(per_second)
        yield at, draw.choice(group["from"]), draw.choice(group["to"]), sizes.at(draw.random())


def send(make_socket, group, seed):
    """Says of each flow its source, when it came and its size. Never ends."""
    selector, began = selectors.DefaultSelector(), time.monotonic()
    for at, source, target, size in arrivals(group, seed):
        while (wait := began + at - time.monotonic()) > 0:
            for key, _ in selector.select(wait):
                left = key.data - key.fileobj.send(ZEROS[:key.data])
                if left > 0:
                    selector.modify(key.fileobj, selectors.EVENT_WRITE, left)
                    continue
                selector.unregister(key.fileobj)
                key.fileobj.close()  # its FIN is behind what it has written
        s = make_socket()
        s.setblocking(False)
        s.bind((source, 0))
        came_ns = time.monotonic_ns()
        s.connect_ex((target, group["port"]))
        print(json.dumps({"short": [*s.getsockname(), came_ns, size]}), flush=True)
        selector.register(s, selectors.EVENT_WRITE, size)


def receive(listeners):
    """Says of each flow its source, when its last byte was read, and its bytes. Never ends."""
    selector = selectors.DefaultSelector()
    for listener in listeners:
        listener.setblocking(False)
        selector.register(listener, selectors.EVENT_READ, None)
    while True:
        for key, _ in selector.select():
            if key.data is None:
                s, source = key.fileobj.accept()
                selector.register(s, selectors.EVENT_READ, [*source, 0, 0])
            elif data := key.fileobj.recv(1 << 16):
                key.data[2:] = time.monotonic_ns(), key.data[3] + len(data)
            else:
                print(json.dumps({"short_end": key.data}), flush=True)
                selector.unregister(key.fileobj)
                key.fileobj.close()


def completions_s(sent, received, largest_bytes):
    """@return the times of flows of at most so many bytes that came whole"""
    ends = {(address, port, size): end_ns for address, port, end_ns, size in received}
    found = ((ends.get((address, port, size)), came_ns)
             for address, port, came_ns, size in sent if size <= largest_bytes)
    return [(end_ns - came_ns) / 1e9 for end_ns, came_ns in found if end_ns is not None]
