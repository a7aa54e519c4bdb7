"""Describe a change in the second line of a box, cut to the width of the box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphviz_tb.diff.report.words import place, value
from graphviz_tb.model.change import Change
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.model.paths import last_segment
from graphviz_tb.place.boxes import BADGE_ROOM, MAX_OP_WIDTH

ROOM = MAX_OP_WIDTH - 2 * BADGE_ROOM  # px for the second line of a box


def brief(change: Change) -> str:
    """Describe a change at a node, so short that the old and the new value fit into its box."""
    detail = change.detail
    if change.kind == "changed":
        return brief_setting(detail)
    if detail.get("reordered"):
        return "inputs reordered"
    if order := detail.get("order"):
        return fitting(" → ".join(", ".join(order[side]) for side in ("old", "new")), "in another order")
    inputs = detail["inputs"]
    if len(inputs) > 1:
        return f"{len(inputs)} inputs rewired"
    return brief_wire(inputs[0])


def brief_setting(detail: Mapping[str, Any]) -> str:
    """Describe a setting that is another."""
    ends = f"{value(detail['old'])} → {value(detail['new'])}"
    return fitting(f"{detail['key']} {ends}", ends, f"{detail['key']} → {value(detail['new'])}")


def brief_wire(wire: Mapping[str, Any]) -> str:
    """Describe the change of one input."""
    ends = " → ".join(leaf(wire[side]) for side in ("old", "new"))
    return fitting(f"{place(wire)}: {ends}", f"{place(wire).partition(' (')[0]}: {ends}", ends)


def leaf(name: str | None) -> str:
    """The last segment of a name."""
    return last_segment(name) if name else "nothing"


def fitting(*words: str) -> str:
    """The first of `words` that a box has room for on its second line, else the last.

    >>> fitting("input 1 (second): a_rather_long_name → other", "a_rather_long_name → other")
    'a_rather_long_name → other'
    """
    return next((line for line in words if text_width(line, SMALL_FONT_PX) <= ROOM), words[-1])


def was(old: str, new: str) -> str:
    """Describe the former name or place of a node or scope.

    >>> was("a/kernel", "a/other"), was("a/b/c", "d/c"), was("a/b", "c")
    ('was kernel', 'from a/b', 'was a/b')
    """
    around = old.rpartition("/")[0], new.rpartition("/")[0]
    if around[0] == around[1]:
        return f"was {leaf(old)}"
    if leaf(old) != leaf(new):
        return shortest("was ", old)
    return shortest("from ", around[0]) if around[0] else "from the root"


def shortest(before: str, name: str) -> str:
    """As much of a name as there is room for: all, its first and last segment, its last.

    >>> shortest("from ", "optimizer/gradients/loss/nce_loss")
    'from optimizer/…/nce_loss'
    """
    first, _, rest = name.partition("/")
    short = f"{before}{first}/…/{leaf(name)}" if "/" in rest else f"{before}{name}"
    return fitting(f"{before}{name}", short, f"{before}…/{leaf(name)}")
