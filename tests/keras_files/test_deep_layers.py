"""Names of layers and ops that are nested deeper than any model: what is around them is not listed, scope by scope."""

from __future__ import annotations

import tracemalloc

import pytest

from graphviz_tb.diff.changes.across_layers import shared_scope
from graphviz_tb.diff.changes.names import _exchanged_segments
from graphviz_tb.graphs.layer_rows import match_layers_to_scopes
from graphviz_tb.keras.layers import WEIGHT_SHAPES_KEY
from graphviz_tb.keras.objects import SUBCLASSED_ROOT, LayerJson, _assign_weight_shapes, nest_layers
from graphviz_tb.keras.weights import StoredObject
from tests.conftest import cpu_seconds
from tests.timing import seconds, within

DEEP = "/".join("s" * 10_000)  # all scopes around it have 100 million letters


@pytest.mark.parametrize("where", ["ops", "layers"])
def test_layers_are_found_beside_deep_names(where: str) -> None:
    ops, layers = ["m/a/MatMul"], ["m", "m/a"]
    (ops if where == "ops" else layers).append(f"m/{DEEP}/x")
    tracemalloc.start()
    assert match_layers_to_scopes(ops, layers) == {"m": "m", "m/a": "m/a"}
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()


def test_what_deep_names_share() -> None:
    tracemalloc.start()
    assert shared_scope([f"{DEEP}/a", f"{DEEP}/b"]) == DEEP
    assert _exchanged_segments(f"{DEEP}/a/x", f"{DEEP}/b/x") == ("a", "b")
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()


def test_nine_in_ten_names_decide() -> None:
    assert shared_scope(["m/a/x"] * 9 + ["n/x"]) == "m/a"
    assert shared_scope(["m/a/x"] * 8 + ["m/x", "n/x"]) == "m"
    assert shared_scope([]) == shared_scope(["x"]) == ""


@pytest.mark.slow
def test_what_holds_a_layer_of_a_deep_path() -> None:
    path = "m.list" + ".a" * 300_000
    layers = {each: {"class_name": "", "config": {"name": each}} for each in ("m", "m.b", path)}
    found = nest_layers(layers, "m", ".")
    assert [layer["config"]["name"] for layer in found["config"]["layers"]] == ["m.b", path]
    assert within(cpu_seconds(lambda: nest_layers(layers, "m", ".")), 8)


@pytest.mark.parametrize("name", ["/a/x", "//x", "///x", "/m/a/x", "m//a/x"])
def test_a_scope_without_a_name_is_no_layer(name: str) -> None:
    assert match_layers_to_scopes([name, "m/a/MatMul"], ["m", "m/a", "", "/a"]) == {"m": "m", "m/a": "m/a"}
    assert match_layers_to_scopes([name], ["k", "k/b"]) == {}


@pytest.mark.slow
def test_weights_in_deep_objects_are_given_in_no_time() -> None:
    # m ⊃ a ⊃ a ⊃ …; only the holder "b" of "b/c" is configured and keeps nothing itself
    paths = ["/".join("a" * depth) for depth in range(1, 4000)]
    weights = {path: StoredObject("a", [(depth,)]) for depth, path in enumerate(paths)} | {
        "b/c": StoredObject("c", [(7,)])
    }
    objects: dict[str, LayerJson] = {
        SUBCLASSED_ROOT: {"class_name": "Mine"},
        f"{SUBCLASSED_ROOT}/b": {"class_name": "LSTM"},
    }
    objects |= {f"{SUBCLASSED_ROOT}/{path}": {"class_name": "Layer"} for path in weights}
    with seconds(3):
        _assign_weight_shapes(objects, weights)
    assert objects[f"{SUBCLASSED_ROOT}/b"][WEIGHT_SHAPES_KEY] == [[7]]
    assert objects[f"{SUBCLASSED_ROOT}/{paths[-1]}"][WEIGHT_SHAPES_KEY] == [[3998]]
