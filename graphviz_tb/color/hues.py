"""Colours derived from colours: strokes, and the fill of rows for which a colouring has no value."""

from __future__ import annotations

from functools import lru_cache

from graphviz_tb.graphs.drawing_math import mix_colours, rgb_channels
from graphviz_tb.model.paint import RowFill
from graphviz_tb.model.theme import Theme

LEGEND_ROWS = 10  # more colours are only counted
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
    # The transfer function of sRGB, with the threshold as WCAG 2 prints it (the standard has 0.04045).
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
    """Return the fill of a box of the background: of what trains a model, not the model."""
    return RowFill(theme.op, border_colour(theme.neutral, theme), theme.secondary, theme.secondary)


def hue_fill(colour: str, theme: Theme, badge: str = "", bands: tuple[tuple[str, int], ...] = ()) -> RowFill:
    """Return the fill of a coloured box; its second line has the colour of its first."""
    return RowFill(colour, border_colour(colour, theme), theme.text, theme.text, bands, badge, hued=True)


CATEGORY_SHADES = (0, 2, 3, 1)  # which shade of a hue each turn through the hues takes: first those that differ most


def category_tone(rank: int, theme: Theme) -> str:
    """Return the colour of the category of some rank: the hues in turn, each time in another shade."""
    turn, hue = divmod(rank, len(theme.hues))
    return hue_shades(theme)[hue * SHADE_COUNT + CATEGORY_SHADES[turn % SHADE_COUNT]]


def category_fill(rank: int, theme: Theme) -> RowFill:
    """Return the fill of the category of some rank, with a letter where an earlier one has its colour."""
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
