"""Sizes and counts that nobody could hold are drawn, or said to be unknown; never a fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphviz_tb.commands import main
from tests.each import each

FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'
IMMENSE = "dim { size: 9223372036854775807 } " * 60
SHAPE = f'attr {{ key: "shape" value {{ shape {{ {IMMENSE} }} }} }}'


def _chained_layers(channels: int) -> dict[str, object]:
    """x ─▶ c0 ─▶ d1 ─▶ c2 … ─▶ d11: more layers than one level shows, each with so many channels."""
    layers: list[dict[str, object]] = [
        {"class_name": "InputLayer", "name": "x", "config": {"name": "x", "batch_shape": [None, 8, 8, 3]}}
    ]
    before = "x"
    for at in range(12):
        name = f"{'cd'[at % 2]}{at}"
        config = {"name": name, "filters": channels, "units": channels, "kernel_size": [channels, 3]}
        inbound = [[[before, 0, 0, {}]]]
        kind = ("Conv2D", "Dense")[at % 2]
        layers.append({"class_name": kind, "name": name, "config": config, "inbound_nodes": inbound})
        before = name
    config = {"name": "m", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [[before, 0, 0]]}
    return {"class_name": "Functional", "config": config}


GRAPHS = {
    "shape.pbtxt": f"""
        node {{ name: "a" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} {SHAPE} }}
        node {{ name: "b" op: "Relu" input: "a" {FLOAT} }} """,
    "split.pbtxt": """
        node { name: "k" op: "Placeholder" }
        node { name: "s" op: "Split" input: "k" input: "k"
               attr { key: "num_split" value { i: 4611686018427387904 } } } """,
    "dense.json": json.dumps(
        {
            "class_name": "Sequential",
            "config": {
                "layers": [
                    {
                        "class_name": "Dense",
                        "config": {"name": "a", "units": 10**3999, "batch_input_shape": [None, 10**3999]},
                    }
                ]
            },
        }
    ),
    "convolutions.json": json.dumps(_chained_layers(10**30)),
    "below_zero.json": json.dumps(_chained_layers(-(10**30))),
}


@each("name", GRAPHS)
@each("words", ["info", "info --json", "tree", "render -o a.svg", "diff other.pbtxt"])
def test_immense_numbers_are_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(GRAPHS[name])
    Path("other.pbtxt").write_text('node { name: "b" op: "Sin" }')
    command, *more = words.split()
    with pytest.raises(SystemExit) as stopped:
        main([command, name, *more])
    layers_with_ops = command == "diff" and name.endswith(".json")
    expected = 2 if layers_with_ops else 1 if command == "diff" else 0
    assert stopped.value.code == expected, capsys.readouterr().err
