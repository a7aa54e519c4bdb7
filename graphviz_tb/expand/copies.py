"""Find the members of a stack whose content equals that of the usual member, so that a page writes their levels
once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.expand.members import MemberExpander
from graphviz_tb.expand.stubs import MarksByHost
from graphviz_tb.model.columns import Ints, Longs, sorted_value_range
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.paths import is_stack, usual_member
from graphviz_tb.model.tensors import Tensor

MemberColumns = tuple[NDArray[Any], ...]
OUTSIDE_OFFSET = 1 << 32  # added to rows outside of a member; rows inside are offsets from the member


@dataclass(frozen=True, slots=True)
class MemberCopy:
    """A stack member with the same content as the `usual` member.

    Rows inside are offset by `member - usual`; `marks` maps rows of marks outside the usual member to those of this
    one.
    """

    member: int
    usual: int
    marks: Mapping[int, int]


class MemberCopies:
    """Finds the copies among the members of a stack, on request.

    A copy has the same rows, edges, marks and tensors in the same order, and the same lines lead out of it: its levels
    are those of the usual member with other row numbers. Members with calls are never copies.
    """

    def __init__(self, levels: MemberExpander) -> None:
        hierarchy = levels.hierarchy
        self._levels, self._hierarchy = levels, hierarchy
        self._marks = MarksByHost(hierarchy)
        self._calls = np.array(sorted(hierarchy.calls), np.int64)
        self._rows = levels.level_row_columns()
        self._numbers: dict[tuple[Tensor, bool], int] = {}

    def copies_in_stack(self, stack: int) -> list[MemberCopy]:
        """Return the copies in a stack; empty for other rows."""
        hierarchy = self._hierarchy
        if not is_stack(hierarchy, stack):
            return []
        usual, members = usual_member(hierarchy, stack), hierarchy.children(stack).tolist()
        first, found = None, []
        for member in members:
            if member == usual or not self._levels.alike.are_copies(usual, member) or self._has_calls(member):
                continue
            marks = self._corresponding_marks(usual, member)
            if marks is None:
                continue
            first = first or list(self._level_columns(stack, usual))
            # Most differences show in the first columns, which are cheap; tensors come last.
            if all(map(np.array_equal, first, self._level_columns(stack, member))):
                found.append(MemberCopy(member, usual, marks))
        return found

    def _has_calls(self, member: int) -> bool:
        first, stop = sorted_value_range(self._calls, member, int(self._hierarchy.end[member]))
        return first < stop

    def _level_columns(self, stack: int, member: int) -> Iterator[NDArray[Any]]:
        """Yield the columns that the levels of a member depend on besides structure and marks; rows are offsets from
        the member."""
        stop = int(self._hierarchy.end[member])
        for column in self._rows:
            yield column[member:stop]
        yield from self._edge_columns(stack, member, stop)

    def _edge_columns(self, stack: int, member: int, stop: int) -> Iterator[NDArray[Any]]:
        """Yield the ends, kinds, outputs and tensors of the edges that touch a member."""
        hierarchy, graph = self._hierarchy, self._hierarchy.graph
        inner = np.sort(hierarchy.edge_order[hierarchy.owner_start[member] : hierarchy.owner_start[stop]])
        across = self._levels.member_crossings((member,))
        edge = np.concatenate((inner, across.edge))
        source, target = (hierarchy.row_of_node[ends[inner]] for ends in (graph.source, graph.target))
        # An edge to another member has no counterpart in the next member, but all members show the same surplus.
        surplus = self._levels.surplus_in((member,))
        box = -1 if surplus is None else surplus.member
        between = (across.other > stack) & (across.other < hierarchy.end[stack]) & (across.other != box)
        other = across.other + np.where(between, member * OUTSIDE_OFFSET, OUTSIDE_OFFSET)
        inside = across.inner + np.where(across.inner == box, OUTSIDE_OFFSET, -member)
        yield np.concatenate((target - member, other))
        yield np.concatenate((source - member, inside))
        yield np.concatenate((np.zeros(len(inner), bool), across.inbound))
        yield from (graph.control[edge], graph.reference[edge])
        yield self._output_numbers(edge, np.concatenate((np.full(len(inner), -1), other * 2 + across.inbound)))
        yield self._tensor_numbers(edge)

    def _output_numbers(self, edge: Ints, lines: Longs) -> Longs:
        """Number the outputs that edges of one line carry, in the order of first appearance."""
        numbers: dict[tuple[int, int, int], int] = {}
        graph = self._hierarchy.graph
        carried = zip(lines.tolist(), graph.source[edge].tolist(), graph.key[edge].tolist(), strict=True)
        return np.array([numbers.setdefault(tensor, len(numbers)) for tensor in carried], np.int64)

    def _tensor_numbers(self, edge: Ints) -> Longs:
        """Number the tensor of each edge; equal tensors have equal numbers, control edges -1. Whether a tensor is an
        index distinguishes it, too."""
        graph, facts, numbers = self._hierarchy.graph, self._levels.facts, self._numbers
        data = ~graph.control[edge]
        found = np.full(len(edge), -1, np.int64)
        pairs = zip(graph.source[edge[data]].tolist(), graph.key[edge[data]].tolist(), strict=True)
        carried = ((facts.tensor(*pair), facts.is_index(*pair)) for pair in pairs)
        found[data] = [numbers.setdefault(tensor, len(numbers)) for tensor in carried]
        return found

    def _corresponding_marks(self, usual: int, member: int) -> dict[int, int] | None:
        """Map the marks outside the usual member to those of `member`; None if they do not correspond."""
        (of_usual, *first), (of_member, *second) = self._mark_columns(usual), self._mark_columns(member)
        if not all(map(np.array_equal, first, second)):
            return None
        stop = int(self._hierarchy.end[usual])
        pairs = dict(zip(of_usual.tolist(), of_member.tolist(), strict=True))
        corresponding = list(pairs.values()) == list(dict.fromkeys(of_member.tolist()))
        inside = {mark: other for mark, other in pairs.items() if usual <= mark < stop}
        if not corresponding or any(other - member != mark - usual for mark, other in inside.items()):
            return None
        return {mark: other for mark, other in pairs.items() if mark != other and mark not in inside}

    def _mark_columns(self, member: int) -> MemberColumns:
        """Return columns of the marks next to the ops of a member: mark, op, kind, direction, number of edges."""
        hierarchy, beside = self._hierarchy, self._hierarchy.graph.beside
        at = self._marks.order[self._marks.start[member] : self._marks.start[hierarchy.end[member]]]
        mark = beside.mark[at]
        hosts = hierarchy.row_of_node[beside.host[at]] - member
        return hierarchy.row_of_node[mark], hosts, hierarchy.graph.mark[mark], beside.inward[at], beside.edges[at]
