"""Alike groups of one level: opening one of them opens all."""

from __future__ import annotations

from collections import Counter

from graphviz_tb.model.hierarchy import OP, Hierarchy
from graphviz_tb.model.paths import last_segment, without_digits
from graphviz_tb.model.stacks import stack_in, usual_member

COMMON = 0.5  # share of common children in groups that are alike


def alike(hierarchy: Hierarchy, one: int, other: int) -> bool:
    """Return whether two siblings are equal, are stacks of equal members, or have one kind and one name apart from
    numbers and half of their children in common."""
    if hierarchy.kind[one] != hierarchy.kind[other] or hierarchy.kind[one] == OP:
        return False
    if hierarchy.template[one] == hierarchy.template[other]:
        return True
    stacks = stack_in(hierarchy, one), stack_in(hierarchy, other)
    if min(stacks) >= 0:
        templates = hierarchy.template[[usual_member(hierarchy, stack) for stack in stacks]].tolist()
        if len(set(templates)) == 1:
            return True
    if without_digits(hierarchy.leaf(one)) != without_digits(hierarchy.leaf(other)):
        return False
    first, second = structures(hierarchy, one), structures(hierarchy, other)
    names = children_names(hierarchy, one), children_names(hierarchy, other)
    return in_common(first, second) or in_common(*names)


def in_common(one: Counter[str], other: Counter[str]) -> bool:
    """Return whether the larger of two multisets shares half of its elements with the other."""
    return (one & other).total() >= COMMON * max(one.total(), other.total()) > 0


def structures(hierarchy: Hierarchy, row: int) -> Counter[str]:
    """Count the children of a group by op type or template."""
    children, graph = hierarchy.children(row).tolist(), hierarchy.graph
    kinds = (hierarchy.kind[child] == OP for child in children)
    return Counter(
        graph.op_types[graph.op[hierarchy.node[child]]] if op else f"#{hierarchy.template[child]}"
        for child, op in zip(children, kinds, strict=True)
    )


def children_names(hierarchy: Hierarchy, row: int) -> Counter[str]:
    """Count the children of a group by name without digits."""
    return Counter(without_digits(last_segment(hierarchy.name[child])) for child in hierarchy.children(row).tolist())
