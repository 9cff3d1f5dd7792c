"""Draws lines over a logarithmic axis as SVG, with the standard library alone."""

import math

from svg import frame, text

COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999",
           "#000000", "#8c564b"]
WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 190, 30, 50


class Axis:
    """Maps values to a span of pixels, evenly or by their logarithm."""

    def __init__(self, ticks, first, last, logarithmic):
        self.ticks, self.first, self.last = ticks, first, last
        self.scale = math.log if logarithmic else float
        self.low, self.high = self.scale(ticks[0]), self.scale(ticks[-1])

    def at(self, value):
        share = (self.scale(value) - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)


def line_plot(title, x, y, lines, marks=()):
    """Returns the picture.

    `x`, `y`: (label, ticks, whether logarithmic). `lines`: (label, [(x, y, low, high)], dashed, colour
    index). `marks`: (x, words) at the lower edge, between the points.
    """
    across = Axis(x[1], LEFT, WIDTH - RIGHT, x[2])
    up = Axis(y[1], HEIGHT - BOTTOM, TOP, y[2])
    out = [*frame(WIDTH, HEIGHT), text(LEFT, 18, title, "start", 13)]
    for tick in x[1]:
        out.append(text(across.at(tick), HEIGHT - BOTTOM + 16, f"{tick:g}", "middle", 11))
    for tick in y[1]:
        at = up.at(tick)
        out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(text(LEFT - 6, at + 4, f"{tick:g}", "end", 11))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x[0], "middle"))
    out.append(f'<g transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)">'
               f'{text(0, 0, y[0], "middle")}</g>')
    for where, words in marks:
        at = across.at(where)
        out.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#bbb" stroke-dasharray="2 3"/>')
        out.append(f'<g transform="translate({at - 3:.1f} {HEIGHT - BOTTOM - 4}) rotate(-90)">'
                   f'{text(0, 0, words, "start", 10)}</g>')
    for row, (label, points, dashed, colour) in enumerate(lines):
        stroke = f'stroke="{COLOURS[colour]}"'
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        path = "L".join(f"{across.at(p[0]):.1f} {up.at(p[1]):.1f}" for p in points)
        out.append(f'<path d="M{path}" fill="none" {stroke} stroke-width="2"{dash}/>')
        for px, py, low, high in points:
            px = across.at(px)
            out.append(f'<circle cx="{px:.1f}" cy="{up.at(py):.1f}" r="2.5" fill="{COLOURS[colour]}"/>')
            out.append(f'<path d="M{px:.1f} {up.at(low):.1f}V{up.at(high):.1f}" {stroke}/>')
        at = TOP + 12 + 18 * row
        out.append(f'<path d="M{WIDTH - RIGHT + 12} {at}h26" {stroke} stroke-width="2"{dash}/>')
        out.append(text(WIDTH - RIGHT + 44, at + 4, label, "start", 11))
    return "".join(out) + "</svg>\n"
