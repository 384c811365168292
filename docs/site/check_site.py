"""Looks at the built site as a browser would that has no network: every link has its file and its anchor, nothing comes from outside."""
import html.parser
import pathlib
import re
import urllib.parse


class page(html.parser.HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a":
            if "name" in given:
                self.anchors.add(given["name"])
            if given.get("href"):
                self.links.append(given["href"])
        elif tag in ("script", "img", "iframe", "source", "embed") and given.get("src"):
            self.loads.append(given["src"])
        elif tag == "link" and given.get("href") and given.get("rel") not in ("author", "license"):
            self.loads.append(given["href"])


def styles_from_outside(text):
    return [address for address in re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')\s;]+)", text) if re.match(r"(?:https?:)?//", address)]


def check(folder):
    """What is wrong, as lines; how many pages and links there are."""
    folder = pathlib.Path(folder).resolve()
    pages = {path: page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    wrong, count = [], 0
    for path, one in pages.items():
        name = path.relative_to(folder)
        for address in one.links + one.loads:
            if re.match(r"(?:https?:)?//", address):
                if address in one.loads:
                    wrong.append(f"{name}: loads {address} from outside")
                continue
            if re.match(r"(?:mailto|data|javascript):", address):
                continue
            count += 1
            where, _, anchor = address.partition("#")
            where = urllib.parse.unquote(where.split("?")[0])
            target = (path.parent / where).resolve() if where else path
            if target.is_dir():
                wrong.append(f"{name}: {address} is a folder, which shows nothing without a server")
            elif not target.is_file():
                wrong.append(f"{name}: {address} is not there")
            elif anchor and target in pages and urllib.parse.unquote(anchor) not in pages[target].anchors:
                wrong.append(f"{name}: {address} has no such anchor")
    for path in sorted(folder.rglob("*.css")):
        wrong += [f"{path.relative_to(folder)}: loads {address} from outside" for address in styles_from_outside(path.read_text(encoding="utf-8"))]
    return wrong, len(pages), count
