#!/usr/bin/env python3
"""Mode `window` holds a Linux sender that knows no ECN while a burst is announced, and
lets it go on afterwards."""
import socket
import statistics
import sys

import lab
from two_hosts import PREFIX, SwitchTest, devices, ports, start_message

HOSTS = ["left", "right", "worker"]  # of the stream, its receiver, and of the announced burst
MEGABITS, FLOOR = 20, 0.1
HOLD_MS, BIN_MS = 1000, 20
START_AFTER_S = 1.5
THRESHOLD = 10  # announced
BYTES = 10_000_000

# The base round trip is four times `delay`.
CONFIG = f'bin = "{BIN_MS}ms"' + devices(HOSTS) + """
[[switch]]
name = "s"
[switch.l2]
learning = true
[switch.queue]
limit_packets = 100
[switch.marker]
kind = "tail_drop"
[switch.signals]
accept_udp = true
accept_from = ["{accept_from}"]
[switch.regulation]
mode = "window"
recovery = "timer"
hold = "{hold}ms"
expiry = "10s"
[switch.regulation.window]
rule = "strict"
floor = {floor}
""" + ports(HOSTS, drain_rate=f'"{MEGABITS}mbit"', delay='"{delay}"', record="true")


def announce(address):
    """In the worker's namespace: a START for a flow of its own, by a plain socket."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.sendto(start_message(THRESHOLD, 40_000, 5_000), (address, 5900))


class Window(SwitchTest):
    def setUp(self):
        super().setUp()
        for name in HOSTS:
            self.lab.sysctl(self.host(name), "net.ipv4.tcp_ecn=0")

    def transfer(self, accept_from, delay="5ms"):
        """@return the bins of the port to the receiver, a START amid them"""
        self.start(CONFIG.format(accept_from=accept_from, hold=HOLD_MS, floor=FLOOR,
                                 delay=delay))
        self.assertEqual(self.ping("worker", PREFIX + "2", lab.PATIENCE), 64)
        receiver = self.lab.peer(self.hosts["right"], "listen", "receive", PREFIX + "2", 7001,
                                 BYTES, name="receiver")
        receiver.says("ready")
        sender = self.lab.peer(self.hosts["left"], "connect", "send", PREFIX + "2", 7001, BYTES,
                               "cc=cubic", "ss=1", name="sender")
        sender.says("ready")
        code = f"import sys, time; sys.path.insert(0, {str(lab.HERE)!r}); " \
               f"import test_switch_window as t; time.sleep({START_AFTER_S}); " \
               f"t.announce('{PREFIX}2')"
        self.lab.run_in(self.hosts["worker"], sys.executable, "-c", code)
        self.ended(sender, 0)
        self.ended(receiver, 0)
        end = receiver.result()
        self.assertEqual(end["sha256"], end["expected_sha256"])
        self.assertNotIn("ecn", sender.result()["ss"].split())
        self.report = self.stop()
        self.queue = self.queues["right"]
        self.assertEqual(sum(self.queue["marks"]["background"].values()), 0)
        return self.queue["bins"]

    def regulated(self, bins):
        """Before, late in, and soon after the regulation. @return rate while held [Mbit/s]"""
        self.assertEqual(self.queue["starts_armed"], 1)
        self.assertEqual(self.queue["recovered_timer"], 1)
        window = self.queue["window"]
        self.assertEqual((window["flows_added"], window["flows_without_handshake"]), (1, 0))
        self.assertEqual(window["releases"], 1)
        self.assertGreater(window["answers"]["held"], HOLD_MS // BIN_MS)

        regulated = [i for i, b in enumerate(bins) if b["min_threshold_packets"] == THRESHOLD]
        first, last = regulated[0], regulated[-1]
        self.assertAlmostEqual(last + 1 - first, HOLD_MS / BIN_MS, delta=1)
        before = bins[first - 20:first]
        held = bins[(first + last) // 2:last]
        after = bins[last + 6:last + 26]  # six round trips later
        say = [(round(rate(b), 2), standing_queue(b)) for b in (before, held, after)]
        print("Mbit/s and packets before, held, after:", say, "queue below threshold after",
              first_bin(bins[first:], lambda b: b["max_packets"] < THRESHOLD), "ms, 90 % back after",
              first_bin(bins[last + 1:], lambda b: rate([b]) > 0.9 * MEGABITS), "ms")
        self.assertGreater(rate(before), 0.6 * MEGABITS, say)
        self.assertGreater(standing_queue(before), 3 * THRESHOLD, say)
        self.assertLess(standing_queue(held), THRESHOLD, say)
        self.assertGreater(rate(after), 0.6 * MEGABITS, say)
        return rate(held)

    def test_a_held_sender_keeps_its_floor_and_comes_back(self):
        held = self.regulated(self.transfer(PREFIX + "3/32"))
        self.assertGreater(held, 0.5 * FLOOR * MEGABITS)
        self.assertLess(held, 2 * FLOOR * MEGABITS)

    def test_without_delay_two_segments_are_the_floor(self):
        held = self.regulated(self.transfer(PREFIX + "3/32", delay="0s"))
        self.assertGreater(held, 2 * FLOOR * MEGABITS)

    def test_a_start_from_elsewhere_holds_nobody(self):
        bins = self.transfer(PREFIX + "99/32")
        self.assertEqual(self.report["signals_not_accepted"], 1)
        self.assertEqual(self.queue["starts_armed"], 0)
        self.assertEqual(self.queue["window"]["answers"]["held"], 0)
        busy = [i for i, b in enumerate(bins) if b["bytes"]["background"] > 10_000]
        middle = bins[busy[len(busy) // 4]:busy[-10]]
        for i in range(0, len(middle) - 10, 10):
            self.assertGreater(rate(middle[i:i + 10]), 0.4 * MEGABITS)


def rate(bins):
    """[Mbit/s] of frames"""
    return sum(b["bytes"]["background"] for b in bins) * 8 / (len(bins) * BIN_MS * 1000)


def first_bin(bins, holds):
    """[ms] from the first bin to the first of which this holds, or to the end"""
    return BIN_MS * next((i for i, b in enumerate(bins) if holds(b)), len(bins))


def standing_queue(bins):
    """Median of the bins' largest occupancies [packets]"""
    return statistics.median(b["max_packets"] for b in bins)


if __name__ == "__main__":
    lab.main()
