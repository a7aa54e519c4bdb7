"""A model that is built again, in a process that has built others, has other counters in its names, and the same
picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load

EDITS = Path(__file__).parents[2] / "fixtures" / "edits"
COUNTER = re.compile(r"(_\d+)+(?=\W|$)", re.ASCII)


def structure(path: Path) -> dict[str, Any]:
    """Everything of a graph and its first picture but counters in names, and what depends on the width of names."""
    model = load(path)
    document, scene = model.to_json(), model.picture().scene
    return {
        "nodes": [
            (COUNTER.sub("", node["name"]), *(node[key] for key in ("kind", "parent", "op", "template", "embedded_in")))
            for node in document["nodes"]
        ],
        "groups": {group: told["edges"] for group, told in document["groups"].items()},
        "weights": [
            (weight.dtype, weight.shape, weight.uses) for weight in model.hierarchy.graph.meaning.weights.values()
        ],
        "boxes": [(box.row, box.kind, box.parent, box.depth, box.open, box.area) for box in scene.boxes],
        "routes": [(route.kind, route.source, route.target, route.back) for route in scene.routes],
    }


@pytest.mark.parametrize("form", ["frozen.pb", "train.pb"])
def test_the_structure_is_the_same(form: str) -> None:
    once, again = structure(EDITS / f"base.{form}"), structure(EDITS / f"rebuilt.{form}")
    for part in once:
        assert once[part] == again[part], part
    names = [load(EDITS / f"{build}.{form}").hierarchy.name for build in ("base", "rebuilt")]
    assert names[0] != names[1]  # else there is nothing to see


def test_an_edit_is_seen() -> None:
    assert structure(EDITS / "base.frozen.pb") != structure(EDITS / "units.frozen.pb")
