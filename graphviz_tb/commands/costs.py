"""The costs of a graph as plain values: the model summary of `tbgraph info`."""

from __future__ import annotations

from dataclasses import dataclass

from graphviz_tb.model.costs import LACKS, ROLES, Cost, Costs
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.summary import displayed_name

MOST_OF_ALL = 0.9  # a scope with more of the cost than this is opened: its parts say more


@dataclass(frozen=True, slots=True)
class ScopeCost:
    """One scope or op of the listed level."""

    name: str
    ops: int
    cost: Cost


@dataclass(frozen=True, slots=True)
class CostReport:
    """The costs in `info`.

    `scopes` are the parts of the graph, or of the scope that contains nearly all of it (`within`, "" for the graph);
    `roles` are the sums of forward, gradient and optimizer; `uncounted` op types have operations that are not counted;
    `at_least` names the quantities of the whole that are lower bounds, `ops` is the number of ops.
    """

    batch: int
    whole: Cost
    roles: dict[str, Cost]
    within: str
    scopes: tuple[ScopeCost, ...]
    uncounted: dict[str, int]
    at_least: tuple[str, ...]
    ops: int


def cost_report(hierarchy: Hierarchy, costs: Costs, sort: str = "file") -> CostReport | None:
    """Return the report for a graph with costs; None if nothing costs anything."""
    whole = costs.under(0)
    if not whole and not whole.lower_bounds():
        return None
    row = telling(hierarchy, costs)
    scopes = [
        ScopeCost(displayed_name(hierarchy, child), hierarchy.ops(child), cost)
        for child in hierarchy.children(row).tolist()
        if (cost := costs.under(child))
    ]
    return CostReport(
        batch=costs.batch,
        whole=whole,
        roles={role: costs.under(0, role) for role in ROLES},
        within=displayed_name(hierarchy, row),
        scopes=tuple(sorted(scopes, key=lambda scope: order(scope, sort))),
        uncounted=dict(costs.uncounted),
        at_least=tuple(name for name in LACKS if whole.lacks(name)),
        ops=hierarchy.ops(0),
    )


def telling(hierarchy: Hierarchy, costs: Costs) -> int:
    """Return the root, or the scope below it that contains nearly all of its operations and parameters."""
    # Go inwards while one part has nearly all: list the layers of "model/encoder/…", not "model".
    row = 0
    while True:
        whole = costs.under(row)
        children = [child for child in hierarchy.children(row).tolist() if hierarchy.end[child] > child + 1]
        holding = [
            child
            for child in children
            if (inside := costs.under(child)).flops >= MOST_OF_ALL * whole.flops
            and inside.parameters >= MOST_OF_ALL * whole.parameters
        ]
        if len(holding) != 1:
            return row
        row = holding[0]


def order(scope: ScopeCost, sort: str) -> tuple[int | str, ...]:
    """Return the sort key of a scope: largest first, or by name; ties keep the order of the file."""
    quantities = {"parameters": "parameters", "flops": "flops", "activations": "activation_bytes"}
    if sort in quantities:
        return (-getattr(scope.cost, quantities[sort]),)
    # Equal keys: `sorted` leaves the order of the file.
    return (scope.name,) if sort == "name" else ()
