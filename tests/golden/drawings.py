"""Scenes that no graph has to be found for: each kind of box, line, stub and text once, and others drawn by a seed."""

from __future__ import annotations

from itertools import product

from graphviz_tb.model.paint import Caption, LegendRow, LineTint, LineTints, Paint, RowFill
from graphviz_tb.model.scene import Box, Point, Port, Route, Scene, Separator, Stub, Text, Web
from graphviz_tb.model.theme import THEMES

GREY, RED = "#DDDDDD", "#CC0000"
STEP = 60  # px from one box to the next
PLAIN = RowFill("#FFFFFF", "#888888", "#111111", "#555555")
FILLS = (
    PLAIN,
    RowFill(GREY, "#777777", "#222222", "#222222", badge="A", hued=True),
    RowFill(RED, "#660000", "#333333", "#333333", bands=((RED, 700), (GREY, 200), ("#00CC00", 90), ("#0000CC", 10))),
    RowFill(RED, "#660000", "#333333", "#333333", bands=((RED, 500), (GREY, 500)), hued=True),
    RowFill("#EEEEEE", "#BBBBBB", "#444444", "#444444", hatch=True),
    *(RowFill(GREY, "#777777", "#222222", "#222222", hued=sign == "~", sign=sign) for sign in "+−~→"),
)
KINDS = ("scope", "op", "call", "function", "series", "fold")
SIGNS = "+−~"
TINTS = (
    LineTint("#00AA00"),
    *(LineTint(RED, (5, 2) if sign == "−" else (), sign, whole) for sign, whole in product(SIGNS, (True, False))),
)
TURNS: tuple[tuple[Point, ...], ...] = (
    ((0, 0), (0, 90)),
    ((0, 0), (0, 5)),
    ((0, 0), (0, 1)),
    ((0, 0), (90, 0)),
    ((7, 7), (7, 7)),
    ((0, 0), (0, 20), (0, 50)),
    ((0, 0), (0, 40), (30, 40)),
    ((0, 0), (0, 12), (30, 12), (30, 60)),
    ((0, 0), (0, 1), (10, 11), (90, 11)),
    ((0, 0), (0, 9), (14, 23), (14, 60)),
    ((0, 0), (0, 10), (14, 24), (60, 24)),
    ((0, 0), (0, 2), (20, 2), (60, 2), (60, 30)),
    ((0, 0), (0, 3), (12, 19), (60, 19), (72, 31), (72, 33)),
    ((0, 0), (0, 3), (12, 20), (60, 20), (72, 32), (72, 40)),
    ((0, 0), (80, 0), (90, 10), (90, 11)),
    ((0, 0), (0, 30), (8, 38), (60, 38), (68, 46), (68, 80)),
    ((0, 0), (0, 4), (6, 10), (6, 60)),
    ((0, 0), (0, 4), (6, 10), (60, 9)),
    ((0, 0), (0, 4), (6, 10), (-60, 11)),
    ((0, 0), (0, 4), (-6, 10), (-60, 10), (-70, 0), (-70, -5)),
    ((0, 0), (0, 4), (6, 10), (60, 10), (66, 4), (66, 0)),
    ((0, 0), (0, 4), (6, 10), (8, 2), (60, 2)),
    ((0, 0), (0, 4), (6, 10), (60, 70)),
    ((0, 0), (0, 4), (6, 10), (0, 60)),
    ((0, 0), (0, 1), (1, 2), (2, 2), (2, 60)),
    ((0, 0), (4, 0), (10, 6), (10, 60)),
    ((0, 0), (4, 0), (10, 6), (9, 60)),
    ((0, 0), (4, 0), (10, 6), (2, 60)),
    ((0, 0), (4, 0), (10, 6), (-30, 16)),
    ((0, 0), (4, 3), (10, 3), (4, 9)),
)


def catalogue(theme: str, shift: int = 0) -> tuple[Scene, Paint, Caption]:
    """All that there is, in rows; `shift` decides which box has which fill."""
    boxes = tuple(box_of(number, *features) for number, features in enumerate(product(KINDS, range(8))))
    fills = tuple(FILLS[(number + shift) % len(FILLS)] for number in range(len(boxes)))
    routes, stubs = lines(len(boxes)), all_stubs()
    tints = LineTints(
        tuple(TINTS[number % 9] if number % 9 < len(TINTS) else None for number in range(shift, shift + len(routes))),
        tuple(
            TINTS[number % 9] if 0 < number % 9 < len(TINTS) else None for number in range(shift, shift + len(stubs))
        ),
    )
    paint = Paint(
        THEMES[theme],
        "diff" if shift else "structure",
        "Heading",
        fills,
        tuple(f"account {number}" if number % 3 else "" for number in range(len(boxes))),
        tuple(FILLS[(number + shift) % len(FILLS)] if stub.other >= 0 else None for number, stub in enumerate(stubs)),
        tints,
        (
            *(LegendRow(f"row {number}", fill, more="more" * (number == shift)) for number, fill in enumerate(FILLS)),
            LegendRow("+3 more", PLAIN, "rest"),
        ),
    )
    scene = Scene(
        *(len(KINDS) * 3 * STEP, 9 * STEP, "BT" if not shift else "LR", boxes, routes, ports(), stubs),
        texts(len(boxes)),
        (Separator(5, 500, 300, 500), Separator(300, 10, 300, 400)),
        (Web("data", -1, (0, 1, -2, 3), (1, -1, 2, 4)), Web("control", 3, (5,) * 201, (6,) * 201)),
    )
    selected = tuple(box.address for box in boxes[shift::7])
    return scene, paint, Caption("the title", "3 ops · facts", selected)


def box_of(number: int, kind: str, variant: int) -> Box:
    """A closed box in five sizes and shapes, an open one in three."""
    is_open, wide = variant >= 5, 70 + 11 * variant
    return Box(
        *(f"{kind}/{variant}", number, kind, number - 1 if variant in (6, 7) else -1, max(0, variant - 5)),
        *(3 * STEP * KINDS.index(kind), STEP * variant, wide, (24, 40, 36, 19, 52, 50, 44, 38)[variant]),
        open=is_open,
        openable=variant in (1, 3, 4, 5, 6),
        sheets=2 if variant in (2, 3) else 0,
        connected=variant == 3,
        member="op" if variant % 2 else "call" if variant == 4 else "scope",
        title=f"title of {number}" if variant else "",
    )


def lines(count: int) -> tuple[Route, ...]:
    """Lines of every kind and thickness, along every turn, at boxes that are open, closed and chosen."""
    found = []
    for number, (kind, points) in enumerate(product(("data", "control", "reference"), TURNS)):
        source, target = number * 7 % count, number * 5 % count
        found.append(
            Route(
                *(points, kind, source, target, (8, 10, 18, 39, 40, 41, 70)[number % 7]),
                back=number % 5 == 1,
                arrow=number % 4 != 3,
                frame=-1 if number % 3 else 5,
                title=f"line {number}" if number % 2 else "",
                source_port=number // 6 % 3 if number % 6 == 4 else -1,
                target_port=number // 8 % 3 if number % 8 == 5 else -1,
                main=number % 6 == 0,
            )
        )
    return tuple(found)


def ports() -> tuple[Port, ...]:
    """A port of each kind."""
    kinds = ("data", "control", "reference")
    return tuple(
        Port(5 + 40 * number, 300, 5 + 8 * number, kind, title=f"to {kind}") for number, kind in enumerate(kinds)
    )


def all_stubs() -> tuple[Stub, ...]:
    """A stub of each kind on both sides, some of them at control edges."""
    kinds = ("shortcut", "constant", "summary", "weight", "more")
    found = []
    for number, (kind, side, control) in enumerate(product(kinds, ("in", "out"), (False, True))):
        points = ((20, 9), (40 + number, 9)) if side == "in" else ((60, 9), (60, 20), (30, 20 + number))
        place = 20 + number, 430 + number, 10 + number % 3, 10 + number % 2
        name = f"+{number}" if kind == "more" else f"a/name{number} ({kind})"
        found.append(
            Stub(
                *place,
                kind,
                side,
                number % 40,
                -1 if kind == "more" or number % 8 == 3 else number,
                points,
                control,
                name,
            )
        )
    return tuple(found)


def texts(count: int) -> tuple[Text, ...]:
    """Two lines in every box, and one of each role beside the boxes."""
    inside = [
        Text(30, 14 + 14 * line, f"{role} {number}", f"{role} {number}", 11, 40, role, box=number, inside=True)
        for number in range(count)
        for line, role in enumerate(("label", "second") if number % 8 < 5 else ("title", "count"))
    ]
    roles = ("title", "label", "second", "count", "edge", "stub", "mark", "heading", "badge", "note")
    outside = [
        Text(
            *(9 * number, 480, f"t{number}", f"t{number}" + "…" * (number % 2), 10, 20, role),
            box=(-1, 5, 0)[number % 3],
        )
        for number, role in enumerate((*roles, "edge", "edge"))
    ]
    ends = [
        Text(40, 490, "ends", "ends", 9, 30, "note", anchor, anchor == "end") for anchor in ("start", "middle", "end")
    ]
    return (*inside, *outside, *ends)
