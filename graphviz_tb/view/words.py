"""Every text of the boxes and lines of one open group, and the line below the title of a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graphviz_tb.algorithms.calls import OpCounter, lower_bound_sign
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import group_thousands
from graphviz_tb.model.metagraph import Annotation, Bridge, MetagraphLine
from graphviz_tb.model.units import plural_noun
from graphviz_tb.model.view import LevelWords, LineWords, NodeLabel, View
from graphviz_tb.view.labels import TOOLTIP_NAMES, count_of, describe_line, drawn_label, tooltip_name
from graphviz_tb.view.shared import shared_notes
from graphviz_tb.view.stubs import stubs_at_side

NO_NAME = "…"


def level_words(view: View, limit: int) -> LevelWords:
    """Return the texts of a view without texts; `limit` is how many stubs a side of a box shows before the rest is
    counted."""
    node_labels = (*view.node_labels, *view.functions)
    notes = shared_notes(view)
    beside = stubs_by_child(view, {index for note in notes for index in note.annotations})
    links = links_of_open(view)
    return LevelWords(
        seconds=tuple(box_second_line(node, len(links[position])) for position, node in enumerate(node_labels)),
        titles=tuple(box_tooltip(node, links[position]) for position, node in enumerate(node_labels)),
        incoming=tuple(stubs_at_side(stubs, "in", view.names, view.labels, limit) for stubs in beside),
        outgoing=tuple(stubs_at_side(stubs, "out", view.names, view.labels, limit) for stubs in beside),
        notes=notes,
        lines={
            wire: LineWords(drawn_label(line), describe_line(line, *line_end_names(view, line)))
            for wire, line in view.drawn_lines().items()
        },
        loops={
            position: f"{tooltip_name(node_labels[position].full)} → itself" for position, _ in view.metagraph.loops
        },
        ports=tuple(
            ", ".join(tooltip_name(view.names.get(row, NO_NAME)) for row, _ in port.others[:TOOLTIP_NAMES])
            for port in view.skeleton.ports
        ),
    )


def stubs_by_child(view: View, noted: set[int]) -> list[list[tuple[int, Annotation]]]:
    """Return the annotations drawn next to each box, with their indices: none at an open group or in a note."""
    by_child: list[list[tuple[int, Annotation]]] = [[] for _ in (*view.node_labels, *view.functions)]
    for index, annotation in enumerate(view.metagraph.annotations):
        if index not in noted and annotation.child not in view.opened:
            by_child[annotation.child].append((index, annotation))
    return by_child


def links_of_open(view: View) -> list[list[str]]:
    """Return the names behind the stubs of each open group; empty for a closed one, which shows its stubs."""
    by_child: list[list[str]] = [[] for _ in (*view.node_labels, *view.functions)]
    for annotation in view.metagraph.annotations:
        if annotation.child in view.opened:
            by_child[annotation.child].append(view.names.get(annotation.other, NO_NAME))
    return by_child


def box_second_line(node: NodeLabel, links: int = 0) -> str:
    """Return the badge of a stack and the count (a stack of ops does not repeat one number); in the title bar of an
    open group also its number of stubs.

    >>> box_second_line(NodeLabel(1, "", "series", "", "", "25 ops", "×25", member="op"))
    '×25'
    >>> box_second_line(NodeLabel(1, "", "fold", "", "", "25 ops", "25 parts", member="op"), 2)
    '25 ops · 2 links'
    """
    second = node.second
    if links:
        second = " · ".join(part for part in (second, count_of(links, "link")) if part)
    number = node.badge.removeprefix("×").replace(" parts", "")  # "×25" and "25 parts" are both 25
    if node.badge and second.startswith(f"{number} op"):
        return node.badge if node.kind == "series" else second
    return " · ".join(part for part in (node.badge, second) if part)


def stack_label(node: NodeLabel, said: str | None, member: NodeLabel, shown: int, members: int) -> NodeLabel:
    """Return the label of a stack that shows the content of one member.

    `said` is the second line that a picture wants (None: the usual one), `shown` the position of `member` among the
    `members`.

    >>> node = NodeLabel(1, "", "series", "layer_[0-3]", "", "80 ops", "×4", connected=True)
    >>> label = stack_label(node, None, NodeLabel(2, "", "scope", "layer_1", "", "20 ops"), 1, 4)
    >>> label.label, label.second
    ('layer_[0-3] ×4', 'as layer_1 · 20 ops each')
    """
    # A member that is a stack counts the ops of each of its members; a Keras layer (`about`) describes itself.
    counted_each = member.kind == "series" and member.member not in ("op", "call") and not member.about
    inside = f"{member.second} each" if member.second and not counted_each else member.second
    aside = "" if node.connected else "side by side"
    other = f"as {member.label}" if shown else ""
    return replace(
        node,
        label=f"{node.label} {node.badge}",
        second=" · ".join(part for part in (aside, other, inside if said is None else said) if part),
        badge="",
        about=f"shown: {member.label}, one of {members}",
        stacked=True,
    )


def box_tooltip(node: NodeLabel, links: list[str]) -> str:
    """Return the tooltip of a box; that of an open group names the ends of the stubs that are not shown next to it."""
    linked = f"linked with {', '.join(map(tooltip_name, links[:TOOLTIP_NAMES]))}" if links else ""
    return " · ".join(part for part in (tooltip_name(node.full), box_second_line(node), node.about, linked) if part)


def line_end_names(view: View, line: MetagraphLine) -> tuple[str, str]:
    """Return the names of the source and of the target of a line."""
    if not isinstance(line, Bridge):
        return view.node_labels[line.source].full, view.node_labels[line.target].full
    inside, outside = view.node_labels[line.child].full, view.names.get(line.other, NO_NAME)
    return (outside, inside) if line.inbound else (inside, outside)


def facts_line(
    hierarchy: Hierarchy, shown: int, summary: Callable[[int, int], str], scheme: str, left_out: int = 0
) -> str:
    """Return the line below the title of a picture: its colouring's summary, else counts; and how many bookkeeping ops
    of a saved model are left out."""
    through = OpCounter(hierarchy)(0)
    ops = hierarchy.op_count(0) if through is None else through
    facts = summary(ops, shown) or counts_text(ops, shown, scheme)
    return f"{facts} · {group_thousands(left_out)} op{'s' if left_out > 1 else ''} left out" if left_out else facts


def counts_text(ops: int, shown: int, scheme: str) -> str:
    """Return how many ops the model has, how many nodes are shown, and how they are coloured.

    >>> counts_text(12670, 24, "structure")
    '12\\u2009670 ops · 24 shown · colour: structure'
    """
    return f"{lower_bound_sign(ops)}{group_thousands(ops)} {plural_noun(ops, 'op')} · {group_thousands(shown)} shown · colour: {scheme}"
