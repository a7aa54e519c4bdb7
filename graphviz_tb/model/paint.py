"""What a colouring says about rows, and what stands around a picture: its title row and its legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from graphviz_tb.model.scene import Route, Scene, Stub
from graphviz_tb.model.theme import Theme


@dataclass(frozen=True, slots=True)
class Fill:
    """How one row is filled.

    `text` and `second` are the colours of its first and second line; `bands` are colours side by side with
    their shares of the width (in thousandths, they sum to 1,000; empty where `fill` is all); `badge` a short
    sign that says in a letter what the hue says in colour; `hatch` whether there is nothing to say about the
    row; `hued` whether the fill says anything (an open group then shows it as its left bar and frame); `sign`
    what became of the row between two graphs: + − ~ → or nothing.
    """

    fill: str
    stroke: str
    text: str
    second: str
    bands: tuple[tuple[str, int], ...] = ()
    badge: str = ""
    hatch: bool = False
    hued: bool = False
    sign: str = ""


@dataclass(frozen=True, slots=True)
class LegendRow:
    """One colour of the legend, with what it stands for. `shape` is how its sample is drawn, `more` a second line."""

    label: str
    fill: Fill
    shape: Literal["box", "ramp", "rest"] = "box"
    more: str = ""


class Painter(Protocol):
    """A colouring of one file in one theme. It never depends on what is open, but for scales of
    statistics."""

    @property
    def scheme(self) -> str:
        """The word of the colouring."""
        ...

    @property
    def theme(self) -> Theme:
        """The theme it is made for."""
        ...

    def fill(self, row: int) -> Fill:
        """How `row` is filled."""
        ...

    def second(self, row: int) -> str | None:
        """The second line of `row`, or None to leave the usual one."""
        ...

    def legend(self, rows: Sequence[int]) -> list[LegendRow]:
        """What the colours of `rows`, the rows shown, stand for; at most ten, then one that counts the
        rest."""
        ...


def fill_of(painter: Painter, row: int, address: str) -> Fill:
    """The fill of a box. A painter of statistics tells the calls of one function apart, by the box's address."""
    placed: Callable[[int, str], Fill] | None = getattr(painter, "fill_box", None)
    return painter.fill(row) if placed is None else placed(row, address)


@dataclass(frozen=True, slots=True)
class Tint:
    """The `colour` and `dashes` of a line. `sign` is what became of it between two graphs (+ − ~ or nothing), `whole`
    whether that is so of all it stands for or of a part.
    """

    colour: str
    dashes: tuple[float, ...] = ()
    sign: str = ""
    whole: bool = True


def tint_of(painter: Painter, scene: Scene, line: Route | Stub) -> Tint | None:
    """How a line or that of a stub is coloured, where the painter says what became of it or how large it is."""
    became: Callable[[Scene, Route | Stub], Tint | None] | None = getattr(painter, "became", None)
    if became is not None:
        return became(scene, line)
    tint: Callable[[Scene, Route], Tint | None] | None = getattr(painter, "tint", None)
    return tint(scene, line) if tint is not None and isinstance(line, Route) else None


def account_of(painter: Painter, row: int) -> str:
    """What a painter has to say about a row in full, for a tooltip; most have nothing to add to the second line."""
    told: Callable[[int], str] | None = getattr(painter, "account", None)
    return told(row) if told else ""


def facts_of(painter: Painter, caption: Caption) -> str:
    """What a painter has to say about the whole picture instead of the usual counts; most have nothing."""
    told: Callable[[Caption], str] | None = getattr(painter, "facts", None)
    return told(caption) if told else ""


@dataclass(frozen=True, slots=True)
class Caption:
    """The title row: `title` (the model's name), how many `ops` it has, how many nodes are `shown`; `select`
    the addresses that are picked out. Where `title` is empty there is no title row.
    """

    title: str
    ops: int
    shown: int
    select: tuple[str, ...] = ()
