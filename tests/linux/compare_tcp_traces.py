#!/usr/bin/env python3
"""Compares the windows of the generator's TCP with those of Linux, through the same impairments.

Each scenario of tcp_traces.py has one sender that meets losses, marks or idle times
at exact places. outrider-lab runs it in virtual time, and sockets of this kernel run through
the same switches between two network namespaces. Needs root and tests/linux; about a minute
for each repetition.

Prints a line for each scenario and congestion control, every figure as "ours / Linux", where
Linux is the median of its runs, and what departs by more than the tolerance
(docs/tcp-against-linux.md). The exit status is 1 if anything departs. --out has the samples of
both as samples.csv.
"""
import argparse
import csv
import os
import pathlib
import statistics
import sys
from xml.sax.saxutils import escape

import lab
import tcp_traces

ROOT = lab.HERE.parent.parent

# -- the picture: two lines above each other in each panel

NAMES = {"reno": "Reno", "cubic": "CUBIC"}
PANEL_W, PANEL_H, GAP_X, GAP_Y, LEFT, TOP = 400, 118, 48, 44, 44, 62
OURS, THEIRS = "#c2410c", "#1d4ed8"


def line(samples, x, y, colour, width):
    """A step line of the window, without steps that nobody could see."""
    points, last = [], samples[0].cwnd
    for s in samples:
        if not points or abs(y(s.cwnd) - y(last)) >= 0.5:
            points += [(x(s.at_s), y(last)), (x(s.at_s), y(s.cwnd))]
            last = s.cwnd
    points.append((x(samples[-1].at_s), y(last)))
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    return (f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
            'stroke-linejoin="round"/>')


def panel(title, ours, theirs, end_s, at_x, at_y):
    top = max(s.cwnd for s in ours + theirs) * 1.08
    step = next(n for n in (10, 20, 50, 100, 200, 500, 1000) if top / n <= 4)
    x = lambda at_s: min(max(at_s, 0), end_s) / end_s * PANEL_W
    y = lambda cwnd: PANEL_H * (1 - cwnd / top)
    parts = [f'<g transform="translate({at_x},{at_y})">',
             f'<text x="0" y="-8" font-weight="600">{escape(title)}</text>']
    for n in range(0, int(top) + 1, step):
        parts.append(f'<line x1="0" x2="{PANEL_W}" y1="{y(n):.1f}" y2="{y(n):.1f}" '
                     'stroke="#dfe3e7"/>')
        parts.append(f'<text x="-6" y="{y(n):.1f}" dy=".32em" text-anchor="end" '
                     f'fill="#5c6670" font-size="11">{n}</text>')
    tick = next(t for t in (0.25, 0.5, 1) if end_s / t <= 6)
    for i in range(int(end_s / tick) + 1):
        at = i * tick
        parts.append(f'<text x="{x(at):.1f}" y="{PANEL_H + 14}" text-anchor="middle" '
                     f'fill="#5c6670" font-size="11">{at:g}</text>')
    kept = [[s for s in samples if 0 <= s.at_s <= end_s] for samples in (theirs, ours)]
    parts.append(line(kept[0], x, y, THEIRS, 3))
    parts.append(line(kept[1], x, y, OURS, 1.3))
    return "".join(parts) + "</g>"


def picture(traces, release, stack):
    """@param traces {(scenario, controller): (ours, theirs)}"""
    rows = list(dict.fromkeys(s for s, _ in traces))
    columns = list(dict.fromkeys(c for _, c in traces))
    width = LEFT + len(columns) * (PANEL_W + GAP_X)
    height = TOP + len(rows) * (PANEL_H + GAP_Y)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="system-ui, -apple-system, '
             "'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\" font-size=\"12\" "
             'fill="#1b1f24" role="img" aria-label="Congestion window over time of Linux and of '
             'the generator through the same impairments">',
             '<rect width="100%" height="100%" fill="#ffffff"/>',
             f'<text x="{LEFT}" y="20" fill="#5c6670">congestion window [segments] over time [s]'
             '</text>']
    for i, (name, colour, size) in enumerate(((f"Linux {release}", THEIRS, 3),
                                              (f'stack = "{stack}"', OURS, 1.3))):
        at = LEFT + 300 + 190 * i
        parts.append(f'<line x1="{at}" x2="{at + 24}" y1="16" y2="16" stroke="{colour}" '
                     f'stroke-width="{size}"/><text x="{at + 30}" y="20">{name}</text>')
    for (s, controller), (ours, theirs) in traces.items():
        at_x = LEFT + columns.index(controller) * (PANEL_W + GAP_X)
        at_y = TOP + rows.index(s) * (PANEL_H + GAP_Y)
        end_s = min(ours[-1].at_s, theirs[-1].at_s, s.shown_s)
        parts.append(panel(f"{NAMES.get(controller, controller)}: {s.title}", ours, theirs, end_s, at_x, at_y))
    return "".join(parts) + "</svg>\n"

# -- the table

def compare(scenario, ours, runs):
    """Figures against the median of the runs of Linux."""
    each = [tcp_traces.figures(scenario, ours, theirs) for theirs in runs]
    middle = sorted(runs, key=lambda r: len(tcp_traces.thresholds(r)))[len(runs) // 2]
    found = []
    for figure in tcp_traces.figures(scenario, ours, middle):
        values = [f.theirs for run in each for f in run if f.name == figure.name]
        found.append(tcp_traces.Figure(figure.name, figure.ours, statistics.median(values),
                                       figure.tolerance))
    return found


def text_of(figures):
    return ", ".join(f"{f.name} {f.ours:.3g} / {f.theirs:.3g}" for f in figures) or "none"


def both(figures):
    """"ours / Linux" of one figure, or of a list of them."""
    return " / ".join(", ".join(f"{v:.4g}" for v in values if v)
                      for values in zip(*((f.ours, f.theirs) for f in figures))) or "none"


def row(s, controller, found):
    def only(name):
        return [f for f in found if f.name.startswith(name)]

    again, timeouts = only("sent again")[0], only("time-outs")[0]
    return (f"| {s.name} | {NAMES.get(controller, controller)} | {both(only('ssthresh'))} | "
            f"{both(only('cwnd at the end'))} | {again.ours} / {again.theirs:g} | "
            f"{timeouts.ours} / {timeouts.theirs:g} | "
            f"{text_of([f for f in found if not f.agrees()])} |")


HEAD = """| scenario | control | slow start thresholds [segments] | window at the end [segments] | \
sent again [segments] | time-outs | departs |
|---|---|---|---|---|---|---|"""


def write_samples(path, traces):
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f)
        writer.writerow(["scenario", "controller", "sender", "run", "at_s", "cwnd_segments",
                         "ssthresh_segments", "retransmitted", "timeouts", "acked_segments"])
        for (s, controller), (ours, runs) in traces.items():
            for sender, samples in (("generator", [ours]), ("linux", runs)):
                for i, run in enumerate(samples):
                    for x in run:
                        writer.writerow([s.name, controller, sender, i, f"{x.at_s:.6f}",
                                         f"{x.cwnd:.3f}", f"{x.ssthresh:.3f}", x.retransmitted,
                                         x.timeouts, x.acked])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/tcp-traces")
    parser.add_argument("--repeat", type=int, default=3, help="runs with Linux [3]")
    parser.add_argument("--stack", choices=("linux", "rfc"), default="linux")
    parser.add_argument("--scenarios", nargs="*", help="names; all if absent")
    parser.add_argument("--controllers", nargs="*", default=["reno", "cubic"],
                        help="of both [reno cubic]")
    parser.add_argument("--svg", type=pathlib.Path, help="draw the windows of both")
    options = parser.parse_args()

    if (reason := lab.why_not()) is not None:
        sys.exit(f"compare_tcp_traces: {reason}. Needs root, or capabilities for network namespaces.")
    if not (options.bin / "outrider-lab").exists():
        sys.exit(f"compare_tcp_traces: {options.bin}/outrider-lab is not there: build it with tools/demo, "
                 "or name the directory with --bin")
    names = [s.name for s in tcp_traces.SCENARIOS]
    if unknown := set(options.scenarios or ()) - set(names):
        sys.exit(f"compare_tcp_traces: no scenario is named {sorted(unknown)}: there are {names}")
    lab.SWITCH = str(options.bin / "outrider-switch")
    os.environ["OUTRIDER_LAB_PROGRAM"] = str(options.bin / "outrider-lab")
    options.out.mkdir(parents=True, exist_ok=True)

    print(f'Linux {tcp_traces.kernel()} against stack = "{options.stack}" (Linux 6.1)\n\n{HEAD}')
    traces, departures = {}, 0
    test = lab.Lab()
    try:
        hosts = tcp_traces.LinuxHosts(test)
        for s in tcp_traces.SCENARIOS:
            if options.scenarios and s.name not in options.scenarios:
                continue
            virtual, results = tcp_traces.run_virtual(s, options.out, options.stack,
                                                      options.controllers)
            for controller in options.controllers:
                runs = [hosts.run(s, controller, results)[0] for _ in range(options.repeat)]
                traces[s, controller] = virtual[controller], runs
                found = compare(s, virtual[controller], runs)
                departures += sum(not f.agrees() for f in found)
                print(row(s, controller, found), flush=True)
    finally:
        test.close()
    write_samples(options.out / "samples.csv", traces)
    if options.svg is not None:
        shown = {key: (ours, runs[0]) for key, (ours, runs) in traces.items()}
        options.svg.write_text(picture(shown, tcp_traces.kernel().split('-')[0], options.stack))
    return 1 if departures else 0


if __name__ == "__main__":
    sys.exit(main())
