"""Stages of networks that PyTorch traced: a trace says no shape of a weight, but those of all results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import pytest

from graphviz_tb import load
from graphviz_tb.model.hierarchy import SCOPE_ROW, SERIES_ROW, GroupOrigin
from graphviz_tb.proto import GraphDef
from tests.fold.stage_reader import score


class Trace:
    """A traced network: each module is a scope `Class[attribute]`, sizes are those of results."""

    def __init__(self) -> None:
        self.graph = GraphDef()
        self.sizes: dict[str, tuple[int, ...]] = {}
        self.image = self._write("input/x", "IO Node", [], (1, 3, 64, 64))

    def _write(self, name: str, op: str, inputs: Sequence[str], sizes: tuple[int, ...] = ()) -> str:
        node = self.graph.node.add(name=name, op=op, input=inputs)
        if sizes:
            shape = node.attr["_output_shapes"].list.shape.add()
            for size in sizes:
                shape.dim.add(size=size)
            self.sizes[name] = sizes
        return name

    def op(self, scope: str, kind: str, *inputs: str, sizes: tuple[int, ...] = ()) -> str:
        """Write an op with a result of the size of its first input, or of another."""
        return self._write(f"{scope}/{len(self.graph.node)}", f"aten::{kind}", inputs, sizes or self.sizes[inputs[0]])

    def conv(self, scope: str, x: str, width: int, stride: int = 1) -> str:
        """Write a convolution, its weight and a norm."""
        inner = f"{scope}/Conv2d[conv{len(self.graph.node)}]"
        weight = self._write(f"{inner}/weight/w{len(self.graph.node)}", "prim::GetAttr", [])
        batch, _, height, across = self.sizes[x]
        x = self.op(inner, "_convolution", x, weight, sizes=(batch, width, height // stride, across // stride))
        inner = f"{scope}/BatchNorm2d[bn{len(self.graph.node)}]"
        weight = self._write(f"{inner}/weight/w{len(self.graph.node)}", "prim::GetAttr", [])
        return self.op(inner, "batch_norm", x, weight)


def test_equal_stages_of_other_widths_are_no_stack_of_pairs() -> None:
    trace = Trace()
    x = trace.conv("Net/Stem[stem]", trace.image, 16, 2)
    for stage, width in enumerate((16, 32, 64, 128)):
        for place in range(3):
            scope = f"Net/Sequential[features]/Sequential[{2 * stage}]/Block[{place}]"
            y = trace.op(scope, "relu", trace.conv(scope, x, 2 * width))
            x = trace.op(scope, "add", x, trace.conv(scope, y, width))
        if stage < 3:
            x = trace.conv(f"Net/Sequential[features]/Sequential[{2 * stage + 1}]", x, 2 * width, 2)
    trace.op("Net/Linear[head]", "linear", x)
    hierarchy = load(trace.graph).hierarchy
    stages = [row for row in range(len(hierarchy)) if re.fullmatch(r".*/Sequential\[[0246]\]", hierarchy.name[row])]
    assert len(stages) == 4
    assert not any(hierarchy.kind[hierarchy.parent[row]] == SERIES_ROW for row in stages)
    assert not any(hierarchy.kind[hierarchy.parent[hierarchy.parent[row]]] == SERIES_ROW for row in stages)


@pytest.mark.parametrize("count", [5, 9, 14])
def test_layers_that_each_take_all_before_are_one_stack(count: int) -> None:
    trace = Trace()
    x = [trace.conv("Net/Stem[stem]", trace.image, 16, 2)]
    for number in range(1, count + 1):
        scope = f"Net/Dense[dense]/Layer[layer{number}]"
        y = trace.op(scope, "cat", *x)
        y = trace.op(scope, "relu", trace.conv(scope, y, 64))
        x = [*x, trace.conv(scope, y, 16)]
    trace.op("Net/Linear[head]", "linear", trace.op("Net/Dense[dense]", "cat", *x))
    assert score(load(trace.graph), [count]) == (1, 1)


def test_a_first_block_without_its_shortcut_is_of_its_stage() -> None:
    counts = [3, 4, 2, 5]
    trace = Trace()
    x, number = trace.conv("Net/Stem[stem]", trace.image, 16, 2), 0
    for width, count in zip((24, 48, 64, 80), counts, strict=True):
        for place in range(count):
            number += 1
            scope = f"Net/Sequential[parts]/Inverted[{number}]"
            before = trace.sizes[x][1]
            y = trace.op(scope, "relu", trace.conv(scope, x, 4 * before))
            y = trace.conv(scope, trace.op(scope, "relu", trace.conv(scope, y, 4 * before, 1 + (not place))), width)
            x = trace.op(scope, "add", x, y) if place else y
    trace.op("Net/Linear[head]", "linear", x)
    hierarchy = load(trace.graph).hierarchy
    stacks = [name for row, name in enumerate(hierarchy.name) if hierarchy.kind[row] == SERIES_ROW]
    names = [name.rpartition("/")[2] for name in stacks if name.count("/") == 2]
    assert names == ["Inverted[1-3]", "Inverted[4-7]", "Inverted[8-9]", "Inverted[10-14]"]


def test_modules_of_one_list_have_its_name_also_where_only_one_has_their_number() -> None:
    trace = Trace()
    x = trace.conv("Net/Stem[stem]", trace.image, 16, 2)
    for stage, count in enumerate((2, 5, 3)):
        for place in range(count):
            y = trace.op(f"Net/Block[{place}]", "relu", trace.conv(f"Net/Block[{place}]", x, 16 << stage))
            x = trace.conv(f"Net/Block[{place}]", y, 16 << stage, 1 + (place == count - 1))
            for node in trace.graph.node[-8:]:  # parameters have the whole path
                old = node.name
                if node.op == "prim::GetAttr":
                    node.name = old.replace("Net/", f"Net/ModuleList[stages]/ModuleList[{stage}]/")
                    for user in trace.graph.node[-8:]:
                        user.input[:] = [node.name if source == old else source for source in user.input]
    trace.op("Net/Linear[head]", "linear", x)
    hierarchy = load(trace.graph).hierarchy
    blocks = {name for name in hierarchy.name if "Block[" in name and name.count("/") == 1}
    assert {f"Net/Block[stages.{stage}.{place}]" for stage, n in enumerate((2, 5, 3)) for place in range(n)} <= blocks


def test_a_tuple_between_modules_is_in_the_module_that_calls_both() -> None:
    trace = Trace()
    x = trace.conv("Top/Net[net]/Stem[stem]", trace.image, 16)
    turn = trace.op("Top/Net[net]/Rotary[turn]", "cos", x)
    for layer in range(5):
        scope = f"Top/Net[net]/Layer[{layer}]"
        pair = trace._write(f"Top/pair{layer}", "prim::TupleConstruct", [x, turn], trace.sizes[x])
        x, y = (trace._write(f"Top/{part}{layer}", "prim::TupleUnpack", [pair], trace.sizes[x]) for part in "xy")
        y = trace.op(scope, "mul", trace.conv(scope, x, 16), y)
        x = trace.op(scope, "add", x, trace.op(scope, "relu", y))
    trace.op("Top", "relu", x)
    model = load(trace.graph)
    assert "Top/Net[net] (2)" not in model.hierarchy.name
    assert score(model, [5]) == (1, 1)
    names = [name for row, name in enumerate(model.hierarchy.name) if model.hierarchy.kind[row] == SERIES_ROW]
    assert names == ["Top/Net[net]/Layer[0-4]"]


def test_what_a_trace_packs_and_takes_apart_is_no_flow_of_its_own() -> None:
    # x, bias ─▶ TupleConstruct ─▶ TupleUnpack ×2 ─▶ layer, many times, also a tuple in a tuple; one tuple is the result
    def build(packed: bool) -> Trace:
        trace = Trace()
        x = trace.conv("Net", trace.image, 16)
        bias = trace.op("Net", "sigmoid", trace.image)
        for layer in range(5):
            parts = [x, bias]
            if packed:
                inner = trace._write(f"Net/in{layer}", "prim::TupleConstruct", [bias])
                outer = trace._write(f"Net/out{layer}", "prim::TupleConstruct", [x, inner])
                first, second = (trace._write(f"Net/{p}{layer}", "prim::TupleUnpack", [outer]) for p in "xy")
                parts = [first, trace._write(f"Net/z{layer}", "prim::TupleUnpack", [second])]
                trace.sizes |= dict.fromkeys(parts, trace.sizes[x])
            y = trace.op("Net", "mul", trace.conv("Net", parts[0], 16), parts[1])
            x = trace.op("Net", "add", parts[0], y)
        trace._write("Net/result", "prim::TupleConstruct", [x, bias])
        trace._write("output/result", "IO Node", ["Net/result"])
        return trace

    plain, packed = (load(build(way).graph) for way in (False, True))
    assert Counter(packed.hierarchy.graph.op_types[op] for op in packed.hierarchy.graph.op) == Counter(
        plain.hierarchy.graph.op_types[op] for op in plain.hierarchy.graph.op
    )
    assert score(packed, [5]) == score(plain, [5]) == (1, 1)


def test_elements_that_are_not_as_many_as_those_of_a_tuple_stay() -> None:
    trace = Trace()
    x = trace.conv("Net", trace.image, 16)
    pair = trace._write("Net/pair", "prim::TupleConstruct", [x, trace.image])
    part = trace._write("Net/part", "prim::TupleUnpack", [pair])
    trace.sizes[part] = trace.sizes[x]
    trace.op("Net", "relu", part)
    types = load(trace.graph).hierarchy.graph.op_types
    assert {"prim::TupleConstruct", "prim::TupleUnpack"} <= set(types)


@pytest.mark.parametrize(("kind", "count", "is_one"), [("lstm", 3, True), ("lstm", 4, False), ("topk", 2, True)])
def test_an_op_of_which_a_trace_has_a_node_for_each_result_is_one(kind: str, count: int, is_one: bool) -> None:
    # x ─▶ lstm, a node for the outputs and two for the states ─▶ relu, relu …; four nodes are no such layer
    trace = Trace()
    states = trace._write("Net/states", "prim::ListConstruct", [trace.image, trace.image])
    for place in range(count):
        trace._write(f"Net/{place}", f"aten::{kind}", [trace.image, states], (2, 7, 8 * (place + 1)))
    for place in range(count):
        trace.op("Net", "relu", f"Net/{place}")
    graph = load(trace.graph, folds=False).hierarchy.graph
    layers = [node for node, op in enumerate(graph.op) if graph.op_types[op] == f"aten::{kind}"]
    takes = [graph.node_def(node).input[0] for node, op in enumerate(graph.op) if graph.op_types[op] == "aten::relu"]  # type: ignore[union-attr]
    if is_one:
        assert takes == ["Net/0", "Net/0:1", "Net/0:2"][:count]
        [layer] = layers
        shapes = graph.node_def(layer).attr["_output_shapes"].list.shape  # type: ignore[union-attr]
        assert [shape.dim[2].size for shape in shapes] == [8, 16, 24][:count]
    else:
        assert len(layers) == count


def series_names(trace: Trace) -> list[str]:
    """The names of the series of a trace that are in no other, without what is around them."""
    hierarchy = load(trace.graph).hierarchy
    rows = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW]
    return [
        hierarchy.name[row].rpartition("/")[2] for row in rows if hierarchy.kind[hierarchy.parent[row]] == SCOPE_ROW
    ]


def test_blocks_of_which_every_second_weighs_channels_are_one_series() -> None:
    trace = Trace()
    x = trace.conv("Net/Stem[stem]", trace.image, 16, 2)
    for place in range(8):
        scope = f"Net/Sequential[blocks]/Block[{place}]"
        y = trace.op(scope, "relu", trace.conv(scope, x, 16))
        if not place % 2:  # a convolution of a single pixel halves nothing
            pixel = trace.op(scope, "mean", y, sizes=(1, 16, 1, 1))
            few = trace.op(scope, "relu", trace.conv(f"{scope}/Weigh[se]", pixel, 4))
            y = trace.op(scope, "mul", y, trace.op(scope, "sigmoid", trace.conv(f"{scope}/Weigh[se]", few, 16)))
        x = trace.op(scope, "add", x, trace.conv(scope, y, 16))
    trace.op("Net/Linear[head]", "linear", x)
    assert series_names(trace) == ["Block[0-7]"]


def test_the_first_two_of_alternating_blocks_are_two_of_them() -> None:
    trace = Trace()
    x = trace.conv("Net/Stem[stem]", trace.image, 16, 2)
    for place in range(10):
        scope = f"Net/Sequential[blocks]/Block[{place}]"
        if place % 2:
            y = trace.conv(scope, x, 32)
        else:
            y = trace.op(scope, "mul", *(trace.conv(scope, x, 32, 1 + (not place)) for _ in range(2)))
        x = trace.op(scope, "relu", trace.op(scope, "layer_norm", y) if place > 1 else y)
    trace.op("Net/Linear[head]", "linear", x)
    assert series_names(trace) == ["Block[0-9]"]


def test_layers_that_hand_on_a_tuple_are_one_series_though_the_first_makes_it_and_the_last_does_not() -> None:
    trace = Trace()
    x = trace.conv("Top/Net[net]/Stem[stem]", trace.image, 16)
    bias = ""
    for layer in range(5):
        scope = f"Top/Net[net]/Layer[{layer}]"
        y = trace.op(f"{scope}/Attention[inner]", "relu", trace.conv(f"{scope}/Attention[inner]", x, 16))
        for kind in ("arange", "abs", "lt", "log") if not layer else ():
            bias = trace.op(f"{scope}/Attention[inner]", kind, bias or y)
        pair = trace._write(f"Top/inner{layer}", "prim::TupleConstruct", [y, bias], trace.sizes[x])
        y, bias = (trace._write(f"Top/{part}_{layer}", "prim::TupleUnpack", [pair], trace.sizes[x]) for part in "yb")
        x = trace.op(scope, "add", x, trace.op(scope, "mul", trace.conv(scope, y, 16), bias))
        if layer < 4:
            pair = trace._write(f"Top/pair{layer}", "prim::TupleConstruct", [x, bias], trace.sizes[x])
            x, bias = (trace._write(f"Top/{part}{layer}", "prim::TupleUnpack", [pair], trace.sizes[x]) for part in "xb")
    trace.op("Top", "relu", x)
    hierarchy = load(trace.graph).hierarchy
    assert not any(re.search(r"Layer\[[0-9]\] \(2\)", name) for name in hierarchy.name)
    assert series_names(trace) == ["Layer[0-4]"]


def test_the_second_of_two_that_halve_begins_the_stage_of_the_block_behind_it() -> None:
    # A stem and a first block are equal; the next block has the same channels, and a shortcut with a norm.
    trace = Trace()
    x = trace.image
    for width, count in ((48, 1), (48, 2), (96, 4), (192, 14), (1280, 1)):
        for block in range(count):
            left, right = (trace.conv("Net", x, width, 1 if block else 2) for _ in range(2))
            y = trace.op("Net", "add", left, right)
            x = trace.op("Net", "relu", trace.op("Net", "add_", trace.op("Net", "batch_norm", x), y) if block else y)
    number = {node.name: f"n{place}" for place, node in enumerate(trace.graph.node)}
    for node in trace.graph.node:
        node.name, node.input[:] = number[node.name], [number[source] for source in node.input]
    hierarchy = load(trace.graph).hierarchy
    stacks = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW]
    sizes = [[hierarchy.op_count(member) for member in hierarchy.children(row).tolist()] for row in stacks]
    assert sizes == [[6, 8], [6, 8, 8, 8], [6, *[8] * 13]]


def attending(trace: Trace, scope: str, x: str) -> str:
    """Write a residual module that is half as large as a residual block."""
    y = trace.op(scope, "softmax", trace.conv(scope, x, 16))
    return trace.op(scope, "add", x, trace.conv(scope, trace.op(scope, "mul", y, y), 16))


def test_two_modules_of_each_container_are_one_repetition_also_where_the_first_projects() -> None:
    # Containers are not called: those of a level hold a block and what follows it. The middle begins with a block too.
    trace = Trace()
    x = trace.conv("Net/Conv[stem]", trace.image, 8)
    for place in range(3):
        scope = f"Net/Block[down.{place}.0]"
        y = trace.op(scope, "silu", trace.conv(scope, trace.op(scope, "silu", x), 16))
        y = trace.op(scope, "silu", trace.conv(scope, y, 16))
        x = trace.op(scope, "add", y, x if place else trace.conv(scope, x, 16))
        x = attending(trace, f"Net/Attend[down.{place}.1]", x)
    for name in ("first", "second"):
        scope = f"Net/Block[{name}]"
        y = trace.op(scope, "silu", trace.conv(scope, trace.op(scope, "silu", x), 16))
        x = trace.op(scope, "add", trace.op(scope, "silu", trace.conv(scope, y, 16)), x)
        x = attending(trace, "Net/Attend[middle]", x) if name == "first" else x
    trace.op("Net/Linear[head]", "linear", x)
    hierarchy = load(trace.graph).hierarchy
    stack = next(row for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW)
    inside = [
        {hierarchy.name[row].rpartition("/")[2] for row in hierarchy.children(member).tolist()}
        for member in hierarchy.children(stack).tolist()
    ]
    assert inside == [{f"Block[down.{place}.0]", f"Attend[down.{place}.1]"} for place in range(3)]


def test_layers_that_add_to_a_sum_from_the_second_on_are_one_series_though_the_last_has_no_successor() -> None:
    # The sums are beside the scopes; one is before each layer but the first two, and the last layer is smaller.
    trace = Trace()
    x, total = trace.conv("Net/Conv[stem]", trace.image, 16), ""
    for place in range(12):
        scope = f"Net/Layer[l.{place}]"
        gate = trace.op(scope, "sigmoid", trace.conv(scope, x, 16))
        gated = trace.op(scope, "mul", trace.op(scope, "tanh", trace.conv(scope, x, 16)), gate)
        x = trace.op(scope, "add", x, trace.conv(scope, gated, 16)) if place < 11 else x
        skip = trace.conv(scope, gated, 16)
        total = trace.op("Net", "add", total, skip) if total else skip
    trace.op("Net/Linear[head]", "linear", total)
    assert series_names(trace) == ["Layer[l.[0-11]]"]


def test_a_block_whose_attention_has_a_mask_is_of_the_stage_of_one_without() -> None:
    """As the shifted windows of Swin (Liu et al. 2021): a mask is written into zeros, part by part."""
    trace = Trace()

    def linear(x: str, width: int) -> str:
        weight = trace._write(f"Net/w{len(trace.graph.node)}", "prim::GetAttr", [])
        return trace.op("Net", "linear", x, weight, sizes=(1, 16, width))

    def mask(x: str) -> str:
        zeros = trace.op("Net", "new_zeros", x)
        for _ in range(9):
            trace.op("Net", "fill_", trace.op("Net", "slice", trace.op("Net", "slice", zeros)))
        left, right = (trace.op("Net", "unsqueeze", trace.op("Net", "view", zeros)) for _ in range(2))
        apart = trace.op("Net", "sub", left, right)
        return trace.op("Net", "masked_fill", apart, trace.op("Net", "ne", apart))

    def windows(x: str) -> str:
        return trace.op("Net", "reshape", trace.op("Net", "permute", trace.op("Net", "view", x)))

    def block(x: str, width: int, shifted: bool) -> str:
        y = trace.op("Net", "layer_norm", x)
        y = windows(trace.op("Net", "roll", y) if shifted else y)
        query, key, value = (trace.op("Net", "reshape", linear(y, width)) for _ in range(3))
        scores = trace.op("Net", "matmul", query, trace.op("Net", "transpose", key))
        scores = trace.op("Net", "add", scores, mask(y)) if shifted else scores
        y = trace.op("Net", "matmul", trace.op("Net", "softmax", scores), value)
        y = windows(linear(trace.op("Net", "reshape", y), width))
        y = trace.op("Net", "roll", y) if shifted else y
        x = trace.op("Net", "add", x, y)
        y = linear(trace.op("Net", "layer_norm", x), 4 * width)
        return trace.op("Net", "add", x, linear(trace.op("Net", "gelu", y), width))

    x = linear(trace.image, 32)
    for width, count in ((32, 2), (64, 2), (128, 6)):
        x = linear(trace.op("Net", "layer_norm", x), width)
        for place in range(count):
            x = block(x, width, place == 1 and width < 128)
    trace.op("Net", "mean", x)
    model = load(trace.graph)
    assert score(model, [2, 2, 6]) == (3, 3)
    masks = [row for row, how in enumerate(model.hierarchy.how.tolist()) if how == GroupOrigin.INDEX]
    assert [model.hierarchy.display_label(row) for row in masks] == ["mask", "mask"]


def test_a_norm_that_computes_its_scale_from_weights_is_one_box() -> None:
    """As the frozen batch norm of detectors."""
    trace = Trace()
    x = trace.image
    for _ in range(4):
        kernel, *made = (trace._write(f"Net/w{len(trace.graph.node)}", "prim::GetAttr", []) for _ in range(5))
        x = trace.op("Net", "_convolution", x, kernel)
        weight, bias, mean, variance = (trace.op("Net", "reshape", each, sizes=(1, 3, 1, 1)) for each in made)
        scale = trace.op("Net", "mul", weight, trace.op("Net", "rsqrt", trace.op("Net", "add", variance)))
        shift = trace.op("Net", "sub", bias, trace.op("Net", "mul", mean, scale))
        x = trace.op("Net", "relu", trace.op("Net", "add", trace.op("Net", "mul", x, scale), shift))
    trace.op("Net", "mean", x)
    hierarchy = load(trace.graph).hierarchy
    assert hierarchy.how.tolist().count(GroupOrigin.NORM) == 4


def test_layers_of_other_windows_are_no_stack() -> None:
    """Of SSD (Liu et al. 2016): 1×1 and 3×3 in turn, whose windows a trace tells by padding, dilation and sizes."""
    trace = Trace()

    def numbers(*values: int) -> str:
        name = trace._write(f"Net/n{len(trace.graph.node)}", "prim::Constant", [])
        trace.graph.node[-1].attr["attr"].s = f"{{ value : {list(values)}}}".encode()
        return name

    def conv(x: str, width: int, window: int, stride: int = 1, pad: int = 0, apart: int = 1) -> str:
        weight, bias = (trace._write(f"Net/w{len(trace.graph.node)}", "prim::GetAttr", []) for _ in range(2))
        batch, _, height, across = trace.sizes[x]
        sizes = [(size + 2 * pad - apart * (window - 1) - 1) // stride + 1 for size in (height, across)]
        told = [numbers(value, value) for value in (stride, pad, apart)]
        x = trace.op("Net", "_convolution", x, weight, bias, *told, sizes=(batch, width, sizes[0], sizes[1]))
        return trace.op("Net", "relu", x)

    x = trace.image
    for width, stride, pad in ((64, 2, 1), (96, 2, 1), (80, 1, 0), (72, 1, 0)):
        x = conv(conv(x, width // 2, 1), width, 3, stride, pad)
    for _ in range(4):
        x = conv(x, 32, 5, pad=4, apart=2)
    trace.op("Net", "mean", x)
    hierarchy = load(trace.graph).hierarchy
    stacks = [row for row, kind in enumerate(hierarchy.kind.tolist()) if kind == SERIES_ROW]
    assert [(len(hierarchy.children(row)), hierarchy.op_count(row)) for row in stacks] == [(4, 4 * 2)]
