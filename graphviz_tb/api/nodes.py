"""Nodes and groups of a model, sequences of them, and the table of its layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from graphviz_tb.errors import HelpfulAttributes, ToolMissing, UnknownNode
from graphviz_tb.graphs.layer_rows import layer_rows
from graphviz_tb.graphs.traversal import reachable_mask
from graphviz_tb.interpret.training import nodes_serving_only
from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.costs import TRAINABLE, Cost
from graphviz_tb.model.facts import FoldedGraph
from graphviz_tb.model.formatting import format_bytes, format_count, format_counted_noun
from graphviz_tb.model.hierarchy import OP_ROW, Hierarchy, RowKind
from graphviz_tb.model.interpretation import COMPUTING_PARTS, Part, Variable, VariableUse
from graphviz_tb.model.measure import truncate_text
from graphviz_tb.model.tensors import Shape, shape_text
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.roles import INPUT_OPS, Role, has_role

if TYPE_CHECKING:
    import pandas
    import polars

    from graphviz_tb.proto import AttrValue


def pandas_frame(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> pandas.DataFrame:
    """Return rows as a `pandas.DataFrame`. Raises `ToolMissing` where pandas is not installed."""
    made: pandas.DataFrame = _table_library("pandas").DataFrame([tuple(row) for row in rows], columns=list(columns))
    return made


def polars_frame(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> polars.DataFrame:
    """Return rows as a `polars.DataFrame`; a shape is a list. Raises `ToolMissing` where polars is not installed."""
    table = [[list(value) if isinstance(value, tuple) else value for value in row] for row in rows]
    made: polars.DataFrame = _table_library("polars").DataFrame(
        table, schema=list(columns), orient="row", infer_schema_length=None, strict=False
    )
    return made


def _table_library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        from graphviz_tb.extras import install_line

        raise ToolMissing(f"a table needs {name}", hint=install_line(name)) from None


REPR_NODES = 20  # nodes shown in a repr
NODE_COLUMNS = ("name", "kind", "op", "device", "shape", "parameters", "flops")


class Node(HelpfulAttributes):
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
        """Outside nodes that use its outputs, each once, in the order of the file."""
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
        first = self._model.hierarchy.first_input_edge
        return range(int(first[node]), int(first[node + 1]))

    def _output_edges(self, node: int) -> Sequence[int]:
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
        from html import escape  # slow import: it has a table of letters

        head = "".join(f"<th>{name}</th>" for name in NODE_COLUMNS)
        rows = (_node_values(node) for node in self[:REPR_NODES])
        body = "".join(f"<tr>{''.join(f'<td>{escape(str(value))}</td>' for value in row)}</tr>" for row in rows)
        more = f"<p>… {len(self) - REPR_NODES:,} more</p>" if len(self) > REPR_NODES else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    @property
    def names(self) -> list[str]:
        """Names in the order of the list."""
        return [self._model.hierarchy.name[row] for row in self._rows]

    def to_pandas(self) -> pandas.DataFrame:
        """Return a `pandas.DataFrame`, one row per node: name, kind, op, device, shape, parameters, flops.

        Raises `ToolMissing` if pandas is not installed.
        """
        return pandas_frame((_node_values(node, plain=True) for node in self), NODE_COLUMNS)

    def to_polars(self) -> polars.DataFrame:
        """Return a `polars.DataFrame` with the same rows. Raises `ToolMissing` if polars is not installed."""
        return polars_frame((_node_values(node, plain=True) for node in self), NODE_COLUMNS)

    @cached_property
    def _row_set(self) -> frozenset[int]:
        return frozenset(self._rows)

    @cached_property
    def _row_by_name(self) -> dict[str, int]:
        names = self._model.hierarchy.name
        return {names[row]: row for row in reversed(self._rows)}


def _node_values(node: Node, plain: bool = False) -> tuple[Any, ...]:
    """Return the table columns of a node; with `plain`, the shape as a tuple instead of text."""
    shape = node.shape if plain else shape_text(node.shape) if node.shape is not None else ""
    return node.name, node.kind, node.op, node.device, shape, node.parameters, node.flops


# The layers of a model as a text table, like Keras' `model.summary()`.

LAYER_NAME_WIDTH = 56  # characters
NON_OUTPUT_ROLES = (
    Role.SUMMARY,
    Role.SUMMARY_MERGE,
    Role.INPUT,
    Role.CHECK,
    Role.SIZE,
    Role.FRAME_EXIT,
    Role.FRAME_SWITCH,
)


def list_layers(model: FoldedGraph) -> NodeList:
    """Return the layers of the main graph, in the order of the hierarchy (`layer_rows`)."""
    return NodeList(model, layer_rows(model.hierarchy))


def list_inputs(model: FoldedGraph) -> NodeList:
    """Return the ops of the main graph that are fed from outside: placeholders and arguments, no variables."""
    hierarchy = model.hierarchy
    graph, meaning = hierarchy.graph, hierarchy.graph.meaning
    fed = graph.nodes_of_types(INPUT_OPS.__contains__) & (graph.function < 0)
    if graph.layers:
        named = {name for name, layer in graph.layers.items() if has_layer_role(layer.class_name, LayerRole.INPUT)}
        return NodeList(model, [row for row in range(1, int(hierarchy.end[0])) if hierarchy.name[row] in named])
    held = meaning.variable | (meaning.origin >= 0) | np.isin(meaning.part(), (Part.UPDATE, Part.BOOKKEEPING))
    held[graph.source[meaning.stores[graph.target]]] = True  # the name of a checkpoint file
    held |= nodes_serving_only(graph, held)
    return NodeList(model, _rows_of_marked_nodes(hierarchy, fed & ~held))


def list_outputs(model: FoldedGraph) -> NodeList:
    """Return the model's ops that depend on fed values and whose outputs only gradients, updates, summaries or savers
    use."""
    hierarchy = model.hierarchy
    graph, meaning = hierarchy.graph, hierarchy.graph.meaning
    data = ~graph.control
    of_model = np.isin(meaning.part(), COMPUTING_PARTS) & (graph.mark == 0) & (graph.function < 0)
    of_model &= ~meaning.sizes & ~meaning.stores & ~graph.nodes_of_types(lambda op: has_role(op, *NON_OUTPUT_ROLES))
    depends_on_input = meaning.part() == Part.INPUT
    depends_on_input[hierarchy.node[[node.row for node in list_inputs(model)]]] = True
    if depends_on_input.any():
        of_model &= reachable_mask(depends_on_input, graph.source[data], graph.target[data])
    is_model_user = ~np.isin(meaning.part(), (Part.GRADIENT, Part.UPDATE, Part.BOOKKEEPING))
    is_model_user &= ~graph.nodes_of_types(lambda op: has_role(op, Role.SUMMARY, Role.SUMMARY_MERGE))
    is_used = np.zeros(len(graph), bool)
    is_used[graph.source[is_model_user[graph.target] & data]] = True
    return NodeList(model, _rows_of_marked_nodes(hierarchy, of_model & ~is_used))


def _rows_of_marked_nodes(hierarchy: Hierarchy, nodes: Bools) -> list[int]:
    rows = hierarchy.row_of_node[np.flatnonzero(nodes)]
    found: list[int] = rows[rows >= 0].tolist()
    return found


def layer_table(model: FoldedGraph) -> str:
    """Return one line per layer (name, class or op type, output shape, parameters), then the totals."""
    keras_layers = model.hierarchy.graph.layers
    rows = [("Layer", "Output shape", "Parameters")]
    listed = list_layers(model)
    for node, result in zip(listed, _layer_result_ops(model, listed), strict=True):
        shape = result.shape if result is not None else None
        class_name = keras_layers[node.name].class_name if node.name in keras_layers else node.op
        title = truncate_text(node.name, LAYER_NAME_WIDTH) + (f" ({class_name})" if class_name else "")
        rows.append((title, "" if shape is None else shape_text(shape) or "scalar", f"{node.parameters:,}"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    rule = "─" * (sum(widths) + 4)
    lines = [
        f"{title:<{widths[0]}}  {shape:<{widths[1]}}  {count:>{widths[2]}}".rstrip() for title, shape, count in rows
    ]
    return "\n".join([lines[0], rule, *lines[1:], rule, *_total_lines(model)])


def _layer_result_ops(model: FoldedGraph, nodes: NodeList) -> list[Node | None]:
    """Return for each layer the op that computes its result: a layer op itself, else its last op that feeds the rest of
    the model.

    `nodes` are in the order of the hierarchy. Ops of a nested layer count as the inner layer's.
    """
    hierarchy = model.hierarchy
    graph, rows = hierarchy.graph, hierarchy.row_of_node
    starts = np.array([node.row for node in nodes], np.int64)
    layer = np.searchsorted(starts, rows, side="right") - 1  # layer of each node, corrected below
    if len(starts):
        layer[(layer >= 0) & (rows >= hierarchy.end[starts[layer]])] = -1
    computes = (
        ~graph.control & np.isin(graph.meaning.part(), COMPUTING_PARTS)[graph.target] & (graph.mark[graph.target] == 0)
    )
    leaves = computes & (layer[graph.source] >= 0) & (layer[graph.source] != layer[graph.target])
    last_row = np.full(len(starts), -1, np.int64)
    np.maximum.at(last_row, layer[graph.source[leaves]], rows[graph.source[leaves]])
    found = zip(nodes, last_row.tolist(), strict=True)
    return [node if node.kind == "op" else Node(model, row) if row >= 0 else None for node, row in found]


def _total_lines(model: FoldedGraph) -> list[str]:
    """Return lines with parameters, bytes and FLOPs of the main graph; "at least" where something is not counted."""
    cost = Node(model, 0).cost
    parameters = f"{cost.bound_word('parameters')}{cost.parameters:,} ({format_bytes(cost.weight_bytes)})"
    trained = cost.parameters - cost.non_trainable
    fixed = f"{cost.bound_word('non_trainable')}{cost.non_trainable:,}"
    trained_words = f"{cost.bound_word(TRAINABLE)}{trained:,}"
    apart = f" · trainable: {trained_words} · non-trainable: {fixed}" if cost.non_trainable else ""
    return [f"Parameters: {parameters}{apart}", f"FLOPs: {cost.bound_word('flops')}{format_count(cost.flops)}"]
