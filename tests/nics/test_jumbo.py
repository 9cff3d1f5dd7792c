#!/usr/bin/env python3
"""Frames of 9,018 bytes on an emulated e1000e, which does not count what it refuses."""
import guest
import jumbo


class E1000eJumbo(jumbo.JumboTest):
    MACHINE = {"model": "e1000e", "cables": 2}

    def test_the_longest_frames_pass_whole(self):
        self.the_longest_frames_pass_whole()

    def test_frames_that_are_too_long_do_not_enter_the_switch(self):
        self.frames_that_are_too_long_do_not_enter_the_switch()


if __name__ == "__main__":
    guest.main()
