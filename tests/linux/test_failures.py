#!/usr/bin/env python3
"""What goes wrong at the Linux end has a name in the report, and a report is written."""
import sys
import time

import lab

HOST, LINUX, NOBODY = "10.78.0.1", "10.78.0.2", "10.78.0.99"

CONFIG = """
payload = "pattern"
[[device]]
name = "eth"
device = "net_af_packet0,iface=cable"
arp = true
[[host]]
name = "h"
address = "10.78.0.1"
device = "eth"
rate = "200mbit"
[[transport]]
name = "tcp"
min_rto = "100ms"
initial_rto = "200ms"
delayed_ack = "20ms"
[[transfer]]
name = "t"
transport = "tcp"
tcp_port = 7001
"""


class Failures(lab.LabTest):
    def setUp(self):
        super().setUp()
        self.near = self.lab.namespace("near")
        self.linux = self.lab.linux_host(self.near, "cable", LINUX + "/24")

    def generator(self, **keys):
        lines = [f"{key} = {value}" for key, value in keys.items()]
        return self.lab.generator(self.near, CONFIG + "\n".join(lines))

    def outcome(self, generator, status):
        """@return the report, once the program has ended with `status`"""
        self.ended(generator, status)
        report = self.lab.report()
        self.assertTrue(report["ledger_balanced"])
        return report, report["transfers"][0]

    def to_linux(self, size="50MB", **keys):
        return self.generator(**{"from": '"h"', "to": f'"{LINUX}"', "bytes": f'"{size}"', **keys})

    def test_a_closed_port_refuses(self):
        report, transfer = self.outcome(self.to_linux(), 5)
        self.assertEqual(transfer["outcome"], "refused")
        self.assertEqual(transfer["rtos_handshake"], 0)
        self.assertLess(report["end_ns"], 20e9)

    def test_a_killed_peer_resets(self):
        peer = self.lab.peer(self.linux, "listen", "receive", LINUX, 7001, 50_000_000)
        peer.says("ready")
        generator = self.to_linux()
        generator.says("sending")
        time.sleep(0.4)  # somewhere in the transfer, which takes 2 s
        peer.kill()
        _, transfer = self.outcome(generator, 5)
        self.assertEqual(transfer["outcome"], "reset")
        self.assertGreater(transfer["delivered"], 0)
        self.assertLess(transfer["delivered"], 50_000_000)

    def test_a_vanished_peer_times_out(self):
        peer = self.lab.peer(self.linux, "listen", "receive", LINUX, 7001, 50_000_000)
        peer.says("ready")
        generator = self.to_linux(timeout='"1s"')
        generator.says("sending")
        time.sleep(0.4)
        self.lab.run_in(self.linux, "ip", "link", "set", "eth0", "address", "02:11:11:11:11:11")
        self.lab.run_in(self.linux, "ip", "address", "flush", "dev", "eth0")
        report, transfer = self.outcome(generator, 5)
        self.assertEqual(transfer["outcome"], "timed_out")
        self.assertGreater(transfer["delivered"], 0)
        self.assertGreater(transfer["rtos_data"], 0)

    def test_a_vanished_device_ends_in_a_report(self):
        peer = self.lab.peer(self.linux, "listen", "receive", LINUX, 7001, 50_000_000)
        peer.says("ready")
        generator = self.to_linux(timeout='"1s"')
        generator.says("sending")
        time.sleep(0.4)
        peer.kill()
        self.lab.delete_link(self.linux, "eth0")
        _, transfer = self.outcome(generator, 5)
        self.assertIn(transfer["outcome"], ("timed_out", "reset"))

    def test_an_address_that_nobody_has_is_named(self):
        generator = self.generator(**{"from": '"h"', "to": f'"{NOBODY}"', "bytes": '"1kB"',
                                      "timeout": '"1500ms"'})
        report, transfer = self.outcome(generator, 5)
        self.assertEqual(transfer["outcome"], "timed_out")
        neighbour = report["neighbourhood"]["neighbours"][0]
        self.assertEqual(neighbour["address"], NOBODY)
        self.assertEqual(neighbour["mac"], "")
        self.assertGreaterEqual(neighbour["requests"], 2)
        self.assertGreater(report["drops"]["unresolved"], 0)
        self.assertIn(f"neighbour {NOBODY} on device eth: never answered", generator.output())

    def test_a_wrong_byte_is_found(self):
        generator = self.generator(**{"from": f'"{LINUX}"', "to": '"h"', "bytes": '"1MB"'})
        generator.says("sending")
        peer = self.lab.peer(self.linux, "connect", "send", HOST, 7001, 1_000_000,
                             "wrong_at=777777")
        report, transfer = self.outcome(generator, 5)
        self.ended(peer, 0)
        self.assertEqual(transfer["outcome"], "completed")
        # A segment that Linux sends again, as to a host that was away for a while, is looked at again.
        payload = report["payload"]
        self.assertGreaterEqual(payload["mismatched_segments"], 1)
        self.assertLessEqual(payload["mismatched_segments"], 1 + transfer["duplicates_received"])
        self.assertEqual(payload["mismatched_bytes"], payload["mismatched_segments"])

    def test_a_stream_of_another_length_is_named(self):
        generator = self.generator(**{"from": f'"{LINUX}"', "to": '"h"', "bytes": '"1MB"',
                                      "timeout": '"2s"'})
        generator.says("sending")
        self.lab.peer(self.linux, "connect", "send", HOST, 7001, 600_000)
        _, transfer = self.outcome(generator, 5)
        self.assertEqual(transfer["outcome"], "wrong_length")
        self.assertEqual(transfer["delivered"], 600_000)

    def test_a_peer_that_stops_reading_is_waited_for(self):
        peer = self.lab.peer(self.linux, "listen", "receive", LINUX, 7001, 8_000_000,
                             "rcvbuf=65536", "pause_after=1000000", "pause=1.2")
        peer.says("ready")
        report, transfer = self.outcome(self.to_linux("8MB"), 0)
        self.ended(peer, 0)
        self.assertEqual(transfer["outcome"], "completed")
        result = peer.result()
        self.assertEqual(result["sha256"], result["expected_sha256"])
        self.assertGreater(report["end_ns"], 1.2e9, "it did wait")

    def test_pings_are_answered(self):
        generator = self.generator(**{"from": f'"{LINUX}"', "to": '"h"', "bytes": '"1kB"',
                                      "timeout": '"20s"'})
        generator.says("sending")
        code = f"import sys; sys.path.insert(0, {str(lab.HERE)!r}); import lab; " \
               f"sys.exit(not all([lab.ping('{HOST}'), lab.ping('{HOST}', bytes(1400))]))"
        self.lab.run_in(self.linux, sys.executable, "-c", code)
        generator.send(lab.signal.SIGINT)
        report, transfer = self.outcome(generator, 130)
        self.assertEqual(report["neighbourhood"]["totals"]["echoes_answered"], 2)
        self.assertEqual(transfer["outcome"], "waiting")


if __name__ == "__main__":
    lab.main()
