"""Where a stack of blocks begins, and the smallest that is one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from graphviz_tb import Model, load
from graphviz_tb.model.hierarchy import SERIES_ROW
from tests.fold.networks import Writer, bottleneck, formed
from tests.fold.stage_reader import score


def heights(model: Model) -> list[int]:
    """The numbers of members of all stacks, along the rows."""
    hierarchy = model.hierarchy
    return [len(hierarchy.children(row)) for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW]


@pytest.mark.parametrize("form", ["flat", "nameless"])
def test_convolutions_that_halve_lead_to_the_first_block_and_are_none(form: str) -> None:
    w = Writer(form, random.Random(3))
    w.width = 8
    x = w.op("Placeholder", name="x")
    for number, width in enumerate((16, 32)):
        x = w.act(w.norm(w.conv(x, width, 3, 2, f"down{number}"), f"bn{number}"), name=f"act{number}")
    for number in range(9):
        with w.scope(f"block{number}"):
            y = w.norm(w.conv(w.act(w.norm(w.conv(x, 32), "bn1")), 32, name="conv2"), "bn2")
            x = w.add(x, y)
    found = heights(load(formed(w.graph, form, random.Random(4))))
    assert 9 in found
    assert 10 not in found


@pytest.mark.parametrize("style", ["const", "argument"])  # the weights have shapes, or none
def test_stages_of_a_block_with_a_projection_and_one_without_stand_side_by_side(style: str) -> None:
    w = Writer("nameless", random.Random(5))
    w.style = style
    w.width = 16
    x = w.op("Placeholder", name="x")
    for stage, width in enumerate((64, 128, 256, 512)):
        for block in range(2):
            x = bottleneck(w, x, width, 1 + (stage > 0 and not block), not block)
    model = load(formed(w.graph, "nameless", random.Random(6)))
    assert score(model, [2, 2, 2, 2]) == (4, 4)
    assert 4 not in heights(model)


@pytest.mark.parametrize(("kind", "times", "expected"), [("LSTM", 3, [3]), ("LSTM", 2, []), ("Dense", 5, [5])])
def test_a_layer_with_its_dropout_is_a_stack_from_three_on(
    kind: str, times: int, expected: list[int], tmp_path: Path
) -> None:
    layers = [{"class_name": "InputLayer", "config": {"name": "x"}}]
    for number in range(times):
        layers += [{"class_name": name, "config": {"name": f"{name}_{number}"}} for name in (kind, "Dropout")]
    layers.append({"class_name": "Flatten", "config": {"name": "last"}})
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"class_name": "Sequential", "config": {"name": "net", "layers": layers}}))
    assert heights(load(path)) == expected
