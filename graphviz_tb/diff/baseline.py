"""A graph kept beside a test, to compare later ones with: JSON that `load` and `tbgraph diff` read, too.

It is a GraphDef as JSON without the numbers that a training changes, or the JSON of a Keras model whose layers are the
graph.
"""

from __future__ import annotations

import json
from dataclasses import replace
from math import prod
from typing import Any

from google.protobuf.json_format import MessageToDict

from graphviz_tb.diff.options import DiffOptions
from graphviz_tb.diff.result import Changes
from graphviz_tb.diff.run import run
from graphviz_tb.errors import RequestError
from graphviz_tb.formats.reading import read_source
from graphviz_tb.limits import MAX_SETTING_NUMBERS
from graphviz_tb.model.facts import FoldedGraph
from graphviz_tb.model.sources import LoadedGraph
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, TensorProto

KEPT = ("dtype", "tensor_shape", "version_number")  # of a tensor that is too large to be a setting


def baseline(source: Any, **choices: Any) -> tuple[bytes, str]:
    """The graph of a source as the bytes of its baseline, and what it is called; the same graph gives the same bytes.

    `choices` are options of reading (`run`, `tag`, `signature`). Raises `RequestError` for layers that no JSON lists.

    >>> baseline(b'node { name: "x" op: "Relu" }')[0]
    b'{\\n "node": [\\n  {\\n   "name": "x",\\n   "op": "Relu"\\n  }\\n ]\\n}\\n'
    """
    loaded = source.loaded if isinstance(source, FoldedGraph) else None
    loaded = loaded or read_source(source, ReadOptions(**choices))
    return as_bytes(document(loaded)), loaded.label


def document(loaded: LoadedGraph) -> dict[str, Any]:
    """What a baseline holds, as plain values."""
    if loaded.kind != "conceptual":
        values: dict[str, Any] = MessageToDict(without_numbers(loaded.graph_def))
        return {"node": [], **values}
    if not loaded.described:
        hint = "model.export('folder') writes the graph of its ops: give that folder"
        raise RequestError(
            f"{loaded.label}: the layers are not in the JSON of the model, and make no baseline", hint=hint
        )
    described: dict[str, Any] = json.loads(loaded.described)
    return described


def as_bytes(values: dict[str, Any]) -> bytes:
    """Values as JSON for a repository: a line each, keys in order."""
    return (json.dumps(values, indent=1, sort_keys=True) + "\n").encode()


def without_numbers(graph_def: GraphDef) -> GraphDef:
    """A copy of a graph without the numbers in tensors that are no settings: weights, tables of words."""
    copy = GraphDef()
    copy.CopyFrom(graph_def)
    for nodes in (copy.node, *(function.node_def for function in copy.library.function)):
        for node in nodes:
            for name in node.attr:
                value = node.attr[name]
                for tensor in (*([value.tensor] if value.HasField("tensor") else ()), *value.list.tensor):
                    empty(tensor)
    return copy


def empty(tensor: TensorProto) -> None:
    """Take the numbers out of a tensor that has more than a setting may have."""
    if prod(dim.size for dim in tensor.tensor_shape.dim) > MAX_SETTING_NUMBERS:
        for field, _ in tensor.ListFields():
            if field.name not in KEPT:
                tensor.ClearField(field.name)


def since(kept: bytes, name: str, now: bytes, label: str, include: tuple[str, ...] = ()) -> Changes:
    """The changes from a baseline called `name` to another one, of the graph `label`.

    Raises `ReadError` where the baseline is damaged.
    """
    return replace(run(kept, now, DiffOptions.including(include), {}), old_name=name, new_name=label)
