"""The public entities of the headers: what Doxygen's XML says there is, with the text of the declarations and the comments."""
import collections
import re
import xml.etree.ElementTree as ElementTree

MEMBERS = {"function", "typedef", "variable", "enum", "define", "friend"}
COMPOUNDS = {"class", "struct", "union", "concept"}


class entity:
    """One name of a header, with its members if it is a class. `docs` is Markdown; `texts` are declarations, one for each overload."""

    def __init__(self, kind, name, line, text, docs):
        self.kind, self.name, self.line, self.docs = kind, name, line, docs
        self.texts = [text]
        self.members = []

    def label(self):
        return self.name.removeprefix("ham::")


def escaped(text):
    """Plain text in Markdown; characters that would be markup there."""
    return re.sub(r"([\\`*_<>\[\]$|{}])", r"\\\1", text)


def inline(node):
    """The text of an element with code spans."""
    parts = [escaped(node.text or "")]
    for child in node:
        if child.tag == "computeroutput":
            code = "".join(child.itertext())
            parts.append(f"`{code}`" if "`" not in code else f"`` {code} ``")
        elif child.tag == "linebreak":
            parts.append("\n")
        elif child.tag in ("mdash", "ndash"):
            parts.append("-")
        else:
            parts.append(inline(child))
        parts.append(escaped(child.tail or ""))
    return "".join(parts)


def listing(node):
    lines = []
    for line in node.iter("codeline"):
        text = ""
        for part in line.iter():
            text += " " if part.tag == "sp" else part.text or ""
            text += (part.tail or "") if part is not line else ""
        lines.append(text.rstrip())
    return "```cpp\n" + "\n".join(lines) + "\n```"


BLOCKS = ("itemizedlist", "orderedlist", "programlisting", "verbatim", "simplesect", "parameterlist")


def block(child):
    """A list or a listing within a paragraph, as Markdown."""
    if child.tag in ("itemizedlist", "orderedlist"):
        mark = "- " if child.tag == "itemizedlist" else "1. "
        items = (mark + "\n\n".join(blocks(item)).replace("\n", "\n" + " " * len(mark)) for item in child)
        return "\n".join(items)
    if child.tag == "programlisting":
        return listing(child)
    if child.tag == "verbatim":
        return "```text\n" + (child.text or "").strip("\n") + "\n```"
    return "\n\n".join(blocks(child))


def blocks(node):
    """Paragraphs, lists and listings of a description, in order, each a block of Markdown."""
    for child in node:
        if child.tag in BLOCKS:
            yield block(child)
        elif child.tag == "sect1":
            yield from blocks(child)
        elif child.tag == "para":
            run = ElementTree.Element("para")
            run.text = child.text
            for part in child:
                if part.tag not in BLOCKS:
                    run.append(part)
                    continue
                yield from filter(None, [inline(run).strip(), block(part)])
                run = ElementTree.Element("para")
                run.text = part.tail
            yield from filter(None, [inline(run).strip()])


def description(node):
    both = [one for tag in ("briefdescription", "detaileddescription") for one in blocks(node.find(tag))]
    return "\n\n".join(both)


def without_comments(lines):
    return [re.sub(r"\s*//.*$", "", line) for line in lines]


def declaration(lines, line, kind):
    """The text of the declaration whose name stands in `line` (from 1) of a header."""
    first = line - 1
    ends = re.compile(r"([;{}]|\*/|^\s*#.*|^\s*(?:public|protected|private):|^\s*//.*|^\s*/?\*.*)\s*(?://.*)?$")
    while first > 0 and lines[first - 1].strip() and not ends.search(lines[first - 1].rstrip()) and kind != "define":
        first -= 1
    if kind == "define":
        return re.sub(r"\s*/\*.*?\*/", "", lines[line - 1].split("\\")[0]).rstrip()
    if kind == "enum":
        last = first
        while "}" not in lines[last]:
            last += 1
        return "\n".join(lines[first:last + 1]).replace("///<", "//")
    text = "\n".join(without_comments(lines[first:first + 40]))
    depth, at = 0, 0
    for at, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == ";" and depth == 0 or character == "{" and depth == 0:
            break
    braced = text[at] == "{"
    text = text[:at].rstrip()
    if braced and kind == "function":
        text = re.sub(r"\)((?:\s*(?:const|noexcept|&&?))*)\s*:\s[^:].*$", r")\1", text, flags=re.S)
    if kind == "variable" or not braced and kind == "typedef":
        text = text.rstrip("= ")
    return text


def dedented(text):
    lines = text.split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


class reader:
    """Reads a folder of Doxygen's XML."""

    def __init__(self, folder, root):
        self.folder, self.root = folder, root
        self.sources = {}
        self.headers = collections.defaultdict(list)  # path below include/ -> entities

    def lines(self, file):
        if file not in self.sources:
            self.sources[file] = (self.root / file).read_text(encoding="utf-8").split("\n")
        return self.sources[file]

    def place(self, node):
        where = node.find("location")
        if where is None or not where.get("file", "").startswith("include/"):
            return None, 0
        return where.get("file"), int(where.get("line"))

    def member(self, node, scope):
        """The entity of a memberdef; None if it is no part of the interface."""
        file, line = self.place(node)
        kind, name = node.get("kind"), node.findtext("name")
        if file is None or kind not in MEMBERS or node.get("prot") != "public" or kind == "friend":
            return None, None
        if not name or name.startswith("@") or name.startswith("~"):
            return None, None
        text = dedented(declaration(self.lines(file), line, kind))
        if "HAM_WARN_OF_POINTERS" in text or re.search(r"=\s*(default|delete)$", text):
            return None, None  # the second face of an overload; what every class has
        docs = description(node)
        if "<" in name.replace("operator<", "") and not docs:
            return None, None  # as for classes
        if kind == "define":
            docs = docs or self.comment_behind(file, line)
            if not docs and file.endswith(".hpp") or name.endswith("_H"):
                return None, None  # a step of another macro; a guard
        if docs == "internal":
            return None, None
        return file, entity(kind, scope + name if scope and kind != "define" else name, line, text, docs)

    def comment_behind(self, file, line):
        match = re.search(r"/\*+<?\s*(.*?)\s*\*/\s*$", self.lines(file)[line - 1])
        return escaped(match.group(1)) if match else ""

    def add(self, to, one):
        """Overloads of one name, which stand together, are one entity."""
        for before in to:
            if before.name == one.name and before.kind == one.kind == "function":
                before.texts += one.texts
                before.docs = "\n\n".join(part for part in (before.docs, one.docs) if part)
                return
        to.append(one)

    def compound(self, node):
        """A class with its public members."""
        file, line = self.place(node)
        name = node.findtext("compoundname")
        if file is None or "detail::" in name or name.startswith("detail"):
            return
        one = entity(node.get("kind"), re.sub(r"\s*<\s*", "<", re.sub(r"\s*>", ">", name)), line,
                     dedented(declaration(self.lines(file), line, "class")), description(node))
        if "<" in name and not one.docs:
            return  # a specialisation, which does what its template says
        members = []
        for member in node.iter("memberdef"):
            found, inner = self.member(member, "")
            if inner is not None and found == file:
                members.append(inner)
        for member in sorted(members, key=lambda member: member.line):
            self.add(one.members, member)
        self.headers[file.removeprefix("include/")].append(one)

    def share_comments(self, file, entities):
        """Declarations that follow each other without an empty line have the comment above the first of them."""
        for before, one in zip(entities, entities[1:]):
            between = self.lines(file)[before.line - 1:one.line - 1]
            if before.docs and not one.docs and not one.members and before.kind == one.kind and all(line.strip() for line in between):
                one.docs = f"See `{before.label()}`." if not before.docs.startswith("See `") else before.docs
        for one in entities:
            self.share_comments(file, one.members)

    def read(self):
        free = []
        for path in sorted(self.folder.glob("*.xml")):
            if path.name in ("index.xml", "Doxyfile.xml"):
                continue
            for node in ElementTree.parse(path).getroot().findall("compounddef"):
                kind, name = node.get("kind"), node.findtext("compoundname")
                if kind in COMPOUNDS and node.get("prot") != "private":
                    self.compound(node)
                elif kind == "namespace" and "detail" not in name.split("::"):
                    free += [self.member(member, name + "::") for member in node.iter("memberdef")]
                elif kind == "file":
                    free += [self.member(member, "") for member in node.iter("memberdef")
                             if member.get("kind") == "define" or not member.findtext("qualifiedname", "").count("::")]
        known = set()
        for file, one in sorted((pair for pair in free if pair[0]), key=lambda pair: (pair[0], pair[1].line)):
            if (file, one.line, one.name.split("::")[-1]) not in known:
                known.add((file, one.line, one.name.split("::")[-1]))
                self.add(self.headers[file.removeprefix("include/")], one)
        for name, entities in self.headers.items():
            entities.sort(key=lambda one: one.line)
            self.share_comments("include/" + name, entities)
        return self.headers
