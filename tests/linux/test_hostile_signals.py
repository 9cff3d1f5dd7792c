#!/usr/bin/env python3
"""Signed STARTs as a stranger on the wire may send them, replayed, altered in every bit, cut, and
from elsewhere: each is forwarded, arms nothing, and is counted under what is wrong with it.

Tags are computed by libsodium here, not by the program's own code.
"""
import os
import struct
import time

import lab
import raw_frames as raw
from test_hostagent_signed import KEY_ID, SECRET, tag_of
from two_hosts import PREFIX, SwitchTest, ports

HOSTS = ["worker", "server"]
WORKER, SERVER, STRANGER = PREFIX + "1", PREFIX + "2", PREFIX + "9"
SIGNAL_PORT = 5900
HONEST = 200
MAC = bytes.fromhex("020000000901")  # of whoever sends: the switch learns it at either port

# Rings that hold all: what a busy machine's switch misses would be in no other count.
CONFIG = "".join(f"""
[[device]]
name = "{name}"
device = "net_af_packet{i},iface={name},framecnt=8192"
""" for i, name in enumerate(HOSTS)) + """
[[switch]]
name = "s"
[switch.l2]
learning = true
[switch.signals]
accept_udp = true
accept_from = ["{worker}/32"]
require_signed = true
tokens_per_second = 1e6
token_burst = 1e6
[[switch.signals.signers]]
name = "training"
keys = ["job.key"]
accept_from = ["{worker}/32"]
ports = ["worker"]
tokens_per_second = 1e6
token_burst = 1e6
[switch.regulation]
mode = "mark"
recovery = "burst_end"
expiry = "1s"
budget_share = 1
max_entries = 1024
""".replace("{worker}", WORKER) + ports(HOSTS, drain_rate='"1gbit"')


def start(number, counter):
    head = struct.pack("!IBBHHHIQQHHIQ", 0x4F525347, 2, 1, 10, 1, 0, number, 1000,
                       KEY_ID << 56, 40000 + number, 5000, 1, counter)
    return head + tag_of(head)


def flipped(message, bit):
    out = bytearray(message)
    out[bit // 8] ^= 1 << (bit % 8)
    return bytes(out)


def send_all(way, target_mac):
    """In a namespace. @param way  "worker": as the worker; "server": from the other side"""
    def frame(message, source=WORKER, destination=SERVER):
        return raw.ethernet(raw.mac(target_mac), MAC, raw.ipv4(
            source, destination, 17, raw.udp(SIGNAL_PORT, SIGNAL_PORT, message)))

    first = int(lab.os.environ["FIRST_COUNTER"])
    honest = [start(n, first + n) for n in range(HONEST)]
    s = raw.packet_socket("eth0")
    if way == "server":
        return raw.send_paced(s, [frame(m) for m in honest[:50]])
    last = start(HONEST, first + HONEST)
    frames = [frame(m) for m in honest]
    frames += [frame(m) for m in honest]  # replayed, in order
    frames += [frame(flipped(last, bit)) for bit in range(8 * len(last))]
    frames += [frame(m, source=STRANGER) for m in honest[:30]]
    frames += [frame(m, destination=STRANGER) for m in honest[:20]]
    frames += [frame(last[:n]) for n in range(len(last))] + [frame(last + b"\0")]
    frames += [frame(last[:4] + b"\x01" + last[5:24] + bytes(1) + last[25:48] + bytes(16))]
    return raw.send_paced(s, frames)


class HostileSignals(SwitchTest):
    def setUp(self):
        super().setUp()
        for name in HOSTS:
            self.host(name)
        key = self.lab.write("job.key", f"outrider-signal-key 1 {KEY_ID} {SECRET.hex()}\n")
        os.chmod(key, 0o600)
        self.first = time.time_ns()

    def send(self, host, to):
        self.lab.run_in(self.hosts[host], "env", f"FIRST_COUNTER={self.first}",
                        *self.lab.call("test_hostile_signals",
                                       f"send_all({host!r}, {self.mac(to)!r})"))

    def test_replayed_and_altered_ones_arm_nothing_and_are_named(self):
        # Counters that end below those of this test's messages: a switch believes what is younger
        # than its start.
        self.start(CONFIG)
        self.first = time.time_ns() + 1_000_000_000
        self.send("worker", "server")
        self.send("server", "worker")
        self.assertEqual(self.ping("worker", SERVER, lab.PATIENCE), 64)
        report = self.stop()
        self.assertEqual(report["device_rx_missed"], 0, "else the counts below are not all")
        bad = report["signals_bad_udp"]
        bits = 8 * 64
        malformed = {"bad_length": 64 + 1, "bad_magic": 32, "bad_version": 8, "bad_kind": 8}
        for name, count in malformed.items():
            self.assertEqual(bad[name], count, name)
        self.assertEqual(report["signals_signed"], HONEST)
        self.assertEqual(report["signals_replayed"], HONEST)
        self.assertEqual(report["signals_unknown_key"], 8)
        self.assertEqual(report["signals_unsigned"], 1)
        self.assertEqual(report["signals_not_accepted"], 30 + 50, "a stranger, and another port")
        altered = sum(bad.values()) - bad["bad_length"] + report["signals_unknown_key"] + report[
            "signals_bad_tag"] - 20
        self.assertEqual(altered, bits, "each bit of a message counts once")
        self.assertEqual(self.queues["server"]["starts_armed"], HONEST)


if __name__ == "__main__":
    lab.main()
