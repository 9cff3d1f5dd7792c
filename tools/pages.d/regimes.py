"""Several experiments of a digest side by side: a row for each, with the arms across or as dots."""
import fnmatch
import math

import shown
from digest import Fault
from line_plot import COLOURS
from svg import frame, text

LEFT, PANEL, GAP, TOP, ROW, BOTTOM = 140, 226, 22, 66, 27, 46
TICKS = (0.01, 0.03, 0.1, 0.3, 0.5, 1, 1.5, 2, 3, 5, 10, 30, 100)


def experiments(pattern, digest):
    """Returns the experiments that a name with `*` stands for, in the digest's order."""
    found = [name for name in digest.points if fnmatch.fnmatchcase(name, pattern)]
    if not found:
        raise Fault(f"{pattern}: the digest has no such experiment")
    return found


def names(pattern, digest):
    """Returns {experiment: its name without what the pattern begins with}."""
    begin = pattern.partition("*")[0]
    return {name: name.removeprefix(begin) for name in experiments(pattern, digest)}


def row_of(digest, experiment, label, metric):
    """Returns the row of an arm at the point that the digest's head names."""
    return digest.row(experiment, (label, ()), metric)


def table(query, digest):
    """Returns a table of one metric: a row for each experiment, a column for each arm."""
    found = names(query.results.name, digest)
    if len(query.columns) != 1 or not query.arms:
        raise Fault("name --arms, and one metric in --columns")
    metric, _, part = query.columns[0].partition(":")
    lines = ["| regime | " + " | ".join(f"`{label}`" for label in query.arms) + " |",
             "|---" * (1 + len(query.arms)) + "|"]
    for experiment, name in found.items():
        cells = [shown.cell(row_of(digest, experiment, label, metric), part,
                            digest.headings.get(metric, "")) for label in query.arms]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


class Panel:
    """A metric of the picture: values of all rows, and where they stand."""

    def __init__(self, number, metric, part, rows, digest):
        self.left = LEFT + number * (PANEL + GAP)
        self.columns = ("change", "change_low", "change_high") if part == "change" else (
            "value", "low", "high")
        self.added = 1 if part == "change" else 0  # a change is shown as a ratio
        self.scale = 1 if self.added else shown.scale_of(next(iter(rows.values())),
                                                         digest.headings.get(metric, ""))[0]
        self.values = {key: self.numbers(row) for key, row in rows.items()}
        flat = [v for numbers in self.values.values() if numbers for v in numbers]
        self.logarithmic = min(flat) > 0
        # A single regime that is far away does not push all others together.
        flat.sort()
        self.low, self.high = flat[0], min(flat[-1], 2 * flat[math.ceil(0.97 * len(flat)) - 1])

    def numbers(self, row):
        if row[self.columns[0]] is None:
            return None
        given = [row[self.columns[0]] if row[name] is None else row[name] for name in self.columns]
        return [max(v * self.scale + self.added, 1e-3 if self.added else -math.inf) for v in given]

    def at(self, value):
        """Returns the pixel of a value; what is beyond the last one stands at the edge."""
        low, high, value = self.low, self.high, min(max(value, self.low), self.high)
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.left + 4 + (PANEL - 8) * (value - low) / ((high - low) or 1)

    def ticks(self):
        if self.logarithmic:
            inside = [tick for tick in TICKS if self.low <= tick <= self.high]
            while len(inside) > 6:
                inside = [tick for i, tick in enumerate(inside) if i % 2 == 0 or tick == 1]
            return inside
        step = 10 ** math.floor(math.log10(self.high - self.low))
        while (self.high - self.low) / step < 3:
            step /= 2
        return [step * i for i in range(math.ceil(self.low / step),
                                        math.floor(self.high / step) + 1)]


def dot(panel, numbers, y, colour, label):
    value, low, high = numbers
    beyond = value > panel.high
    mark = (f'<path d="M{panel.at(value) - 7:.1f} {y - 4:.1f}l8 4l-8 4z" fill="{colour}">' if beyond
            else f'<circle cx="{panel.at(value):.1f}" cy="{y:.1f}" r="3.5" fill="{colour}">')
    return (f'<path d="M{panel.at(low):.1f} {y:.1f}H{panel.at(high):.1f}" stroke="{colour}"/>'
            f'{mark}<title>{label}: {value:.3g}</title></{"path" if beyond else "circle"}>')


def picture(query, title, digest):
    """Returns an SVG with a panel for each metric, a row for each experiment, a dot for each arm.
    Bars are intervals; a triangle at the edge stands for a value beyond it."""
    found = names(query.results.name, digest)
    if not query.columns or not query.arms:
        raise Fault("name --arms and --columns")
    panels = []
    for number, (metric, _, part) in enumerate(c.partition(":") for c in query.columns):
        rows = {(e, a): row_of(digest, e, a, metric) for e in found for a in query.arms}
        panels.append(Panel(number, metric, part, rows, digest))
    width, bottom = panels[-1].left + PANEL + GAP, TOP + ROW * len(found)
    parts, at = [*frame(width, bottom + BOTTOM), text(12, 20, title, "start", 14)], LEFT
    for number, label in enumerate(query.arms):
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<circle cx="{at}" cy="40" r="5" fill="{colour}"/>' +
                     text(at + 9, 44, label, "start", 11))
        at += 26 + 6.4 * len(label)
    for line, name in enumerate(found.values()):
        y = TOP + ROW * line
        if line % 2 == 0:
            parts.append(f'<rect x="0" y="{y}" width="{width}" height="{ROW}" fill="#f4f4f4"/>')
        parts.append(text(LEFT - 10, y + ROW / 2 + 4, name, "end", 11))
    for panel, words in zip(panels, query.labels or query.columns):
        for tick in panel.ticks():
            x = panel.at(tick)
            parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#ccc"/>' +
                         text(x, bottom + 15, f"{tick:g}", size=11))
        parts.append(text(panel.left + PANEL / 2, bottom + 34, words))
        for line, experiment in enumerate(found):
            for number, label in enumerate(query.arms):
                if numbers := panel.values[(experiment, label)]:
                    y = TOP + ROW * line + ROW * (number + 1) / (len(query.arms) + 1)
                    parts.append(dot(panel, numbers, y, COLOURS[number % len(COLOURS)], label))
    return "".join(parts) + "</svg>\n"
