"""The page composes a sheet as Python does: what it saves is what `tbgraph render` writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.api.picture import Picture
from graphviz_tb.errors import TbGraphError
from graphviz_tb.page.build import _character_advances
from graphviz_tb.render.close_frame import close_frame
from graphviz_tb.render.compose import PAGE_MARGIN, _whole_frame, compose
from graphviz_tb.render.html import LAYOUT_EXPORTS, _layout_script
from tests.viewer.node import answered

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted([*(FIXTURES / "exported").glob("*.*"), *(FIXTURES / "real").glob("*.pb*")])
SHEET: dict[str, Any] = {"margin": PAGE_MARGIN, "line": 900}
pytestmark = pytest.mark.machine
SHEETS = """
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
layout.setAdvances(cases.shift());
const out = cases.map(({scene, paint, caption, frame, margin, line}) => {
  scene.routes.forEach((route) => Object.setPrototypeOf(route, layout.Route.prototype));
  paint.theme = layout.THEMES.get(paint.theme.name);
  return [layout.close_frame(scene, frame), layout.compose(scene, paint, caption, true, margin, line)];
});
console.log(JSON.stringify(out));
"""


def plain(value: Any) -> Any:
    """As JSON gives it back."""
    return json.loads(json.dumps(asdict(value)))


def pictures_in_a_frame(**choices: Any) -> list[tuple[str, Picture, int]]:
    """First pictures whose outermost frame is not drawn, with the number of that frame."""
    found = []
    for path in FILES:
        try:
            picture = graphviz_tb.load(path).picture(**choices)
        except TbGraphError:
            continue
        frame = _whole_frame(picture.scene, picture.paint, set())
        if frame >= 0:
            found.append((path.name, picture, frame))
    return found


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
def test_a_sheet_whose_frame_is_closed_is_composed_alike(direction: str, require: Callable[..., None]) -> None:
    require("node")
    pictures = pictures_in_a_frame(direction=direction)
    assert len(pictures) > 30
    cases = [
        {**{name: plain(getattr(one, name)) for name in ("scene", "paint", "caption")}, "frame": frame, **SHEET}
        for _, one, frame in pictures
    ]
    script = _layout_script().replace(LAYOUT_EXPORTS, f"close_frame, Route, {LAYOUT_EXPORTS}") + SHEETS
    advances = _character_advances([json.dumps(cases, ensure_ascii=False)])
    found = answered(script, [advances, *cases])
    for (name, one, frame), (closed, sheet) in zip(pictures, found, strict=True):
        assert closed == plain(close_frame(one.scene, frame)), name
        assert sheet == plain(compose(one.scene, one.paint, one.caption, **SHEET)), name
