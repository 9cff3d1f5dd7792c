"""Announced bursts: modes of regulation and two queues (remedies.toml)."""
import dataclasses
import json
import statistics

import emulated
import linux_hosts

EXPERIMENT = "remedies.toml"
MEGA = 1e6


@dataclasses.dataclass
class Figures:
    """Of one run."""
    start_queue_packets: float  # mean
    burst_s: float  # median
    background_bits_per_second: float
    longest_gap_s: float = 0.0  # in which the switch did not poll; virtual time has none


def of_case(case, report=None):
    gap_s = report["longest_poll_gap_ns"] / 1e9 if report else 0.0
    return Figures(statistics.fmean(case.start_queues_packets), statistics.median(case.burst_times_s),
                   case.background_bits_per_second, gap_s)


def linux_run(configs, case, measured, one_segment=False):
    p, settings = case.parameters, case.settings
    work = {"controller": settings["transport.controller"], "quickack": False,
            "one_segment": one_segment, "connection": settings["transport.connections"], "announce": True,
            "burst_bytes": settings["job.burst_bytes"], "h_packets": p["h_packets"],
            "lead": emulated.seconds(settings["job.announce.lead"]),
            "warm_up": p["warm_up_seconds"], "period": emulated.seconds(settings["job.period"]),
            "iterations": settings["job.iterations"],
            "start_spread": emulated.seconds(settings["background.start_spread"])}
    run = linux_hosts.Run(*configs, work, measured, captures=True)
    [bursts] = run.capture.bursts.values()
    begin_ns = bursts[0].came_ns
    end_ns = begin_ns + round(1e9 * (len(bursts) - 1) * work["period"])
    return Figures(statistics.fmean(b.queue for b in bursts), statistics.median(run.burst_times_s),
                   run.capture.background_goodput(begin_ns, end_ns),
                   run.report["longest_poll_gap_ns"] / 1e9)


def spread(values, digits):
    return (f"{statistics.median(values):.{digits}f} "
            f"[{min(values):.{digits}f}, {max(values):.{digits}f}]")


def grouped(cases, figures):
    """@return {(rate factor, label): [Figures]}"""
    found = {}
    for case, one in zip(cases, figures):
        found.setdefault((case.parameters["rate_factor"], case.label), []).append(one)
    return found


def medians(places, point, of):
    return " / ".join(f"{statistics.median(map(of, runs[point])):.1f}" for runs in places.values())


def print_tables(places):
    """@param places  {name of the runtime: what grouped() returns}"""
    names = " | ".join(places)
    points = list(next(iter(places.values())))
    print(f"Burst completion [ms], median [least, greatest] of runs:\n\n"
          f"| Mbit/s | arm | {names} |\n|---|---|{'---|' * len(places)}")
    for rate, label in points:
        cells = (spread([1e3 * r.burst_s for r in runs[rate, label]], 1) for runs in places.values())
        print(f"| {100 * rate:g} | `{label}` | {' | '.join(cells)} |")
    print(f"\n{' / '.join(places)}, medians of runs; the longest time in which a switch did not poll "
          "is the largest of all runs:\n\n| Mbit/s | arm | start queue [packets] "
          "| background [Mbit/s] | longest poll gap [ms] |\n|---|---|---|---|---|")
    for point in points:
        gaps_ms = (1e3 * max(r.longest_gap_s for r in runs[point]) for runs in places.values())
        print(f"| {100 * point[0]:g} | `{point[1]}` "
              f"| {medians(places, point, lambda r: r.start_queue_packets)} "
              f"| {medians(places, point, lambda r: r.background_bits_per_second / MEGA)} "
              f"| {' / '.join(f'{gap:.1f}' for gap in gaps_ms)} |")


def ranking(runs, rate):
    """@return arms by their bursts, the quickest first; = joins neighbours whose runs overlap"""
    bursts = {label: [r.burst_s for r in of] for (at, label), of in runs.items() if at == rate}
    order = sorted(bursts, key=lambda label: statistics.median(bursts[label]))
    text = order[0]
    for before, label in zip(order, order[1:]):
        overlap = max(bursts[before]) >= min(bursts[label])
        text += (" = " if overlap else " < ") + label
    return text


def print_rankings(places):
    print("\nBy burst, the quickest first; = where runs of both overlap:")
    for rate in dict.fromkeys(rate for rate, _ in next(iter(places.values()))):
        print(f"{100 * rate:g} Mbit/s")
        for name, runs in places.items():
            print(f"  {name:14} {ranking(runs, rate)}")


def compare(virtual_out, loopback_out, measured, options):
    """Prints the figures of all three runtimes, and keeps those of each run in figures.json."""
    virtual_cases, real = emulated.cases(virtual_out), emulated.cases(loopback_out)
    given = [emulated.real_time_run(loopback_out, case) for case in real]
    places = {
        "virtual time": grouped(virtual_cases, map(of_case, virtual_cases)),
        "two processes": grouped(real, (of_case(c, report) for c, (_, report) in zip(real, given))),
        "Linux": grouped(real, (linux_run(configs, case, measured, options.one_segment)
                                for case, (configs, _) in zip(real, given)))}
    kept = {place: [{"rate_factor": rate, "label": label, "runs": [dataclasses.asdict(f) for f in of]}
                    for (rate, label), of in figures.items()]
            for place, figures in places.items()}
    (options.out / "figures.json").write_text(json.dumps(kept, indent=1) + "\n")
    print_tables(places)
    print_rankings(places)
