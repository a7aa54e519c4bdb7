"""The costs of a graph as plain values: the model summary of `tbgraph info`."""

from __future__ import annotations

from dataclasses import dataclass

from graphviz_tb.model.costs import COST_ROLES, GAPS_OF_QUANTITY, Cost, Costs
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.summary import row_display_name

DOMINANT_SHARE = 0.9  # a scope with more of the cost than this is opened: its parts say more


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
    row = dominant_scope(hierarchy, costs)
    scopes = [
        ScopeCost(row_display_name(hierarchy, child), hierarchy.op_count(child), cost)
        for child in hierarchy.children(row).tolist()
        if (cost := costs.under(child))
    ]
    return CostReport(
        batch=costs.batch,
        whole=whole,
        roles={role: costs.under(0, role) for role in COST_ROLES},
        within=row_display_name(hierarchy, row),
        scopes=tuple(sorted(scopes, key=lambda scope: scope_sort_key(scope, sort))),
        uncounted=dict(costs.uncounted),
        at_least=tuple(name for name in GAPS_OF_QUANTITY if whole.is_lower_bound(name)),
        ops=hierarchy.op_count(0),
    )


def dominant_scope(hierarchy: Hierarchy, costs: Costs) -> int:
    """Return the root, or the scope below it that contains nearly all of its operations and parameters."""
    # Go inwards while one part has nearly all: list the layers of "model/encoder/…", not "model".
    row = 0
    while True:
        whole = costs.under(row)
        children = [child for child in hierarchy.children(row).tolist() if hierarchy.end[child] > child + 1]
        holding = [
            child
            for child in children
            if (inside := costs.under(child)).flops >= DOMINANT_SHARE * whole.flops
            and inside.parameters >= DOMINANT_SHARE * whole.parameters
        ]
        if len(holding) != 1:
            return row
        row = holding[0]


def scope_sort_key(scope: ScopeCost, sort: str) -> tuple[int | str, ...]:
    """Return the sort key of a scope: largest first, or by name; ties keep the order of the file."""
    quantities = {"parameters": "parameters", "flops": "flops", "activations": "activation_bytes"}
    if sort in quantities:
        return (-getattr(scope.cost, quantities[sort]),)
    # Equal keys: `sorted` leaves the order of the file.
    return (scope.name,) if sort == "name" else ()
