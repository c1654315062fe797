# SPDX-License-Identifier: Apache-2.0
"""Finds the target of a citation; docs/papers/README.md lists the forms. Used by the tool that
writes docs/scenario-reference.md, and by the test of all citations (tests/script/citations.py).
"""
import os
import re

ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
SECTION = r"[IVX]+(?:-[A-Z])?|\d+(?:\.\d+)*|[A-Z]\d+(?:\.\d+)*"
PLACE = re.compile(rf"(?:sec|annex) (?:{SECTION})|(?:Figs?|Tables?|eq|note) \d+"
                   r"|(?:Fig|Table) [IVX]+")
OWN = "our choice"


class Wrong(ValueError):
    """The citation has no target; the text says why."""


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


class Sources:
    """The pages of docs/papers and the publications and programs that its README lists."""

    def __init__(self, folder):
        self.anchors = {}
        for name in sorted(os.listdir(folder)):
            if name.endswith(".md"):
                with open(os.path.join(folder, name), encoding="utf-8") as page:
                    self.anchors[name] = ANCHOR.findall(page.read())
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as page:
            text = page.read()
        self.publications = self._listed(text, "publications")
        self.programs = self._listed(text, "programs")

    @staticmethod
    def _listed(text, section):
        """The names in the first column of the section's table, without its head."""
        rows = text.split(f'<a id="{section}"></a>')[1].split("\n## ")[0]
        names = re.findall(r'^\| <a id="([^"]+)"></a>([^|]+?) \|', rows, re.M)
        for anchor, name in names:
            assert anchor == slug(name), f"README.md: {name} has the anchor {anchor}"
        return [name for _, name in names]

    def page(self, cited):
        """Returns the target of dart.md#d5, #d6."""
        name, _, first = cited.partition("#")
        if name not in self.anchors:
            raise Wrong(f"there is no page {name}")
        for anchor in re.split(r", #", first) if first else []:
            if anchor not in self.anchors[name]:
                raise Wrong(f"{name} has no #{anchor}")
        return f"{name}#{first.split(',')[0]}" if first else name

    def one(self, cited):
        """One citation: the target within docs/papers, or None for our own choice."""
        body = re.fullmatch(r"(?:[a-z]+: )?(.*?)(?: \([^()]*\))?", cited).group(1)
        if body == OWN:
            return None
        if re.match(r"[a-z0-9-]+\.md(?:#|$)", body):
            return self.page(body)
        if body in self.programs:
            return f"README.md#{slug(body)}"
        for name in sorted(self.publications, key=len, reverse=True):
            if body.startswith(name + " "):
                places = body[len(name) + 1:].split(", ")
                bad = [place for place in places if not PLACE.fullmatch(place)]
                if bad:
                    raise Wrong(f"{bad[0]!r} is no place in {name}, such as sec 3.1 or Fig 7")
                return f"README.md#{slug(name)}"
        raise Wrong(f"{body!r} is in no list of docs/papers/README.md, and no page")

    def all(self, where):
        """The citations of a parameter's `where`, each with its target."""
        return [(cited, self.one(cited)) for cited in where.split("; ")]
