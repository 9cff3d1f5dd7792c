"""What stands in a page, and what should by its digest."""
import argparse
import dataclasses
import math
import pathlib
import re
import shlex
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "plots"))
import regimes  # noqa: E402  pylint: disable=wrong-import-position
import shown  # noqa: E402  pylint: disable=wrong-import-position
from digest import Fault, read  # noqa: E402  pylint: disable=wrong-import-position
from figures import (  # noqa: E402  pylint: disable=wrong-import-position
    definitions, expectation, in_words)

from line_plot import COLOURS, line_plot  # noqa: E402  pylint: disable=wrong-import-position

MARK = re.compile(r"^<!-- results-version: (\d+) -->\n(> \*\*Measured at version .*\n)?",
                  re.MULTILINE)
COMMANDS = re.compile(r"<!-- commands -->\n(.*?)<!-- end of commands -->", re.DOTALL)
TABLE = re.compile(r"<!-- outrider-lab table (.*?) -->\n(.*?)<!-- end of table -->", re.DOTALL)
PICTURE = re.compile(r"<!-- picture (.*?) -->\n!\[(.*?)\]\((.*?)\)", re.DOTALL)
REGIMES = re.compile(r"<!-- regimes (.*?) -->\n(.*?)<!-- end of table -->", re.DOTALL)
DOTS = re.compile(r"<!-- dots (.*?) -->\n!\[(.*?)\]\((.*?)\)", re.DOTALL)
FIGURES = re.compile(r"<!-- figures\n(.*?)-->", re.DOTALL)
DURATIONS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
REFERENCE = re.compile(r"<!--=([\w.-]+)-->(.*?)<!--/-->", re.DOTALL)


@dataclasses.dataclass
class Change:
    """A span of a file that should be another text, or a fault that no text mends."""
    begin: int
    end: int
    wanted: str
    fault: str = ""
    picture: pathlib.Path | None = None


class Query(argparse.ArgumentParser):
    """The options of `outrider-lab table` that a page may use, and those of a picture."""

    def __init__(self):
        super().__init__(add_help=False, allow_abbrev=False, exit_on_error=False)
        self.add_argument("results", type=pathlib.Path)
        for name in ("columns", "arms", "where", "labels"):
            self.add_argument("--" + name, type=lambda text: text.split(","), default=[])
        for name in ("x", "y", "xlabel", "ylabel"):
            self.add_argument("--" + name)

    def error(self, message):
        raise Fault(message)


def parsed(text):
    """Returns the options of a place in a page."""
    try:
        return Query().parse_args(shlex.split(text))
    except argparse.ArgumentError as error:
        raise Fault(str(error)) from error


def asked(text, digest):
    """Returns (query, its arms of the digest)."""
    query = parsed(text)
    experiment = query.results.name
    arms = list(digest.arms(experiment, query.arms))
    for condition in query.where:
        name, _, value = condition.partition("=")
        name = digest.setting_named(experiment, name)
        arms = [arm for arm in arms if digest.value_of(experiment, arm[1], name) == value]
    if not arms:
        raise Fault("the digest has no arm that is so")
    return query, arms


def heading(digest, metric, part):
    text = digest.headings.get(metric, metric)
    return re.sub(r" (\[[^][]*\]|/[^/[]*)$", "", text) + ", change" if part == "change" else text


def table(text, digest):
    """Returns the table of a query."""
    query, arms = asked(text, digest)
    experiment, columns = query.results.name, [name.partition(":")[::2] for name in query.columns]
    varying = {}
    for label in dict.fromkeys(label for label, _ in arms):
        own = [settings for other, settings in arms if other == label]
        for name in digest.points[experiment]:
            if len({digest.value_of(experiment, settings, name) for settings in own}) > 1:
                varying.setdefault(name, set()).add(label)
    names = [f"`{name}`" for name in varying] + [heading(digest, *column) for column in columns]
    lines = [f"| arm | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    for arm in arms:
        line = f"| `{arm[0]}` |"
        for name, labels in varying.items():
            line += f" {digest.value_of(experiment, arm[1], name)} |" if arm[0] in labels else " |"
        for metric, part in columns:
            row = digest.row(experiment, arm, metric)
            line += f" {shown.cell(row, part, digest.headings.get(metric, ''))} |"
        lines.append(line)
    return "\n".join(lines) + "\n"


def ticks(values, logarithmic):
    """Returns round numbers from below the least value to above the largest."""
    least, most = min(values), max(values)
    if logarithmic:
        decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
        return [10.0 ** power for power in decades]
    step = 10.0 ** math.floor(math.log10((most - min(least, 0)) or 1))
    while (most - min(least, 0)) / step < 4:
        step /= 2
    return [step * i for i in range(math.floor(min(least, 0) / step), math.ceil(most / step) + 1)]


def positions(query, arms, across, digest):
    """Returns where each arm stands along the setting: its number, without the unit of all.
    Durations stand at their milliseconds."""
    found = {}
    for arm in arms:
        value = digest.value_of(query.results.name, arm[1], across)
        split = re.fullmatch(r"(-?[\d.]+(?:e[-+]?\d+)?)([a-zA-Z]*)", value)
        if not split:
            raise Fault(f"{query.x}: {value} is no number")
        scale, unit = DURATIONS.get(split[2], 1), "ms" if split[2] in DURATIONS else split[2]
        found[arm] = float(split[1]) * scale, unit
    if len({unit for _, unit in found.values()}) > 1:
        raise Fault(f"{query.x}: is given in several units")
    return {arm: x for arm, (x, _) in found.items()}


def picture(text, title, digest):
    """Returns the SVG of a query: a metric over a setting, with a line for each arm. One that does
    not have the setting is a level across."""
    query, arms = asked(text, digest)
    experiment, metric = query.results.name, query.y
    across = digest.setting_named(experiment, query.x)
    lines, levels, places = {}, {}, positions(query, arms, across, digest)
    for label, settings in arms:
        x = places[label, settings]
        row = digest.row(experiment, (label, settings), metric)
        scale, _ = shown.scale_of(row, digest.headings.get(metric, ""))
        if row["value"] is None:
            continue
        bounds = [row["value"] if row[b] is None else row[b] for b in ("low", "high")]
        values = [v * scale for v in (row["value"], *bounds)]
        if sum(other == label for other, _ in arms) == 1:
            levels[label] = values
        elif x > 0:
            lines.setdefault(label, []).append([x, *values])
    points = [point for line in lines.values() for point in line]
    if not points:
        raise Fault(f"{query.x}: is above 0 nowhere")
    xs = [point[0] for point in points]
    for label, values in levels.items():
        lines[label] = [[x, *values] for x in (min(xs), max(xs))]
        points += lines[label]
    logarithmic = max(xs) >= 10 * min(xs)
    return line_plot(title, (query.xlabel or across, ticks(xs, logarithmic), logarithmic),
                     (query.ylabel or digest.headings.get(metric, metric),
                      ticks([v for p in points for v in p[1:]], False), False),
                     [(label, sorted(line), label in levels, i % len(COLOURS))
                      for i, (label, line) in enumerate(lines.items())])


def script(lines):
    """Returns commands as a shell takes them: those in turn that differ in the name of their file
    alone, which results may have too, are a loop."""
    out = []
    for line in lines:
        file = line.split()[2]
        name = pathlib.PurePath(file).stem
        pattern = re.sub(rf"\b{re.escape(name)}\b", "$name", line)
        if out and out[-1][0] == pattern:
            out[-1][1].append(name)
        else:
            out.append((pattern, [name]))
    text = ""
    for pattern, found in out:
        if len(found) == 1:
            text += pattern.replace("$name", found[0]) + "\n"
        else:
            names = textwrap.fill(" ".join(found), 90).replace("\n", " \\\n    ")
            text += f"for name in {names}; do\n  {pattern}\ndone\n"
    return text


def commands(digest, name):
    """Returns what a page says of its campaign."""
    seeds = {f"{own[0]} to {own[-1]}" if len(own) > 1 else str(own[0])
             for own in digest.seeds.values()}
    return (f"\n```\n{script(digest.commands)}```\n\n"
            f"Seeds {' and '.join(sorted(seeds))}"
            f"{f', {digest.minutes} processor minutes' if digest.minutes else ''}; "
            f"[the digest](data/{name}.csv) has all figures of this page.\n\n")


def changes(text, digest, file):
    """Yields a Change for all that the digest makes of a page."""
    for mark, group, make in (
            (TABLE, 2, lambda found: f"\n{table(found[1], digest)}\n"),
            (REGIMES, 2, lambda found: f"\n{regimes.table(parsed(found[1]), digest)}\n"),
            (COMMANDS, 1, lambda _: commands(digest, file.stem)),
            (DOTS, 0, lambda found: regimes.picture(parsed(found[1]), found[2], digest)),
            (PICTURE, 0, lambda found: picture(found[1], found[2], digest))):
        for found in mark.finditer(text):
            of_picture = file.parent / found[3] if mark in (PICTURE, DOTS) else None
            try:
                yield Change(*found.span(group), make(found), picture=of_picture)
            except Fault as fault:
                yield Change(*found.span(group), "", str(fault))
    yield from sentences(text, digest, file)


def digest_of(name, file):
    """Returns the digest of another page."""
    data = file.parent / "data" / f"{name}.csv"
    if not data.exists():
        raise Fault(f"of {name}: there is no {data.name}")
    return read(data.read_text())


def sentences(text, digest, file):
    """Yields a Change for each figure in a sentence, and for what is expected and does not hold."""
    words, used = {}, set()
    for block in FIGURES.finditer(text):
        begin, fault = block.start(1), ""
        try:
            for number, name, definition in definitions(block[1]):
                begin = block.start(1) + sum(map(len, block[1].splitlines(True)[:number]))
                if name == "of":
                    digest = digest_of(definition, file)
                elif name == "expect":
                    fault = expectation(definition, digest)
                    if fault:
                        yield Change(begin, begin, "", f"{definition}: {fault}")
                elif name in words:
                    raise Fault(f"{name}: is defined twice")
                else:
                    words[name] = in_words(definition, digest), begin
        except Fault as error:
            yield Change(begin, begin, "", str(error))
            return
    for found in REFERENCE.finditer(text):
        used.add(found[1])
        if re.fullmatch(r"\s*(?:[*>-]\s+)*", text[:found.start()].rpartition("\n")[2]):
            yield Change(*found.span(), "", f"{found[1]}: begins a line, where a comment would end "
                         "the paragraph")
        elif found[1] not in words:
            yield Change(*found.span(), "", f"{found[1]}: is no figure of this page")
        elif " ".join(found[2].split()) != words[found[1]][0]:
            yield Change(*found.span(2), words[found[1]][0])
    for name in words.keys() - used:
        yield Change(words[name][1], words[name][1], "", f"{name}: no sentence has this figure")


def banner(text, now, measured=None):
    """Returns a Change of the line of the results version and of the banner below it."""
    found = MARK.search(text)
    if not found:
        return Change(0, 0, "", "has no line <!-- results-version: N --> below its title")
    measured = int(found[1]) if measured is None else measured
    if measured > now:
        return Change(*found.span(), "", f"version {measured} is not there yet: it is {now}")
    wanted = f"<!-- results-version: {measured} -->\n"
    if measured < now:
        wanted += (f"> **Measured at version {measured}, now {now}**: results of virtual time have "
                   "changed since ([versions](../measurement.md#versions-of-results)).\n")
    return Change(*found.span(), wanted)


def differences(text, digest, now, file):
    """Returns the changes that a page and its pictures need; digest None: its banner, and figures
    of other pages."""
    found = [banner(text, now, digest and digest.version)]
    found += changes(text, digest, file) if digest else sentences(text, None, file)

    def stands(change):
        if change.picture:
            return change.picture.read_text() if change.picture.exists() else ""
        return text[change.begin:change.end]
    return [change for change in found if change.fault or stands(change) != change.wanted]


def changed(text, found):
    """Returns the page with its changes made."""
    for change in sorted(found, key=lambda change: change.begin, reverse=True):
        if not change.fault and not change.picture:
            text = text[:change.begin] + change.wanted + text[change.end:]
    return text
