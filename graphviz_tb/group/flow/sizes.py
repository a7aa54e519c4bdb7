"""Segments: stretches of plain boxes that are cut off where a group would have too many boxes.

Long stretches are cut at boxes chosen by the checksums of their names (content-defined chunking), near equal parts, so
that an edit moves few cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from graphviz_tb.group.flow.box import FlowBox, group
from graphviz_tb.group.flow.setting import Setting
from graphviz_tb.model.hierarchy import How

PLAIN_OPS = 200  # larger boxes stay outside segments
STRETCH = 3  # boxes that are worth a segment
PIECES = 12  # into which a level is cut
SLACK = 0.4  # of a piece: distance of a cut from equal parts
LAST = 1.5  # length of the last piece in pieces; it is never below half a piece


def narrowed(boxes: Sequence[FlowBox], setting: Setting, limit: int) -> list[FlowBox]:
    """Return at most `limit` boxes if stretches between groups can be folded; never more than `most`.

    After: segments in place of stretches, in the same order.
    """
    if width(boxes) <= limit:
        return list(boxes)
    kept: list[FlowBox] = []
    stretch: list[FlowBox] = []
    for box in [*boxes, None]:  # None ends the last stretch
        if box is not None and box.how == How.NONE and box.ops <= PLAIN_OPS:
            stretch.append(box)
            continue
        kept += segments(stretch, setting) if STRETCH <= len(stretch) < len(boxes) else stretch
        stretch = []
        kept += [box] if box else []
    # Accept more than the aim, within the maximum: a few more boxes are better than arbitrary cuts.
    if width(kept) > limit and (width(kept) > setting.most or limit >= setting.most):
        return cut_up(kept, setting)
    return kept


def width(boxes: Sequence[FlowBox]) -> int:
    """Return the number of children that a group of these would have."""
    return sum(box.width for box in boxes)


def segments(boxes: Sequence[FlowBox], setting: Setting) -> list[FlowBox]:
    """Fold to one segment, or several if one would be too wide."""
    return [segment(boxes, setting)] if width(boxes) <= setting.most else cut_up(boxes, setting)


def segment(boxes: Sequence[FlowBox], setting: Setting) -> FlowBox:
    """Fold a stretch to one box."""
    return group(How.SEGMENT, boxes, setting.symbols.of("segment", *(box.symbol for box in boxes)))


def cut_up(boxes: Sequence[FlowBox], setting: Setting) -> list[FlowBox]:
    """Cut a long stretch into segments at least checksums, near equal parts, so that an insertion moves few cuts."""
    pieces = max(2, min(PIECES, len(boxes) // 4))
    stretches = [piece[0] if len(piece) == 1 else piece for piece in cut_into(boxes, pieces)]
    return [
        stretch if isinstance(stretch, FlowBox) else segment(shortened(stretch, setting), setting)
        for stretch in stretches
    ]


def shortened(boxes: Sequence[FlowBox], setting: Setting) -> list[FlowBox]:
    """Cut a piece again if it is too wide itself."""
    return list(boxes) if width(boxes) <= setting.soft or len(boxes) <= 2 else cut_up(boxes, setting)


def cut_into(boxes: Sequence[FlowBox], pieces: int) -> list[Sequence[FlowBox]]:
    """Cut into about `pieces` stretches of about equal length."""
    size = len(boxes) / pieces
    stretches: list[Sequence[FlowBox]] = []
    done = 0
    while len(boxes) - done > LAST * size:
        # Cut before the box of least checksum near the wanted place: most edits do not change it.
        low, high = (
            int(done + (1 - SLACK) * size),
            int(done + (1 + SLACK) * size),
        )  # `MAX_LAST_PIECE` keeps it before the end
        cut = min(range(max(low, done + 1), high + 1), key=lambda spot: checksum(boxes[spot]))
        stretches.append(boxes[done:cut])
        done = cut
    return [*stretches, boxes[done:]]


def checksum(box: FlowBox) -> int:
    """Return a checksum of the name of the first op inside."""
    return crc32(box.first().name.encode("utf-8", "surrogatepass"))
