"""Conditions of `--fail-on`, and the JSON Schema of what they ask."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from graphviz_tb.commands.diff import diff_exit_code, parse_conditions
from graphviz_tb.diff import diff
from graphviz_tb.errors import RequestError, UnknownChoice
from tests.diff.pairs import FIXTURES

EDITS = FIXTURES / "edits"


def model(*layers: tuple[str, str]) -> bytes:
    """A Sequential model as JSON: classes and names of its layers."""
    entries = [{"class_name": kind, "config": {"name": name}} for kind, name in layers]
    whole = {"class_name": "Sequential", "config": {"name": "net", "layers": entries}}
    return json.dumps(whole).encode()


STEM, NORM, HEAD = ("Dense", "stem"), ("LayerNormalization", "norm"), ("Dense", "head")


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("gone:*Normalization", 1),
        ("gone:Dense", 0),
        ("new:*", 0),
        ("class:Layer*", 1),
        ("in:net/norm kind:removed", 1),
        ("in:net/stem kind:removed", 0),
        ("signature, gone:LayerNormalization", 1),
        ("structure gone:Dense", 0),
    ],
)
def test_a_condition_asks_for_the_layers_that_went(condition: str, code: int) -> None:
    assert diff_exit_code(diff(model(STEM, NORM, HEAD), model(STEM, HEAD)), condition) == code


def test_a_layer_that_only_changed_did_not_go() -> None:
    changes = diff(EDITS / "base.json", EDITS / "units.json")
    assert diff_exit_code(changes, "gone:*") == 0
    assert diff_exit_code(changes, "class:Dense") == 1


@pytest.mark.parametrize("wrong", ["gone:Dense,", "strukture", "went:Dense"])
def test_a_condition_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises((RequestError, UnknownChoice)):
        parse_conditions(wrong)


@pytest.mark.parametrize("pair", [("base.json", "units.json"), ("base.frozen.pb", "gelu.frozen.pb")])
def test_the_json_is_as_its_schema_says(pair: tuple[str, str]) -> None:
    schema = json.loads(files("graphviz_tb.diff.report").joinpath("schema.json").read_text("utf-8"))
    document = diff(*(EDITS / name for name in pair)).to_json()
    assert list(faults(json.loads(json.dumps(document)), schema, schema)) == []
    document["changes"][0]["kind"] = "vanished"
    assert len(list(faults(document, schema, schema))) == 1


TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
}


def faults(value: Any, schema: dict[str, Any], whole: dict[str, Any], at: str = "$") -> Any:
    """Where a value is not as a schema says; of JSON Schema what ours uses."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    kinds = schema.get("type", [])
    if kinds and not isinstance(value, tuple(TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))):
        yield f"{at}: {value!r} is no {kinds}"
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        yield f"{at}: {value!r}"
    if isinstance(value, dict):
        known, other = schema.get("properties", {}), schema.get("additionalProperties", True)
        yield from (f"{at}: no {key}" for key in schema.get("required", ()) if key not in value)
        for key, inner in value.items():
            if key in known or isinstance(other, dict):
                yield from faults(inner, known.get(key, other), whole, f"{at}.{key}")
            elif not other:
                yield f"{at}: {key}"
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from faults(inner, schema.get("items", {}), whole, f"{at}[{number}]")
