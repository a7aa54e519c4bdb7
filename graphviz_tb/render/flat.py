"""The ops and edges of the main graph one by one, for the formats of other tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.json_values import replace_non_finite
from graphviz_tb.model.measure import replace_unsafe_characters
from graphviz_tb.model.tensors import shape_text

# Fields of nodes in the formats. `value` repeats the id, and `key` an edge's number: networkx reads them.
RESERVED_FIELDS = frozenset(("id", "value", "name", "label", "op", "device", "scope", "parent"))


@dataclass(frozen=True, slots=True)
class FlatNode:
    """An op, or a group if `op` is "": its row, the row of the group around it (0: none), and its fields.

    `label` is the name on its box; `given` are the user's facts by column, with `fact_` before the names of fields.
    """

    row: int
    parent: int
    name: str
    label: str
    op: str
    device: str
    given: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FlatEdge:
    """An edge from output `output` of the op at row `source` to input `slot` of that at `target` (-1: control), and the
    shape and dtype that it carries, "" if unknown."""

    source: int
    target: int
    output: str
    slot: int
    control: bool
    tensor: str


def flat_nodes(hierarchy: Hierarchy, facts: Facts, groups: bool) -> Iterator[FlatNode]:
    """Yield the ops of the main graph in the order of its tree, with all `groups` or only those with facts."""
    graph = hierarchy.graph
    given = facts.given
    for row in range(1, int(hierarchy.end[0])):
        node = int(hierarchy.node[row])
        values = (
            {fact_field(name): value for name, value in given.values_of_row(row).items()} if given is not None else {}
        )
        if node < 0 and not groups and not values:
            continue
        op = graph.op_types[graph.op[node]] if node >= 0 else ""
        device = graph.devices[graph.device[node]] if node >= 0 and graph.device[node] >= 0 else ""
        parent = max(0, int(hierarchy.parent[row]))
        yield FlatNode(
            row,
            parent,
            replace_unsafe_characters(hierarchy.name[row]),
            replace_unsafe_characters(hierarchy.display_label(row)),
            op,
            device,
            values,
        )


def fact_field(column: str) -> str:
    """Rename a column of facts that has the name of a field of the format.

    >>> fact_field("latency"), fact_field("op")
    ('latency', 'fact_op')
    """
    return f"fact_{column}" if column in RESERVED_FIELDS else column


def encode_document(document: Any) -> bytes:
    """Return a JSON document as a file; non-finite numbers become texts."""
    return (json.dumps(replace_non_finite(document), ensure_ascii=True, separators=(",", ":")) + "\n").encode()


def flat_edges(hierarchy: Hierarchy, facts: Facts) -> Iterator[FlatEdge]:
    """Yield the edges between ops of the main graph, by target and input."""
    graph = hierarchy.graph
    source, target = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    end = int(hierarchy.end[0])
    kept = np.flatnonzero((source > 0) & (target > 0) & (source < end) & (target < end))
    for edge in kept[np.lexsort((graph.slot[kept], target[kept]))].tolist():
        control = bool(graph.control[edge])
        output = graph.keys[graph.key[edge]]
        yield FlatEdge(
            int(source[edge]),
            int(target[edge]),
            "" if control else replace_unsafe_characters(output),
            -1 if control else int(graph.slot[edge]),
            control,
            "" if control else tensor_text(facts, int(graph.source[edge]), int(graph.key[edge])),
        )


def tensor_text(facts: Facts, node: int, key: int) -> str:
    """Return the shape and dtype of an output, "" if both are unknown."""
    tensor = facts.tensor(node, key)
    shape = "" if tensor.shape is None else shape_text(tensor.shape) or "scalar"
    return " ".join(filter(None, (shape, tensor.dtype or "")))
