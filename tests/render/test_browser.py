"""In a real browser, with our font absent, no label leaves its box and no two texts overlap."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from browser import measured

import graphviz_tb

REAL = sorted((Path(__file__).parents[2] / "fixtures" / "real").glob("*.pb*"))
FONTS = [None, "DejaVu Sans", "serif"]  # ours or their twins, a wide one, a narrow one
SLACK = 1.0  # pixels of a line box that bears no ink


@pytest.fixture
def chromium(require: Callable[..., None]) -> str:
    require("chromium")
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))


@pytest.mark.machine
@pytest.mark.parametrize("font", FONTS)
def test_labels_stay_in_their_boxes_and_apart(chromium: str, font: str | None) -> None:
    pictures, names = [], []
    for path in REAL:
        model = graphviz_tb.load(path)
        for choices in ({"depth": 0}, {"open_all": True, "max_open": 150, "theme": "dark"}):
            pictures.append(model.picture(**choices).render("svg"))
            names.append(f"{path.name} {choices}")
    told = []
    for name, texts in zip(names, measured(chromium, pictures, font), strict=True):
        told += [f"{name}: {fault}" for fault in faults(texts)]
    assert told == []


def faults(texts: list[dict[str, Any]]) -> list[str]:
    """Texts that leave the box they are in, and pairs that overlap."""
    told = []
    for text in texts:
        if text["box"] and not inside(text["at"], text["box"]):
            told.append(f"{text['content']!r} leaves its box: {text['at']} {text['box']}")
    for one, other in combinations(sorted(texts, key=lambda text: text["at"][1]), 2):
        if overlap(one["at"], other["at"]):
            told.append(f"{one['content']!r} overlaps {other['content']!r}")
    return told


def inside(one: list[float], box: list[float]) -> bool:
    return box[0] <= one[0] and box[1] - SLACK <= one[1] and one[2] <= box[2] and one[3] <= box[3] + SLACK


def overlap(one: list[float], other: list[float]) -> bool:
    return (
        one[0] + SLACK < other[2]
        and other[0] + SLACK < one[2]
        and one[1] + 2 * SLACK < other[3]
        and other[1] + 2 * SLACK < one[3]
    )
