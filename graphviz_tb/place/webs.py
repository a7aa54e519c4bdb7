"""The ends of the lines of a level that is too large to be laid out."""

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
    ends_of: dict[EdgeKind, tuple[list[int], list[int]]] = {}
    for wire in view.wires():
        chain = view.skeleton.wires[wire].chain
        # -1 - p: port number p.
        for ends, item in zip(ends_of.setdefault(view.line(wire).kind, ([], [])), (chain[0], chain[-1]), strict=True):
            ends.append(boxes[item] if item < count else -1 - ports[item - count])
    return [Web(kind, frame, tuple(ends[0]), tuple(ends[1])) for kind, ends in ends_of.items()]
