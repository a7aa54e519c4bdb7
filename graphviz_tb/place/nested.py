"""Turn open groups into a picture with coordinates: sizes from the inside out, then places from the outside in.

    order of views ─ main path through them ─ frames, innermost first ─ scene, outermost first

Nothing recurses: a graph with open groups ten thousand levels deep must work.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.scene import Point, Scene
from graphviz_tb.model.view import View
from graphviz_tb.options import PictureOptions
from graphviz_tb.place.frames import GroupLayout, lay_out_frame
from graphviz_tb.place.groups import OpenGroup, list_open_groups
from graphviz_tb.place.sketch import SceneSketch
from graphviz_tb.place.spine import lead_main_path


@dataclass(frozen=True, slots=True)
class CachedFrame:
    """The frame of an open group, with its inputs: the group, its level before the picture's main path was led through
    it, and the frames in it."""

    group: OpenGroup
    level: View
    below: Mapping[int, GroupLayout]
    frame: GroupLayout


class FrameCache:
    """The frames of the pictures of one graph in one direction: an unchanged group reuses its frame."""

    def __init__(self) -> None:
        self.known: dict[RowPath, CachedFrame] = {}


def place(view: View, options: PictureOptions, cache: FrameCache | None = None) -> Scene:
    """Place the boxes and lines of a view that has a skeleton for every open group.

    Boxes nest and do not overlap, labels fit, lines end at borders, and an edge that crosses a border continues where
    it met it. Unchanged groups take their frame from `cache`; the others are stored there.
    """
    known = (cache or FrameCache()).known
    levels = list_open_groups(view)
    groups = lead_main_path(levels)
    frames: dict[int, GroupLayout] = {}
    for number in range(len(groups) - 1, -1, -1):  # the size of a frame depends on the frames in it
        group = groups[number]
        below = {position: frames[child] for position, child in group.below.items()}
        last = known.get(group.view.path)
        if last is not None and is_frame_unchanged(last, group, levels[number].view, below):
            frames[number] = last.frame
            continue
        frames[number] = lay_out_frame(group.view, group.heading, below, group.outside, options.direction)
        known[group.view.path] = CachedFrame(group, levels[number].view, below, frames[number])
    sketch = SceneSketch(groups, frames)
    where: dict[int, tuple[int, int, Point]] = {0: (-1, 0, (0, 0))}  # of each group: its box, depth and corner
    for number, group in enumerate(groups):
        box, depth, (x, y) = where[number]
        numbers = sketch.draw_group(number, box, depth, (x, y))
        for position, child in group.below.items():
            slot = frames[number].slots[position]
            assert slot is not None
            where[child] = (numbers[position], depth + 1, (slot[1][0] + x, slot[1][1] + y))
    return sketch.to_scene(options.direction)


def is_frame_unchanged(last: CachedFrame, group: OpenGroup, level: View, below: Mapping[int, GroupLayout]) -> bool:
    """Return whether a group is laid out as before: equal level and labels, and identical frames in it."""
    was = last.level
    return (
        was.metagraph is level.metagraph
        and was.skeleton == level.skeleton
        and was.address == level.address
        and last.group.view.skeleton.spine == group.view.skeleton.spine
        and len(last.below) == len(below)
        and all(last.below.get(position) is made for position, made in below.items())
        and last.group.heading == group.heading
        and last.group.outside == group.outside
        and was.node_labels == level.node_labels
        and was.functions == level.functions
        and was.words == level.words
    )
