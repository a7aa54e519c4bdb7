"""Group the steps of some ops into a block: steps in flow order, each with links to the nearest steps before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.graphs.tensors import declared_shapes
from graphviz_tb.graphs.traversal import longest_path_lengths, topological_order_with_cycles
from graphviz_tb.model.columns import Ints, Longs, places_of_runs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.ops.roles import ADD_OPS, MULTIPLY_OPS, TRACE_LIST_OPS
from graphviz_tb.words.shared_words import BOTH_WAYS
from graphviz_tb.words.step_words import WEIGHTED_KINDS, LayerStep, size_word

if TYPE_CHECKING:
    from graphviz_tb.words.op_reader import OpReader

JOIN_OPS = frozenset({"Concat", "ConcatV2", "Concatenate", "aten::cat", "onnx::Concat"})
MEAN_OPS = frozenset({"Mean", "GlobalAveragePooling2D", "aten::mean", "aten::adaptive_avg_pool2d", "onnx::ReduceMean"})
MEAN_OPS |= {"onnx::GlobalAveragePool"}
REVERSE_OPS = frozenset({"Reverse", "ReverseV2", "ReverseSequence"})
LANDMARKS = frozenset({*WEIGHTED_KINDS, "pool", "product", "scores", "unknown"})


@dataclass(frozen=True, slots=True)
class Block:
    """The steps of a group in flow order, and how they feed one another.

    - `before`: by step, the nearest steps before it in the group, without activations and norms.
    - `joins`: for each input of the last op that concatenates tensors, the nearest steps before it.
    - `multiplies`: for each product of two tensors, the nearest steps before both inputs.
    - `averages`: whether a mean is computed.
    - `split`: numbers and sizes of the heads into which reshapes split a tensor for attention.
    - `window`: side of the windows into which reshapes cut an image for attention; 0 if there are none.
    """

    steps: tuple[LayerStep, ...]
    before: Mapping[int, frozenset[int]] = field(default_factory=dict)
    joins: tuple[frozenset[int], ...] = ()
    split: tuple[tuple[int, int], ...] = ()
    multiplies: tuple[frozenset[frozenset[int]], ...] = ()
    averages: bool = False
    window: int = 0

    def output_channels(self) -> int:
        """Return the output channels of the last layer, or of all layers that the last op concatenates; 0 if
        unknown."""
        last = [number for number in self.before if not any(number in before for before in self.before.values())]
        joined = [number for way in self.joins for number in way]
        if sorted(joined or last[:1]) != last or not all(self.joins):  # an input of the group is joined, too
            return 0
        widths = [self.steps[number].out_width for number in last]
        return sum(widths) if all(widths) else 0

    def is_chain(self, numbers: Sequence[int]) -> bool:
        """Return whether some steps form a chain, each fed only by the step before it."""
        inside = set(numbers)
        has_start = not inside & self.before[numbers[0]] if numbers else True
        return has_start and all(self.before[after] & inside == {one} for one, after in pairwise(numbers))


def links_among(reader: OpReader, nodes: Ints) -> tuple[Longs, Ints]:
    """Return the links among some nodes: columns of users and of sources, as places in the list."""
    place_of = reader.places
    place_of[nodes] = np.arange(len(nodes))
    if reader.sources_through_calls:
        sources_of_nodes = [reader.sources_of(node) for node in nodes.tolist()]
        size, source = (
            np.array(list(map(len, sources_of_nodes)), np.int64),
            np.array([node for each in sources_of_nodes for node in each], np.int32),
        )
        data = np.ones(len(source), bool)
    else:
        start = reader.hierarchy.first_input_edge[nodes]
        size = reader.hierarchy.first_input_edge[nodes + 1] - start
        edges = places_of_runs(start, size)
        source, data = reader.graph.source[edges], ~reader.graph.control[edges]
    before = place_of[source]
    place_of[nodes] = -1
    inside = np.flatnonzero(data & (before >= 0))
    users: Longs = np.repeat(np.arange(len(nodes)), size)
    return users[inside], before[inside]


def scan_end(reader: OpReader, nodes: Ints) -> tuple[int, int]:
    """Return the op of a scan that joins the results of its steps, and the number of steps."""
    users, _ = links_among(reader, nodes)
    input_counts = np.bincount(users, minlength=1)
    return int(nodes[np.argmax(input_counts)]), int(np.max(input_counts))


def scan_words(reader: OpReader, nodes: Ints) -> str:
    """Return the number of steps of a scan and the sizes of its state without the batch, if recorded: the most frequent
    sizes of the sums in it."""
    words = f"{scan_end(reader, nodes)[1]} steps"
    sums = [reader.graph.node_def(node) for node in nodes.tolist() if reader.op_of(node) in ADD_OPS]
    recorded = [tuple(shapes[0] or ()) for each in sums if each is not None and (shapes := declared_shapes(each))]
    (state, count), *_ = Counter(recorded).most_common(1) or [((), 0)]
    known = count > 1 and len(state) > 1 and all(state[1:])
    return f"{words}, state {' × '.join(map(size_word, state[1:]))}" if known else words


def both_ways_words(reader: OpReader, row: int, cell: str) -> str:
    """Return the words of a group of two equal recurrent cells side by side, one of which reads the sequence backwards;
    "" for any other group."""
    kind, _, units = cell.partition(" ")
    nodes = reader.hierarchy.node[row : reader.hierarchy.end[row]]
    ops = {reader.op_of(node) for node in nodes[nodes >= 0].tolist()} if kind in ("GRU", "LSTM") else ()
    return "" if REVERSE_OPS.isdisjoint(ops) else f"{BOTH_WAYS}{kind} 2 × {units}"


def link_steps(
    ops: Sequence[str],
    sources: Sequence[Sequence[int]],
    factors: Sequence[Sequence[int]],
    steps_of_ops: Sequence[Sequence[LayerStep]],
) -> Block:
    """Number the steps of some ops along the flow, and find the nearest steps before each.

    `sources` has, by op, the numbers of the ops before it; `factors`, by product, the ops of its two inputs (-1 for an
    input from outside).
    """
    after: list[list[int]] = [[] for _ in ops]
    for number, inputs in enumerate(sources):
        for source in inputs:
            after[source].append(number)
    order = topological_order_with_cycles(after)
    depth = longest_path_lengths(after, order)
    factors_of = dict(zip((number for number, op in enumerate(ops) if op in MULTIPLY_OPS), factors, strict=True))
    steps: list[LayerStep] = []
    before: dict[int, frozenset[int]] = {}
    nearest: dict[int, frozenset[int]] = {}  # the nearest steps before the result of each op
    joins: tuple[frozenset[int], ...] = ()
    multiplies: list[frozenset[frozenset[int]]] = []
    step_of_weight: dict[int, int] = {}
    averages = False
    # Sort steps of equal depth by their words, so that the order of the file does not matter.
    for number in sorted(order, key=depth.__getitem__):
        branches = [nearest.get(source, frozenset()) for source in sources[number]]
        previous = frozenset().union(*branches)
        op = ops[number]
        averages |= op in MEAN_OPS
        for step in steps_of_ops[number]:
            if step.kind not in LANDMARKS:
                steps.append(step)
                continue
            joins = ()
            if step.weight in step_of_weight:  # a layer that is applied again counts once
                previous = frozenset([step_of_weight[step.weight]])
                continue
            before[len(steps)] = previous
            previous = frozenset([len(steps)])
            if step.weight >= 0:
                step_of_weight[step.weight] = len(steps)
            steps.append(step)
        nearest[number] = previous
        if (op in JOIN_OPS and len(branches) > 1) or (op in TRACE_LIST_OPS and sum(map(bool, branches)) > 1):
            joins = tuple(branches)
        elif len(factors_of.get(number, ())) == 2:
            multiplies.append(frozenset(nearest.get(source, frozenset()) for source in factors_of[number]))
    return Block(tuple(steps), before, joins, (), tuple(multiplies), averages)
