"""What the bursts of a job met at a port of outrider-switch, from the switch's own capture.

A capture has each packet that left, when its transmission began, and how long it had waited:
so also when it came. Nobody else needs to watch, and there is one clock.
"""
import bisect
import collections
import dataclasses
import struct

START_KIND = 1
WRAP = 1 << 32


@dataclasses.dataclass
class Burst:
    """One worker's push of one iteration [ns of the capture]."""
    came_ns: int  # its first packet, to the queue
    left_ns: int  # from the queue
    queue: int  # packets of background that left while this one waited
    started_ns: int = 0  # its START came to the switch; 0: there was none


def packets(path):
    """Yields (left ns, waited ns, frame) of a pcapng file of outrider-switch."""
    data = memoryview(path.read_bytes())
    at = 0
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            high, low, kept = struct.unpack_from("<III", data, at + 12)
            comment = bytes(data[at + 28 + (kept + 3) // 4 * 4 + 4:at + size])
            waited = int(comment[comment.index(b"waited ") + 7:comment.index(b" ns")])
            yield high << 32 | low, waited, data[at + 28:at + 28 + kept]
        at += size


class Stream:
    """Bytes of one direction of a TCP connection, counted from its SYN."""

    def __init__(self, sequence):
        self.first = (sequence + 1) % WRAP
        self.end = 0  # bytes seen

    def add(self, sequence, size):
        """@return first and last + 1 of the bytes that are new; equal if none is"""
        offset = (sequence - self.first - self.end) % WRAP  # of the segment, from what was seen
        offset -= WRAP if offset >= WRAP // 2 else 0
        begin, end = self.end, max(self.end, self.end + offset + size)
        self.end = end
        return begin, end


class PortCapture:
    """@param burst_bytes  of each worker's push. @param job_port  TCP port of the server"""

    def __init__(self, path, burst_bytes, job_port, signal_port):
        self.burst_bytes, self.job_port, self.signal_port = burst_bytes, job_port, signal_port
        self.streams = {}  # of (source address, source port, destination port)
        self.starts = collections.defaultdict(list)  # of a connection: (sequence, came)
        self.background_left = []  # when
        self.background_bytes = [0]  # of payload, new, up to and with each of these
        self.bursts = collections.defaultdict(list)  # of a connection, in order
        for left, waited, frame in packets(path):
            self.add(left, waited, frame)
        self.join_starts()

    def add(self, left, waited, frame):
        if frame[12:14] != b"\x08\x00":
            return
        ip = frame[14:]
        total, protocol = struct.unpack_from("!2xH5xB", ip)
        body = ip[(ip[0] & 15) * 4:]
        source, port = struct.unpack_from("!HH", body)
        connection = bytes(ip[12:16]), source, port
        if protocol == 17 and port == self.signal_port and body[13] == START_KIND:
            flow = struct.unpack_from("!HHI", body, 8 + 32)
            self.starts[connection[0], flow[0], flow[1]].append((flow[2], left - waited))
        if protocol != 6:
            return
        sequence, = struct.unpack_from("!I", body, 4)
        size = total - (ip[0] & 15) * 4 - (body[12] >> 4) * 4
        if body[13] & 2:
            self.streams[connection] = Stream(sequence)
        if connection not in self.streams:
            return
        begin, end = self.streams[connection].add(sequence, size)
        if port == self.job_port:
            self.add_push(connection, begin, end, left, waited)
        else:
            self.background_left.append(left)
            self.background_bytes.append(self.background_bytes[-1] + end - begin)

    def add_push(self, connection, begin, end, left, waited):
        if begin == end:
            return
        bursts = self.bursts[connection]
        if begin // self.burst_bytes == len(bursts):
            met = len(self.background_left) - bisect.bisect_right(self.background_left,
                                                                  left - waited)
            bursts.append(Burst(left - waited, left, met))

    def join_starts(self):
        """A START names the first byte of its burst."""
        for connection, starts in self.starts.items():
            stream = self.streams.get(connection)
            for sequence, came in starts if stream else ():
                number, rest = divmod((sequence - stream.first) % WRAP, self.burst_bytes)
                bursts = self.bursts[connection]
                if rest == 0 and number < len(bursts) and not bursts[number].started_ns:
                    bursts[number].started_ns = came

    def iterations(self):
        """Bursts of all workers, by iteration."""
        return list(zip(*self.bursts.values()))

    def background_goodput(self, begin_ns, end_ns):
        """[bit/s] of payload that was new, through the port"""
        first, last = (bisect.bisect_left(self.background_left, t) for t in (begin_ns, end_ns))
        new = self.background_bytes[last] - self.background_bytes[first]
        return 8 * new / ((end_ns - begin_ns) / 1e9)
