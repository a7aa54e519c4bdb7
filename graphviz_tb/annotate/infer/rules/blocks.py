"""Ops that move blocks of space to depth or to the batch, and back: SpaceToDepth, BatchToSpaceND …"""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.common import unknown_sizes
from graphviz_tb.annotate.infer.values import Dims


def infer_space_to_depth(op: Op) -> RuleResult:
    """Blocks of height and width become channels."""
    return [exchange_blocks(op, down=True)]


def infer_depth_to_space(op: Op) -> RuleResult:
    """Channels become blocks of height and width."""
    return [exchange_blocks(op, down=False)]


def exchange_blocks(op: Op, down: bool) -> Dims:
    """Return the shape after moving blocks to depth (`down`) or back, in both layouts of four dimensions."""
    shape, size, layout = op.shape(0), int(op.attr("block_size") or 0), op.attr("data_format") or "NHWC"
    if shape is None or len(shape) != 4 or not size or len(layout) != 4:
        # NCHW_VECT_C has five dimensions.
        return op.symbols.new_symbols(len(layout.removesuffix("_VECT_C")) + layout.endswith("_VECT_C"))
    sizes = list(shape)
    for dim, letter in enumerate(layout):
        # Downwards space shrinks and depth grows; backwards it is reversed.
        grows = (letter in "HW") != down
        if letter in "HWC":
            factor = size * size if letter == "C" else size
            sizes[dim] = (
                op.symbols.product([shape[dim], factor]) if grows else op.symbols.quotient([shape[dim]], [factor])
            )
    return tuple(sizes)


def infer_space_to_batch(op: Op) -> RuleResult:
    """`SpaceToBatchND`: block shape, paddings."""
    shape, block, pads = op.shape(0), op.value(1), op.value(2)
    if shape is None:
        return [None]
    if block is None or pads is None or len(pads) != 2 * len(block) or len(block) >= len(shape):
        return [unknown_sizes(op, shape)]
    add, sizes = op.symbols.calculate, list(shape)
    # Dimension 0 is the batch; blocks begin after it.
    for dim, size in enumerate(block):
        whole = add("add", add("add", shape[dim + 1], pads[2 * dim]), pads[2 * dim + 1])
        sizes[dim + 1] = op.symbols.quotient([whole], [size])
    return [(op.symbols.product([shape[0], *block]), *sizes[1:])]


def infer_batch_to_space(op: Op) -> RuleResult:
    """`BatchToSpaceND`: block shape, crops."""
    shape, block, crops = op.shape(0), op.value(1), op.value(2)
    if shape is None:
        return [None]
    if block is None or crops is None or len(crops) != 2 * len(block) or len(block) >= len(shape):
        return [unknown_sizes(op, shape)]
    less, sizes = op.symbols.difference, list(shape)
    for dim, size in enumerate(block):
        whole = op.symbols.product([shape[dim + 1], size])
        sizes[dim + 1] = less(less(whole, crops[2 * dim]), crops[2 * dim + 1])
    return [(op.symbols.quotient([shape[0]], block), *sizes[1:])]


BLOCK_RULES: dict[str, ShapeRule] = {
    "SpaceToDepth": infer_space_to_depth,
    "DepthToSpace": infer_depth_to_space,
    "SpaceToBatchND": infer_space_to_batch,
    "BatchToSpaceND": infer_batch_to_space,
}
