"""Profiles for a page or a server: the tables and lanes in JSON, slices in columns, thinned to the pixels."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.series import decimate_series
from graphviz_tb.model.columns import Bools, Ints, Longs, distinct_values
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import truncate_middle
from graphviz_tb.model.profile import MemoryCurve, OpTime, Profile, Timeline
from graphviz_tb.page.blocks import DataBlock, NamedColumns, json_block, pack_columns

MAX_OP_TIME_ROWS = 20_000  # of a table
MAX_MARKED_SLICES = 1_000  # slices that are marked one by one
MEMORY_CHART_PX = 1_000  # columns of a chart of memory
MAX_PAGE_PROFILES = 20  # traced steps in a file
MAX_WHOLE_SLICES = 60_000  # slices of a step in a file; a longer step is thinned to `THINNED_SLICES_PX`
THINNED_SLICES_PX = 10_000  # columns of pixels
MAX_SLICE_NAME_LETTERS = 1_000  # letters of the name of a slice; longer names are cut in the middle


@dataclass(frozen=True, slots=True)
class ProfilePart:
    """The profiles in a page: `blocks`, the first of which lists them, how many fit (`count`) and how many do not
    (`left`)."""

    blocks: tuple[DataBlock, ...]
    count: int
    left: int


def pack_profiles(profiles: Mapping[str, Callable[[], Profile]], room: int) -> ProfilePart:
    """Pack as many traced steps as fit in `room` bytes. Slices of a long step are thinned; its table states to how
    many."""
    listed: list[dict[str, Any]] = []
    blocks: list[DataBlock] = []
    for name, make in islice(profiles.items(), MAX_PAGE_PROFILES):
        profile = make()
        timeline = profile.timeline
        is_complete = len(timeline) <= MAX_WHOLE_SLICES
        pixels = max(1, timeline.end_time) if is_complete else THINNED_SLICES_PX
        slices = slice_columns(timeline, 0, max(1, timeline.end_time), pixels)
        number = len(listed)
        thinning = {} if is_complete else {"thinned": int(_count_column_rows(slices))}
        packed = [
            json_block(f"log/profile/{number}", {**profile_table(profile), **thinning}),
            DataBlock(f"log/profile/{number}/slices", "columns", slices),
        ]
        size = sum(len(block.base64_text) for block in packed)
        if size > room:
            break
        room -= size
        blocks += packed
        tag = name.rpartition("/")[2].removesuffix(":run")
        listed.append({"id": str(number), "run": None, "tag": tag, "step": None, "graph": None})
    left = len(profiles) - len(listed)
    return ProfilePart((json_block("log/profile", {"profiles": listed, "left": left}), *blocks), len(listed), left)


def profile_table(profile: Profile) -> dict[str, Any]:
    """Return everything in a profile except its slices; times in nanoseconds."""
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
        "memory": [_memory_curve_values(curve) for curve in profile.memory],
        "tables": {
            "ops": _op_time_columns(profile.ops),
            "types": _op_time_columns(profile.types),
            "groups": _op_time_columns(profile.groups),
        },
    }


def _op_time_columns(rows: Sequence[OpTime]) -> dict[str, Any]:
    """Return a table as columns, the rows with the most self time; `unmatched` are places of rows that are not in the
    graph, `left` counts the rest, `leftSelf` is their time."""
    shown, left = rows[:MAX_OP_TIME_ROWS], rows[MAX_OP_TIME_ROWS:]
    return {
        "name": [row.name for row in shown],
        "op": [row.op for row in shown],
        "self": [row.self_time for row in shown],
        "total": [row.total for row in shown],
        "count": [row.count for row in shown],
        "bytes": [row.bytes for row in shown],
        "unmatched": [at for at, row in enumerate(shown) if not row.in_graph],
        "left": len(left),
        "leftSelf": sum(row.self_time for row in left),
    }


def _memory_curve_values(curve: MemoryCurve) -> dict[str, Any]:
    """Return a memory curve thinned to the resolution of a chart; its peak stays."""
    kept = decimate_series(curve.time.astype(np.float64), curve.bytes.astype(np.float64), MEMORY_CHART_PX)
    points = {"time": curve.time[kept].tolist(), "bytes": curve.bytes[kept].tolist()}
    return {"allocator": curve.allocator, "peak": curve.peak, **points}


def slice_columns(
    timeline: Timeline, first: int, last: int, pixels: int, match: str = "", node: str | None = None
) -> bytes:
    """Return the slices in view. Slices with the text `match` in name or address, and slices of `node` or inside it,
    are marked."""
    marked = _marked_slices(timeline, match, node)
    thinned = _thin_slices(timeline, first, last, pixels, marked)
    row = _slice_rows(timeline)
    names, name_numbers = _compact_numbers(timeline.name[thinned.slice])
    node_rows, node_numbers = _compact_numbers(timeline.node[thinned.slice])
    blocks: NamedColumns = [
        ("row", row[thinned.slice]),
        ("start", thinned.start),
        ("duration", thinned.duration),
        ("count", thinned.count),
        ("busy", thinned.busy),
        ("hit", thinned.hit),
        ("name", name_numbers),
        ("node", node_numbers),
        ("kind", timeline.kind[thinned.slice]),
        ("waited", timeline.waited[thinned.slice]),
    ]
    head: dict[str, Any] = {
        "names": [truncate_middle(timeline.names[at], MAX_SLICE_NAME_LETTERS) for at in names.tolist()],
        "nodes": [timeline.addresses[at] if at >= 0 else None for at in node_rows.tolist()],
    }
    if marked is not None:
        marked_slices = np.flatnonzero(marked)
        order = marked_slices[np.argsort(timeline.start[marked_slices], kind="stable")][:MAX_MARKED_SLICES]
        mark_columns = (row[order], timeline.start[order], timeline.duration[order])
        head |= {"hits": len(marked_slices), "busyHits": int(np.sum(timeline.duration[marked_slices]))}
        head["marks"] = [list(mark) for mark in zip(*(column.tolist() for column in mark_columns), strict=True)]
    return pack_columns(len(thinned.start), blocks, head)


def _count_column_rows(data: bytes) -> int:
    """Return the number of rows in packed columns, read from their head."""
    size = int.from_bytes(data[:4], "little")
    count: int = json.loads(data[4 : 4 + size])["n"]
    return count


def _compact_numbers(numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct numbers, and the position of each number among them."""
    distinct = distinct_values(numbers)
    return distinct, np.searchsorted(distinct, numbers)


def _marked_slices(timeline: Timeline, match: str, node: str | None) -> Bools | None:
    """Return a mask of the slices to mark; None if nothing is searched."""
    if not match and node is None:
        return None
    wanted = match.casefold()
    by_name = [bool(match) and wanted in name.casefold() for name in timeline.names]
    by_node = [
        (bool(match) and wanted in address.casefold()) or (node is not None and _is_address_within(address, node))
        for address in timeline.addresses
    ]
    # A last entry for slices without a node, whose index is -1.
    of_name, of_node = np.array([*by_name, False]), np.array([*by_node, False])
    marked: Bools = of_name[timeline.name] | of_node[timeline.node]
    return marked


def _is_address_within(address: str, node: str) -> bool:
    """Return whether an address is that of a node or inside it.

    >>> (
    ...     _is_address_within("a/b", "a"),
    ...     _is_address_within("a::b/c", "a"),
    ...     _is_address_within("ab", "a"),
    ...     _is_address_within("a", ""),
    ... )
    (True, True, False, True)
    """
    return address == node or not node or address.startswith((f"{node}/", f"{node}::"))


# Thin a timeline to the pixels that show it: adjacent narrow slices of one row become one.
#
# row       a level of a lane: its slices never overlap
# thinned   the visible slices of a row; wide ones alone, narrow ones that begin in one pixel column merged


@dataclass(frozen=True, slots=True, eq=False)
class ThinnedSlices:
    """The drawn slices by row and start. `count` slices are merged into one, `busy` is the sum of their durations in
    ns; `slice` is the longest of them, by index in the timeline, `hit` whether one of them is marked."""

    slice: Longs
    start: Longs
    duration: Longs
    count: Ints
    busy: Longs
    hit: Bools


def _slice_rows(timeline: Timeline) -> Longs:
    """Return the row of each slice: lanes one after the other, each with its levels."""
    first = np.cumsum([0, *(lane.levels for lane in timeline.lanes)], dtype=np.int64)  # of each lane
    rows: Longs = first[timeline.lane] + timeline.level
    return rows


def _thin_slices(timeline: Timeline, first: int, last: int, pixels: int, marked: Bools | None = None) -> ThinnedSlices:
    """Return the slices visible from `first` to `last` nanoseconds, on `pixels` columns.

    Only detail is lost: counts and busy times add up to those of all visible slices, and each row keeps about one slice
    for each column. Equal views give equal results.
    """
    visible = _slices_in_view(timeline, first, last)
    start, duration = timeline.start[visible], timeline.duration[visible]
    column_ns = max(1, (last - first) // max(1, pixels))  # nanoseconds
    group_starts = _starts_of_drawn(_slice_rows(timeline)[visible], start, duration, column_ns)
    if not len(group_starts):
        return ThinnedSlices(visible, start, duration, np.zeros(0, np.int32), duration, np.zeros(0, bool))
    group_ends = np.append(group_starts[1:], len(visible))
    longest = np.maximum.reduceat(duration, group_starts)
    is_longest = np.flatnonzero(duration == np.repeat(longest, group_ends - group_starts))
    chosen = is_longest[np.searchsorted(is_longest, group_starts)]  # the first of them
    is_marked = np.zeros(len(group_starts), bool)
    if marked is not None:
        is_marked = np.logical_or.reduceat(marked[visible], group_starts)
    return ThinnedSlices(
        slice=visible[chosen],
        start=start[group_starts],
        duration=start[group_ends - 1] + duration[group_ends - 1] - start[group_starts],
        count=(group_ends - group_starts).astype(np.int32),
        busy=np.add.reduceat(duration, group_starts),
        hit=is_marked,
    )


def _slices_in_view(timeline: Timeline, first: int, last: int) -> Longs:
    """Return the indices of the slices visible at some time of a view."""
    end = timeline.start + timeline.duration
    seen: Longs = np.flatnonzero((timeline.start <= last) & (end >= first))
    return seen


def _starts_of_drawn(row: Longs, start: Longs, duration: Longs, column: int) -> NDArray[Any]:
    """Return where drawn slices begin: at each wide slice, and at each narrow slice whose column or row differs from
    that of the previous slice."""
    if not len(row):
        return np.zeros(0, np.int64)
    wide = duration >= column
    place = start // column
    new = (row[1:] != row[:-1]) | wide[1:] | wide[:-1] | (place[1:] != place[:-1])
    return np.flatnonzero(np.concatenate(([True], new)))
