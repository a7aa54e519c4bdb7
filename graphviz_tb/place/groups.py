"""The open groups of a picture, parents before children, and what each of them says besides its own level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from graphviz_tb.model.metagraph import Bridge
from graphviz_tb.model.view import Face, View
from graphviz_tb.place import labels
from graphviz_tb.place.core import Outside, drawn


@dataclass(frozen=True, slots=True)
class Open:
    """An open group: its view, its own face, which group stands open at each position below, and what the
    level outside says of its edges."""

    view: View
    face: Face | None
    below: Mapping[int, int]
    outside: Outside

    @property
    def faces(self) -> tuple[Face, ...]:
        """The face of each child, then of each function."""
        return (*self.view.faces, *self.view.functions)


def in_order(view: View) -> list[Open]:
    """Open groups, parents before children."""
    groups: list[Open] = []
    todo: list[tuple[View, Face | None, Outside, dict[int, int], int]] = [(view, None, {}, {}, -1)]
    while todo:
        one, face, outside, above, position = todo.pop()
        above[position] = len(groups)
        below: dict[int, int] = {}
        groups.append(Open(one, face, below, outside))
        faces = (*one.faces, *one.functions)
        shown = {*one.metagraph.core(), *one.metagraph.mask.extracted, *range(len(one.faces), len(faces))}
        told = said(one) if one.opened else {}
        for at, inner in sorted(one.opened.items(), reverse=True):
            if at in shown:
                todo.append((inner, linked(one, at, faces[at]), told.get(at, {}), below, at))
    return groups


def linked(view: View, position: int, face: Face) -> Face:
    """The face of an open group: the stubs that stood beside it when it was closed are counted in its title."""
    count = len(links(view, position))
    told = (face.second, labels.plural(count, "link") if count else "")
    return replace(face, second=" · ".join(part for part in told if part))


def links(view: View, position: int) -> list[str]:
    """What the stubs of a child stand for."""
    return [view.names.get(one.other, "…") for one in view.metagraph.annotations if one.child == position]


def said(view: View) -> dict[int, dict[tuple[int, bool], str]]:
    """The labels of a level's lines, by the child they touch and the neighbour that child sees."""
    found: dict[int, dict[tuple[int, bool], str]] = {}
    for line in drawn(view).values():
        text = labels.shown(line)[0]
        if isinstance(line, Bridge):
            found.setdefault(line.child, {})[line.other, line.inbound] = text
        else:
            rows = view.metagraph.children
            found.setdefault(line.source, {})[rows[line.target], False] = text
            found.setdefault(line.target, {})[rows[line.source], True] = text
    return found
