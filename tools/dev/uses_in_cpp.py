"""Members of structs that C++ writes, and the settings that describe() binds to members."""
import ast
import collections
import re

CPP = (".cc", ".h")
MANY = 3  # types of members of one name, so many that the name says nothing of a variable


class Structs:
    """Members of structs, and which settings describe() binds to them."""

    def __init__(self, root):
        self.types = collections.defaultdict(set)  # member or variable -> types, project-wide
        self.members = collections.defaultdict(dict)  # struct -> member -> type
        self.rows = collections.defaultdict(list)  # struct -> (key or None, owner, member)
        for top in ("common", "switch", "trafficgen", "tools/lab", "tests/support", "tests/unit",
                    "tests/virtual", "tests/loopback"):
            for file in sorted((root / top).glob("**/*")):
                if file.suffix in CPP:
                    text = file.read_text(encoding="utf-8")
                    self.learn(text, describes=not top.startswith("tests"))

    def learn(self, text, describes):
        for match in re.finditer(r"\bstruct (\w+)[^;{}()]*\{", text):
            body = balanced(text, match.end() - 1)
            for kind, name in re.findall(r"([\w:<>,\s]+?)[&*]?\s+(\w+)(?:\s*=[^;]*|\{[^;]*\})?;",
                                         body):
                element = re.findall(r"\w+", kind)
                if element:
                    self.members[match[1]][name] = element[-1]
                    self.types[name].add(element[-1])
        if describes:
            for match in re.finditer(r"\bvoid describe\w*\(\w+& v, (\w+)& c\) \{", text):
                self.learn_rows(match[1], balanced(text, match.end() - 1))

    def learn_rows(self, struct, body):
        local = dict((name, kind) for kind, name in re.findall(r"\b(\w+Config) (\w+);", body))
        for key, owner, member in re.findall(
                r"v\.\w+\(\s*\"(\w+)\",\s*(\w+)\.(\w+)", body):
            self.rows[struct].append((key, local.get(owner, struct), member))
        for member in re.findall(r"describe\w*\(v, c\.(\w+)\)", body):
            self.rows[struct].append((None, struct, member))

    def walk(self, struct, prefix="", seen=()):
        """Yields (path, struct, member) of all rows below a struct."""
        for key, owner, member in self.rows.get(struct, []):
            kind = self.members[owner].get(member)
            path = prefix if key is None else f"{prefix}.{key}".lstrip(".")
            if kind in self.rows and kind not in seen:
                yield from self.walk(kind, path, (*seen, kind))
            else:
                yield path, owner, member
        if struct == "GeneratorDeviceConfig" or struct == "DeviceConfig":
            for key in ("name", "device", "rx_descriptors", "tx_descriptors"):
                yield f"{prefix}.{key}", struct, key


def balanced(text, at):
    """@return the text from the brace at `at` to its partner"""
    depth = 0
    for i in range(at, len(text)):
        if text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
            if depth == 0:
                return text[at + 1:i]
    return text[at + 1:]


WRITE = re.compile(r"(\w+)(?:\([^()]*\)|\[[^\[\]]*\])*(?:\(\)|\[[^\[\]]*\])?(?:\.|->)"
                   r"(?:(?:front|back|value)\(\)(?:\.|->))?(\w+)(?:\[[^\[\]]*\])?\s*"
                   r"(?:=(?!=)|\*=|\+=|\.(?:push_back|emplace_back|assign|insert|emplace)\()")
DESIGNATED = re.compile(r"(?<=[{,\s])\.(\w+)\s*(?:=(?!=)|\{)")


def declared_in(text, structs):
    """@return {name: types} of variables, parameters and functions of a file"""
    found = collections.defaultdict(set)
    for kind, name in re.findall(r"\b([A-Z]\w+)(?:>+)?\s*[&*]?\s+(\w+)\b", text):
        found[name].add(kind)
    for name, kind in re.findall(r"\bauto[&*]*\s+(\w+)\s*=\s*([A-Z]\w+)[({]", text):
        found[name].add(kind)
    for name, chain in re.findall(r"\bauto[&*]*\s+(\w+)\s*[=:]\s*([\w.\[\]()>-]+?)(?:\.front\(\)|"
                                  r"\.back\(\)|\.emplace_back\(\)|\.value\(\))?[;)]", text):
        last = re.findall(r"(\w+)(?:\[[^\]]*\]|\([^)]*\))*$", chain)
        if last:
            found[name] |= structs.types.get(last[0], set()) | found.get(last[0], set())
    for name, function in re.findall(r"\bauto[&*]*\s+(\w+)\s*=\s*(\w+)\(", text):
        found[name] |= found.get(function, set())
    for short, kind in re.findall(r"using (\w+) = [\w:]*?(\w+);", text):
        found[short].add(kind)
        for types in found.values():
            if short in types:
                types.add(kind)
    return found


def enclosing(text, at):
    """@return where the brace is that encloses the position, and what stands before it, or before
    the list around it
    """
    depth = 0
    for i in range(at - 1, max(0, at - 6000), -1):
        if text[i] in "})":
            depth += 1
        elif text[i] in "{(":
            if depth == 0:
                before = text[max(0, i - 80):i].rstrip()
                if text[i] == "(":
                    return None, ""
                if before.endswith(("{", ",")):  # an element of a list
                    before = enclosing(text, i)[1]
                return i, before
            depth -= 1
    return None, ""


def with_all_members(text, brace, structs):
    """@return the one struct that has all members that stand in the braces, or unknown"""
    body, flat, depth = balanced(text, brace), "", 0
    for letter in body:
        depth += letter in "{("
        flat += letter if depth == 0 else ""
        depth -= letter in "})"
    names = set(re.findall(r"\.(\w+)\s*(?:=|$|,)", flat, re.M))
    fit = [s for s, members in structs.members.items() if names and names <= members.keys()]
    return {fit[0]} if len(fit) == 1 else {"?"}


def returned(text, at):
    """@return the type that the function around the position returns, or nothing"""
    heads = re.findall(r"^ *(?:[a-z]+ )*(?:\w+::)*([A-Z]\w+) \w+\([^;{}]*\)[^;{}]*\{",
                       text[max(0, at - 6000):at], re.M)
    return heads[-1] if heads else None


def members_written(text, structs):
    """Yields (types, member, line) of what a file writes into structs."""
    text = re.sub(r"//.*$", "", text, flags=re.M)
    known = declared_in(text, structs)

    def types_of(name, of_object):
        if not of_object and known.get(name):
            return known[name]
        types = structs.types.get(name, set())
        return types if of_object or len(types) <= MANY else {"?"}

    for match in WRITE.finditer(text):
        of_object = text[:match.start()].endswith((".", "->"))
        yield (types_of(match[1], of_object), match[2],
               text.count("\n", 0, match.start()) + 1)
    for match in DESIGNATED.finditer(text):
        brace, before = enclosing(text, match.start(1) - 1)
        types = set()
        if named := re.search(r"(\.|->)?\b(\w+)(?:\[\w*\])?>?\s*(?:=|:)?\s*$", before):
            name = named[2]
            types = {name} | types_of(name, bool(named[1]))
            if name == "return":
                types = {returned(text, match.start()) or "?"}
        if brace is not None and not types & structs.members.keys():
            types = with_all_members(text, brace, structs)
        yield types or {"?"}, match[1], text.count("\n", 0, match.start()) + 1


def strings_of(suffix, text):
    """@return what stands in the strings of a source file, as one text"""
    if suffix in CPP:
        text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
        parts = []
        for raw, plain in re.findall(r'R"\w*\((.*?)\)\w*"|"((?:\\.|[^"\\\n])*)"', text, re.S):
            parts.append(raw + "\n" if raw else plain.replace("\\n", "\n").replace('\\"', '"'))
        return "".join(parts)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    parts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts.append(node.value)
    return "\n".join(parts)
