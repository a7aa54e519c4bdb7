"""Alike groups of one level: opening one of them opens all."""

from __future__ import annotations

from collections import Counter

from graphviz_tb.model.hierarchy import OP_ROW, Hierarchy
from graphviz_tb.model.paths import last_segment, without_digits
from graphviz_tb.model.stacks import sole_stack, usual_member

MIN_COMMON_SHARE = 0.5  # share of common children in groups that are alike


def are_alike(hierarchy: Hierarchy, one: int, other: int) -> bool:
    """Return whether two siblings are equal, are stacks of equal members, or have one kind and one name apart from
    numbers and half of their children in common."""
    if hierarchy.kind[one] != hierarchy.kind[other] or hierarchy.kind[one] == OP_ROW:
        return False
    if hierarchy.template[one] == hierarchy.template[other]:
        return True
    stacks = sole_stack(hierarchy, one), sole_stack(hierarchy, other)
    if min(stacks) >= 0:
        templates = hierarchy.template[[usual_member(hierarchy, stack) for stack in stacks]].tolist()
        if len(set(templates)) == 1:
            return True
    if without_digits(hierarchy.display_label(one)) != without_digits(hierarchy.display_label(other)):
        return False
    first, second = child_structures(hierarchy, one), child_structures(hierarchy, other)
    names = child_names(hierarchy, one), child_names(hierarchy, other)
    return have_common_half(first, second) or have_common_half(*names)


def have_common_half(one: Counter[str], other: Counter[str]) -> bool:
    """Return whether the larger of two multisets shares half of its elements with the other."""
    return (one & other).total() >= MIN_COMMON_SHARE * max(one.total(), other.total()) > 0


def child_structures(hierarchy: Hierarchy, row: int) -> Counter[str]:
    """Count the children of a group by op type or template."""
    children, graph = hierarchy.children(row).tolist(), hierarchy.graph
    kinds = (hierarchy.kind[child] == OP_ROW for child in children)
    return Counter(
        graph.op_types[graph.op[hierarchy.node[child]]] if op else f"#{hierarchy.template[child]}"
        for child, op in zip(children, kinds, strict=True)
    )


def child_names(hierarchy: Hierarchy, row: int) -> Counter[str]:
    """Count the children of a group by name without digits."""
    return Counter(without_digits(last_segment(hierarchy.name[child])) for child in hierarchy.children(row).tolist())
