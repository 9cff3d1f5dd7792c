"""Frames that a test writes byte by byte, and sends as they are."""
import socket
import struct
import time

SO_RCVBUFFORCE = 33
BATCH, PAUSE_S = 64, 0.001  # frames at once: fewer than the ring of net_af_packet holds


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def own_mac(device):
    """In the device's namespace."""
    with open(f"/sys/class/net/{device}/address", encoding="ascii") as file:
        return mac(file.read().strip())


def mac_of(address):
    """Of a host of the generator's."""
    return b"\x02\0" + socket.inet_aton(address)


def ipv4(source, destination, protocol, body, tos=0):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + len(body), 0, 0x4000, 64, protocol, 0,
                       socket.inet_aton(source), socket.inet_aton(destination))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def ethernet(destination, source, packet):
    return destination + source + b"\x08\0" + packet


def udp(source_port, destination_port, body):
    return struct.pack("!HHHH", source_port, destination_port, 8 + len(body), 0) + body


def syn(source, destination, source_port, destination_port, sequence):
    """An IPv4 packet."""
    head = struct.pack("!HHIIBBHHH", source_port, destination_port, sequence, 0, 0x50, 2, 65535, 0,
                       0)
    pseudo = socket.inet_aton(source) + socket.inet_aton(destination) + b"\0\6\0\x14"
    head = head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:]
    return ipv4(source, destination, 6, head)


def packet_socket(device):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    s.bind((device, 0))
    return s


def send_paced(s, frames):
    for i, frame in enumerate(frames):
        s.send(frame)
        if i % BATCH == BATCH - 1:
            time.sleep(PAUSE_S)
