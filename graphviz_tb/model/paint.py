"""The colours of one picture, its title row and its legend."""

from __future__ import annotations

from typing import Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.theme import Theme


@dataclass(frozen=True, slots=True)
class RowFill:
    """The fill of one row.

    `text` and `second` are the colours of its first and second line; `bands` are colours side by side with their shares
    of the width (in thousandths, sum 1,000; empty if `fill` is everything); `badge` is a short letter code for the hue;
    `hatch` marks a row without a value; `hued` is true if the fill has a meaning (an open group then shows it as its
    left bar and frame); `sign` is the change of the row between two graphs: + − ~ → or nothing.
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


def surplus_fill(theme: Theme) -> RowFill:
    """Return the fill of the surplus box of a stack: neutral, since its row is that of the whole member."""
    return RowFill(theme.neutral, theme.stroke, theme.text, theme.quiet)


@dataclass(frozen=True, slots=True)
class LegendRow:
    """One colour of the legend, with its meaning. `shape` is the drawing of its sample, `more` a second line, `kind`
    the word for all rows of one hue, "" if the hue has no meaning beyond the row."""

    label: str
    fill: RowFill
    shape: Literal["box", "ramp", "rest"] = "box"
    more: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class LineTint:
    """The `colour` and `dashes` of a line. `sign` is its change between two graphs (+ − ~ or nothing); `whole` is false
    if only a part of its edges changed."""

    colour: str
    dashes: tuple[float, ...] = ()
    sign: str = ""
    whole: bool = True


@dataclass(frozen=True, slots=True)
class LineTints:
    """The colour of each route and each stub of a scene, in their order; None for the default."""

    routes: tuple[LineTint | None, ...]
    stubs: tuple[LineTint | None, ...]

    @classmethod
    def without_tints(cls, scene: Scene) -> LineTints:
        """Return default colours for every line."""
        return cls((None,) * len(scene.routes), (None,) * len(scene.stubs))


@dataclass(frozen=True, slots=True)
class Paint:
    """Every colour of one picture: `boxes` and `stubs` in scene order (None for a stub that is not a node).

    `accounts` describes the colour of each box in words, `scheme` names the colouring; `heading` is above `legend`, its
    rows.
    """

    theme: Theme
    scheme: str
    heading: str
    boxes: tuple[RowFill, ...]
    accounts: tuple[str, ...]
    stubs: tuple[RowFill | None, ...]
    tints: LineTints
    legend: tuple[LegendRow, ...]


@dataclass(frozen=True, slots=True)
class Caption:
    """The title row: `title` (the model's name), and `facts` below it; `select` are the highlighted addresses.

    An empty `title` means no title row.
    """

    title: str
    facts: str
    select: tuple[str, ...] = ()
