"""Pages of the reference: one for each public header, with every public entity, its declaration and its comment."""
import pathlib
import re

import declarations

MAX_UNDOCUMENTED = 11  # names without a comment of their own; only ever lowered

HEADER_NAME = re.compile(r"`([\w/]+\.h(?:pp)?)`")


def public_headers(root):
    """The headers in the table "Public" of docs/headers.md, in its order."""
    text = (root / "docs/headers.md").read_text(encoding="utf-8")
    table = text.split("\n## Public\n")[1].split("\n## ")[0]
    names = []
    for line in table.split("\n"):
        if line.startswith("| `"):
            names += HEADER_NAME.findall(line.split("|")[1])
    missing = [name for name in names if not (root / "include" / name).is_file()]
    if missing:
        raise SystemExit(f"docs: docs/headers.md names headers that are not there: {', '.join(missing)}")
    return names


def leading_comment(text):
    """What a header says about itself in the comment at its beginning, as Markdown."""
    match = re.match(r"((?://.*\n)+)", text)
    if match:
        lines = [line[2:].removeprefix(" ") for line in match.group(1).split("\n")[:-1]]
    else:
        match = re.match(r"/\*+(.*?)\*/", text, re.S)
        lines = [re.sub(r"^ ?\* ?", "", line) for line in match.group(1).strip().split("\n")] if match else []
    result, code = [], False
    for line in lines:
        indented = line.startswith("  ")
        if indented and not code and (not result or not result[-1]):
            result.append("```cpp")
            code = True
        elif code and line and not indented:
            while not result[-1]:
                result.pop()
            result += ["```", ""]
            code = False
        result.append(line.removeprefix("  ") if code else re.sub(r"(?<!`)([<>*_\[\]])(?![^`]*`[^`]*$)", r"\\\1", line))
    if code:
        result.append("```")
    return "\n".join(result)


def anchor(one):
    return "ref-" + re.sub(r"[^a-z0-9]+", "-", one.label().lower()).strip("-")


def listing(texts):
    return "```cpp\n" + ";\n\n".join(texts) + ";\n```" if len(texts) > 1 else "```cpp\n" + texts[0] + "\n```"


def members_text(one):
    parts = []
    for member in one.members:
        body = listing(member.texts)
        if member.docs:
            body += "\n\n" + member.docs
        parts.append("::::{container} member\n" + body + "\n::::")
    return "\n\n".join(parts)


def page(name, entities, root):
    text = (root / "include" / name).read_text(encoding="utf-8")
    parts = [f"# {name}", leading_comment(text)]
    if not entities:
        included = re.findall(r'#include "([\w/]+\.hpp)"', text)
        parts.append("Includes " + ", ".join(f"`{one}`" for one in included) + "." if included else "Declares nothing by itself.")
    for one in entities:
        parts += [f"({anchor(one)}-{one.line})=", "## " + declarations.escaped(one.label())]
        parts += [listing(one.texts), one.docs, members_text(one)]
    return "\n\n".join(part for part in parts if part) + "\n"


def undocumented(headers, names):
    """"header:line: name" of what has no comment. Members count; so do enums of which no value has one."""
    found = []
    for name in names:
        for one in headers.get(name, []):
            values = one.kind == "enum" and re.search(r"//|/\*", one.texts[0])
            if not one.docs and not values and not (one.members and all(member.docs for member in one.members)):
                found.append(f"include/{name}:{one.line}: {one.label()}")
            found += [f"include/{name}:{member.line}: {one.label()}::{member.name}" for member in one.members if not member.docs]
    return found


def write(xml, root, target):
    """Writes the pages below `target`; gives the headers that have one, and what is undocumented."""
    headers = declarations.reader(xml, root).read()
    names = public_headers(root)
    for name in names:
        file = (target / name).with_suffix(pathlib.Path(name).suffix + ".md")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(name, headers.get(name, []), root), encoding="utf-8")
    lines = ["# Reference of the headers", "", "Every public header, with all that it declares. [Headers](../docs/headers.md) says what each is for.",
             "", "```{toctree}", ":maxdepth: 1", ""] + [name + ".md" for name in names] + ["```", ""]
    lines += ["## All names", ""]
    every = sorted(((one.label(), anchor(one), one.line) for name in names for one in headers.get(name, [])), key=lambda one: one[0].lower())
    lines += ["::::{container} names", ""] + [f"- [`{label}`](#{place}-{line})" for label, place, line in every] + ["", "::::", ""]
    (target / "index.md").write_text("\n".join(lines), encoding="utf-8")
    return names, undocumented(headers, names)
