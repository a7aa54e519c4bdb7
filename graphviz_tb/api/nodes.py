"""One node or group of a model, and sequences of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from graphviz_tb.errors import ToolMissing, UnknownNode
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.costs import Cost
from graphviz_tb.model.folded import FoldedGraph
from graphviz_tb.model.hierarchy import FUNCTION_ROW, OP_ROW, RowKind
from graphviz_tb.model.tensors import Shape, shape_text
from graphviz_tb.model.units import format_counted_noun
from graphviz_tb.model.weights import Variable, VariableUse

if TYPE_CHECKING:
    import pandas as pd

    from graphviz_tb.proto import AttrValue

REPR_NODES = 20  # nodes shown in a repr
NODE_COLUMNS = ("name", "kind", "op", "device", "shape", "parameters", "flops")


class Node:
    """An op, scope, series, fold or function of a model: a row of its hierarchy.

    Equal if the row and the model are the same.
    """

    __slots__ = ("_model", "row")

    def __init__(self, model: FoldedGraph, row: int) -> None:
        self._model = model
        self.row = row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and other.row == self.row and other._model is self._model

    def __hash__(self) -> int:
        return hash((id(self._model), self.row))

    def __repr__(self) -> str:
        if self.kind != "op":
            ops = self._model.hierarchy.op_count(self.row)
            return f"<Node {self.name!r}: {self.kind}, {format_counted_noun(ops, 'op')}>"
        shape = f", {shape_text(self.shape) or 'scalar'}" if self.shape is not None else ""
        return f"<Node {self.name!r}: {self.op}{shape}>"

    @property
    def name(self) -> str:
        """The full name; inside a function its name in the body."""
        return self._model.hierarchy.name[self.row]

    @property
    def kind(self) -> str:
        """`"op"`, `"scope"`, `"series"`, `"fold"` or `"function"`."""
        return RowKind(self._model.hierarchy.kind[self.row]).name.lower()

    @property
    def op(self) -> str:
        """The op type; `""` for a group."""
        graph, node = self._model.hierarchy.graph, self._graph_node
        return graph.op_types[graph.op[node]] if node >= 0 else ""

    @property
    def device(self) -> str:
        """The device in the file; `""` if it names none."""
        graph, node = self._model.hierarchy.graph, self._graph_node
        return graph.devices[graph.device[node]] if node >= 0 else ""

    @property
    def attrs(self) -> Mapping[str, AttrValue]:
        """The attributes of an op, as messages by name; empty for a group."""
        node = self._graph_node
        definition = self._model.hierarchy.graph.node_def(node) if node >= 0 else None
        return MappingProxyType(dict(definition.attr) if definition is not None else {})

    @property
    def parent(self) -> Node | None:
        """The group around it; None at the top of the graph or of a function."""
        above = int(self._model.hierarchy.parent[self.row])
        return Node(self._model, above) if above > 0 else None

    @property
    def children(self) -> NodeList:
        """Direct children of a group, in the order of the file."""
        hierarchy = self._model.hierarchy
        rows, row = [], self.row + 1
        while row < hierarchy.end[self.row]:
            rows.append(row)
            row = int(hierarchy.end[row])
        return NodeList(self._model, rows)

    @property
    def nodes(self) -> NodeList:
        """All ops in a group; for an op, the op itself."""
        hierarchy = self._model.hierarchy
        inside = np.arange(self.row, int(hierarchy.end[self.row]))
        return NodeList(self._model, inside[hierarchy.kind[inside] == OP_ROW].tolist())

    @property
    def inputs(self) -> NodeList:
        """Outside nodes that feed it tensors or control edges, each once, in the order of its inputs."""
        return self._neighbours(self._input_edges, self._model.hierarchy.graph.source)

    @property
    def outputs(self) -> NodeList:
        """Outside nodes that take its outputs, each once, in the order of the file."""
        return self._neighbours(self._output_edges, self._model.hierarchy.graph.target)

    @property
    def shapes(self) -> list[Shape]:
        """Shapes of an op's used outputs, by position; None where unknown."""
        return [self._model.facts.tensor(self._graph_node, key).shape for key in self._used_outputs()]

    @property
    def dtypes(self) -> list[str]:
        """Types of an op's used outputs, by position; "" where unknown."""
        return [self._model.facts.tensor(self._graph_node, key).dtype for key in self._used_outputs()]

    @property
    def shape(self) -> Shape:
        """Shape of the first output; None if unknown, and for a group."""
        return next(iter(self.shapes), None)

    @property
    def weights(self) -> tuple[Variable, ...]:
        """Parameters that it, or an op in it, uses; without optimizer slots and averages."""
        hierarchy = self._model.hierarchy
        rows, end = hierarchy.row_of_node, int(hierarchy.end[self.row])
        return tuple(
            variable
            for variable in hierarchy.graph.meaning.variables()
            if variable.use == VariableUse.PARAMETER and any(self.row <= rows[user] < end for user in variable.users)
        )

    @property
    def cost(self) -> Cost:
        """Parameters, multiply-adds, FLOPs and bytes; for a group, the sum over its ops."""
        cost = self._model.facts.cost
        return cost().under(self.row) if cost is not None else Cost()

    @property
    def parameters(self) -> int:
        """Number of values in its weights."""
        return self.cost.parameters

    @property
    def flops(self) -> int:
        """Floating point operations; a lower bound if `cost.lower_bounds()` names them."""
        return self.cost.flops

    @property
    def time(self) -> float | None:
        """Compute time in microseconds, the median of the steps that were read; None if it was not measured."""
        stats = self._model.facts.stats
        return float(stats.time.median[self.row]) if stats is not None and stats.known[self.row] else None

    @property
    def _graph_node(self) -> int:
        return int(self._model.hierarchy.node[self.row])

    def _used_outputs(self) -> list[int]:
        """Return the used outputs of an op, by position; the first if none is used."""
        graph, node = self._model.hierarchy.graph, self._graph_node
        if node < 0:
            return []
        data = [edge for edge in self._output_edges(node) if not graph.control[edge]]
        keys = sorted({int(graph.key[edge]) for edge in data}, key=lambda key: (len(graph.keys[key]), graph.keys[key]))
        return [graph.keys.index("0")] if not keys and "0" in graph.keys else keys

    def _input_edges(self, node: int) -> Sequence[int]:
        """Return the edges into a node."""
        first = self._model.hierarchy.first_input_edge
        return range(int(first[node]), int(first[node + 1]))

    def _output_edges(self, node: int) -> Sequence[int]:
        """Return the edges out of a node."""
        order, first = self._model.hierarchy.edges_by_source
        edges: list[int] = order[first[node] : first[node + 1]].tolist()
        return edges

    def _neighbours(self, edges: Callable[[int], Sequence[int]], far: Ints) -> NodeList:
        hierarchy = self._model.hierarchy
        inside = range(self.row, int(hierarchy.end[self.row]))
        nodes = hierarchy.node[inside.start : inside.stop].tolist()
        found = (int(hierarchy.row_of_node[far[edge]]) for node in nodes if node >= 0 for edge in edges(node))
        return NodeList(self._model, list(dict.fromkeys(row for row in found if row >= 0 and row not in inside)))


class NodeList(Sequence[Node]):
    """Nodes of one model, indexable by position, slice or name."""

    def __init__(self, model: FoldedGraph, rows: Sequence[int]) -> None:
        self._model = model
        self._rows = rows

    @overload
    def __getitem__(self, at: int | str) -> Node: ...
    @overload
    def __getitem__(self, at: slice) -> NodeList: ...
    def __getitem__(self, at: int | str | slice) -> Node | NodeList:
        """Return a node by position or name, or several by a slice.

        Raises `UnknownNode` (a `KeyError`) for a name that is not in the list.
        """
        if isinstance(at, slice):
            return NodeList(self._model, self._rows[at])
        if isinstance(at, str):
            if at not in self._row_by_name:
                raise UnknownNode.among(at, self._row_by_name)
            return Node(self._model, self._row_by_name[at])
        return Node(self._model, self._rows[at])

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Node]:
        return (Node(self._model, row) for row in self._rows)

    def __contains__(self, what: object) -> bool:
        if isinstance(what, str):
            return what in self._row_by_name
        return isinstance(what, Node) and what._model is self._model and what.row in self._row_set

    def __repr__(self) -> str:
        shown = [f"  {node!r}" for node in self[:REPR_NODES]]
        if len(self) > REPR_NODES:
            shown.append(f"  … {len(self) - REPR_NODES:,} more")
        return "\n".join([f"<{format_counted_noun(len(self), 'node')}>", *shown])

    def _repr_html_(self) -> str:
        """Return the first nodes as a table for a notebook."""
        head = "".join(f"<th>{name}</th>" for name in NODE_COLUMNS)
        rows = (node_values(node) for node in self[:REPR_NODES])
        body = "".join(f"<tr>{''.join(f'<td>{escape(str(value))}</td>' for value in row)}</tr>" for row in rows)
        more = f"<p>… {len(self) - REPR_NODES:,} more</p>" if len(self) > REPR_NODES else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [self._model.hierarchy.name[row] for row in self._rows]

    def to_pandas(self) -> pd.DataFrame:
        """Return a `pandas.DataFrame`, one row per node: name, kind, op, device, shape, parameters, flops.

        Raises `ToolMissing` if pandas is not installed.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ToolMissing("a table needs pandas", hint="pip install pandas") from None

        return pd.DataFrame([node_values(node, plain=True) for node in self], columns=list(NODE_COLUMNS))

    @cached_property
    def _row_set(self) -> frozenset[int]:
        return frozenset(self._rows)

    @cached_property
    def _row_by_name(self) -> dict[str, int]:
        names = self._model.hierarchy.name
        return {names[row]: row for row in reversed(self._rows)}


def node_values(node: Node, plain: bool = False) -> tuple[Any, ...]:
    """Return the table columns of a node; with `plain`, the shape as a tuple instead of text."""
    shape = node.shape if plain else shape_text(node.shape) if node.shape is not None else ""
    return node.name, node.kind, node.op, node.device, shape, node.parameters, node.flops


def nodes_of_main_graph(model: FoldedGraph) -> NodeList:
    """Return all ops of the main graph, constants and weights too, in the order of the file."""
    graph = model.hierarchy.graph
    rows = model.hierarchy.row_of_node[np.flatnonzero(graph.function < 0)]
    return NodeList(model, rows[rows >= 0].tolist())


def function_nodes(model: FoldedGraph) -> NodeList:
    """Return the functions of the library."""
    return NodeList(model, np.flatnonzero(model.hierarchy.kind == FUNCTION_ROW).tolist())
