"""Operations of an `Einsum`, whose equation is an attribute."""

from __future__ import annotations

from graphviz_tb.annotate.costs.counted import CountedOp, OpCost, size_product


def einsum_cost(op: CountedOp) -> OpCost:
    """Count the product of the sizes of all letters; nothing for a single operand, which is not multiplied."""
    left, _, _ = str(op.op.attr("equation") or "").replace(" ", "").partition("->")
    # Letter ─▶ size; the dims of `...` are broadcast together, so their largest product counts.
    letters: dict[str, int] = {}
    dotted = 1
    for operand, term in enumerate(left.split(",")):
        shape, (before, dots, after) = op.input_sizes(operand), term.partition("...")
        if dots:
            # The dims between the letters before the dots and those after.
            dotted = max(dotted, size_product(shape[len(before) : len(shape) - len(after)]))
        ends = (*shape[: len(before)], *shape[len(shape) - len(after) :])
        for letter, size in zip(before + after, ends, strict=False):
            # A size of 1 is broadcast.
            letters[letter] = max(size, letters.get(letter, 1))
    macs = size_product(tuple(letters.values())) * dotted if "," in left else 0
    return OpCost(macs, 2 * macs)
