"""Tracks between two ranks: a line that runs aside goes down, across on a track, and down.

Which of two lines has the upper track decides whether they cross. Lines that run one way and overlap do not when the
one that starts further ahead is above; lines that run to meet each other cross once, or never, on any two tracks. So
two lines cross where their ends are inverted, and nowhere else: what is drawn is what the order has counted.

    a      b
    │      ╰───────╮
    ╰──────────╮   │
               a   b
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field

from graphviz_tb.model.frozen import dataclass

TRACK_PITCH = 16  # px from track to track in a gap with few tracks
MAX_SPACED_TRACKS = 4  # a gap with more tracks has less than the full pitch
DENSE_TRACK_GAP = 8  # px between the lines of adjacent tracks in such a gap
MIN_VERTICAL_GAP = 8  # px between two verticals; closer verticals look like one line
MIN_END_GAP = 12  # px between two lines of one track; closer lines look like one line
MAX_ORDERED_NETS = 40  # nets of one gap that are compared in pairs; more are assigned in one pass
OVERLAP_COST = 1000  # crossings; the cost of two lines on one vertical


@dataclass(slots=True)
class RankHop:
    """The piece of a wire between two ranks, from x `start` below item `upper` to x `end` above item `lower`.

    It runs across on `track`, counted from the upper rank, or is straight (-1). If `last` is not -1, it changes from
    `track` to `last` at x `middle`. `thick` is in tenths of a pixel.
    """

    wire: int
    step: int
    start: int
    end: int
    thick: int
    upper: int = -1
    lower: int = -1
    track: int = -1
    middle: int = 0
    last: int = -1


@dataclass(slots=True)
class Net:
    """Hops that share a track because they share an end. `second`: the second half of a hop with two tracks."""

    hops: list[RankHop]
    starts: list[int]
    ends: list[int]
    low: int
    high: int
    second: bool = False
    track: int = 0


@dataclass(slots=True)
class NetOrder:
    """Preferences for the order of nets, by net."""

    below: list[list[tuple[int, int]]] = field(default_factory=list)  # other net, crossings saved if it is below
    above: list[int] = field(default_factory=list)  # number of nets that should be above
    balance: list[int] = field(default_factory=list)  # crossings saved if the net is above all others


def assign_tracks(hops: Sequence[RankHop]) -> int:
    """Give the hops of one gap their tracks; return the number of tracks.

    >>> two = [RankHop(0, 0, 0, 100, 10), RankHop(1, 0, 60, 160, 10)]
    >>> assign_tracks(two), [hop.track for hop in two]
    (2, [1, 0])
    """
    nets = _hop_nets(hops)
    if not nets:
        return 0
    if len(nets) > MAX_ORDERED_NETS:
        nets = [half for net in nets for half in _split_net_by_direction(net)]
        _assign_tracks_in_one_pass(nets)
    else:
        nets = _split_swapping_nets(nets, hops)
        _assign_tracks_in_order(_order_nets(nets))
    for net in nets:
        for hop in net.hops:
            if net.second:
                hop.last = net.track
            else:
                hop.track = net.track
    return 1 + max(max(hop.track, hop.last) for hop in hops)


def _hop_nets(hops: Sequence[RankHop]) -> list[Net]:
    """Return nets of all hops that are not straight; hops with a common start or end form one net."""
    leaving: dict[tuple[int, int], int] = {}
    arriving: dict[tuple[int, int], int] = {}
    for hop in hops:
        if hop.upper >= 0:
            leaving[hop.upper, hop.start] = leaving.get((hop.upper, hop.start), 0) + 1
            arriving[hop.lower, hop.end] = arriving.get((hop.lower, hop.end), 0) + 1
    nets: dict[tuple[int, int, int], Net] = {}
    for number, hop in enumerate(hops):
        if hop.start == hop.end:
            continue
        out, into = leaving.get((hop.upper, hop.start), 1), arriving.get((hop.lower, hop.end), 1)
        key = (0, number, 0)
        if out > 1 and out >= into:
            key = (1, hop.upper, hop.start)
        elif into > 1:
            key = (2, hop.lower, hop.end)
        low, high = min(hop.start, hop.end), max(hop.start, hop.end)
        net = nets.get(key)
        if net is None:
            nets[key] = Net([hop], [hop.start], [hop.end], low, high)
            continue
        net.hops.append(hop)
        net.low, net.high = min(net.low, low), max(net.high, high)
        if hop.start not in net.starts[-1:]:
            net.starts.append(hop.start)
        if hop.end not in net.ends[-1:]:
            net.ends.append(hop.end)
    return [*nets.values()]


def _split_net_by_direction(net: Net) -> list[Net]:
    """Return the hops of a net that run to the right, and those that run to the left, as separate nets."""
    parts = []
    for sign in (1, -1):
        hops = [hop for hop in net.hops if (hop.end - hop.start) * sign > 0]
        if hops:
            starts, ends = [hop.start for hop in hops], [hop.end for hop in hops]
            parts.append(Net(hops, starts, ends, min([*starts, *ends]), max([*starts, *ends])))
    return parts


def _assign_tracks_in_one_pass(nets: Sequence[Net]) -> None:
    """Assign tracks to many nets, each of which runs in one direction: nets to the right are above nets to the left."""
    base = 0
    for sign in (1, -1):
        spans = [
            ((net.low, net.high) if sign > 0 else (-net.high, -net.low), net)
            for net in nets
            if (net.ends[0] - net.starts[0]) * sign > 0
        ]
        spans.sort(key=lambda span: (-span[0][0], -span[0][1], span[1].hops[0].wire))
        # Negated starts (ascending) and tracks of the nets that a later net may meet, the lowest track first.
        starts: list[int] = []
        tracks: list[int] = []
        most = base
        for (low, high), net in spans:
            first_met = bisect_right(starts, -(high + MIN_END_GAP) - 1)
            net.track = tracks[first_met] + 1 if first_met < len(tracks) else base
            most = max(most, net.track + 1)
            while tracks and tracks[-1] <= net.track:
                starts.pop()
                tracks.pop()
            starts.append(-low)
            tracks.append(net.track)
        base = most


def _split_swapping_nets(nets: list[Net], hops: Sequence[RankHop]) -> list[Net]:
    """Split one of any two nets that swap places, so that it crosses the other half way, on two tracks.

    >>> one, two = RankHop(0, 0, 0, 100, 10), RankHop(1, 0, 100, 0, 10)
    >>> [(net.low, net.high) for net in _split_swapping_nets(_hop_nets([one, two]), [one, two])]
    [(0, 50), (50, 100), (0, 100)]
    """
    parts: dict[int, list[Net]] = {}
    for first, second in _index_pairs(len(nets)):
        one, other = nets[first], nets[second]
        if (
            first in parts
            or second in parts
            or not (_do_verticals_collide(one, other) and _do_verticals_collide(other, one))
        ):
            continue
        cut = first if len(one.hops) == 1 else second
        middle = _free_middle(one, other, hops)
        if len(nets[cut].hops) > 1 or not nets[cut].low + MIN_VERTICAL_GAP < middle < nets[cut].high - MIN_VERTICAL_GAP:
            continue
        [hop] = nets[cut].hops
        hop.middle = middle
        halfway = [Net([hop], [hop.start], [middle], min(hop.start, middle), max(hop.start, middle))]
        halfway.append(Net([hop], [middle], [hop.end], min(hop.end, middle), max(hop.end, middle), True))
        parts[cut] = halfway
    return [part for number, net in enumerate(nets) for part in parts.get(number, [net])]


def _index_pairs(count: int) -> list[tuple[int, int]]:
    """Return all pairs of the numbers below `count`, the smaller number first."""
    return [(first, second) for first in range(count) for second in range(first + 1, count)]


def _free_middle(one: Net, other: Net, hops: Sequence[RankHop]) -> int:
    """Return an x near the middle of the overlap of two nets, clear of all verticals if possible."""
    low, high = max(one.low, other.low), min(one.high, other.high)
    middle = (low + high) // 2
    taken = [x for hop in hops for x in (hop.start, hop.end)]
    for away in range(0, (high - low) // 2, MIN_VERTICAL_GAP):
        for place in (middle + away, middle - away):
            if all(abs(place - x) >= MIN_VERTICAL_GAP for x in taken):
                return place
    return middle


def _do_verticals_collide(upper: Net, lower: Net) -> bool:
    """Return whether a vertical below the upper net's track would cover a vertical above the lower net's track."""
    return any(abs(end - start) < MIN_VERTICAL_GAP for end in upper.ends for start in lower.starts)


def _crossing_cost(upper: Net, lower: Net) -> int:
    """Return how often two nets cross if the first is above the second, with `OVERLAP_COST` for covered verticals."""
    crossed = sum(lower.low < end < lower.high for end in upper.ends)
    crossed += sum(upper.low < start < upper.high for start in lower.starts)
    return crossed + (OVERLAP_COST if _do_verticals_collide(upper, lower) else 0)


def _order_nets(nets: Sequence[Net]) -> list[Net]:
    """Return nets from the top down, so that few of them cross."""
    if len(nets) == 1:
        return [*nets]
    known = _net_relations(nets)
    remaining = sorted(range(len(nets)), key=lambda number: (nets[number].low, nets[number].high, number))
    order: list[Net] = []
    while remaining:
        # Choose a net that no other net should be above; in a cycle, the net with the best balance.
        chosen = min(remaining, key=lambda number: (known.above[number] > 0, -known.balance[number]))
        remaining = [number for number in remaining if number != chosen]
        order.append(nets[chosen])
        for other, saved in known.below[chosen]:
            if saved > 0:
                known.above[other] -= 1
            known.balance[other] += saved
    return order


def _net_relations(nets: Sequence[Net]) -> NetOrder:
    """Return which nets should be above which."""
    count = len(nets)
    known = NetOrder([[] for _ in nets], [0] * count, [0] * count)
    for one, other in _index_pairs(count):
        first, second = nets[one], nets[other]
        if first.low > second.high + MIN_END_GAP or second.low > first.high + MIN_END_GAP:
            continue
        saved = _crossing_cost(second, first) - _crossing_cost(first, second)
        if first.hops[0] is second.hops[0]:  # two halves of one hop
            saved = OVERLAP_COST if second.second else -OVERLAP_COST
        known.below[one].append((other, saved))
        known.below[other].append((one, -saved))
        if saved:
            known.above[other if saved > 0 else one] += 1
        known.balance[one] += saved
        known.balance[other] -= saved
    return known


def _assign_tracks_in_order(nets: Sequence[Net]) -> None:
    """Assign to each net in turn the uppermost track below all earlier nets that it would touch."""
    for number, net in enumerate(nets):
        net.track = 0
        for other in nets[:number]:
            if other.track >= net.track and other.low <= net.high + MIN_END_GAP and net.low <= other.high + MIN_END_GAP:
                net.track = other.track + 1


def track_pitch(count: int, thick: int) -> int:
    """Return the distance between the `count` tracks of one gap; `thick` is the thickest line, in tenths of a pixel.

    >>> track_pitch(4, 10), track_pitch(9, 10)
    (16, 9)
    """
    return TRACK_PITCH if count <= MAX_SPACED_TRACKS else DENSE_TRACK_GAP + (thick + 9) // 10
