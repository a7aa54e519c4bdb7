"""Images: decoding, resizing, boxes."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import as_input, batch_of, scalar
from graphviz_tb.annotate.infer.symbols import HIDDEN


def resized(op: Op) -> RuleResult:
    """`ResizeBilinear`: images, and the new height and width."""
    shape, size = op.shape(0), op.value(1)
    rows, columns = size if size is not None and len(size) == 2 else op.symbols.several(2)
    if shape is None or len(shape) != 4:
        return [None if shape is not None else (op.symbols.fresh(), rows, columns, op.symbols.fresh())]
    return [(shape[0], rows, columns, shape[3])]


def decoded(op: Op) -> RuleResult:
    """`DecodeJpeg`: height and width are in the file; channels where they are asked for."""
    channels = int(op.attr("channels") or 0)
    # A GIF has frames, too; DecodeImage reads either, so that even the rank hangs on the file.
    if op.definition.op in ("DecodeGif", "DecodeImage"):
        return [(*op.symbols.several(3), 3) if op.definition.op == "DecodeGif" else None]
    # 0 channels are as many as the file has.
    return [(*op.symbols.several(2), channels or op.symbols.fresh())]


def cropped(op: Op) -> RuleResult:
    """`CropAndResize`: image, boxes, box indices, crop size."""
    image, boxes, size = op.shape(0), op.shape(1), op.value(3)
    rows, columns = size if size is not None and len(size) == 2 else op.symbols.several(2)
    count = boxes[0] if boxes else op.symbols.fresh()
    channels = image[3] if image is not None and len(image) == 4 else op.symbols.fresh()
    return [(count, rows, columns, channels)]


def kept_boxes(op: Op) -> RuleResult:
    """`NonMaxSuppressionV3`: as many as are left."""
    return [(op.symbols.fresh(),)]


def kept_boxes_padded(op: Op) -> RuleResult:
    """`NonMaxSuppressionV4`: padded to the most, and how many are valid."""
    most = op.size(2) if op.attr("pad_to_max_output_size") else op.symbols.fresh()
    return [(most,), ()]


def kept_scored(op: Op) -> RuleResult:
    """`NonMaxSuppressionV5`: positions, scores, how many."""
    most = op.size(2) if op.attr("pad_to_max_output_size") else op.symbols.fresh()
    return [(most,), (most,), ()]


def combined(op: Op) -> RuleResult:
    """`CombinedNonMaxSuppression`: boxes, scores, classes, valid detections of each image."""
    boxes, each, total = op.shape(0), op.number(2), op.number(3)
    batch = boxes[0] if boxes else op.symbols.fresh()
    scores, most = op.shape(1), op.symbols.fresh()
    if total is not None and not op.attr("pad_per_class"):
        most = total
    elif total is not None and each is not None and scores is not None and len(scores) == 3 and scores[2] > HIDDEN:
        # At most `each` boxes of every class.
        most = min(total, each * scores[2])
    return [(batch, most, 4), (batch, most), (batch, most), (batch,)]


def patches(op: Op) -> RuleResult:
    """`ExtractImagePatches`: every patch becomes channels."""
    from graphviz_tb.annotate.infer.rules.convolutions import window

    shape, sizes, strides, rates = op.shape(0), op.attr("ksizes"), op.attr("strides"), op.attr("rates")
    if shape is None or len(shape) != 4 or not sizes:
        return [None]
    room = [window(op, shape[axis], sizes[axis], strides[axis], rates[axis], op.attr("padding"), ()) for axis in (1, 2)]
    return [(shape[0], *room, op.symbols.product([shape[3], sizes[1], sizes[2]]))]


def transformed(op: Op) -> RuleResult:
    """`ImageProjectiveTransformV3`: images, transforms, the new height and width."""
    shape, size = op.shape(0), op.value(2)
    rows, columns = size if size is not None and len(size) == 2 else op.symbols.several(2)
    return [None if shape is None or len(shape) != 4 else (shape[0], rows, columns, shape[3])]


RULES: dict[str, Rule] = {
    **dict.fromkeys(["ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor"], resized),
    **dict.fromkeys(["DecodeJpeg", "DecodePng", "DecodeBmp", "DecodeAndCropJpeg", "DecodeGif", "DecodeImage"], decoded),
    "CropAndResize": cropped,
    **dict.fromkeys(
        ["NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionWithOverlaps"], kept_boxes
    ),
    "NonMaxSuppressionV4": kept_boxes_padded,
    "NonMaxSuppressionV5": kept_scored,
    "CombinedNonMaxSuppression": combined,
    "ExtractImagePatches": patches,
    "ImageProjectiveTransformV2": transformed,
    "ImageProjectiveTransformV3": transformed,
    "DrawBoundingBoxes": as_input(0),
    "DrawBoundingBoxesV2": as_input(0),
    "EncodeJpeg": scalar,
    "ExtractJpegShape": lambda op: [(3,)],
    "SampleDistortedBoundingBox": lambda op: [(3,), (3,), (1, 1, 4)],
    "SampleDistortedBoundingBoxV2": lambda op: [(3,), (3,), (1, 1, 4)],
    "EncodePng": lambda op: [batch_of(op.shape(0), 3)],
}
