"""Stubs that many boxes of a level share: said once, in a note, and not at each box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphviz_tb.model.measure import clean, elide
from graphviz_tb.model.metagraph import Side
from graphviz_tb.model.view import View
from graphviz_tb.place.labels import brief
from graphviz_tb.place.sizes import SMALL_SIZE

MANY = 5  # boxes that share a stub before a note says it
LISTED = 3  # the same where the neighbour stands in the auxiliary area, whose own stubs name the boxes, or where it is
# half of the level
MOST = 160  # px of a neighbour's name
TOLD = 40  # names in a tooltip


@dataclass(frozen=True, slots=True)
class Note:
    """One line about a level: its words, the full account, and the annotations it stands for."""

    content: str
    full: str
    annotations: tuple[int, ...]


def notes_of(view: View, opened: Mapping[int, object]) -> list[Note]:
    """What at least `MANY` boxes have in common; or `LISTED`, where they are half of a level's main area or the
    neighbour stands in the auxiliary area.

    Before: `opened` holds the positions of open children, which show no stubs.
    """
    core = [position for position in view.metagraph.core() if position not in opened]
    shared: dict[tuple[Side, int], list[int]] = {}
    inside = set(core)
    for index, stub in enumerate(view.metagraph.annotations):
        if stub.kind == "shortcut" and stub.child in inside:
            shared.setdefault((stub.side, stub.other), []).append(index)
    away = {view.metagraph.children[position] for position in view.metagraph.mask.extracted}
    return [
        note(view, side, other, indices, len(core))
        for (side, other), indices in shared.items()
        if len(indices) >= (LISTED if other in away or 2 * len(indices) >= len(core) else MANY)
    ]


def note(view: View, side: Side, other: int, indices: list[int], count: int) -> Note:
    """The note of one neighbour."""
    who = "all boxes" if len(indices) == count else f"{len(indices)} boxes"
    arrow = "→" if side == "out" else "←"
    full = clean(view.names.get(other, ""))
    called = clean(view.labels.get(other, "")) or full.rsplit("/", 1)[-1] or full
    faces = [view.faces[view.metagraph.annotations[index].child].label for index in indices]
    told = f"{brief(full)} {'←' if side == 'out' else '→'} {', '.join(map(brief, faces[:TOLD]))}"
    return Note(f"{who} {arrow} {elide(called, MOST, SMALL_SIZE)}", told, tuple(indices))
