"""Reads the pages: their fenced blocks, links and anchors, as a forge would. Used by check-pages.py, snippets.py and docs/site."""
import re

FENCE = re.compile(r"^(\s*)(```+)\s*(\S*)\s*$")
COMMENT = re.compile(r"^\s*<!-- (.*?) -->\s*$")
HEADING = re.compile(r"^(#{1,6}) +(.*?) *#*$")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
CODE_SPAN = re.compile(r"(`+)(?:(?!\1).)+?\1")


class block:
    """A fenced block: language, the line of its first line of text (from 1), its text without indentation, the comment before it."""

    def __init__(self, language, line, text, comment):
        self.language, self.line, self.text, self.comment = language, line, text, comment


def blocks(text):
    """All fenced blocks of a page."""
    found = []
    lines = text.split("\n")
    at = 0
    comment = None
    while at < len(lines):
        opened = FENCE.match(lines[at])
        if opened:
            indent, ticks, language = opened.groups()
            end = at + 1
            while end < len(lines) and lines[end].strip() != ticks:
                end += 1
            inner = [one[len(indent):] if one.startswith(indent) else one.lstrip() for one in lines[at + 1:end]]
            found.append(block(language, at + 2, "".join(one + "\n" for one in inner), comment))
            comment = None
            at = end + 1
            continue
        said = COMMENT.match(lines[at])
        if said:
            comment = said.group(1)
        elif lines[at].strip():
            comment = None
        at += 1
    return found


def outside_of_blocks(text):
    """(line number, line) of what is not in a fenced block."""
    ticks = None
    for number, line in enumerate(text.split("\n"), 1):
        opened = FENCE.match(line)
        if ticks is None and opened:
            ticks = opened.group(2)
        elif ticks is not None:
            if line.strip() == ticks:
                ticks = None
        else:
            yield number, line


def plain(heading):
    """The text of a heading: without links and marks of code and emphasis."""
    return re.sub(r"[`*]", "", LINK.sub(lambda link: link.group(2), heading))


def slug(heading):
    """The anchor that a forge gives to a heading."""
    return re.sub(r"[^\w\- ]", "", plain(heading).lower()).replace(" ", "-")


def headings(text):
    """(line number, level, text, anchor) of each heading; anchors that repeat get -1, -2, ..."""
    seen = {}
    for number, line in outside_of_blocks(text):
        match = HEADING.match(line)
        if match:
            anchor = slug(match.group(2))
            times = seen.get(anchor, 0)
            seen[anchor] = times + 1
            yield number, len(match.group(1)), match.group(2), f"{anchor}-{times}" if times else anchor


def anchors(text):
    """All anchors of a page: of headings, and those that are written as HTML."""
    written = re.findall(r'<a (?:id|name)="([^"]+)">', text)
    return {anchor for _, _, _, anchor in headings(text)} | set(written)


def links(text):
    """(line number, target) of each link and image outside of code."""
    for number, line in outside_of_blocks(text):
        for match in LINK.finditer(CODE_SPAN.sub(lambda code: "`" + "." * (len(code.group(0)) - 2) + "`", line)):
            yield number, match.group(3)
