"""The digest of a page: everything that the page shows of its results, as CSV below a head.

A row is a metric of an arm at a point. Its `settings` are those in which the point differs from the
one that the head names, among the settings that vary between arms of one label.
"""
import csv
import io
import json
import re

COLUMNS = ("experiment", "arm", "settings", "metric", "value", "low", "high", "change",
           "change_low", "change_high", "unit", "against", "change_to_off")
NUMBERS = COLUMNS[4:10] + COLUMNS[12:]


class Fault(Exception):
    """What a person has to mend, in a sentence."""


def json_text(value):
    """Returns a setting's value as the lab's own tables show it."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def same_value(one, other):
    """Says whether two values of a setting are equal, as numbers if they are."""
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


class Digest:
    """Rows by (experiment, arm, settings) and metric, and what the head says."""

    def __init__(self):
        self.version, self.program, self.minutes = 0, "", ""
        self.commands, self.seeds, self.points, self.headings = [], {}, {}, {}
        self.rows, self.shown = {}, set()

    def setting_named(self, experiment, name):
        """Returns the whole name of a setting of which the last parts are given."""
        found = [key for key in self.points.get(experiment, {})
                 if key == name or key.endswith("." + name)]
        if len(found) != 1:
            raise Fault(f"{name}: {'several settings end so' if found else 'does not vary'} "
                        f"in {experiment}")
        return found[0]

    def arms(self, experiment, labels=()):
        """Yields (label, settings) of the experiment's arms: all, or those of the labels."""
        there = [key[1:] for key in self.rows if key[0] == experiment]
        if not there:
            raise Fault(f"{experiment}: the digest has no such experiment")
        for label in labels or [None]:
            found = [arm for arm in there if label in (None, arm[0])]
            if not found:
                raise Fault(f"{label}: the digest has no such arm of {experiment}")
            yield from found

    def value_of(self, experiment, settings, name):
        """Returns what a setting is at a point."""
        return dict(settings).get(name, self.points[experiment][name])

    def row(self, experiment, arm, metric):
        """Returns the row of a metric of an arm, which the page then shows."""
        label, settings = arm
        if metric not in self.rows.get((experiment, *arm), {}):
            raise Fault(" ".join([f"the digest has no {metric} of {experiment}/{label}",
                                  *map("=".join, settings)]))
        self.shown.add((experiment, label, settings, metric))
        return self.rows[(experiment, *arm)][metric]

    def only_shown(self):
        """Leaves out the rows, and what belongs to them, that nobody has asked for."""
        self.rows = {key: {m: row for m, row in rows.items() if (*key, m) in self.shown}
                     for key, rows in self.rows.items()}
        self.rows = {key: rows for key, rows in self.rows.items() if rows}
        metrics = {m for rows in self.rows.values() for m in rows}
        self.headings = {m: text for m, text in self.headings.items() if m in metrics}

    def add_results(self, experiment, directory, headings, units):
        """Takes all arms and metrics of a directory of results."""
        summary = json.loads((directory / "summary.json").read_text())
        self.version = summary["results_version"]
        self.headings |= headings
        everything = [arm["parameters"] | arm["settings"] for arm in summary["arms"]]
        labels = [arm["label"] for arm in summary["arms"]]
        point = {}
        for label in dict.fromkeys(labels):
            own = [said for said, of in zip(everything, labels) if of == label]
            for key in dict.fromkeys(key for said in own for key in said):
                if any(said.get(key) != own[0].get(key) for said in own):
                    first = next(said[key] for said in everything if key in said)
                    point.setdefault(key, json_text(first))
        self.points[experiment] = point
        self.seeds[experiment] = sorted({s for arm in summary["arms"] for s in arm["seeds"]})
        for arm, said in zip(summary["arms"], everything):
            own = [other for other, of in zip(everything, labels) if of == arm["label"]]
            settings = tuple((key, json_text(said[key])) for key in point if key in said
                             and any(other.get(key) != said[key] for other in own)
                             and json_text(said[key]) != point[key])
            key = (experiment, arm["label"], settings)
            if key in self.rows:
                raise Fault(f"{directory}: two arms {arm['label']} have the same settings")
            self.rows[key] = {metric: row_of(arm, metric, units) for metric in units}

    def text(self):
        """Returns the file."""
        out = io.StringIO()
        head = [("results version", self.version), ("program", self.program)]
        head += [("processor minutes", self.minutes)] * bool(self.minutes)
        head += [("command", line) for line in self.commands]
        head += [("seeds", f"{name} {seeds[0]}-{seeds[-1]}") for name, seeds in self.seeds.items()]
        head += [("point", " ".join([name, *map("=".join, point.items())]))
                 for name, point in self.points.items()]
        head += [("column", f"{name} {text}") for name, text in self.headings.items()]
        out.writelines(f"# {name}: {value}\n" for name, value in head)
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (experiment, label, settings), rows in self.rows.items():
            for metric, row in rows.items():
                writer.writerow([experiment, label, " ".join(map("=".join, settings)), metric,
                                 *(plain(row[column]) for column in COLUMNS[4:])])
        return out.getvalue()


def plain(value):
    """Returns a cell of the file; a number has all its digits, to round as the lab's tables do."""
    return "" if value is None else f"{value}".removesuffix(".0")


def row_of(arm, metric, units):
    """Returns a row of an arm of summary.json; numbers that are not defined are None."""
    said = arm["metrics"].get(metric, {})
    off = arm.get("against_off", {}).get(metric, {}).get("change", {}).get("value")
    value, change = said.get("value", {}), said.get("change", {})
    return {"value": value.get("value"), "low": value.get("low"), "high": value.get("high"),
            "change": change.get("value"), "change_low": change.get("low"),
            "change_high": change.get("high"), "unit": units[metric],
            "against": "" if off is None else arm["against"], "change_to_off": off}


def settings_of(text):
    """Returns (name, value) of each `NAME=VALUE`; values may have spaces, as lists have."""
    return tuple(tuple(word.split("=", 1)) for word in re.split(r" (?=[\w.]+=)", text) if word)


def read(text):
    """Returns the digest of a file's text."""
    digest = Digest()
    lines = text.splitlines(keepends=True)
    for line in (line for line in lines if line.startswith("#")):
        name, _, value = line[1:].strip().partition(":")
        first, _, rest = value.strip().partition(" ")
        match name:
            case "results version":
                digest.version = int(value)
            case "program":
                digest.program = value.strip()
            case "processor minutes":
                digest.minutes = value.strip()
            case "command":
                digest.commands.append(value.strip())
            case "seeds":
                least, most = re.fullmatch(r"(\d+)-(\d+)", rest).groups()
                digest.seeds[first] = list(range(int(least), int(most) + 1))
            case "point":
                digest.points[first] = dict(settings_of(rest))
            case "column":
                digest.headings[first] = rest
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        settings = settings_of(row["settings"])
        numbers = {name: float(row[name]) if row[name] else None for name in NUMBERS}
        digest.rows.setdefault((row["experiment"], row["arm"], settings), {})[row["metric"]] = (
            numbers | {"unit": row["unit"], "against": row["against"]})
    return digest
