"""The hierarchy: every scope, op, series, fold and function is a row; rows are in preorder.

descendants of r                rows r+1 … end[r]-1
is a an ancestor of b?          a <= b < end[a]
a sum over everything under r   total[end[r]] - total[r]
metaedges inside group g        the run of edges owned by g
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import IntEnum
from functools import cached_property
from itertools import islice
from typing import Any, Protocol

import numpy as np

from graphviz_tb.model.columns import Bools, Bytes, Ints, Longs, group_by_key, key_starts, prefix_sums
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice


class RemadeValues(dict[int, Any]):
    """Cached values, which a copy or pickle leaves out."""

    def __reduce__(self) -> tuple[type[RemadeValues], tuple[()]]:
        return RemadeValues, ()


class RowKind(IntEnum):
    """The kind of a row. A call is an OP that opens to functions (see `Hierarchy.calls`)."""

    SCOPE = 0
    OP = 1
    SERIES = 2
    FOLD = 3
    FUNCTION = 4


# Plain ints: comparing a numpy number with a member of an enumeration takes fifty times as long.
SCOPE_ROW, OP_ROW, FUNCTION_ROW = int(RowKind.SCOPE), int(RowKind.OP), int(RowKind.FUNCTION)
SERIES_ROW, FOLD_ROW = int(RowKind.SERIES), int(RowKind.FOLD)
STACK_KINDS = frozenset((SERIES_ROW, FOLD_ROW))


class GroupOrigin(IntEnum):
    """Origin of a group that is neither a scope nor a function."""

    NONE = 0
    NAME = 1  # names with a common prefix, or numbered
    REGION = 2  # a stretch of the flow between two narrow places
    STAGE = 3  # a head and the repeats after it
    REPEAT = 4  # equal structures, in sequence or in parallel
    BRANCH = 5  # one of several parallel paths between two places
    SEGMENT = 6  # a stretch of a level that is too long
    LOOP = 7  # a cycle in the flow
    TRAINING = 8  # ops that train the model: gradients, updates
    EVALUATION = 9  # a second forward pass with the model's weights
    INDEX = 10  # ops that compute a mask, positions or a shape for one consumer
    LAYER = 11  # a layer with its norm and activation
    NORM = 12  # a norm made of several ops
    ROTARY = 13  # a rotary embedding: positions that turn queries and keys
    SINUSOIDS = 14  # sine and cosine of angles, such as positions
    ATTENTION = 15  # queries, keys and values: two products, and a softmax between them
    ACTIVATION = 16  # an activation made of several ops, such as GELU
    L2_NORM = 17  # a vector divided by its length
    FEED_FORWARD = 18  # a gated block: the product of two layers of one tensor, and the layer after it
    SCAN = 19  # an unrolled recurrence without weights
    GRU_CELL = 20  # a step of a GRU: its gates, and the layers before them
    LSTM_CELL = 21  # a step of an LSTM
    POSITIONS = 22  # a table that is looked up by positions


SEGMENT_ORIGIN, TRAINING_ORIGIN = int(GroupOrigin.SEGMENT), int(GroupOrigin.TRAINING)
SCAN_ORIGIN, CELL_ORIGINS = int(GroupOrigin.SCAN), (GroupOrigin.GRU_CELL, GroupOrigin.LSTM_CELL)
LAYER_ORIGIN, L2_NORM_ORIGIN = int(GroupOrigin.LAYER), int(GroupOrigin.L2_NORM)
# Groups that are named by their kind, unless the program names them.
IDIOM_ORIGINS = (
    GroupOrigin.NORM,
    GroupOrigin.L2_NORM,
    GroupOrigin.ROTARY,
    GroupOrigin.SINUSOIDS,
    GroupOrigin.ATTENTION,
    GroupOrigin.ACTIVATION,
    GroupOrigin.FEED_FORWARD,
    GroupOrigin.SCAN,
    GroupOrigin.GRU_CELL,
    GroupOrigin.LSTM_CELL,
    GroupOrigin.POSITIONS,
)


class RowTree(Protocol):
    """The common interface of a `Hierarchy` and the rows of a page; rows are in preorder."""

    @property
    def kind(self) -> Bytes | Ints: ...
    @property
    def parent(self) -> Ints: ...
    @property
    def calls(self) -> Mapping[int, tuple[tuple[str, int], ...]]: ...
    def children(self, row: int) -> Ints: ...


class RepeatableGrouping(Protocol):
    """A grouping that can be repeated with some series ungrouped."""

    def without_series(self, names: Sequence[str]) -> Hierarchy:
        """Return the hierarchy with some series ungrouped."""

    def series_names(self) -> set[str]:
        """Return the names that each mean one series."""


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """Rows in preorder, parents before children; row 0 is the root (name ""), functions follow the main graph.

    `kind` (a `RowKind`), `parent` (-1 for the root and for functions), `end` (one past the last descendant), `depth`
    (0 for the root and for functions), `node` (id in the graph, -1 for groups), `name` (full strict name; inside a
    function the name in its body), `template` (same integer exactly for groups of equal structure, -1 for ops),
    `row_of_node` (-1 for a node that is left out), `connected` (1 for a series or fold with data edges inside),
    `how` (a `GroupOrigin`: the origin of a series or fold).

    Edges, filed by the group that owns them (the lowest common ancestor): `edge_order` lists edge ids sorted by
    owner row, `owner_start[r]:owner_start[r+1]` is the run of row r; `edge_from`, `edge_to` (by edge id) are the
    owner's children that hold the two ends, -1 where an edge is not between ordinary ops (an end is a mark, or it
    was dropped).

    `labels` are the labels of series and folds whose names have a suffix that makes them unique, and of layer scopes
    whose names end in a counter that the file adds. `short` are shortened labels, in levels of long names with a common
    prefix.

    `calls[row]` are `(attribute, function row)` pairs of an op that opens; `function_rows[f]` is the row of function f
    of the graph. `ops_of_function`, `stack_inside` and `called_again` are caches by row, filled by `OpCounter`,
    `sole_stack` and `repeatedly_called_scopes`; `known_layers` is the result of `layer_rows`, `paper_words` the
    `PaperWords` of each thread. `grouping`, of a small graph, repeats the grouping with some series ungrouped.
    `joins_scopes`: open scopes that contain nothing but one another are one frame. `legs` are the groups on the two
    legs of a U, which are drawn one by one instead of as stacks; `stacked` is the hierarchy with these stacks.
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
    grouping: RepeatableGrouping | None = field(default=None, repr=False)
    joins_scopes: bool = True
    legs: frozenset[int] = frozenset()
    stacked: Hierarchy | None = field(default=None, repr=False)
    ops_of_function: dict[int, int | None] = field(default_factory=dict, init=False, repr=False)
    stack_inside: dict[int, int] = field(default_factory=dict, init=False, repr=False)
    paper_words: RemadeValues = field(default_factory=RemadeValues, init=False, repr=False)
    called_again: dict[int, frozenset[int]] = field(default_factory=dict, init=False, repr=False)
    known_layers: list[list[int]] = field(default_factory=list, init=False, repr=False)

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
    def is_stack_row(self) -> Bools:
        """A mask of the rows that are series or folds."""
        stacks: Bools = (self.kind == SERIES_ROW) | (self.kind == FOLD_ROW)
        return stacks

    @cached_property
    def stacks(self) -> frozenset[int]:
        """Rows of series of groups; a series of calls is not a stack, because calls are ops."""
        series = np.flatnonzero(self.kind == SERIES_ROW)
        series = series[self.child_start[series] < self.child_start[series + 1]]
        first = self.child_order[self.child_start[series]]
        return frozenset(series[self.kind[first] != OP_ROW].tolist())

    @cached_property
    def is_ordinary_op(self) -> Bools:
        """A mask of the rows that are ordinary ops: no groups, no marks."""
        ordinary: Bools = (self.kind == OP_ROW) & (self.mark == 0)
        return ordinary

    @cached_property
    def op_prefix_sum(self) -> Longs:
        """Prefix sum of ordinary ops: row r contains (or is) `op_total[end[r]] - op_total[r]` of them."""
        return prefix_sums(self.is_ordinary_op)

    @cached_property
    def first_input_edge(self) -> Longs:
        """The first edge into each node: edges are sorted by target."""
        return key_starts(self.graph.target, len(self.graph))

    @cached_property
    def edges_by_source(self) -> tuple[Longs, Longs]:
        """The edges sorted by source, and the start of each node's edges."""
        return group_by_key(self.graph.source, len(self.graph))

    @cached_property
    def call_attributes(self) -> dict[tuple[int, int], str]:
        """The attribute by which a call names a function, by the rows of both; the first if there are several."""
        return {(call, body): attr for call, bodies in self.calls.items() for attr, body in reversed(bodies)}

    @cached_property
    def shadowed_functions(self) -> frozenset[int]:
        """Rows of functions that share their name with a row of the main graph."""
        rows = {self.name[row]: row for row in self.function_rows}
        if not rows:
            return frozenset()
        main = islice(self.name, int(self.end[0]))
        return frozenset(rows[name] for name in main if name in rows)

    def op_count(self, row: int) -> int:
        """Return the number of ops in `row` (1 for an op); marks are not counted."""
        return int(self.op_prefix_sum[self.end[row]] - self.op_prefix_sum[row])

    def sole_op(self, row: int) -> int:
        """Return the only op of a scope; -1 if the scope contains more, or the op opens."""
        if self.kind[row] != SCOPE_ROW or self.op_count(row) != 1:
            return -1
        only = row + int(np.argmax(self.is_ordinary_op[row : self.end[row]]))
        return -1 if only in self.calls else only

    def children(self, row: int) -> Ints:
        """Return the rows directly below `row`, in file order, without marks."""
        start, stop = self.child_start[row], self.child_start[row + 1]
        children: Ints = self.child_order[start:stop]
        return children

    @cached_property
    def _children_by_parent(self) -> tuple[Ints, Longs]:
        return sort_children_by_parent(self.parent, self.mark)

    @property
    def child_order(self) -> Ints:
        """Child rows sorted by parent row."""
        return self._children_by_parent[0]

    @property
    def child_start(self) -> Longs:
        """The start of the children of each row in `child_order`."""
        return self._children_by_parent[1]

    def owned_edges(self, row: int) -> Ints:
        """Return the ids of edges between two different children of `row`."""
        edges: Ints = self.edge_order[self.owner_start[row] : self.owner_start[row + 1]]
        return edges

    def ancestors(self, row: int) -> list[int]:
        """Return the rows from the root (or the function) down to the parent of `row`."""
        groups: list[int] = []
        while (row := int(self.parent[row])) >= 0:
            groups.append(row)
        return groups[::-1]

    def display_label(self, row: int) -> str:
        """Return the row's label, never empty: the graph's label, else the last segment of its name."""
        return self.short_label(row) or self.name[row]

    def short_label(self, row: int) -> str:
        """Return the row's short label, maybe "": `//a` is in two scopes whose last segment is empty."""
        label = self.short.get(row)
        return self.full_label(row) if label is None else label

    def full_label(self, row: int) -> str:
        """Return the row's label without shortening, maybe ""."""
        if (label := self.labels.get(row)) is not None:
            return label
        if (label := self.graph.labels.get(int(self.node[row]))) is not None:
            return label
        return self.name_segment(row)

    def keras_layer(self, row: int) -> Layer | None:
        """Return the Keras layer of a row of the main graph; None for any other row."""
        layers = self.graph.layers
        return layers.get(self.name[row]) if layers and row < self.end[0] else None

    def name_segment(self, row: int) -> str:
        """Return the last segment of the name itself, ignoring labels."""
        name = self.name[row]
        parent = int(self.parent[row])
        # Names do not contain series and folds: their members are named below the enclosing scope.
        while parent > 0 and self.kind[parent] in STACK_KINDS:
            parent = int(self.parent[parent])
        if parent > 0 and self.kind[parent] == SCOPE_ROW and name.startswith(self.name[parent] + "/"):
            return name[len(self.name[parent]) + 1 :]
        return name if parent <= 0 or self.kind[parent] == FUNCTION_ROW else name.rpartition("/")[2]

    def can_open(self, row: int) -> bool:
        """Return whether the row is a group or a call."""
        return self._kinds[row] != OP_ROW or row in self.calls

    @cached_property
    def _kinds(self) -> bytes:
        """The kind of each row as bytes: indexing them gives plain ints, faster than indexing an array."""
        return self.kind.tobytes()


def sort_children_by_parent(parent: Ints, mark: Bytes | Ints) -> tuple[Ints, Longs]:
    """Sort child rows by parent, without marks; return them and the start of each row's children."""
    rows = np.flatnonzero((parent >= 0) & (mark == 0))
    order, start = group_by_key(parent[rows], len(parent))
    return rows[order].astype(np.int32), start
