"""Fold values that one exporter computes at export and another leaves to the runtime.

Shape ─▶ Slice ─▶ Concat ─▶ Reshape                       Reshape, shape [1, 16, 4, 12]
Reshape ─▶ Transpose ─▶ Reshape                           Transpose, perm [0, 1, 3, 2]

A value that depends on no input and no weight becomes a constant, or a setting if the op has one. A chain of ops that
only move data is replaced by a shorter one that moves numbered elements to the same places. Zeros around the input of a
convolution become its padding. Small constants that several ops share are copied for each op.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import prod
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.annotate.tensors import TensorDecoder
from graphviz_tb.diff.columns.values import tensor_numbers
from graphviz_tb.flatten import flatten
from graphviz_tb.formats.onnx_values import input_as_setting
from graphviz_tb.graphs.tensors import claimed_element_count
from graphviz_tb.graphs.traversal import needed_only_by
from graphviz_tb.interpret import interpret
from graphviz_tb.limits import MAX_SHOWN_NUMBERS, Meter
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import DTYPE_TABLE
from graphviz_tb.ops.roles import BUFFER_OP, CONSTANT_OPS, PARAMETER_OP
from graphviz_tb.ops.signatures import attribute_defaults
from graphviz_tb.unwrap.calls import UnusedNames

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef, NodeDef

Array = np.ndarray[Any, Any]
Way = list[tuple[str, Array]]  # a chain of ops that move data: each value with the original positions of its elements
MAX_COUNTED_ELEMENTS = 1 << 18  # of a tensor whose elements are followed, or whose value is computed
MAX_COUNTED_IN_ALL = 1 << 25  # followed elements of a graph, of four bytes each
MAX_STEPS = 12  # ops in a way
SHAPE_OP = "onnx::Shape"
CONSTANT, RESHAPE, TRANSPOSE = "Const", "onnx::Reshape", "onnx::Transpose"
EXPAND, SLICE, FILL = "onnx::Expand", "onnx::Slice", "onnx::ConstantOfShape"
PAD, CONVOLUTION = "onnx::Pad", "onnx::Conv"
SHAPED_OPS = frozenset((RESHAPE, EXPAND))  # their setting `shape` is the shape of their output
COMMUTATIVE_OPS = frozenset(("onnx::Add", "onnx::Mul"))
WEIGHT_OPS = frozenset((PARAMETER_OP, BUFFER_OP))
NUMPY_TYPES = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")


# Functions of the inputs.
ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": lambda x, y: np.trunc(x / y) if x.dtype.kind in "iu" else x / y,
    "Mod": np.mod,
    "Pow": np.power,
    "Sqrt": np.sqrt,
    "Reciprocal": np.reciprocal,
    "Exp": np.exp,
    "Neg": np.negative,
    "Abs": np.abs,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Cos": np.cos,
    "Sin": np.sin,
    "Max": np.maximum,
    "Min": np.minimum,
    "Equal": np.equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Not": np.logical_not,
    "Where": np.where,
    "Cast": np.asarray,
}
# Functions of the first input, the attributes and the shape of the output.
MOVING: Mapping[str, Callable[[Array, Any, tuple[int, ...]], Any]] = {
    **dict.fromkeys(("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"), lambda x, _, shape: x.reshape(shape)),
    "Expand": lambda x, _, shape: np.broadcast_to(x, shape),
    "Tile": lambda x, attr, _: np.tile(x, list(attr["repeats"].list.i)),
    "Transpose": lambda x, attr, _: np.transpose(x, _permutation(attr, x.ndim)),
    "Pad": lambda x, attr, _: x if not any(attr["pads"].list.i) else np.empty(0),
    "Slice": lambda x, attr, _: x[_slices(attr, x.ndim)],
    "Trilu": lambda x, attr, _: np.triu(x) if "upper" not in attr or attr["upper"].i else np.tril(x),
}
INFERRED = ("Concat", "Gather", "Range", "ConstantOfShape", "Size", "ScatterND", "CumSum")
MOVING_OPS = frozenset(f"onnx::{op}" for op in MOVING if op != "Trilu")
PLAIN_OPS = frozenset(f"onnx::{op}" for op in (*ELEMENTWISE, *MOVING, *INFERRED))  # equal inputs, equal outputs


def fold_known_values(graph: Graph) -> Graph:
    """Return a graph with known values as constants and settings, and the shortest chains of ops that move data."""
    folder = _Folder(graph)
    return interpret(flatten(folder.definition())) if folder.change() else graph


def computes_constants(graph: Graph) -> bool:
    """Return whether some op has only constants as inputs. An exporter that folds constants leaves no such op."""
    constants = {node.name for node in graph.graph_def.node if node.op in CONSTANT_OPS}
    return any(
        node.op in PLAIN_OPS and node.input and constants.issuperset(filter(None, node.input))
        for node in graph.graph_def.node
    )


class _Folder:
    """A copy of a graph that is being changed."""

    def __init__(self, graph: Graph) -> None:
        from graphviz_tb.proto import GraphDef

        self.made = GraphDef()
        self.made.node.extend(graph.graph_def.node)
        self.made.library.CopyFrom(graph.graph_def.library)
        self.nodes: dict[str, NodeDef] = {node.name: node for node in self.made.node}
        self.inference = TensorDecoder(graph).inference
        self.rows = {graph.name[row]: row for row in range(len(graph)) if graph.function[row] < 0}
        self.known: dict[str, Array | None] = {}  # None: the exporter knows the value, but it is not computed here
        self.ways: dict[str, Way] = {}
        self.same: dict[str, str] = {}  # replacements of inputs
        self.paddings: set[str] = set()  # ops whose zeros became padding
        self.names = UnusedNames(self.nodes)
        self.users = Counter(text for node in self.made.node for text in node.input)
        self.changed = False
        self.counted = Meter(MAX_COUNTED_IN_ALL)

    def change(self) -> bool:
        """Change all nodes, in the order of the file; return whether anything changed."""
        for node in self.made.node:
            for place, text in enumerate(node.input):
                node.input[place] = self.same.get(text, text)
            if self._is_known_at_export(node):
                self.known[node.name] = self._value_of(node)
                continue
            for place, text in enumerate(node.input):
                if text in self.known and self.nodes[text].op not in CONSTANT_OPS:
                    self._take_known(node, place, text)
            self._put_fixed_input_last(node)
            self._count_axis_from_first(node)
            while node.input and not node.input[-1]:
                node.input.pop()
            self._shorten_way(node)
            self._join_padding(node)
            self._turn_weight(node)
        self._copy_constants()
        return self.changed

    def _put_fixed_input_last(self, node: NodeDef) -> None:
        """Make the fixed operand of sums and products the second input, as one exporter does."""
        if node.op in COMMUTATIVE_OPS and len(node.input) == 2:
            fixed = [
                text in self.known or self.nodes[text].op in WEIGHT_OPS for text in node.input if text in self.nodes
            ]
            if fixed == [True, False]:
                node.input[:] = node.input[::-1]
                self.changed = True

    def _count_axis_from_first(self, node: NodeDef) -> None:
        """Make a negative axis, given or by default, positive."""
        axis = node.attr["axis"].i if "axis" in node.attr else attribute_defaults(node.op).get("axis", 0)
        shape = self._shape(node.input[0].removesuffix(":0")) if axis < 0 and node.input else None
        if shape is not None and -len(shape) <= axis:
            node.attr["axis"].i = axis + len(shape)
            self.changed = True

    def definition(self) -> GraphDef:
        """Return the graph without nodes that have lost their users."""
        from graphviz_tb.proto import GraphDef

        kept, idle = GraphDef(), self._idle_nodes()
        kept.library.CopyFrom(self.made.library)
        kept.node.extend(node for node in self.made.node if node.name not in idle)
        return kept

    def _idle_nodes(self) -> set[str]:
        may_go = (self.known.keys() | self.ways.keys() | self.same.keys() | self.paddings) & self.nodes.keys()

        def makers(name: str) -> list[str]:
            return [maker for text in self.nodes[name].input if (maker := text.partition(":")[0]) in may_go]

        users = Counter(maker for node in self.made.node for maker in makers(node.name))
        idle = [name for name in may_go if not users[name]]
        return {*idle, *needed_only_by(idle, makers, users)}

    def _join_padding(self, node: NodeDef) -> None:
        """Turn zeros that a `Pad` adds around the input of a convolution into its padding."""
        before = self.nodes.get(node.input[0]) if node.op == CONVOLUTION and node.input else None
        zeros = _zeros_around(before) if before is not None else None
        if before is None or zeros is None or "auto_pad" in node.attr:
            return
        pads = list(node.attr["pads"].list.i) if "pads" in node.attr else [0] * len(zeros)
        write_setting(node, "pads", list(map(add, pads, zeros)))
        node.input[0] = before.input[0]
        self.paddings.add(before.name)
        self.changed = True

    def _turn_weight(self, node: NodeDef) -> None:
        """Replace the transpose of a weight that has no other user by a weight of the transposed shape."""
        weight = self.nodes.get(node.input[0]) if node.op == TRANSPOSE else None
        if weight is None or weight.op not in WEIGHT_OPS or self.users[weight.name] > 1 or "shape" not in weight.attr:
            return
        sizes = [dim.size for dim in weight.attr["shape"].shape.dim]
        for dim, axis in zip(weight.attr["shape"].shape.dim, _permutation(node.attr, len(sizes)), strict=True):
            dim.size = sizes[axis]
        self.same[node.name] = weight.name
        self.changed = True

    def _copy_constants(self) -> None:
        """Copy small constants for each op that uses them, into its scope."""
        for node in [*self.made.node]:
            scope, slash, _ = node.name.rpartition("/")
            for place, text in enumerate(node.input):
                shared = self.nodes.get(text)
                if shared is None or shared.op not in CONSTANT_OPS:
                    continue
                if not 0 <= claimed_element_count(shared.attr["value"].tensor) <= MAX_SHOWN_NUMBERS:
                    continue
                copy = self.made.node.add()
                copy.CopyFrom(shared)
                copy.name = self.names.take_name(f"{scope}{slash}{CONSTANT}")
                self.nodes[copy.name], self.known[copy.name] = copy, self.known.get(text)
                node.input[place] = copy.name
                self.changed = True

    # Values that are known at export

    def _is_known_at_export(self, node: NodeDef) -> bool:
        """Return whether the value of a node does not depend on a run."""
        if node.op == SHAPE_OP:
            return self._inferred_value(node) is not None
        inputs = [text for text in node.input if text]
        is_fill = node.op == FILL and "shape" in node.attr
        is_plain = node.op in PLAIN_OPS and (bool(inputs) or is_fill) and all(text in self.known for text in inputs)
        return node.op in CONSTANT_OPS or is_plain

    def _value_of(self, node: NodeDef) -> Array | None:
        """Return the value of a node that is known at export; None if it cannot be computed here."""
        if node.op not in CONSTANT_OPS:
            inferred = self._inferred_value(node)
            return inferred if inferred is not None else self._evaluate(node)
        numbers, shape = tensor_numbers(node.attr["value"].tensor), self._shape(node.name)
        if isinstance(numbers, str) or shape is None or np.size(numbers) != prod(shape):
            return None
        return np.asarray(numbers).reshape(shape)

    def _shape(self, name: str) -> tuple[int, ...] | None:
        row = self.rows.get(name)
        shape = None if row is None else self.inference.output_shape(row, 0)
        sizes = tuple(size for size in shape or () if size is not None and size >= 0)
        return sizes if shape is not None and len(sizes) == len(shape) else None

    def _inferred_value(self, node: NodeDef) -> Array | None:
        """Return the integers that shape inference knows for a node; None if it knows none."""
        shape, row = self._shape(node.name), self.rows.get(node.name)
        value = None if row is None else self.inference.first_output(row).value
        if value is None or shape is None or len(value) != prod(shape) or any(abs(each) > 2**61 for each in value):
            return None
        return np.asarray(value).reshape(shape)

    def _evaluate(self, node: NodeDef) -> Array | None:
        plain, shape = node.op.rpartition(":")[2], self._shape(node.name)
        values = [self.known[text] for text in node.input if text]
        if shape is None or prod(shape) > MAX_COUNTED_ELEMENTS or any(value is None for value in values):
            return None
        with np.errstate(all="ignore"):
            try:
                if plain in MOVING:
                    value = MOVING[plain](np.asarray(values[0]), node.attr, shape)
                elif plain in ELEMENTWISE and len(values) == len(node.input):
                    value = ELEMENTWISE[plain](*values)
                else:
                    return None
            except (IndexError, KeyError, TypeError, ValueError):
                return None
        value = np.asarray(value, _numpy_type(node) or None)
        return value if value.shape == shape else None

    def _take_known(self, node: NodeDef, place: int, text: str) -> None:
        """Replace an input that is computed in each run by a constant, or by a setting of the op."""
        value, maker = self.known[text], self.nodes[text]
        self.changed = True
        numbers = value.ravel().tolist() if value is not None and value.size <= MAX_SHOWN_NUMBERS else None
        setting = None if numbers is None else input_as_setting(node.op, place, numbers)
        if setting is not None:
            node.input[place] = ""
            write_setting(node, *setting)
            return
        kind = _numpy_type(maker)
        shape = self._shape(text)
        types = maker.attr["_output_types"].list.type
        maker.attr["dtype"].type = types[0] if types else 0
        maker.ClearField("input")
        for key in [key for key in maker.attr if not key.startswith("_") and key != "dtype"]:
            del maker.attr[key]
        tensor = maker.attr["value"].tensor
        tensor.dtype = maker.attr["dtype"].type
        if shape is None:
            tensor.tensor_shape.unknown_rank = True
        for size in shape or ():
            tensor.tensor_shape.dim.add(size=size)
        if value is not None and kind and value.size <= MAX_SHOWN_NUMBERS:
            tensor.tensor_content = np.asarray(value, kind).tobytes()
        maker.op = CONSTANT

    # Data that only moves

    def _shorten_way(self, node: NodeDef) -> None:
        """Rewire an op that moves data to the earliest value of its way from which one op leads to the same result."""
        shape = self._shape(node.name)
        if node.op in SHAPED_OPS and shape is not None and "shape" in node.attr:
            write_setting(node, "shape", list(shape))
        if node.op not in MOVING_OPS:
            return
        source = node.input[0] if len(node.input) == 1 else ""
        before = self._shape(source.removesuffix(":0"))
        if not source or shape is None or before is None:
            return
        if not all(0 < prod(each) <= MAX_COUNTED_ELEMENTS for each in (before, shape)):
            return
        if not self.counted.take(prod(before) + prod(shape)):
            return
        known = self.ways.get(source)
        way = (
            known
            if known is not None and len(known) < MAX_STEPS
            else [(source, np.arange(prod(before), dtype=np.int32).reshape(before))]
        )
        try:
            moved = np.asarray(MOVING[node.op.rpartition(":")[2]](way[-1][1], node.attr, shape))
        except (IndexError, KeyError, ValueError):
            return
        if moved.shape != shape:
            return
        for place, (earlier, numbers) in enumerate(way):
            if numbers.shape == moved.shape and (numbers == moved).all():
                self.same[node.name] = earlier
                self.ways[earlier] = self.ways[node.name] = way[: place + 1]
                self.changed = True
                return
            step = _one_step(numbers, moved)
            if step is not None:
                self._take_step(node, earlier, *step)
                self.ways[node.name] = [*way[: place + 1], (node.name, moved)]
                return
        self.ways[node.name] = [*way, (node.name, moved)]

    def _take_step(self, node: NodeDef, earlier: str, op: str, settings: Mapping[str, list[int]]) -> None:
        """Turn a node into an op on an earlier value of its way, named as an exporter names it."""
        self.changed = self.changed or earlier != node.input[0] or node.op != op
        scope, slash, own = node.name.rpartition("/")
        if node.op != op and own.startswith(node.op.rpartition(":")[2]):
            unique = self.names.take_name(f"{scope}{slash}{op.rpartition(':')[2]}")
            self.same[node.name], self.rows[unique], self.nodes[unique] = unique, self.rows[node.name], node
            del self.nodes[node.name]
            node.name = unique
        node.op = op
        del node.input[:]
        node.input.append(earlier)
        for key in [key for key in node.attr if not key.startswith("_")]:
            del node.attr[key]
        for name, value in settings.items():
            write_setting(node, name, value)


def _one_step(numbers: Array, moved: Array) -> tuple[str, Mapping[str, list[int]]] | None:
    """Return the op, and its settings, that turns one array into another; None if no single op does.

    >>> _one_step(np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3).T)
    ('onnx::Transpose', {'perm': [1, 0]})
    """
    if numbers.size == moved.size and (numbers.ravel() == moved.ravel()).all():
        return RESHAPE, {"shape": list(moved.shape)}
    if sorted(numbers.shape) == sorted(moved.shape):
        return _transposition(numbers, moved)
    if numbers.ndim != moved.ndim:
        return None
    if all(size in (1, other) for size, other in zip(numbers.shape, moved.shape, strict=True)):
        is_repeated = (np.broadcast_to(numbers, moved.shape) == moved).all()
        return (EXPAND, {"shape": list(moved.shape)}) if is_repeated else None
    return _slicing(numbers, moved)


def _transposition(numbers: Array, moved: Array) -> tuple[str, Mapping[str, list[int]]] | None:
    # The difference between neighbours along an axis identifies that axis in the first array.
    left, order, steps = list(range(numbers.ndim)), [], _steps(numbers)
    for step, size in _steps(moved):
        found = next((axis for axis in left if steps[axis][1] == size and (size == 1 or steps[axis][0] == step)), None)
        if found is None:
            return None
        left.remove(found)
        order.append(found)
    return (TRANSPOSE, {"perm": order}) if (np.transpose(numbers, order) == moved).all() else None


def _slicing(numbers: Array, moved: Array) -> tuple[str, Mapping[str, list[int]]] | None:
    starts = [int(place) for place in np.unravel_index(int(np.argmax(numbers == moved.flat[0])), numbers.shape)]
    ends = [start + size for start, size in zip(starts, moved.shape, strict=True)]
    part = numbers[tuple(map(slice, starts, ends))]
    if part.shape != moved.shape or (part != moved).any():
        return None
    axes = [axis for axis, size in enumerate(numbers.shape) if size != moved.shape[axis]]
    return SLICE, {"starts": [starts[axis] for axis in axes], "ends": [ends[axis] for axis in axes], "axes": axes}


def _zeros_around(node: NodeDef) -> list[int] | None:
    """Return the paddings of a `Pad` with zeros, first those before then those after each spatial axis; None for any
    other op, or one that pads batch or channels."""
    if node.op != PAD or "pads" not in node.attr or ("mode" in node.attr and node.attr["mode"].s != b"constant"):
        return None
    filled = node.attr["value"].f if "value" in node.attr else 0
    pads = list(node.attr["pads"].list.i)
    rank = len(pads) // 2
    before, behind = pads[:rank], pads[rank:]
    if filled or any(node.input[1:]) or any(before[:2] + behind[:2]) or min(pads, default=-1) < 0:
        return None
    return before[2:] + behind[2:]


def _steps(numbers: Array) -> Sequence[tuple[int, int]]:
    """Return for each axis the difference between neighbouring elements, and the size."""
    first = int(numbers.flat[0])
    return [
        (int(np.moveaxis(numbers, axis, 0)[min(1, size - 1)].flat[0]) - first, size)
        for axis, size in enumerate(numbers.shape)
    ]


def _slices(attr: Mapping[str, Any], rank: int) -> tuple[slice, ...]:
    """Return the slice of each axis."""
    given = {key: list(attr[key].list.i) for key in ("starts", "ends", "axes", "steps") if key in attr}
    taken = [slice(None)] * rank
    for place, start in enumerate(given["starts"]):
        axis = given["axes"][place] if "axes" in given else place
        taken[axis] = slice(start, given["ends"][place], given["steps"][place] if "steps" in given else 1)
    return tuple(taken)


def _permutation(attr: Mapping[str, Any], rank: int) -> list[int]:
    return list(attr["perm"].list.i) if "perm" in attr else list(range(rank))[::-1]


def _numpy_type(node: NodeDef) -> str:
    """Return the numpy dtype of the result of a node; "" if numpy has none."""
    types = node.attr["_output_types"].list.type if "_output_types" in node.attr else ()
    name = DTYPE_TABLE[types[0]].name if types and types[0] in DTYPE_TABLE else ""
    return name if name in NUMPY_TYPES else ""


def write_setting(node: NodeDef, name: str, value: Any) -> None:
    """Set an attribute of a node: a number, a text, or a list."""
    from graphviz_tb.formats.wire_nodes import encode_attribute

    if name in node.attr:
        del node.attr[name]
    node.MergeFromString(encode_attribute(name, value))
