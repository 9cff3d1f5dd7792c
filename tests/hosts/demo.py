#!/usr/bin/env python3
"""An unmodified training job between Linux hosts, with a switch that is told of its bursts.

Hosts are network namespaces of this machine, cabled by veth to outrider-switch. Workers and
a parameter server exchange the gradients of a model over plain TCP; iperf3 fills the same
port towards the server. outrider-hostagent beside them tells the switch when bursts come.
Compared are runs without background (alone), with it (off), and with each mode of
regulation or rival. A recording of the job is then replayed by outrider-trafficgen.

Needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_BPF) and iperf3. Nothing stays behind, however
it ends. While it runs it goes before other work of the machine.
"""
import argparse
import csv
import dataclasses
import json
import pathlib
import re
import shutil
import sys

import figures
import hosts_run
import own_world
import replay

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODES = ["mark", "pace", "window", "mark_pace", "mark_window"]
LARGEST_ERROR = 0.02  # of a replay
DURATION = re.compile(r"\d+(\.\d+)?(ns|us|ms|s)")
RATE = re.compile(r"\d+(\.\d+)?[kmg]bit")


def arguments(words):
    default = hosts_run.Setting(profile=ROOT / "conf/models/resnet32-cifar.toml")
    parser = argparse.ArgumentParser(prog="tools/demo-hosts", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/hosts",
                        help="directory of figures.json, iterations.csv, recording, replay "
                             "[results/hosts]")
    parser.add_argument("--modes", default="mark,pace,window",
                        help="of regulation, and what it is set against, with commas between: " +
                             ", ".join([*MODES, *hosts_run.RIVALS]) + " [mark,pace,window]")
    parser.add_argument("--rounds", type=int, default=1,
                        help="off and each mode, so often, by turns, and off once more [1]")
    parser.add_argument("--profile", type=pathlib.Path, default=default.profile,
                        help="model whose gradients are pushed [conf/models/resnet32-cifar.toml]")
    for field, text in (("scale", "divides the bytes of each tensor"),
                        ("workers", "of the job"),
                        ("compute_s", "seconds of computing in an iteration"),
                        ("iterations", "of each run"),
                        ("warm_up", "iterations that do not count"),
                        ("rate", "of each port"), ("delay", "a quarter of the round trip"),
                        ("limit", "of each port's queue [packets]"),
                        ("threshold", "from which the port marks [packets]"),
                        ("lead", "from START to the burst that is expected"),
                        ("asked", "queue that START asks for [packets]"),
                        ("flows", "of background"),
                        ("control", "congestion control of all, also outrider_dctcp"),
                        ("ecn", "1 or 0: net.ipv4.tcp_ecn of all hosts"),
                        ("device", "af_packet or af_xdp")):
        value = getattr(default, field)
        parser.add_argument("--" + field.replace("_", "-"), type=type(value), default=value,
                            help=f"{text} [{value}]")
    options = parser.parse_args(words)
    options.modes = options.modes.split(",")
    if found := refused(options):
        parser.exit(2, "".join(f"tools/demo-hosts: --{fault}\n" for fault in found))
    return options


def refused(options):
    """All faults, by the option."""
    known = [*MODES, *hosts_run.RIVALS]
    found = [f"modes: {mode}: must be of {', '.join(known)}"
             for mode in options.modes if mode not in known]
    for name, rule, good in (
            ("device", "must be af_packet or af_xdp", options.device in ("af_packet", "af_xdp")),
            ("ecn", "must be 0 or 1", options.ecn in (0, 1)),
            ("asked", "must be a multiple of 5 from 5 to 75",
             options.asked in range(5, 76, 5)),
            ("threshold", f"must be from 1 to limit, {options.limit}",
             1 <= options.threshold <= options.limit),
            ("warm_up", f"must be from 0 to less than iterations, {options.iterations}",
             0 <= options.warm_up < options.iterations),
            ("compute_s", "must be above 0", options.compute_s > 0),
            ("profile", "there is no such file", options.profile.is_file()),
            *((name, "must be at least 1", getattr(options, name) >= 1)
              for name in ("rounds", "scale", "workers", "flows")),
            *((name, 'must be a duration such as "1.5ms"',
               DURATION.fullmatch(getattr(options, name))) for name in ("delay", "lead")),
            ("rate", 'must be a rate such as "100mbit"', RATE.fullmatch(options.rate))):
        if not good:
            found.append(f"{name.replace('_', '-')}: {getattr(options, name)}: {rule}")
    return found


def run(setting, arm, keep=None):
    """@param keep  where recordings go"""
    print(f"  {arm.name} ...", file=sys.stderr, flush=True)
    hosts = hosts_run.HostsRun(setting, arm)
    try:
        outcome = hosts.run()
        if keep:
            for recording in hosts.lab.directory.glob("recording*"):
                shutil.copytree(recording, keep / recording.name, dirs_exist_ok=True)
        return outcome
    finally:
        hosts.close()


def run_all(options, setting):
    """@return figures of all runs by arm, and whether all logs were alike"""
    alone = hosts_run.Arm("alone", background=False, record=True)
    off = hosts_run.Arm("off")
    order = [alone]
    for _ in range(options.rounds):
        order += [off, *(hosts_run.Arm(mode, mode) if mode in MODES
                         else hosts_run.Arm(mode, rival=mode) for mode in options.modes)]
    order.append(off)
    runs, logs = {}, []
    for arm in order:
        outcome = run(setting, arm, options.out if arm.record else None)
        runs.setdefault(arm.name, []).append(figures.figures_of(outcome, setting))
        logs.append(figures.log_without_times(outcome))
    return runs, all(log == logs[0] for log in logs)


def write(options, setting, runs, replayed):
    with open(options.out / "figures.json", "w", encoding="utf-8") as file:
        shown = {**dataclasses.asdict(setting), "profile": setting.profile.name}
        json.dump({"setting": shown, "runs": runs, "replay": replayed}, file, indent=1)
    with open(options.out / "iterations.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["arm", "run", "iteration", "iteration_ms", "start_queue_packets",
                      "start_wait_ms", *(f"start_ahead_ms_{i}" for i in range(setting.workers))])
        for name, arm in runs.items():
            for number, one in enumerate(arm):
                for row in one["iterations"]:
                    out.writerow([name, number, row["iteration"], row["iteration_ms"],
                                  row["start_queue_packets"], row["start_wait_ms"],
                                  *row["start_ahead_ms"]])


def say(options, setting, arms, replayed, same):
    print(f"""
{setting.workers} workers push {setting.burst_bytes()} bytes each ({setting.profile.stem}, \
divided by {setting.scale}) to one server, and compute {1000 * setting.compute_s:.0f} ms.
Port of {setting.rate}, base round trip 4 x {setting.delay}, queue of {setting.limit} packets, \
marked from {setting.threshold}. Background: {setting.flows} flows of iperf3,
{setting.control}, {"with" if setting.ecn else "without"} ECN. START asks for \
{setting.asked} packets, {setting.lead} ahead. Medians [least, greatest] of iterations \
{setting.warm_up} to {setting.iterations - 1} of each run.
""")
    print(figures.table(arms, setting))
    first, again = replayed["recorded"], replayed["replayed"]
    print(f"""
The job's log is {"the same in all runs but for its times" if same else "NOT the same"}.
Recorded: {len(first["push_bytes"])} pushes of {figures.spread(first["push_bytes"], 0)} bytes, \
{figures.spread(first["gap_ms"], 2)} ms after the pull before.
Replayed: {len(again["push_bytes"])} pushes of {figures.spread(again["push_bytes"], 0)} bytes, \
{figures.spread(again["gap_ms"], 2)} ms.
Sizes differ by {100 * replayed["worst_size_error"]:.2f} % at most, median gaps by \
{100 * replayed["median_gap_error"]:+.2f} %.
Everything is in {options.out}.""")


def demonstrate(words):
    """@return faults; none is good"""
    options = arguments(words)
    setting = hosts_run.Setting(**{f.name: getattr(options, f.name)
                                   for f in dataclasses.fields(hosts_run.Setting)})
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    runs, same = run_all(options, setting)
    replayed = replay.compare(options.out / "recording0", setting, options.out / "replay",
                              hosts_run.lab.two_cpus()[1])
    arms = {name: figures.Arm(of, setting) for name, of in runs.items()}
    write(options, setting, runs, replayed)
    say(options, setting, arms, replayed, same)
    found = figures.faults(arms, setting)
    if not same:
        found.append("the job's log is not the same in all runs")
    for name in ("worst_size_error", "median_gap_error"):
        if abs(replayed[name]) > LARGEST_ERROR:
            found.append(f"replay: {name} is {replayed[name]}, limit {LARGEST_ERROR}")
    return found


def main(words):
    arguments(words)  # complains before anything is made
    try:
        own_world.enter()
        reason = hosts_run.why_not()
    except OSError as error:
        reason = f"{error.strerror}. Needs root."
    if reason is not None:
        print(f"tools/demo-hosts: {reason}", file=sys.stderr)
        return 3
    own_world.come_first()
    try:
        found = demonstrate(words)
    except (AssertionError, RuntimeError) as error:  # a program that did not do what it should
        found = [str(error)]
    for fault in found:
        print(f"tools/demo-hosts: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
