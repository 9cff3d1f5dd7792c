#!/usr/bin/env python3
"""Goal: a link in a page, or a page that the code names, leads somewhere. Method: each relative
link of each Markdown file is looked up, with its heading, as GitHub names it; so is each
`docs/NAME.md` in sources, scripts and configuration."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(\s*([^)\s]+)\s*\)")
NAMED = re.compile(r"docs/[\w./-]+\.md(?:#[\w-]+)?")


def without_code(text):
    """Returns the text with the lines of code blocks, and code in lines, left empty."""
    inside, lines = False, []
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        inside ^= fence
        lines.append("" if fence or inside else line)
    return re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), "\n".join(lines))


def anchors_of(text):
    """Returns the anchors of headings, and those that a page sets itself."""
    found, inside = set(), False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        heading = re.match(r"#{1,6} +(.*?) *#*$", line)
        if inside or not heading:
            continue
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        unique, number = name, 0
        while unique in found:
            number += 1
            unique = f"{name}-{number}"
        found.add(unique)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def main():
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                           cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout.split("\n")
    texts, anchors, faults = {}, {}, []

    def look_up(place, page, target):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            faults.append(f"{place}: {target}: no such file")
        elif anchor and file.suffix == ".md":
            if file not in anchors:
                anchors[file] = anchors_of(file.read_text())
            if anchor not in anchors[file]:
                faults.append(f"{place}: {target}: no such heading")

    for name in files:
        file = ROOT / name
        if not name or not file.is_file() or file.is_symlink():
            continue
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        texts[name] = text
        if file.suffix == ".md":
            shown = without_code(text)
            for link in LINK.finditer(shown):
                if not re.match(r"\w+:", link[1]):
                    number = shown.count("\n", 0, link.start(1)) + 1
                    look_up(f"{name}:{number}", file, link[1])
        elif name != "tests/docs/test_links.py":
            for number, line in enumerate(text.split("\n"), 1):
                for target in NAMED.findall(line):
                    look_up(f"{name}:{number}", ROOT / "x", target)
    for fault in faults:
        print(fault)
    print(f"{len(texts)} files, {len(faults)} faults")
    return 1 if faults or len(texts) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
