"""Resolve a colouring for one scene into a `Paint`: every colour of one picture."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.model.measure import replace_unsafe_characters
from graphviz_tb.model.paint import LegendRow, Paint
from graphviz_tb.model.paths import RowPath, child_path
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.view import View

ROOT_PATH: RowPath = (0,)


def resolve_paint(colouring: Colouring, view: View, scene: Scene) -> Paint:
    """Return every colour of a scene, as a value that no longer depends on the colouring."""
    # Only boxes shown closed set the scale: an open group's sum would outshine its content.
    paths, closed = _shown_paths(colouring, view)
    colouring = colouring.scaled_to(closed)
    boxes = [paths.get((box.address, box.row), (box.row,)) for box in scene.boxes]
    others = [(stub.other,) for stub in scene.stubs if stub.kind != "more"]
    fills = tuple(colouring.fill_of(path) for path in boxes)
    # Frames and stubs have a hue, and no letter.
    lettered = {fill.badge for fill, box in zip(fills, scene.boxes, strict=True) if not box.open}
    legend = colouring.legend_rows(list(dict.fromkeys([*boxes, *others])))
    return Paint(
        theme=colouring.theme,
        scheme=colouring.scheme,
        heading=colouring.heading,
        boxes=fills,
        accounts=tuple(replace_unsafe_characters(colouring.tooltip_text(path)) for path in boxes),
        stubs=tuple(None if stub.kind == "more" else colouring.fill_of((stub.other,)) for stub in scene.stubs),
        tints=colouring.line_tints(scene, view, boxes),
        legend=tuple(_keep_used_letter(row, lettered) for row in legend),
    )


def _keep_used_letter(row: LegendRow, lettered: Set[str]) -> LegendRow:
    """Return a legend row, without its letter if no box of the picture has it."""
    return row if row.fill.badge in lettered else replace(row, fill=replace(row.fill, badge=""))


def _shown_paths(colouring: Colouring, view: View) -> tuple[dict[tuple[str, int], RowPath], list[RowPath]]:
    """Return the path of every node shown, by address and row; and those of nodes that are not open."""
    paths: dict[tuple[str, int], RowPath] = {}
    closed: list[RowPath] = []
    todo = [(ROOT_PATH, view)]
    while todo:
        around, level = todo.pop()
        for position, node in enumerate(level.node_labels):
            path = paths[node.address, node.row] = child_path(colouring.hierarchy, around, node.row)
            if position in level.opened:
                # A stack may show the content of one member.
                todo.append((level.opened[position].path, level.opened[position]))
            else:
                closed.append(path)
        # `opened` counts children first, then the functions listed next to the main graph.
        listed = enumerate(level.functions, len(level.node_labels))
        todo += [((node.row,), level.opened[child]) for child, node in listed if child in level.opened]
    return paths, closed
