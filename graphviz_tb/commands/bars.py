"""Bars and shares in lines of text."""

from __future__ import annotations

from graphviz_tb.commands.table import TextStyle

BAR = 16  # places of a bar where there is room


def bar_width(width: int) -> int:
    """Bars are small, and smaller on narrow terminals."""
    return max(4, min(BAR, width // 5))


def colored(lines: list[str], look: TextStyle) -> list[str]:
    """Lines whose bar at the end has its colour."""
    if not look.on:
        return lines
    # The bar is the end of a line: its colour begins where its blocks do.
    cut = [len(line.rstrip("█▉▊▋▌▍▎▏")) for line in lines]
    return [line[:start] + look.bar(line[start:]) for line, start in zip(lines, cut, strict=True)]


def percent(share: float) -> str:
    """A share of a whole: 100 % and 0 % are said only where they are true.

    >>> percent(1.0), percent(0.9999), percent(0.0001), percent(0.123)
    ('100 %', '99.9 %', '<0.1 %', '12.3 %')
    """
    if 0 < share < 0.001:
        return "<0.1 %"
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{min(share, 0.999) * 100:.1f} %"  # 99.96 % is not all
