"""Build the block of a row: the steps of the model's ops below it, and the links between them.

    row ──► ops below it, through calls ──► steps of each op ──► block: steps in flow order, linked

A scan is one step; a Keras layer has the steps of its class. Blocks are cached, and equal blocks are one object.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Set
from dataclasses import replace
from functools import cached_property
from operator import attrgetter

import numpy as np

from graphviz_tb.model.columns import Bools, Ints, distinct_values
from graphviz_tb.model.hierarchy import SCAN_ORIGIN, Hierarchy
from graphviz_tb.ops.roles import MULTIPLY_OPS
from graphviz_tb.words.block import Block, link_steps, links_among, scan_end
from graphviz_tb.words.heads import attention_count, split_heads, window_side
from graphviz_tb.words.layer_steps import TensorFlowSteps
from graphviz_tb.words.parameters import ParameterCounts
from graphviz_tb.words.step_words import RELU_STEP, SCAN_STEP, SQUARED_RELU_STEP, LayerStep

MAX_BLOCK_NODES = 150  # a group of more nodes is no layer; only its parameters are counted
PAD_CLASSES = ("ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D")

_step_words = attrgetter("kind", "word", "sizes", "in_width", "out_width", "heads")


class RowBlocks:
    """Builds and caches the blocks of rows."""

    def __init__(self, hierarchy: Hierarchy, steps: TensorFlowSteps, parameters: ParameterCounts) -> None:
        self.hierarchy, self.graph = hierarchy, hierarchy.graph
        self.steps, self.parameters = steps, parameters
        self._blocks: dict[bytes, Block] = {}  # by nodes
        self._linked: dict[Hashable, Block] = {}  # by ops, links and steps

    def nodes_below(self, row: int) -> Ints | None:
        """Return the ops of the model below a row, through calls; None if there are too many."""
        found: list[Ints] = []
        unvisited, seen, count = [row], {row}, 0
        while unvisited:
            top = unvisited.pop()
            start, stop = top, int(self.hierarchy.end[top])
            calls = self._calls
            for call in calls[bisect_left(calls, start) : bisect_left(calls, stop)]:
                for _, body in self.hierarchy.calls[call]:
                    if body not in seen:
                        seen.add(body)
                        unvisited.append(body)
            nodes = self.hierarchy.node[start:stop][self.hierarchy.is_ordinary_op[start:stop]]
            nodes = nodes[self.parameters.of_model[nodes]]
            count += len(nodes) if not self._scans else sum(node not in self._scans for node in nodes.tolist())
            if count > MAX_BLOCK_NODES:
                return None
            found.append(nodes)
        # A recursive function may occur twice.
        return distinct_values(np.concatenate(found)) if len(found) > 1 else found[0]

    @cached_property
    def _multiplies(self) -> Bools:
        return self.graph.nodes_of_types(MULTIPLY_OPS.__contains__)

    @cached_property
    def _calls(self) -> list[int]:
        return sorted(self.hierarchy.calls)

    def call_count(self, row: int) -> int:
        """Return the number of calls below a row, without those inside functions."""
        below = self.parameters.places_below(row, self._calls)
        return int(below.stop - below.start)

    @cached_property
    def _scans(self) -> dict[int, int]:
        """Return the last op of its scan for each op of a scan."""
        found: dict[int, int] = {}
        for row in np.flatnonzero(self.hierarchy.how == SCAN_ORIGIN).tolist():
            rows = slice(row, self.hierarchy.end[row])
            nodes = self.hierarchy.node[rows][self.hierarchy.is_ordinary_op[rows]]
            found.update(dict.fromkeys(nodes.tolist(), scan_end(self.steps, nodes)[0]))
        return found

    def steps_among(self, node: int, among: Set[int]) -> tuple[LayerStep, ...]:
        """Return the steps of an op; a scan whose ops are all in `among` is one step, at its end."""
        end = self._scans.get(node, -1)
        if end in among:
            return (SCAN_STEP,) if node == end else ()
        row = int(self.hierarchy.row_of_node[node]) if self.graph.layers else -1
        layer = self.layer_steps(row) if row >= 0 else None
        return self.steps.steps_of(node) if layer is None else layer

    def block_of(self, nodes: Ints) -> Block:
        """Return the steps of some ops in flow order, with their links, independent of the order of the file."""
        key = nodes.tobytes()
        if key not in self._blocks:
            self._blocks[key] = self._make_block(nodes)
        return self._blocks[key]

    def _make_block(self, nodes: Ints) -> Block:
        listed = nodes.tolist()
        among = set(listed)
        if self.graph.layers or self._scans:
            steps_of_nodes = [self.steps_among(node, among) for node in listed]
        else:
            steps_of_nodes = self.steps.steps_of_all(listed)
        for number, node_steps in enumerate(steps_of_nodes):
            if node_steps == (RELU_STEP,) and self.steps.is_squared_among(listed[number], among):
                steps_of_nodes[number] = (SQUARED_RELU_STEP,)
        steps = tuple([step for steps in steps_of_nodes for step in steps])
        if len(steps) < 2:  # only saves time
            alone = Block(steps, dict.fromkeys(range(len(steps)), frozenset()))
            return self._linked.setdefault(tuple(map(_step_words, steps)), alone)
        users, sources = links_among(self.steps, nodes)
        multiplied = nodes[self._multiplies[nodes]].tolist()
        number_of = {node: number for number, node in enumerate(listed)} if multiplied else {}
        factors = tuple(
            [tuple([number_of.get(source, -1) for source, _ in self.steps.tensors_into(node)]) for node in multiplied]
        )
        # Members of a stack mostly differ in their weights alone, which count only within a block.
        weights = {-1: -1}
        words = [
            (number, *_step_words(step), weights.setdefault(step.weight, len(weights)))
            for number, steps in enumerate(steps_of_nodes)
            for step in steps
        ]
        links = users.tobytes(), sources.tobytes()
        key = self.graph.op[nodes].tobytes(), *links, factors, tuple(words)
        if key not in self._linked:
            inputs: list[list[int]] = [[] for _ in listed]
            for user, source in zip(users.tolist(), sources.tolist(), strict=True):
                inputs[user].append(source)
            self._linked[key] = link_steps(list(map(self.steps.op_of, listed)), inputs, factors, steps_of_nodes)
        block = self._linked[key]
        if not attention_count(block.steps):  # norms reshape, too
            return block
        return replace(block, split=split_heads(self.steps, nodes), window=window_side(self.steps, nodes))

    def layer_steps(self, row: int) -> tuple[LayerStep, ...] | None:
        """Return the steps of a row that is a Keras layer; None for any other row, and for a class without words."""
        layer = self.hierarchy.keras_layer(row)
        if layer is None or layer.parts:
            return None
        from graphviz_tb.words.keras_steps import keras_steps

        return keras_steps(layer, self._has_padded_input(row)) or None

    def _has_padded_input(self, row: int) -> bool:
        node = int(self.hierarchy.node[row])
        if node < 0:
            return False
        return any(self.steps.op_of(source) in PAD_CLASSES for _, (source, _) in self.steps.inputs_of(node))
