"""Images: decoding, resizing, boxes."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.convolutions import windows_along_axis
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT


def infer_suppression_v4(op: Op) -> RuleResult:
    """`NonMaxSuppressionV4`: indices, padded to the maximum, and the number of valid ones."""
    most = op.known_size(2) if op.attr("pad_to_max_output_size") else op.symbols.new_symbol()
    return [(most,), ()]


def infer_suppression_v5(op: Op) -> RuleResult:
    """`NonMaxSuppressionV5`: indices, scores, number of valid ones."""
    most = op.known_size(2) if op.attr("pad_to_max_output_size") else op.symbols.new_symbol()
    return [(most,), (most,), ()]


def infer_combined_suppression(op: Op) -> RuleResult:
    """`CombinedNonMaxSuppression`: boxes, scores, classes, valid detections of each image."""
    boxes, each, total = op.shape(0), op.known_number(2), op.known_number(3)
    batch = boxes[0] if boxes else op.symbols.new_symbol()
    scores, most = op.shape(1), op.symbols.new_symbol()
    if total is not None and not op.attr("pad_per_class"):
        most = total
    elif (
        total is not None and each is not None and scores is not None and len(scores) == 3 and scores[2] > SYMBOL_LIMIT
    ):
        # At most `each` boxes of every class.
        most = min(total, each * scores[2])
    return [(batch, most, 4), (batch, most), (batch, most), (batch,)]


def infer_image_patches(op: Op) -> RuleResult:
    """`ExtractImagePatches`: every patch becomes channels."""
    shape, sizes, strides, rates = op.shape(0), op.attr("ksizes"), op.attr("strides"), op.attr("rates")
    if shape is None or len(shape) != 4 or not sizes:
        return [None]
    room = [
        windows_along_axis(op, shape[axis], sizes[axis], strides[axis], rates[axis], op.attr("padding"), ())
        for axis in (1, 2)
    ]
    return [(shape[0], *room, op.symbols.product([shape[3], sizes[1], sizes[2]]))]


IMAGE_RULES: dict[str, ShapeRule] = {
    "NonMaxSuppressionV4": infer_suppression_v4,
    "NonMaxSuppressionV5": infer_suppression_v5,
    "CombinedNonMaxSuppression": infer_combined_suppression,
    "ExtractImagePatches": infer_image_patches,
}
