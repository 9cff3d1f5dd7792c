#!/usr/bin/env python3
"""Compares one scenario in virtual time, in loopback and with Linux hosts.

outrider-lab runs the scenario in virtual time and in loopback. For Linux hosts, the same
switches run between two network namespaces, one for each leaf. Their hosts are plain
sockets with the same addresses, behind net_af_packet on veth. Needs root and tests/linux.
While it runs it goes before other work of the machine, and nothing stays behind.

The scenario is one-queue.toml, beside this file: two long flows, and bursts over a marked
queue. For each congestion control and runtime the mean queue of the bottleneck over the
run without warm-up is printed, and the burst completion time: from the first byte handed
to the socket (emulated hosts: to the NIC) to the last byte read.

With --regulation it is remedies.toml: the same with bursts
that are announced, for each remedy at three rates. The start queue is printed besides,
the background's rate, and for how long the switch did not poll.

Each figure is the median over runs, with the smallest and the largest run in brackets.
"""
import argparse
import os
import pathlib
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("hosts", "linux")]

# pylint: disable=wrong-import-position,import-error
import emulated
import lab
import one_queue
import own_world
import remedies


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regulation", action="store_true",
                        help="modes of regulation and two queues at three rates")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path, help="[results/agreement-one-queue, with "
                                                         "--regulation results/agreement-remedies]")
    parser.add_argument("--repeat", type=int, default=10,
                        help="runs in real time of each row; virtual time has 10 [10]")
    parser.add_argument("--variants", nargs="*", choices=one_queue.VARIANTS,
                        default=one_queue.VARIANTS,
                        help="without --regulation: also with Linux hosts so changed; no_hystart is "
                             "CUBIC's [both]")
    parser.add_argument("--one-segment", action="store_true",
                        help="with --regulation: Linux hosts send segments singly, without joining "
                             "them for segmentation offload")
    options = parser.parse_args()
    options.scenario = remedies if options.regulation else one_queue
    if options.out is None:
        name = options.scenario.EXPERIMENT.removesuffix(".toml")
        options.out = ROOT / "results" / f"agreement-{name}"
    return options


def main():
    options = arguments()
    if (reason := lab.why_not()) is not None:
        sys.exit(f"compare: {reason}. Needs root, or capabilities for network namespaces.")
    program = options.bin / "outrider-lab"
    if not program.exists():
        sys.exit(f"compare: {program} is not there: build it with tools/demo, "
                 "or name the directory with --bin")
    own_world.enter()
    own_world.come_first()
    lab.SWITCH = str(options.bin / "outrider-switch")
    # The scenario with regulation has the network of the other.
    network = tomllib.loads((HERE / one_queue.EXPERIMENT).read_text())["network"]
    experiment = HERE / options.scenario.EXPERIMENT
    emulated.run(program, experiment, "virtual", options.out / "virtual", None)
    emulated.run(program, experiment, "loopback", options.out / "loopback", options.repeat)
    options.scenario.compare(options.out / "virtual", options.out / "loopback", network["measured"],
                             options)


if __name__ == "__main__":
    main()
