"""Equal scopes that feed one another, whatever else leaves them: the levels of a U-Net, each with a skip of its own.

down_0 ─▶ down_1 ─▶ down_2 ─▶ up_2 ─▶ up_1 ─▶ up_0        two stacks of three
   └─────────┴─────────┴────────▲───────▲───────▲
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby, pairwise

import numpy as np

from graphviz_tb.group.flow.box import FEWEST_OPS, FlowBox, SymbolNumbers, stack, walk
from graphviz_tb.group.flow.columns import Siblings
from graphviz_tb.group.flow.guard import leaves
from graphviz_tb.group.flow.words import form
from graphviz_tb.model.hierarchy import Hierarchy, How

FEWEST = 3  # of two a reader wants both
MORE = 1.5  # times the ops of its equals, in the first of a series


def with_unlike_first(boxes: list[FlowBox], hierarchy: Hierarchy, most: int) -> list[FlowBox]:
    """Take the scope right before a stack into it that is called like its members and holds what they hold, and a little
    more: the first layer, which works out what all others are given. `most` members may a stack have."""
    for each in lists(boxes):
        forms = Counter(form(box.name) for box in each if is_scope(box)) if any(box.stack for box in each) else Counter()
        for first, run in list(pairwise(each)):
            chain = run.stack and not run.sideways and len(run.members) < most
            # One of several that are called so is another kind of block, not the first of all.
            if chain and forms[form(first.name)] == 1 and is_first(first, run.members[0], hierarchy):
                run.members.insert(0, first)
                run.ops += first.ops
                run.name = ""  # of the members that it had
                each.remove(first)
    return boxes


def is_first(box: FlowBox, other: FlowBox, hierarchy: Hierarchy) -> bool:
    """Whether a box may be the first of a series that goes on with `other`."""
    if not (is_scope(box) and is_scope(other) and form(box.name) == form(other.name)):
        return False
    return other.ops <= box.ops <= MORE * other.ops and held(other, hierarchy) <= held(box, hierarchy)


def held(box: FlowBox, hierarchy: Hierarchy) -> Counter[int]:
    """How often each op type is in a box."""
    nodes = np.concatenate([hierarchy.node[row.row : hierarchy.end[row.row]] for row in leaves(box)])
    return Counter(hierarchy.graph.op[nodes[nodes >= 0]].tolist())


def with_chains(boxes: list[FlowBox], level: Siblings, symbols: SymbolNumbers) -> list[FlowBox]:
    """Stack chains in every list of boxes of a level, each along the flow: a stretch of it is convex."""
    found = [run for each in lists(boxes) for run in runs(each)]
    if not found:
        return boxes
    owner = {row.row: box for run in found for box in run for row in leaves(box)}
    rows, edges = level.rows, level.edges
    fed = {
        (id(source), id(target))
        for start, stop in zip(edges.source.tolist(), edges.target.tolist(), strict=True)
        if (source := owner.get(rows[start])) and (target := owner.get(rows[stop])) and source is not target
    }
    chains = [run for run in found if all((id(one), id(other)) in fed for one, other in pairwise(run))]
    made = {id(run[0]): stack(symbols, run, run[0].symbol) for run in chains}
    gone = {id(box) for run in chains for box in run[1:]}
    for each in lists(boxes):
        each[:] = [made.get(id(box), box) for box in each if id(box) not in gone]
    return boxes


def lists(boxes: list[FlowBox]) -> list[list[FlowBox]]:
    """The boxes of a level, and of each group in it that is no stack."""
    return [boxes, *(box.members for box in walk(boxes) if box.members and not box.stack)]


def runs(boxes: list[FlowBox]) -> list[list[FlowBox]]:
    """Equal scopes right behind each other, called alike but for their numbers."""
    found = []
    for kind, run in groupby(boxes, key=lambda box: (box.symbol, form(box.name)) if is_scope(box) else None):
        members = list(run)
        if kind and FEWEST <= len(members) < len(boxes) and members[0].ops >= FEWEST_OPS:
            found.append(members)
    return found


def is_scope(box: FlowBox) -> bool:
    """Whether a box is a scope, by its name or in the file, with nothing beside it."""
    return (box.scope or box.how == How.NAME) and not box.stack and not box.feeders
