"""No edit is hidden, whatever else changed: each stands in a change of its own; and a rebuild is the same."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from graphviz_tb.diff import diff
from tests.diff.networks import EDITS, Form, blocks_of, edited, network
from tests.diff.test_causes import graph
from tests.effort import part

PLAIN = Form()
WHOLE = {
    "nothing": PLAIN,
    "order": replace(PLAIN, order=7),
    "batch": replace(PLAIN, batch=32),
    "input size": replace(PLAIN, size=20),
    "width": replace(PLAIN, width=16),
    "prefix and counters": replace(PLAIN, prefix="exp/", counter=3),
    "order and width": replace(PLAIN, order=5, width=16),
    "batch and size": replace(PLAIN, batch=8, size=20),
}
SEEDS = part(range(5), 2)


def own_words(change: Any) -> str:
    """What a change says itself, without what follows from it."""
    told = change.to_json()
    told.pop("consequences", None)
    return json.dumps(told, ensure_ascii=False)


def is_told(result: Any, place: str, word: str, counter: int) -> bool:
    """Whether one change has the place, as either graph calls it, and the word of an edit."""
    number = int(place.rpartition("_")[2])
    names = [f"block_{number}/", f'block_{number}"', f"block_{number + counter}/", f'block_{number + counter}"']
    return any(word in text and any(name in text for name in names) for text in map(own_words, result))


@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("frozen", [False, True], ids=["variables", "frozen"])
def test_each_edit_is_told_beside(whole: str, frozen: bool) -> None:
    form = replace(WHOLE[whole], frozen=frozen)
    for seed in SEEDS:
        luck = random.Random(f"{whole} {seed}")
        before, after = blocks_of(seed), blocks_of(seed)
        kinds = luck.sample(EDITS, luck.randint(1, 2))
        numbers = luck.sample(range(len(before.activation)), len(kinds))
        made = [edited(after, kind, number, luck) for kind, number in zip(kinds, numbers, strict=True)]
        old, new = network(before, replace(PLAIN, frozen=frozen)), network(after, form)
        for result in (diff(old, new), diff(new, old).inverse()):
            for kind, (place, word) in zip(kinds, made, strict=True):
                assert is_told(result, place, word, form.counter), (seed, kind, place, word, result.explain())


@pytest.mark.parametrize("function", [False, True], ids=["inlined", "functions"])
@pytest.mark.parametrize("frozen", [False, True], ids=["variables", "frozen"])
def test_a_rebuild_is_the_same(function: bool, frozen: bool) -> None:
    form = replace(PLAIN, function=function, frozen=frozen)
    for seed in SEEDS:
        blocks = blocks_of(seed)
        again = network(blocks, replace(form, order=seed + 11, counter=seed))
        result = diff(network(blocks, form), again)
        assert not result, (seed, result.explain())


@pytest.mark.parametrize("key", ["function", "frozen"])
def test_an_edit_is_told_beside_another_form(key: str) -> None:
    for seed in SEEDS:
        luck = random.Random(f"{key} {seed}")
        before, after = blocks_of(seed), blocks_of(seed)
        kind = luck.choice(EDITS)
        place, word = edited(after, kind, luck.randrange(len(after.activation)), luck)
        old, new = network(before, PLAIN), network(after, replace(PLAIN, **{key: True}))
        result = diff(old, new)
        assert is_told(result, place, word, 0), (seed, kind, place, word, result.explain())


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("apart", ["", "beside another width"])
def test_frozen_weights_are_one_change(turned: bool, apart: str) -> None:
    blocks = blocks_of(1)
    forms = [PLAIN, replace(PLAIN, frozen=True, width=16 if apart else PLAIN.width)]
    old, new = (network(blocks, form) for form in (forms[::-1] if turned else forms))
    (frozen,) = (change for change in diff(old, new) if change.severity == "op")
    values = ["constants", "variables"] if turned else ["variables", "constants"]
    assert [frozen.detail[key] for key in ("key", "old", "new")] == ["weights", *values]


@pytest.mark.parametrize("turned", [False, True])
def test_constants_at_the_reads_of_variables_of_other_names_are_frozen_weights(turned: bool) -> None:
    layers = ("a", "x"), ("b", "m/a/Elu")
    states = [f"{name}/kernel VarHandleOp" for name, _ in layers]
    states += [f"m/{name}/Cast/Read ReadVariableOp {name}/kernel" for name, _ in layers]
    frozen = [f"m/{name}/Cast/Read/resource Const" for name, _ in layers]
    frozen += [f"m/{name}/Cast/Read Identity m/{name}/Cast/Read/resource" for name, _ in layers]
    ops = [f"m/{name}/{line}" for name, given in layers for line in
           (f"MatMul MatMul {given} m/{name}/Cast/Read", f"Elu Elu m/{name}/MatMul")]  # fmt: skip
    sides = [graph("x Placeholder", *lines, *ops) for lines in (states, frozen)]
    (change,) = diff(*(sides[::-1] if turned else sides))
    values = ["constants", "variables"] if turned else ["variables", "constants"]
    assert [change.detail[key] for key in ("key", "old", "new")] == ["weights", *values]


def test_an_edit_of_one_of_several_equal_layers_is_told_beside_theirs() -> None:
    # three layers with the same edit; in the second one another op changed too
    old = ["x Placeholder", *(f"m/{name}/Relu Relu m/{name}/MatMul" for name in "abc"), "m/b/act Sigmoid m/b/Relu"]
    old += ["m/a/MatMul MatMul x", "m/b/MatMul MatMul m/a/Relu", "m/c/MatMul MatMul m/b/act"]
    new = [line.replace("/Relu Relu", "/Relu Elu").replace("act Sigmoid", "act Tanh") for line in old]
    said = sorted((change.detail["old"], change.detail["new"]) for change in diff(graph(*old), graph(*new)))
    assert said == [("Relu", "Elu"), ("Sigmoid", "Tanh")]


def sized(batch: int | None, *, width: int = 6, op: str = "Relu") -> Any:
    """x ─▶ its shape, a list of sizes with the batch, a fill ─▶ a layer; of a known batch these are constants."""
    lines = ["x Placeholder", "m/first=0 Const", f"m/width={width} Const"]
    if batch is None:
        lines += ["m/axis=0 Const", "m/one=1 Const", "m/Shape Shape x",
                  "m/Slice StridedSlice m/Shape m/axis m/one m/one", "m/Pack Pack m/Slice m/width",
                  "m/zeros Fill m/Pack m/first"]  # fmt: skip
    else:
        lines += ["m/Pack Const", "m/zeros Const"]
    made = graph(*lines, "m/Reshape Reshape x m/Pack", f"m/act {op} m/Reshape", "m/sum AddV2 m/act m/zeros")
    for size in (-1 if batch is None else batch, 12):
        made.node[0].attr["shape"].shape.dim.add(size=size)
    for node in made.node:
        if node.op in ("StridedSlice", "Pack", "Mul"):
            node.attr["T"].type = 3
        if node.op == "StridedSlice":
            node.attr["shrink_axis_mask"].i = 1
        if node.name in ("m/axis", "m/one"):
            node.attr["value"].tensor.tensor_shape.dim.add(size=1)
        if node.op == "Const" and batch and node.name in ("m/Pack", "m/zeros"):
            node.attr["value"].Clear()
            tensor = node.attr["value"].tensor
            sizes = [2] if node.name == "m/Pack" else [batch, width]
            tensor.dtype = 3 if node.name == "m/Pack" else 1
            node.attr["dtype"].type = tensor.dtype
            for size in sizes:
                tensor.tensor_shape.dim.add(size=size)
            tensor.int_val.extend([batch, width] if tensor.dtype == 3 else [])
            tensor.float_val.extend([0.0] if tensor.dtype == 1 else [])
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_what_a_known_batch_makes_constant_follows_from_it(turned: bool) -> None:
    def told(old: Any, new: Any) -> list[str]:
        result = diff(new, old).inverse() if turned else diff(old, new)
        return sorted(f"{change.detail.get('key')} {change.detail.get('new')}" for change in result)

    assert told(sized(None), sized(8)) == ["batch size 8"]
    assert told(sized(None), sized(8, op="Elu")) == ["batch size 8", "op Elu"]
    # The list of sizes has another number too, and that is no consequence.
    assert told(sized(None), sized(8, width=3)) == ["batch size 8", "op Const", "width 3"]


def counted(known: bool, factor: int = 12, fill: float = 0.0) -> Any:
    """x ─▶ the number of its rows times 12 ─▶ a fill ─▶ added to it; of a known batch, 8, both are constants."""
    lines = ["x Placeholder", "m/axis=0 Const", "m/one=1 Const", "m/factor=12 Const", "m/value=0 Const"]
    lines += ["m/count Const", "m/fill Const"] if known else [
        "m/Shape Shape x", "m/Slice StridedSlice m/Shape m/axis m/one m/one", "m/count Mul m/Slice m/factor",
        "m/dims Pack m/Slice m/factor", "m/fill Fill m/dims m/value"]  # fmt: skip
    made = graph(*lines, "m/range Range m/axis m/count m/one", "m/act Relu x", "m/sum AddV2 m/act m/fill")
    for size in (8 if known else -1, 12):
        made.node[0].attr["shape"].shape.dim.add(size=size)
    for node in made.node:
        tensor = node.attr["value"].tensor if node.op == "Const" else None
        if node.op in ("StridedSlice", "Pack", "Mul", "Range"):
            node.attr["T"].type = 3
        if node.op == "StridedSlice":
            node.attr["shrink_axis_mask"].i = 1
        if node.name in ("m/axis", "m/one") and tensor is not None:
            tensor.tensor_shape.dim.add(size=1)
        if node.name in ("m/value", "m/fill") and tensor is not None:
            tensor.Clear()
            tensor.dtype = 1
            tensor.float_val.append(fill if known else 0.0)
            for size in (8, 12) if node.name == "m/fill" else ():
                tensor.tensor_shape.dim.add(size=size)
        if node.name == "m/count" and tensor is not None:
            tensor.int_val[:] = [8 * factor]
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_a_multiple_of_the_batch_is_proven(turned: bool) -> None:
    def told(old: Any, new: Any) -> list[str]:
        result = diff(new, old).inverse() if turned else diff(old, new)
        return sorted(f"{change.detail.get('key')} {change.detail.get('new')}" for change in result)

    assert told(counted(False), counted(True)) == ["batch size 8"]
    # 8·6 is a multiple of the batch too, and ones have the shape of zeros.
    assert told(counted(False), counted(True, factor=6)) == ["batch size 8", "op Const"]
    assert "op Const" in told(counted(False), counted(True, fill=1.0))


def precise(half: bool, op: str = "Relu") -> Any:
    """x ─▶ two equal layers with captured weights, each with a norm; half precision puts casts before the products."""
    lines, before = ["x Placeholder"], "x"
    for layer in "ab":
        kernel = f"m/{layer}/dot/Cast" if half else f"m/{layer}/dot"
        lines += [f"{kernel}/Read/resource Placeholder", f"{kernel}/Read ReadVariableOp {kernel}/Read/resource"]
        lines += [f"{kernel} Cast {kernel}/Read", f"m/{layer}/dot MatMul {before} {kernel}"] * half
        lines += [f"m/{layer}/dot MatMul {before} {kernel}/Read"] * (not half)
        lines += [f"m/{layer}/n/Cast Cast m/{layer}/dot"] * half
        before = f"m/{layer}/n/Cast" if half else f"m/{layer}/dot"
        for number, kind in enumerate(("Mul", "AddV2", "Sub"), 2 if half else 1):
            handle = f"m/{layer}/n/Cast_{number}/Read"
            lines += [f"{handle}/resource Placeholder", f"{handle} ReadVariableOp {handle}/resource"]
            lines.append(f"m/{layer}/n/{kind} {kind} {before} {handle}")
            before = f"m/{layer}/n/{kind}"
    made = graph(*lines, f"m/act {op} {before}", "m/out Softmax m/act")
    for node in made.node:
        if node.op in ("MatMul", "Relu", "Elu", "Softmax"):
            node.attr["T"].type = 19 if half and node.op == "MatMul" else 1
        if node.op == "Cast":
            node.attr["SrcT"].type, node.attr["DstT"].type = (19, 1) if "/n/" in node.name else (1, 19)
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_reads_behind_casts_are_no_other_weights(turned: bool) -> None:
    def keys(old: Any, new: Any) -> list[str]:
        return sorted(str(change.detail.get("key")) for change in (diff(new, old) if turned else diff(old, new)))

    assert keys(precise(False), precise(True)) == ["dtype"]
    assert keys(precise(False), precise(True, "Elu")) == ["dtype", "op"]


def compared(bound: float, half: bool, carrier: str = "Cast") -> Any:
    """x ─▶ compared with a number, in half precision through a cast ─▶ out."""
    made = graph("x Placeholder", "bound Const", *[f"bound/Cast {carrier} bound"] * half,
                 f"m/Greater Greater x {'bound/Cast' if half else 'bound'}", "m/out Softmax m/Greater")  # fmt: skip
    tensor = made.node[1].attr["value"].tensor
    tensor.Clear()
    tensor.dtype = 1
    tensor.float_val.append(bound)
    made.node[-2].attr["T"].type = 19 if half else 1
    if half:
        made.node[2].attr["SrcT"].type, made.node[2].attr["DstT"].type = 1, 19
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_a_number_behind_a_cast_is_told(turned: bool) -> None:
    def numbers(old: Any, new: Any) -> list[set[Any]]:
        changes = diff(new, old) if turned else diff(old, new)
        return [{change.detail["old"], change.detail["new"]} for change in changes if change.key != "dtype"]

    assert numbers(compared(0.5, False), compared(0.5, True)) == []
    assert numbers(compared(0.5, False), compared(0.25, True)) == [{0.5, 0.25}]
    assert numbers(compared(0.5, True), compared(0.25, True)) == [{0.5, 0.25}]


def test_a_number_that_pytorch_clones_is_told() -> None:
    (change,) = diff(compared(1e4, True, "aten::lift_fresh_copy"), compared(1e3, True, "aten::lift_fresh_copy"))
    assert (change.detail["old"], change.detail["new"]) == (1e4, 1e3)
