"""Open a group: its children, the metaedges between them, its bridges, the auxiliary area and the stubs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.expand.bridges import EdgeIndex, crossings_fit_memory, find_bridges, open_group_crossings
from graphviz_tb.expand.bundling import find_metaedges, sort_ends_by_depth
from graphviz_tb.expand.calls import loop_back_edges, loop_bodies
from graphviz_tb.expand.drawn_bridges import decide_drawable
from graphviz_tb.expand.extract import (
    ExtractInput,
    choose_extracted,
    choose_extracted_cycles,
    drop_hidden_children,
    is_on_cycle,
    on_cycles_through,
)
from graphviz_tb.expand.stubs import ChildMark, MarksByHost, call_constants, list_annotations
from graphviz_tb.expand.training_lines import (
    children_apart,
    learning_rows,
    mark_training_lines,
    metaedges_of_written_weights,
    training_roles,
    written_weights,
)
from graphviz_tb.graphs.level_flow import repeatedly_called_scopes
from graphviz_tb.graphs.rows import computing_rows
from graphviz_tb.model.columns import Bools, Bytes, Longs, distinct_values, prefix_sums
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.graph import SUMMARY_MARK
from graphviz_tb.model.hierarchy import SCOPE_ROW, STACK_KINDS, TRAINING_ORIGIN, Hierarchy
from graphviz_tb.model.metagraph import IMPLIED_LINE, Bridge, DrawingMask, LevelForm, Metaedge, Metagraph, Surplus
from graphviz_tb.model.paths import RowPath, child_path, content_rows, last_segment, owner_row, parent_path
from graphviz_tb.options import ExpandOptions

if TYPE_CHECKING:
    from graphviz_tb.expand.all_levels import LevelForms, LevelLines

__all__ = ["Expander", "RowPath", "child_path", "parent_path"]

NO_SIDES: frozenset[str] = frozenset()
NOMINAL_HALF_WIDTHS = (4, 2, 3, 3, 4)  # nominal widths in half units, by `Kind`: scope, op, series, fold, function


class Expander:
    """Opens the groups of one hierarchy, each once.

    `hidden` marks rows that are not drawn. A metagraph depends on the graph and the options, never on what else is
    open.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        facts: Facts,
        options: ExpandOptions = ExpandOptions(),  # noqa: B008
        hidden: Bools | None = None,
    ) -> None:
        self.hidden = hidden
        self.hierarchy = hierarchy
        self.facts = facts
        self.options = options
        # Caches of `drawn_bridges`: the order of the children of a group and the continuations of their lines, by
        # group, and the places of a group and a neighbour, by both.
        self.orders: dict[RowPath, dict[int, int | None]] = {}
        self.places: dict[tuple[RowPath, int], tuple[int | None, int | None]] = {}
        self.continuations: dict[RowPath, dict[int, set[tuple[int, bool]]]] = {}
        self._cache: dict[RowPath, Metagraph] = {}
        self._lock = RLock()  # threads may draw one model at once
        # Tables over the whole file, built when the first group needs them.
        self._edges: EdgeIndex | None = None
        self._filed: LevelLines | None = None
        self._marks: MarksByHost | None = None
        self._forms: LevelForms | None = None
        self._main = frozenset(options.main)
        self._aux = frozenset(options.aux)

    def metagraph(self, path: RowPath) -> Metagraph:
        """Return the metagraph of the group at `path`."""
        # The bridges of a group depend on the lines of the group around it, so open from the outside in.
        chain: list[RowPath] = []
        ancestor: RowPath | None = path
        while ancestor is not None and ancestor not in self._cache:
            chain.append(ancestor)
            ancestor = parent_path(self.hierarchy, ancestor)
        if chain:
            with self._lock:
                for group in reversed(chain):
                    if group not in self._cache:  # another thread may have opened it
                        self._cache[group] = self._open(group)
        return self._cache[path]

    def bundle_all_levels(self) -> None:
        """Bundle the lines of all groups in one pass, if they fit into memory; call it before opening every group."""
        with self._lock:
            if self._filed is None and crossings_fit_memory(self.hierarchy):
                from graphviz_tb.expand.all_levels import LevelLines  # a picture opens few groups

                # If the root is open already, its lines are not needed again.
                self._filed = LevelLines(self.hierarchy, self.facts, first=int((0,) in self._cache))

    def level_form(self, row: int) -> tuple[LevelForm, list[int]] | None:
        """Return the form that the level of a group shares with equal levels, and its rows: children, then marks and
        neighbours. None if levels like it are never shared, or before `bundle_all_levels`."""
        with self._lock:
            if self._forms is None:
                changed = self.hidden is not None or self.options.tensorboard or self._main or self._aux
                if self._filed is None or changed:
                    return None
                from graphviz_tb.expand.all_levels import LevelForms

                self._forms = LevelForms(self, self._filed, list(self._loop_bodies))
            return self._forms.form_of_level(row)

    def with_options(self, options: ExpandOptions) -> Expander:
        """Return an expander of the same hierarchy with other options."""
        return Expander(self.hierarchy, self.facts, options, self.hidden)

    def box_path(self, path: RowPath) -> RowPath:
        """Return the group whose box shows the content of the group at `path`: itself."""
        return path

    def stacks_around(self, path: RowPath) -> list[tuple[RowPath, RowPath]]:
        """Return the stacks around `path` that show one member, outermost first, each with the member that contains
        `path`."""
        return []

    def cached_metagraph(self, path: RowPath) -> Metagraph | None:
        """Return the metagraph of a group that was opened before."""
        return self._cache.get(path)

    def _open(self, path: RowPath) -> Metagraph:
        hierarchy = self.hierarchy
        rows, edges, loops = self._level_lines(path)
        if self._marks is None:
            self._marks = MarksByHost(hierarchy, settings=self.options.tensorboard)
        marks = self._marks.marks_of_level(rows) + call_constants(hierarchy, path, rows)
        roles, written = self.training[rows].tolist(), list[Metaedge]()
        if any(roles):
            can_learn = [
                learns and hierarchy.can_open(row) for row, learns in zip(rows, self._learning[rows], strict=True)
            ]
            edges = mark_training_lines(edges, roles, can_learn)
            written = metaedges_of_written_weights(hierarchy, self._written_weights, rows, roles)
        if path == (0,):
            edges = sort_ends_by_depth(hierarchy, self.facts, edges, rows)
        around = self._extract_input(path, rows, edges, marks)
        automatic, mask = [
            replace(mask, stubbed=mask.stubbed.union(range(len(edges), len(edges) + len(written)))) if written else mask
            for mask in self._extraction_masks(path, rows, around)
        ]
        # A child keeps its bridges if it is in the core of either mask: see `decide_drawable`.
        bridges = self._level_bridges(path, rows, automatic.extracted_children & mask.extracted_children)
        level = Metagraph(
            row=path[-1],
            children=tuple(rows),
            units=tuple([NOMINAL_HALF_WIDTHS[self._kinds[row]] for row in rows]),
            edges=(*edges, *written, *self._back_edges(path, rows)),
            bridges=tuple(bridges),
            mask=mask,
            automatic=automatic,
            annotations=list_annotations(marks, [*edges, *written], mask, bridges, rows),
            functions=hierarchy.function_rows if path == (0,) else (),
            loops=tuple(loops),
            training=tuple(children_apart(roles)),
            surplus=self.surplus_in(path),
        )
        if self.hidden is None:
            return level
        return drop_hidden_children(level, self.hidden.__getitem__)

    def surplus_in(self, path: RowPath) -> Surplus | None:
        """Return the surplus of a stack (`surplus.py`) if the group is the only member that the stack shows."""
        return None

    def _level_lines(self, path: RowPath) -> tuple[list[int], list[Metaedge], list[tuple[int, int]]]:
        """Return the children of a group, the metaedges between them, and self loops as (child, count)."""
        rows = content_rows(self.hierarchy, path)
        if self._filed is not None:
            return rows, *self._filed.metaedges(owner_row(self.hierarchy, path))
        return rows, *find_metaedges(self.hierarchy, self.facts, path, rows)

    def _back_edges(self, path: RowPath, rows: list[int]) -> list[Metaedge]:
        """Return edges that close the loop in the body of a While; TensorBoard draws none."""
        function = self._loop_bodies.get(path[-1])
        return [] if function is None else loop_back_edges(self.hierarchy, self.facts, function, rows)

    def _extract_input(
        self, path: RowPath, rows: list[int], edges: list[Metaedge], marks: list[ChildMark]
    ) -> ExtractInput:
        sides: list[frozenset[str]] = [NO_SIDES] * len(rows)
        for mark in marks:
            # TensorBoard counts a constant as a neighbour, so it extracts an op with one constant and no edge.
            if self.options.tensorboard or mark.kind not in ("constant", "weight"):
                sides[mark.child] |= {mark.side}
        sinks = self._sink_rows if self.options.tensorboard or not edges else self._sink_or_summary_rows
        return ExtractInput(
            count=len(rows),
            edges=edges,
            sink=[row in sinks for row in rows],
            marked=sides,
            unseen=self._unshown_node_count(path) if self.options.tensorboard else 0,
            circling=frozenset() if self.options.tensorboard else self._children_on_cycles(rows, edges),
            computing=frozenset(at for at, row in enumerate(rows) if self._computing[row]),
        )

    @cached_property
    def training(self) -> Bytes:
        """The role of each row in the training; always 0 with TensorBoard's preset."""
        hierarchy = self.hierarchy
        return np.zeros(len(hierarchy), np.uint8) if self.options.tensorboard else training_roles(hierarchy)

    @cached_property
    def _learning(self) -> Bools:
        """Mark the rows of the model with weights; no row with TensorBoard's preset."""
        return np.zeros(len(self.hierarchy), bool) if self.options.tensorboard else learning_rows(self.hierarchy)

    @cached_property
    def _written_weights(self) -> Longs:
        return written_weights(self.hierarchy)

    @cached_property
    def _computing(self) -> Bools:
        """Mark the rows of layers of the model; no row with TensorBoard's preset, which may extract any scope."""
        return np.zeros(len(self.hierarchy), bool) if self.options.tensorboard else computing_rows(self.hierarchy)

    def _children_on_cycles(self, rows: list[int], edges: list[Metaedge]) -> frozenset[int]:
        """Return the children to extract because they close a cycle.

        These are stacks and folds on a cycle of two with a larger scope, training groups on any cycle, and scopes that
        are called repeatedly, where a cycle leads through a stack and back to them.
        """
        hierarchy = self.hierarchy
        trains = [place for place, row in enumerate(rows) if row in self._training_rows]
        stacks = {place for place, row in enumerate(rows) if self._kinds[row] in STACK_KINDS}
        if not trains and not stacks:
            return frozenset()
        pairs = {(edge.source, edge.target) for edge in edges if edge.tensors and not edge.training & IMPLIED_LINE}
        data = sorted(pairs)
        extracted = {
            source
            for source, target in data
            if source in stacks and (target, source) in pairs and self._is_smaller_stack(rows[source], rows[target])
        }
        # Smallest first: extracting one training group may break the cycle of the next.
        for train in sorted(trains, key=lambda train: hierarchy.op_count(rows[train])):
            if is_on_cycle(train, [pair for pair in data if not extracted.intersection(pair)]):
                extracted.add(train)
        scopes = {place for place, row in enumerate(rows) if hierarchy.kind[row] == SCOPE_ROW}
        remaining = [pair for pair in data if extracted.isdisjoint(pair)]
        if on_cycle := on_cycles_through(remaining, scopes, stacks - extracted):
            called = repeatedly_called_scopes(hierarchy, int(hierarchy.parent[rows[0]]))
            extracted |= {place for place in on_cycle if rows[place] in called}
        return frozenset(extracted)

    def _is_smaller_stack(self, row: int, scope: int) -> bool:
        """Return whether a stack or fold is no training group and `scope` is a larger scope."""
        hierarchy = self.hierarchy
        if hierarchy.how[row] == TRAINING_ORIGIN:
            return False
        return bool(hierarchy.kind[scope] == SCOPE_ROW) and hierarchy.op_count(row) < hierarchy.op_count(scope)

    def _unshown_node_count(self, path: RowPath) -> int:
        """Count the nodes that only TensorBoard counts: in the root its functions, in a function one op."""
        if path == (0,):
            return len(self.hierarchy.function_rows)
        return int(owner_row(self.hierarchy, path) in self.hierarchy.function_rows)

    def _is_sink(self, row: int) -> bool:
        """Return whether a row is an op of a sink type, or a scope whose root op (`name/(name)`) is one."""
        hierarchy = self.hierarchy
        if hierarchy.kind[row] == SCOPE_ROW:
            leaf = last_segment(hierarchy.name[row])
            root = f"{hierarchy.name[row]}/({leaf})"
            row = next((child for child in hierarchy.children(row).tolist() if hierarchy.name[child] == root), row)
        node = int(hierarchy.node[row])
        return node >= 0 and hierarchy.graph.op_types[hierarchy.graph.op[node]] in self.options.sink_types

    @cached_property
    def _loop_bodies(self) -> dict[int, int]:
        return {} if self.options.tensorboard else loop_bodies(self.hierarchy)

    @cached_property
    def _training_rows(self) -> frozenset[int]:
        return frozenset(np.flatnonzero(self.hierarchy.how == TRAINING_ORIGIN).tolist())

    def level_row_columns(self) -> tuple[Bools | Bytes, ...]:
        """Columns of rows on which a level depends besides structure: if they agree, equal groups have equal levels."""
        hierarchy = self.hierarchy
        hidden = self.hidden if self.hidden is not None else np.zeros(len(hierarchy), bool)
        marks = self._sink_mask, self._summary_rows, self.training
        return hierarchy.kind, hierarchy.how, hierarchy.connected, hidden, *marks

    @cached_property
    def _kinds(self) -> list[int]:
        kinds: list[int] = self.hierarchy.kind.tolist()
        return kinds

    @cached_property
    def _sink_rows(self) -> frozenset[int]:
        return frozenset(np.flatnonzero(self._sink_mask).tolist())

    @cached_property
    def _sink_or_summary_rows(self) -> frozenset[int]:
        return frozenset(np.flatnonzero(self._sink_mask | self._summary_rows).tolist())

    @cached_property
    def _summary_rows(self) -> Bools:
        return _summary_only_rows(self.hierarchy)

    @cached_property
    def _sink_mask(self) -> Bools:
        """Mark the rows that are an op of a sink type, or a scope whose root op is one."""
        hierarchy, types = self.hierarchy, self.options.sink_types
        sinks = np.zeros(len(hierarchy), bool)
        ops = np.flatnonzero(hierarchy.node >= 0)
        kinds = np.array([op in types for op in hierarchy.graph.op_types], bool)
        sinks[ops] = kinds[hierarchy.graph.op[hierarchy.node[ops]]]
        # Only an op named `…/(leaf)` can be the root op of a scope.
        roots = [row for row in np.flatnonzero(sinks).tolist() if hierarchy.name[row].endswith(")")]
        around = distinct_values(hierarchy.parent[roots])
        for row in around[hierarchy.kind[around] == SCOPE_ROW].tolist():
            sinks[row] = self._is_sink(row)
        return sinks

    def _extraction_masks(self, path: RowPath, rows: list[int], level: ExtractInput) -> tuple[DrawingMask, DrawingMask]:
        """Return the automatic mask, and the mask with the changes of `--main` and `--aux`."""
        # TensorBoard extracts nothing inside a series, so extract only cycles in stacks and folds.
        if self.hierarchy.kind[path[-1]] in STACK_KINDS:
            automatic = mask = choose_extracted_cycles(level)
        else:
            automatic = mask = choose_extracted(level, self.options)
        automatic = mask = _without_implied_lines(automatic, level)
        if self._main or self._aux:
            names = [self.hierarchy.name[row] for row in rows]
            # `--main` extracts again, without these children; `--aux` then extracts further children.
            included = frozenset(index for index, name in enumerate(names) if name in self._main)
            if included:
                mask = _without_implied_lines(choose_extracted(replace(level, included=included), self.options), level)
            extracted = mask.extracted_children
            mask = _extract_by_hand(
                mask, level, [index for index, name in enumerate(names) if name in self._aux and index not in extracted]
            )
        return automatic, mask

    def _level_bridges(self, path: RowPath, rows: list[int], away: frozenset[int]) -> list[Bridge]:
        parent = parent_path(self.hierarchy, path)
        # The root has no outside.
        if parent is None:
            return []
        # Bridges inside a function differ from call to call, so they are found for each path.
        if self._filed is not None and len(path) == 1 and path[0] not in self.hierarchy.calls:
            return decide_drawable(self, path, rows, self._filed.bridges(path[0]), away, self.options)
        if self._edges is None:
            self._edges = EdgeIndex(self.hierarchy)
        across = open_group_crossings(self.hierarchy, self._edges, path)
        bridges = find_bridges(self.hierarchy, self.facts, across, rows, self._edges.known)
        return decide_drawable(self, path, rows, bridges, away, self.options)


def _summary_only_rows(hierarchy: Hierarchy) -> Bools:
    """Mark the rows of one op whose edges all lead to or from summaries, such as MergeSummary."""
    graph = hierarchy.graph
    summaries = (graph.mark[graph.source] == SUMMARY_MARK) | (graph.mark[graph.target] == SUMMARY_MARK)
    if not summaries.any():
        return np.zeros(len(hierarchy), bool)
    alone = np.zeros(len(graph), bool)
    for chosen in (summaries, ~summaries):  # any other edge unmarks the op
        alone[graph.source[chosen]] = alone[graph.target[chosen]] = bool(chosen is summaries)
    # `busy` counts the other ops before each row.
    plain = (hierarchy.node >= 0) & (hierarchy.mark == 0)
    plain[plain] = ~alone[hierarchy.node[plain]]
    busy = prefix_sums(plain)
    single = hierarchy.op_prefix_sum[hierarchy.end] - hierarchy.op_prefix_sum[:-1] == 1
    kept: Bools = single & (busy[hierarchy.end] == busy[:-1])
    return kept


def _without_implied_lines(mask: DrawingMask, level: ExtractInput) -> DrawingMask:
    """Return a mask that also leaves out implied lines."""
    implied = [index for index, edge in enumerate(level.edges) if edge.training & IMPLIED_LINE]
    return replace(mask, stubbed=mask.stubbed.union(implied)) if implied else mask


def _extract_by_hand(mask: DrawingMask, level: ExtractInput, nodes: Sequence[int]) -> DrawingMask:
    """Move children to the auxiliary area by hand. A child with more edges out than in goes to the right column."""
    out, into = Counter(edge.source for edge in level.edges), Counter(edge.target for edge in level.edges)
    moved = set(nodes)
    touched = {index for index, edge in enumerate(level.edges) if edge.source in moved or edge.target in moved}
    # TensorBoard's rule for nodes that a user removes from the main graph.
    sources = [node for node in nodes if out[node] > into[node]]
    others = [node for node in nodes if out[node] <= into[node]]
    return DrawingMask((*mask.in_extract, *others), (*mask.out_extract, *sources), mask.stubbed.union(touched))
