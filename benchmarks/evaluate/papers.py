"""What the papers say: benchmarks/papers/*.json."""
import glob
import json
import os

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "papers")


def load(folder=FOLDER):
    """The papers by their numbers."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            paper = json.load(file)
        found[paper["paper"]] = paper
    return found


def figure(papers, reference):
    """(paper, figure) of a reference like "1/fig9"."""
    number, name = reference.split("/", 1)
    paper = papers[int(number)]
    for one in paper["figures"]:
        if one["id"] == name:
            return paper, one
    raise KeyError(f"paper {number} has no figure \"{name}\"")


def report(papers, reference):
    """A figure in the form of a report, so that its rows are plotted like measured ones."""
    _, one = figure(papers, reference)
    return {"name": one["name"], "tables": one.get("tables", []), "bars": [], "remarks": []}
