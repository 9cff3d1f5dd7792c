"""The dotted keys of TOML, also where a text has it in part."""
import re

KEY = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\")(?:\.(?:[\w-]+))*)\s*=(?!=)")


def toml_paths(text):
    """Yields the dotted path of each key, with its line."""
    table, depth, stack = "", 0, []
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?([\w.{}-]+)\]\]?\s*(#.*)?$", line)
        if depth == 0 and header:
            table = header[1]
            continue
        line = re.sub(r"\s#.*$", "", line)
        at = 0
        while at < len(line):
            match = KEY.match(line, at) if at == 0 or line[at - 1] in "{," else None
            if match and (depth == 0 or stack):
                key = ".".join([table, *[s for s in stack if s], match[1]]).lstrip(".")
                yield key, number
                at = match.end()
                pending = match[1]
                while at < len(line) and line[at] in " [":
                    depth += line[at] == "["
                    stack += [""] if line[at] == "[" else []
                    at += 1
                if at < len(line) and line[at] == "{":
                    stack.append(pending)
                    depth += 1
                    at += 1
                continue
            if line[at] == '"':
                end = line.find('"', at + 1)
                at = len(line) if end < 0 else end + 1
                continue
            if line[at] in "[{":
                stack.append("")
                depth += 1
            elif line[at] in "]}" and depth:
                stack.pop()
                depth -= 1
            at += 1


def canonical(path):
    """A port and its queues have the tables of their switch."""
    path = re.sub(r"^switch\.port\.queues\.(marker|regulation)\b", r"switch.\1", path)
    path = re.sub(r"^switch\.port\.queues\.", "switch.queue.", path)
    return re.sub(r"^switch\.port\.(queue|marker|regulation)\b", r"switch.\1", path)
