"""Parts that nothing joins stand on shelves, which make a whole near 4:3."""

from __future__ import annotations

import pytest

from graphviz_tb.arrange.component import _aspect_misfit, _fill_shelves, pack_shelves
from tests.each import each

OP = (88, 72)


@each(
    ("rows", "sizes", "misfit"),
    [
        ([[0]], [(400, 300)], 1000),
        ([[0]], [(800, 300)], 2000),
        ([[0]], [(400, 600)], 2000),
        ([[0]], [(100, 99)], 1320),  # 4 · 99 / (3 · 100)
        ([[0, 1]], [(184, 300), (184, 100)], 1000),  # 184 + 32 + 184 by 300
        ([[0], [1]], [(400, 134), (200, 134)], 1000),  # 400 by 134 + 32 + 134
        ([[0, 1], [2]], [(184, 134), (184, 100), (300, 134)], 1000),
    ],
)
def test_the_misfit_of_a_whole_is_its_ratio_to_four_by_three(
    rows: list[list[int]], sizes: list[tuple[int, int]], misfit: int
) -> None:
    assert _aspect_misfit(rows, sizes) == misfit


@pytest.mark.parametrize(
    ("width", "rows"), [(88, [[0], [1], [2]]), (207, [[0], [1], [2]]), (208, [[0, 1], [2]]), (328, [[0, 1, 2]])]
)
def test_parts_stand_on_a_shelf_while_they_fit(width: int, rows: list[list[int]]) -> None:
    # 88 + 32 + 88 = 208, and 208 + 32 + 88 = 328
    assert _fill_shelves([0, 1, 2], [OP] * 3, width) == rows


@each(
    ("count", "lengths"),
    [
        (0, []),
        (1, [1]),
        (2, [2]),
        (3, [2, 1]),
        (7, [3, 3, 1]),
        (12, [4, 4, 4]),
        (20, [5, 5, 5, 5]),
        (40, [7, 7, 7, 7, 7, 5]),
    ],
)
def test_equal_parts_are_a_grid(count: int, lengths: list[int]) -> None:
    found = pack_shelves([OP] * count)
    assert [len(row) for row in found] == lengths
    assert [part for row in found for part in row] == list(range(count))


def test_higher_parts_come_first_and_a_wide_one_has_a_shelf() -> None:
    assert pack_shelves([OP, (88, 720), OP, (1400, 72)]) == ((1,), (0, 2), (3,)) or pack_shelves(
        [OP, (88, 720), OP, (1400, 72)]
    ) == ((1, 0, 2), (3,))
    sizes = [(100, 50), (100, 70), (100, 60), (100, 70)]
    assert [part for row in pack_shelves(sizes) for part in row] == [1, 3, 2, 0]


def test_a_whole_is_no_wider_than_two_screens_unless_it_would_be_a_thread() -> None:
    # 3200 px: two parts of 1584 and the 32 between them
    assert pack_shelves([(1584, 1500)] * 2) == ((0, 1),)
    assert pack_shelves([(1584, 1500), (1585, 1500)]) == ((0,), (1,))
    many = pack_shelves([OP] * 4000)
    assert 1.4 < len(many) * 104 / (len(many[0]) * 120) < 1.6  # two by three


def test_a_little_more_or_less_width_is_tried_where_it_gives_a_better_whole() -> None:
    for sizes in ([(300, 100), (300, 90), (300, 80)], [(500, 40)] * 3, [(90, 900), (90, 40), (90, 40)]):
        rows = [list(row) for row in pack_shelves(sizes)]
        order = [part for row in rows for part in row]
        assert _aspect_misfit(rows, sizes) == min(
            _aspect_misfit(_fill_shelves(order, sizes, width), sizes) for width in range(90, 2000, 5)
        )


@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        ([(176, 216), (900, 216), (900, 72), (132, 72), (176, 216), (900, 216)], ((0, 1), (4, 5), (2, 3))),
        ([(176, 720), (440, 72), (440, 72)], ((0, 1, 2),)),
        ([(88, 72), (132, 72), (176, 72), (88, 216), (900, 72)], ((3, 0, 1, 2), (4,))),
        ([(88, 720), (176, 144), (176, 144), (132, 144), (440, 72)], ((0, 1, 2, 3), (4,))),
        ([(132, 360), (176, 144), (88, 72), (176, 360), (900, 720), (88, 360)], ((4, 0, 3), (5, 1, 2))),
    ],
)
def test_uneven_parts_make_the_best_whole_of_all_widths(
    sizes: list[tuple[int, int]], rows: tuple[tuple[int, ...], ...]
) -> None:
    assert pack_shelves(sizes) == rows


def test_parts_beside_a_wide_one_use_its_width() -> None:
    assert [len(row) for row in pack_shelves([(2000, 72), *[OP] * 10])] == [1, 10]
