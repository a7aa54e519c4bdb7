"""The model summary of `tbgraph info` as lines."""

from __future__ import annotations

from graphviz_tb.commands.costs import CostReport, ScopeCost
from graphviz_tb.commands.table import SHORT_BAR_WIDTH, TextStyle, bar_text, clip_end, format_table
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.model.costs import Cost
from graphviz_tb.model.units import format_bytes, format_count, format_counted_noun

LISTED_QUANTITIES = ("parameters", "flops", "activation_bytes")
COST_TABLE_HEAD = ("", "ops", "parameters", "FLOPs", "activations", "")


def cost_lines(report: CostReport | None, top: int, width: int, look: TextStyle) -> list[str]:
    """Return totals, by role if there are several; then a line for each scope, with its share of the FLOPs."""
    if report is None:
        return []
    whole = report.whole
    rows = [
        ("parameters", cost_amount(whole, "parameters"), parameters_note(whole)),
        ("FLOPs", cost_amount(whole, "flops"), flops_note(report)),
        ("activations", cost_amount(whole, "activation_bytes"), activations_note(report)),
        *(("  " + role, cost_amount(cost, "flops"), "FLOPs") for role, cost in roles_if_several(report).items()),
    ]
    lines = format_table([row for row in rows if row[1] != "0"], width, gives=(1, 2))
    if report.uncounted:
        named = ", ".join(f"{one_line(op)} {count:,}" for op, count in list(report.uncounted.items())[:top])
        lines += format_table([("not counted", named)], width, gives=(1,))
    if not report.scopes:
        return lines
    body = [scope_cost_row(scope, report.whole) for scope in report.scopes[:top]]
    left = len(report.scopes) - len(body)
    more = [clip_end(f"  and {left:,} more", width)] if left else []
    return [
        *lines,
        "",
        *format_table([COST_TABLE_HEAD, *body], width, right=(1, 2, 3, 4), header=True, look=look),
        *more,
    ]


def cost_amount(cost: Cost, quantity: str) -> str:
    """Return a quantity in words, as a lower bound if a part of it is unknown.

    >>> cost_amount(Cost(flops=1200), "flops"), cost_amount(Cost(flops=1200, uncounted=3), "flops")
    ('1.2 k', 'at least 1.2 k')
    >>> cost_amount(Cost(partial=1), "flops")
    'unknown'
    """
    count = getattr(cost, quantity)
    told = format_bytes(count) if quantity.endswith("bytes") else format_count(count)
    return told if not cost.is_lower_bound(quantity) else f"at least {told}" if count else "unknown"


def parameters_note(whole: Cost) -> str:
    """Return the bytes, weights of unknown size, and weights not counted again."""
    missing = f"{format_counted_noun(whole.unsized, 'weight')} of unknown size" if whole.unsized else ""
    copied = f"{format_count(whole.copied)} more in averages and copies" if whole.copied else ""
    size = format_bytes(whole.weight_bytes) if whole.weight_bytes else ""
    fixed = f"{cost_amount(whole, 'non_trainable')} not trainable" if whole.non_trainable else ""
    return "; ".join(word for word in (size, fixed, missing, copied) if word)


def flops_note(report: CostReport) -> str:
    """Return the multiply-adds, the ops without a known shape, and the ops whose operations are not counted."""
    whole = report.whole
    batch = f"batch {report.batch}"
    notes = [f"{format_count(whole.macs)} multiply-adds, {batch}" if whole.macs or not whole.unshaped else batch]
    if whole.unshaped and whole.is_lower_bound("flops"):
        notes.append(unshaped_note(report))
    if whole.uncounted > whole.unshaped:
        notes.append(f"{format_counted_noun(whole.uncounted, 'op')} not counted")
    if whole.partial and not whole.unshaped:
        notes.append(f"{format_counted_noun(whole.partial, 'op')} counted in part")
    return "; ".join(notes)


def activations_note(report: CostReport) -> str:
    """Say what is summed up, and how many ops have no known shape if the note of the FLOPs does not."""
    apart = report.whole.unshaped and not report.whole.is_lower_bound("flops")
    return f"outputs of all ops together; {unshaped_note(report)}" if apart else "outputs of all ops together"


def unshaped_note(report: CostReport) -> str:
    """Say how many ops have no known shape."""
    unshaped = report.whole.unshaped
    return f"{unshaped:,} of {max(report.ops, unshaped):,} ops {'has' if unshaped == 1 else 'have'} no known shape"


def roles_if_several(report: CostReport) -> dict[str, Cost]:
    """Return the roles if there are several."""
    roles = {role: cost for role, cost in report.roles.items() if cost.flops}
    return roles if len(roles) > 1 else {}


def scope_cost_row(scope: ScopeCost, whole: Cost) -> tuple[str, ...]:
    """Return one line of the summary."""
    cost = scope.cost
    share = cost.flops / whole.flops if whole.flops else 0.0
    return (
        one_line(scope.name),
        f"{scope.ops:,}",
        *(told if (told := cost_amount(cost, quantity)) not in ("0", "0 B") else "" for quantity in LISTED_QUANTITIES),
        bar_text(share, SHORT_BAR_WIDTH),
    )
