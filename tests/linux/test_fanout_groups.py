#!/usr/bin/env python3
"""Fanout groups of the kernel that another interface has: a program whose process id gives its
net_af_packet device such a number goes on in a child process, which takes signals and ends with it."""
import os
import signal
import subprocess
import sys
import time

import lab
from test_bad_frames import CONFIG, HOST, LINUX, SIZE

# Process ids whose groups are held: more than the machine starts meanwhile. To let go of a group takes the
# kernel 10 ms and more.
IDS = 800
MESSAGE = "going on in a child process"

# Holds, on lo, the groups that even process ids give an interface.
HOLDER = """
import resource, socket, sys, time
interface, first, count = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
held = []
for process in range(first + first % 2, first + count, 2):
    one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    one.bind(("lo", 3))
    one.setsockopt(263, 18, (process ^ interface) & 0xFFFF)  # SOL_PACKET, PACKET_FANOUT
    held.append(one)
print("holds", flush=True)
time.sleep(600)
"""


class FanoutGroups(lab.LabTest):
    def setUp(self):
        super().setUp()
        self.near = self.lab.namespace("near")
        self.linux = self.lab.linux_host(self.near, "cable", LINUX + "/24")
        index = lab.run("ip", "-n", self.near, "-o", "link", "show", "cable").split(":")[0]
        with subprocess.Popen(["true"]) as own:
            pass  # its id is the last one
        holder = lab.Process(self.lab, self.near,
                             [sys.executable, "-c", HOLDER, index, str(own.pid + 1), str(IDS)], "holder")
        holder.says("holds")

    def generator_in_child(self):
        """@return a generator whose process stands in for a child"""
        for _ in range(8):  # about every second process id is even
            generator = self.lab.generator(self.near, CONFIG)
            generator.says("sending")
            if MESSAGE in generator.output():
                return generator
            generator.kill()
        self.fail("no process had an even id")
        return None

    def test_a_child_takes_the_place(self):
        self.transfer_arrives()
        self.signal_ends_both()
        self.child_does_not_outlive_it()

    def transfer_arrives(self):
        generator = self.generator_in_child()
        peer = self.lab.peer(self.linux, "connect", "send", HOST, 7001, SIZE)
        self.ended(generator, 0)
        self.ended(peer, 0)
        self.assertEqual(self.lab.report()["transfers"][0]["delivered"], SIZE)

    def signal_ends_both(self):
        generator = self.generator_in_child()
        generator.send(signal.SIGTERM)
        self.ended(generator, 130)

    def child_does_not_outlive_it(self):
        generator = self.generator_in_child()
        children = f"/proc/{generator.process.pid}/task/{generator.process.pid}/children"
        with open(children, encoding="ascii") as file:
            child = int(file.read())
        generator.kill()
        end = time.monotonic() + lab.PATIENCE
        while os.path.exists(f"/proc/{child}") and time.monotonic() < end:
            time.sleep(0.02)
        self.assertFalse(os.path.exists(f"/proc/{child}"))


if __name__ == "__main__":
    lab.main()
