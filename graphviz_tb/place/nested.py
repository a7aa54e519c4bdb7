"""From open groups to a picture with coordinates: sizes from the inside out, then places from the outside in.

    order of views ─ main path through them ─ frames, innermost first ─ scene, outermost first

Nothing recurses: a graph with open groups ten thousand levels deep must work.
"""

from __future__ import annotations

from graphviz_tb.model.scene import Point, Scene
from graphviz_tb.model.view import View
from graphviz_tb.options import PictureOptions
from graphviz_tb.place.frames import GroupLayout, frame
from graphviz_tb.place.groups import in_order
from graphviz_tb.place.sketch import Sketch
from graphviz_tb.place.spine import lead_through


def place(view: View, options: PictureOptions) -> Scene:
    """Before: a view with a skeleton for every open group. After: boxes nest and do not overlap, labels fit,
    lines end at borders, and an edge that crosses a border goes on exactly where it met it."""
    groups = lead_through(in_order(view))
    frames: dict[int, GroupLayout] = {}
    for number in range(len(groups) - 1, -1, -1):  # the size of a frame depends on the frames in it
        group = groups[number]
        below = {position: frames[child] for position, child in group.below.items()}
        frames[number] = frame(group.view, group.heading, below, group.outside, options.direction)
    sketch = Sketch(groups, frames)
    where: dict[int, tuple[int, int, Point]] = {0: (-1, 0, (0, 0))}  # of each group: its box, depth and corner
    for number, group in enumerate(groups):
        box, depth, (x, y) = where[number]
        numbers = sketch.group(number, box, depth, (x, y))
        for position, child in group.below.items():
            slot = frames[number].slots[position]
            assert slot is not None
            where[child] = (numbers[position], depth + 1, (slot[1][0] + x, slot[1][1] + y))
    return sketch.scene(options.direction)
