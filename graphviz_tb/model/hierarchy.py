"""The hierarchy: every scope, op, series, fold and function is a row; rows are in preorder.

descendants of r                rows r+1 … end[r]-1
is a an ancestor of b?          a <= b < end[a]
a sum over everything under r   total[end[r]] - total[r]
metaedges inside group g        the run of edges owned by g
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import islice
from typing import Protocol

import numpy as np

from graphviz_tb.model.columns import Bools, Bytes, Ints, Longs, begins, filed
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice


class RowKind(IntEnum):
    """The kind of a row. A call is an OP that opens to functions (see `Hierarchy.calls`)."""

    SCOPE = 0
    OP = 1
    SERIES = 2
    FOLD = 3
    FUNCTION = 4


# To compare a number of an array with a member of an enumeration takes numpy fifty times as long as with a plain one.
SCOPE, OP, FUNCTION = int(RowKind.SCOPE), int(RowKind.OP), int(RowKind.FUNCTION)
SERIES, FOLD = int(RowKind.SERIES), int(RowKind.FOLD)
STACKS = frozenset((SERIES, FOLD))


class How(IntEnum):
    """How a group came to be that is no scope and no function."""

    NONE = 0
    NAME = 1  # names that begin alike, or are numbered
    REGION = 2  # a stretch of the flow between two narrow places
    STAGE = 3  # a head and the repeats behind it
    REPEAT = 4  # equal structures, behind or beside each other
    BRANCH = 5  # one of several ways between two places
    SEGMENT = 6  # a stretch of a level that is too long
    LOOP = 7  # a cycle in the flow
    TRAINING = 8  # ops that train the model: gradients, updates
    EVALUATION = 9  # a second forward pass with the model's weights
    INDEX = 10  # what works out a mask, positions or a shape for one consumer


SEGMENT, TRAINING = int(How.SEGMENT), int(How.TRAINING)


class RowTree(Protocol):
    """Rows in preorder, as far as what they hold is asked for: a `Hierarchy`, or the rows of a page."""

    @property
    def kind(self) -> Bytes | Ints: ...
    @property
    def parent(self) -> Ints: ...
    @property
    def calls(self) -> Mapping[int, tuple[tuple[str, int], ...]]: ...
    def children(self, row: int) -> Ints: ...


class Grouping(Protocol):
    """Groups that can be made again without some series."""

    def without(self, names: Sequence[str]) -> Hierarchy:
        """The hierarchy without some series."""

    def names(self) -> set[str]:
        """The names that mean one series each."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Rows in preorder, parents before children; row 0 is the root (name ""), functions follow the main graph.

    `kind` (a `RowKind`), `parent` (-1 for the root and for functions), `end` (one past the last descendant), `depth`
    (0 for the root and for functions), `node` (id in the graph, -1 for groups), `name` (full strict name; inside a
    function the name in its body), `template` (same integer exactly for groups of equal structure, -1 for ops),
    `row_of_node` (-1 for a node that is left out), `connected` (1 for a series or fold with data edges inside),
    `how` (a `How`: how a series or fold came to be).

    Edges, filed by the group that owns them (the lowest common ancestor): `edge_order` lists edge ids sorted by
    owner row, `owner_start[r]:owner_start[r+1]` is the run of row r; `edge_from`, `edge_to` (by edge id) are the
    owner's children that hold the two ends, -1 where an edge is not between ordinary ops (an end is a mark, or it
    was dropped).

    `labels` says what a series or fold is called where its name has more, so that names are unique, and what the
    program calls the scope of a layer where the file has a counter behind it. `short` are labels in levels whose names
    are long and begin alike.

    `calls[row]` are `(attribute, function row)` pairs of an op that opens; `function_rows[f]` is the row of function f
    of the graph. `ops_of_function` is by row of a function, once `OpsThroughCalls` has counted; `stack_inside` what
    `stack_in` has found, `called_again` what the function of that name has, by row. `grouping` is, of a small graph,
    what makes the hierarchy again with some series ungrouped.
    """

    graph: Graph
    kind: Bytes
    parent: Ints
    end: Ints
    depth: Ints
    node: Ints
    name: list[str]
    template: Ints
    connected: Bytes
    how: Bytes
    row_of_node: Ints
    edge_from: Ints
    edge_to: Ints
    edge_order: Ints
    owner_start: Longs
    function_rows: tuple[int, ...] = ()
    calls: dict[int, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)
    short: Mapping[int, str] = field(default_factory=dict)
    grouping: Grouping | None = field(default=None, repr=False)
    ops_of_function: dict[int, int | None] = field(default_factory=dict, init=False, repr=False)
    stack_inside: dict[int, int] = field(default_factory=dict, init=False, repr=False)
    called_again: dict[int, frozenset[int]] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def mark(self) -> Bytes:
        """The `Mark` of each row: 0 for groups and ordinary ops."""
        marks = np.zeros(len(self), np.uint8)
        ops = self.node >= 0
        marks[ops] = self.graph.mark[self.node[ops]]
        marks.setflags(write=False)
        return marks

    @cached_property
    def stacks(self) -> Bools:
        """Which rows are series or folds."""
        stacks: Bools = (self.kind == SERIES) | (self.kind == FOLD)
        return stacks

    @cached_property
    def ordinary(self) -> Bools:
        """Which rows are ordinary ops: no groups, no marks."""
        ordinary: Bools = (self.kind == OP) & (self.mark == 0)
        return ordinary

    @cached_property
    def op_total(self) -> Longs:
        """Prefix sum of ordinary ops: `op_total[end[r]] - op_total[r]` ops lie under (or are) row r."""
        return np.concatenate(([0], np.cumsum(self.ordinary))).astype(np.int64)

    @cached_property
    def first_input(self) -> Longs:
        """Where the edges into each node begin: edges are in the order of their targets."""
        return begins(self.graph.target, len(self.graph))

    @cached_property
    def outputs(self) -> tuple[Longs, Longs]:
        """The edges by their source, and where those of each node begin."""
        return filed(self.graph.source, len(self.graph))

    @cached_property
    def attr_of(self) -> dict[tuple[int, int], str]:
        """The attribute of a call that names a function, by the rows of both; the first where there are several."""
        return {(call, body): attr for call, bodies in self.calls.items() for attr, body in reversed(bodies)}

    @cached_property
    def shadowed(self) -> frozenset[int]:
        """The rows of functions that are called like something in the main graph, or like that itself: not at all."""
        rows = {self.name[row]: row for row in self.function_rows}
        if not rows:
            return frozenset()
        main = islice(self.name, int(self.end[0]))
        return frozenset(rows[name] for name in main if name in rows)

    def ops(self, row: int) -> int:
        """How many ops lie under `row` (itself counted if it is one); marks are not counted."""
        return int(self.op_total[self.end[row]] - self.op_total[row])

    def children(self, row: int) -> Ints:
        """The rows directly below `row`, in file order, marks left out."""
        start, stop = self.child_start[row], self.child_start[row + 1]
        children: Ints = self.child_order[start:stop]
        return children

    @cached_property
    def _filed_children(self) -> tuple[Ints, Longs]:
        return filed_children(self.parent, self.mark)

    @property
    def child_order(self) -> Ints:
        """Child rows sorted by parent row."""
        return self._filed_children[0]

    @property
    def child_start(self) -> Longs:
        """Where the children of each row start in `child_order`."""
        return self._filed_children[1]

    def owned(self, row: int) -> Ints:
        """Return the ids of edges between two different children of `row`."""
        edges: Ints = self.edge_order[self.owner_start[row] : self.owner_start[row + 1]]
        return edges

    def ancestors(self, row: int) -> list[int]:
        """Rows from the root (or the function) down to the parent of `row`."""
        groups: list[int] = []
        while (row := int(self.parent[row])) >= 0:
            groups.append(row)
        return groups[::-1]

    def leaf(self, row: int) -> str:
        """Return the row's label, never empty: the last segment of its name, if the graph has no better word."""
        return self.segment(row) or self.name[row]

    def segment(self, row: int) -> str:
        """Return the row's label, maybe "": `//a` is in two scopes whose last segment is empty."""
        label = self.short.get(row)
        return self.called(row) if label is None else label

    def called(self, row: int) -> str:
        """Return what a row is called, with all that its name says; maybe ""."""
        if (label := self.labels.get(row)) is not None:
            return label
        if (label := self.graph.labels.get(int(self.node[row]))) is not None:
            return label
        return self.written(row)

    def written(self, row: int) -> str:
        """The last segment of the name as it stands, whatever the graph calls it."""
        name = self.name[row]
        parent = int(self.parent[row])
        # Series and folds are not in names: what is in them is named below the scope around them.
        while parent > 0 and self.kind[parent] in STACKS:
            parent = int(self.parent[parent])
        if parent > 0 and self.kind[parent] == SCOPE and name.startswith(self.name[parent] + "/"):
            return name[len(self.name[parent]) + 1 :]
        return name if parent <= 0 or self.kind[parent] == FUNCTION else name.rpartition("/")[2]

    def opens(self, row: int) -> bool:
        """Whether the row is a group or a call."""
        return bool(self.kind[row] != OP) or row in self.calls


def filed_children(parent: Ints, mark: Bytes | Ints) -> tuple[Ints, Longs]:
    """Child rows sorted by parent row, marks left out, and where the children of each row start among them."""
    rows = np.flatnonzero((parent >= 0) & (mark == 0))
    order, start = filed(parent[rows], len(parent))
    return rows[order].astype(np.int32), start
