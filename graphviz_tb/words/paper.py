"""Words of papers for a part of a network: `3×3, 64, /2`, `768 → 3072 → 768, GELU`, `12 heads × 64`.

All come from the graph: shapes of weights, attributes, constants. What is not known is left out. One place makes these
words for pictures, pages, outlines and `tree`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.graphs.tensors import attr_value, first_elements
from graphviz_tb.graphs.traversal import longest_path_lengths, topological_order_with_cycles
from graphviz_tb.model.columns import Bools, Ints, Longs
from graphviz_tb.model.formatting import format_count
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import OP_ROW, TRAINING_ORIGIN, Hierarchy
from graphviz_tb.model.interpretation import COMPUTING_PARTS, Part, VariableUse
from graphviz_tb.model.measure import group_thousands
from graphviz_tb.model.paths import is_stack, repeated_rows, sole_stack
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.roles import (
    BATCH_PRODUCT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    EMBEDDING_LOOKUP_OPS,
    MATRIX_PRODUCT_OPS,
    Role,
    has_role,
)

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

MOST_NODES = 150  # of a group: a larger one is no layer, and says its parameters
MOST_LAYERS = 4  # that are said one by one
MOST_ASKED = 6  # members of a stack whose words are compared
ROOM = 34  # characters of a line
ACTIVATIONS = {
    "Relu": "ReLU",
    "Relu6": "ReLU6",
    "LeakyRelu": "leaky ReLU",
    "Elu": "ELU",
    "Selu": "SELU",
    "Tanh": "tanh",
    "Erf": "GELU",
    "Erfc": "GELU",
    "Softplus": "softplus",
    "Sigmoid": "sigmoid",
    "Softmax": "softmax",
    "Swish": "SiLU",
    "Gelu": "GELU",
}
POOLS = {"MaxPool": "max", "MaxPoolV2": "max", "AvgPool": "avg", "MaxPool3D": "max", "AvgPool3D": "avg"}
KERNEL = 1  # the slot of a kernel
LAYERS = ("convolution", "depthwise", "dense", "embedding", "heads")  # kinds of steps that have weights
ATTENTION = 4  # layers of attention


@dataclass(frozen=True, slots=True)
class LayerStep:
    """One op that a paper writes down: its kind, its words, the channels that it takes and gives (0: unknown)."""

    kind: str
    word: str
    takes: int = 0
    gives: int = 0


UNKNOWN = LayerStep("unknown", "")  # a layer whose weights have no known shape


class PaperWords:
    """Words of papers for the groups and layers of a hierarchy."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.graph = hierarchy.graph
        self._known = hierarchy.paper_words  # one first picture is laid out several times

    def of(self, row: int) -> str | None:
        """The words for a row; "" where a paper writes nothing, None where nothing is known."""
        if row not in self._known:
            said = self._words(row)
            opens = said is None and self.hierarchy.can_open(row)
            self._known[row] = self._size(row) if opens else said
        return self._known[row]

    def _words(self, row: int) -> str | None:
        """The words for a row, None where a paper says nothing of its parts."""
        if not len(self.graph.meaning.origin) or (row > 0 and self.hierarchy.how[row] == TRAINING_ORIGIN):
            return None
        stack = sole_stack(self.hierarchy, row)
        if stack >= 0 and is_stack(self.hierarchy, stack):
            return self._of_stack(stack)
        if self.hierarchy.kind[row] == OP_ROW and row not in self.hierarchy.calls:
            return self._of_op(row)
        nodes = self._nodes(row)
        if nodes is None:
            return None
        steps = self._steps(nodes)
        said = self._heads(nodes) if attends(steps) and not any(step.kind == "heads" for step in steps) else None
        return _of_steps(steps) if said is None else said

    def _of_stack(self, stack: int) -> str | None:
        """Words shared by all members, or, if few differ, the words of each; the first may have more."""
        members = repeated_rows(self.hierarchy, stack)
        # Equal members of equal sizes say the same: some are asked for all.
        sizes = [self._parameters(member)[0] for member in members]
        equal = len(set(sizes[1:])) < 2
        asked = [members[0], *(members[1:3] if equal and len(members) > MOST_LAYERS else members[1:])]
        said = [self._words(member) for member in asked[:MOST_ASKED]]
        unlike = self.hierarchy.template[members[0]] != self.hierarchy.template[members[-1]]
        rest = said[1:] if unlike and len(said) > 1 else said
        if None not in rest and len(set(rest)) == 1 and (equal or len(asked) <= MOST_ASKED):
            return rest[0]
        words = [each.replace(", ", " ", 1).partition(" · ")[0] for each in said if each]
        if len(words) == len(members) and not unlike and (line := _join_words_that_fit(words)):
            return line
        return None

    def _of_op(self, row: int) -> str | None:
        node = int(self.hierarchy.node[row])
        if node < 0 or not self._of_model[node]:
            return None
        step = self._step(node)
        return step.word or None if step is not None and step.kind not in ("activation", "norm") else None

    def _size(self, row: int) -> str | None:
        """Count the layers and the parameters of a group; of a stack each member where all are alike."""
        if not len(self.graph.meaning.origin) or (row > 0 and self.hierarchy.how[row] == TRAINING_ORIGIN):
            return None
        stack = sole_stack(self.hierarchy, row)
        members = repeated_rows(self.hierarchy, stack) if stack >= 0 and is_stack(self.hierarchy, stack) else []
        each = {self._parameters(member) for member in members}
        if len(each) == 1 and next(iter(each))[0]:
            return f"{self._sized(*each.pop())} each"
        return self._sized(*self._parameters(row))

    def _sized(self, size: int, layers: int) -> str | None:
        if not size:
            return None
        count = f"{format_count(size)} parameters" if layers < 2 else f"{layers} layers · {format_count(size)}"
        return count.replace("parameters", "parameter") if size == 1 else count

    # ---- what is below a row ----

    def _nodes(self, row: int) -> Ints | None:
        """The ops of the model below a row and in what it calls, None where they are too many or no model."""
        found: list[Ints] = []
        todo, seen, count = [row], {row}, 0
        while todo:
            each = todo.pop()
            start, stop = each, int(self.hierarchy.end[each])
            calls = self._calls
            for call in calls[bisect_left(calls, start) : bisect_left(calls, stop)]:
                for _, body in self.hierarchy.calls[call]:
                    if body not in seen:
                        seen.add(body)
                        todo.append(body)
            nodes = self.hierarchy.node[start:stop][self.hierarchy.is_ordinary_op[start:stop]]
            count += len(nodes)
            if count > MOST_NODES:
                return None
            found.append(nodes)
        # A body that is called from within itself is there twice.
        nodes = np.unique(np.concatenate(found)) if len(found) > 1 else found[0]
        kept = nodes[self._of_model[nodes]]
        return kept if 2 * len(kept) > len(nodes) else kept[:0]

    @cached_property
    def _of_model(self) -> Bools:
        """Nodes of computation: no gradient, update, input or bookkeeping."""
        mask = np.zeros(1 + max(Part), bool)
        mask[list(COMPUTING_PARTS)] = True
        of_model: Bools = mask[self.graph.meaning.part()]
        return of_model

    @cached_property
    def _calls(self) -> list[int]:
        return sorted(self.hierarchy.calls)

    def _steps(self, nodes: Ints) -> list[LayerStep]:
        """The steps among some ops along the flow, whatever the order of the file."""
        place = {node: number for number, node in enumerate(nodes.tolist())}
        steps = [(number, step) for node, number in place.items() if (step := self._step(node)) is not None]
        if len(steps) < 2 or any(step == UNKNOWN for _, step in steps):  # only saves time: no order is needed
            return [step for _, step in steps]
        after: list[list[int]] = [[] for _ in place]
        for node, number in place.items():
            for source in self._sources(node):
                if source in place:
                    after[place[source]].append(number)
        depth = longest_path_lengths(after, topological_order_with_cycles(after))
        return [step for _, step in sorted(steps, key=lambda pair: (depth[pair[0]], pair[1].word))]

    def _sources(self, node: int) -> list[int]:
        begins = self.hierarchy.first_input_edge
        sources: list[int] = self.graph.source[begins[node] : begins[node + 1]].tolist()
        return sources

    def _inputs(self, node: int) -> range:
        begins = self.hierarchy.first_input_edge
        return range(int(begins[node]), int(begins[node + 1]))

    @cached_property
    def _shapes(self) -> dict[int, Shape]:
        return dict(self.graph.meaning.shapes())

    def _weights(self, node: int) -> list[tuple[int, tuple[int | None, ...]]]:
        """Return the slots at which an op takes weights of known rank, with their sizes."""
        graph, origin = self.graph, self.graph.meaning.origin
        found: list[tuple[int, tuple[int | None, ...]]] = []
        for edge in self._inputs(node):
            source = int(graph.source[edge])
            if not graph.control[edge] and origin[source] >= 0:
                shape = self._shapes.get(int(origin[source]))
                if shape:
                    found.append((int(graph.slot[edge]), shape))
        return found

    def _step(self, node: int) -> LayerStep | None:
        op = self.graph.op_types[self.graph.op[node]]
        if op in ACTIVATIONS:
            return LayerStep("activation", ACTIVATIONS[op])
        if op in POOLS:
            return LayerStep("pool", self._pool(op, node))
        if (
            op in BATCH_PRODUCT_OPS
            or op in MATRIX_PRODUCT_OPS
            or op in CONVOLUTION_OPS
            or op in DEPTHWISE_OPS
            or op in EMBEDDING_LOOKUP_OPS
        ):
            kernels = [(slot, shape) for slot, shape in self._weights(node) if len(shape) > 1]
            found = self._weighted(op, node, kernels[0][1]) if kernels else self._unweighted(op, node)
            return UNKNOWN if found is None and (kernels or op not in EMBEDDING_LOOKUP_OPS) else found
        if has_role(op, Role.TRANSPOSED_CONVOLUTION):
            filters = [shape for _, shape in self._weights(node) if len(shape) > 3]
            return self._transposed(node, filters[0]) if filters else UNKNOWN
        if has_role(op, Role.NORMALIZATION) or op in (
            "Rsqrt",
            "FusedBatchNorm",
            "FusedBatchNormV2",
            "FusedBatchNormV3",
        ):
            return LayerStep("norm", "BN" if op.startswith("FusedBatchNorm") else "norm")
        if op.startswith("Resize"):
            return LayerStep("pool", f"↑ {op.removeprefix('Resize').lower().replace('neighbor', '')}")
        return None

    def _heads(self, nodes: Ints) -> str | None:
        """The heads of attention, as the last axis is split into them."""
        op_types, op = self.graph.op_types, self.graph.op
        found = {
            (shape[2], shape[3])
            for node in nodes.tolist()
            if op_types[op[node]] == "Reshape" and len(shape := self._constant(node)) == 4 and min(shape[2:]) > 0
        }
        # One shape for queries, keys and values.
        [*shapes] = found
        return f"{shapes[0][0]} heads × {shapes[0][1]}" if len(shapes) == 1 else None

    def _constant(self, node: int) -> list[int]:
        """The constant shape input of an op, or as four numbers put together; -1 for what is not known."""
        for edge in self._inputs(node):
            if self.graph.slot[edge] == KERNEL and not self.graph.control[edge]:
                source = int(self.graph.source[edge])
                definition = self.graph.node_def(source)
                if definition is None:
                    return []
                if definition.op == "Pack":
                    parts = [int(self.graph.source[each]) for each in self._inputs(source)]
                    return [self._number(part) for part in parts]
                return (
                    [int(value) for value in first_elements(attr_value(definition, "value").tensor, 8)]
                    if definition.op == "Const"
                    else []
                )
        return []

    def _number(self, node: int) -> int:
        definition = self.graph.node_def(node)
        values = (
            first_elements(attr_value(definition, "value").tensor, 1)
            if definition is not None and definition.op == "Const"
            else []
        )
        return int(values[0]) if values else -1

    def _unweighted(self, op: str, node: int) -> LayerStep | None:
        """A product of two tensors; None where one of them is a weight of unknown shape."""
        if any(self.graph.meaning.origin[source] >= 0 for source in self._sources(node)):
            return None
        return LayerStep("product", "") if op in BATCH_PRODUCT_OPS or op in MATRIX_PRODUCT_OPS else None

    def _weighted(self, op: str, node: int, kernel: tuple[int | None, ...]) -> LayerStep | None:
        if op in EMBEDDING_LOOKUP_OPS:
            return (
                LayerStep("embedding", " × ".join(_size_word(size) for size in kernel[:2]))
                if len(kernel) == 2
                else None
            )
        definition = self.graph.node_def(node)
        if op in DEPTHWISE_OPS or op in CONVOLUTION_OPS:
            return self._convolution(op, definition, kernel)
        takes, gives = kernel[-2] or 0, kernel[-1] or 0
        if op == "Einsum" and len(kernel) == 3:
            takes, gives, heads = _einsum_sizes(definition, kernel)
            word = f"{heads[0]} heads × {heads[1]}" if heads else f"→ {_size_word(gives)}"
            return LayerStep("heads" if heads else "dense", word, takes, gives)
        if definition is not None and (attr_value(definition, "transpose_b").b or attr_value(definition, "adj_y").b):
            takes, gives = gives, takes
        if self.graph.is_pytorch:
            takes, gives = gives, takes
        return LayerStep("dense", f"→ {_size_word(gives)}", takes, gives) if gives else None

    def _convolution(self, op: str, definition: NodeDef | None, kernel: tuple[int | None, ...]) -> LayerStep | None:
        if self.graph.is_pytorch or len(kernel) < 3:
            return None
        *sizes, takes, gives = kernel
        # A kernel over one axis may be written as 1×k in two.
        parts = ["×".join(_size_word(size) for size in sizes)]
        if op in DEPTHWISE_OPS:
            parts[0] = f"dw {parts[0]}"
            gives = takes
        elif gives:
            parts.append(_size_word(gives))
        if definition is not None:
            layout = attr_value(definition, "data_format").s.decode("ascii", "replace") or "NHWC"
            parts += spatial(attr_value(definition, "strides").list.i, layout, "/")
            parts += spatial(attr_value(definition, "dilations").list.i, layout, "d")
        return LayerStep(
            "depthwise" if op in DEPTHWISE_OPS else "convolution", ", ".join(parts), takes or 0, gives or 0
        )

    def _transposed(self, node: int, kernel: tuple[int | None, ...]) -> LayerStep:
        definition = self.graph.node_def(node)
        *sizes, gives, takes = kernel
        parts = ["×".join(map(_size_word, sizes)), _size_word(gives)]
        if definition is not None:
            layout = attr_value(definition, "data_format").s.decode("ascii", "replace") or "NHWC"
            parts += spatial(attr_value(definition, "strides").list.i, layout, "↑")
        return LayerStep("convolution", ", ".join(parts), takes or 0, gives or 0)

    def _pool(self, op: str, node: int) -> str:
        definition = self.graph.node_def(node)
        if definition is None:
            return POOLS[op]
        layout = attr_value(definition, "data_format").s.decode("ascii", "replace") or "NHWC"
        window = [
            size for size, axis in zip(attr_value(definition, "ksize").list.i, layout, strict=False) if axis not in "NC"
        ]
        steps = spatial(attr_value(definition, "strides").list.i, layout, "/")
        return ", ".join([f"{POOLS[op]} {'×'.join(map(str, window))}".strip(), *steps])

    # ---- parameters ----

    @cached_property
    def _uses(self) -> tuple[Longs, Longs]:
        """Rows with weights, in order, and the node that makes each."""
        graph, origin, meaning = self.graph, self.graph.meaning.origin, self.graph.meaning
        edges = np.flatnonzero((origin[graph.source] >= 0) & (origin[graph.target] < 0) & ~graph.control)
        edges = edges[(self._of_model & ~meaning.stores)[graph.target[edges]]]
        # What a metric or an optimizer keeps is no weight of a layer.
        state = [variable.node for variable in meaning.variables() if variable.use == VariableUse.STATE]
        edges = edges[~np.isin(origin[graph.source[edges]], state)]
        rows = self.hierarchy.row_of_node[graph.target[edges]].astype(np.int64)
        order = np.argsort(rows, kind="stable")
        return rows[order], origin[graph.source[edges]].astype(np.int64)[order]

    @cached_property
    def _doubtful_rows(self) -> Longs:
        """The rows of constants that may be weights, in order."""
        return np.sort(self.hierarchy.row_of_node[list(self.graph.meaning.doubtful)].astype(np.int64))

    def _parameters(self, row: int) -> tuple[int, int]:
        """Count the elements of the weights below a row, each weight once, and how many of them are kernels."""
        rows, made = self._uses
        start, stop = np.searchsorted(rows, [row, int(self.hierarchy.end[row])])
        if np.diff(np.searchsorted(self._doubtful_rows, [row, int(self.hierarchy.end[row])])).any():
            return 0, 0  # nor do bounds
        sizes = [self._shapes.get(node) for node in np.unique(made[start:stop]).tolist()]
        if any(shape is None or None in shape for shape in sizes):
            return 0, 0  # partial numbers say nothing
        known = [shape for shape in sizes if shape is not None]
        trained = [shape for shape in known if shape]
        return sum(prod(size or 0 for size in shape) for shape in trained), sum(len(shape) > 1 for shape in trained)


def _of_steps(steps: Sequence[LayerStep]) -> str | None:
    """Words for a group of steps; "" for a norm, None where a paper says nothing of its parts.

    >>> conv, norm, relu = LayerStep("convolution", "3×3, 64"), LayerStep("norm", "BN"), LayerStep("activation", "ReLU")
    >>> _of_steps([conv, norm, relu]), _of_steps([norm]), _of_steps([relu])
    ('3×3, 64 · BN, ReLU', '', 'ReLU')
    >>> up, down = LayerStep("dense", "→ 3072", 768, 3072), LayerStep("dense", "→ 768", 3072, 768)
    >>> _of_steps([up, LayerStep("activation", "GELU"), down]), _of_steps([up])
    ('768 → 3072 → 768, GELU', '768 → 3072')
    """
    layers = [step for step in steps if step.kind in LAYERS]
    others = list(dict.fromkeys(step.word for step in steps if step.kind in ("norm", "activation")))
    if attends(steps):
        return next((step.word for step in layers if step.kind == "heads"), None)
    if UNKNOWN in steps:
        return None
    if not layers:
        return _of_plain(steps, others)
    if len(layers) == 1:
        return _of_one(layers[0], steps)
    dense = all(step.kind == "dense" for step in layers)
    if dense and len(layers) == 2 and layers[0].gives == layers[1].takes:
        one, two = layers
        return ", ".join(
            [f"{_size_word(one.takes)} → {_size_word(one.gives)} → {_size_word(two.gives)}", *_acts(steps)]
        )
    if dense and len(layers) == 3 and layers[0].gives == layers[1].gives == layers[2].takes and _acts(steps):
        return f"gated {_size_word(layers[0].gives)}, {gate(_acts(steps))}"
    if len(layers) <= MOST_LAYERS and not dense:
        return _join_words_that_fit(list(runs(step.word.replace(", ", " ", 1) for step in layers)))
    return None


def _of_plain(steps: Sequence[LayerStep], others: Sequence[str]) -> str | None:
    """The words of a group without weights in products."""
    pools = [step.word for step in steps if step.kind == "pool"]
    if pools:
        return pools[0] if len(pools) == 1 else None
    if others in (["norm"], ["BN"]):
        return ""
    return others[0] if len(others) == 1 and not any(step.kind == "product" for step in steps) else None


def _of_one(layer: LayerStep, steps: Sequence[LayerStep]) -> str:
    """The words of a group with one layer: its own, then its norm and activation."""
    behind = steps[list(steps).index(layer) + 1 :]
    after = list(dict.fromkeys(step.word for step in behind if step.kind in ("norm", "activation")))
    if layer.kind == "dense":
        word = f"{_size_word(layer.takes)} {layer.word}" if layer.takes else layer.word
        return ", ".join([word, *(each for each in after if each != "norm")])
    return f"{layer.word} · {', '.join(after)}" if after and layer.kind != "embedding" else layer.word


def attends(steps: Sequence[LayerStep]) -> bool:
    """Whether a group is attention: two products without weights and a softmax, between no more layers than make
    queries, keys, values and what is said of them."""
    if sum(step.kind in LAYERS or step == UNKNOWN for step in steps) > ATTENTION:
        return False
    return sum(step.kind == "product" for step in steps) > 1 and any(step.word == "softmax" for step in steps)


def _acts(steps: Sequence[LayerStep]) -> list[str]:
    """The activations of a group."""
    return list(dict.fromkeys(step.word for step in steps if step.kind == "activation"))[:1]


def gate(words: Sequence[str]) -> str:
    """The gate of a product: of a sigmoid with what it is given it is SiLU."""
    return "SiLU" if words[0] == "sigmoid" else words[0]


def runs(words: Iterator[str]) -> Iterator[str]:
    """Equal words behind each other, said once."""
    for word, equal in groupby(words):
        count = len(list(equal))
        yield f"{count} × ({word})" if count > 2 else ", ".join([word] * count)


def _join_words_that_fit(words: list[str]) -> str | None:
    """Words that have room on a line; None where they have none."""
    line = ", ".join(words)
    return line if len(line) <= ROOM else None


def spatial(steps: Sequence[int], layout: str, sign: str) -> list[str]:
    """The steps along the axes of an image, where they are more than one.

    >>> spatial([1, 2, 2, 1], "NHWC", "/"), spatial([1, 1, 2, 1], "NHWC", "/"), spatial([1, 1, 1, 1], "NHWC", "/")
    (['/2'], ['/1×2'], [])
    """
    along = [step for step, axis in zip(steps, layout, strict=False) if axis not in "NC"]
    if not along or max(along) < 2:
        return []
    return [f"{sign}{along[0]}" if len(set(along)) == 1 else f"{sign}{'×'.join(map(str, along))}"]


def _einsum_sizes(definition: NodeDef | None, kernel: tuple[int | None, ...]) -> tuple[int, int, list[int]]:
    """Input and output channels of a product with a kernel of three axes, and the heads that it makes."""
    equation = attr_value(definition, "equation").s.decode("ascii", "replace") if definition is not None else ""
    inputs, _, result = equation.partition("->")
    letters = inputs.rpartition(",")[2].strip()
    if len(letters) != len(kernel) or not all(kernel):
        return 0, 0, []
    sizes = [size or 0 for size in kernel]
    kept = [size for letter, size in zip(letters, sizes, strict=True) if letter in result]
    gone = [size for letter, size in zip(letters, sizes, strict=True) if letter not in result]
    return prod(gone), prod(kept), kept if len(kept) == 2 else []


def _size_word(size: int | None) -> str:
    """A size as a paper writes it: from five digits on with thin spaces.

    >>> _size_word(3072), _size_word(None)
    ('3072', '?')
    """
    return "?" if size is None else str(size) if size < 10_000 else group_thousands(size)
