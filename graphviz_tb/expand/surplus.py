"""Find the surplus of a stack: the ops that one member has in addition to those of the usual member, such as the
projection of the first block of a stage, or the position bias that the first layer computes for all.

Compare the two members from their results backwards. Ops of one type at the same input of two partners are partners,
too; if several follow each other, the op with equal weights is chosen. Ops of the larger member that remain without a
partner are the surplus. The partners are checked input by input; names do not matter.

    usual   x ─▶ conv ─▶ add      larger   x ─▶ conv ─▶ add         surplus: proj
            x ──────────▲                  x ─▶ proj ───▲
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from graphviz_tb.expand.bridges import Crossings
from graphviz_tb.graphs.traversal import longest_path_lengths, reachable_from, topological_order_with_cycles
from graphviz_tb.limits import MAX_SURPLUS_OPS
from graphviz_tb.model.columns import Bools, Ints
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import SEGMENT_ORIGIN, Hierarchy
from graphviz_tb.model.metagraph import Surplus
from graphviz_tb.model.paths import usual_member
from graphviz_tb.model.tensors import INDEX_DTYPES, Shape
from graphviz_tb.ops.roles import SIZE_OPS

Partners = dict[int, int]
# An edge of the file, the op of the usual member at its end, whether the edge leads to that op, and the slot there.
SurplusLine = tuple[int, int, bool, int]


@dataclass(frozen=True, slots=True, eq=False)
class StackSurplus:
    """Surplus ops of one member of a stack, which have no partner in the usual member, and the box drawn for them.

    `partner` maps the other ops of that member to rows of the usual one; `lines` join the surplus with such rows.
    `sizes` are ops of the surplus that only read the size of a tensor; if that tensor feeds the member anyway, their
    input is not drawn.
    """

    usual: int
    box: Surplus
    partner: dict[int, int]
    lines: tuple[SurplusLine, ...]
    sizes: frozenset[int]

    def joins_box(self, across: Crossings) -> Bools:
        """Mark the crossings of a member that join it to the box, not to other ops of the larger member."""
        own: Bools = (across.other == self.box.member) & np.isin(across.edge, [edge for edge, _, _, _ in self.lines])
        return own

    def rows_of(self, nodes: Sequence[int], others: Sequence[int]) -> list[int]:
        """Return the rows at which the lines from ops of the larger member (`nodes`) to `others` are drawn: the row of
        the partner, or the box.

        -1 for a group, and for an op of `sizes` if `other` feeds a partner anyway.
        """
        ends = list(zip(nodes, others, strict=True))
        fed = {other for node, other in ends if node in self.partner}
        return [
            self.partner.get(node, -1 if node < 0 or (node in self.sizes and other in fed) else self.box.member)
            for node, other in ends
        ]


def find_surplus(hierarchy: Hierarchy, facts: Facts, stack: int) -> StackSurplus | None:
    """Return the surplus of the first member of a stack, otherwise of the last; None if neither has a surplus with
    weights."""
    members, usual = hierarchy.children(stack).tolist(), usual_member(hierarchy, stack)
    if len(members) < 3 or (hierarchy.how[members] == SEGMENT_ORIGIN).any():
        return None
    for member in (members[0], members[-1]):
        larger = hierarchy.op_count(usual) < hierarchy.op_count(member) <= MAX_SURPLUS_OPS
        if larger and (found := _compare_members(hierarchy, facts, member, usual)) is not None:
            return found
    return None


def _compare_members(hierarchy: Hierarchy, facts: Facts, member: int, usual: int) -> StackSurplus | None:
    graph, row_of = hierarchy.graph, hierarchy.row_of_node
    large, small = _MemberOps(hierarchy, facts, member), _MemberOps(hierarchy, facts, usual)
    pairs = (_MemberPair(large, small, graph.slot, by_weights) for by_weights in (True, False))
    pair = next((pair for pair in pairs if pair.match() and pair.is_valid()), None)
    if pair is None:
        return None
    surplus = [node for node in pair.large.ops if node not in pair.small_of]
    if not any(large.weights[node] for node in surplus):
        return None
    lines, shared = pair.surplus_lines()
    sizes = frozenset(node for node in surplus if graph.op_types[graph.op[node]] in SIZE_OPS)
    kept_lines = [
        (edge, int(row_of[node]), inward, slot)
        for edge, node, inward, slot in lines
        if inward or int(graph.target[edge]) not in sizes
    ]
    if _closes_cycle(hierarchy, usual, kept_lines):
        # Without the outputs that carry sizes and indices there may be no cycle.
        tensors = ((line, facts.tensor(int(graph.source[line[0]]), int(graph.key[line[0]]))) for line in kept_lines)
        kept_lines = [line for line, tensor in tensors if line[2] or tensor.dtype not in INDEX_DTYPES]
    if not kept_lines or _closes_cycle(hierarchy, usual, kept_lines):
        return None
    partner = {node: int(row_of[other]) for node, other in pair.small_of.items()}
    return StackSurplus(usual, Surplus(member, tuple(surplus), shared), partner, tuple(kept_lines), sizes)


def _closes_cycle(hierarchy: Hierarchy, usual: int, lines: Iterable[SurplusLine]) -> bool:
    """Return whether a box with these lines among the children of the usual member would close a cycle."""
    children = hierarchy.children(usual)
    ends = {inward: set[int]() for inward in (True, False)}
    for _, row, inward, _ in lines:
        ends[inward].add(int(children[np.searchsorted(children, row, side="right") - 1]))
    after: dict[int, list[int]] = {}
    owned = hierarchy.owned_edges(usual)
    for source, target in zip(hierarchy.edge_from[owned].tolist(), hierarchy.edge_to[owned].tolist(), strict=True):
        after.setdefault(source, []).append(target)
    return not reachable_from(ends[True], after.get).isdisjoint(ends[False])


class _MemberOps:
    """The ops of one member in flow order.

    `inputs` are their data inputs in the order of slots, as (edge, source, output). `weights` are the shapes of the
    weights among these; for a layer of a Keras file the number of its parameters.
    """

    def __init__(self, hierarchy: Hierarchy, facts: Facts, member: int) -> None:
        graph, rows = hierarchy.graph, slice(member, int(hierarchy.end[member]))
        nodes: Ints = hierarchy.node[rows][hierarchy.is_ordinary_op[rows]]
        listed = nodes.tolist()
        self.type_of: dict[int, int] = dict(zip(listed, graph.op[nodes].tolist(), strict=True))
        self.inputs: dict[int, list[tuple[int, int, int]]] = {}
        start = hierarchy.first_input_edge
        for node in listed:
            edges = np.arange(start[node], start[node + 1])
            edges = edges[~graph.control[edges]]
            edges = edges[np.argsort(graph.slot[edges], kind="stable")]
            ends = (edges, graph.source[edges], graph.key[edges])
            self.inputs[node] = list(zip(*(column.tolist() for column in ends), strict=True))
        origin, layers = graph.meaning.origin, graph.layers
        self.weights: dict[int, list[Shape]] = {}
        for node, inputs in self.inputs.items():
            layer = layers.get(graph.name[node])  # the weights of a Keras file are no inputs
            own = [(layer.parameters,)] if layer is not None and layer.parameters != 0 else []
            used = [(source, key) for _, source, key in inputs if len(origin) and origin[source] >= 0]
            self.weights[node] = own + [facts.tensor(source, key).shape for source, key in used]
        place = {node: number for number, node in enumerate(listed)}
        after: list[list[int]] = [[] for _ in listed]
        for number, node in enumerate(listed):
            for source in self.sources(node):
                after[place[source]].append(number)
        depth = longest_path_lengths(after, topological_order_with_cycles(after))
        self.ops: list[int] = [listed[number] for number in sorted(range(len(listed)), key=depth.__getitem__)]
        self.results: list[int] = [node for node in reversed(self.ops) if not after[place[node]]]  # the deepest first

    def sources(self, node: int) -> Iterator[int]:
        """Yield the ops of the member that feed an op."""
        return (source for _, source, _ in self.inputs[node] if source in self.type_of)


class _MemberPair:
    """Finds pairs of corresponding ops of two members: `large_of` maps ops of the small one, `small_of` those of the
    large one. With `by_weights`, prefer ops with equal weights."""

    def __init__(self, large: _MemberOps, small: _MemberOps, slot: Ints, by_weights: bool) -> None:
        self.large, self.small, self.slot, self.by_weights = large, small, slot, by_weights
        self.large_of: Partners = {}
        self.small_of: Partners = {}
        self._waiting: deque[tuple[int, int]] = deque()

    def match(self) -> bool:
        """Find the partners, from the results backwards; return whether each op of the small member has a partner."""
        for result in self.small.results:
            if result in self.large_of:
                continue
            found = self._fed_alike(result)
            if found is None and (found := self._nearest(self.large.results, result)) is None:
                return False
            self._join(found, result)
            while self._waiting:
                if not self._match_inputs(*self._waiting.popleft()):
                    return False
        return len(self.large_of) == len(self.small.ops) < len(self.large.ops)

    def _join(self, large: int, small: int) -> None:
        self.large_of[small], self.small_of[large] = large, small
        self._waiting.append((large, small))

    def _match_inputs(self, large: int, small: int) -> bool:
        """Find partners for the inputs of two partners; return False if that is impossible."""
        inputs = self.large.inputs[large], self.small.inputs[small]
        if len(inputs[0]) != len(inputs[1]):
            return False
        for (_, source, _), (_, other, _) in zip(*inputs, strict=True):
            if other not in self.small.type_of or other in self.large_of:
                continue
            found = self._nearest([source], other)
            if found is None:
                return False
            self._join(found, other)
        return True

    def _fed_alike(self, small: int) -> int | None:
        """Return an op of the large member without a partner that has the same type and inputs as a result of the small
        member. It need not be a result of the large member: the surplus may use it."""
        inputs = [(self.large_of.get(source, -1), output) for _, source, output in self.small.inputs[small]]
        if all(source < 0 for source, _ in inputs):
            return None
        for node in reversed(self.large.ops):
            if node not in self.small_of and self.large.type_of[node] == self.small.type_of[small]:
                own = [(source, output) for _, source, output in self.large.inputs[node]]
                if [(at if at in self.large.type_of else -1, output) for at, output in own] == inputs:
                    return node
        return None

    def _nearest(self, begin: Sequence[int], small: int) -> int | None:
        """Search the large member backwards from `begin` for an op without a partner of the type of `small`.

        Return the nearest with equal weights, otherwise the nearest.
        """
        op_type, weights = self.small.type_of[small], self.small.weights[small]
        nearest = None
        seen, todo = set(begin), deque(begin)
        while todo:
            node = todo.popleft()
            if node not in self.large.type_of or node in self.small_of:
                continue
            if self.large.type_of[node] == op_type:
                if not (self.by_weights and weights) or self.large.weights[node] == weights:
                    return node
                nearest = node if nearest is None else nearest
            for source in self.large.sources(node):
                if source not in seen:
                    seen.add(source)
                    todo.append(source)
        return nearest

    def is_valid(self) -> bool:
        """Return whether the inputs of all partners correspond.

        An input must come from the partner of its source, from surplus ops that lead back to this partner, or, where
        the small member has an input from outside, from outside or from any surplus op.
        """
        for small, large in self.large_of.items():
            inputs = zip(self.large.inputs[large], self.small.inputs[small], strict=True)
            for (_, source, output), (_, other, key) in inputs:
                partner = self.large_of.get(other)
                if source in self.small_of or source not in self.large.type_of:
                    if source != partner and (source in self.small_of or partner is not None):
                        return False
                    if partner is not None and output != key:
                        return False
                elif partner is not None and not self._leads_to(partner, source):
                    return False
        return True

    def _leads_to(self, partner: int, source: int) -> bool:
        """Return whether `partner` feeds the surplus op `source` through surplus ops only."""
        return partner in reachable_from(
            [source], lambda node: () if node in self.small_of else self.large.sources(node)
        )

    def surplus_lines(self) -> tuple[list[SurplusLine], bool]:
        """Return the lines between the surplus and the small member, and whether the small member uses the result of
        the surplus, too."""
        lines: list[SurplusLine] = []
        shared = False
        for large, small in sorted(self.small_of.items()):
            inputs = zip(self.large.inputs[large], self.small.inputs[small], strict=True)
            for (edge, source, _), (other_edge, other, _) in inputs:
                if source in self.large.type_of and source not in self.small_of:
                    is_shared = other in self.large.type_of and other not in self.small_of
                    shared |= is_shared
                    lines.append((other_edge if is_shared else edge, small, True, int(self.slot[other_edge])))
        for node in self.large.ops:
            if node not in self.small_of:
                for edge, source, output in self.large.inputs[node]:
                    if source in self.small_of:
                        lines.append((edge, self.small_of[source], False, output))
        return lines, shared
