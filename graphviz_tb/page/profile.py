"""Profiles as a page or a server tells them: the tables and lanes in JSON, slices in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.decimate import decimated
from graphviz_tb.chart.slices import rows_of, thinned
from graphviz_tb.model.columns import Bools, distinct
from graphviz_tb.model.profile import MemoryCurve, OpTime, Profile, Timeline
from graphviz_tb.page.columns import Blocks, packed

MOST_ROWS = 20_000  # of a table
MOST_MARKS = 1_000  # slices that are marked and told one by one
MEMORY_PIXELS = 1_000  # columns of a chart of memory
LONGEST_NAME = 1_000  # letters of the name of a slice, beyond cut in the middle


def profile_table(profile: Profile) -> dict[str, Any]:
    """All of a profile but its slices; times in nanoseconds."""
    shares = profile.shares
    parts = {"compute": shares.compute, "input": shares.input, "launch": shares.launch, "idle": shares.idle}
    return {
        "step": profile.step,
        "length": shares.length,
        "whole": profile.whole,
        "outside": profile.outside,
        "unmatched": profile.unmatched,
        "shares": parts,
        "missing": list(profile.missing),
        "slices": len(profile.timeline),
        "lanes": [[lane.device, lane.thread, lane.accelerator, lane.levels] for lane in profile.timeline.lanes],
        "memory": [curve_told(curve) for curve in profile.memory],
        "tables": {"ops": told(profile.ops), "types": told(profile.types), "groups": told(profile.groups)},
    }


def told(rows: Sequence[OpTime]) -> dict[str, Any]:
    """A table in columns, the rows of the most self time; `left` counts the others, `leftSelf` is their time."""
    shown, left = rows[:MOST_ROWS], rows[MOST_ROWS:]
    return {
        "name": [row.name for row in shown],
        "op": [row.op for row in shown],
        "self": [row.self_time for row in shown],
        "total": [row.total for row in shown],
        "count": [row.count for row in shown],
        "bytes": [row.bytes for row in shown],
        "left": len(left),
        "leftSelf": sum(row.self_time for row in left),
    }


def curve_told(curve: MemoryCurve) -> dict[str, Any]:
    """A curve, thinned to what a chart shows: its peak stays."""
    kept = decimated(curve.time.astype(np.float64), curve.bytes.astype(np.float64), MEMORY_PIXELS)
    points = {"time": curve.time[kept].tolist(), "bytes": curve.bytes[kept].tolist()}
    return {"allocator": curve.allocator, "peak": curve.peak, **points}


def slices_columns(
    timeline: Timeline, first: int, last: int, pixels: int, match: str = "", node: str | None = None
) -> bytes:
    """The slices in view. `match` and `node` mark some: those whose name or address has this text in it, those of this
    node or of what it holds."""
    marked = marks_of(timeline, match, node)
    found = thinned(timeline, first, last, pixels, marked)
    row = rows_of(timeline)
    names, name = renumbered(timeline.name[found.slice])
    nodes, number = renumbered(timeline.node[found.slice])
    blocks: Blocks = [
        ("row", row[found.slice]),
        ("start", found.start),
        ("duration", found.duration),
        ("count", found.count),
        ("busy", found.busy),
        ("hit", found.hit),
        ("name", name),
        ("node", number),
        ("kind", timeline.kind[found.slice]),
        ("waited", timeline.waited[found.slice]),
    ]
    head: dict[str, Any] = {
        "names": [shortened(timeline.names[each]) for each in names.tolist()],
        "nodes": [timeline.addresses[each] if each >= 0 else None for each in nodes.tolist()],
    }
    if marked is not None:
        places = np.flatnonzero(marked)
        order = places[np.argsort(timeline.start[places], kind="stable")][:MOST_MARKS]
        listed = (row[order], timeline.start[order], timeline.duration[order])
        head |= {"hits": len(places), "busyHits": int(np.sum(timeline.duration[places]))}
        head["marks"] = [list(each) for each in zip(*(column.tolist() for column in listed), strict=True)]
    return packed(len(found.start), blocks, head)


def renumbered(numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The numbers that occur, and of each its place among them."""
    each = distinct(numbers)
    return each, np.searchsorted(each, numbers)


def marks_of(timeline: Timeline, match: str, node: str | None) -> Bools | None:
    """Which slices are marked; None where nothing is asked for."""
    if not match and node is None:
        return None
    wanted = match.casefold()
    by_name = [bool(match) and wanted in name.casefold() for name in timeline.names]
    by_node = [
        (bool(match) and wanted in address.casefold()) or (node is not None and lies_in(address, node))
        for address in timeline.addresses
    ]
    # A further one at the end, for -1: slices of no node.
    of_name, of_node = np.array([*by_name, False]), np.array([*by_node, False])
    marked: Bools = of_name[timeline.name] | of_node[timeline.node]
    return marked


def lies_in(address: str, node: str) -> bool:
    """Whether an address is that of a node, or of what it holds.

    >>> lies_in("a/b", "a"), lies_in("a::b/c", "a"), lies_in("ab", "a"), lies_in("a", "")
    (True, True, False, True)
    """
    return address == node or not node or address.startswith((f"{node}/", f"{node}::"))


def shortened(name: str) -> str:
    """A name that is not too long to be sent with each view."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}"
