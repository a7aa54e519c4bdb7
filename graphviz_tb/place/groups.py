"""List the open groups of a picture, parents before children, each with the labels it has on the level outside."""

from __future__ import annotations

from collections.abc import Mapping

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import Bridge
from graphviz_tb.model.view import NodeLabel, View
from graphviz_tb.place.core import OutsideLabels

Heading = tuple[NodeLabel, str]  # label of an open group, and second line of its title bar


@dataclass(frozen=True, slots=True)
class OpenGroup:
    """An open group: its view, the texts of its title bar, the open groups by position below, and the labels of its
    edges on the level outside."""

    view: View
    heading: Heading | None
    below: Mapping[int, int]
    outside: OutsideLabels

    @property
    def node_labels(self) -> tuple[NodeLabel, ...]:
        """The label of each child, then of each function."""
        return (*self.view.node_labels, *self.view.functions)


def list_open_groups(view: View) -> list[OpenGroup]:
    """Return the open groups, parents before children."""
    groups: list[OpenGroup] = []
    todo: list[tuple[View, Heading | None, OutsideLabels, dict[int, int], int]] = [(view, None, {}, {}, -1)]
    while todo:
        current, heading, outside, above, position = todo.pop()
        above[position] = len(groups)  # the parent refers to this group by its number
        below: dict[int, int] = {}
        groups.append(OpenGroup(current, heading, below, outside))
        node_labels = (*current.node_labels, *current.functions)
        shown = {
            *current.metagraph.core_children(),
            *current.metagraph.mask.extracted_children,
            *range(len(current.node_labels), len(node_labels)),
        }
        labels = outside_line_labels(current) if current.opened else {}
        for child, inner in sorted(current.opened.items(), reverse=True):  # a stack: the first child is popped first
            if child in shown:
                todo.append(
                    (inner, (node_labels[child], current.words.seconds[child]), labels.get(child, {}), below, child)
                )
    return groups


def outside_line_labels(view: View) -> dict[int, dict[tuple[int, bool], str]]:
    """Return the labels of a level's lines, by the child they touch and the neighbour that child sees."""
    texts: dict[int, dict[tuple[int, bool], str]] = {}
    for wire, line in view.drawn_lines().items():
        text = view.words.lines[wire].label
        if isinstance(line, Bridge):
            texts.setdefault(line.child, {})[line.other, line.inbound] = text
        else:
            rows = view.metagraph.children
            texts.setdefault(line.source, {})[rows[line.target], False] = text
            texts.setdefault(line.target, {})[rows[line.source], True] = text
    return texts
