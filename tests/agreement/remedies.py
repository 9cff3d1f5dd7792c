"""Announced bursts: modes of regulation and two queues (remedies.toml)."""
import dataclasses
import functools
import hashlib
import json
import math
import statistics
import sys

import emulated
import linux_hosts
from segment_trains import mean_train

LONG_FLOWS_PORTS = 20000, 20001
FULL_FRAME_BITS = 8 * 1538  # on the wire
# A BPF program of outrider-hostagent: this kernel has no DCTCP.
LINUX_CONTROLLERS = {"dctcp": "outrider_dctcp"}
MEGA = 1e6


@dataclasses.dataclass
class Figures:
    """Of one run."""
    start_queue_packets: float  # mean
    burst_s: float  # median
    background_bits_per_second: float
    short_p99_s: float  # completion of flows of background up to 100 kB
    longest_gap_s: float = None  # in which the switch did not poll; virtual time has none
    segments_together: float = None  # of a flow of background, mean; where packets were captured


def train(case, path):
    """Of long flows: half of what a full frame takes on the measured link ends a train."""
    rate = 100 * MEGA * case.parameters["rate_factor"]
    return mean_train(path, LONG_FLOWS_PORTS, 0.5e9 * FULL_FRAME_BITS / rate)


def of_case(case, report=None):
    gap_s = report["longest_poll_gap_ns"] / 1e9 if report else None
    return Figures(statistics.fmean(case.start_queues_packets),
                   statistics.median(case.burst_times_s), case.background_bits_per_second,
                   case.short_p99_s, gap_s,
                   train(case, case.capture) if case.capture else None)


def p99(values):
    return sorted(values)[math.ceil(0.99 * len(values)) - 1] if values else None


def lead_s(traffic):
    """The lead that the lab gave the case, whatever said so."""
    return emulated.seconds(traffic["job"][0]["announce"]["lead"])


def linux_run(configs, case, seed, measured):
    p, settings = case.parameters, case.settings
    controller = settings["transport.controller"]
    work = {"controller": LINUX_CONTROLLERS.get(controller, controller), "quickack": False,
            "one_segment": settings["transport.segment_bursts"] == "off", "seed": seed,
            "connection": settings["transport.connections"], "announce": True,
            "burst_bytes": settings["job.burst_bytes"], "h_packets": p["h_packets"],
            "lead": lead_s(configs[1]),
            "warm_up": p["warm_up_seconds"], "period": emulated.seconds(settings["job.period"]),
            "iterations": settings["job.iterations"],
            "start_spread": emulated.seconds(settings["background.start_spread"])}
    run = linux_hosts.Run(*configs, work, measured,
                          captures=lambda path: train(case, path) if case.capture else None)
    [bursts] = run.capture.bursts.values()
    begin_ns = bursts[0].came_ns
    end_ns = begin_ns + round(1e9 * (len(bursts) - 1) * work["period"])
    return Figures(statistics.fmean(b.queue for b in bursts), statistics.median(run.burst_times_s),
                   run.capture.background_goodput(begin_ns, end_ns), p99(run.short_times_s),
                   run.report["longest_poll_gap_ns"] / 1e9, run.mean_train)


def spread(values):
    return f"{statistics.median(values):.1f} [{min(values):.1f}, {max(values):.1f}]"


def point_of(case):
    """@return the rate [Mbit/s], and whether hosts join segments where both kinds are compared"""
    rate = f"{100 * case.parameters['rate_factor']:g}"
    if "background.load" in case.settings:
        return rate
    return f"{rate}, {'single' if case.settings['transport.segment_bursts'] == 'off' else 'joined'}"


def grouped(cases, figures):
    """@return {(point, label): [Figures]}"""
    found = {}
    for case, one in zip(cases, figures):
        found.setdefault((point_of(case), case.label), []).append(one)
    return found


def print_table(places, *figures):
    """Columns for each figure of each runtime whose runs have it.

    @param places  {name of the runtime: what grouped() returns}
    @param figures  a title, and what is taken of a run
    """
    columns = [(f"{title}, {place}", runs, of) for title, of in figures
               for place, runs in places.items()
               if all(of(r) is not None for arm in runs.values() for r in arm)]
    print("\nMedian [least, greatest] of runs:\n\n| Mbit/s | arm | "
          f"{' | '.join(title for title, _, _ in columns)} |\n|---|---|{'---|' * len(columns)}")
    for arm in next(iter(places.values())):
        cells = (spread([of(r) for r in runs[arm]]) for _, runs, of in columns)
        print(f"| {arm[0]} | `{arm[1]}` | {' | '.join(cells)} |")


BURST = "burst [ms]", lambda r: 1e3 * r.burst_s
SHORT = "flows up to 100 kB [ms, p99]", lambda r: r.short_p99_s and 1e3 * r.short_p99_s
BACKGROUND = "background [Mbit/s]", lambda r: r.background_bits_per_second / MEGA
TOGETHER = "together [segments]", lambda r: r.segments_together
START = "start queue [packets]", lambda r: r.start_queue_packets
GAP = "longest time without a poll [ms]", lambda r: r.longest_gap_s and 1e3 * r.longest_gap_s


def print_ratios(places, title, of):
    """How far medians are from those of the first runtime."""
    (first, reference), *others = places.items()
    for place, runs in others:
        ratios = sorted((statistics.median(map(of, runs[arm]))
                         / statistics.median(map(of, reference[arm])), *arm) for arm in reference)
        ends = (f"{ratio:.2f} ({point} {label})" for ratio, point, label in (ratios[0], ratios[-1]))
        print(f"{title}, {place} / {first}: {' to '.join(ends)}")


def ranking(runs, point, of):
    """@return arms by a figure, the least first; = joins neighbours whose runs overlap"""
    values = {label: [of(r) for r in arm] for (at, label), arm in runs.items() if at == point}
    order = sorted(values, key=lambda label: statistics.median(values[label]))
    text = order[0]
    for before, label in zip(order, order[1:]):
        overlap = max(values[before]) >= min(values[label])
        text += (" = " if overlap else " < ") + label
    return text


def print_rankings(places, title, of):
    print(f"\nBy {title}, the least first; = where runs of both overlap:")
    for point in dict.fromkeys(point for point, _ in next(iter(places.values()))):
        print(f"{point} Mbit/s")
        for name, runs in places.items():
            print(f"  {name:14} {ranking(runs, point, of)}")


def kept_at(folder, case, config, seed):
    """@return where the figures of such a run are, of programs that are given the same"""
    given = hashlib.sha256("".join(part["text"] for part in config).encode()).hexdigest()[:12]
    return folder / f"{point_of(case).replace(', ', '-')}-{case.label}-{given}-seed{seed}.json"


def kept(path, make):
    """Figures that `make` measures, unless a call before has left them in the file."""
    if path.exists():
        return Figures(**json.loads(path.read_text()))
    figures = make()
    path.write_text(json.dumps(dataclasses.asdict(figures)) + "\n")
    return figures


def by_linux(lab_runs, cases, measured, options):
    """@param cases  one of each arm at each point. @return as grouped()"""
    configs, folder = lab_runs.configs(), options.out / "linux"
    assert len(configs) == len(cases), (len(configs), len(cases))
    folder.mkdir(exist_ok=True)
    figures = [[] for _ in cases]
    with linux_hosts.dctcp(options.bin / "outrider-hostagent"):
        for seed in range(1, options.repeat + 1):
            for case, config, of_arm in zip(cases, configs, figures):
                path = kept_at(folder, case, config, seed)
                if path.exists() or not options.kept:
                    of_arm.append(kept(path, functools.partial(linux_run, config, case, seed,
                                                               measured)))
                    print(f"Linux: {path.stem}", file=sys.stderr, flush=True)
    return {(point_of(case), case.label): of_arm for case, of_arm in zip(cases, figures)}


def compare(lab_runs, measured, options):
    """Prints the figures of all runtimes."""
    virtual = lab_runs.run("virtual")
    places = {"virtual time": grouped(virtual, map(of_case, virtual))}
    if options.regulation:
        real = lab_runs.run("loopback", options.between_processes or options.repeat)
        reports = (emulated.loopback_report(options.out, case) for case in real)
        places["two processes"] = grouped(real, map(of_case, real, reports))
    firsts = [case for case in virtual if case.seed == virtual[0].seed]
    places["Linux"] = by_linux(lab_runs, firsts, measured, options)
    if options.regulation:
        print_table(places, BURST, SHORT)
        print_table(places, BACKGROUND, START)
    else:
        print_table(places, BURST, BACKGROUND, TOGETHER)
        print_table(places, START)
    print_table(places, GAP)
    shared = (BURST, SHORT, BACKGROUND) if options.regulation else (BURST, BACKGROUND, TOGETHER)
    for title, of in shared:
        print_ratios(places, title, of)
    print_rankings(places, *BURST)
    if options.regulation:
        print_rankings(places, *SHORT)
