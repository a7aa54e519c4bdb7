"""Compute the changes of every row and edge in the hierarchy of the merged graph, and the groups to open for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from graphviz_tb.diff.changes.training import OPTIMIZER_KEYS
from graphviz_tb.diff.picture.merge import Merged, Where
from graphviz_tb.diff.report.words import setting_words
from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.limits import (
    MAX_BADGE_KINDS,
    MAX_BOXES_PER_CHANGE,
    MAX_BOXES_TO_CHANGES,
    MAX_MARKED_CALLS,
    MAX_NESTED_OPEN_GROUPS,
    MAX_OPENED_CHANGES,
)
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import Ints, distinct_values, exists, sorted_value_range
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import FUNCTION_ROW, OP_ROW, SCOPE_ROW, STACK_KINDS, Hierarchy
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.model.metagraph import BundledLine, Metagraph
from graphviz_tb.model.paths import RowPath, child_path, content_rows, function_row_of, last_segment
from graphviz_tb.model.scene import LineIdentity, Scene, Stub
from graphviz_tb.model.view import View

NAME_WORDS = re.compile(r"[^\s:,;→()]+")  # possible names in the text of a change
HOLDS_SIGN = "·"  # only something inside changed, or the source of an input
SIGNS = ("", "+", "−", "~", "→", HOLDS_SIGN)
STACK_WORDS_PX = 110  # for the words behind the number of parts in the second line of a stack
MAX_SHOWN_MEMBERS = 8  # a larger stack stays closed if all members changed in the same way
GROUP_WORDS = {"+": "new", "−": "gone", "~": "changed", HOLDS_SIGN: "reconnected"}


def function_at(hierarchy: Hierarchy, row: int) -> str:
    """Return the name of the function that a row is in, "" for the main graph."""
    root = function_row_of(hierarchy, row)
    return hierarchy.name[root] if root else ""


def row_places(hierarchy: Hierarchy) -> list[Where | None]:
    """Return the function and the name of each row that is a node; None for groups."""
    graph = hierarchy.graph
    places: list[Where | None] = []
    for node in hierarchy.node.tolist():
        if not exists(node):
            places.append(None)
            continue
        function = int(graph.function[node])
        places.append((graph.functions[function].name if exists(function) else "", graph.name[node]))
    return places


def group_signs(
    hierarchy: Hierarchy, signs: list[str], words: dict[int, str], moved: dict[int, str], away: str = "renamed"
) -> None:
    """Set the signs and words of groups: the sign of their ops if all were added or removed, `→` if the group was moved
    or renamed, and `HOLDS_SIGN` if something inside, or in a called function, changed. `away` is the word for `→`."""
    # Signs spread from ops to groups, and from functions to their calls, until no new call gets a sign.
    _sign_groups(hierarchy, signs, moved)
    calls = _calls_by_function(hierarchy)
    changed_bodies = [body for body in calls if signs[body]]
    for rounds_left in reversed(range(MAX_MARKED_CALLS)):
        called = sorted({row for body in changed_bodies for row in calls.pop(body) if not signs[row]})
        if not called or not rounds_left:
            break
        for row in called:
            signs[row] = HOLDS_SIGN
            words.setdefault(row, "function changed")
        changed_bodies = [row for row in _hold_called(hierarchy, signs, called) if row in calls]
    _say_groups(hierarchy, signs, words, away)
    # Calls at the bound are marked, but not the groups around them.
    for row in called:
        signs[row] = HOLDS_SIGN
        words.setdefault(row, "function changed")


def _calls_by_function(hierarchy: Hierarchy) -> dict[int, list[int]]:
    """Return the rows of the calls of each function, by the row of the function."""
    calls: dict[int, list[int]] = {}
    for row, called in hierarchy.calls.items():
        for _, body in called:
            calls.setdefault(body, []).append(row)
    return calls


def _hold_called(hierarchy: Hierarchy, signs: list[str], called: Iterable[int]) -> list[int]:
    """Set `HOLDS_SIGN` on groups without a sign around calls; return these groups."""
    parents, seen, made = hierarchy.parent, set[int](), []
    for call in called:
        # Constants, weights and summaries do not count.
        row = int(parents[call]) if hierarchy.mark[call] == Mark.NONE else -1
        while row >= 0 and row not in seen and signs[row] != HOLDS_SIGN:
            seen.add(row)
            if not signs[row]:
                signs[row] = HOLDS_SIGN
                made.append(row)
            row = int(parents[row])
    return made


def _sign_groups(hierarchy: Hierarchy, signs: list[str], moved: dict[int, str]) -> None:
    """Set the signs of groups from the signs of their ops."""
    nodes, counts, ordinary = _signs_below(hierarchy, signs)
    groups = ~exists(hierarchy.node)
    some = (nodes[:-1].any(axis=0) | (ordinary[-1] > 0)) & groups
    for row in np.flatnonzero(some).tolist():
        signs[row] = HOLDS_SIGN
    for row, sign in moved.items():
        signs[row] = sign
    # `SIGNS[1:3]` are + and −, for groups whose nodes all have that sign.
    for sign, number in zip(SIGNS[1:3], nodes, strict=False):
        for row in np.flatnonzero((number == counts) & (counts > 0) & groups).tolist():
            signs[row] = sign


def _say_groups(hierarchy: Hierarchy, signs: list[str], words: dict[int, str], away: str) -> None:
    """Set the words of groups with `HOLDS_SIGN`: the number of changes inside."""
    nodes, _, ordinary = _signs_below(hierarchy, signs)
    ops = OpCounter(hierarchy)
    for row in np.flatnonzero(~exists(hierarchy.node)).tolist():
        if signs[row] == HOLDS_SIGN and row:
            every = [*nodes[:-1, row].tolist(), int(ordinary[-1, row])]
            text = _count_words(every, ordinary[:, row].tolist(), ops(row), away)
            if hierarchy.kind[row] in STACK_KINDS:
                # In a stack, the number of parts needs room too.
                text = text.partition(" of ")[0]
                text = text if text_width(text, SMALL_FONT_PX) <= STACK_WORDS_PX else f"{sum(every):,} changed"
            words[row] = text


def _signs_below(hierarchy: Hierarchy, signs: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each row the number of nodes at or below it: by sign, in total, and by sign without constants, weights
    and summaries. The first axis is the sign."""
    inside = exists(hierarchy.node)
    nodes, counts = _rows_of_signs(hierarchy, signs, inside)
    ordinary, _ = _rows_of_signs(hierarchy, signs, inside & (hierarchy.mark == Mark.NONE))
    return nodes, counts, ordinary


def blocks_with_one_change(hierarchy: Hierarchy, where: Sequence[Where | None], merged: Merged) -> dict[int, list[str]]:
    """Return the groups that contain places of one change only, with its description, so that each of three equal
    blocks shows its change. Of the groups around all of its places, only the innermost is returned."""
    row_at = {place: row for row, place in enumerate(where) if place is not None}
    edited = np.zeros(len(hierarchy.name), np.int64)
    edited[[row for place in merged.edited if (row := row_at.get(place, -1)) >= 0]] = 1
    other_edits = _counts_below(hierarchy, edited)
    words_by_row: dict[int, list[str]] = {}
    for words, places in merged.places:
        of_change = np.zeros(len(edited), np.int64)
        of_change[[row for place in places if (row := row_at.get(place, -1)) >= 0]] = 1
        inside = _counts_below(hierarchy, of_change & edited)
        blocks = (inside > 0) & (inside < inside[0]) & ~exists(hierarchy.node)
        around_all = np.flatnonzero((inside == inside[0]) & (inside > 0) & ~exists(hierarchy.node))
        blocks[around_all[-1:]] = True  # the innermost, since rows are in preorder
        blocks[0] = False
        other_edits[blocks] -= inside[blocks]
        for row in np.flatnonzero(blocks).tolist():
            words_by_row.setdefault(row, []).append(words)
    return {row: lines for row, lines in words_by_row.items() if other_edits[row] <= 0}


def _counts_below(hierarchy: Hierarchy, column: np.ndarray) -> np.ndarray:
    """Return the sums of a column, or of several, over the rows at or below each row."""
    total = np.insert(np.cumsum(column, axis=-1), 0, 0, axis=-1)
    sums: np.ndarray = total[..., hierarchy.end] - total[..., :-1]
    return sums


def sign_training(hierarchy: Hierarchy, changes: Iterable[Change], signs: list[str], words: dict[int, str]) -> None:
    """Show a change of the optimizer, which is no op, at the top-level group with most added and removed ops."""
    for change in changes:
        if change.setting is None or change.key not in OPTIMIZER_KEYS or change.ops:
            continue
        groups = np.flatnonzero((hierarchy.parent == 0) & ~exists(hierarchy.node))
        inside, _ = _rows_of_signs(hierarchy, signs, exists(hierarchy.node))
        moved = inside[SIGNS.index("+") - 1] + inside[SIGNS.index("−") - 1]
        most = max(groups.tolist(), key=lambda row: int(moved[row]), default=0)
        if moved[most] and most:
            signs[most] = "~"
            words[most] = setting_words(change.setting)


def sign_takers(hierarchy: Hierarchy, signs: list[str], words: dict[int, str]) -> None:
    """Show the change of a constant at the op that uses it, since the constant is only a small disc."""
    graph, rows = hierarchy.graph, hierarchy.row_of_node
    pairs = np.flatnonzero((graph.mark[graph.beside.mark] == Mark.CONSTANT) & graph.beside.inward)
    takers = zip(rows[graph.beside.mark[pairs]].tolist(), rows[graph.beside.host[pairs]].tolist(), strict=True)
    for constant, op in takers:
        if exists(constant) and exists(op) and signs[constant] == "~" and signs[op] in ("", HOLDS_SIGN):
            signs[op], words[op] = "~", words.get(constant, GROUP_WORDS["~"])


def _rows_of_signs(hierarchy: Hierarchy, signs: list[str], among: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row the number of rows of `among` at or below it, by sign and in total."""
    numbers = np.array([SIGNS.index(sign) for sign in signs]) * among
    marks = numbers == np.arange(1, len(SIGNS))[:, None]
    return _counts_below(hierarchy, marks), _counts_below(hierarchy, among)


def _count_words(every: list[int], ordinary: list[int], ops: int | None, away: str) -> str:
    """Describe the changes in a group, for a box. Constants, weights and summaries count only if nothing else changed.

    >>> (
    ...     _count_words([1, 0, 2, 0, 0], [1, 0, 1, 0, 0], 22, "moved"),
    ...     _count_words([0, 0, 2, 0, 0], [0, 0, 0, 0, 0], 22, "moved"),
    ... )
    ('1 new, 1 changed of 22 ops', '2 constants or weights changed, 22 ops')
    """
    kinds = {**GROUP_WORDS, "→": away}
    words = [f"{number:,} {kinds[sign]}" for sign, number in zip(SIGNS[1:], ordinary, strict=True) if number]
    total = "∞ ops" if ops is None else format_counted_noun(ops, "op")
    if not words:
        marks = sum(every) - sum(ordinary)
        return f"{marks:,} {'constant or weight' if marks == 1 else 'constants or weights'} changed, {total}"
    return ", ".join(words) + (f" of {total}" if len(words) < MAX_BADGE_KINDS else "")


KEPT_STATE, ADDED_STATE, REMOVED_STATE = 0, 1, 2


def edge_states(hierarchy: Hierarchy, signs: list[str], where: list[Where | None], merged: Merged) -> np.ndarray:
    """Return the state of each edge: that of an added or removed node at one of its ends, else as `merged` lists it."""
    graph = hierarchy.graph
    states = np.full(graph.edge_count, KEPT_STATE, np.uint8)
    # Nodes that the hierarchy leaves out have no row.
    of_node = np.array([signs[row] if exists(row) else "" for row in hierarchy.row_of_node.tolist()], "U1")
    states[(of_node == "+")[graph.source] | (of_node == "+")[graph.target]] = ADDED_STATE
    states[(of_node == "−")[graph.source] | (of_node == "−")[graph.target]] = REMOVED_STATE
    inputs = {**dict.fromkeys(merged.gained, ADDED_STATE), **dict.fromkeys(merged.lost, REMOVED_STATE)}
    if not inputs:
        return states
    node_at = {place: int(hierarchy.node[row]) for row, place in enumerate(where) if place is not None}
    # Edges are found by binary search for node and slot, since a node may have a hundred thousand inputs.
    wired = np.array([(node_at[place], slot, state) for (place, slot), state in inputs.items()], np.int64)
    nodes, slots, new_states = wired.T
    low = min(int(np.min(slots)), int(np.min(graph.slot, initial=0)))
    width = max(int(np.max(slots)), int(np.max(graph.slot, initial=0))) - low + 1
    wanted, edges = (
        node.astype(np.int64) * width + slot - low for node, slot in ((nodes, slots), (graph.target, graph.slot))
    )
    order = np.argsort(wanted)
    place = np.minimum(np.searchsorted(wanted, edges, sorter=order), len(order) - 1)
    found = wanted[order[place]] == edges
    states[found] = new_states[order[place[found]]]
    return states


class FlatEdgeIndex:
    """The states of lines and stubs, from the states of the edges of the file that they represent."""

    def __init__(self, hierarchy: Hierarchy, view: View, states: np.ndarray) -> None:
        self.states = states
        self.hierarchy = hierarchy
        self.levels: dict[RowPath, Metagraph] = {}
        todo = [view]
        while todo:
            level = todo.pop()
            self.levels[level.path] = level.metagraph
            todo += level.opened.values()

    @cached_property
    def edges_between(self) -> EdgesBetween:
        """Return the index of edges by their rows, which only boxes with marks need."""
        return EdgesBetween(self.hierarchy)

    def stub(self, scene: Scene, stub: Stub) -> set[int]:
        """Return the states of the edges that a stub represents."""
        row, inbound = scene.boxes[stub.box].row, stub.side == "in"
        states: set[int] = set()
        for identity in stub.identities:
            if identity.kind == "annotation":
                other = self.levels[identity.path].annotations[identity.index].other
                edges = self.edges_between(*((other, row) if inbound else (row, other)))
                states |= self._states_of_edges(edges) or {KEPT_STATE}
            else:
                states |= self.states_of(identity)
        return states

    def states_of(self, identity: LineIdentity) -> set[int]:
        """Return the states of the edges of a metaedge or bridge."""
        level = self.levels[identity.path]
        lines: Sequence[BundledLine] = {"bridge": level.bridges, "edge": level.edges}.get(identity.kind, ())
        return self._states_of_edges(lines[identity.index].flat_edges) if lines else set()

    def _states_of_edges(self, edges: Ints | None) -> set[int]:
        return set() if edges is None else set(distinct_values(self.states[edges]).tolist())


class EdgesBetween:
    """The edges of the file from one row to another, descendants included."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        graph = hierarchy.graph
        self.end = hierarchy.end
        self.ends = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
        # The descendants of a row are a run of rows, so its edges are a run of the edges sorted by row.
        self.order = [np.argsort(rows, kind="stable") for rows in self.ends]
        self.sorted = [rows[order] for rows, order in zip(self.ends, self.order, strict=True)]

    def __call__(self, source: int, target: int) -> Ints:
        """Return the ids of these edges, in any order."""
        runs = [
            order[slice(*sorted_value_range(rows, row, self.end[row]))]
            for order, rows, row in zip(self.order, self.sorted, (source, target), strict=True)
        ]
        # Filter the shorter run by the other end.
        side = int(len(runs[0]) > len(runs[1]))
        row = source if side else target
        others = self.ends[1 - side][runs[side]]
        edges: Ints = runs[side][(others >= row) & (others < self.end[row])]
        return edges


def alike_stacks(hierarchy: Hierarchy, signs: Sequence[str], words: Mapping[int, str]) -> frozenset[int]:
    """Return the stacks of many members that all changed in the same way, which one box can show."""
    found = set()
    for row in np.flatnonzero(np.isin(hierarchy.kind, list(STACK_KINDS))).tolist():
        members = hierarchy.children(row).tolist()
        if len(members) > MAX_SHOWN_MEMBERS and len({(signs[each], words.get(each)) for each in members}) == 1:
            found.add(row)
    return frozenset(found)


class DrawnNames:
    """The names of nodes as the picture shows them; `rows` are the rows of the main graph by name."""

    def __init__(self, hierarchy: Hierarchy, rows: Mapping[str, int]) -> None:
        self.hierarchy, self.rows = hierarchy, rows

    def in_text(self, text: str) -> str:
        """Replace the names of nodes in a text by those that boxes show."""
        return NAME_WORDS.sub(lambda match: self.name_of(self.rows.get(match[0], 0)) or match[0], text)

    def name_of(self, row: int) -> str:
        """Return the labels of a row and of the boxes around it as a path."""
        hierarchy, parts = self.hierarchy, []
        while row > 0 and hierarchy.kind[row] != FUNCTION_ROW:
            if hierarchy.kind[row] == OP_ROW and hierarchy.graph.mark[hierarchy.node[row]]:
                parts.append(last_segment(hierarchy.name[row]))  # its label is not a name: "kernel 3×3×1×8"
            elif hierarchy.kind[row] in (OP_ROW, SCOPE_ROW):
                parts.append(hierarchy.short_label(row))
            row = int(hierarchy.parent[row])
        return "/".join(reversed(parts))


def ways_to_changes(
    hierarchy: Hierarchy,
    signs: Sequence[str],
    shown: Sequence[Sequence[int]],
    most: int = MAX_BOXES_TO_CHANGES,
    closed: Collection[int] = (),
) -> tuple[list[RowPath], int]:
    """Return the groups to open to show the changes, and the number of changes that do not fit.

    `shown` are the rows of each change, the most severe change first. One row of each of the first `MAX_OPENED_CHANGES`
    changes is shown, however many boxes that needs; further rows as long as there are at most `most` boxes. Groups that
    are added, removed or renamed as a whole, and the rows `closed`, stay closed.
    """
    groups = GroupPaths(hierarchy)
    opened: dict[RowPath, None] = {}
    # By group and sign: the number of open groups when a row there did not fit. Until that changes, none fits.
    count_when_full: dict[tuple[GroupPath | None, str], int] = {}
    boxes, unseen = groups.boxes(0), {number for number, rows in enumerate(shown) if rows}
    firsts = (
        (number, row, MAX_BOXES_PER_CHANGE)
        for number, rows in enumerate(shown[:MAX_OPENED_CHANGES])
        for row in rows[:1]
    )
    others = ((number, row, most) for number, rows in enumerate(shown) for row in rows[number < MAX_OPENED_CHANGES :])
    for number, row, room in chain(firsts, others):
        around = groups.innermost_group(row)
        if count_when_full.get((around, signs[row])) == len(opened):
            continue
        new_groups = [group for group in _groups_around(around, signs[row], signs, closed) if group not in opened]
        added_boxes = sum(groups.boxes(group[-1]) for group in new_groups)
        # A row that does not fit is skipped, since a later one may fit.
        if new_groups and opened and boxes + added_boxes > room:
            count_when_full[around, signs[row]] = len(opened)
            continue
        unseen.discard(number)
        boxes += added_boxes
        opened.update(dict.fromkeys(new_groups))
    return list(opened), len(unseen)


def rows_shown(
    hierarchy: Hierarchy, where: Sequence[Where | None], shown: Sequence[Sequence[tuple[Where, ...]]]
) -> list[list[int]]:
    """Return the rows of the places of each change; of alternatives, the first that exists."""
    row_of = {("", hierarchy.name[row]): row for row, origin in enumerate(where) if origin is None}
    row_of.update({origin: row for row, origin in enumerate(where) if origin is not None})
    rows = (
        [next((row_of[place] for place in places if place in row_of), None) for places in dict.fromkeys(change)]
        for change in shown
    )
    return [[row for row in change if row is not None] for change in rows]


@dataclass(frozen=True, slots=True, eq=False)
class GroupPath:
    """A group with the group around it; the root has none and depth 0."""

    path: RowPath
    around: GroupPath | None
    depth: int


class GroupPaths:
    """The groups around each row; a function is shown at its first call. Only the outer `MAX_NESTED_OPEN_GROUPS` groups
    of a path are known."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.callers = {body: min(calls) for body, calls in _calls_by_function(hierarchy).items()}
        # By row; None for a function without a shown call.
        self._known: dict[int, GroupPath | None] = {-1: None, 0: GroupPath((0,), None, 0)}
        self._boxes: dict[int, int] = {}

    def innermost_group(self, row: int) -> GroupPath | None:
        """Return the innermost known group around a row; None if the row is not shown."""
        way: dict[int, None] = {}
        outer = self._outer_box(row)
        while outer not in self._known and outer not in way:
            way[outer] = None
            outer = self._outer_box(outer)
        # A function that only calls itself leads back to a row of the way.
        group = self._known.get(outer)
        for inner in reversed(way):
            if group is not None and group.depth < MAX_NESTED_OPEN_GROUPS:
                group = GroupPath(child_path(self.hierarchy, group.path, inner), group, group.depth + 1)
            self._known[inner] = group
        return group

    def boxes(self, row: int) -> int:
        """Return the number of boxes in an open group."""
        if row not in self._boxes:
            self._boxes[row] = len(content_rows(self.hierarchy, (row,)))
        return self._boxes[row]

    def _outer_box(self, row: int) -> int:
        """Return the row of the group around a row, through calls as in `parent_path`; -1 for none."""
        hierarchy = self.hierarchy
        parent = int(hierarchy.parent[row])
        function = row if hierarchy.kind[row] == FUNCTION_ROW else parent
        if function < 0 or hierarchy.kind[function] != FUNCTION_ROW:
            return parent
        call = self.callers.get(function, -1)
        # A call of several functions shows each of them as a group.
        return call if function == row or call < 0 or len(hierarchy.calls[call]) == 1 else function


def _groups_around(
    around: GroupPath | None, own: str, signs: Sequence[str], closed: Collection[int]
) -> Iterator[RowPath]:
    """Yield the groups around a node of sign `own`, from the outside in, up to the first that is `closed`, or was
    added, removed or renamed as a whole; without the root."""
    outwards: list[RowPath] = []
    while around is not None and around.depth:
        outwards.append(around.path)
        around = around.around
    for group in reversed(outwards):
        if group[-1] in closed or (signs[group[-1]] == own and own in ("+", "−", "→")):
            return
        yield group
