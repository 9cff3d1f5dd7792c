"""Commands in Markdown: those of fenced or indented blocks and of tables headed `run`."""
import dataclasses
import re
import shlex


@dataclasses.dataclass
class Command:
    place: str  # file:line
    words: list

    def __str__(self):
        return f"{self.place}: {shlex.join(self.words)}"


def blocks(text):
    """Yields (first line's number, language, lines) of each code block."""
    language, lines, began = None, [], 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = re.match(r"```(\w*)", line)
        if fence and language is None:
            language, lines, began = fence.group(1), [], number + 1
        elif fence:
            yield began, language, lines
            language, lines = None, []
        elif language is not None:
            lines.append(line)
        elif line.startswith("    "):
            began = began if lines else number
            lines.append(line[4:])
        elif lines:
            yield began, "", lines
            lines = []


def words_of(line):
    """A shell line as words, without a prompt, a comment, a trailing `&`."""
    words = shlex.split(line.removeprefix("$ "), comments=True)
    return words[:-1] if words[-1:] == ["&"] else words


def without_loops(lines):
    """@return the lines, those of a loop of the shell once for each word; each with its offset"""
    out, loop, inside = [], None, []
    for offset, line in enumerate(lines):
        if begin := re.fullmatch(r"for (\w+) in (.*); do", line.strip()):
            loop, inside = begin, []
        elif loop and line.strip() == "done":
            out += [(at, text.strip().replace("$" + loop[1], word))
                    for word in loop[2].split() for at, text in inside]
            loop = None
        elif loop:
            inside.append((offset, line))
        else:
            out.append((offset, line))
    return out


def commands_of_block(place, lines, is_program):
    """@return the commands if the block begins with one, else none"""
    joined, number = [], 0
    for offset, line in without_loops(lines):
        if joined and joined[-1][1].endswith("\\"):
            joined[-1] = (joined[-1][0], joined[-1][1][:-1] + line.strip())
        else:
            joined.append((offset, line))
    if not joined or not re.match(r"(\$ )?[\w./-]+( |$)", joined[0][1]):
        return []
    if not is_program(joined[0][1].removeprefix("$ ").split()[0]):
        return []
    shown_with_output = joined[0][1].startswith("$ ")
    out = []
    for number, line in joined:
        if shown_with_output and not line.startswith("$ "):
            continue
        for part in re.sub(r" +#.*", "", line).split("; "):
            if (words := words_of(part)) and words[0] not in ("for", "do", "done"):
                out.append(Command(f"{place[0]}:{place[1] + number}", words))
    return out


def table_commands(file, text):
    """Cells of tables whose second column is headed `run` or `run PROGRAM with`. A cell's
    `...` is the command above up to its first word that is no path of a program."""
    program, above = None, None
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line[:1] == "|" else []
        if len(cells) != 2:
            program = None
            continue
        if header := re.fullmatch(r"run(?: `([\w-]+)` with)?", cells[1]):
            program, above = header.group(1) or "", None
        elif program is not None and not cells[1].startswith("---"):
            for code in re.findall(r"`([^`]+)`", cells[1]):
                words = words_of(code)
                if program:
                    words = [program, *words]
                elif words[0] == "...":
                    words = [above, *words[1:]]
                above = words[0]
                yield Command(f"{file}:{number}", words)


def commands(file, text, is_program):
    """@return lists of commands that stand together"""
    found = [commands_of_block((file, began), lines, is_program)
             for began, language, lines in blocks(text) if language in ("", "sh", "console")]
    found += [[command] for command in table_commands(file, text) if is_program(command.words[0])]
    return [group for group in found if group]
