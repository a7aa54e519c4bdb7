"""Scenes that the viewer makes, for comparison with those of Python."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from graphviz_tb.api.pipeline import Model
from graphviz_tb.page.build import PageExtras, page_data
from graphviz_tb.render.html import _layout_script, viewer_source

SCRIPT = Path(__file__).parent / "scenes.js"
BARE = PageExtras(("none",))  # a scene knows no colour
Paths = list[tuple[int, ...]]
Apart = list[int]  # rows of levels whose series are apart


def script() -> str:
    """The part of the viewer that needs no page."""
    rest = "".join(map(viewer_source, ("data.js", "reader.js", "levels.js", "views.js", "moves.js")))
    return _layout_script() + rest


def scenes(
    models: list[tuple[Model, list[Paths], Any]],
    folder: Path,
    apart: list[list[Apart]] | None = None,
    aux: list[list[Paths]] | None = None,
    each: bool = False,
) -> list[dict[str, Any]]:
    """The scenes of the open sets of each model, in order, as plain values; for each open set, `apart` has a list, and
    `aux` the nodes that were put away by hand. `each`: from pages that write the levels of copies too."""
    cases = []
    for number, (model, sets, options) in enumerate(models):
        beside = apart[number] if apart else [[]] * len(sets)
        moved = aux[number] if aux else [[]] * len(sets)
        open_sets = [
            {"paths": paths, "apart": rows, "aux": away} for paths, rows, away in zip(sets, beside, moved, strict=True)
        ]
        head, blocks = page_data(model, options, replace(PageExtras() if apart else BARE, each=each))
        held = [{"name": one.name, "kind": one.kind, "digest": one.digest, "data": one.base64_text} for one in blocks]
        cases.append({"head": head, "blocks": held, "open": open_sets, "options": asdict(options)})
    (folder / "script.js").write_text(script(), encoding="utf-8")
    (folder / "cases.json").write_text(json.dumps({"cases": cases}), encoding="utf-8")
    command = ["node", str(SCRIPT), str(folder / "script.js"), str(folder / "cases.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
