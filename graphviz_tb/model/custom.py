"""Custom charts: the layout that a training wrote for TensorBoard's plugin `custom_scalars`."""

from __future__ import annotations

from typing import NamedTuple

from graphviz_tb.model.frozen import dataclass


class MarginLine(NamedTuple):
    """A line with a band around it: the tags of the line and of its two borders."""

    value: str
    lower: str
    upper: str


@dataclass(frozen=True, slots=True)
class CustomChart:
    """One chart: patterns of its tags (regular expressions, matched from the start of a tag), or lines with bands."""

    title: str
    tags: tuple[str, ...] = ()
    margins: tuple[MarginLine, ...] = ()


@dataclass(frozen=True, slots=True)
class CustomCategory:
    """Charts under one title; `closed` if they are folded at first."""

    title: str
    closed: bool
    charts: tuple[CustomChart, ...]
