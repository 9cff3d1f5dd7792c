#!/usr/bin/env python3
"""A limit of a file's size (ulimit -f, LimitFSIZE of systemd, Slurm) is a full disk: the cause is
named, no half file has its name, and a switch whose capture has grown to it forwards on."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

import lab

LAB = os.environ.get("OUTRIDER_LAB_PROGRAM", "build/release/bin/outrider-lab")
CONF = lab.HERE.parent.parent / "conf"

SWITCH = """
[[device]]
name = "in"
device = "net_af_packet0,iface=in"
[[device]]
name = "out"
device = "net_af_packet1,iface=out"
[[switch]]
name = "s"
[[switch.port]]
name = "in"
device = "in"
drain_rate = "1gbit"
[[switch.port]]
name = "out"
device = "out"
drain_rate = "1gbit"
[[switch.route]]
prefix = "10.2.0.0/16"
port = "out"
"""

# Sends UDP datagrams of 1400 bytes to 10.2.0.1; arguments: how many.
SENDER = r"""
import socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
payload = struct.pack("!HHHH", 1000, 2000, 8 + 1400, 0) + bytes(1400)
header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, 17, 0,
                     bytes([10, 1, 0, 1]), bytes([10, 2, 0, 1]))
total = sum(struct.unpack("!10H", header))
total = (total & 0xFFFF) + (total >> 16)
header = header[:10] + struct.pack("!H", ~total & 0xFFFF) + header[12:]
for _ in range(int(sys.argv[1])):
    s.send(b"\x02\0\0\0\0\x02" + b"\x02\0\0\0\0\x01" + b"\x08\0" + header + payload)
"""


def limited(size):
    """What a child does before it becomes a program. Python restores SIGXFSZ, which it ignores."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class FileSizeLimit(lab.LabTest):
    def test_programs_name_the_cause(self):
        with tempfile.TemporaryDirectory(prefix="outrider-limit-") as directory:
            out = pathlib.Path(directory)
            with open(out / "text", "wb") as text:
                for words, output in (
                        ([lab.GENERATOR, "--config", CONF / "trafficgen/imix.toml", "--preview",
                          out / "p.pcap", "--duration", "1ms"], subprocess.PIPE),
                        ([LAB, "run", CONF / "experiments/quick.toml", "--jobs", "1", "--out",
                          out / "results"], subprocess.PIPE),
                        ([LAB, "metrics"], text)):
                    with self.subTest(words[1]):
                        done = subprocess.run(list(map(str, words)), stdout=output, text=True,
                                              stderr=subprocess.PIPE, check=False,
                                              env=lab.ENVIRONMENT, timeout=lab.PATIENCE,
                                              preexec_fn=limited(2000))
                        self.assertEqual(done.returncode, 1, done.stderr)
                        # C's buffer keeps no cause of a write that has failed before the last one
                        self.assertRegex(done.stderr, "File too large|an earlier write has failed")
            self.assertEqual([p.name for p in out.rglob("*") if "part" in p.name], [])
            self.assertFalse((out / "p.pcap").exists())

    def test_a_switch_forwards_on(self):
        near = self.lab.namespace("near")
        hosts = {name: self.lab.linux_host(near, name, None, name) for name in ("in", "out")}
        capture = self.lab.directory / "c.pcapng"
        switch = lab.Process(
            self.lab, near,
            ["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", lab.SWITCH, "--config",
             self.lab.write("s.toml", SWITCH), "--lcore", self.lab.cpus[0], "--report",
             self.lab.directory / "switch.json", "--capture", f"s.out={capture}",
             "--capture-snap", "1400"], "switch")
        switch.says("forwarding")

        def arrived():
            return int(self.lab.run_in(hosts["out"], "cat",
                                       "/sys/class/net/eth0/statistics/rx_packets"))

        self.lab.run_in(hosts["in"], sys.executable, "-c", SENDER, "400")
        switch.says("File too large")
        before = arrived()
        self.lab.run_in(hosts["in"], sys.executable, "-c", SENDER, "10")
        end = lab.time.monotonic() + lab.PATIENCE
        while arrived() < before + 10 and lab.time.monotonic() < end:
            lab.time.sleep(0.01)
        self.assertGreaterEqual(arrived(), before + 10)
        switch.send(lab.signal.SIGINT)
        self.ended(switch, 0)
        self.assertTrue(self.lab.report("switch")["ledger_balanced"])
        self.assertLess(capture.stat().st_size, 100 * 1024)


if __name__ == "__main__":
    lab.main()
