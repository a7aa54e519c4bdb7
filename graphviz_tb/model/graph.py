"""The flat graph: one row per node, one row per edge; the main graph and all function bodies in one table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import IntEnum
from itertools import count, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.model.columns import Bools, Bytes, Ints, int32_column
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.interpretation import NO_INTERPRETATION, Interpretation
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice

if TYPE_CHECKING:
    from graphviz_tb.model.loaded import GraphSource
    from graphviz_tb.proto import NodeDef


class Mark(IntEnum):
    """The drawing of a node: as a box, or as a small mark next to the nodes that use it."""

    NONE = 0
    CONSTANT = 1
    SUMMARY = 2
    WEIGHT = 3


COLOCATION_ATTR = "_class"  # the attribute that lists ops on whose device a node is placed
INPUT_ARG_OP = "input_arg"  # the op type of an argument of a function
SUMMARY_MARK, WEIGHT_MARK = int(Mark.SUMMARY), int(Mark.WEIGHT)  # see `RowKind`


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the library.

    `args` are node ids (consecutive `input_arg` nodes, one per argument); `returns` are the results in order as `(node
    id or -1, output key)`; `arg_names` and `result_names` are the names in the signature; `index` is the position in
    `library.function`.
    """

    name: str
    index: int
    args: tuple[int, ...]
    arg_names: tuple[str, ...]
    returns: tuple[tuple[int, str], ...]
    result_names: tuple[str, ...]

    def argument_position(self, argument: int) -> int:
        """Return the position of an argument node among the arguments."""
        return argument - self.args[0]


@dataclass(frozen=True, slots=True)
class Call:
    """A function-valued attribute of a node: `node` calls `function` (index) by its attribute `attr`.

    `bodies` is the number of function-valued attributes of the node.
    """

    node: int
    attr: str
    function: int
    bodies: int


@dataclass(frozen=True, slots=True, eq=False)
class MarkPairs:
    """Pairs of a mark and the ordinary node next to which it is drawn: parallel columns, sorted by host in file order.

    `mark`, `host` (node ids), `inward` (the mark is on the input side), `edges` (number of edges of the graph that the
    pair represents).
    """

    mark: Ints
    host: Ints
    inward: Bools
    edges: Ints


@dataclass(frozen=True, slots=True, eq=False)
class NodeScopes:
    """`names[number[n]]` is the scope of node `n`: its name up to the last slash, None if it has no slash.

    Numbers follow the file order; the main graph and each function have separate numbers.
    """

    number: Ints
    names: list[str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Columns of nodes and edges, in file order: main graph first, then each function's arguments and body.

    Nodes: `name` (as in the file; inside a function the name in its body), `op` (id into `op_types`), `device`
    (id into `devices`), `function` (index into `functions`, -1 in the main graph), `mark` (a `Mark`), `definition`
    (position in the node list of the main graph or of the function's body; -1 for an `input_arg` node), `kept` (false
    for a node left out of the picture: only TensorBoard's preset does so).

    Edges: `source`, `target` (node ids), `key` (id into `keys`: "0", "1", … or "name:0" inside functions), `slot`
    (the input's position at its target), `control`, `reference`. Every input that names a node is one edge; inputs
    that name none are reported in `notices`. `beside` pairs marks with the nodes next to which they are drawn;
    `within[mark]` are the marks that own a mark which touches no ordinary node. `index` maps names to nodes, in the
    main graph and in each function; the last of several nodes with one name. `labels` replaces unhelpful names in
    pictures; `missing` names the function that a node calls and the file lacks.

    `layers` maps names of nodes or scopes of the main graph to their Keras layers; `meaning` is the result of
    `interpret`, which also determines the marks.
    """

    name: list[str]
    op: Ints
    op_types: tuple[str, ...]
    device: Ints
    devices: tuple[str, ...]
    function: Ints
    mark: Bytes
    definition: Ints
    kept: Bools
    source: Ints
    target: Ints
    key: Ints
    keys: tuple[str, ...]
    slot: Ints
    control: Bools
    reference: Bools
    functions: tuple[Function, ...]
    calls: tuple[Call, ...]
    beside: MarkPairs
    within: dict[int, tuple[int, ...]]
    graph_def: GraphSource = field(repr=False)
    index: tuple[dict[str, int], ...] = field(repr=False)
    notices: tuple[Notice, ...] = ()
    labels: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    missing: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    layers: Mapping[str, Layer] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    meaning: Interpretation = field(default=NO_INTERPRETATION, repr=False)
    _scopes: list[NodeScopes] = field(default_factory=list, init=False, repr=False)  # cache of `scopes`

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_pytorch(self) -> bool:
        """Return whether PyTorch wrote the graph: its op types have a namespace, those of TensorFlow never do."""
        return any(op.startswith(("aten::", "prim::")) for op in self.op_types)

    def nodes_of_types(self, wanted: Callable[[str], object]) -> Bools:
        """Return a mask of the nodes whose op type satisfies `wanted`, which is called once per type."""
        types: Bools = np.array([bool(wanted(op)) for op in self.op_types], bool)
        return types[self.op]

    @property
    def node_scopes(self) -> NodeScopes:
        """The scopes in the names of all nodes, computed once."""
        if not self._scopes:
            names: list[str | None] = []
            number: list[int] = []
            for start, stop in pairwise(self.block_starts()):
                known: defaultdict[str | None, int] = defaultdict(count(len(names)).__next__)
                number += [
                    known[name[:cut] if (cut := name.rfind("/")) >= 0 else None] for name in self.name[start:stop]
                ]
                names += known
            self._scopes.append(NodeScopes(int32_column(np.array(number, np.int32)), names))
        return self._scopes[0]

    def block_starts(self) -> list[int]:
        """Return the first node of the main graph and of each function body, and the number of nodes."""
        # `function` is sorted: -1 in the main graph, then 0, 1, … in the bodies.
        cuts: list[int] = np.searchsorted(self.function, np.arange(-1, len(self.functions) + 1)).tolist()
        return [0, *cuts[1:]]

    @property
    def edge_count(self) -> int:
        """The number of edges."""
        return len(self.source)

    def node_def(self, node: int) -> NodeDef | None:
        """Return the message of `node`, None for an argument of a function."""
        position = int(self.definition[node])
        if position < 0:
            return None
        function = int(self.function[node])
        if function < 0:
            definitions = self.graph_def.node
        else:
            definitions = self.graph_def.library.function[self.functions[function].index].node_def
        definition: NodeDef = definitions[position]
        return definition


def count_mark_pairs(marks: Ints, hosts: Ints, inward: Bools) -> MarkPairs:
    """Merge equal (mark, host, side) rows, ordered by host and then by first appearance."""
    # 32 bits for the mark, one for the side.
    key = (hosts.astype(np.int64) << 33) + (marks.astype(np.int64) << 1) + inward
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    order = np.lexsort((first, hosts[first]))
    first, counts = first[order], counts[order]  # the last key is the first to sort by
    return MarkPairs(
        marks[first].astype(np.int32), hosts[first].astype(np.int32), inward[first], counts.astype(np.int32)
    )
