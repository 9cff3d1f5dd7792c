"""Named figures of a page's sentences, and what is expected of them."""
import dataclasses
import operator
import re

import regimes
import shown
from digest import Fault, same_value

PARTS = ("value", "low", "high", "range", "change", "change_low", "change_high",
         "change_to_off")
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclasses.dataclass
class Figure:
    """Numbers in the unit that a page shows, which follows each of them in a sentence."""
    numbers: list
    unit: str = ""
    part: str = "value"

    def one(self):
        if len(self.numbers) != 1:
            raise Fault(f"{len(self.numbers)} values, where one is needed")
        return self.numbers[0]


def chosen(words, digest):
    """Yields (experiment, arm) of the words `[EXPERIMENT/]ARM,ARM,... SETTING=VALUE,...`."""
    pattern, slash, labels = words[0].rpartition("/")
    if not slash:
        if len(digest.points) != 1:
            raise Fault(f"{words[0]}: begin with EXPERIMENT/, as the page has several")
        [pattern] = digest.points
    for experiment in regimes.experiments(pattern, digest):
        for arm in arms_of(experiment, labels, words[1:], digest):
            yield experiment, arm


def arms_of(experiment, labels, conditions, digest):
    """Returns the arms of an experiment that have these labels and settings."""
    wanted = {}
    for word in conditions:
        name, _, values = word.partition("=")
        wanted[digest.setting_named(experiment, name)] = [values, *values.split(",")]

    def fits(settings):
        return all(name in wanted for name, _ in settings) and all(
            "*" in values or any(same_value(digest.value_of(experiment, settings, name), value)
                                 for value in values) for name, values in wanted.items())

    arms = [arm for arm in digest.arms(experiment, labels.split(",")) if fits(arm[1])]
    if not arms:
        raise Fault(f"{' '.join([labels, *conditions])}: the digest has no such arm")
    return arms


def selected(text, digest):
    """Returns the figure of `[EXPERIMENT/]ARM,... SETTING=VALUE,... METRIC[:PART]`."""
    *words, last = text.split()
    metric, _, part = last.partition(":")
    part = part or "value"
    if digest is None:
        raise Fault(f'"{text}": this page has no digest; a line `of PAGE` before it names one')
    if not words or part not in PARTS:
        raise Fault(f'"{text}": is not ARM SETTING=VALUE METRIC:PART, '
                    f"with PART of {', '.join(PARTS)}")
    columns = ["value", "low", "high"] if part == "range" else [part]
    figure = Figure([], part=part)
    for experiment, arm in chosen(words, digest):
        row = digest.row(experiment, arm, metric)
        scale, figure.unit = shown.scale_of(row, digest.headings.get(metric, ""))
        if part.startswith("change"):
            scale, figure.unit = 100, " %"
        for column in columns:
            if row[column] is None:
                raise Fault(f'"{text}": its {column} is not defined')
            figure.numbers.append(row[column] * scale)
    return figure


def arguments(text):
    """Returns what stands between the semicolons outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == ";" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def evaluated(text, digest):
    """Returns the figure of an expression: a selector, a number, or a function of these."""
    text = text.strip()
    call = re.fullmatch(r"(\w+)\((.*)\)", text, re.DOTALL)
    if not call:
        try:
            return Figure([float(text.rstrip("%"))])
        except ValueError:
            return selected(text, digest)
    name, inner = call.groups()
    if name == "seeds":
        if inner not in digest.seeds:
            raise Fault(f"{inner}: the digest has no such experiment")
        return Figure([len(digest.seeds[inner])])
    if name == "count":
        given, compare, bound = sides_of(inner, digest)
        return Figure([sum(compare(number, bound.one()) for number in given.numbers)])
    given = [evaluated(part, digest) for part in arguments(inner)]
    first, numbers = given[0], [number for one in given for number in one.numbers]
    match name, len(given):
        case "least", _:
            return Figure([min(numbers)], first.unit, first.part)
        case "most", _:
            return Figure([max(numbers)], first.unit, first.part)
        case "span", _:
            return Figure([min(numbers), max(numbers)], first.unit, first.part)
        case "ratio", 2:
            return Figure([first.one() / given[1].one()])
        case "difference", 2:
            return Figure([first.one() - given[1].one()], first.unit)
    raise Fault(f"{name}: is not seeds(EXPERIMENT), count(A < B), least(A; ...), most(A; ...), "
                "span(A; ...), ratio(A; B) or difference(A; B)")


def in_words(text, digest):
    """Returns what a sentence says of a definition: an expression, and options after commas."""
    options = re.search(r"((?:, (?:\d+ digits|without sign|without unit))*)$", text)[1]
    figure = evaluated(text.removesuffix(options), digest)
    digits = re.search(r"(\d+) digits", options)
    numbers, unit = figure.numbers, "" if "without unit" in options else figure.unit
    signed = figure.part.startswith("change")
    if "without sign" in options:
        numbers, signed = [abs(v) for v in numbers], False
        numbers = numbers if figure.part == "range" else sorted(numbers)

    def one(value):
        if signed and not digits:
            return shown.percent(value / 100)
        text = str(value) if isinstance(value, int) else shown.rounded(
            value, int(digits[1]) if digits else 2)
        return "+" + text if signed and value > 0 else text

    words = [one(value) for value in numbers]
    if figure.part == "range":
        return f"{words[0]}{unit} [{words[1]}, {words[2]}]"
    if len(words) > 2:
        raise Fault(f'"{text}": {len(words)} values; use least, most or span')
    return " to ".join(dict.fromkeys(words)) + unit


def sides_of(text, digest):
    """Returns (figure, comparison, figure) of `A < B`."""
    sides = re.fullmatch(r"(.*?) (<=|>=|<|>) (.*)", text.strip(), re.DOTALL)
    if not sides:
        raise Fault(f'"{text}": stands for A < B, A <= B, A > B or A >= B')
    return evaluated(sides[1], digest), COMPARISONS[sides[2]], evaluated(sides[3], digest)


def expectation(text, digest):
    """Returns why what is expected does not hold; empty if it does."""
    left, compare, right = sides_of(text, digest)
    if not compare(left.one(), right.one()):
        sign = next(sign for sign, function in COMPARISONS.items() if function is compare)
        return f"is {shown.rounded(left.one(), 4)}, not {sign} {shown.rounded(right.one(), 4)}"
    return ""


def definitions(block):
    """Yields (line number in the block, name or "expect" or "of", definition); indented lines go
    on."""
    joined = []
    for number, line in enumerate(block.split("\n")):
        if line.startswith(" ") and joined:
            joined[-1][1] += " " + line.strip()
        elif line.strip():
            joined.append([number, line.strip()])
    for number, line in joined:
        keyword, _, rest = line.partition(" ")
        if keyword in ("expect", "of"):
            yield number, keyword, rest
            continue
        name, equals, text = line.partition(" = ")
        if not equals or not re.fullmatch(r"[\w.-]+", name):
            raise Fault(f'"{line}": is not NAME = FIGURE or expect A < B')
        yield number, name, text
