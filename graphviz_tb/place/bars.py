"""Widen boxes in which branches meet to bars, so that every branch enters straight.

┌───────────────┐
└─▲────▲─────▲──┘
┌─┴┐ ┌─┴──┐ ┌┴─┐
└─▲┘ └─▲──┘ └▲─┘
  ╰────┼─────╯
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.skeleton import Skeleton, first_tie
from graphviz_tb.model.view import View

MIN_BRANCHES = 3  # two branches need no bar
MAX_BAR_PX = 900  # a wider bar does not look like a box
BRANCH_GAP_PX = 16  # between two branches; the least distance of boxes of a rank
BAR_MARGIN_PX = 24  # from the middle of the outer branches to the ends of the bar


@dataclass(frozen=True, slots=True)
class BranchBar:
    """The width of a bar, and by wire the place where it enters, from the left edge of the bar."""

    width: int
    entries: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class BoxLines:
    """Wires along the flow, without training: `into` by the box at their end, `out` by the box at their start."""

    into: Mapping[int, Sequence[int]]
    out: Mapping[int, Sequence[int]]


def branch_bars(view: View, widths: Sequence[int]) -> dict[int, BranchBar]:
    """Return the bars of a level by position; `widths` are the widths of the slots of its children.

    A closed box that is no circle is a bar if at least three chains of boxes from the same box or port end in it.
    """
    skeleton = view.skeleton
    if skeleton.plain:
        return {}
    place = item_places(skeleton)
    lines = _box_lines(view)
    bars: dict[int, BranchBar] = {}
    for box, wires in lines.into.items():
        if len(wires) < MIN_BRANCHES or box >= skeleton.children or box in view.opened or view.node_labels[box].sign:
            continue
        starts = {wire: _branch_start(view, wire, lines, widths) for wire in wires}
        branches = [wire for wire in wires if starts[wire][1]]
        if len(branches) < MIN_BRANCHES or len({starts[wire][0] for wire in branches}) > 1:
            continue
        # Other lines enter in their order, too.
        order = [
            wire for _, wire in sorted([(places_before_end(skeleton.wires[wire].chain, place), wire) for wire in wires])
        ]
        wides = {wire: starts[wire][1] or _start_width(skeleton, wire, widths) for wire in order}
        entries: dict[int, int] = {}
        left = BAR_MARGIN_PX - wides[order[0]] // 2
        for wire in order:
            entries[wire] = left + wides[wire] // 2
            left += wides[wire] + BRANCH_GAP_PX
        width = entries[order[-1]] + BAR_MARGIN_PX
        if width <= MAX_BAR_PX:
            bars[box] = BranchBar(width, entries)
    return bars


def item_places(skeleton: Skeleton) -> dict[int, int]:
    return {item: number for part in skeleton.parts for row in part for number, item in enumerate(row)}


def places_before_end(chain: Sequence[int], place: Mapping[int, int]) -> list[int]:
    """Return the places of the items of a chain from the last but one to the first, the sort key of lines at its
    end."""
    return [place[item] for item in chain[:-1][::-1]]


def _box_lines(view: View) -> BoxLines:
    into: dict[int, list[int]] = {}
    out: dict[int, list[int]] = {}
    ties = first_tie(view.skeleton)
    for wire, line in view.drawn_lines().items():
        if wire < ties and not view.skeleton.wires[wire].turned and not line.training:
            chain = view.skeleton.wires[wire].chain
            out.setdefault(chain[0], []).append(wire)
            into.setdefault(chain[-1], []).append(wire)
    return BoxLines(into, out)


def _start_width(skeleton: Skeleton, wire: int, widths: Sequence[int]) -> int:
    """Return the width of the box in the rank before the end of a wire; 0 if the wire only passes that rank."""
    item = skeleton.wires[wire].chain[-2]
    return widths[item] if item < skeleton.children else 0


def _branch_start(view: View, wire: int, lines: BoxLines, widths: Sequence[int]) -> tuple[int, int]:
    """Return the item where the chain of boxes that ends with a wire begins, and the width of its widest box (0 if it
    has no box)."""
    starts = [view.skeleton.wires[one].chain[0] for one in _branch_wires(view, wire, lines)]
    return starts[-1], max([widths[item] for item in starts[:-1]], default=0)


def _branch_wires(view: View, wire: int, lines: BoxLines) -> list[int]:
    """Return the wires of the chain of boxes that ends with a wire, the last first."""
    skeleton = view.skeleton
    wires = [wire]
    item = skeleton.wires[wire].chain[0]
    while item < skeleton.children and len(lines.into.get(item, ())) == 1 and len(lines.out[item]) == 1:
        wires.append(lines.into[item][0])
        item = skeleton.wires[wires[-1]].chain[0]
    return wires


def wires_beside_main_path(view: View) -> set[int]:
    """Return the wires of branches that begin and end together with a branch on the main path."""
    lines = _box_lines(view)
    main = set(view.skeleton.main_path)
    beside: set[int] = set()
    for wires in lines.into.values():
        branches: dict[int, list[list[int]]] = {}  # by the item where they begin
        for wire in wires if len(wires) >= MIN_BRANCHES else ():
            branch = _branch_wires(view, wire, lines)
            if len(branch) > 1:  # with a box
                branches.setdefault(view.skeleton.wires[branch[-1]].chain[0], []).append(branch)
        for alike in branches.values():
            if len(alike) >= MIN_BRANCHES and any(all(wire in main for wire in branch) for branch in alike):
                beside.update([wire for branch in alike for wire in branch])
    return beside
