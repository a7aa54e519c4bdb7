"""Stubs that many boxes of a level share: written once in a note, not at each box."""

from __future__ import annotations

from graphviz_tb.model.measure import SMALL_SIZE, clean, elide
from graphviz_tb.model.metagraph import Side
from graphviz_tb.model.view import Note, View
from graphviz_tb.view.labels import NAMES_LISTED, brief
from graphviz_tb.view.stubs import neighbour_name

MANY = 5  # boxes that share a stub to get a note
LISTED = 3  # if the neighbour is in the auxiliary area, whose stubs name the boxes, or if they are half of the level
LONGEST_NAME = 160  # a note is a separate line, with more room than a stub


def notes_of(view: View) -> tuple[Note, ...]:
    """Return notes on neighbours that at least `MANY` boxes share, or `LISTED` if they are half of a level's main area
    or the neighbour is in the auxiliary area. Open children show no stubs and do not count."""
    core = [position for position in view.metagraph.core() if position not in view.opened]
    shared: dict[tuple[Side, int], list[int]] = {}  # by side and neighbour: indices of annotations
    inside = set(core)
    for index, stub in enumerate(view.metagraph.annotations):
        if stub.kind == "shortcut" and stub.child in inside:
            shared.setdefault((stub.side, stub.other), []).append(index)
    away = {view.metagraph.children[position] for position in view.metagraph.mask.extracted}
    return tuple(
        note(view, side, other, indices, len(core))
        for (side, other), indices in shared.items()
        if len(indices) >= (LISTED if other in away or 2 * len(indices) >= len(core) else MANY)
    )


def note(view: View, side: Side, other: int, indices: list[int], count: int) -> Note:
    """Return the note of one neighbour."""
    who = "all boxes" if len(indices) == count else f"{len(indices)} boxes"
    arrow = "→" if side == "out" else "←"
    name = elide(neighbour_name(other, view.names, view.labels), LONGEST_NAME, SMALL_SIZE)
    boxes = [view.node_labels[view.metagraph.annotations[index].child].label for index in indices]
    full = clean(view.names.get(other, ""))
    account = f"{brief(full)} {'←' if side == 'out' else '→'} {', '.join(map(brief, boxes[:NAMES_LISTED]))}"
    return Note(f"{who} {arrow} {name}", account, tuple(indices))
