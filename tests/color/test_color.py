"""Colours are decided for the whole file, and never say a thing alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphviz_tb
import graphviz_tb.color
from graphviz_tb import load
from graphviz_tb.annotate import annotate
from graphviz_tb.color import SCHEMES, Colouring, make_colouring
from graphviz_tb.color.category import _is_accelerator, _shorten_devices
from graphviz_tb.color.colouring import contrast, rank_letters
from graphviz_tb.color.kinds import KIND_WORDS, group_kinds, op_kinds
from graphviz_tb.color.structure import _describe_templates
from graphviz_tb.errors import UnknownChoice
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.model.theme import THEMES
from graphviz_tb.proto import GraphDef, NodeDef
from tests.each import each
from tests.effort import part

REAL = Path(__file__).parents[2] / "fixtures" / "real"
PLAIN = [word for word, row in SCHEMES.items() if not (row.measured or row.logged or row.given)]


def hierarchy(name: str) -> Hierarchy:
    return graphviz_tb.load(REAL / name).hierarchy


def paint(hierarchy: Hierarchy, scheme: str = "structure", theme: str = "light") -> Colouring:
    return make_colouring(hierarchy, annotate(hierarchy), scheme, theme)


@each("scheme", part(PLAIN, 2))
@each("theme", THEMES)
def test_every_row_has_a_fill_that_its_text_can_be_read_on(scheme: str, theme: str) -> None:
    for name in ("numbered_series.pb", "multi_device.pb"):
        found = hierarchy(name)
        painter = paint(found, scheme, theme)
        for row in range(len(found)):
            fill = painter.fill_of((row,))
            for ground in (fill.fill, *(band for band, _ in fill.bands)):
                assert contrast(fill.text, ground) >= 4.5
                assert contrast(fill.second, ground) >= 4.5


@each("scheme", PLAIN)
def test_what_a_colour_says_is_said_without_it_too(scheme: str) -> None:
    found = hierarchy("multi_device.pb")
    painter = paint(found, scheme)
    assert painter.scheme == scheme
    costs = scheme in ("flops", "parameters", "activations")
    none = (
        painter.legend_rows([(row,) for row in range(1, len(found))])[0].fill if costs else None
    )  # an op without cost
    for row in range(1, len(found)):
        if painter.fill_of((row,)).hued and painter.fill_of((row,)) != none:
            assert painter.fill_of((row,)).badge or painter.second_line((row,)) or painter.tooltip_text((row,))


def test_structure_gives_equal_groups_one_hue_and_letter_and_unique_ones_none() -> None:
    found = hierarchy("mnist_cnn.pbtxt")
    painter = paint(found, "structure")
    row = {name: at for at, name in enumerate(found.name)}
    assert painter.fill_of((row["conv1"],)) == painter.fill_of((row["conv2"],))
    assert painter.fill_of((row["conv1"],)).hued
    assert not painter.fill_of((row["train"],)).hued
    seen: dict[tuple[str, str], int] = {}
    for at in np.flatnonzero(found.kind == RowKind.SCOPE).tolist():
        fill = painter.fill_of((at,))
        # No two structures share hue and letter, single layers of one kind aside, which are told by their words.
        if fill.hued and painter.tooltip_text((at,)) not in KIND_WORDS:
            assert seen.setdefault((fill.fill, fill.badge), int(found.template[at])) == found.template[at]


def test_a_stack_is_coloured_as_its_members() -> None:
    found = hierarchy("numbered_series.pb")
    painter = paint(found, "structure")
    row = found.name.index("dense_[1-20]")
    assert painter.fill_of((row,)) == painter.fill_of((int(found.children(row)[0]),))


def test_a_group_shows_its_devices_in_proportion() -> None:
    found = hierarchy("multi_device.pb")
    painter = paint(found, "device")
    row = found.name.index("dense_0")
    fill = painter.fill_of((row,))
    assert len(fill.bands) > 1
    shares = [share for _, share in fill.bands]
    assert 990 <= sum(shares) <= 1000
    assert shares == sorted(shares, reverse=True)
    assert "%" in (painter.second_line((row,)) or "")


def test_what_bands_say_in_colour_the_tooltip_says_in_words() -> None:
    found = hierarchy("multi_device.pb")
    row = found.name.index("dense_0")
    told = paint(found, "device").tooltip_text((row,)).split(", ")
    assert len(told) == len(paint(found, "device").fill_of((row,)).bands)
    assert sum(int(part.rsplit(" ", 1)[1]) for part in told) == found.op_count(row)
    assert paint(found, "structure").tooltip_text((row,)) == "dense"


def test_every_device_is_told_in_words_too() -> None:
    found = hierarchy("multi_device.pb")
    painter = paint(found, "device")
    for row in np.flatnonzero(found.kind == RowKind.OP).tolist():
        if painter.fill_of((row,)).hued:
            assert painter.second_line((row,))


def test_device_names() -> None:
    assert _is_accelerator("/device:GPU:0")
    assert _is_accelerator("/job:w/replica:0/task:0/device:TPU:3")
    assert not _is_accelerator("/cpu:0")
    assert not _is_accelerator("")
    assert _shorten_devices(["/device:CPU:0"]) == ["CPU:0"]
    assert _shorten_devices(["/gpu:0", "/gpu:1"]) == ["GPU:0", "GPU:1"]
    assert _shorten_devices(["/", "//", "/gpu:1"]) == ["/", "//", "GPU:1"]


def test_legend_tells_at_most_ten_and_counts_the_rest() -> None:
    found = hierarchy("lstm_dynamic_rnn.pb")
    rows = paint(found, "op-type").legend_rows([(row,) for row in range(len(found))])
    assert len(rows) == 11
    assert rows[-1].label.startswith("+")


def test_clusters_come_from_the_attribute() -> None:
    text = (
        b'node{name:"a" op:"X" attr{key:"_XlaCluster" value{s:"c1"}}}'
        b'node{name:"b" op:"X" attr{key:"_XlaCluster" value{s:"c2"}}} node{name:"c" op:"X"}'
    )
    found = graphviz_tb.load(text).hierarchy
    painter = paint(found, "xla-cluster")
    assert [painter.second_line((row,)) for row in (1, 2, 3)] == ["c1", "c2", "no cluster"]
    assert painter.fill_of((1,)).fill != painter.fill_of((2,)).fill
    assert not painter.fill_of((3,)).hued


def test_letters_never_repeat() -> None:
    assert len({rank_letters(rank) for rank in range(2000)}) == 2000


def test_unknown_words_list_the_legal_ones() -> None:
    found = hierarchy("hidden_scope.pbtxt")
    with pytest.raises(UnknownChoice, match="structure"):
        paint(found, "red")
    with pytest.raises(UnknownChoice, match="dark"):
        paint(found, "none", "sepia")


def named(function: Callable[..., Any]) -> str:
    """The name of a function, imported already or not."""
    return f"{function.__module__}.{function.__name__}"


def test_every_colouring_is_in_the_table() -> None:
    """A function of `color/` that takes a hierarchy, a theme and facts is a row."""
    rows = [named(row.colouring) for row in SCHEMES.values()]
    for path in sorted(Path(graphviz_tb.color.__file__).parent.glob("*.py")):
        module = import_module(f"graphviz_tb.color.{path.stem}" if path.stem != "__init__" else "graphviz_tb.color")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if [*inspect.signature(function).parameters] == ["hierarchy", "theme", "facts"]:
                assert named(function) in rows, f"{name} of color/{path.name} is in no row of SCHEMES"


def test_structures_of_one_name_are_told_by_their_size() -> None:
    # a/cell: x ─▶ y, b/cell: x ─▶ y ─▶ z
    names = ("a/cell/x", "a/cell/y", "b/cell/x", "b/cell/y", "b/cell/z")
    nodes = [NodeDef(name=name, op="Exp") for name in names]
    hierarchy = load(GraphDef(node=nodes), folds=False).hierarchy
    cells = [hierarchy.name.index(name) for name in ("a/cell", "b/cell")]
    assert _describe_templates(hierarchy, dict(enumerate(cells))) == {0: "cell, 2 ops", 1: "cell, 3 ops"}


def test_structures_of_one_name_and_one_size_are_told_by_where_they_are() -> None:
    # a/cell: x ─▶ y, b/cell: x ─▶ z, each twice
    nodes = [
        NodeDef(name=f"{scope}{copy}/cell/{name}", op=op, input=[f"{scope}{copy}/cell/x"] if name == "y" else [])
        for scope, second in (("a", "Relu"), ("b", "Tanh"))
        for copy in ("", "_1")
        for name, op in (("x", "Exp"), ("y", second))
    ]
    model = load(GraphDef(node=nodes), folds=False)
    hierarchy = model.hierarchy
    cells = [row for row in range(len(hierarchy)) if hierarchy.name[row] in ("a/cell", "b/cell")]
    words = _describe_templates(hierarchy, dict(enumerate(cells)))
    assert words == {0: "cell in a", 1: "cell in b"}


def test_a_layer_with_the_weights_of_another_has_the_colour_of_its_kind() -> None:
    # ids ─▶ embedding ─▶ head, both with one table
    table = "Net/Embedding[wte]/weight"
    nodes = [
        {"name": "ids", "op": "Placeholder"},
        {"name": table, "op": "Parameter"},
        {"name": "Net/Embedding[wte]/embedding", "op": "aten::embedding", "input": [table, "ids"]},
        {"name": "Net/Linear[head]/linear", "op": "aten::linear", "input": ["Net/Embedding[wte]/embedding", table]},
    ]
    read = load(GraphDef(node=nodes)).hierarchy
    colouring = paint(read)
    head, whole = (read.name.index(name) for name in ("Net/Linear[head]", "Net"))
    assert colouring.fill_of((0, whole, head)).hued
    assert not colouring.fill_of((0, whole)).hued


@pytest.mark.parametrize("place", ["scores", "slice", "input"])
def test_attention_with_a_bias_from_a_table_of_positions_has_its_colour(place: str) -> None:
    def op(kind: str, *inputs: str) -> dict[str, Any]:
        return {"name": f"Net/Attention[a]/{kind}{len(nodes)}", "op": f"aten::{kind}", "input": inputs}

    def add(kind: str, *inputs: str) -> str:
        nodes.append(op(kind, *inputs))
        return str(nodes[-1]["name"])

    def weight(name: str) -> str:
        nodes.append({"name": f"Net/Attention[a]/{name}/weight", "op": "Parameter"})
        return str(nodes[-1]["name"])

    nodes: list[dict[str, Any]] = [{"name": "x", "op": "Placeholder"}, {"name": "places", "op": "Placeholder"}]
    table = add("embedding", weight("table"), "places")
    x = add("add", "x", table) if place == "input" else "x"
    query, key, value = (add("linear", x, weight(name)) for name in "qkv")
    scores = add("matmul", query, key)
    if place != "input":
        scores = add("add", scores, add("permute" if place == "scores" else "slice", table))
    add("linear", add("matmul", add("softmax", scores), value), weight("o"))
    read = load(GraphDef(node=nodes)).hierarchy
    row = read.name.index("Net/Attention[a]")
    (kind,) = group_kinds(read, op_kinds(read), [row])
    assert (kind == KIND_WORDS.index("attention")) is (place != "input")


def test_a_layer_whose_op_is_in_a_function_has_the_colour_of_its_kind() -> None:
    def scope(name: str) -> list[dict[str, Any]]:
        call = {"name": f"{name}/call", "op": "StatefulPartitionedCall", "input": ["x", f"{name}/kernel"]}
        return [{"name": f"{name}/kernel", "op": "VarHandleOp"}, call | {"attr": {"f": {"func": {"name": "outer"}}}}]

    def function(name: str, op: str, attr: dict[str, Any]) -> dict[str, Any]:
        arguments = [{"name": "image", "type": "DT_FLOAT"}, {"name": "kernel", "type": "DT_RESOURCE"}]
        signature = {"name": name, "input_arg": arguments, "output_arg": [{"name": "y", "type": "DT_FLOAT"}]}
        return {
            "signature": signature,
            "node_def": [{"name": "op", "op": op, "input": ["image", "kernel"], "attr": attr}],
            "ret": {"y": "op:output:0"},
        }

    graph = {
        "node": [{"name": "x", "op": "Placeholder"}, *scope("a"), *scope("b")],
        "library": {
            "function": [
                function("outer", "PartitionedCall", {"f": {"func": {"name": "inner"}}}),
                function("inner", "Conv2D", {}),
            ]
        },
    }
    read = load(GraphDef(**graph)).hierarchy
    colouring = paint(read)
    assert colouring.fill_of((read.name.index("a"),)).hued
    kinds = op_kinds(read)
    call = read.name.index("a/call")
    assert KIND_WORDS[kinds[read.op_prefix_sum[call]]] == "convolution"
