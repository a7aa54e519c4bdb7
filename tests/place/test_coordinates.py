"""Laws of one level's coordinates."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.arrange.level import arrange
from graphviz_tb.model.metagraph import Metaedge, Metagraph
from graphviz_tb.model.skeleton import LevelGaps, LevelLayout, Skeleton, WireStroke
from graphviz_tb.place.attachment import LineEnds, attach_lines, downward_chains
from graphviz_tb.place.coordinates import place_level
from graphviz_tb.place.tracks import RankHop, assign_tracks
from tests.arrange.levels import levels
from tests.effort import examples

Size = tuple[int, int]
small = st.tuples(st.integers(10, 200), st.integers(10, 60))
size = small | st.tuples(st.integers(200, 900), st.integers(60, 700))


def level(count: int, *pairs: tuple[int, int]) -> Metagraph:
    edges = tuple(Metaedge(a, b, 1, 0, 0) for a, b in pairs)
    return Metagraph(0, tuple(range(1, count + 1)), (2,) * count, edges, ())


def placed(metagraph: Metagraph, sizes: list[Size], **more: object) -> tuple[Skeleton, LevelLayout]:
    skeleton = arrange(metagraph)
    away = metagraph.mask.extracted_children
    drawn = [(0, 0) if child in away else one for child, one in enumerate(sizes)]
    return skeleton, place_level(skeleton, drawn, **more)  # type: ignore[arg-type]


@examples(200)
@given(levels(), st.data())
def test_nothing_overlaps_and_no_line_runs_through_a_box(given_level: Metagraph, data: st.DataObject) -> None:
    sizes = [data.draw(size) for _ in given_level.children]
    skeleton, found = placed(given_level, sizes)
    check_boxes(given_level, found, sizes)
    check_routes(given_level, skeleton, found, sizes)


def check_boxes(metagraph: Metagraph, found: LevelLayout, sizes: list[Size]) -> None:
    boxes = [(*found.positions[child], *sizes[child]) for child in metagraph.core_children()]
    for at, (x, y, width, height) in enumerate(boxes):
        assert x >= 0
        assert y >= 0
        assert x + width <= found.width
        assert y + height <= found.height
        for left, top, wide, high in boxes[:at]:
            assert x >= left + wide + 16 or left >= x + width + 16 or y >= top + high + 26 or top >= y + height + 26


def check_routes(metagraph: Metagraph, skeleton: Skeleton, found: LevelLayout, sizes: list[Size]) -> None:
    boxes = {child: (*found.positions[child], *sizes[child]) for child in metagraph.core_children()}
    for wire, route in zip(skeleton.wires, found.routes, strict=True):
        assert all(0 <= x <= found.width and -12 <= y <= found.height + 12 for x, y in route)
        for child, (x, y, width, height) in boxes.items():
            if child not in (wire.chain[0], wire.chain[-1]):
                for a, b in pairwise(route):
                    assert not touches(a, b, (x - 3, y - 3, x + width + 3, y + height + 3))
        for item, (px, py), upper in (
            (wire.chain[0], route[0], not wire.turned),
            (wire.chain[-1], route[-1], wire.turned),
        ):
            if item in boxes:
                x, y, width, height = boxes[item]
                assert x <= px <= x + width
                assert py == (y + height if upper else y)
            else:
                port = item - skeleton.children
                assert px == found.ports[port]
                assert py == (-12 if skeleton.ports[port].first else found.height + 12)
        assert abs(route[-1][1] - route[-2][1]) >= (9 if wire.chain[-1] in boxes else 1)
        assert route[-1][0] == route[-2][0]
        downs = [b[1] >= a[1] for a, b in pairwise(route)]
        assert all(downs) if not wire.turned else all(b[1] <= a[1] for a, b in pairwise(route))


def touches(a: tuple[int, int], b: tuple[int, int], box: tuple[int, int, int, int]) -> bool:
    """Whether a segment meets the open rectangle (Liang & Barsky 1984, in whole numbers by cross-multiplying)."""
    (x1, y1), (x2, y2) = a, b
    left, top, right, bottom = box
    if max(x1, x2) <= left or min(x1, x2) >= right or max(y1, y2) <= top or min(y1, y2) >= bottom:
        return False
    dx, dy = x2 - x1, y2 - y1
    sides = {
        (dx * (y - y1) - dy * (x - x1) > 0) - (dx * (y - y1) - dy * (x - x1) < 0)
        for x in (left, right)
        for y in (top, bottom)
    }
    return not sides <= {0, 1} and not sides <= {0, -1}


@given(levels(), st.data())
def test_opening_a_child_keeps_left_of_and_above(given_level: Metagraph, data: st.DataObject) -> None:
    sizes = [(80, 24) for _ in given_level.children]
    opened = list(sizes)
    child = data.draw(st.integers(0, len(sizes) - 1))
    opened[child] = (700, 500)
    skeleton, before = placed(given_level, sizes)
    _, after = placed(given_level, opened)
    for part in skeleton.parts:
        for row in part:
            inside = [item for item in row if item < skeleton.children]
            for found in (before, after):
                lefts = [found.positions[item][0] for item in inside]
                assert lefts == sorted(lefts)


def test_a_chain_is_straight() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3, of four widths
    sizes = [(80, 24), (120, 32), (48, 24), (200, 32)]
    _, found = placed(level(4, (0, 1), (1, 2), (2, 3)), sizes)
    assert {x + width // 2 for (x, _), (width, _) in zip(found.positions, sizes, strict=True)} == {100}
    assert [len(route) for route in found.routes] == [2, 2, 2]


def test_a_fan_out_is_symmetric() -> None:
    # 0 ─▶ 1, 2, 3
    _, found = placed(level(4, (0, 1), (0, 2), (0, 3)), [(100, 24)] * 4)
    assert sorted(x for x, _ in found.positions) == [0, 116, 116, 232]


def test_the_main_path_is_straight_whatever_hangs_on_it() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3 with a skip 0 ─▶ 3 and three inputs at 2
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3), (4, 2), (5, 2), (6, 2)]
    skeleton, found = placed(level(7, *pairs), [(100, 24)] * 7)
    assert [skeleton.wires[wire].edge for wire in skeleton.main_path] == [0, 1, 2]
    assert len({x for x, _ in found.positions[:4]}) == 1
    assert all(len({x for x, _ in found.routes[wire]}) == 1 for wire in skeleton.main_path)


def test_anchors_hold() -> None:
    _, found = placed(
        level(2, (0, 1)), [(300, 200), (80, 24)], line_ends=LineEnds({(0, 0): 250, (0, 1): 30}, [(0, 0)] * 2, {})
    )
    assert found.routes[0][0] == (found.positions[0][0] + 250, 200)
    assert found.routes[0][-1][0] == found.positions[1][0] + 30


def test_a_label_widens_the_gap_it_crosses() -> None:
    _, found = placed(level(2, (0, 1)), [(80, 24)] * 2, strokes={0: WireStroke(label=(60, 12))})
    assert found.positions[1][1] - 24 == LevelGaps().labelled


def test_nothing_at_all() -> None:
    found = place_level(arrange(level(0)), [])
    assert (found.width, found.height, found.routes) == (0, 0, ())


def test_lines_that_leave_one_trunk_share_a_track() -> None:
    hops = [RankHop(wire, 0, 100, 16 * wire, 10, 3, 4 + wire) for wire in range(6)]
    assert assign_tracks(hops) == 1


def test_many_lines_of_one_gap_get_tracks_in_turn() -> None:
    hops = [RankHop(wire, 0, 10 * wire, 700 + 10 * wire, 10) for wire in range(60)]
    assert assign_tracks(hops) == 60
    assert [hop.track for hop in hops] == [*range(59, -1, -1)]  # the one that starts further left turns lower


def test_a_line_ends_where_it_is_straight_if_its_box_is_wide_enough() -> None:
    pairs = [(0, 1), (1, 2), (0, 2)]
    metagraph, sizes = level(3, *pairs), [(90, 24), (40, 24), (200, 24)]
    skeleton = arrange(metagraph)
    ends = attach_lines(skeleton, downward_chains(skeleton), sizes, LevelGaps())
    anchors = {(wire, end): x for wire, touched in enumerate(ends) for end, x in enumerate(touched)}
    sides = [(0, 90), (0, 40), (0, 200)]
    skeleton, found = placed(metagraph, sizes, line_ends=LineEnds(anchors, sides, {}))
    [skip] = [wire for wire, one in enumerate(skeleton.wires) if one.edge == 2]
    assert len(found.routes[skip]) <= 4
    assert found.routes[skip][-1][0] == found.routes[skip][-2][0]


def test_what_only_feeds_others_stands_near_them_beside_a_far_higher_box() -> None:
    # 0 ─▶ 1 ─▶ 2, where 1 is high; 3 ─▶ 2, and 0 ─▶ 4
    edges = tuple(Metaedge(one, two, 1, 0, 0) for one, two in ((0, 1), (1, 2), (3, 2), (0, 4)))
    skeleton = arrange(Metagraph(0, (1, 2, 3, 4, 5), (2,) * 5, edges, ()))
    for high in (300, 60):
        sizes = [(80, 24), (80, high), (80, 24), (80, 24), (80, 24)]
        tops = [top for _, top in place_level(skeleton, sizes, LevelGaps()).positions]
        centre = tops[1] + high // 2 - 12
        assert (tops[3], tops[4]) == ((tops[1] + high - 24, tops[1]) if high == 300 else (centre, centre))
