"""Segments: stretches of plain boxes that are cut off where a group would have too many boxes.

Long stretches are cut at boxes chosen by the checksums of their names (content-defined chunking), near equal parts, so
that an edit moves few cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from graphviz_tb.group.flow.box import FlowBox, make_group
from graphviz_tb.group.flow.setting import FoldContext
from graphviz_tb.model.hierarchy import GroupOrigin

MAX_PLAIN_OPS = 200  # larger boxes stay outside segments
MIN_SEGMENT_BOXES = 3  # boxes that are worth a segment
MAX_PIECES = 12  # into which a level is cut
CUT_SLACK = 0.4  # of a piece: distance of a cut from equal parts
MAX_LAST_PIECE = 1.5  # length of the last piece in pieces; it is never below half a piece


def narrow_to_limit(boxes: Sequence[FlowBox], setting: FoldContext, limit: int) -> list[FlowBox]:
    """Return at most `limit` boxes if stretches between groups can be folded; never more than `most`.

    After: segments in place of stretches, in the same order.
    """
    if total_child_count(boxes) <= limit:
        return list(boxes)
    kept: list[FlowBox] = []
    stretch: list[FlowBox] = []
    for box in [*boxes, None]:  # None ends the last stretch
        if box is not None and box.how == GroupOrigin.NONE and box.ops <= MAX_PLAIN_OPS:
            stretch.append(box)
            continue
        kept += make_segments(stretch, setting) if MIN_SEGMENT_BOXES <= len(stretch) < len(boxes) else stretch
        stretch = []
        kept += [box] if box else []
    # Accept more than the aim, within the maximum: a few more boxes are better than arbitrary cuts.
    if total_child_count(kept) > limit and (total_child_count(kept) > setting.most or limit >= setting.most):
        return cut_into_segments(kept, setting)
    return kept


def total_child_count(boxes: Sequence[FlowBox]) -> int:
    """Return the number of children that a group of these would have."""
    return sum(box.child_count for box in boxes)


def make_segments(boxes: Sequence[FlowBox], setting: FoldContext) -> list[FlowBox]:
    """Fold to one segment, or several if one would be too wide."""
    return (
        [make_segment(boxes, setting)]
        if total_child_count(boxes) <= setting.most
        else cut_into_segments(boxes, setting)
    )


def make_segment(boxes: Sequence[FlowBox], setting: FoldContext) -> FlowBox:
    """Fold a stretch to one box."""
    return make_group(GroupOrigin.SEGMENT, boxes, setting.symbols.symbol_of("segment", *(box.symbol for box in boxes)))


def cut_into_segments(boxes: Sequence[FlowBox], setting: FoldContext) -> list[FlowBox]:
    """Cut a long stretch into segments at least checksums, near equal parts, so that an insertion moves few cuts."""
    pieces = max(2, min(MAX_PIECES, len(boxes) // 4))
    stretches = [piece[0] if len(piece) == 1 else piece for piece in cut_into_pieces(boxes, pieces)]
    return [
        stretch if isinstance(stretch, FlowBox) else make_segment(shorten_piece(stretch, setting), setting)
        for stretch in stretches
    ]


def shorten_piece(boxes: Sequence[FlowBox], setting: FoldContext) -> list[FlowBox]:
    """Cut a piece again if it is too wide itself."""
    return (
        list(boxes)
        if total_child_count(boxes) <= setting.soft or len(boxes) <= 2
        else cut_into_segments(boxes, setting)
    )


def cut_into_pieces(boxes: Sequence[FlowBox], pieces: int) -> list[Sequence[FlowBox]]:
    """Cut into about `pieces` stretches of about equal length."""
    size = len(boxes) / pieces
    stretches: list[Sequence[FlowBox]] = []
    done = 0
    while len(boxes) - done > MAX_LAST_PIECE * size:
        # Cut before the box of least checksum near the wanted place: most edits do not change it.
        low, high = (
            int(done + (1 - CUT_SLACK) * size),
            int(done + (1 + CUT_SLACK) * size),
        )  # `MAX_LAST_PIECE` keeps it before the end
        cut = min(range(max(low, done + 1), high + 1), key=lambda spot: name_checksum(boxes[spot]))
        stretches.append(boxes[done:cut])
        done = cut
    return [*stretches, boxes[done:]]


def name_checksum(box: FlowBox) -> int:
    """Return a checksum of the name of the first op inside."""
    return crc32(box.first_row().name.encode("utf-8", "surrogatepass"))
