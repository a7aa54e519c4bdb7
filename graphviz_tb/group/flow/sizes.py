"""Nothing opens to more boxes than a reader can take in: stretches of plain boxes become segments."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from graphviz_tb.group.flow.box import FlowBox, group
from graphviz_tb.group.flow.setting import Setting
from graphviz_tb.model.hierarchy import How

PLAIN_OPS = 200  # a larger box is never one of many in a segment
STRETCH = 3  # boxes worth a segment
PIECES = 12  # of a level that is cut
SLACK = 0.4  # how far from equal parts a cut may fall
LAST = 1.5  # pieces that the last one may be as long as: it is never shorter than half a piece


def narrowed(boxes: Sequence[FlowBox], setting: Setting, limit: int) -> list[FlowBox]:
    """At most `limit` boxes where stretches between groups can be folded; never more than are allowed.

    Before: boxes along the flow. After: segments, which are stretches of them, in the same order.
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
    # Above the aim but within what is allowed stays: better a few boxes more than cuts without meaning.
    if width(kept) > limit and (width(kept) > setting.most or limit >= setting.most):
        return cut_up(kept, setting)
    return kept


def width(boxes: Sequence[FlowBox]) -> int:
    """How many children a group of these would have."""
    return sum(box.width for box in boxes)


def segments(boxes: Sequence[FlowBox], setting: Setting) -> list[FlowBox]:
    """One segment, or several where one would be too wide."""
    return [segment(boxes, setting)] if width(boxes) <= setting.most else cut_up(boxes, setting)


def segment(boxes: Sequence[FlowBox], setting: Setting) -> FlowBox:
    """A stretch as one box."""
    return group(How.SEGMENT, boxes, setting.symbols.of("segment", *(box.symbol for box in boxes)))


def cut_up(boxes: Sequence[FlowBox], setting: Setting) -> list[FlowBox]:
    """Cut a long stretch where checksums of names say, near equal parts, so that an insertion moves few cuts."""
    pieces = max(2, min(PIECES, len(boxes) // 4))
    stretches = [piece[0] if len(piece) == 1 else piece for piece in cut_into(boxes, pieces)]
    return [
        stretch if isinstance(stretch, FlowBox) else segment(shortened(stretch, setting), setting)
        for stretch in stretches
    ]


def shortened(boxes: Sequence[FlowBox], setting: Setting) -> list[FlowBox]:
    """A piece, cut again if it is too wide itself."""
    return list(boxes) if width(boxes) <= setting.soft or len(boxes) <= 2 else cut_up(boxes, setting)


def cut_into(boxes: Sequence[FlowBox], pieces: int) -> list[Sequence[FlowBox]]:
    """About so many stretches of about equal length."""
    size = len(boxes) / pieces
    stretches: list[Sequence[FlowBox]] = []
    done = 0
    while len(boxes) - done > LAST * size:
        # Cut before the box of least checksum near the wanted place: after most edits it is the same box.
        low, high = int(done + (1 - SLACK) * size), int(done + (1 + SLACK) * size)  # before the end: `LAST` is more
        cut = min(range(max(low, done + 1), high + 1), key=lambda spot: checksum(boxes[spot]))
        stretches.append(boxes[done:cut])
        done = cut
    return [*stretches, boxes[done:]]


def checksum(box: FlowBox) -> int:
    """A number from the name of the first op inside."""
    return crc32(box.first().name.encode("utf-8", "surrogatepass"))
