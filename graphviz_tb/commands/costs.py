"""Costs and run statistics of `tbgraph info`: as plain values, and as lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphviz_tb.annotate.rankings import RankedPlace, StatsSummary, figures_bytes, figures_time
from graphviz_tb.annotate.step_profile import NOT_IN_GRAPH
from graphviz_tb.api.summary import row_display_name
from graphviz_tb.commands.table import (
    SHORT_BAR_WIDTH,
    TextStyle,
    bar_text,
    bar_width,
    clip_end,
    clip_middle,
    color_bars,
    format_percent,
    format_table,
)
from graphviz_tb.model.costs import COST_ROLES, GAPS_OF_QUANTITY, Cost, Costs
from graphviz_tb.model.formatting import format_bytes, format_count, format_counted_noun, format_micros, printable
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import RunFigures, round_for_json

# The costs of a graph as plain values: the model summary of `tbgraph info`.

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
    `at_least` and `at_most` name the quantities of the whole that are bounds, `ops` is the number of ops.
    """

    batch: int
    whole: Cost
    roles: dict[str, Cost]
    within: str
    scopes: tuple[ScopeCost, ...]
    uncounted: dict[str, int]
    at_least: tuple[str, ...]
    at_most: tuple[str, ...]
    ops: int


def cost_report(hierarchy: Hierarchy, costs: Costs, sort: str = "file") -> CostReport | None:
    """Return the report for a graph with costs; None if nothing costs anything."""
    whole = costs.under(0)
    if not whole and not whole.lower_bounds():
        return None
    row = _dominant_scope(hierarchy, costs)
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
        scopes=tuple(sorted(scopes, key=lambda scope: _scope_sort_key(scope, sort))),
        uncounted=dict(costs.uncounted),
        at_least=tuple(name for name in GAPS_OF_QUANTITY if whole.is_lower_bound(name)),
        at_most=tuple(name for name in GAPS_OF_QUANTITY if whole.is_upper_bound(name)),
        ops=hierarchy.op_count(0),
    )


def _dominant_scope(hierarchy: Hierarchy, costs: Costs) -> int:
    """Return the root, or the scope below it that contains nearly all of its operations and parameters."""
    # Go inwards while one part has nearly all: list the layers of "model/encoder/…", not "model".
    row = 0
    while True:
        total = costs.under(row)
        children = [child for child in hierarchy.children(row).tolist() if hierarchy.end[child] > child + 1]
        dominant = [
            child
            for child in children
            if (cost := costs.under(child)).flops >= DOMINANT_SHARE * total.flops
            and cost.parameters >= DOMINANT_SHARE * total.parameters
        ]
        if len(dominant) != 1:
            return row
        row = dominant[0]


def _scope_sort_key(scope: ScopeCost, sort: str) -> tuple[int | str, ...]:
    """Return the sort key of a scope: largest first, or by name; ties keep the order of the file."""
    quantities = {"parameters": "parameters", "flops": "flops", "activations": "activation_bytes"}
    if sort in quantities:
        return (-getattr(scope.cost, quantities[sort]),)
    # Equal keys: `sorted` leaves the order of the file.
    return (scope.name,) if sort == "name" else ()


# The model summary of `tbgraph info` as lines.

LISTED_QUANTITIES = ("parameters", "flops", "activation_bytes")
COST_TABLE_HEAD = ("", "ops", "parameters", "FLOPs", "activations", "")


def cost_lines(report: CostReport | None, top: int, width: int, look: TextStyle) -> list[str]:
    """Return totals, by role if there are several; then a line for each scope, with its share of the FLOPs."""
    if report is None:
        return []
    whole = report.whole
    rows = [
        ("parameters", cost_amount(whole, "parameters"), _parameters_note(whole)),
        ("FLOPs", cost_amount(whole, "flops"), _flops_note(report)),
        ("activations", cost_amount(whole, "activation_bytes"), _activations_note(report)),
        *(("  " + role, cost_amount(cost, "flops"), "FLOPs") for role, cost in _roles_if_several(report).items()),
    ]
    lines = format_table([row for row in rows if row[1] != "0"], width, shrinking=(1, 2))
    if report.uncounted:
        op_counts = ", ".join(f"{printable(op)} {count:,}" for op, count in list(report.uncounted.items())[:top])
        lines += format_table([("not counted", op_counts)], width, shrinking=(1,))
    if not report.scopes:
        return lines
    body = [_scope_cost_row(scope, report.whole) for scope in report.scopes[:top]]
    hidden_count = len(report.scopes) - len(body)
    more = [clip_end(f"  and {hidden_count:,} more", width)] if hidden_count else []
    return [
        *lines,
        "",
        *format_table([COST_TABLE_HEAD, *body], width, right=(1, 2, 3, 4), header=True, look=look),
        *more,
    ]


def cost_amount(cost: Cost, quantity: str) -> str:
    """Return a quantity in words, as a bound if it is one.

    >>> cost_amount(Cost(flops=1200), "flops"), cost_amount(Cost(flops=1200, uncounted=3), "flops")
    ('1.2 k', 'at least 1.2 k')
    >>> cost_amount(Cost(partial=1), "flops")
    'unknown'
    """
    count = getattr(cost, quantity)
    amount = format_bytes(count) if quantity.endswith("bytes") else format_count(count)
    return cost.bound_word(quantity) + amount if count or not cost.is_lower_bound(quantity) else "unknown"


MAY_HOLD = "place that may hold weights", "places that may hold weights"


def _parameters_note(whole: Cost) -> str:
    """Return the bytes, weights of unknown size, and weights not counted again."""
    missing = f"{format_counted_noun(whole.unsized, 'weight')} of unknown size" if whole.unsized else ""
    doubtful = f"{format_counted_noun(whole.doubtful, *MAY_HOLD)} not counted" if whole.doubtful else ""
    copied = f"{format_count(whole.copied)} more in averages and copies" if whole.copied else ""
    repeated = f"{format_count(whole.repeated)} of them may be stored twice" if whole.repeated else ""
    size = format_bytes(whole.weight_bytes) if whole.weight_bytes else ""
    fixed = f"{cost_amount(whole, 'non_trainable')} not trainable" if whole.non_trainable else ""
    return "; ".join(word for word in (size, fixed, missing, doubtful, repeated, copied) if word)


def _flops_note(report: CostReport) -> str:
    """Return the multiply-adds, the ops without a known shape, and the ops whose operations are not counted."""
    whole = report.whole
    batch = f"batch {report.batch}" if whole.guessed else ""  # not needed if all sizes are known
    work = f"{format_count(whole.macs)} multiply-adds" if whole.macs or not whole.unshaped else ""
    notes = [", ".join(filter(None, (work, batch)))] if work or batch else []
    if whole.unshaped and whole.is_lower_bound("flops"):
        notes.append(_unshaped_note(report))
    if whole.uncounted > whole.unshaped:
        notes.append(f"{format_counted_noun(whole.uncounted, 'op')} not counted")
    if whole.partial and not whole.unshaped:
        notes.append(f"{format_counted_noun(whole.partial, 'op')} counted in part")
    return "; ".join(notes)


def _activations_note(report: CostReport) -> str:
    """Return a note on what is summed up, and on ops without a known shape if the note of the FLOPs does not count
    them."""
    apart = report.whole.unshaped and not report.whole.is_lower_bound("flops")
    return f"outputs of all ops together; {_unshaped_note(report)}" if apart else "outputs of all ops together"


def _unshaped_note(report: CostReport) -> str:
    """Return a note on how many ops have no known shape."""
    unshaped = report.whole.unshaped
    return f"{unshaped:,} of {max(report.ops, unshaped):,} ops {'has' if unshaped == 1 else 'have'} no known shape"


def _roles_if_several(report: CostReport) -> dict[str, Cost]:
    roles = {role: cost for role, cost in report.roles.items() if cost.flops}
    return roles if len(roles) > 1 else {}


def _scope_cost_row(scope: ScopeCost, whole: Cost) -> tuple[str, ...]:
    cost = scope.cost
    share = cost.flops / whole.flops if whole.flops else 0.0
    return (
        printable(scope.name),
        f"{scope.ops:,}",
        *(
            amount if (amount := cost_amount(cost, quantity)) not in ("0", "0 B") else ""
            for quantity in LISTED_QUANTITIES
        ),
        bar_text(share, SHORT_BAR_WIDTH),
    )


# Where time and memory go: the statistics part of `tbgraph info`, as plain values.


def statistics_values(measured: StatsSummary) -> dict[str, Any]:
    """Return the rankings for JSON: totals over the graph, coverage, and the largest of each kind, rounded.

    `coverage` is None without ops, and if a function calls itself.
    """
    whole = measured.whole
    return {
        "steps": measured.steps,
        "compute_us_sum": round_for_json(whole.time),
        "compute_us_span": round_for_json(whole.span),
        "bytes": round_for_json(whole.bytes),
        "measured": measured.measured,
        "ops": measured.ops,
        "coverage": _coverage(measured),
        "joined": measured.joined,
        "executions": measured.executions,
        "compiled": measured.compiled,
        "unmatched_us": round_for_json(measured.unmatched_time),
        "devices": [
            {
                "name": use.name,
                "executions": use.executions,
                "compute_us": round_for_json(use.time),
                "counted": use.counted,
            }
            for use in measured.devices
        ],
        "ops_by_time": [_place_values(place, figures_time) for place in measured.ops_by_time],
        "scopes_by_time": [_place_values(place, figures_time) for place in measured.scopes_by_time],
        "ops_by_bytes": [_place_values(place, figures_bytes) for place in measured.ops_by_memory],
        "scopes_by_bytes": [_place_values(place, figures_bytes) for place in measured.scopes_by_memory],
    }


def _coverage(measured: StatsSummary) -> float | None:
    return round(measured.measured / measured.ops, 4) if measured.ops else None


def _place_values(place: RankedPlace, value: Callable[[RunFigures], float]) -> dict[str, Any]:
    figures = place.figures
    return {
        "name": place.address,
        "op": place.op,
        "value": round_for_json(value(figures)),
        "share": round(place.share, 4),
        "measured": figures.measured,
        "ops": figures.ops,
        "least_us": round_for_json(figures.least),
        "most_us": round_for_json(figures.most),
        "steps": figures.steps,
    }


# Run statistics as text: totals, then where time and memory go.


def statistics_lines(measured: StatsSummary | None, top: int, width: int, look: TextStyle) -> list[str]:
    """Return totals with coverage, then the rankings; numbers are those of the JSON document."""
    if measured is None:
        return []
    whole, coverage, is_median = measured.whole, _coverage(measured), len(measured.steps) > 1
    steps = f"{len(measured.steps):,} steps" if is_median else printable("".join(measured.steps))
    spent = f"from first start to last end {_format_time(whole.span)}"
    unnamed = f"; {measured.compiled:,} are of compiled code whose ops this trace does not name"
    of_graph = f"executions, {measured.joined:,} of them of ops of this graph"
    rows = [
        ("steps", steps, "medians over them" if is_median else ""),
        ("coverage", "∞" if coverage is None else format_percent(coverage), _coverage_note(measured)),
        ("time", _format_time(whole.time), f"summed over ops of this graph; {spent}"),
        ("memory", format_bytes(round_for_json(whole.bytes)), "summed over ops"),
        ("trace", f"{measured.executions:,}", of_graph + (unnamed if measured.compiled else "")),
    ]
    lines = format_table([row for row in rows if row[1]], width, shrinking=(1, 2))
    for title, places, figure_of in (
        ("Ops by time", measured.ops_by_time, figures_time),
        ("Scopes by time", measured.scopes_by_time, figures_time),
        ("Ops by memory", measured.ops_by_memory, figures_bytes),
        ("Scopes by memory", measured.scopes_by_memory, figures_bytes),
    ):
        if not places:
            continue
        # The range over the steps is of times, so not for lists by memory.
        by_time = figure_of is figures_time
        text_of = _format_time if by_time else (lambda size: format_bytes(round_for_json(size)))
        table_rows = [
            _place_row(place, text_of(figure_of(place.figures)), width, is_median and by_time) for place in places[:top]
        ]
        if places is measured.ops_by_time and round_for_json(measured.unmatched_time):
            table_rows.append(_unmatched_row(measured, width))
        table = color_bars(format_table(table_rows, width, (1, 2), (0,)), look)
        lines += ["", look.head(clip_middle(title, width)), *table]
    return lines


def _format_time(micros: float) -> str:
    return format_micros(round_for_json(micros))


def _unmatched_row(measured: StatsSummary, width: int) -> tuple[str, ...]:
    """Return the line of the executions that no op of the graph has."""
    unmatched, whole = round_for_json(measured.unmatched_time), round_for_json(measured.whole.time)
    share = unmatched / (whole + unmatched)
    count = format_counted_noun(measured.executions - measured.joined, "execution")
    row = NOT_IN_GRAPH, format_micros(unmatched), format_percent(share), count
    return *row, bar_text(share, bar_width(width) // 2)


def _coverage_note(measured: StatsSummary) -> str:
    """Return a note on how many ops were measured."""
    whole = "endlessly many, a function calls itself" if measured.ops is None else f"{measured.ops:,} ops"
    return f"{measured.measured:,} of {whole}"


def _place_row(place: RankedPlace, value: str, width: int, several: bool) -> tuple[str, ...]:
    """Return one line of a ranking: a scope with its number of measured ops, an op with its type; over several steps
    also the fastest and slowest time."""
    figures, share = place.figures, round(place.share, 4)
    kind = printable(place.op) if place.op else f"{figures.measured:,} of {figures.ops:,} ops"
    kind += f", {_format_time(figures.least)} to {_format_time(figures.most)}" if several else ""
    return printable(place.address), value, format_percent(share), kind, bar_text(share, bar_width(width) // 2)
