"""Announced bursts: modes of regulation and two queues (remedies.toml)."""
import dataclasses
import json
import math
import statistics

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
    return Figures(statistics.fmean(case.start_queues_packets), statistics.median(case.burst_times_s),
                   case.background_bits_per_second, case.short_p99_s, gap_s,
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
    run = linux_hosts.Run(*configs, work, measured, captures=lambda path: train(case, path))
    [bursts] = run.capture.bursts.values()
    begin_ns = bursts[0].came_ns
    end_ns = begin_ns + round(1e9 * (len(bursts) - 1) * work["period"])
    return Figures(statistics.fmean(b.queue for b in bursts), statistics.median(run.burst_times_s),
                   run.capture.background_goodput(begin_ns, end_ns), p99(run.short_times_s),
                   run.report["longest_poll_gap_ns"] / 1e9, run.mean_train)


def spread(values, digits):
    return (f"{statistics.median(values):.{digits}f} "
            f"[{min(values):.{digits}f}, {max(values):.{digits}f}]")


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


def print_table(title, places, of, digits=1):
    """A cell for each runtime, without those whose runs lack the figure.

    @param places  {name of the runtime: what grouped() returns}. @param of  figure of a run
    """
    places = {name: runs for name, runs in places.items()
              if all(of(r) is not None for arm in runs.values() for r in arm)}
    if not places:
        return
    print(f"\n{title}, median [least, greatest] of runs:\n\n| Mbit/s | arm | {' | '.join(places)} |"
          f"\n|---|---|{'---|' * len(places)}")
    for point, label in next(iter(places.values())):
        cells = (spread([of(r) for r in runs[point, label]], digits) for runs in places.values())
        print(f"| {point} | `{label}` | {' | '.join(cells)} |")


def print_tables(places):
    print_table("Burst completion [ms]", places, lambda r: 1e3 * r.burst_s)
    print_table("Completion of flows up to 100 kB [ms, p99]", places,
                lambda r: r.short_p99_s and 1e3 * r.short_p99_s)
    print_table("Background [Mbit/s]", places, lambda r: r.background_bits_per_second / MEGA)
    print_table("Start queue [packets]", places, lambda r: r.start_queue_packets)
    print_table("Segments of a flow that arrive back to back", places, lambda r: r.segments_together)
    print_table("Longest time in which the switch did not poll [ms]", places,
                lambda r: r.longest_gap_s and 1e3 * r.longest_gap_s)


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
    print(f"\n{title}, the quickest first; = where runs of both overlap:")
    for point in dict.fromkeys(point for point, _ in next(iter(places.values()))):
        print(f"{point} Mbit/s")
        for name, runs in places.items():
            print(f"  {name:14} {ranking(runs, point, of)}")


def by_linux(configs, cases, measured, repeat):
    """@param cases  one of each arm at each point, in the order of `configs`. @return as grouped()"""
    assert len(configs) == len(cases), (len(configs), len(cases))
    runs = [(case, config, seed) for case, config in zip(cases, configs)
            for seed in range(case.seed, case.seed + repeat)]
    return grouped([case for case, _, _ in runs],
                   (linux_run(config, case, seed, measured) for case, config, seed in runs))


def compare(lab_runs, measured, options):
    """Prints the figures of all runtimes, and keeps those of each run in figures.json."""
    virtual = lab_runs.run("virtual")
    places = {"virtual time": grouped(virtual, map(of_case, virtual))}
    if options.regulation:
        real = lab_runs.run("loopback", options.repeat)
        reports = (emulated.loopback_report(options.out, case) for case in real)
        places["two processes"] = grouped(real, map(of_case, real, reports))
    firsts = [case for case in virtual if case.seed == virtual[0].seed]
    with linux_hosts.dctcp(options.bin / "outrider-hostagent"):
        places["Linux"] = by_linux(lab_runs.configs(), firsts, measured, options.repeat)
    kept = {place: [{"point": point, "label": label, "runs": [dataclasses.asdict(f) for f in of]}
                    for (point, label), of in figures.items()]
            for place, figures in places.items()}
    (options.out / "figures.json").write_text(json.dumps(kept, indent=1) + "\n")
    print_tables(places)
    print_rankings(places, "By burst", lambda r: r.burst_s)
    if options.regulation:
        print_rankings(places, "By the p99 of flows up to 100 kB", lambda r: r.short_p99_s)
