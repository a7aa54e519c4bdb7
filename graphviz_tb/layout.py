"""The layout of a picture: its open groups, their order, every word, every coordinate.

open ▶ arrange ▶ view ▶ place
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from graphviz_tb.arrange import ArrangeOptions
from graphviz_tb.arrange.laying import Laying
from graphviz_tb.arrange.levels import arrange_levels
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import OP_SIZE
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import Path
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.view import View
from graphviz_tb.options import PictureOptions
from graphviz_tb.place import FrameCache, place
from graphviz_tb.view import NodeLabels, build_view, open_groups
from graphviz_tb.view.first import FEWEST_BOXES
from graphviz_tb.view.opening import OpenSet, members_alone, shows_one, unlisted

if TYPE_CHECKING:
    from graphviz_tb.model.subject import PictureStages
    from graphviz_tb.openable import OpenableModel

SCREEN = (1440, 840)  # px that a picture is fitted to where all of it is looked at at once: a laptop's window
SHEET = (48, 96)  # px that the margins and the title of a sheet take
LEAST_OPEN = 2  # the whole, and the first group opened in it
LEAST, SMALLER, SMALLEST = 8, 7, 6  # px: what is read without effort, with some, and at all

Second = Callable[[Path], str | None]


@dataclass(frozen=True, slots=True)
class Layout:
    """A picture without its colours; `notices` are what was odd on the way."""

    opened: OpenSet
    view: View
    scene: Scene
    notices: tuple[Notice, ...]


def lay_out(model: OpenableModel, options: PictureOptions, second: Second) -> Layout:
    """Lay a picture out; `second` gives the colouring's words for the second line of a closed box.

    After: where the caller left the open groups unset, the names are legible when the whole sheet is fitted to a
    screen, if closing some of the groups is enough for that.
    """
    with model.report.stage("open"):
        opened, notices = open_groups(model.hierarchy, metagraph_for(model, options), options, model.names)
    layout = laid_out_legibly(model, options, second, opened)
    return replace(layout, notices=(*notices, *layout.notices))


def opened_by(
    model: OpenableModel, options: PictureOptions, picture: PictureStages | None = None
) -> tuple[OpenSet, tuple[Notice, ...]]:
    """The groups that a picture opens, each after the group around it, and what was odd in choosing them."""
    if is_free(options):
        # Laid out: where it would not be legible, fewer groups are open than were chosen.
        opened = (picture or model.picture(options)).opened
        return opened, unlisted(model.hierarchy, opened)
    return open_groups(model.hierarchy, metagraph_for(model, options), options, model.names)


def metagraph_for(model: OpenableModel, options: PictureOptions) -> Callable[[Path], Metagraph]:
    """What groups hold where stacks show one member alone, if they may."""
    return model.member_metagraph if shows_one(options) else model.metagraph


def laid_out_legibly(model: OpenableModel, options: PictureOptions, second: Second, opened: OpenSet) -> Layout:
    """The layout with these groups open, or fewer of them where nothing was said of which to open."""
    frames = FrameCache()
    layout = laid_out(model, options, second, opened, frames)
    return legible(model, options, second, layout, frames) if is_free(options) else layout


def is_free(options: PictureOptions) -> bool:
    """Whether nothing was said of which groups to open."""
    return not options.open and not options.open_all and options.depth == "auto"


def laid_out(
    model: OpenableModel, options: PictureOptions, second: Second, opened: OpenSet, frames: FrameCache | None = None
) -> Layout:
    """The layout with these groups open, and what was odd in arranging them; groups that look as they did in an earlier
    one keep their frame."""
    hierarchy, report = model.hierarchy, model.report
    alone = members_alone(hierarchy, opened, options)
    members = alone or {}
    metagraph = model.member_metagraph if members else model.metagraph
    with report.stage("arrange"):
        lay = Laying(ArrangeOptions(options.engine, wrap=options.wrap), model.arrangements)
        skeletons = arrange_levels(hierarchy, metagraph, opened, lay, members)
    with report.stage("view"):
        labels = NodeLabels(hierarchy, second, alone=alone is not None)
        view = build_view(hierarchy, metagraph, opened, skeletons, labels, options.max_annotations, members)
    with report.stage("place"):
        scene = place(view, options, frames)
    # Equal metagraphs share one skeleton, so that the same notice comes once for each of them.
    odd = dict.fromkeys(notice for skeleton in skeletons.values() for notice in skeleton.notices)
    return Layout(opened, view, scene, (*odd, *lay.notices()))


def legible(
    model: OpenableModel, options: PictureOptions, second: Second, layout: Layout, frames: FrameCache
) -> Layout:
    """A first picture without as few of the groups that were opened last as make its names legible, or nearly so.

    The group that was opened first, on the way to what repeats, stays open. Names may be smaller where a stack would
    be hidden, and still smaller where none would show a member or too few boxes would be left; all stays open where
    that does not help either.
    """
    # In the order of opening: every prefix has, with a group, all groups around it. A stack and the member that it
    # shows open as one.
    units = list(units_of(model.hierarchy, layout.opened, options).values())

    @cache  # each search begins in the middle
    def first(count: int) -> Layout:
        fewer = dict.fromkeys(path for unit in units[:count] for path in unit)
        return laid_out(model, options, second, fewer, frames)

    seen, opened = stacks_in(layout.scene)
    for least, stacks in ((LEAST, seen), (SMALLER, seen), (LEAST, 0), (SMALLEST, 0)):
        fewer = fitted(layout, first, len(units), least)
        left, left_open = stacks_in(fewer.scene)
        if closed(fewer.scene) >= FEWEST_BOXES and left >= stacks and left_open >= min(1, opened):
            return fewer
    return layout


def fitted(layout: Layout, first: Callable[[int], Layout], count: int, least: int) -> Layout:
    """A first picture without as few of the groups opened last as give names so many pixels on a screen; `layout` has
    all `count` of them open, `first` lays out with so many."""
    if is_legible(layout.scene, least):
        return layout
    best, low, high = layout, LEAST_OPEN, count - 1  # the most groups that may be open lie between
    while low <= high:
        # By bisection, taking it that to close a group never makes a sheet larger: 7 layouts where 100 are open.
        count = (low + high + 1) // 2
        tried = first(count)
        if is_legible(tried.scene, least) or count == LEAST_OPEN:
            best, low = tried, count + 1
        else:
            high = count - 1
    return best


def units_of(hierarchy: Hierarchy, opened: OpenSet, options: PictureOptions) -> dict[Path, list[Path]]:
    """The groups that open as one box, by the group that has the box: a stack, what holds nothing else, and the member
    that is shown; or one group."""
    members = members_alone(hierarchy, opened, options) or {}
    box = {member: path for path, member in members.items()}  # the outermost is the last
    units: dict[Path, list[Path]] = {}
    for path in opened:
        units.setdefault(box.get(members.get(path, path), path), []).append(path)
    return units


def is_legible(scene: Scene, least: int) -> bool:
    """Whether the names of ops have so many pixels where the whole sheet is fitted to a screen."""
    # The side that fits worst decides; `scale` is px of the sheet for one of the screen.
    scale = max((scene.width + SHEET[0]) / SCREEN[0], (scene.height + SHEET[1]) / SCREEN[1])
    # OP_SIZE / scale >= least
    return least * scale <= OP_SIZE


def stacks_in(scene: Scene) -> tuple[int, int]:
    """How many stacks a picture shows, and how many of these show a member."""
    stacks = [box.open for box in scene.boxes if box.sheets > 0]
    return len(stacks), sum(stacks)


def closed(scene: Scene) -> int:
    """How many closed boxes of the main area a picture shows."""
    return sum(not box.open and box.area == "main" for box in scene.boxes)
