#!/usr/bin/env python3
"""Frames of 9,018 bytes on virtio-net, whose host has to allow the MTU, and which knows no longest
frame: what is too long arrives in several buffers, and the switch drops it by name."""
import guest
import jumbo


class VirtioJumbo(jumbo.JumboTest):
    MACHINE = {"model": "virtio", "cables": 2, "properties": "host_mtu=9000"}

    def test_the_longest_frames_pass_whole(self):
        self.the_longest_frames_pass_whole()

    def test_frames_that_are_too_long_are_dropped_by_name(self):
        self.frames_that_are_too_long_do_not_pass()
        sent = self.sent("small")
        self.assertEqual(self.json("small.json")["received"], sent)
        self.assertEqual(self.json("small.json")["drops"]["background"]["malformed"], sent)


if __name__ == "__main__":
    guest.main()
