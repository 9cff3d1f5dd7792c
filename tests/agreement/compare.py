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

With --regulation it is remedies.toml: remedies with and without announced bursts, next to short
flows, at three rates. The start queue is printed besides, the background's rate, the p99 of its
flows up to 100 kB, and for how long the switch did not poll.

With --low-threshold it is low-threshold.toml: remedies that mark background early, with hosts
that join segments for segmentation offload and hosts that do not. How many segments of a flow
arrive back to back is printed besides. It has no run between two processes.

Figures of Linux hosts are kept in OUT/linux for each run: a later call makes those that lack, or
with --kept prints what is there.

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
    parser.add_argument("--low-threshold", action="store_true",
                        help="low thresholds, with segments that are joined and that are not")
    parser.add_argument("--arms", help="with one of these two: only these, as of outrider-lab")
    parser.add_argument("--filter", help="the same: only cases whose name has this text")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path,
                        help="[results/agreement-NAME of the experiment]")
    parser.add_argument("--repeat", type=int, default=10,
                        help="runs in real time of each row; virtual time has 10 [10]")
    parser.add_argument("--between-processes", type=int, metavar="N",
                        help="with --regulation: runs between two processes [as --repeat says]")
    parser.add_argument("--kept", action="store_true",
                        help="with one of the first two: no further runs with Linux hosts")
    parser.add_argument("--variants", nargs="*", choices=one_queue.VARIANTS,
                        default=one_queue.VARIANTS,
                        help="without these two: also with Linux hosts so changed; no_hystart is "
                             "CUBIC's [both]")
    options = parser.parse_args()
    options.experiment = ("low-threshold" if options.low_threshold
                          else "remedies" if options.regulation else "one-queue")
    options.out = options.out or ROOT / "results" / f"agreement-{options.experiment}"
    options.some = [word for name in ("arms", "filter") if (value := getattr(options, name))
                    for word in (f"--{name}", value)]
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
    # The other scenarios have the network of this one.
    network = tomllib.loads((HERE / "one-queue.toml").read_text())["network"]
    experiment = HERE / f"{options.experiment}.toml"
    lab_runs = emulated.Runs(program, experiment, options.out, options.some)
    scenario = one_queue if options.experiment == "one-queue" else remedies
    scenario.compare(lab_runs, network["measured"], options)


if __name__ == "__main__":
    main()
