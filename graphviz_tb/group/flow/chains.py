"""Equal scopes that feed one another, whatever else leaves them: the levels of a U-Net, each with a skip of its own.

down_0 ─▶ down_1 ─▶ down_2 ─▶ up_2 ─▶ up_1 ─▶ up_0        two stacks of three
   └─────────┴─────────┴────────▲───────▲───────▲
"""

from __future__ import annotations

from itertools import groupby, pairwise

from graphviz_tb.group.flow.box import FEWEST_OPS, FlowBox, SymbolNumbers, stack
from graphviz_tb.group.flow.columns import Siblings
from graphviz_tb.group.flow.guard import leaves
from graphviz_tb.group.flow.words import form
from graphviz_tb.model.hierarchy import How

FEWEST = 3  # of two a reader wants both


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
    found = [boxes]
    for each in found:  # grows while it is gone through
        found += [box.members for box in each if box.members and not box.stack]
    return found


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
