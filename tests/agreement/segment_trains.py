"""How many segments of a flow arrive back to back, by a capture of outrider-switch."""
import struct

from port_capture import packets


def mean_train(path, ports, gap_ns):
    """The mean number of segments with payload that one flow sends without a gap.

    @param ports  TCP ports that the flows go to. @param gap_ns  from one segment of a flow to its
    next: beyond it another train begins
    """
    arrivals = {}
    for left, waited, frame in packets(path):
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        ip = frame[14:]
        body = ip[(ip[0] & 15) * 4:]
        total, = struct.unpack_from("!H", ip, 2)
        source, port = struct.unpack_from("!HH", body)
        if port in ports and total > (ip[0] & 15) * 4 + (body[12] >> 4) * 4:
            arrivals.setdefault((bytes(ip[12:16]), source), []).append(left - waited)
    segments = trains = 0
    for came in arrivals.values():
        came.sort()
        segments += len(came)
        trains += 1 + sum(b - a > gap_ns for a, b in zip(came, came[1:]))
    return segments / trains if trains else None
