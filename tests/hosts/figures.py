"""Figures of runs: what is kept of an outcome, and the table that a person reads."""
import re
import statistics

TIME = re.compile(r", ([\d.]+) ms$")


def spread(values, digits=1):
    """Median [least, greatest] as text."""
    if not values:
        return "-"
    numbers = (statistics.median(values), min(values), max(values))
    return "{} [{}, {}]".format(*(f"{v:.{digits}f}" for v in numbers))


def log_without_times(outcome):
    return [[TIME.sub("", line) for line in log] for log in outcome.logs]


def figures_of(outcome, setting):
    """@return what one run showed, iterations from `warm_up` on"""
    skip = setting.warm_up
    bursts = outcome.capture.iterations()
    if len(bursts) != setting.iterations or len(bursts[0]) != setting.workers:
        raise AssertionError(f"{len(bursts)} iterations of {setting.iterations} were seen")
    took = zip(*([float(TIME.search(line).group(1)) for line in log] for log in outcome.logs))
    rows = []
    for number, (workers, ms) in enumerate(zip(bursts, took)):
        first = min(workers, key=lambda b: b.came_ns)
        rows.append({
            "iteration": number,
            "iteration_ms": max(ms),
            "start_queue_packets": first.queue,
            "start_wait_ms": (first.left_ns - first.came_ns) / 1e6,
            "start_ahead_ms": [(b.came_ns - b.started_ns) / 1e6 if b.started_ns else None
                               for b in workers],
        })
    begin, end = (min(b.came_ns for b in bursts[i]) for i in (skip, -1))
    seconds = (end - begin) / 1e9
    pushed = 8 * setting.burst_bytes() * setting.workers * (setting.iterations - 1 - skip)
    counted = ("starts_armed", "recovered_burst_end", "expired", "regulated_ns")
    return {
        "arm": outcome.arm.name,
        "mode": outcome.arm.mode,
        "iterations": rows,
        "background_bits_per_second": outcome.capture.background_goodput(begin, end),
        "job_bits_per_second": pushed / seconds,
        "drops": {name: sum(d.values()) for name, d in outcome.queue["drops"].items()},
        "marks": outcome.queue["marks"],
        "queue": {name: outcome.queue[name] for name in counted},
        "agents": outcome.agents,
        "longest_poll_gap_ms": outcome.longest_gap_ns / 1e6,
    }


class Arm:
    """All runs of one arm, their measured iterations together."""

    def __init__(self, runs, setting):
        self.runs = runs
        self.regulated = runs[0]["mode"] != "off"
        self.announced = any("starts_sent" in agent for agent in runs[0]["agents"].values())
        self.rows = [row for run in runs for row in run["iterations"][setting.warm_up:]]

    def column(self, name):
        return [row[name] for row in self.rows]

    def ahead(self):
        """[ms] of the bursts whose START came before them; and how many bursts there were"""
        told = [ms for row in self.rows for ms in row["start_ahead_ms"]]
        return [ms for ms in told if ms is not None and ms > 0], len(told)

    def mean(self, *names):
        return statistics.mean(sum(run[name] for name in names) for run in self.runs)


def table(arms, setting):
    """@param arms  by name, in the order of the columns"""
    def ahead(arm):
        early, bursts = arm.ahead()
        return f"{len(early)} of {bursts}" if arm.announced else "-"

    background, job = "background_bits_per_second", "job_bits_per_second"
    lines = {
        "START ahead of the burst": ahead,
        "  by [ms]": lambda a: spread(a.ahead()[0]),
        "background before it [packets]": lambda a: spread(a.column("start_queue_packets"), 0),
        "its first packet waits [ms]": lambda a: spread(a.column("start_wait_ms"), 2),
        "iteration [ms]": lambda a: spread(a.column("iteration_ms"), 0),
        "  without computing [ms]":
            lambda a: spread([ms - 1000 * setting.compute_s for ms in a.column("iteration_ms")], 0),
        "background goodput [Mbit/s]": lambda a: f"{a.mean(background) / 1e6:.1f}",
        "  and the job's [Mbit/s]": lambda a: f"{a.mean(background, job) / 1e6:.1f}",
        "longest pause of the switch [ms]":
            lambda a: f"{max(r['longest_poll_gap_ms'] for r in a.runs):.1f}",
    }
    cells = [["", *arms], *([text, *map(show, arms.values())] for text, show in lines.items())]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return "\n".join(row[0].ljust(widths[0]) + "".join(
        "  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:])) for row in cells)


def faults(arms, setting):
    """What a run of a mode of regulation must show wherever it runs."""
    found = []
    off = arms["off"]
    for name, arm in arms.items():
        # Nothing is marked that knows no ECN.
        if not arm.regulated or (name == "mark" and not setting.ecn):
            continue
        queue, before = (statistics.median(a.column("start_queue_packets")) for a in (arm, off))
        if queue > before / 2:
            found.append(f"{name}: {queue} packets before a burst, and {before} in off")
        took, unregulated = (statistics.median(a.column("iteration_ms")) for a in (arm, off))
        if took > unregulated:
            found.append(f"{name}: an iteration takes {took} ms, {unregulated} in off")
    return found
