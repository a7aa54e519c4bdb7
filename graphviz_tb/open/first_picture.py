"""Choose the groups that the first picture opens: the path to the model, until its repeats show."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.graphs.rows import quiet_rows
from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.limits import MAX_LEVEL_CHILDREN
from graphviz_tb.model.columns import distinct_values
from graphviz_tb.model.hierarchy import FOLD_ROW, LAYER_ORIGIN, OP_ROW, SCOPE_ROW, SERIES_ROW, Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import (
    RowPath,
    child_path,
    content_rows,
    is_stack,
    paths_to_usual_member,
    repetition_count,
    scopes_inside_alone,
    sole_stack,
    usual_member,
)
from graphviz_tb.open.repeats import ModelRepeats, are_alike
from graphviz_tb.open.weight_rows import WeightRows
from graphviz_tb.ops.roles import IDENTITY_OPS, INPUT_OPS, NEXT_ELEMENT_OPS, RESULT_OPS

ExpandPath = Callable[[RowPath], Metagraph]

GRAPH_ROOT: RowPath = (0,)
SAVER_NAME = compile_on_use(r"_traced_(save|restore)")
MIN_PICTURE_BOXES, MAX_PICTURE_BOXES = 8, 40  # enough to show what the model is, few enough to read at once
# A recurrent layer stays closed if opening it shows more boxes: the ops around its loop explain little.
MAX_LOOP_LAYER_BOXES = 2 * MIN_PICTURE_BOXES
MAX_REPEAT_BOXES = 28  # stop opening repeats at this size: their surroundings need room, too
MAX_SHORT_STACK = 4  # stacks of up to 4 members open before single layers
# Shares of the ops of the model:
MAIN_CALL_SHARE = 0.65  # a call with more is the model
LARGE_PART_SHARE = 0.3
# If no large stack is open, open the largest chain with at least this share of the ops and this many members.
MIN_CHAIN_SHARE, MIN_CHAIN_MEMBERS = 0.1, 3
# In an open member with few boxes, open the box that has most of the member's ops.
MAX_MEMBER_BOXES, DOMINANT_BOX_SHARE = 2, 0.8
SECOND_STACK_SHARE = 0.2  # open other stacks with at least this share of the largest stack's ops
MAX_UNFOLDED_OPS = 16  # open the folds of smaller models
DATA_FORWARDING_OPS = INPUT_OPS | NEXT_ELEMENT_OPS | IDENTITY_OPS | RESULT_OPS


def first_open_groups(hierarchy: Hierarchy, metagraph: ExpandPath, one_member: bool = True) -> list[RowPath]:
    """Return the groups to open, each after the group around it. With `one_member` a stack shows one member, not all.

    1. Open the groups around the repeat with most ops of the model, and one of its members.
    2. While there is room, open other groups with repeats, and their stacks.
    3. Open the largest groups until 8 boxes show, and large parts of the model until 8 boxes belong to it.

    Equal groups open together or not at all. Groups behind the last weights (losses, metrics) open after groups with
    weights; gradients, updates and savers open last. Marks, stubs and the auxiliary area do not count as boxes.
    """
    picture = FirstPicture(hierarchy, metagraph, one_member)
    picture.open_towards_repeat()
    picture.open_main_stack()
    picture.open_around_repeats()
    picture.open_other_stacks()
    picture.open_largest_chain()
    picture.open_largest_groups()
    return picture.open_paths()


class FirstPicture:
    """A first picture under construction; `closed` and `frames` count its closed boxes and its open groups."""

    def __init__(self, hierarchy: Hierarchy, metagraph: ExpandPath, one_member: bool) -> None:
        self.hierarchy = hierarchy
        self.metagraph = metagraph
        self.one_member = one_member
        self.shows_member = False  # whether a stack is open
        self.quiet = quiet_rows(hierarchy)
        self.ops = OpCounter(hierarchy, self.quiet)
        self.repeats = ModelRepeats(hierarchy, self.ops, self.quiet)
        self.weights = WeightRows(hierarchy, self.quiet)
        self.opened: dict[RowPath, None] = {GRAPH_ROOT: None}
        self.closed = len(metagraph(GRAPH_ROOT).core_children())
        self.model_boxes = self.model_box_count(GRAPH_ROOT)
        self.frames = 0
        self.off_flow: set[RowPath] = set()
        self.after_weights: set[RowPath] = set()

    def shown_content(self, path: RowPath) -> RowPath:
        """Return the group whose content shows when `path` is open: itself, or the innermost that opens with it."""
        return self.with_usual_member(path)[-1]

    def with_usual_member(self, path: RowPath) -> list[RowPath]:
        """Return a group and the groups that open with it: the usual member of a stack, or nested scopes that contain
        nothing else."""
        usual = paths_to_usual_member(self.hierarchy, path) if self.one_member else []
        return [path, *(usual or scopes_inside_alone(self.hierarchy, path))]

    def open_paths(self) -> list[RowPath]:
        """Return the open groups and the members that stacks show, in the order of opening."""
        found: dict[RowPath, None] = {}
        for path in self.opened:
            found.update(dict.fromkeys(self.with_usual_member(path)))
        return list(found)

    def box_count_with(self, *paths: RowPath) -> int:
        """Return the number of boxes once `paths` are open, too; an upper bound if a group has very many children."""
        boxes = self.closed + self.frames
        for path in map(self.shown_content, paths):
            # The group's box is replaced by its content and its frame.
            children = len(content_rows(self.hierarchy, path))
            boxes += children if children > MAX_LEVEL_CHILDREN else len(self.metagraph(path).core_children())
        return boxes

    def model_box_count(self, path: RowPath) -> int:
        """Return how many boxes of an open group belong to the model and do more than forward data."""
        level = self.metagraph(self.shown_content(path))
        rows = [
            level.children[child] for child in set(level.core_children()) - self.weights.children_without_weights(level)
        ]
        return sum(1 for row in rows if not self.quiet[row] and not self.only_forwards(row))

    def only_forwards(self, row: int) -> bool:
        graph, node = self.hierarchy.graph, int(self.hierarchy.node[row])
        return node >= 0 and graph.op_types[graph.op[node]] in DATA_FORWARDING_OPS

    def open_group(self, path: RowPath) -> None:
        self.closed += len(self.metagraph(self.shown_content(path)).core_children()) - 1
        # While the group was closed, its own box counted.
        self.model_boxes += self.model_box_count(path) - (path not in self.after_weights and not self.quiet[path[-1]])
        self.frames += 1
        self.opened[path] = None

    def openable_below(self, path: RowPath) -> Iterator[RowPath]:
        """Yield the groups in the main area of an open group that can be opened.

        Add groups off the main flow to `off_flow`, and groups behind the last weights to `after_weights`.
        """
        content = self.shown_content(path)
        level = self.metagraph(content)
        # On a level with data edges, children without any are off the main flow.
        connected = {end for edge in level.edges if edge.tensors for end in (edge.source, edge.target)}
        connected |= {bridge.child for bridge in level.bridges if bridge.tensors}
        extracted = level.mask.extracted_children
        # Everything in a group behind the last weights is behind them, too.
        is_behind = path in self.after_weights
        behind = set(range(len(level.children))) if is_behind else self.weights.children_without_weights(level)
        own_rows = set(level.own_children())
        for position, row in enumerate(level.children):
            child = child_path(self.hierarchy, content, row)
            if row not in own_rows or self.hierarchy.sole_op(row) >= 0 or row in self.hierarchy.legs:
                continue  # drawn as its only op, or a leg, shown beside others
            if position not in extracted and opens_without_recursion(self.hierarchy, child):
                if connected and position not in connected:
                    self.off_flow.add(child)
                if position in behind:
                    self.after_weights.add(child)
                yield child

    def open_towards_repeat(self) -> None:
        """Open the groups around the repeat that holds most of the model."""
        path = GRAPH_ROOT
        while True:
            children = [child for child in self.openable_below(path) if child not in self.off_flow]
            child = max(children, key=lambda child: self.repeats.largest_repeat(child[-1]), default=None)
            if (
                child is None
                or not self.hides_repeat(child)
                or self.box_count_with(child) - self.frames > MAX_PICTURE_BOXES + 1  # without frames
            ):
                return
            self.open_group(child)
            path = child

    def hides_repeat(self, path: RowPath) -> bool:
        """Return whether a group contains a larger repeat than it is itself, and is not drawn as a stack."""
        return self.repeats.holds_larger_repeat(path[-1]) and not (
            self.one_member and sole_stack(self.hierarchy, path[-1]) >= 0
        )

    def open_main_stack(self) -> None:
        """Open the largest visible stack that is a large part of the model, if there is room for its member."""
        limit = MAX_PICTURE_BOXES if self.one_member else MAX_REPEAT_BOXES
        stacks = [
            path
            for path in self.closed_stacks()
            if self.is_large_part(path) and self.box_count_with(path) - self.frames <= limit
        ]
        if stacks:
            self.open_stack(max(stacks, key=lambda path: self.repeats.largest_repeat(path[-1])), limit)

    def open_stack(self, path: RowPath, limit: int) -> None:
        """Open a stack and the dominant box in its member, while no more than `limit` boxes show."""
        within_surplus = False
        while self.box_count_with(path) - self.frames <= limit:
            self.open_group(path)
            self.shows_member = True
            if within_surplus:
                return
            if not self.one_member:
                path = paths_to_usual_member(self.hierarchy, path)[-1]
                if self.box_count_with(path) <= MAX_REPEAT_BOXES:
                    self.open_group(path)
                return
            content = self.shown_content(path)
            inside = max(self.openable_below(path), key=lambda child: self.op_count(child[-1]), default=None)
            level = self.metagraph(content)
            within_surplus = level.surplus is not None  # the box of the surplus does not count
            if inside is None or len(level.core_children()) - within_surplus > MAX_MEMBER_BOXES:
                return
            if self.op_count(inside[-1]) < DOMINANT_BOX_SHARE * self.op_count(content[-1]):
                self.open_halves(path)
                return
            path = inside

    def open_halves(self, path: RowPath) -> None:
        """Open both folds of a member that consists of two, such as the attention and the MLP of a block."""
        halves = [child for child in self.openable_below(path) if self.is_plain_fold(child[-1])]
        if len(halves) == MAX_MEMBER_BOXES and self.box_count_with(*halves) <= MAX_REPEAT_BOXES:
            for half in halves:
                self.open_group(half)

    def is_plain_fold(self, row: int) -> bool:
        """Return whether a row is a fold whose box does not name its content."""
        return bool(self.hierarchy.kind[row] == FOLD_ROW) and self.hierarchy.how[row] != LAYER_ORIGIN

    def open_largest_chain(self) -> None:
        """If no stack is open yet, open the largest visible chain, such as the longest stage of a ResNet."""
        if not self.one_member or any(sole_stack(self.hierarchy, path[-1]) >= 0 for path in self.opened):
            return
        least = MIN_CHAIN_SHARE * self.op_count(0)
        stacks = [path for path in self.closed_stacks() if self.op_count(path[-1]) > least and self.is_chain(path)]
        if stacks:
            path = max(stacks, key=lambda path: self.repeats.largest_repeat(path[-1]))
            self.open_stack(path, MAX_REPEAT_BOXES)

    def is_chain(self, path: RowPath) -> bool:
        """Return whether a stack has at least three members with weights, one after the other."""
        stack = sole_stack(self.hierarchy, path[-1])
        several = repetition_count(self.hierarchy, stack) >= MIN_CHAIN_MEMBERS
        return several and bool(self.hierarchy.connected[stack]) and self.weights.holds_weight(stack)

    def closed_stacks(self) -> list[RowPath]:
        """Return the closed visible stacks of the model whose members are more than one layer."""
        return [
            child
            for path in list(self.opened)
            for child in self.openable_below(path)
            if child not in self.opened and self.is_model_stack(child)
        ]

    def is_model_stack(self, path: RowPath) -> bool:
        """Return whether a group is drawn as a stack of the model whose members are more than one layer."""
        stack = sole_stack(self.hierarchy, path[-1]) if self.one_member else path[-1]
        if stack not in self.repeats.at or not is_stack(self.hierarchy, stack) or path in self.off_flow:
            return False
        return not self.is_single_layer(usual_member(self.hierarchy, stack))

    def open_other_stacks(self) -> None:
        """While there is room, open other stacks that are not small next to the largest; equal stacks all or none."""
        if not self.one_member:
            return
        open_stacks = [path[-1] for path in self.opened if sole_stack(self.hierarchy, path[-1]) >= 0]
        if not open_stacks:
            return
        largest = max(self.repeats.largest_repeat(row) for row in open_stacks)
        remaining = [
            path
            for path in self.closed_stacks()
            if self.repeats.largest_repeat(path[-1]) >= SECOND_STACK_SHARE * largest
        ]
        remaining.sort(key=lambda path: (-self.repeats.largest_repeat(path[-1]), path))
        while remaining:
            path = remaining[0]
            alike = [other for other in remaining if other == path or are_alike(self.hierarchy, path[-1], other[-1])]
            remaining = [other for other in remaining if other not in alike]
            feeds_open_stack = any(self.feeds_members(path, stack) for stack in open_stacks)
            if self.has_room(alike, feeds_open_stack):
                for other in alike:
                    self.open_group(other)

    def feeds_members(self, path: RowPath, fed: int) -> bool:
        """Return whether the output of a stack reaches several members of the stack `fed`, as an encoder feeds its
        decoder. The two stand side by side, so the picture has room for both."""
        hierarchy, top, row = self.hierarchy, path[-1], path[-1]
        while top >= 0 and not top < fed < hierarchy.end[top]:
            row, top = top, int(hierarchy.parent[top])
        if top < 0 or row == top:
            return False
        level = self.metagraph((*path[:-1], top))
        if row not in level.children:
            return False
        downstream = _behind_child(level, level.children.index(row))
        members = hierarchy.children(sole_stack(hierarchy, fed))
        leaving = [edge.flat_edges for edge in level.edges if edge.tensors and edge.source in downstream]
        rows = [hierarchy.row_of_node[hierarchy.graph.target[flat]] for flat in leaving if flat is not None]
        fed_rows = np.concatenate(rows) if rows else members[:0]
        fed_rows = fed_rows[(fed_rows > fed) & (fed_rows < hierarchy.end[fed])]
        return len(distinct_values(np.searchsorted(members, fed_rows, side="right"))) > 1

    def has_room(self, paths: Sequence[RowPath], stands_beside: bool = False) -> bool:
        """Return whether the picture has room for groups with repeats.

        Groups beside an open one may fill the whole picture, if no two of them have the same structure.
        """
        boxes = self.box_count_with(*paths)
        if boxes <= MAX_REPEAT_BOXES or boxes > MAX_PICTURE_BOXES:
            return boxes <= MAX_REPEAT_BOXES
        structures = self.hierarchy.template[[path[-1] for path in paths]]
        beside = stands_beside or self.is_beside_open_one(paths[0])
        return beside and len(distinct_values(structures)) == len(paths)

    def is_beside_open_one(self, path: RowPath) -> bool:
        """Return whether no path of data joins a group, or a group around it, with an open group that has a repeat:
        they are two towers, side by side."""
        hierarchy, row = self.hierarchy, path[-1]
        open_rows = {other[-1] for other in self.opened if other[:-1] == path[:-1]}
        open_rows = {other for other in open_rows if self.repeats.holds_notable_repeat(other)}
        while (around := int(hierarchy.parent[row])) >= 0:
            level = self.metagraph((*path[:-1], around))
            others = [child for child, other in enumerate(level.children) if other != row and other in open_rows]
            if others and row in level.children:
                own = level.children.index(row)
                behind = _behind_child(level, own)
                return any(child not in behind and own not in _behind_child(level, child) for child in others)
            row = around
        return False

    def hides_large_repeat(self, path: RowPath) -> bool:
        """Return whether a group hides a repeat that is not small next to the largest of the model."""
        return self.repeats.holds_notable_repeat(path[-1]) and self.hides_repeat(path)

    def alike_siblings(self, path: RowPath) -> list[RowPath]:
        """Return a group and the closed siblings that are like it."""
        hierarchy, row = self.hierarchy, path[-1]
        level = hierarchy.children(int(hierarchy.parent[row])).tolist() if hierarchy.parent[row] >= 0 else [row]
        others = [(*path[:-1], other) for other in level if other != row and are_alike(hierarchy, row, other)]
        return [path, *(other for other in others if other not in self.opened)]

    def open_around_repeats(self) -> None:
        """While there is room, open other groups around repeats, the largest first."""
        queue = [self.queue_entry(child) for path in list(self.opened) for child in self.openable_below(path)]
        heapq.heapify(queue)
        while queue:
            *_, path = heapq.heappop(queue)
            if path in self.opened or path in self.off_flow or not self.hides_large_repeat(path):
                continue
            siblings = [
                near
                for near in self.alike_siblings(path)
                if near not in self.off_flow and self.hides_large_repeat(near)
            ]
            if not self.has_room(siblings):
                continue
            self.open_and_queue(siblings, queue)

    def open_and_queue(self, paths: Iterable[RowPath], queue: list[tuple[float, float, RowPath]]) -> None:
        """Open groups, and add the groups in them to a queue."""
        for path in paths:
            self.open_group(path)
            for child in self.openable_below(path):
                heapq.heappush(queue, self.queue_entry(child))

    def open_largest_groups(self) -> None:
        """Open groups in the order of `queue_entry` while `should_open` says so."""
        queue = [
            self.queue_entry(child)
            for path in list(self.opened)
            for child in self.openable_below(path)
            if child not in self.opened
        ]
        heapq.heapify(queue)
        while queue and (queue[0][-1] in self.opened or self.should_open(queue[0][-1])):
            *_, path = heapq.heappop(queue)
            if path in self.opened:
                continue
            siblings = self.alike_siblings(path)
            if self.box_count_with(*siblings) > MAX_PICTURE_BOXES:
                siblings = [path] if self.closed < MIN_PICTURE_BOXES else []
            if self.box_count_with(*siblings) > MAX_PICTURE_BOXES and self.closed + self.frames > 1:
                continue
            self.open_and_queue(siblings, queue)

    def should_open(self, path: RowPath) -> bool:
        """Return whether to open the largest closed group. The first rule that applies decides."""
        row = path[-1]
        if self.hierarchy.how[row] == LAYER_ORIGIN:
            return False  # its box describes its content
        if self.is_wrapped(path) or self.is_main_call(path):
            return True  # the group around it shows little else
        if self.shows_member and (self.is_layer(row) or self.is_single_layer(row)):
            return False  # the repeat explains the model; the ops of a layer add little
        if self.closed < MIN_PICTURE_BOXES:  # open anything except a large recurrent layer beside other layers
            return (
                self.box_count_with(path) <= MAX_LOOP_LAYER_BOXES
                or not self.is_recurrent_layer(row)
                or self.weights.layer_count(0) <= 1
            )
        if self.hierarchy.kind[row] == FOLD_ROW and self.hierarchy.op_count(0) <= MAX_UNFOLDED_OPS:
            return not self.is_off_flow(path)
        # Few boxes of the model show: open a large part of it that is more than one layer.
        return (
            self.model_boxes < MIN_PICTURE_BOXES
            and not (self.is_off_flow(path) or path in self.after_weights or self.is_long_stack(row))
            and self.is_large_part(path)
            and not self.is_single_layer(row)
            and self.has_groups(row)
            and self.weights.holds_weight(row) == self.weights.holds_weight(0)
        )

    def has_groups(self, row: int) -> bool:
        """Return whether a group contains more than ops."""
        return any(self.hierarchy.can_open(child) for child in self.hierarchy.children(row).tolist())

    def is_single_layer(self, row: int) -> bool:
        """Return whether a scope contains or is one layer, such as a recurrent cell with the ops of its loop."""
        inside = self.weights.layer_count(row)
        if self.hierarchy.kind[row] != SCOPE_ROW or inside > 1:
            return False
        return inside == 1 or row in self.weights.layers

    def is_recurrent_layer(self, row: int) -> bool:
        """Return whether a scope is one layer that runs in a loop."""
        return self.is_single_layer(row) and any(
            child in self.hierarchy.calls for child in content_rows(self.hierarchy, (row,))
        )

    def is_main_call(self, path: RowPath) -> bool:
        """Return whether a call outside of scopes contains most of the model."""
        row = path[-1]
        calls = row in self.hierarchy.calls and self.hierarchy.parent[row] == 0 and not self.is_off_flow(path)
        return bool(calls) and self.op_count(row) > MAIN_CALL_SHARE * self.op_count(0)

    def is_off_flow(self, path: RowPath) -> bool:
        """Return whether a group is not part of the model, or not part of the flow around it."""
        return bool(self.quiet[path[-1]]) or path in self.off_flow

    def is_large_part(self, path: RowPath) -> bool:
        return self.op_count(path[-1]) > LARGE_PART_SHARE * self.op_count(0)

    def op_count(self, row: int) -> float:
        """Return how many ops a row contains, through calls; infinity if they are too many to count."""
        ops = self.ops(row)
        return inf if ops is None else ops

    def queue_entry(self, path: RowPath) -> tuple[float, float, RowPath]:
        """Return the sort key of a group.

        Long stacks and layers come after most groups, groups behind the last weights after these, and groups outside of
        the model last; among equals the one with most ops comes first, stacks last.
        """
        row = path[-1]
        if self.is_off_flow(path) or _is_saver_call(self.hierarchy, row):
            return inf, inf, path
        count = min(self.op_count(row), 1) if self.hierarchy.kind[row] == SERIES_ROW else self.op_count(row)
        if path in self.after_weights:
            return 3, -count, path
        if self.is_long_stack(row):
            return 1 if self.is_large_part(path) else 2, -count, path
        return 2 if self.is_layer(row) or self.is_single_layer(row) else 0, -count, path

    def is_long_stack(self, row: int) -> bool:
        """Return whether a group is a stack of more than `MAX_SHORT_STACK` members."""
        return bool(self.hierarchy.kind[row] == SERIES_ROW) and len(self.hierarchy.children(row)) > MAX_SHORT_STACK

    def is_layer(self, row: int) -> bool:
        """Return whether a group is a layer: ops directly in it use weights, or, if the model has such groups, no op
        anywhere in it does."""
        return row in self.weights.layers or bool(self.weights.layers and not self.weights.holds_weight(row))

    def is_wrapped(self, path: RowPath) -> bool:
        """Return whether a group contains more than half of the call around it, which only wraps it."""
        if len(path) < 2 or self.repeats.largest_repeat(path[-1]):
            return False
        return 2 * self.op_count(path[-1]) > self.op_count(path[-2])


def _behind_child(level: Metagraph, child: int) -> set[int]:
    """Return the positions of a child of a level and of all children that its data reaches."""
    after: dict[int, list[int]] = {}
    for edge in level.edges:
        if edge.tensors:
            after.setdefault(edge.source, []).append(edge.target)
    return reachable_from({child}, after.get)


def opens_without_recursion(hierarchy: Hierarchy, path: RowPath) -> bool:
    """Return whether a child opens without showing a function inside itself."""
    row = path[-1]
    if row not in hierarchy.calls:
        return bool(hierarchy.kind[row] != OP_ROW)
    bodies = {body for _, body in hierarchy.calls[row]}
    on_path = {body for call in path[:-1] for _, body in hierarchy.calls[call]}
    return not bodies & on_path


def _is_saver_call(hierarchy: Hierarchy, row: int) -> bool:
    """Return whether a call saves or restores the variables of a SavedModel."""
    return any(SAVER_NAME.search(hierarchy.name[body]) for _, body in hierarchy.calls.get(row, ()))
