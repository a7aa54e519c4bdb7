"""Stubs that many boxes of a level share: written once in a note, not at each box."""

from __future__ import annotations

from graphviz_tb.model.measure import SMALL_FONT_PX, elide_text, replace_unsafe_characters
from graphviz_tb.model.metagraph import Side
from graphviz_tb.model.view import LevelNote, View
from graphviz_tb.view.labels import TOOLTIP_NAMES, tooltip_name
from graphviz_tb.view.stubs import neighbour_name

MIN_NOTE_BOXES = 5  # boxes that share a stub to get a note
# if the neighbour is in the auxiliary area, whose stubs name the boxes, or if they are half of the level
MIN_LISTED_BOXES = 3
NOTE_NAME_PX = 160  # a note is a separate line, with more room than a stub


def shared_notes(view: View) -> tuple[LevelNote, ...]:
    """Return notes on neighbours that at least `MIN_NOTE_BOXES` boxes share, or `MIN_LISTED_BOXES` if they are half of
    a level's main area
    or the neighbour is in the auxiliary area. Open children show no stubs and do not count."""
    core = [position for position in view.metagraph.core_children() if position not in view.opened]
    shared: dict[tuple[Side, int], list[int]] = {}  # by side and neighbour: indices of annotations
    inside = set(core)
    for index, stub in enumerate(view.metagraph.annotations):
        if stub.kind == "shortcut" and stub.child in inside:
            shared.setdefault((stub.side, stub.other), []).append(index)
    away = {view.metagraph.children[position] for position in view.metagraph.mask.extracted_children}
    return tuple(
        build_note(view, side, other, indices, len(core))
        for (side, other), indices in shared.items()
        if len(indices) >= (MIN_LISTED_BOXES if other in away or 2 * len(indices) >= len(core) else MIN_NOTE_BOXES)
    )


def build_note(view: View, side: Side, other: int, indices: list[int], count: int) -> LevelNote:
    """Return the note of one neighbour."""
    who = "all boxes" if len(indices) == count else f"{len(indices)} boxes"
    arrow = "→" if side == "out" else "←"
    name = elide_text(neighbour_name(other, view.names, view.labels), NOTE_NAME_PX, SMALL_FONT_PX)
    boxes = [view.node_labels[view.metagraph.annotations[index].child].label for index in indices]
    full = replace_unsafe_characters(view.names.get(other, ""))
    account = (
        f"{tooltip_name(full)} {'←' if side == 'out' else '→'} {', '.join(map(tooltip_name, boxes[:TOOLTIP_NAMES]))}"
    )
    return LevelNote(f"{who} {arrow} {name}", account, tuple(indices))
