"""Numbers as tables of `outrider-lab table --markdown` and sentences show them."""
import math

SCALES = {"": 1, "share": 100, "packets": 1, "bytes": 1e-3, "s": 1e3, "bit/s": 1e-6}
UNITS = {"": "", "share": " %", "packets": "", "bytes": " kB", "s": " ms", "bit/s": " Mbit/s"}


def scale_of(row, heading):
    """Returns (factor from the digest's unit to the shown one, the shown one after a number)."""
    if row["unit"] == "s" and heading.endswith((" s]", "[s]")):
        return 1, " s"
    return SCALES[row["unit"]], UNITS[row["unit"]]


def number(value):
    """Returns a value in a table."""
    if value is None:
        return "-"
    size = abs(value)
    if size >= 1e8:
        return f"{value:.3g}"
    return f"{value:.{0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3}f}"


def percent(share):
    """Returns a change, in whole numbers from 10 % on."""
    value = share * 100
    return ">999" if value > 999 else f"{value:+.1f}" if abs(value) < 9.95 else f"{value:+.0f}"


def cell(row, part, heading):
    """Returns what stands in a table for a row: its value, with its range, or its change."""
    if part == "change":
        if row["change"] is None:
            return "-"
        text = percent(row["change"]) + " %"
        if row["change_low"] is not None and row["change_high"] is not None:
            text += f" [{percent(row['change_low'])},{percent(row['change_high'])}]"
        if row["change_to_off"] is not None:
            text += f" / {row['against']}, {percent(row['change_to_off'])} % / off"
        return text
    scale = scale_of(row, heading)[0]
    text = number(None if row["value"] is None else row["value"] * scale)
    if part == "range" and row["low"] is not None and row["high"] is not None:
        bounds = [row[name] * scale for name in ("low", "high")]
        text += " [" + ",".join(f"{v:.3g}" if abs(v) < 1000 else f"{v:.0f}" for v in bounds) + "]"
    return text


def rounded(value, digits):
    """Returns a value in a sentence, with so many significant digits and never fewer than whole."""
    if value == 0:
        return "0"
    power = math.floor(math.log10(float(f"{abs(value):.{digits - 1}e}")))
    return f"{value:,.{max(0, digits - 1 - power)}f}"
