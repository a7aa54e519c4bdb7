"""The rows of a graph as its page has them: found by text, traced along edges, described one by one.

The whole graph is searched, whatever a viewer has opened. A page without a server does so too (`find.js`, `facts.js`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.limits import CARDS_OF_BLOCK
from graphviz_tb.model.columns import filed
from graphviz_tb.model.hierarchy import OP, SCOPE, RowKind
from graphviz_tb.page.rows import COLUMNS
from graphviz_tb.serve.loading import ServedPage
from graphviz_tb.serve.pages import unpacked
from graphviz_tb.view.wildcards import Pattern

FIELDS = ("name", "op", "device", "attr")
EDGES = ("source", "target", "key", "slot", "flags", "tensor")
CONTROL, REFERENCE = 1, 2
LISTED = 1_000  # edges of a row
Test = Callable[[str], bool]


class Term(NamedTuple):
    """One thing that is looked for: a text, in one field or ("") in all."""

    field: str
    text: str


def terms(text: str) -> list[Term]:
    """The words of a text, each with the field that it names.

    >>> terms("op:Conv2D relu")
    [Term(field='op', text='Conv2D'), Term(field='', text='relu')]
    """
    made = []
    for word in text.split():
        field, colon, rest = word.partition(":")
        known = field.lower() in FIELDS and bool(colon)
        made.append(Term(field.lower(), rest) if known else Term("", word))
    return [term for term in made if term.text]


class GraphRows:
    """The rows of one page."""

    def __init__(self, page: ServedPage) -> None:
        self.page = page
        self.words: list[str] = unpacked(page.blocks["words"])
        numbers = unpacked(page.blocks["rows"]).reshape(len(COLUMNS), -1)
        self.column: dict[str, NDArray[np.int32]] = dict(zip(COLUMNS, numbers, strict=True))
        self.labels = {row: self.words[word] for row, word in page.head["labels"]}

    def __len__(self) -> int:
        return len(self.column["kind"])

    # names

    def name(self, row: int) -> str:
        """The name of a row: what is shortened is continued by the scopes around it."""
        parts, kind, parent, name = [], self.column["kind"], self.column["parent"], self.column["name"]
        while True:
            word = int(name[row])
            parts.append(self.words[word >> 1])
            if not word & 1:
                return "/".join(reversed(parts))
            row = int(parent[row])
            while kind[row] != SCOPE:
                row = int(parent[row])

    def told(self, row: int) -> dict[str, Any]:
        """A row in a few words."""
        op, device = (self.words[int(self.column[word][row])] for word in ("op", "device"))
        kind = RowKind(int(self.column["kind"][row])).name.lower()
        return {"row": row, "name": self.name(row), "kind": kind, "op": op, "device": device}

    # find

    def find(self, text: str) -> list[int]:
        """The rows in which a text is as it stands, or each of its words; letters small or large."""
        each = [set(self._of_term(term)) for term in terms(text)]
        whole = self._of_term(Term("", text.strip())) if len(each) > 1 else ()
        return sorted(set.intersection(*each).union(whole)) if each else []

    def _of_term(self, term: Term) -> Iterator[int]:
        test, types = self._test(term), self.column["op"]
        if term.field in ("", "op"):
            yield from self._of_words(types, test)
        if term.field in ("", "device"):
            yield from self._of_words(self.column["device"], test)
        if term.field in ("", "name"):
            yield from (row for row in range(1, len(self)) if test(self.name(row)) or test(self.labels.get(row, "")))
        if term.field in ("", "attr"):
            yield from self._of_attributes(test)

    def _test(self, term: Term) -> Test:
        wanted = term.text.lower()
        if term.field == "op":
            types = {self.words[each].lower() for each in np.unique(self.column["op"]).tolist()}
            if wanted in types:
                return lambda text: text.lower() == wanted
            if "*" in wanted:
                pattern = Pattern(wanted)
                return lambda text: pattern.matches(text.lower())
        return lambda text: wanted in text.lower()

    def _of_words(self, column: NDArray[np.int32], test: Test) -> Iterator[int]:
        """The rows whose text in a column is one of those that are looked for."""
        fitting = [word for word in np.unique(column).tolist() if word > 0 and test(self.words[word])]
        yield from (row for row in np.flatnonzero(np.isin(column, fitting)).tolist() if row)

    def _of_attributes(self, test: Test) -> Iterator[int]:
        for block in range(len(self.row_of_node) // CARDS_OF_BLOCK + 1):
            for at, pairs in enumerate(self._attributes(block)):
                if any(test(f"{name}={value}") for name, value, *_ in pairs):
                    row = int(self.row_of_node[block * CARDS_OF_BLOCK + at])
                    if row >= 0:
                        yield row

    @cached_property
    def row_of_node(self) -> NDArray[np.int64]:
        """The row of each node, -1 where it has none."""
        node = self.column["node"]
        rows = np.flatnonzero(node >= 0)
        made = np.full(int(np.max(node, initial=-1)) + 1, -1, np.int64)
        made[node[rows]] = rows
        return made

    def _attributes(self, block: int) -> list[Any]:
        """The attributes of some nodes; none where a page had no room for them."""
        found = self.page.blocks.get(f"attributes/{block}")
        return [] if found is None else unpacked(found)

    # edges

    @cached_property
    def edges(self) -> dict[str, NDArray[np.int32]]:
        """Every edge of the file, by column."""
        numbers = unpacked(self.page.blocks["edges"]).reshape(len(EDGES), -1)
        return dict(zip(EDGES, numbers, strict=True))

    @cached_property
    def _filed(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For both ends of edges: their numbers in the order of the rows there, and where those of a row begin."""
        return {end: filed(self.edges[end], len(self)) for end in ("source", "target")}

    def trace(self, row: int, way: str, hops: int | None) -> list[int]:
        """All rows that lead to a row or to those in it ("in"), or that these lead to ("out"), in so many steps."""
        near, far = ("target", "source") if way == "in" else ("source", "target")
        order, start = self._filed[near]
        other, begin = self.edges[far][order].tolist(), start.tolist()
        front = list(range(row, int(self.column["end"][row])))
        found = set(front)
        while front and (hops is None or hops > 0):
            hops = None if hops is None else hops - 1
            following = []
            for one in front:
                for reached in other[begin[one] : begin[one + 1]]:
                    if reached not in found:
                        found.add(reached)
                        following.append(reached)
            front = following
        return sorted(found)

    def card(self, row: int) -> dict[str, Any]:
        """Return the contents of a row's card: attributes, inputs, outputs; of a group the edges across its border."""
        node, end = int(self.column["node"][row]), int(self.column["end"][row])
        block, at = divmod(node, CARDS_OF_BLOCK)
        attributes = self._attributes(block)[at : at + 1] if node >= 0 else []
        return {
            **self.told(row),
            "ops": int(self.column["ops"][row]),
            "inside": end - row - 1,
            "attributes": attributes[0] if attributes else [],
            "types": self._types(row, end) if self.column["kind"][row] != OP else {},
            "inputs": self._crossing(row, end, "target", "source"),
            "outputs": self._crossing(row, end, "source", "target"),
        }

    def _types(self, row: int, end: int) -> dict[str, int]:
        """Count the ops of each type in a group."""
        part = slice(row, end)
        counted = (self.column["kind"][part] == OP) & (self.column["mark"][part] == 0)
        types, counts = np.unique(self.column["op"][part][counted], return_counts=True)
        named = zip((self.words[word] for word in types.tolist()), counts.tolist(), strict=True)
        return dict(sorted(named, key=lambda pair: (-pair[1], pair[0])))

    def _crossing(self, row: int, end: int, near: str, far: str) -> dict[str, Any]:
        """The edges between a row, or what is in it, and rows outside."""
        order, start = self._filed[near]
        numbers = order[start[row] : start[end]]
        other = self.edges[far][numbers]
        numbers = numbers[(other < row) | (other >= end)]
        return {"count": len(numbers), "edges": [self._edge(number, near, far) for number in numbers[:LISTED].tolist()]}

    def _edge(self, number: int, near: str, far: str) -> dict[str, Any]:
        values = {name: int(column[number]) for name, column in self.edges.items()}
        other = values[far]
        return {
            "row": other,
            "name": self.name(other),
            "inside": values[near],
            "output": self.words[values["key"]],
            "input": values["slot"],
            "control": bool(values["flags"] & CONTROL),
            "reference": bool(values["flags"] & REFERENCE),
            "tensor": self.words[values["tensor"]],
        }
