"""All levels of a file as columns: children by name, the edges between them, and which levels are equal.

Repeated code writes equal levels, so only one of each kind is folded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import IntEnum
from functools import cached_property
from itertools import count

import numpy as np

from graphviz_tb.fold.series import SeriesRun
from graphviz_tb.fold.templates import ColumnRuns, group_equal_runs
from graphviz_tb.graphs.index_arithmetic import index_arithmetic_ops
from graphviz_tb.graphs.rows import count_ops_below, flag_op_rows, rows_within, training_rows
from graphviz_tb.graphs.traversal import needed_only_by, reachable_from, union_root, unite_sets
from graphviz_tb.model.columns import Bools, Bytes, Longs, distinct_values, sorted_value_range
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.model.paths import DIGIT_RUN
from graphviz_tb.ops.roles import CONVOLUTION_OPS, MATRIX_PRODUCT_OPS, Role, has_role

# Parts of a training level: model, gradients, updates, evaluation, and bookkeeping.
#
# All nodes that depend on gradients train: sums, clipping, the optimizer. Ancestors of gradients that do not depend on
# them are the model with its loss. The rest is drawn next to both: metrics, summaries, savers.

MIN_FORWARD_OPS, MIN_FORWARD_SHARE = 3, 0.02  # of a level; smaller forward parts only serve gradients


class LevelPart(IntEnum):
    """Part of its level that a child belongs to."""

    MODEL = 0  # differentiated, with its inputs and outputs; everything if the level does not train
    GRADIENTS = 1  # gradients and nodes computed from them, with nodes that only these use
    UPDATES = 2  # writes of variables and nodes after them, with nodes that only these use
    EVALUATION = 4  # a second forward pass with the model's weights that no gradient reaches
    BOOKKEEPING = 3  # metrics, counters, savers, initialisers


class TrainingLevels:
    """Finds the levels of a hierarchy that train, and the part of each row in its level."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        meaning = hierarchy.graph.meaning
        self.quiet, self.forward = training_rows(hierarchy)
        self._sizes = flag_op_rows(hierarchy, meaning.sizes)
        writing = count_ops_below(hierarchy, meaning.writes) > 0
        self._writes = writing.copy()  # rows that write variables, through calls too
        for row, calls in hierarchy.calls.items():
            self._writes[row] |= any(writing[body] for _, body in calls)

    @cached_property
    def part(self) -> Bytes:
        """`LevelPart` of each row."""
        hierarchy = self.hierarchy
        part_of = np.zeros(len(hierarchy), np.uint8)
        size = hierarchy.op_prefix_sum[hierarchy.end] - hierarchy.op_prefix_sum[:-1]  # ops under each row
        trains = (self.forward >= np.maximum(MIN_FORWARD_OPS, MIN_FORWARD_SHARE * size)) & ~self.quiet
        # A level trains if it has enough of a model, and a child that is gradients or updates.
        around = hierarchy.parent[self.quiet & (hierarchy.parent >= 0)]
        for row in distinct_values(around[trains[around]]).tolist():
            for part, rows in self._split_level(row).items():
                part_of[list(rows)] = part
        return part_of

    def _split_level(self, row: int) -> dict[LevelPart, set[int]]:
        """Return the parts of the level inside `row`, except the model."""
        rows = self.hierarchy.children(row)
        children = rows.tolist()
        # Each part is chosen from the rows that the parts before it left.
        behind = set(rows[self.quiet[rows]].tolist())
        after = self._successors(row)
        # Shapes and zeros computed from the model, but used by gradients only.
        shapes = {
            candidate
            for candidate in rows[self._sizes[rows]].tolist()
            if after.get(candidate) and behind.issuperset(after[candidate])
        }
        model = set(rows[self.forward[rows] > 0].tolist()) - behind - shapes
        updates = reachable_from(behind.intersection(rows[self._writes[rows]].tolist()), after.get) & behind
        known = behind | model | shapes
        others = [child for child in children if child not in known]
        model |= self._model_inputs(row, others, model)
        updates |= _rows_serving_only(others, after, updates)
        gradients = (behind | shapes) - updates
        gradients |= _rows_serving_only([child for child in others if child not in updates], after, gradients | updates)
        beside = set(children) - model - gradients - updates
        books = self._bookkeeping_rows(row, beside, model, after)
        copies = {child for child in books if self._is_evaluation(child)}
        return {
            LevelPart.EVALUATION: copies,
            LevelPart.GRADIENTS: gradients,
            LevelPart.UPDATES: updates,
            LevelPart.BOOKKEEPING: books - copies,
        }

    def _is_evaluation(self, row: int) -> bool:
        """Return whether most of a row is a forward pass with the model's weights that no gradient reaches."""
        return bool(2 * self._copied_op_counts[row] > self.hierarchy.op_count(row) and not self._writes[row])

    @cached_property
    def _copied_op_counts(self) -> Longs:
        return count_ops_below(self.hierarchy, self.hierarchy.graph.meaning.copies())

    def _model_inputs(self, row: int, others: Sequence[int], model: set[int]) -> set[int]:
        """Return the rows of `others` that feed the model, except by writing variables: readers that fill queues."""
        after = self._successors(row, writes=False)
        before: dict[int, list[int]] = {}
        for child in others:
            for user in after.get(child, ()):
                before.setdefault(user, []).append(child)
        return reachable_from(model, before.get) - model

    def _bookkeeping_rows(self, row: int, beside: set[int], model: set[int], after: dict[int, list[int]]) -> set[int]:
        """Return the connected rows beside a model that write variables, or use only variables of the model."""
        # Decide for whole connected components next to the model.
        head = {child: child for child in beside}
        for child in sorted(beside):
            for user in after.get(child, ()):
                if user in head:
                    unite_sets(head, child, user)
        values = self._successors(row, values=True)
        fed = {union_root(head, user) for child in model for user in values.get(child, ()) if user in head}
        filling = {child for child in beside if not model.isdisjoint(after.get(child, ()))}
        writing = {union_root(head, child) for child in beside if child in filling or self._writes[child]}
        unused = {child for child in beside if self._sizes[child] and not after.get(child)}
        books = unused | {child for child in beside if (top := union_root(head, child)) not in fed or top in writing}
        return {child for child in books if not self._is_network(child)}

    def _is_network(self, row: int) -> bool:
        """Return whether a scope contains weights and products with them: the net that all workers of A3C share."""
        weight, product = self._weights_of_products
        start, stop = sorted_value_range(product, row, self.hierarchy.end[row])
        return bool(((weight[start:stop] >= row) & (weight[start:stop] < self.hierarchy.end[row])).any())

    @cached_property
    def _weights_of_products(self) -> tuple[Longs, Longs]:
        """Rows of weights, and of the products and convolutions with them, sorted by the latter, without gradients."""
        hierarchy, graph = self.hierarchy, self.hierarchy.graph
        origin = graph.meaning.origin[graph.source]
        uses = graph.nodes_of_types(lambda op: op in CONVOLUTION_OPS or op in MATRIX_PRODUCT_OPS)[graph.target]
        used = np.flatnonzero(uses & (origin >= 0) & ~graph.control)
        weight, product = hierarchy.row_of_node[origin[used]], hierarchy.row_of_node[graph.target[used]]
        kept = (product >= 0) & ~self.quiet[product]
        order = np.argsort(product[kept], kind="stable")
        return weight[kept][order].astype(np.int64), product[kept][order].astype(np.int64)

    def _successors(self, row: int, values: bool = False, writes: bool = True) -> dict[int, list[int]]:
        """Return the children that each child of a level feeds.

        `values` leaves out edges from variables, and `writes=False` edges that write variables.
        """
        hierarchy = self.hierarchy
        owned = hierarchy.owned_edges(row)
        start, stop = hierarchy.edge_from[owned], hierarchy.edge_to[owned]
        kept = (start >= 0) & (stop >= 0) & ~hierarchy.graph.control[owned]
        if values:
            kept &= ~hierarchy.graph.meaning.variable[hierarchy.graph.source[owned]]
        if not writes:
            kept &= ~hierarchy.graph.meaning.writes[hierarchy.graph.target[owned]]
        after: dict[int, list[int]] = {}
        # Each pair of rows is one number.
        for pair in distinct_values(start[kept].astype(np.int64) << 32 | stop[kept].astype(np.int64)).tolist():
            after.setdefault(pair >> 32, []).append(pair & 0xFFFFFFFF)
        return after


def _rows_serving_only(children: Sequence[int], after: dict[int, list[int]], users: set[int]) -> set[int]:
    """Return the children that only `users` depend on, such as rates and step counters."""
    left = {child: len(after[child]) for child in children if after.get(child)}
    before: dict[int, list[int]] = {}
    for child in left:
        for user in after[child]:
            before.setdefault(user, []).append(child)
    return set(needed_only_by(sorted(users), before.get, left))


MIN_FOLDED_CHILDREN = 3  # fewer children are never folded
# Edges from the first read storage; edges into the second write it.
STORAGE_SOURCE_ROLES = (Role.VARIABLE, Role.TEMPORARY, Role.RESTORE)
STORAGE_TARGET_ROLES = (Role.ASSIGN, Role.SCATTER, Role.SAVE, Role.VARIABLE_CHECK)


@dataclass(frozen=True, slots=True, eq=False)
class ChildEdges:
    """Data edges between children, by target and slot: positions of the ends, edges from handles and into storage."""

    source: Longs
    target: Longs
    handle: Bools
    store: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Siblings:
    """One level: the `rows` directly below `parent`, sorted by name, and the data edges between them.

    `part` is the `LevelPart` of each row; `indexes` marks rows with only index arithmetic.
    """

    hierarchy: Hierarchy
    parent: int
    rows: list[int]
    labels: list[str]
    part: Bytes
    indexes: Bools
    edges: ChildEdges

    def select_children(self, kept: Sequence[int]) -> Siblings:
        """Return some of the siblings, by position."""
        place = np.full(len(self.rows), -1, np.int64)
        place[kept] = np.arange(len(kept))
        edge = self.edges
        source, target = place[edge.source], place[edge.target]
        inside = (source >= 0) & (target >= 0)
        edges = ChildEdges(source[inside], target[inside], edge.handle[inside], edge.store[inside])
        rows, labels = [self.rows[position] for position in kept], [self.labels[position] for position in kept]
        return Siblings(self.hierarchy, self.parent, rows, labels, self.part[kept], self.indexes[kept], edges)


@dataclass(frozen=True, slots=True, eq=False)
class LevelColumns:
    """Children and edges of the levels that can be folded, level by level.

    `child` are the rows, sorted by name in each level. `words[label]` is the label of each, `part` its `LevelPart`;
    `indexes` marks rows with only index arithmetic. Level `n` is the content of row `parent[n]`: the children
    `child_start[n]:child_start[n + 1]` and the edges `edge_start[n]:edge_start[n + 1]` of `edge`.
    """

    hierarchy: Hierarchy
    parent: Longs
    child: Longs
    child_start: Longs
    label: Longs
    words: list[str]
    part: Bytes
    indexes: Bools
    edge: ChildEdges
    edge_start: Longs

    def level(self, number: int) -> Siblings:
        children = slice(self.child_start[number], self.child_start[number + 1])
        run = slice(self.edge_start[number], self.edge_start[number + 1])
        edge = self.edge
        edges = ChildEdges(edge.source[run], edge.target[run], edge.handle[run], edge.store[run])
        rows = self.child[children].tolist()
        shown = list(map(self.words.__getitem__, self.label[children].tolist()))
        part, indexes = self.part[children], self.indexes[children]
        return Siblings(self.hierarchy, int(self.parent[number]), rows, shown, part, indexes, edges)


def level_columns(hierarchy: Hierarchy) -> LevelColumns:
    """Return the levels of a file, in the order of their rows."""
    is_folded = np.diff(hierarchy.child_start) >= MIN_FOLDED_CHILDREN
    is_folded &= hierarchy.kind != int(RowKind.SERIES)  # the members of a requested series are not folded
    parent = np.flatnonzero(is_folded)
    rows = hierarchy.child_order[is_folded[hierarchy.parent[hierarchy.child_order]]].astype(np.int64)
    words: defaultdict[str, int] = defaultdict(count().__next__)
    name = _local_name_ids(hierarchy, rows, parent, words)
    order = np.lexsort((_natural_ranks([*words])[name], hierarchy.parent[rows]))
    child = rows[order]
    # `child` is sorted by parent.
    child_start = np.searchsorted(hierarchy.parent[child], [*parent.tolist(), len(hierarchy)])
    label = _label_ids(hierarchy, rows, name, words)[order]
    place = np.full(len(hierarchy), -1, np.int64)
    place[child] = np.arange(len(child))
    level = np.zeros(len(hierarchy), np.int64)  # valid for parents of `child` only
    level[parent] = np.arange(len(parent))
    edge, edge_start = _file_level_edges(hierarchy, level, place, child_start)
    part, indexes = TrainingLevels(hierarchy).part[child], _index_arithmetic_rows(hierarchy, child)
    return LevelColumns(hierarchy, parent, child, child_start, label, [*words], part, indexes, edge, edge_start)


def _index_arithmetic_rows(hierarchy: Hierarchy, rows: Longs) -> Bools:
    """Return which rows contain ops that are all index arithmetic."""
    graph, size = hierarchy.graph, hierarchy.op_prefix_sum[hierarchy.end[rows]] - hierarchy.op_prefix_sum[rows]

    def all_in(column: Bools) -> Bools:
        matches: Bools = (size > 0) & (count_ops_below(hierarchy, column)[rows] == size)
        return matches

    def nodes_asked_for(possible: Bools) -> Bools:
        inside = rows_within(hierarchy, rows[all_in(possible)])
        nodes = np.zeros(len(graph), bool)
        nodes[hierarchy.node[inside & hierarchy.is_ordinary_op]] = True
        return nodes

    return all_in(index_arithmetic_ops(graph, nodes_asked_for))


def _local_name_ids(hierarchy: Hierarchy, rows: Longs, parents: Longs, words: dict[str, int]) -> Longs:
    """Return the id of the name of each row below its parent; of the whole name at the top of a graph or function."""
    name = hierarchy.name
    scopes = parents[(hierarchy.kind[parents] == int(RowKind.SCOPE)) & (parents > 0)]
    length = np.zeros(len(hierarchy), np.int64)
    length[scopes] = [len(name[row]) + 1 for row in scopes.tolist()]  # "scope/", which is cut off
    cuts = length[hierarchy.parent[rows]]
    found = [words[name[row][cut:]] for row, cut in zip(rows.tolist(), cuts.tolist(), strict=True)]
    return np.array(found, np.int64)


def _natural_ranks(names: Sequence[str]) -> Longs:
    """Return the rank of each name among all (distinct) names in natural order: `x2` before `x10`."""
    rank = {name: position for position, name in enumerate(sorted(names, key=_natural_sort_key))}
    return np.fromiter(map(rank.__getitem__, names), np.int64, len(names))


def _natural_sort_key(name: str) -> tuple[str, int, str]:
    """Return the key that sorts names in natural order of their numbers.

    >>> sorted(["x10", "x2", "w"], key=_natural_sort_key)
    ['w', 'x2', 'x10']
    """
    return DIGIT_RUN.sub("#", name), len(name), name


def _label_ids(hierarchy: Hierarchy, rows: Longs, name: Longs, words: dict[str, int]) -> Longs:
    """Return the id of the label of each row; `name` are the ids of their names.

    Layers keep the names of the file, with counters, since names in code may be equal.
    """
    label = name.copy()
    for position in np.flatnonzero(name == words.get("", -1)).tolist():
        label[position] = words[hierarchy.display_label(int(rows[position]))]
    of_node = hierarchy.graph.labels
    nodes = np.fromiter(of_node, np.int64, len(of_node))
    # The extra entry at the end is for nodes without a row (-1).
    place = np.full(len(hierarchy) + 1, -1, np.int64)
    place[rows] = np.arange(len(rows))
    spots = place[hierarchy.row_of_node[nodes]]
    for position, node in zip(spots[spots >= 0].tolist(), nodes[spots >= 0].tolist(), strict=True):
        label[position] = words[of_node[node]]
    return label


def _file_level_edges(hierarchy: Hierarchy, level: Longs, place: Longs, child_start: Longs) -> tuple[ChildEdges, Longs]:
    """Return the data edges between siblings, by target and slot, and where those of each level start.

    `level` is the number of each row that is a level, `place` that of each child of a level.
    """
    graph = hierarchy.graph
    edges = hierarchy.edge_order
    start, stop = hierarchy.edge_from[edges], hierarchy.edge_to[edges]
    is_flow = (start != stop) & ~graph.control[edges]
    is_flow &= place[stop] >= 0
    edges = edges[is_flow]
    source, target = place[hierarchy.edge_from[edges]], place[hierarchy.edge_to[edges]]
    order = np.lexsort((source, graph.slot[edges], target))  # the last key counts first
    edges, source, target = edges[order], source[order], target[order]
    owner = level[hierarchy.parent[hierarchy.edge_to[edges]]]
    handle = np.array([has_role(op, *STORAGE_SOURCE_ROLES) for op in graph.op_types], bool)[
        graph.op[graph.source[edges]]
    ]
    store = np.array([has_role(op, *STORAGE_TARGET_ROLES) for op in graph.op_types], bool)[
        graph.op[graph.target[edges]]
    ]
    first = child_start[owner]
    starts = np.searchsorted(owner, np.arange(len(child_start)))
    return ChildEdges(source - first, target - first, handle, store), starts


def first_equal_levels(columns: LevelColumns, runs: Iterable[SeriesRun], levels: Longs | None = None) -> Longs:
    """Return the first equal level of each level, or of each in `levels`.

    Equal levels have equal names, structures, edges, series and parts, and are folded in the same way.
    """
    levels = np.arange(len(columns.parent)) if levels is None else levels
    starts, stops = columns.child_start[levels], columns.child_start[levels + 1]
    edge = columns.edge
    # Bits: 33-62 the source, 2-32 the target, 1 handle, 0 store.
    codes = edge.source << 33 | edge.target << 2 | edge.handle.astype(np.int64) << 1 | edge.store
    heads, same_as = group_equal_runs(
        ColumnRuns(_child_symbols(columns), starts, stops),
        ColumnRuns(columns.label, starts, stops),
        ColumnRuns(codes, columns.edge_start[levels], columns.edge_start[levels + 1]),
        ColumnRuns(_series_places(columns, runs), starts, stops),
        ColumnRuns(columns.part.astype(np.int64) << 1 | columns.indexes, starts, stops),
    )
    first_equal: Longs = levels[np.array(heads, np.int64)[same_as]]
    return first_equal


def replace_label_numbers(columns: LevelColumns, levels: Longs) -> LevelColumns:
    """Return the columns with the numbers in the labels of some levels replaced (see `_number_by_place`)."""
    words = {word: number for number, word in enumerate(columns.words)}
    label = columns.label.copy()
    start, size = columns.child_start[levels], np.diff(columns.child_start)[levels]
    several = np.bincount(size)[size] > 1  # only saves time: a level of unique size equals no other
    for first, stop in zip(start[several].tolist(), (start + size)[several].tolist(), strict=True):
        shown = _number_by_place([columns.words[number] for number in label[first:stop].tolist()])
        label[first:stop] = [words.setdefault(word, len(words)) for word in shown]
    return replace(columns, label=label, words=[*words])


def _number_by_place(labels: Sequence[str]) -> list[str]:
    """Replace each number in the labels of a level by its ranks as text and as number.

    Folding only compares numbers, so levels with equal replaced labels are folded alike, except for the names of
    groups.

    >>> _number_by_place(["(avg_7)", "mul_7", "sub_1"]) == _number_by_place(["(avg_12)", "mul_12", "sub_10"])
    True
    >>> _number_by_place(["avg_7", "sub_1"]) == _number_by_place(["avg_1", "sub_7"])
    False
    """
    numbers = sorted(set(DIGIT_RUN.findall("\n".join(labels))))
    by_size = {number: size for size, number in enumerate(sorted(numbers, key=lambda number: (len(number), number)))}
    place = {number: f"<{text}.{by_size[number]}>" for text, number in enumerate(numbers)}
    return [DIGIT_RUN.sub(lambda found: place[found[0]], label) for label in labels] if numbers else [*labels]


def _child_symbols(columns: LevelColumns) -> Longs:
    """Return a number for each child, equal for equal op types and for equal structures."""
    hierarchy, child = columns.hierarchy, columns.child
    types = len(hierarchy.graph.op_types)
    template = hierarchy.template[child].astype(np.int64)
    # Types, then templates; a row with neither is unique.
    symbol: Longs = np.where(template >= 0, types + template, -child)
    ops = hierarchy.kind[child] == RowKind.OP
    symbol[ops] = hierarchy.graph.op[hierarchy.node[child[ops]]]
    return symbol


def _series_places(columns: LevelColumns, runs: Iterable[SeriesRun]) -> Longs:
    """Return for each child a number made of its series and its position in it; 0 for none."""
    place = np.zeros(len(columns.child), np.int64)
    spot = np.full(len(columns.hierarchy), -1, np.int64)
    spot[columns.child] = np.arange(len(columns.child))
    runs_so_far: dict[int, int] = defaultdict(int)
    for run in runs:
        if spot[run.members[0]] < 0:
            continue
        place[spot[list(run.members)]] = (runs_so_far[run.parent] << 32) + np.arange(1, len(run.members) + 1)
        runs_so_far[run.parent] += 1
    return place
