"""Lay a picture out: open groups, their order, all text, all coordinates.

open ▶ arrange ▶ view ▶ place

If the user did not choose the open groups, the groups that were opened last are closed again until the names are
legible on a laptop screen; bisection finds how many stay open. If much of the screen stays empty, the attention of a
layer is opened.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.api.sheet_columns import Layout, SheetTarget, choose_columns, covered_percent
from graphviz_tb.arrange.cache import ColumnBreaks
from graphviz_tb.arrange.level import ArrangeOptions
from graphviz_tb.arrange.picture import LevelArranger, arrange_levels
from graphviz_tb.color.kinds import ATTENTION, group_kinds, op_kinds
from graphviz_tb.expand.extract import drop_hidden_children, loose_rows
from graphviz_tb.graphs.layer_rows import rows_with_parameters
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import OP_ROW, SCOPE_ROW, Hierarchy
from graphviz_tb.model.measure import OP_FONT_PX
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import RowPath, child_path, is_stack, sole_stack, usual_member
from graphviz_tb.model.scene import Scene, Size
from graphviz_tb.model.skeleton import first_tie
from graphviz_tb.model.view import MIXED_TRAINING, NO_TRAINING, SHORT_NAMES, SMALL_GAPS
from graphviz_tb.open.first_picture import (
    MAX_REPEAT_BOXES,
    MIN_PICTURE_BOXES,
    ExpandPath,
)
from graphviz_tb.open.groups import (
    OpenSet,
    lone_members,
    open_groups,
    shown_contents,
    shows_one_member,
    unlisted_notices,
)
from graphviz_tb.options import PictureOptions
from graphviz_tb.place import FrameCache, place
from graphviz_tb.place.frames import list_open_groups
from graphviz_tb.words.view import NodeLabels, build_view

if TYPE_CHECKING:
    from graphviz_tb.api.base_model import BaseModel
    from graphviz_tb.model.subject import PictureStages

MIN_OPEN_UNITS = 2  # the whole graph, and the first group opened in it
# Room for the legend of a figure, in px, and its largest scale in thousandths: its text has one size.
PAPER_ROOM, PAPER_LARGEST = (6, 44), 1000
NOMINAL_PERCENT = 75  # of the width of a page that boxes of nominal width may fill: drawn ones are wider
FULL_SHEET_PERCENT = 50  # of a screen: a picture that covers less has room for another open group
# Name heights in px, from easy to read to barely legible.
EASY_NAME_PX, LEGIBLE_NAME_PX, SMALLER_NAME_PX, SMALLEST_NAME_PX = 9, 8, 7, 6

TRAINING_LEFT_OUT = Notice("no-training", "the figure has no room for what trains the model", strict=False)

SecondLine = Callable[[RowPath], str | None]


def lay_out_picture(model: BaseModel, options: PictureOptions, second: SecondLine) -> Layout:
    """Lay a picture out. `second` gives the colouring's text for the second line of a closed box.

    If the user left the open groups unset, some are closed where that makes the names legible on a screen.
    """
    with model.report.stage("open"):
        opened, notices = open_groups(model.hierarchy, _metagraph_function(model, options), options, model.names)
    layout = _lay_out_legibly(model, options, second, opened)
    return replace(layout, notices=(*notices, *layout.notices))


def groups_opened_by_picture(
    model: BaseModel, options: PictureOptions, picture: PictureStages | None = None
) -> tuple[OpenSet, tuple[Notice, ...]]:
    """Return the groups that a picture opens, outer ones first, and notices about the choice."""
    if _is_opening_automatic(options):
        # Known after the layout, which may close some groups.
        opened = (picture or model.picture(options)).opened
        return opened, unlisted_notices(model.hierarchy, opened)
    return open_groups(model.hierarchy, _metagraph_function(model, options), options, model.names)


def _metagraph_function(model: BaseModel, options: PictureOptions) -> ExpandPath:
    """Return the metagraph function to use: with one member per stack if the options allow it."""
    return model.member_metagraph if shows_one_member(options) else model.metagraph


@dataclass(frozen=True, slots=True)
class _PictureDraft:
    """One picture, to be laid out with different groups open: boxes keep their `labels`, and groups that look as in an
    earlier layout their frame in `frames`."""

    model: BaseModel
    options: PictureOptions
    labels: NodeLabels
    frames: FrameCache = field(default_factory=FrameCache)

    def lay_out(self, opened: OpenSet, columns: ColumnBreaks | None = None) -> Layout:
        """Lay out with these groups open. Levels are broken into `columns`, by default into those of the first
        picture."""
        model, options, notices = self.model, self.options, dict[Notice, None]()
        hierarchy, report = model.hierarchy, model.report
        columns = first_picture_columns(model, options, self.labels.second) if columns is None else columns
        shows_members, contents = lone_members(hierarchy, opened, options), shown_contents(hierarchy, opened, options)
        metagraph: ExpandPath = model.member_metagraph if shows_members else model.metagraph
        if options.paper:
            training = {level.children[at] for level in map(metagraph, opened) for at in level.training}
            hidden = training if self.labels.narrow >= NO_TRAINING else set[int]()
            notices.update(dict.fromkeys([TRAINING_LEFT_OUT] if hidden else []))
            metagraph = _drop_rows(metagraph, hidden | _rows_left_out(hierarchy, metagraph, opened, contents))
        with report.stage("arrange"):
            arrange_options = ArrangeOptions(options.engine, wrap=options.wrap)
            if options.paper:
                room = _sheet_target(options).size[0] * NOMINAL_PERCENT // 100
                arrange_options = replace(arrange_options, width=min(arrange_options.width, room))
            arranger = LevelArranger(arrange_options, model.arrangements, columns)
            skeletons = arrange_levels(hierarchy, metagraph, opened, arranger, contents)
        with report.stage("view"):
            view = build_view(hierarchy, metagraph, opened, skeletons, self.labels, options.max_annotations, contents)
        with report.stage("place"):
            scene = place(view, options, self.frames)
        # Equal metagraphs share one skeleton, so its notices occur several times.
        notices.update(dict.fromkeys(notice for skeleton in skeletons.values() for notice in skeleton.notices))
        return Layout(opened, view, scene, (*notices, *arranger.notices()), columns)

    def break_into_columns(self, layout: Layout) -> Layout:
        """Return a first picture in the columns that show it largest; `layout` has none."""
        if not self.options.wrap:
            return layout

        def lay(columns: ColumnBreaks) -> Layout:
            return replace(self.lay_out(layout.opened, columns), notices=layout.notices)

        return choose_columns(lay, layout, self.frames, _sheet_target(self.options))


def _draft_picture(
    model: BaseModel, options: PictureOptions, second: SecondLine, opened: OpenSet, narrow: int = 0
) -> _PictureDraft:
    """Return the draft of a picture with at most these groups open."""
    alone = lone_members(model.hierarchy, opened, options) is not None
    labels = NodeLabels(model.hierarchy, second, alone=alone, printed=options.paper, narrow=narrow)
    return _PictureDraft(model, options, labels)


def _lay_out_legibly(model: BaseModel, options: PictureOptions, second: SecondLine, opened: OpenSet) -> Layout:
    """Lay out with these groups open, or fewer if the user did not say which to open."""
    automatic = _is_opening_automatic(options)

    def lay_out(tried: PictureOptions, narrow: int) -> Layout:
        draft = _draft_picture(model, tried, second, opened, narrow)
        if not automatic:
            return draft.lay_out(opened)
        closed = _close_until_legible(draft, opened)
        return closed if tried.paper else _open_on_white_sheet(draft, closed)

    layout = _lay_out_to_print(options, lay_out) if options.paper else lay_out(options, 0)
    if automatic:
        model.columns[_first_picture_options(options)] = layout.columns
    return layout


def _lay_out_to_print(options: PictureOptions, lay_out: Callable[[PictureOptions, int], Layout]) -> Layout:
    """Lay out a figure that fits the width of its page.

    Smaller forms are tried one after the other: small gaps; short names in boxes and none beside them; no columns, and
    training ops among the others; no training ops. Of those that fit, the best fits the length of the page too, shows a
    U, shows a member of a stack, has the most stacks, in this order; of equal ones, the first.
    """
    unnamed, target = replace(options, max_annotations=0), _sheet_target(options)
    best, merits = None, (False, False, 0, 0)
    for form, narrow in (
        (options, 0),
        (options, SMALL_GAPS),
        (unnamed, SHORT_NAMES),
        (replace(unnamed, wrap=False), MIXED_TRAINING),
        (replace(unnamed, wrap=False), NO_TRAINING),
    ):
        if narrow >= MIXED_TRAINING and best:
            break
        layout = lay_out(form, narrow)
        if layout.size[0] + PAPER_ROOM[0] > target.size[0]:
            continue
        stacks, members = _count_drawn_stacks(layout.scene)
        has_legs = any(group.view.skeleton.falling for group in list_open_groups(layout.view))
        layout_merits = _is_legible(layout.size, LEGIBLE_NAME_PX, target), has_legs, min(1, members), stacks
        if best is None or layout_merits > merits:
            best, merits = layout, layout_merits
    return best or layout


def _first_picture_options(options: PictureOptions) -> PictureOptions:
    """Return the options of the picture that decides the columns, whatever is open."""
    return replace(options, open=(), open_all=False, depth="auto")


def first_picture_columns(model: BaseModel, options: PictureOptions, second: SecondLine) -> ColumnBreaks:
    """Return the columns of the first picture, which later pictures keep: opening a box moves no box to another
    column."""
    first = _first_picture_options(options)
    if first not in model.columns and options.wrap:
        opened, _ = open_groups(model.hierarchy, _metagraph_function(model, first), first, model.names)
        _lay_out_legibly(model, first, second, opened)
    return model.columns.get(first, {})


def _sheet_target(options: PictureOptions) -> SheetTarget:
    """Return the size to which a first picture is fitted: a laptop's window, or the text of a page."""
    if not options.paper:
        return SheetTarget()
    from graphviz_tb.render.compose import paper_units

    return SheetTarget(paper_units(options), PAPER_ROOM, PAPER_LARGEST)


def _is_opening_automatic(options: PictureOptions) -> bool:
    """Return whether the user chose no groups to open."""
    return not options.open and not options.open_all and options.depth == "auto"


def _rows_left_out(
    hierarchy: Hierarchy, metagraph: ExpandPath, opened: OpenSet, contents: Mapping[RowPath, RowPath]
) -> set[int]:
    """Return the rows that a figure leaves out: unconnected parts without weights, and rows without weights whose lines
    all end at the frame of an open group, because no box inside is connected to them."""
    users, ends = rows_with_parameters(hierarchy), hierarchy.end

    def holds_weights(row: int) -> bool:
        return bisect_left(users, row) < bisect_left(users, int(ends[row]))

    left_out: set[int] = set()
    for path in opened:
        level = metagraph(path)
        left_out |= loose_rows(level, holds_weights)
        continues: dict[int, list[bool]] = {row: [] for row in level.children if not holds_weights(row)}
        for edge in map(level.edges.__getitem__, level.core_edges()):
            if edge.training:
                continue  # such a line begins and ends at frames
            source, target = level.children[edge.source], level.children[edge.target]
            for row, other in ((source, target), (target, source)):
                inner = child_path(hierarchy, path, other)
                if row in continues:
                    continues[row].append(
                        inner not in opened or _has_line_to(metagraph(contents.get(inner, inner)), row)
                    )
        left_out.update(row for row, lines in continues.items() if lines and not any(lines))
    return left_out


def _drop_rows(metagraph: ExpandPath, rows: set[int]) -> ExpandPath:
    """Return a metagraph function without some rows."""
    return lambda path: drop_hidden_children(metagraph(path), rows.__contains__) if rows else metagraph(path)


def _has_line_to(level: Metagraph, row: int) -> bool:
    """Return whether a level draws a line to or from a row outside."""
    return any(level.bridges[index].other == row for index in level.core_bridges())


def _open_on_white_sheet(draft: _PictureDraft, layout: Layout) -> Layout:
    """Return a first picture with the largest attention open too (its closed box names only its heads), if much of the
    screen is empty, boxes stay few and names easy to read."""
    model, target = draft.model, _sheet_target(draft.options)
    if covered_percent(layout.size, target) >= FULL_SHEET_PERCENT:
        return layout
    attention = _closed_attention(model.hierarchy, _metagraph_function(model, draft.options), layout)
    if not attention:
        return layout
    more = draft.lay_out({**layout.opened, **dict.fromkeys(attention)}, {})
    if _count_closed_boxes(more.scene) > MAX_REPEAT_BOXES:
        return layout
    more = draft.break_into_columns(more)
    return more if _is_legible(more.size, EASY_NAME_PX, target) else layout


def _closed_attention(hierarchy: Hierarchy, metagraph: ExpandPath, layout: Layout) -> list[RowPath]:
    """Return the largest closed scope that consists of groups, one of them an attention, and the scopes of equal
    structure on its level; empty if there is none."""
    boxes = [
        (group.view.path, label.row)
        for group in list_open_groups(layout.view)
        for label in group.view.node_labels
        if hierarchy.kind[label.row] == SCOPE_ROW and _has_several_groups(hierarchy, label.row)
    ]
    closed = [(child_path(hierarchy, path, row), path) for path, row in boxes]
    closed = [(path, around) for path, around in closed if path not in layout.opened]
    kinds = op_kinds(hierarchy) if closed else None
    candidates = [
        (path, around)
        for path, around in closed
        if kinds is not None
        and ATTENTION in group_kinds(hierarchy, kinds, hierarchy.children(path[-1]).tolist())
        and _consists_of_groups(hierarchy, metagraph(path))
    ]
    if not candidates:
        return []
    largest, level = max(candidates, key=lambda pair: hierarchy.op_count(pair[0][-1]))
    return [
        path
        for path, around in candidates
        if around == level and hierarchy.template[path[-1]] == hierarchy.template[largest[-1]]
    ]


def _has_several_groups(hierarchy: Hierarchy, row: int) -> bool:
    return int(np.count_nonzero(hierarchy.kind[hierarchy.children(row)] != OP_ROW)) > 1


def _consists_of_groups(hierarchy: Hierarchy, level: Metagraph) -> bool:
    return all(hierarchy.kind[level.children[child]] != OP_ROW for child in level.core_children())


def _close_until_legible(draft: _PictureDraft, opened: OpenSet) -> Layout:
    """Lay out with the groups that were opened last closed, as few as make the names legible; a figure for print must
    fit its page instead.

    Stages on the legs of a U are closed, which keeps the lines between them level. The first opened group stays open.
    If names are too small, first stacks are given up, then smaller names are accepted; at least one stack must show a
    member and enough boxes must remain. Groups that make small names still smaller are closed at the end. If nothing
    helps, all groups stay open.
    """
    hierarchy, is_page = draft.model.hierarchy, draft.options.paper
    layout = draft.lay_out(_without_repeats(hierarchy, opened) if is_page else opened, {})
    closed = _without_stages(hierarchy, layout)
    if len(closed) < len(layout.opened):
        layout = draft.lay_out(closed, {})
    layout = draft.break_into_columns(layout)
    closer = _GroupCloser(draft, layout)
    if is_page:
        return closer.largest_legible(LEGIBLE_NAME_PX, least_open=1)
    stacks, open_stacks = _count_drawn_stacks(layout.scene)
    members = min(1, open_stacks)
    for min_name_px, min_stacks in (
        (LEGIBLE_NAME_PX, stacks),
        (LEGIBLE_NAME_PX, 0),
        (SMALLER_NAME_PX, stacks),
        (SMALLEST_NAME_PX, 0),
    ):
        candidate = closer.largest_legible(min_name_px)
        if _shows_enough(candidate.scene, min_stacks, members):
            return closer.close_what_shrinks_names(candidate, members)
    return layout


class _GroupCloser:
    """Lays out a picture with the last of its open groups closed."""

    def __init__(self, draft: _PictureDraft, layout: Layout) -> None:
        self._draft, self._all_open, self._target = draft, layout, _sheet_target(draft.options)
        # In opening order, so that every prefix contains the groups around each of its groups. A stack and its shown
        # member open as one unit.
        self._units = list(_opening_units(draft.model.hierarchy, layout.opened, draft.options).values())
        self._known: dict[int, Layout] = {}  # every bisection starts in the middle

    def lay_out_first(self, count: int) -> Layout:
        """Lay out with only the first `count` units open."""
        if count not in self._known:
            fewer = dict.fromkeys(path for unit in self._units[:count] for path in unit)
            self._known[count] = self._draft.break_into_columns(self._draft.lay_out(fewer, {}))
        return self._known[count]

    def largest_legible(self, min_name_px: int, least_open: int = MIN_OPEN_UNITS) -> Layout:
        """Return the layout with the most units open, and at least `least_open`, whose names have `min_name_px` on a
        screen; with all open if there is none."""
        if _is_legible(self._all_open.size, min_name_px, self._target):
            return self._all_open
        best, low, high = self._all_open, least_open, len(self._units) - 1  # the answer is between low and high
        while low <= high:
            # Bisection assumes that closing a group never makes a sheet larger: 7 layouts for 100 open groups.
            count = (low + high + 1) // 2
            tried = self.lay_out_first(count)
            if _is_legible(tried.size, min_name_px, self._target) or count == least_open:
                best, low = tried, count + 1
            else:
                high = count - 1
        return best

    def close_what_shrinks_names(self, layout: Layout, members: int) -> Layout:
        """Return the layout without its last open units while closing one enlarges names below `LEGIBLE_NAME_PX` and
        leaves `members` of stacks shown."""
        count = len(_opening_units(self._draft.model.hierarchy, layout.opened, self._draft.options))
        while count > MIN_OPEN_UNITS and not _is_legible(layout.size, LEGIBLE_NAME_PX, self._target):
            count -= 1
            fewer = self.lay_out_first(count)
            scale, larger = (self._target.scale(*each.size) for each in (layout, fewer))
            if larger <= scale or not _shows_enough(fewer.scene, 0, members):
                break
            layout = fewer
        return layout


def _without_stages(hierarchy: Hierarchy, layout: Layout) -> OpenSet:
    """Return the open groups of a layout without the stages on the legs of a U and everything inside them."""
    opened = dict.fromkeys(layout.opened)
    for group in list_open_groups(layout.view):
        skeleton = group.view.skeleton
        numbers = range(first_tie(skeleton), len(skeleton.wires)) if skeleton.falling else range(0)
        skips = [skeleton.wires[wire].chain for wire in numbers if not group.view.line_of_wire(wire).training]
        for item in {end for chain in skips for end in (chain[0], chain[-1]) if end in group.below}:
            stage = child_path(hierarchy, group.view.path, group.view.node_labels[item].row)
            opened = _without_group(hierarchy, opened, stage)
    return opened


def _without_repeats(hierarchy: Hierarchy, opened: OpenSet) -> OpenSet:
    """Return open groups without stacks whose member looks like that of an earlier stack: a figure shows it once."""
    left, shown = dict.fromkeys(opened), dict[int, int]()
    for path in opened:
        stack = sole_stack(hierarchy, path[-1])
        if path not in left or stack < 0 or not is_stack(hierarchy, stack):
            continue
        structure = int(hierarchy.template[usual_member(hierarchy, stack)])
        if shown.setdefault(structure, stack) != stack:
            left = _without_group(hierarchy, left, path)
    return left


def _without_group(hierarchy: Hierarchy, opened: OpenSet, group: RowPath) -> dict[RowPath, None]:
    """Return open groups without a group and everything inside it."""
    at, rows = len(group) - 1, range(group[-1], int(hierarchy.end[group[-1]]))
    inside = {path for path in opened if len(path) > at and path[:at] == group[:at] and path[at] in rows}
    return {path: None for path in opened if path not in inside}


def _opening_units(hierarchy: Hierarchy, opened: OpenSet, options: PictureOptions) -> dict[RowPath, list[RowPath]]:
    """Return the groups that open as one box, keyed by the group that owns the box.

    A stack, a group that holds nothing else, and the member that is shown form one unit, and so do scopes that hold
    nothing but one another; any other group is a unit.
    """
    members = shown_contents(hierarchy, opened, options)
    box = {member: path for path, member in members.items()}  # of nested stacks and scopes the outermost is last
    units: dict[RowPath, list[RowPath]] = {}
    for path in opened:
        units.setdefault(box.get(members.get(path, path), path), []).append(path)
    return units


def _is_legible(size: Size, least: int, target: SheetTarget) -> bool:
    """Return whether op names have at least `least` px when the sheet is fitted to its target; in print, whether it
    fits."""
    scale = target.scale(*size)
    return scale >= target.largest if target.is_page else OP_FONT_PX * scale >= 1000 * least


def _count_drawn_stacks(scene: Scene) -> tuple[int, int]:
    """Return the number of stacks in a picture, and of those that show a member."""
    stacks = [box.open for box in scene.boxes if box.sheets > 0]
    return len(stacks), sum(stacks)


def _shows_enough(scene: Scene, stacks: int, members: int) -> bool:
    """Return whether a picture has as many stacks and shown members, and enough boxes."""
    left, left_open = _count_drawn_stacks(scene)
    return left >= stacks and left_open >= members and _count_closed_boxes(scene) >= MIN_PICTURE_BOXES


def _count_closed_boxes(scene: Scene) -> int:
    """Return the number of closed boxes in the main area."""
    return sum(not box.open and box.area == "main" for box in scene.boxes)
