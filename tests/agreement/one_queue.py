"""Two long flows and bursts over a marked queue: Reno and CUBIC (one-queue.toml)."""
import pathlib
import statistics

import emulated
import linux_hosts

VARIANTS = ["no_hystart", "quickack"]
HYSTART = pathlib.Path("/sys/module/tcp_cubic/parameters/hystart")


def linux_run(configs, case, measured, variant):
    """@return mean queue [packets] and burst times [s] of one run"""
    p, settings = case.parameters, case.settings
    work = {"controller": settings["transport.controller"], "quickack": variant == "quickack",
            "one_segment": False, "seed": case.seed, "announce": False,
            "connection": settings["transport.connections"],
            "burst_bytes": settings["job.burst_bytes"],
            "warm_up": p["warm_up_seconds"], "period": emulated.seconds(settings["job.period"]),
            "iterations": settings["job.iterations"],
            "start_spread": emulated.seconds(settings["background.start_spread"])}
    run = linux_hosts.Run(*configs, work, measured)
    return run.mean_queue_packets, run.burst_times_s


def linux_runs(configs, case, measured, variant, repeat):
    before = HYSTART.read_text() if variant == "no_hystart" else None
    try:
        if before is not None:
            HYSTART.write_text("0")
        return [linux_run(configs, case, measured, variant) for _ in range(repeat)]
    finally:
        if before is not None:
            HYSTART.write_text(before)


def spread(values, factor=1):
    values = sorted(v * factor for v in values)
    return f"{statistics.median(values):7.1f} [{values[0]:.1f}, {values[-1]:.1f}]"


def print_row(controller, place, runs, reference):
    queue = [mean for mean, _ in runs]
    burst_s = [statistics.median(bursts) for _, bursts in runs]
    row = f"{controller:6} {place:22} {len(runs):3}  {spread(queue):26} {spread(burst_s, 1e3):28}"
    if reference is not runs:
        base_queue = statistics.median(mean for mean, _ in reference)
        base_burst = statistics.median(statistics.median(b) for _, b in reference)
        row += (f" {statistics.median(queue) - base_queue:+6.1f} packets"
                f" {100 * (statistics.median(burst_s) / base_burst - 1):+6.1f} %")
    print(row, flush=True)


def by_controller(cases):
    found = {}
    for case in cases:
        runs = found.setdefault(case.settings["transport.controller"], [])
        runs.append((case.mean_queue_packets, case.burst_times_s))
    return found


def compare(lab_runs, measured, options):
    """Prints a row for each congestion control and kind of host."""
    virtual = by_controller(lab_runs.run("virtual"))
    real = lab_runs.run("loopback", options.repeat)
    loopback = by_controller(real)
    configs = lab_runs.configs()[0]
    print("                                   runs  mean queue [packets]       "
          "burst completion [ms]         less virtual time")
    for controller in ("reno", "cubic"):
        case = next(c for c in real if c.settings["transport.controller"] == controller)
        print_row(controller, "virtual time", virtual[controller], virtual[controller])
        print_row(controller, "loopback", loopback[controller], virtual[controller])
        for variant in ["", *options.variants]:
            if variant == "no_hystart" and controller != "cubic":
                continue
            runs = linux_runs(configs, case, measured, variant, options.repeat)
            print_row(controller, f"Linux {variant}".strip(), runs, virtual[controller])
