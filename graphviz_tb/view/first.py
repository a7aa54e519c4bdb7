"""Choose the groups that the first picture opens: the path to the model, until its repeats show."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator
from math import inf

from graphviz_tb.algorithms.calls import OpsThroughCalls
from graphviz_tb.limits import LEVEL_TOO_LARGE
from graphviz_tb.model.hierarchy import FOLD, OP, SCOPE, SERIES, Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import Path, child_path, content_rows
from graphviz_tb.model.stacks import is_stack, stack_in, usual_member, usual_paths
from graphviz_tb.ops.roles import INPUTS, NEXT_ELEMENTS, PASS_THROUGH, RESULTS
from graphviz_tb.view.alike import alike
from graphviz_tb.view.repeats import Repeats, quiet_rows
from graphviz_tb.view.weights import Weights

ExpandPath = Callable[[Path], Metagraph]

ROOT: Path = (0,)
SAVER = re.compile(r"_traced_(save|restore)")
FEWEST_BOXES, MOST_BOXES = 8, 40  # enough to show what the model is, few enough to read at once
FULL = 2 * FEWEST_BOXES  # a layer around a loop that makes more boxes stays closed: its plumbing says little
BOXES_OF_REPEATS = 28  # open repeats up to so many boxes; the rest is for their surroundings
SHORT = 4  # repetitions that may be shown next to each other before the ops of single layers
NEARLY_ALL = 0.65  # of the ops of the model
MUCH = 0.3  # of the ops of the model
FEW, MOST_OF = 2, 0.8  # open a member's box too if it is one of so few and has such a share of the ops
SECOND = 0.2  # of the ops of the largest stack: open others with so many
WHOLE = 16  # a model of so few ops hides no layer in a fold
HANDS = INPUTS | NEXT_ELEMENTS | PASS_THROUGH | RESULTS


def first_picture(hierarchy: Hierarchy, metagraph: ExpandPath, alone: bool = True) -> list[Path]:
    """Return the groups to open, each after the group around it; `alone`: a stack shows one member instead of a list.

    First open the groups around the repeat that holds most of the model, and one member of it; then other groups with
    repeats, and these, while there is room; then the largest, until eight boxes show, and large parts of the model
    until eight boxes belong to it. Equal groups open together or not at all. Groups behind the last weights (losses,
    measures) wait for those with weights; gradients, updates and savers come last. Marks, stubs and the auxiliary area
    do not count.
    """
    picture = First(hierarchy, metagraph, alone)
    picture.open_way()
    picture.open_unit()
    picture.open_repeats()
    picture.open_stacks()
    picture.open_largest()
    return picture.paths()


class First:
    """A first picture under construction: `closed` boxes and `frames` of open groups."""

    def __init__(self, hierarchy: Hierarchy, metagraph: ExpandPath, alone: bool) -> None:
        self.hierarchy = hierarchy
        self.metagraph = metagraph
        self.alone = alone
        self.unit = False  # whether a member of the largest stack shows
        self.quiet = quiet_rows(hierarchy)
        self.ops = OpsThroughCalls(hierarchy, self.quiet)
        self.repeats = Repeats(hierarchy, self.ops, self.quiet)
        self.weights = Weights(hierarchy, self.quiet)
        self.opened: dict[Path, None] = {ROOT: None}
        self.closed = len(metagraph(ROOT).core())
        self.telling = self.model(ROOT)
        self.frames = 0
        self.loose: set[Path] = set()
        self.judging: set[Path] = set()

    def content(self, path: Path) -> Path:
        """Return the group whose content shows when `path` is open: itself, or the usual member of a stack."""
        return self.with_member(path)[-1]

    def with_member(self, path: Path) -> list[Path]:
        """Return a group with the groups that open with it: the usual member of a stack."""
        return [path, *(usual_paths(self.hierarchy, path) if self.alone else ())]

    def paths(self) -> list[Path]:
        """Return the open groups and the members that stacks show, in the order of opening."""
        found: dict[Path, None] = {}
        for path in self.opened:
            found.update(dict.fromkeys(self.with_member(path)))
        return list(found)

    def boxes_with(self, *paths: Path) -> int:
        """Return the number of boxes with more groups open; for very many an upper bound."""
        boxes = self.closed + self.frames
        for path in map(self.content, paths):
            # The group's box is replaced by its content and its frame.
            children = len(content_rows(self.hierarchy, path))
            boxes += children if children > LEVEL_TOO_LARGE else len(self.metagraph(path).core())
        return boxes

    def model(self, path: Path) -> int:
        """Return how many boxes of an open group belong to the model and do more than forward data."""
        level = self.metagraph(self.content(path))
        # A set is enough: they are only counted.
        rows = [level.children[child] for child in set(level.core()) - self.weights.behind(level)]
        return sum(1 for row in rows if not self.quiet[row] and not self.hands(row))

    def hands(self, row: int) -> bool:
        """Return whether a row is an op that only forwards data."""
        graph, node = self.hierarchy.graph, int(self.hierarchy.node[row])
        return node >= 0 and graph.op_types[graph.op[node]] in HANDS

    def open(self, path: Path) -> None:
        """Open one group."""
        self.closed += len(self.metagraph(self.content(path)).core()) - 1
        # Its box counted while it was closed.
        self.telling += self.model(path) - (path not in self.judging and not self.quiet[path[-1]])
        self.frames += 1
        self.opened[path] = None

    def below(self, path: Path) -> Iterator[Path]:
        """Yield the groups in the main area of an open group that can be opened.

        Adds those off the main flow to `loose`, and those behind the last weights to `judging`.
        """
        content = self.content(path)
        level = self.metagraph(content)
        # On a level with data edges, children without any are off the main flow.
        joined = {end for edge in level.edges if edge.tensors for end in (edge.source, edge.target)}
        joined |= {bridge.child for bridge in level.bridges if bridge.tensors}
        away = level.mask.extracted
        # Everything in a judging group judges.
        behind = set(range(len(level.children))) if path in self.judging else self.weights.behind(level)
        for position, row in enumerate(level.children):
            child = child_path(self.hierarchy, content, row)
            if position not in away and openable(self.hierarchy, child, path[-1]):
                if joined and position not in joined:
                    self.loose.add(child)
                if position in behind:
                    self.judging.add(child)
                yield child

    def open_way(self) -> None:
        """Open the groups around the repeat that holds most of the model."""
        path = ROOT
        while True:
            ways = [child for child in self.below(path) if child not in self.loose]
            widest = max(ways, key=lambda child: self.repeats.most(child[-1]), default=None)
            if (
                widest is None
                or not self.hides(widest)
                or self.boxes_with(widest) - self.frames > MOST_BOXES + 1  # without frames
            ):
                return
            self.open(widest)
            path = widest

    def hides(self, path: Path) -> bool:
        """Return whether a group contains a larger repeat than it is, or is drawn as."""
        return self.repeats.hides(path[-1]) and not (self.alone and stack_in(self.hierarchy, path[-1]) >= 0)

    def open_unit(self) -> None:
        """Open the largest visible stack if it is a large part of the model, and the dominant box in its member."""
        stacks = [path for path in self.stacks() if self.much(path)]
        if not stacks:
            return
        path = max(stacks, key=lambda path: self.repeats.most(path[-1]))
        limit = MOST_BOXES if self.alone else BOXES_OF_REPEATS
        while self.boxes_with(path) - self.frames <= limit:
            self.open(path)
            self.unit = True
            if not self.alone:
                path = usual_paths(self.hierarchy, path)[-1]
                if self.boxes_with(path) <= BOXES_OF_REPEATS:
                    self.open(path)
                return
            content = self.content(path)
            inside = max(self.below(path), key=lambda child: self.count(child[-1]), default=None)
            if inside is None or len(self.metagraph(content).core()) > FEW:
                return
            if self.count(inside[-1]) < MOST_OF * self.count(content[-1]):
                return
            path = inside

    def stacks(self) -> list[Path]:
        """Return the closed visible stacks of the model whose members are more than one layer."""
        return [
            child
            for path in list(self.opened)
            for child in self.below(path)
            if child not in self.opened and self.tells_of_stack(child)
        ]

    def tells_of_stack(self, path: Path) -> bool:
        """Return whether a group is drawn as a stack of the model whose members are more than one layer."""
        stack = stack_in(self.hierarchy, path[-1]) if self.alone else path[-1]
        if stack not in self.repeats.at or not is_stack(self.hierarchy, stack) or path in self.loose:
            return False
        return not self.single(usual_member(self.hierarchy, stack))

    def open_stacks(self) -> None:
        """Open other stacks that are not small next to the largest, equal ones all or none, while there is room."""
        if not self.alone:
            return
        open_ones = [path[-1] for path in self.opened if stack_in(self.hierarchy, path[-1]) >= 0]
        if not open_ones:
            return
        largest = max(self.repeats.most(row) for row in open_ones)
        left = [path for path in self.stacks() if self.repeats.most(path[-1]) >= SECOND * largest]
        left.sort(key=lambda path: (-self.repeats.most(path[-1]), path))
        while left:
            path = left[0]
            alike_ones = [other for other in left if other == path or alike(self.hierarchy, path[-1], other[-1])]
            left = [other for other in left if other not in alike_ones]
            if self.boxes_with(*alike_ones) <= BOXES_OF_REPEATS:
                for other in alike_ones:
                    self.open(other)

    def tells(self, path: Path) -> bool:
        """Return whether a group hides a repeat that is not small next to the largest of the model."""
        return self.repeats.tells(path[-1]) and self.hides(path)

    def likes(self, path: Path) -> list[Path]:
        """Return a group and those of its level that are alike and closed."""
        hierarchy, row = self.hierarchy, path[-1]
        level = hierarchy.children(int(hierarchy.parent[row])).tolist() if hierarchy.parent[row] >= 0 else [row]
        others = [(*path[:-1], other) for other in level if other != row and alike(hierarchy, row, other)]
        return [path, *(other for other in others if other not in self.opened)]

    def open_repeats(self) -> None:
        """Open other groups around repeats, those with most ops first, while there is room."""
        queue = [self.entry(child) for path in list(self.opened) for child in self.below(path)]
        heapq.heapify(queue)
        while queue:
            *_, path = heapq.heappop(queue)
            if path in self.opened or path in self.loose or not self.tells(path):
                continue
            likes = [one for one in self.likes(path) if one not in self.loose and self.tells(one)]
            if self.boxes_with(*likes) > BOXES_OF_REPEATS:
                continue
            for one in likes:
                self.open(one)
                for child in self.below(one):
                    heapq.heappush(queue, self.entry(child))

    def open_largest(self) -> None:
        """Open the largest groups until enough boxes show, and the dominant group of an opened call."""
        queue = [
            self.entry(child) for path in list(self.opened) for child in self.below(path) if child not in self.opened
        ]
        heapq.heapify(queue)
        while queue and (queue[0][-1] in self.opened or self.more(queue[0][-1])):
            *_, path = heapq.heappop(queue)
            if path in self.opened:
                continue
            likes = self.likes(path)
            if self.boxes_with(*likes) > MOST_BOXES:
                likes = [path] if self.closed < FEWEST_BOXES else []
            if self.boxes_with(*likes) > MOST_BOXES and self.closed + self.frames > 1:
                continue
            for one in likes:
                self.open(one)
                for child in self.below(one):
                    heapq.heappush(queue, self.entry(child))

    def more(self, path: Path) -> bool:
        """Return whether to open the largest group left: if there are few boxes, or few of the model and the group is a
        large part of it and no layer of ops alone."""
        row = path[-1]
        if self.wrapped(path) or self.nearly_all(path):
            return True
        if self.unit and (self.layer(row) or self.single(row)):
            return False  # the repeat shows the model; ops of a layer add little
        if self.closed < FEWEST_BOXES:
            return self.boxes_with(path) <= FULL or not self.around_loop(row) or self.weights.layers_in(0) <= 1
        if self.hierarchy.kind[row] == FOLD and self.hierarchy.ops(0) <= WHOLE:
            return not self.aside(path)
        if self.telling >= FEWEST_BOXES or self.aside(path) or path in self.judging or self.long(row):
            return False
        if not self.much(path) or self.single(row):
            return False
        return self.holds_groups(row) and self.weights.held(row) == self.weights.held(0)

    def holds_groups(self, row: int) -> bool:
        """Return whether a group contains more than ops."""
        return any(self.hierarchy.opens(child) for child in self.hierarchy.children(row).tolist())

    def single(self, row: int) -> bool:
        """Return whether a scope is no more than one layer, such as a cell with its plumbing."""
        inside = self.weights.layers_in(row)
        if self.hierarchy.kind[row] != SCOPE or inside > 1:
            return False
        return inside == 1 or row in self.weights.layers

    def around_loop(self, row: int) -> bool:
        """Return whether a scope is one layer that runs in a loop."""
        return self.single(row) and any(child in self.hierarchy.calls for child in content_rows(self.hierarchy, (row,)))

    def nearly_all(self, path: Path) -> bool:
        """Return whether a call in no scope holds nearly all of the model; the rest counts its steps."""
        row = path[-1]
        calls = row in self.hierarchy.calls and self.hierarchy.parent[row] == 0 and not self.aside(path)
        return bool(calls) and self.count(row) > NEARLY_ALL * self.count(0)

    def aside(self, path: Path) -> bool:
        """Return whether a group is not part of the model, or not part of the flow around it."""
        return bool(self.quiet[path[-1]]) or path in self.loose

    def much(self, path: Path) -> bool:
        """Return whether a group holds a large part of the model."""
        return self.count(path[-1]) > MUCH * self.count(0)

    def count(self, row: int) -> float:
        """Return how many ops a row holds, through calls."""
        ops = self.ops(row)
        return inf if ops is None else ops

    def entry(self, path: Path) -> tuple[float, float, Path]:
        """Return the sort key of a group.

        Order: other groups, long stacks that are large, layers and other long stacks, judging groups, groups outside of
        the model; among equals the one with most ops first, stacks last.
        """
        row = path[-1]
        if self.aside(path) or saves(self.hierarchy, row):
            return inf, inf, path
        # Stacks come after other groups.
        count = min(self.count(row), 1) if self.hierarchy.kind[row] == SERIES else self.count(row)
        if path in self.judging:
            return 3, -count, path
        if self.long(row):
            return 1 if self.much(path) else 2, -count, path
        return 2 if self.layer(row) or self.single(row) else 0, -count, path

    def long(self, row: int) -> bool:
        """Return whether a group is a stack of more members than may be shown before other groups."""
        return bool(self.hierarchy.kind[row] == SERIES) and len(self.hierarchy.children(row)) > SHORT

    def layer(self, row: int) -> bool:
        """Return whether a group is a layer: its own ops use weights, or, in a model with such groups, nothing in it
        does."""
        return row in self.weights.layers or bool(self.weights.layers and not self.weights.held(row))

    def wrapped(self, path: Path) -> bool:
        """Return whether a group inside a call is most of it: the call only wraps it."""
        if len(path) < 2 or self.repeats.most(path[-1]):
            return False
        return 2 * self.count(path[-1]) > self.count(path[-2])


def openable(hierarchy: Hierarchy, path: Path, around: int) -> bool:
    """Return whether a child opens without showing a function inside itself. `around` is the row of its group."""
    row = path[-1]
    if row not in hierarchy.calls:
        return bool(hierarchy.kind[row] != OP)
    bodies = {body for _, body in hierarchy.calls[row]}
    on_path = {body for call in path[:-1] for _, body in hierarchy.calls[call]}
    return not bodies & on_path


def saves(hierarchy: Hierarchy, row: int) -> bool:
    """Return whether a call writes or reads the variables of a saved model: large, and not what the model is about."""
    return any(SAVER.search(hierarchy.name[body]) for _, body in hierarchy.calls.get(row, ()))
