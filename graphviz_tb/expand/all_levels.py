"""Find the metaedges and bridges of all groups in one pass, and find equal levels, for callers that open every
group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.expand.bundling import BundleTable, build_bridges, build_metaedges, bundle_edges
from graphviz_tb.expand.drawn_bridges import NO_CONTINUATIONS, continuations, level_order, runs_backwards
from graphviz_tb.expand.stubs import STUB_KIND_BY_MARK, STUB_ORDER, drawn_mark_pairs
from graphviz_tb.model.columns import Bools, Ints, Longs, key_starts
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import OP_ROW, TRAINING_ORIGIN, Hierarchy
from graphviz_tb.model.metagraph import Bridge, LevelForm, Metaedge, OutputPairs
from graphviz_tb.model.tensors import CarriedTensors, Tensor

if TYPE_CHECKING:
    from graphviz_tb.expand import Expander


class LevelLines:
    """All lines of a file: the results of `find_metaedges` and `find_bridges` for every group, found in one pass.

    Metaedges are those of the rows from `first` on.
    """

    def __init__(self, hierarchy: Hierarchy, facts: Facts, first: int = 0) -> None:
        place, rows = _child_positions(hierarchy), np.arange(len(hierarchy) + 1)
        known: dict[OutputPairs, CarriedTensors] = {}
        # `edge_order` is sorted by owner.
        edges = hierarchy.edge_order[hierarchy.owner_start[first] :]
        owner = np.repeat(rows[first:-1], np.diff(hierarchy.owner_start[first:]))
        source, target = place[hierarchy.edge_from[edges]], place[hierarchy.edge_to[edges]]
        inside = bundle_edges(hierarchy.graph, facts, edges, (owner, source, target), known)
        group, child, other, edges = _all_border_crossings(hierarchy)
        across = bundle_edges(hierarchy.graph, facts, edges, (group, place[child], other), known)
        self.columns = _line_table(inside), _line_table(across)
        # The bundles of row r are `[r]` up to `[r + 1]`.
        self.owned = np.searchsorted(inside.ends[0], rows).tolist()
        self.crossing = np.searchsorted(across.ends[0], rows).tolist()
        self.inside, self.across = (inside.bundles, inside.line_columns()), (across.bundles, across.line_columns())

    def metaedges(self, owner: int) -> tuple[list[Metaedge], list[tuple[int, int]]]:
        """Return the metaedges between the children of a row, and self loops as (child, count)."""
        return build_metaedges(*self.inside, *self.owned[owner : owner + 2]) if owner >= 0 else ([], [])

    def bridges(self, row: int) -> list[Bridge]:
        """Return the bridges of a group; `drawable` is decided later."""
        return build_bridges(*self.across, *self.crossing[row : row + 2])


class LevelForms:
    """Finds equal levels, which differ only in their rows and share one `LevelForm`.

    A level has no form if it depends on more than its children and lines: on names, or on repeated calls.
    """

    def __init__(self, expander: Expander, lines: LevelLines, bodies: Sequence[int]) -> None:
        hierarchy = expander.hierarchy
        self._expander, self._lines = expander, lines
        self._formed = _levels_with_forms(hierarchy, bodies).tolist()
        opens = hierarchy.kind != OP_ROW
        opens[list(hierarchy.calls)] = True
        self._opens: list[bool] = opens.tolist()
        columns = np.stack((opens, *expander.level_row_columns()), axis=1).astype(np.uint8)
        self._children, self._child_columns = hierarchy.child_order.tolist(), columns[hierarchy.child_order]
        self._start, self._kind = hierarchy.child_start.tolist(), hierarchy.kind.tolist()
        self._parent = hierarchy.parent.tolist()
        self._training: list[bool] = expander.training.tolist()
        self._marks, rows, start = _all_level_marks(hierarchy)
        self._mark_rows, self._mark_start = rows.tolist(), start.tolist()
        inside, across = lines.columns
        self._inside, self._across, self._others = inside, across[:, [0, 2, 3, 4]], across[:, 1].tolist()
        self._control = (across[:, 2] == 0).tolist()
        self._numbers: dict[tuple[Tensor, ...], int] = {}
        self._forms: dict[tuple[Any, ...], LevelForm] = {}

    def form_of_level(self, row: int) -> tuple[LevelForm, list[int]] | None:
        """Return the form of a group's level and its rows (children, then marks and neighbours); None if it has no
        form."""
        if not self._formed[row]:
            return None
        first, stop = self._start[row], self._start[row + 1]
        children = self._children[first:stop]
        a, b = self._lines.crossing[row : row + 2]
        others = self._others[a:b]
        drawn = self._continuing_bridges(row, a, b)
        m, n = self._mark_start[row], self._mark_start[row + 1]
        seen = {child: place for place, child in enumerate(children)}
        # Twice the row of a neighbour, plus one if the edge enters.
        beyond = [seen.setdefault(each, len(seen)) for each in self._mark_rows[m:n]]
        beyond += [seen.setdefault(other >> 1, len(seen)) * 2 + (other & 1) for other in others]
        c, d = self._lines.owned[row : row + 2]
        key = (
            self._kind[row],
            self._child_columns[first:stop].tobytes(),
            self._inside[c:d].tobytes(),
            tuple(map(self._tensors_number, range(c, d))),
            self._marks[m:n].tobytes(),
            self._across[a:b].tobytes(),
            tuple(beyond),
            tuple(drawn),
            tuple([self._training[other >> 1] for other in others]),
        )
        rows = list(seen)
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = self._new_form(row, children, seen)
        elif form.order:
            self._record_form(row, form, rows)
        return form, rows

    def _continuing_bridges(self, row: int, first: int, stop: int) -> list[bool]:
        """Return for each bridge of a group whether `decide_drawable` finds that it continues outside, and not against
        the data order."""
        if first == stop:
            return []
        expander = self._expander
        continued = continuations(expander, (self._parent[row],)).get(row, NO_CONTINUATIONS)
        lines = zip(self._others[first:stop], self._control[first:stop], strict=True)
        return [
            (other >> 1, other & 1 > 0) in continued
            and not (control and runs_backwards(expander, (row,), other >> 1, other & 1 > 0, expander.options))
            for other, control in lines
        ]

    def _tensors_number(self, number: int) -> int:
        """Return a number for the tensors of a line; equal tensors have equal numbers."""
        bundles = self._lines.inside[0]
        return self._numbers.setdefault(tuple(bundles.carried_tensors(number)), len(self._numbers))

    def _new_form(self, row: int, children: list[int], place: dict[int, int]) -> LevelForm:
        rows, expander = list(place), self._expander
        if not any(map(self._opens.__getitem__, children)):
            return LevelForm(row, rows)
        continued, order = continuations(expander, (row,)), level_order(expander, (row,), expander.options)
        lines = [(place[child], place[other], inbound) for child, ends in continued.items() for other, inbound in ends]
        return LevelForm(row, rows, lines, [order[child] for child in children])

    def _record_form(self, row: int, form: LevelForm, rows: list[int]) -> None:
        """Record the continuations and the order of a level that reuses another level's form."""
        continued: dict[int, set[tuple[int, bool]]] = {}
        for child, other, inbound in form.continuations:
            continued.setdefault(rows[child], set()).add((rows[other], inbound))
        self._expander.continuations[(row,)] = continued
        self._expander.orders[(row,)] = dict(zip(rows, form.order, strict=False))


def _line_table(lines: BundleTable) -> NDArray[np.int64]:
    """Return lines as rows of numbers: their last two ends, and the numbers of data, control and reference edges."""
    return np.stack((*lines.ends[-2:], lines.tensors, lines.control, lines.reference), axis=1).astype(np.int64)


def _levels_with_forms(hierarchy: Hierarchy, bodies: Sequence[int]) -> Bools:
    """Mark the rows whose level can have a form.

    Whole graphs, functions and loop bodies have none, nor have levels with stacks or training groups, whose extraction
    depends on content and names.
    """
    levels: Bools = hierarchy.kind != OP_ROW
    apart = hierarchy.is_stack_row | (hierarchy.how == TRAINING_ORIGIN)
    around = hierarchy.parent[apart]
    for rows in (around[around >= 0], hierarchy.parent < 0, list(bodies)):
        levels[rows] = False
    return levels


def _all_level_marks(hierarchy: Hierarchy) -> tuple[NDArray[np.int64], Ints, Longs]:
    """Return the marks of ops level by level, in the order of `MarksByHost.marks_of_level`: rows of (position of the
    op, kind, side, edges), the row of each mark, and where the marks of each level begin."""
    graph, beside, place = hierarchy.graph, hierarchy.graph.beside, _child_positions(hierarchy)
    kept = drawn_mark_pairs(graph)
    host = hierarchy.row_of_node[beside.host[kept]]
    kept = kept[(host >= 0) & (hierarchy.mark[host] == 0)]
    host, mark = hierarchy.row_of_node[beside.host[kept]], beside.mark[kept]
    rank = np.zeros(256, np.int64)
    for sign, kind in STUB_KIND_BY_MARK.items():
        rank[sign] = STUB_ORDER[kind]
    kinds, level = rank[graph.mark[mark]], hierarchy.parent[host]
    order = np.lexsort((kinds, place[host], level))
    columns = np.stack((place[host], kinds, beside.inward[kept], beside.edges[kept]), axis=1).astype(np.int64)
    return columns[order], hierarchy.row_of_node[mark][order], key_starts(level, len(hierarchy))


def _child_positions(hierarchy: Hierarchy) -> Longs:
    """Return the position of each row among the children of its parent."""
    place = np.zeros(len(hierarchy), np.int64)
    rows = hierarchy.child_order
    # `child_order` lists the children of each row as one run, from `child_start` of the row on.
    place[rows] = np.arange(len(rows)) - hierarchy.child_start[hierarchy.parent[rows]]
    return place


def _all_border_crossings(hierarchy: Hierarchy) -> tuple[Ints, Ints, Longs, Ints]:
    """Return every edge once for each group border it crosses, by group, then in file order: the group, its child,
    twice the row of the other end (plus one if the edge enters), and the edge."""
    graph, edges = hierarchy.graph, hierarchy.edge_order
    levels: list[tuple[Ints, ...]] = []
    for inbound, node in ((0, graph.source[edges]), (1, graph.target[edges])):
        ends = (hierarchy.edge_to, hierarchy.edge_from) if inbound else (hierarchy.edge_from, hierarchy.edge_to)
        # Climb from the op at one end to the child of the owner: each step crosses one border.
        row, stop = hierarchy.row_of_node[node], ends[0][edges]
        other = ends[1][edges] * 2 + inbound
        inside = np.flatnonzero(row != stop)
        while len(inside):  # one level up at a time
            group = hierarchy.parent[row[inside]]
            levels.append((group, row[inside], other[inside], edges[inside]))
            row[inside] = group
            inside = inside[group != stop[inside]]
    columns = [np.concatenate(column) for column in zip(*levels, strict=True)] if levels else [edges[:0]] * 4
    order = np.lexsort((columns[3], columns[0]))
    group, child, beyond, crossing = (column[order] for column in columns)
    return group, child, beyond.astype(np.int64), crossing
