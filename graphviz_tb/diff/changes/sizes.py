"""Ops that compute with sizes: where a size is known before the program runs, TensorFlow writes constants for them."""

from __future__ import annotations

from graphviz_tb.diff.changes.attributes import SHAPE, Difference
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change
from graphviz_tb.ops.roles import CONSTANT_OPS, INDEX_OPS, SIZE_ARITHMETIC_OPS, SIZE_OPS
from graphviz_tb.ops.signatures import is_size_input

TYPES = ("T", "Tparams", "Tidx", "SrcT")  # the attribute that says what an op computes with
WHOLE = (3, 9)  # int32, int64 as TensorFlow numbers types
MEANT = frozenset({"T", "Tin", "Tout", "output_types"})  # lists of types: what a loop or a call is handed

FOLLOWING = frozenset(
    {"output_shapes", "element_shape", "num_elements", "_num_original_outputs", "N"}
)  # of loops and lists: what is in them has another size, and how many inputs an op takes
ASKED = frozenset({"size", "shape"})  # arguments of PyTorch's ops, lists in words


def only_sizes(m: Matching, change: Change) -> bool:
    """Whether a change is about nothing but sizes: ops that ask for them or compute with them, inputs that are some."""
    edits = change.edits
    old = [*edits.removed, *(node for node, _ in edits.ops)]
    new = [*edits.added, *(node for _, node in edits.ops)]
    if change.kind == "rewired":
        return all(sizing(m.b, node) or takes_sizes(m, change) for _, node in edits.inputs)
    asked = change.kind in ("added", "removed") or change.detail.get("key") == "op"
    return (
        asked and bool(old or new) and all(sizing(m.a, node) for node in old) and all(sizing(m.b, node) for node in new)
    )


def sizing(side: GraphColumns, node: int) -> bool:
    """Whether an op asks for a size or computes with whole numbers alone."""
    op = side.graph.op_types[side.graph.op[node]]
    if op in SIZE_OPS or op in CONSTANT_OPS:
        return True
    definition = side.graph.node_def(node)
    if op not in SIZE_ARITHMETIC_OPS | INDEX_OPS or definition is None:
        return False
    types = [definition.attr[key].type for key in TYPES if key in definition.attr]
    return bool(types) and types[0] in WHOLE


def takes_sizes(m: Matching, change: Change) -> bool:
    """Whether all rewired inputs are sizes."""
    op = m.b.graph.op_types[m.b.graph.op[change.edits.inputs[0][1]]]
    return all(is_size_input(op, wire["input"]) for wire in change.detail["inputs"])


def is_entailed(key: str, old: object) -> bool:
    """Return whether an attribute only lists the types of the inputs of a loop or a call, or is the size that PyTorch
    was asked to reshape to."""
    return (key in MEANT and isinstance(old, list)) or (key in ASKED and str(old).startswith("["))


def of_input(m: Matching, mine: int, other: int, difference: Difference) -> bool:
    """Whether a setting of a Keras layer is a shape in which only those sizes are others that inputs of the layer have
    there now: a program computes such settings."""
    old, new = difference.old, difference.new
    if not (isinstance(old, list) and isinstance(new, list)) or len(old) != len(new):
        return False
    if mine not in m.a.labels.configurations or not all(isinstance(size, int | None) for size in (*old, *new)):
        return False
    entered = {
        pair
        for before, after in zip(shapes_taken(m.a, mine), shapes_taken(m.b, other), strict=False)
        for pair in zip(before, after, strict=False)
    }
    return all(pair in entered for pair in zip(old, new, strict=True) if pair[0] != pair[1])


def shapes_taken(side: GraphColumns, node: int) -> list[list[int]]:
    """The shapes of what a Keras layer takes, without the number of examples."""
    shapes = []
    for source in side.graph.source[side.in_edges(node)].tolist():
        definition = side.graph.node_def(source)
        known = definition.attr[SHAPE].list.shape if definition is not None and SHAPE in definition.attr else ()
        shapes += [[dim.size for dim in shape.dim[1:]] for shape in known]
    return shapes
