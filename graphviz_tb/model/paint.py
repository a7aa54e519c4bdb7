"""The colours of one picture, and what is around it: its title row and its legend."""

from __future__ import annotations

from typing import Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Scene
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
    """One colour of the legend, with its meaning. `shape` is how its sample is drawn, `more` a second line."""

    label: str
    fill: Fill
    shape: Literal["box", "ramp", "rest"] = "box"
    more: str = ""


@dataclass(frozen=True, slots=True)
class Tint:
    """The `colour` and `dashes` of a line. `sign` is what became of it between two graphs (+ − ~ or nothing), `whole`
    whether that is so of all it represents or of a part.
    """

    colour: str
    dashes: tuple[float, ...] = ()
    sign: str = ""
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Tints:
    """How each route and each stub of a scene is coloured, in their order; None where as usual."""

    routes: tuple[Tint | None, ...]
    stubs: tuple[Tint | None, ...]

    @classmethod
    def none(cls, scene: Scene) -> Tints:
        """Every line as usual."""
        return cls((None,) * len(scene.routes), (None,) * len(scene.stubs))


@dataclass(frozen=True, slots=True)
class Paint:
    """Every colour of one picture: `boxes` and `stubs` in the order of the scene (None where a stub is no node).

    `accounts` is by box what its colour says in words, `scheme` the word of the colouring; `heading` is above
    `legend`, its rows.
    """

    theme: Theme
    scheme: str
    heading: str
    boxes: tuple[Fill, ...]
    accounts: tuple[str, ...]
    stubs: tuple[Fill | None, ...]
    tints: Tints
    legend: tuple[LegendRow, ...]


@dataclass(frozen=True, slots=True)
class Caption:
    """The title row: `title` (the model's name), and `facts` below it; `select` are the addresses that are picked out.

    Where `title` is empty there is no title row.
    """

    title: str
    facts: str
    select: tuple[str, ...] = ()
