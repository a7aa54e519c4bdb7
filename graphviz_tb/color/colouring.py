"""The interface of colourings, with neutral defaults, and colours derived from other colours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import compress
from typing import Self

from graphviz_tb.graphs.drawing_math import mix_colours, rgb_channels
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import OP_ROW, STACK_KINDS, Hierarchy, RowTree
from graphviz_tb.model.measure import replace_unsafe_characters
from graphviz_tb.model.paint import LegendRow, LineTints, Paint, RowFill, surplus_fill
from graphviz_tb.model.paths import RowPath, child_path
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.view import View

FAINT_PERCENT = 40  # share of the background in the border of an unknown box


@dataclass(frozen=True, slots=True)
class Colouring:
    """A colouring of one file in one theme; `scheme` is its name, `heading` the title of its legend.

    Methods take a path, so that the calls of one function may differ. A colouring does not depend on the open groups,
    except for the scale of a measured colouring (`scaled_to`).
    """

    hierarchy: Hierarchy
    theme: Theme
    scheme: str
    heading: str

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the fill of the box at `path`; by default neutral, white for ops and for stacks of ops."""
        return plain_fill(self.theme, is_drawn_as_op(self.hierarchy, path[-1]))

    def unknown_fill(self, row: int) -> RowFill:
        """Return the fill of a row without a number: hatched, with a quiet label."""
        return _unmeasured_fill(self.hierarchy, self.theme, row)

    def hue_order(self) -> tuple[str, ...]:
        """Return all hues in the order of the legend."""
        return hue_shades(self.theme)

    def look_key(self, row: int) -> Hashable:
        """Return a key that is equal for rows with equal fill and texts."""
        return row

    def look_keys(self, rows: Sequence[int]) -> Iterable[Hashable]:
        return map(self.look_key, rows)

    def second_line(self, path: RowPath) -> str | None:
        """Return the second line of the box at `path`; None for the usual line."""
        return None

    def tooltip_text(self, path: RowPath) -> str:
        """Return the text that the colouring adds to the tooltip of the box at `path`; "" for none."""
        return ""

    def title_text(self, shown: int) -> str:
        """Return the text in the title row of a picture with `shown` boxes; "" for the usual counts."""
        return ""

    def in_theme(self, theme: Theme) -> Self | None:
        """Return a copy in another theme; None if the colouring must be made anew."""
        return None

    def for_print(self) -> Colouring:
        return self

    def scaled_to(self, closed: Sequence[RowPath]) -> Self:
        """Return a copy whose scale fits the boxes shown closed."""
        return self

    def line_tints(self, scene: Scene, view: View, paths: Sequence[RowPath]) -> LineTints:
        """Return the colours of lines, and of lines of stubs, that differ from the usual; `paths` are by box."""
        return LineTints.without_tints(scene)

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return the legend of the boxes shown: at most ten rows, then a row that counts the rest."""
        return []

    def whole_row_legend(self, row: int) -> list[LegendRow]:
        """Return every colour of one row with its name, however many."""
        return [entry for entry in self.legend_rows([(row,)]) if entry.shape != "rest"]


@dataclass(frozen=True, slots=True)
class ColourValues:
    """The values of a number colouring, without its scale, by row, then for boxes inside calls.

    - `values`: None or -1 for unknown values; `words`: the formatted values.
    - `accounts`: additions to tooltips.
    - `missing`: the name in the legend of boxes without a number, or "".
    - `signed`: values may be negative.
    - `batch`: the batch size of costs.
    - `lacks`: for each quantity that may be incomplete, the number of ops in each row without it.
    - `bounds`: by row, the index in `BOUND_WORDS`; empty if all values are exact.
    """

    values: Sequence[float | None]
    words: Sequence[str]
    accounts: Sequence[str] = ()
    missing: str = ""
    signed: bool = False
    batch: int | None = None
    lacks: Mapping[str, Sequence[int]] = field(default_factory=dict)
    bounds: Sequence[int] = ()


@dataclass(frozen=True)
class NumberColouring(Colouring, ABC):
    """A colouring by a number, on a scale from zero to `top`, the largest value of a closed box; hatched if unknown."""

    top: float = field(default=0.0, kw_only=True)

    @abstractmethod
    def value_at(self, path: RowPath) -> float | None:
        """Return the value of the box at `path`; None if unknown. Its sign does not matter to the scale."""

    def scaled_to(self, closed: Sequence[RowPath]) -> Self:
        values = map(self.value_at, closed)
        return replace(self, top=max((abs(value) for value in values if value is not None), default=0.0))

    def fill_of(self, path: RowPath) -> RowFill:
        value = self.value_at(path)
        return self.unknown_fill(path[-1]) if value is None else self.shade_of(value)

    @abstractmethod
    def shade_of(self, value: float) -> RowFill:
        """Return the colour of a value."""

    @abstractmethod
    def number_values(self, inside: Sequence[RowPath]) -> ColourValues:
        """Return the numbers of all rows, then of the boxes `inside` calls, if they differ from call to call."""


def is_drawn_as_op(hierarchy: RowTree, row: int) -> bool:
    """Return whether a row is drawn like an op: an op, or a stack whose members are ops."""
    # Stacks may contain stacks; the first member represents all.
    while hierarchy.kind[row] in STACK_KINDS:
        below = hierarchy.children(row)
        if not len(below):
            return False
        row = int(below[0])
    return int(hierarchy.kind[row]) == OP_ROW


def _unmeasured_fill(hierarchy: Hierarchy, theme: Theme, row: int) -> RowFill:
    """Return the fill of an unknown box: hatched, with a quiet label."""
    ground = theme.op if is_drawn_as_op(hierarchy, row) else theme.neutral
    # The more readable of the two quiet inks on this ground.
    quiet = max((theme.secondary, theme.quiet), key=lambda colour: contrast(colour, ground))
    return RowFill(ground, mix_colours(theme.stroke, theme.background, FAINT_PERCENT), quiet, quiet, hatch=True)


# Resolve a colouring for one scene into a `Paint`: every colour of one picture.

ROOT_PATH: RowPath = (0,)


def resolve_paint(colouring: Colouring, view: View, scene: Scene) -> Paint:
    """Return every colour of a scene, as a value that does not depend on the colouring."""
    # Only closed boxes set the scale, because the sum of an open group would outshine its content.
    paths, closed = _shown_paths(colouring, view)
    colouring = colouring.scaled_to(closed)
    boxes = [paths.get((box.address, box.row), (box.row,)) for box in scene.boxes]
    others = [(stub.other,) for stub in scene.stubs if stub.kind != "more"]
    # The box of a surplus has a colour only in a diff.
    coloured = [not box.surplus or colouring.scheme == "diff" for box in scene.boxes]
    fills = tuple(
        colouring.fill_of(path) if is_coloured else surplus_fill(colouring.theme)
        for path, is_coloured in zip(boxes, coloured, strict=True)
    )
    # Frames and stubs have a hue but no letter.
    lettered = {fill.badge for fill, box in zip(fills, scene.boxes, strict=True) if not box.open}
    legend = colouring.legend_rows(list(dict.fromkeys([*compress(boxes, coloured), *others])))
    return Paint(
        theme=colouring.theme,
        scheme=colouring.scheme,
        heading=colouring.heading,
        boxes=fills,
        accounts=tuple(
            replace_unsafe_characters(colouring.tooltip_text(path)) if is_coloured else ""
            for path, is_coloured in zip(boxes, coloured, strict=True)
        ),
        stubs=tuple(None if stub.kind == "more" else colouring.fill_of((stub.other,)) for stub in scene.stubs),
        tints=colouring.line_tints(scene, view, boxes),
        legend=tuple(
            row if row.fill.badge in lettered else replace(row, fill=replace(row.fill, badge="")) for row in legend
        ),
    )


def _shown_paths(colouring: Colouring, view: View) -> tuple[dict[tuple[str, int], RowPath], list[RowPath]]:
    """Return the path of every node shown, by address and row, and the paths of closed nodes."""
    paths: dict[tuple[str, int], RowPath] = {}
    closed: list[RowPath] = []
    todo = [(ROOT_PATH, view)]
    while todo:
        around, level = todo.pop()
        for position, node in enumerate(level.node_labels):
            path = paths[node.address, node.row] = child_path(colouring.hierarchy, around, node.row)
            if position in level.opened:
                # A stack may show the content of one member.
                todo.append((level.opened[position].path, level.opened[position]))
            elif not node.surplus:
                closed.append(path)
        # `opened` counts children first, then the functions listed next to the main graph.
        listed = enumerate(level.functions, len(level.node_labels))
        todo += [((node.row,), level.opened[child]) for child, node in listed if child in level.opened]
    return paths, closed


# Colours derived from colours: strokes, and the fill of rows for which a colouring has no value.

LEGEND_ROWS = 10  # further colours are only counted
STROKE_SHIFT = 35  # per cent darker than the fill (lighter in the dark theme)


def border_colour(fill: str, theme: Theme) -> str:
    return mix_colours(fill, "#000000" if theme.name == "light" else "#FFFFFF", STROKE_SHIFT)


def contrast(colour: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, from 1 to 21.

    >>> contrast("#000000", "#FFFFFF")
    21.0
    """
    light, dark = sorted((_relative_luminance(colour), _relative_luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@lru_cache(maxsize=4096)
def _relative_luminance(colour: str) -> float:
    # The transfer function of sRGB, with the threshold of WCAG 2 (the sRGB standard has 0.04045).
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb_channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


SHADES = {"light": (0, 30, 50, 70), "dark": (0, 25, 45, 60)}  # per cent of the background in the shades of a hue
SHADE_COUNT = 4
# Hues of kinds, pale enough for black text.
PRINTED_HUES = ("#BFD9EE", "#F2AE93", "#A5DBC9", "#FFD6DE", "#FBF3CC", "#D3EFFC")


def hue_shades(theme: Theme) -> tuple[str, ...]:
    """Return the shades of all hues, those of one hue together, each hue itself first."""
    shares = SHADES[theme.name]
    return tuple(mix_colours(hue, theme.background, share) if share else hue for hue in theme.hues for share in shares)


def plain_fill(theme: Theme, op: bool) -> RowFill:
    """Return the fill of a box without a colour: neutral, white for an op."""
    fill = theme.op if op else theme.neutral
    second = theme.secondary if op else theme.quiet
    return RowFill(fill, border_colour(fill, theme), theme.text, second)


def outlined_fill(theme: Theme) -> RowFill:
    """Return the fill of a box outside of the model, such as its training: only outlined."""
    return RowFill(theme.op, border_colour(theme.neutral, theme), theme.secondary, theme.secondary)


def hue_fill(colour: str, theme: Theme, badge: str = "", bands: tuple[tuple[str, int], ...] = ()) -> RowFill:
    """Return the fill of a coloured box, whose lines have the same text colour."""
    return RowFill(colour, border_colour(colour, theme), theme.text, theme.text, bands, badge, hued=True)


CATEGORY_SHADES = (0, 2, 3, 1)  # the shade in each turn through the hues; shades that differ most come first


def category_tone(rank: int, theme: Theme) -> str:
    """Return the colour of the category of a rank: the hues in turn, in each turn in another shade."""
    turn, hue = divmod(rank, len(theme.hues))
    return hue_shades(theme)[hue * SHADE_COUNT + CATEGORY_SHADES[turn % SHADE_COUNT]]


def category_fill(rank: int, theme: Theme) -> RowFill:
    """Return the fill of the category of a rank, with a letter if an earlier category has the same colour."""
    again = rank // (len(theme.hues) * SHADE_COUNT)
    return hue_fill(category_tone(rank, theme), theme, rank_letters(again) if again else "")


def rank_letters(rank: int) -> str:
    """Return A, B, … Z, then A2, B2, …

    >>> rank_letters(0), rank_letters(25), rank_letters(26)
    ('A', 'Z', 'A2')
    """
    turn, letter = divmod(rank, 26)
    return chr(ord("A") + letter) + (str(turn + 1) if turn else "")


def legend_limit(count: int) -> tuple[int, int]:
    """Return how many rows a legend shows and how many it only counts.

    >>> legend_limit(10), legend_limit(12)
    ((10, 0), (10, 2))
    """
    return min(count, LEGEND_ROWS), max(0, count - LEGEND_ROWS)
