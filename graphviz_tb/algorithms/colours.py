"""Colours as `#RRGGBB`."""

from __future__ import annotations

from functools import lru_cache


def rgb_channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of `#RRGGBB`.

    >>> rgb_channels("#0B2DC2")
    (11, 45, 194)
    """
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@lru_cache(maxsize=4096)
def mix_colours(colour: str, other: str, per_cent: int) -> str:
    """Mix `per_cent` of `other` into `colour`.

    >>> mix_colours("#FFFFFF", "#000000", 35)
    '#A6A6A6'
    """
    pairs = zip(rgb_channels(colour), rgb_channels(other), strict=True)
    return "#" + "".join(f"{(a * (100 - per_cent) + b * per_cent + 50) // 100:02X}" for a, b in pairs)
