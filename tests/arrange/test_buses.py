"""Long lines to one box that run side by side join."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given

from graphviz_tb.arrange.level import arrange
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph
from tests.arrange.levels import check, levels, places
from tests.effort import examples

Counts = tuple[int, int, int]  # tensors, control, reference
DATA, CONTROL, REFERENCE = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def fan(kinds: list[Counts]) -> Metagraph:
    """A chain; each but the last two of its boxes also feeds the last one: layers and their gradients."""
    count = len(kinds) + 2
    edges = [Metaedge(one, two, 2, 0, 0) for one, two in pairwise(range(count))]
    edges += [Metaedge(at, count - 1, *kind) for at, kind in enumerate(kinds)]
    return Metagraph(0, tuple(range(1, count + 1)), (2,) * count, tuple(edges), ())


def waypoints(level: Metagraph) -> int:
    """How many waypoints there are."""
    skeleton = arrange(level)
    check(level, skeleton)
    return len(skeleton.waypoint)


def test_lines_to_one_box_are_one_from_where_they_meet() -> None:
    # 4 skips, over 4, 3, 2 and 1 boxes: on one side of the main path they need 4 waypoints, on both no more than 7
    assert waypoints(fan([DATA] * 4)) <= 7 < 4 + 3 + 2 + 1


def test_lines_of_another_kind_run_for_themselves() -> None:
    level = fan([DATA, CONTROL, REFERENCE, DATA])
    skeleton = arrange(level)
    for item in range(skeleton.first_waypoint, skeleton.first_waypoint + len(skeleton.waypoint)):
        kinds = {level.edges[wire.edge].kind for wire in skeleton.wires if item in wire.chain}
        assert len(kinds) == 1


@examples(200)
@given(levels())
def test_what_is_shared_ends_in_one_box_and_stays_together(level: Metagraph) -> None:
    skeleton = arrange(level)
    check(level, skeleton)
    place, main = places(skeleton), set(skeleton.main_path)
    users: dict[int, list[int]] = {}
    for number, wire in enumerate(skeleton.wires):
        for item in wire.chain[1:-1]:
            users.setdefault(item, []).append(number)
    for item, numbers in users.items():
        if len(numbers) > 1:
            assert not main.intersection(numbers)
            after = {skeleton.wires[number].chain[skeleton.wires[number].chain.index(item) + 1] for number in numbers}
            assert len(after) == 1
            assert all(place[one][1] > place[item][1] for one in after)


def test_lines_to_a_port_join_on_their_way_there() -> None:
    # a ─▶ b ─▶ c ─▶ d ─▶ e, and all of them to one port: what they stand for outside is one line already
    edges = tuple(Metaedge(one, two, 1, 0, 0) for one, two in pairwise(range(5)))
    bridges = tuple(Bridge(child, 9, False, 1, 0, 0) for child in range(5))
    skeleton = arrange(Metagraph(0, (1, 2, 3, 4, 5), (2,) * 5, edges, bridges))
    chains = [wire.chain for wire in skeleton.wires if wire.bridge and len(wire.chain) > 2]
    assert len({chain[-2:] for chain in chains}) == 1 < len(chains)
