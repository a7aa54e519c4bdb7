"""What the lines of a level join that is too large to be laid out."""

from __future__ import annotations

from collections.abc import Mapping

from graphviz_tb.model.metagraph import EdgeKind
from graphviz_tb.model.scene import Web
from graphviz_tb.model.view import View


def webs(view: View, frame: int, boxes: Mapping[int, int], ports: Mapping[int, int]) -> list[Web]:
    """The lines of a level by kind.

    Before: `boxes` are numbers of boxes by position, `ports` those of ports by their number in the skeleton.
    """
    count = view.skeleton.children
    joins_of: dict[EdgeKind, list[tuple[int, int]]] = {}
    for index, line in view.lines().items():
        chain = view.skeleton.wires[index].chain
        # -1 - p: port number p.
        ends = [boxes[item] if item < count else -1 - ports[item - count] for item in (chain[0], chain[-1])]
        joins_of.setdefault(line.kind, []).append((ends[0], ends[1]))
    return [Web(kind, frame, tuple(joins)) for kind, joins in joins_of.items()]
