"""The stage counts that a reader takes from a folded graph, and how many of the true ones are among them.

    a stack of n members                                     n
    ... each of which is little else than a stack of m       m, n times: n stages × m
    ... beside a group as large as a member                  n or n + 1
    a group of one such stack and k groups as large          n or n + k
    three and more equal groups in a row                     their number

The groups of a level are read along the flow. The score is the longest common subsequence with the true counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphviz_tb import Model
from graphviz_tb.graphs.traversal import topological_order_with_cycles
from graphviz_tb.model.hierarchy import FOLD_ROW, OP_ROW, SERIES_ROW, GroupOrigin, Hierarchy

SMALL, BLOCK = 3, 6  # ops of a member that counts, and of a block of a stage
PART = 0.6  # of a member, for a group to be counted with it

Reading = frozenset[int]


def score(model: Model, true: Sequence[int]) -> tuple[int, int]:
    """How many of the true counts above 1 are read, and how many there are."""
    wanted = [count for count in true if count > 1]
    return common(wanted, list(readings(model, 0))), len(wanted)


def readings(model: Model, row: int) -> Iterator[Reading]:
    """The counts in a group, along the flow."""
    hierarchy = model.hierarchy
    children = along_flow(model, row)
    groups = [child for child in children if hierarchy.kind[child] not in (OP_ROW, SERIES_ROW)]
    run: list[int] = []
    for place, child in enumerate(children):
        kind, near = hierarchy.kind[child], children[max(0, place - 1) : place] + children[place + 1 : place + 2]
        if kind == OP_ROW:
            continue
        if kind == SERIES_ROW:
            yield from of_stack(model, child, [each for each in near if each in groups])
            continue
        template = hierarchy.template[child]
        run = [*run, child] if run and template >= 0 and hierarchy.template[run[-1]] == template else [child]
        following = children[place + 1] if place + 1 < len(children) else -1
        if len(run) > 2 and hierarchy.op_count(child) >= SMALL and hierarchy.template[following] != template:
            yield frozenset([len(run)])
        yield from of_group(model, child)


def of_group(model: Model, row: int) -> Iterator[Reading]:
    """The counts in a group that is no stack: its one stack with the groups as large beside it, or all in it."""
    hierarchy = model.hierarchy
    stacks = [
        child
        for child in hierarchy.children(row).tolist()
        if hierarchy.kind[child] == SERIES_ROW and hierarchy.op_count(members(hierarchy, child)[0]) >= SMALL
    ]
    groups = [child for child in hierarchy.children(row).tolist() if hierarchy.kind[child] not in (OP_ROW, SERIES_ROW)]
    if len(stacks) == 1:
        inside = members(hierarchy, stacks[0])
        size = hierarchy.op_count(inside[0])
        heads = sum(PART * size <= hierarchy.op_count(each) <= 1.5 * size for each in groups)
        if heads and not inner_stack(hierarchy, inside[0]):
            yield frozenset([len(inside), len(inside) + heads])
            return
    large = [each for each in groups if hierarchy.op_count(each) >= PART * max(map(hierarchy.op_count, groups))]
    if not stacks and len(large) > 1 and sum(map(hierarchy.op_count, large)) >= 0.8 * hierarchy.op_count(row):
        yield frozenset([len(large)])
    yield from readings(model, row)


def of_stack(model: Model, row: int, near: list[int]) -> Iterator[Reading]:
    """The counts of a stack."""
    hierarchy = model.hierarchy
    inside = members(hierarchy, row)
    size = hierarchy.op_count(inside[0])
    if size < SMALL:
        return
    if inner_stack(hierarchy, inside[0]) and len(inside) > 1:
        for member in inside:
            yield from of_group(model, member)
        return
    like = sum(size >= 10 and abs(hierarchy.op_count(each) - size) <= 0.1 * size for each in near)
    yield frozenset(range(len(inside), len(inside) + like + 1))
    yield from readings(model, inside[0])


def inner_stack(hierarchy: Hierarchy, row: int) -> bool:
    """Whether most of a group is one stack."""
    stacks = [each for each in hierarchy.children(row).tolist() if hierarchy.kind[each] == SERIES_ROW]
    return any(
        hierarchy.op_count(each) >= PART * hierarchy.op_count(row)
        and hierarchy.op_count(members(hierarchy, each)[0]) >= BLOCK
        for each in stacks
    )


def members(hierarchy: Hierarchy, row: int) -> list[int]:
    """The members of a stack; the ranges that a tall one is cut into are looked through."""
    inside: list[int] = []
    for child in hierarchy.children(row).tolist():
        cut = hierarchy.kind[child] == FOLD_ROW and hierarchy.how[child] == GroupOrigin.SEGMENT
        inside += hierarchy.children(child).tolist() if cut else [child]
    return inside


def along_flow(model: Model, row: int) -> list[int]:
    """The children of a group in the order of their longest way from the beginning."""
    hierarchy = model.hierarchy
    children = [child for child in hierarchy.children(row).tolist() if hierarchy.mark[child] == 0]
    place = {child: number for number, child in enumerate(children)}
    owned = hierarchy.owned_edges(row)
    after: list[list[int]] = [[] for _ in children]
    for start, stop in zip(hierarchy.edge_from[owned].tolist(), hierarchy.edge_to[owned].tolist(), strict=True):
        if start in place and stop in place and start != stop:
            after[place[start]].append(place[stop])
    order = topological_order_with_cycles([sorted(set(each)) for each in after])
    depth = [0] * len(children)
    for box in order:
        for user in after[box]:
            depth[user] = max(depth[user], depth[box] + 1)
    return [children[box] for box in sorted(range(len(children)), key=lambda box: (depth[box], box))]


def common(wanted: Sequence[int], found: Sequence[Reading]) -> int:
    """The length of the longest common subsequence."""
    best = [[0] * (len(found) + 1) for _ in range(len(wanted) + 1)]
    for i, count in enumerate(wanted):
        for j, reading in enumerate(found):
            hit = best[i][j] + 1 if count in reading else max(best[i][j + 1], best[i + 1][j])
            best[i + 1][j + 1] = hit
    return best[-1][-1]
