"""No edit hides another: what does not follow by derivation is an edit of its own."""

from __future__ import annotations

from typing import Any

import pytest

from graphviz_tb.diff import diff
from tests.diff.pairs import copied
from tests.diff.test_causes import graph, told

MODEL = ("x Placeholder", "w VarHandleOp", "v VarHandleOp", "w/Read ReadVariableOp w", "v/Read ReadVariableOp v",
         "m/a/MatMul MatMul x w/Read", "m/b/MatMul MatMul m/a/MatMul v/Read", "gradients/w MatMul m/a/MatMul",
         "gradients/v MatMul m/b/MatMul", "rate ReadVariableOp r", "r VarHandleOp")  # fmt: skip
CLIP = ("clip/norm/Pack Pack gradients/w gradients/v", "clip/norm/Sqrt Sqrt clip/norm/Pack",
        "clip/w Mul gradients/w clip/norm/Sqrt", "clip/v Mul gradients/v clip/norm/Sqrt")  # fmt: skip
DECAY = ("decay/Cos Cos rate", "decay/Mul Mul decay/Cos rate")


def step(clipped: bool = False, decayed: bool = False) -> Any:
    """x ─▶ two layers ─▶ their gradients ─▶ clipped or not ─▶ two updates, with a rate that may decay."""
    scope, rate = "clip" if clipped else "gradients", "decay/Mul" if decayed else "rate"
    updates = [f"update/{name} ResourceApplyGradientDescent {name} {rate} {scope}/{name}" for name in "wv"]
    return graph(*MODEL, *(CLIP if clipped else ()), *(DECAY if decayed else ()), *updates)


def test_a_schedule_is_no_consequence_of_clipping() -> None:
    assert [change[2] for change in told(diff(step(), step(decayed=True)))] == ["decay"]
    assert [change[2] for change in told(diff(step(), step(clipped=True)))] == ["clip"]
    both = told(diff(step(), step(clipped=True, decayed=True)))
    assert [change[2] for change in both] == ["clip", "decay"]
    assert [change[0] for change in told(diff(step(clipped=True, decayed=True), step()))] == ["removed", "removed"]


def layers(*widths: int) -> Any:
    """x ─▶ layers of such widths with frozen weights, an activation in all but the last."""
    lines, before = ["x Placeholder"], "x"
    for number in range(1, len(widths)):
        lines += [f"m/d_{number}/w Const", f"m/d_{number}/MatMul MatMul {before} m/d_{number}/w"]
        if number < len(widths) - 1:
            lines.append(f"m/d_{number}/Relu Relu m/d_{number}/MatMul")
        before = lines[-1].split()[0]
    made = graph(*lines, f"m/out/Softmax Softmax {before}")
    weights = (node for node in made.node if node.op == "Const")
    for node, rows, columns in zip(weights, widths, widths[1:], strict=False):
        tensor = node.attr["value"].tensor
        tensor.Clear()
        tensor.dtype = 1
        for size in (rows, columns):
            tensor.tensor_shape.dim.add(size=size)
        tensor.float_val.append(0.5)
    return made


def test_an_inserted_layer_is_told_not_the_size_of_its_neighbour() -> None:
    (change,) = diff(layers(8, 64, 32), layers(8, 64, 48, 32))
    assert change.kind == "added"
    (follows,) = change.consequences
    assert (follows.detail["old"], follows.detail["new"]) == ("64×32", "48×32")


def saved(scope: str) -> Any:
    """A layer with its weight, a step counter, and a saver that lists both by name."""
    made = graph("x Placeholder", f"{scope}/w VarHandleOp", "global_step VarHandleOp",
                 f"{scope}/w/Read ReadVariableOp {scope}/w", "global_step/Read ReadVariableOp global_step",
                 f"{scope}/MatMul MatMul x {scope}/w/Read", f"{scope}/Relu Relu {scope}/MatMul",
                 "save/names Const")  # fmt: skip
    save = made.node.add(name="save/SaveV2", op="SaveV2", input=["save/names"])
    restore = made.node.add(name="save/RestoreV2", op="RestoreV2", input=["save/names"])
    for place, (name, dtype) in enumerate(sorted([("global_step", 9), (f"{scope}/w", 1)])):
        save.input.append(f"{name}/Read")
        made.node.add(name=f"save/{name}", op="AssignVariableOp", input=[name, f"save/RestoreV2:{place}"])
        for node in (save, restore):
            node.attr["dtypes"].list.type.append(dtype)
    return made


def test_a_rename_does_not_reach_the_lists_of_savers() -> None:
    changes = diff(saved("decoder"), saved("transformer"))
    assert set(changes.kinds) == {"renamed"}
    other = saved("decoder")
    other.node[-4].attr["dtypes"].list.type[0] = 3
    assert not diff(saved("decoder"), other).same


def stacked(after: bool, end: str = "m/out") -> Any:
    """x ─▶ four blocks, each with a norm before the layer, or after the sum, that the sum goes round."""
    lines, before = ["x Placeholder"], "x"
    for number in range(4):
        scope = f"m/b_{number}"
        taken = before if after else f"{scope}/norm/Rsqrt"
        lines += [f"{scope}/fc/MatMul MatMul {taken}", f"{scope}/act/Relu Relu {scope}/fc/MatMul",
                  f"{scope}/sum/AddV2 AddV2 {before} {scope}/act/Relu"]  # fmt: skip
        lines.append(f"{scope}/norm/Rsqrt Rsqrt {f'{scope}/sum/AddV2' if after else before}")
        before = f"{scope}/norm/Rsqrt" if after else f"{scope}/sum/AddV2"
    return graph(*lines, f"{end}/Softmax Softmax {before}")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("more", [0, 4])
def test_another_activation_and_a_layer_behind_it_are_two_edits(turned: bool, more: int) -> None:
    # whichever of the two graphs is the one that the other is matched with
    start = ("x Placeholder", "m/fc/MatMul MatMul x")
    plain = graph(*start, "m/fc/Tanh Tanh m/fc/MatMul", "m/out/MatMul MatMul m/fc/Tanh",
                  *(f"m/out/op{at} Op{at} m/out/MatMul" for at in range(more)))  # fmt: skip
    other = graph(*start, "m/fc/Relu Relu m/fc/MatMul", "m/drop/Greater GreaterEqual m/fc/Relu",
                  "m/drop/SelectV2 SelectV2 m/drop/Greater m/fc/Relu", "m/out/MatMul MatMul m/drop/SelectV2",
                  *(f"m/out/op{at} Op{at} m/out/MatMul" for at in range(more)))  # fmt: skip
    changes = diff(other, plain) if turned else diff(plain, other)
    assert changes.kinds == {"removed" if turned else "added": 1, "changed": 1}
    drop, activation = sorted(changes, key=lambda change: change.kind == "changed")
    assert drop.name == "m/drop"
    assert {activation.detail["old"], activation.detail["new"]} == {"Tanh", "Relu"}


def tower(activation: str, skip: bool) -> Any:
    """x ─▶ a layer ─▶ activation ─▶ a layer, whose result may be joined with the activation's."""
    lines = ["x Placeholder", "w Const", "m/in/MatMul MatMul x w",
             f"m/{activation}_1/act {activation} m/in/MatMul",
             "m/up/w Const", f"m/up/MatMul MatMul m/{activation}_1/act m/up/w"]  # fmt: skip
    joined = [f"m/cat/ConcatV2 ConcatV2 m/{activation}_1/act m/up/MatMul"] if skip else []
    taken = "m/cat/ConcatV2" if skip else "m/up/MatMul"
    return graph(*lines, *joined, "m/out/w Const", f"m/out/MatMul MatMul {taken} m/out/w")


@pytest.mark.parametrize("turned", [False, True])
def test_another_activation_and_a_skip_that_goes_are_two_edits(turned: bool) -> None:
    old, new = tower("Relu", True), tower("Elu", False)
    told_changes = told(diff(new, old) if turned else diff(old, new))
    assert {change[0] for change in told_changes} == {"added" if turned else "removed", "changed"}
    assert "m/cat" in str(told_changes)


def normed(biased: bool, centred: bool) -> Any:
    """x ─▶ convolution ─▶ a bias or none ─▶ a norm by the size of its input, or by its variance ─▶ a layer."""
    end = "m/conv/BiasAdd" if biased else "m/conv/Conv2D"
    lines = ["x Placeholder", "m/conv/w Const", "m/conv/Conv2D Conv2D x m/conv/w",
             f"m/norm/mean Mean {end}", "m/norm/gamma Const"]  # fmt: skip
    if biased:
        lines += ["m/conv/b Const", "m/conv/BiasAdd BiasAdd m/conv/Conv2D m/conv/b"]
    if centred:
        lines += [f"m/norm/away SquaredDifference {end} m/norm/mean", "m/norm/variance Mean m/norm/away",
                  "m/norm/Rsqrt Rsqrt m/norm/variance", f"m/norm/sub Sub {end} m/norm/mean",
                  "m/norm/mul_2 Mul m/norm/sub m/norm/Rsqrt", "m/norm/out AddV2 m/norm/mul_2 m/norm/gamma"]  # fmt: skip
    else:
        lines += ["m/norm/Rsqrt Rsqrt m/norm/mean", "m/norm/mul Mul m/norm/Rsqrt m/norm/gamma",
                  f"m/norm/mul_1 Mul {end} m/norm/mul", "m/norm/out AddV2 m/norm/mul_1 m/norm/mean"]  # fmt: skip
    return graph(*lines, "m/out/w Const", "m/out/MatMul MatMul m/norm/out m/out/w")


@pytest.mark.parametrize("turned", [False, True])
def test_a_norm_of_another_class_hides_no_bias_in_front_of_it(turned: bool) -> None:
    sides = normed(True, False), normed(False, True)
    changes = diff(*(sides[::-1] if turned else sides))
    classes = ["RMSNormalization", "LayerNormalization"]
    said = [(change.name, change.detail.get("old"), change.detail.get("new")) for change in changes]
    exchange = ("m/norm", *(classes[::-1] if turned else classes))
    assert said == [("m/conv/BiasAdd", None, None), exchange]


def summed(behind: bool, whole: bool) -> Any:
    """Three layers in a row with a sum around each, not around the second unless `whole`, and an op behind each."""
    lines, before = ["x Placeholder"], "x"
    for number in range(3):
        lines += [f"m/fc_{number}/w Const", f"m/fc_{number}/MatMul MatMul {before} m/fc_{number}/w"]
        taken = f"m/fc_{number}/MatMul"
        if behind:
            lines.append(f"m/post_{number}/Softsign Softsign {taken}")
            taken = f"m/post_{number}/Softsign"
        if whole or number != 1:
            lines.append(f"m/add_{number}/AddV2 AddV2 {before} {taken}")
            taken = f"m/add_{number}/AddV2"
        before = taken
    return graph(*lines, f"m/out/Softmax Softmax {before}")


@pytest.mark.parametrize("turned", [False, True])
def test_a_sum_that_goes_is_not_replaced_by_what_comes_everywhere(turned: bool) -> None:
    old, new = summed(False, True), summed(True, False)
    changes = diff(new, old) if turned else diff(old, new)
    assert changes.kinds == {"added": 1, "removed": 1}
    assert sorted(1 + len(change.also) for change in changes) == [1, 3]


@pytest.mark.parametrize("after", [False, True])
def test_what_went_behind_another_order_hides_it_not(after: bool) -> None:
    # norms before the layers and one behind the last block, then after the sums and none behind
    old, new = stacked(after, "m/last"), stacked(not after, "m/last")
    first = copied(old)
    first.node.add(name="m/final/Log", op="Log", input=[first.node[-1].input[0]])
    first.node[-2].input[0] = "m/final/Log"
    changes = diff(first, new)
    assert changes.kinds == {"removed": 1, "rewired": 1}
    removed, order = changes
    assert removed.old == "m/final"
    assert order.detail["order"]["blocks"] == 4
    assert len(removed.edits.inputs) == 1


def test_another_order_is_shown_in_a_block() -> None:
    # what is behind the blocks takes another tensor, too, and comes first by name
    changes = diff(stacked(False, "m/a/first"), stacked(True, "m/a/first"))
    drawn = changes.picture()
    opened = [box.address for box in drawn.scene.boxes if box.open]
    assert any(address.startswith("m/b_") for address in opened)
    assert "m/a" not in opened
    assert not any("other places" in row.label + row.more for row in drawn.paint.legend)


def test_another_order_in_several_blocks_is_said_once() -> None:
    changes = diff(stacked(False), stacked(True))
    (change,) = changes
    order = change.detail["order"]
    assert order["blocks"] == 4
    assert order["old"].index("norm") < order["old"].index("sum")
    assert order["new"].index("norm") > order["new"].index("sum")
    assert "norm  after sum instead of before fc, in 4 blocks" in changes.explain()
    assert diff(stacked(True), stacked(False)).items == changes.inverse().items


def averaged(names: str, scheduled: bool) -> Any:
    """Layers in a row, and a step that counts itself and updates each weight, with a rate that may follow a cosine."""
    lines, before = ["x Placeholder", "it VarHandleOp", "r VarHandleOp"], "x"
    if scheduled:
        lines += ["opt/cosine/it ReadVariableOp it", "opt/cosine/Cos Cos opt/cosine/it",
                  "opt/cosine/Mul Mul opt/cosine/Cos"]  # fmt: skip
    for at, name in enumerate(names):
        lines += [f"{name} VarHandleOp", f"{name}/Read ReadVariableOp {name}",
                  f"m/{name}/MatMul MatMul {before} {name}/Read", f"gradients/{name} MatMul m/{name}/MatMul",
                  f"opt/it_{at} ReadVariableOp it", f"opt/Pow_{at} Pow opt/it_{at}"]  # fmt: skip
        lines += [] if scheduled else [f"opt/rate_{at} ReadVariableOp r"]
        rate = "opt/cosine/Mul" if scheduled else f"opt/rate_{at}"
        lines += [f"opt/Mul_{at} Mul gradients/{name} {rate}", f"opt/sub_{at} Sub opt/Mul_{at} opt/Pow_{at}",
                  f"opt/AssignSub_{at} AssignSubVariableOp {name} opt/sub_{at}"]  # fmt: skip
        before = f"m/{name}/MatMul"
    return graph(*lines, f"m/out/Softmax Softmax {before}")


@pytest.mark.parametrize("turned", [False, True])
def test_a_schedule_is_no_consequence_of_a_new_layer_whose_update_takes_it(turned: bool) -> None:
    pair = averaged("wv", False), averaged("wvz", True)
    changes = diff(*(pair[::-1] if turned else pair))
    assert len(changes) == 2
    assert any("cosine" in str(change.detail) or "cosine" in change.name for change in changes)


def trained(pooled: bool, square: bool) -> Any:
    """x ─▶ a layer ─▶ its mean or its first row ─▶ a layer ─▶ one of two losses; and the gradients of both layers. The
    only mean of the graph, of the layer or of the loss, is printed."""
    pool = "m/Mean Mean m/a/MatMul" if pooled else "m/slice StridedSlice m/a/MatMul"
    loss = ["mse/sub Sub m/b/MatMul y", "mse/Square Square mse/sub", "mse/Mean Mean mse/Square"]
    other = ["cce/Log LogSoftmax m/b/MatMul", "cce/mul Mul cce/Log y", "cce/Sum Sum cce/mul"]
    end = "mse/Mean" if square else "cce/Sum"
    lines = ["x Placeholder", "y Placeholder", *(f"{name} VarHandleOp" for name in "wv")]
    lines += [f"{name}/Read ReadVariableOp {name}" for name in "wv"]
    lines += ["m/a/MatMul MatMul x w/Read", pool, f"m/b/MatMul MatMul {pool.split()[0]} v/Read"]
    lines += loss if square else other
    lines += [f"gradients/v MatMul {pool.split()[0]} {end}", "gradients/w MatMul x gradients/v", "rate Const"]
    lines.append(f"watch/Print Print {'m/Mean' if pooled else end} x")
    lines += [f"update/{name} ResourceApplyGradientDescent {name} rate gradients/{name}" for name in "wv"]
    return graph(*lines)


@pytest.mark.parametrize("turned", [False, True])
def test_the_mean_of_a_loss_is_no_pooling(turned: bool) -> None:
    pair = trained(True, False), trained(False, True)
    changes = diff(*(pair[::-1] if turned else pair))
    # Beside the same op, with the same label: only the part of the program tells both means apart.
    assert "moved" not in changes.kinds
    assert not any("m/b/MatMul" in str(change.detail.get("wires", "")) for change in changes)
    words = [f"{change.detail.get('old')} {change.detail.get('new')}" for change in changes]
    assert any("Mean" in word and "StridedSlice" in word for word in words)


def decayed(names: str, decays: bool) -> Any:
    """Layers in a row with captured weights and their updates; a decay may read each weight and make it less."""
    lines, before = ["x Placeholder", "rate Const"], "x"
    for at, name in enumerate(names):  # handles have the numbers of their places
        read = f"m/{name}/Read"
        lines += [f"handle_{at} Placeholder", f"{read} ReadVariableOp handle_{at}",
                  f"m/{name}/MatMul MatMul {before} {read}", f"gradients/{name} MatMul m/{name}/MatMul",
                  f"opt/Apply_{name} ResourceApplyGradientDescent handle_{at} rate gradients/{name}"]  # fmt: skip
        if decays:
            lines += [f"opt/Read_{name} ReadVariableOp handle_{at}", f"opt/mul_{name} Mul opt/Read_{name} rate",
                      f"opt/Sub_{name} AssignSubVariableOp handle_{at} opt/mul_{name}"]  # fmt: skip
        before = f"m/{name}/MatMul"
    made = graph(*lines, f"m/out/Softmax Softmax {before}")
    for node in made.node:
        if node.name.startswith("handle"):
            node.attr["dtype"].type = 20
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_a_layer_is_no_decay_of_weights(turned: bool) -> None:
    pair = decayed("abcd", True), decayed("abecd", False)
    changes = diff(*(pair[::-1] if turned else pair))
    assert len(changes) == 2
    assert {change.name: change.kind for change in changes}["m/e"] == ("removed" if turned else "added")


@pytest.mark.parametrize("turned", [False, True])
def test_a_sum_of_the_model_is_none_of_gradients(turned: bool) -> None:
    # both are called `add`, at the top of the graph
    def made(skip: bool, noisy: bool) -> Any:
        lines = ["x Placeholder", "w VariableV2", "w/read Identity w", "fc/MatMul MatMul x w/read"]
        lines += ["add AddV2 x fc/MatMul"] if skip else []
        lines += [f"loss/Mean Mean {'add' if skip else 'fc/MatMul'}", "gradients/w_grad MatMul x loss/Mean"]
        lines += ["noise RandomStandardNormal", "add AddV2 gradients/w_grad noise"] if noisy else []
        taken = "add" if noisy else "gradients/w_grad"
        return graph(*lines, "rate Const", f"train/update ApplyGradientDescent w rate {taken}")

    old, new = made(True, False), made(False, True)
    changes = diff(new, old) if turned else diff(old, new)
    assert changes.kinds == {"added": 1, "removed": 1}


@pytest.mark.parametrize("turned", [False, True])
def test_sums_that_go_are_not_replaced_by_a_block_behind_the_last(turned: bool) -> None:
    def blocks(summed: bool, count: int) -> Any:
        lines, before = ["x Placeholder"], "x"
        for at in range(count):
            lines += [f"m/fc_{at}/w Const", f"m/fc_{at}/MatMul MatMul {before} m/fc_{at}/w",
                      f"m/norm_{at} Rsqrt m/fc_{at}/MatMul", f"m/act_{at} Tanh m/norm_{at}"]  # fmt: skip
            lines += [f"m/add_{at} AddV2 {before} m/act_{at}"] if summed else []
            before = lines[-1].split()[0]
        return graph(*lines, f"m/out/Softmax Softmax {before}")

    pair = blocks(True, 3), blocks(False, 4)
    changes = diff(*(reversed(pair) if turned else pair))
    assert changes.kinds == {"added": 1, "removed": 1}
    sums = next(change for change in changes if change.kind == ("added" if turned else "removed"))
    assert sums.detail["op_types"] == {"AddV2": 3}


@pytest.mark.parametrize("turned", [False, True])
def test_other_ops_in_both_branches_of_a_condition_are_two_edits(turned: bool) -> None:
    def branches(then: str, other: str) -> Any:
        lines = ["x Placeholder", "w Const", "stem/MatMul MatMul x w"]
        for word, op, joined in (("then", then, "Mul"), ("else", other, "Sub")):
            scope = f"branch/cond/{word}/_1/branch/cond"
            lines += [f"{scope}/{op} {op} stem/MatMul", f"{scope}/{joined} {joined} {scope}/{op} {scope}/{op}"]
        ends = [line.split()[0] for line in (lines[-3], lines[-1])]
        return graph(*lines, f"branch/cond/Merge Merge {' '.join(ends)}", "head/MatMul MatMul branch/cond/Merge w")

    pair = branches("Relu", "Tanh"), branches("Elu", "Exp")
    changes = diff(*(reversed(pair) if turned else pair))
    words = {(change.detail["old"], change.detail["new"]) for change in changes}
    assert words == ({("Elu", "Relu"), ("Exp", "Tanh")} if turned else {("Relu", "Elu"), ("Tanh", "Exp")})


def looping(limit: int, activation: str, width: int = 4, dtype: int = 1, state: bool = False) -> Any:
    """A loop with a condition and a body; the number of its steps is a constant of the condition."""
    made = graph("x Placeholder", "w VariableV2", "w/read Identity w", "m/MatMul MatMul x w/read",
                 "m/while While m/MatMul", "m/out/Softmax Softmax m/while")  # fmt: skip
    made.node[0].attr["dtype"].type = made.node[1].attr["dtype"].type = dtype
    for node in made.node[2:]:
        node.attr["T"].type = dtype
    for size in (4, width):
        made.node[1].attr["shape"].shape.dim.add(size=size)
    if state:
        made.node.add(name="m/zero", op="Const").attr["dtype"].type = dtype
        made.node[4].input.append("m/zero")
    for key, lines in {
        "cond": [f"y={limit} Const", "Less Less given y:output:0"],
        "body": [f"act {activation} given"],
    }.items():
        made.node[4].attr[key].func.name = f"m_while_{key}"
        function = made.library.function.add()
        function.signature.name = f"m_while_{key}"
        function.signature.input_arg.add(name="given", type=dtype)
        function.signature.output_arg.add(name="made", type=dtype)
        function.node_def.extend(graph(*lines).node)
        function.node_def[-1].attr["T"].type = dtype
        if state:  # the loop also counts
            function.signature.input_arg.add(name="count", type=dtype)
            function.signature.output_arg.add(name="counted", type=dtype)
            function.ret["counted"] = "count"
        function.ret["made"] = f"{function.node_def[-1].name}:y:0"
    return made


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("activation", "width", "other"), [("Sigmoid", 4, "op Tanh → Sigmoid"), ("Tanh", 7, "units")])
def test_the_steps_of_a_loop_follow_from_no_other_edit(turned: bool, activation: str, width: int, other: str) -> None:
    pair = looping(4, "Tanh"), looping(7, activation, width)
    text = diff(*(reversed(pair) if turned else pair)).explain()
    assert "Less  y 7 → 4" in text if turned else "Less  y 4 → 7" in text
    assert "2 changes" in text
    assert (" → ".join(reversed(other.removeprefix("op ").split(" → "))) if turned else other) in text


@pytest.mark.parametrize("turned", [False, True])
def test_edits_of_the_condition_and_the_body_of_a_loop_are_two_beside_another_dtype(turned: bool) -> None:
    pair = looping(4, "Tanh"), looping(7, "Sigmoid", dtype=19)
    changes = diff(*(reversed(pair) if turned else pair))
    inside = [[one.key for one in change.inside if one.key not in ("", "dtype")] for change in changes]
    assert sorted(inside) == [[], ["op"], ["y"]]


@pytest.mark.parametrize("turned", [False, True])
def test_the_steps_of_a_loop_do_not_follow_from_what_it_also_carries(turned: bool) -> None:
    pair = looping(4, "Tanh"), looping(7, "Tanh", state=True)
    changes = diff(*(reversed(pair) if turned else pair))
    assert [[one.key for one in change.inside if one.key] for change in changes if change.inside] == [["y"]]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("before", "after"), [("Mean", "Max"), ("Relu", "Tanh")])
def test_another_op_and_a_layer_in_front_of_it_are_two_edits(before: str, after: str, turned: bool) -> None:
    # x ─▶ stem ─▶ mean ─▶ fc        x ─▶ stem ─▶ mid ─▶ max ─▶ fc
    def made(op: str, *mid: str) -> Any:
        taken = "m/mid/Elu" if mid else "m/stem/MatMul"
        return graph("x Placeholder", "w Const", "m/stem/MatMul MatMul x w", *mid, f"m/{op.lower()} {op} {taken}",
                     "v Const", f"m/fc/MatMul MatMul m/{op.lower()} v")  # fmt: skip

    old = made(before)
    new = made(after, "u Const", "m/mid/MatMul MatMul m/stem/MatMul u", "m/mid/Elu Elu m/mid/MatMul")
    changes = diff(new, old) if turned else diff(old, new)
    assert changes.kinds == {"removed" if turned else "added": 1, "changed": 1}
    assert {change.name for change in changes if change.kind != "changed"} == {"m/mid"}


def lite(quantised: bool, activation: str = "RELU", scale: float = 0.5) -> Any:
    """x ─▶ two convolutions ─▶ activation; quantised, between two ops that convert."""
    made = graph("x tfl::CUSTOM_INPUT", *(["q tfl::QUANTIZE x"] if quantised else []), "m/a/w Const", "m/b/w Const",
                 f"m/a/conv tfl::CONV_2D {'q' if quantised else 'x'} m/a/w", "m/b/conv tfl::CONV_2D m/a/conv m/b/w",
                 f"m/act tfl::{activation} m/b/conv", *(["d tfl::DEQUANTIZE m/act"] if quantised else []),
                 f"m/out tfl::SOFTMAX {'d' if quantised else 'm/act'}")  # fmt: skip
    for number, node in enumerate(made.node):
        own = (quantised and node.name.startswith("m/") and node.name != "m/out") or node.name == "q"
        if node.op == "Const":
            node.attr["dtype"].type = node.attr["value"].tensor.dtype = 6 if quantised else 1
        node.attr["_output_types"].list.type.append(6 if own else 1)
        if own:
            node.attr["quantization"].s = b"int8, scale %g" % (scale if node.name == "m/act" else number)
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_quantised_numbers_are_one_edit_and_hide_no_other(turned: bool) -> None:
    def said(old: Any, new: Any) -> list[str]:
        return [change.key for change in (diff(new, old) if turned else diff(old, new))]

    assert said(lite(False), lite(True)) == ["quantization"]
    assert sorted(said(lite(False), lite(True, "RELU6"))) == ["op", "quantization"]
    # another scale is one of a network that was quantised already
    (change,) = diff(lite(True), lite(True, scale=0.25))
    assert change.name == "m/act"


def test_an_input_told_with_another_difference_of_its_layer_is_that_of_its_own_op() -> None:
    old = (
        'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } } '
        'node { name: "h/a" op: "Foo" input: "x" attr { key: "rounds" value { i: 3 } } } '
        'node { name: "h/b" op: "Bar" input: "h/a" } node { name: "h/c" op: "Baz" input: "h/b" }'
    )
    new = old.replace("i: 3", "i: 5").replace('op: "Baz" input: "h/b"', 'op: "Baz" input: "h/b" input: "^x"')
    said = diff(old.encode(), new.encode()).explain("text")
    assert "rounds 3 → 5" in said
    assert "control input of h/c: nothing → x" in said or "h/c  rewired" in said


def recording(gate: str, activation: str, kept: int) -> Any:
    """A loop that also keeps results of its steps for gradients: an argument and an output for each."""
    made = looping(4, "Tanh")
    del made.library.function[1].node_def[:]
    lines = [f"gate {gate} given", f"act {activation} gate:y:0"]
    lines += [f"push_{number} TensorListPushBack list_{number} act:y:0" for number in range(kept)]
    body = made.library.function[1]
    body.node_def.extend(graph(*lines).node)
    for number in range(kept):
        made.node.add(name=f"gradient_tape/m/list_{number}", op="EmptyTensorList")
        made.node[4].input.append(f"gradient_tape/m/list_{number}")
        for function in made.library.function:
            function.signature.input_arg.add(name=f"list_{number}", type=21)
        body.signature.output_arg.add(name=f"kept_{number}", type=21)
        body.ret[f"kept_{number}"] = f"push_{number}:output_handle:0"
    made.node[4].attr["_num_original_outputs"].i = 1 + kept
    body.ret["made"] = "act:y:0"
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_edits_in_a_loop_are_no_consequence_of_how_many_results_it_keeps(turned: bool) -> None:
    pair = recording("Sigmoid", "Tanh", 2), recording("Softsign", "Elu", 3)
    changes = diff(*(reversed(pair) if turned else pair))
    assert "_num_original_outputs" not in [change.key for change in changes]
    assert {"Elu", "Softsign", "Tanh", "Sigmoid"} <= {
        word
        for change in changes
        for one in change.inside
        for value in (one.detail.get("old"), one.detail.get("new"))
        for word in str(value).split(" + ")
    }


def cell(tanh: bool, extra: bool) -> Any:
    """x ─▶ product ─▶ both factors of another product; with or without activations, and an op before all."""
    before = "m/cell/extra" if extra else "x"
    made = ["x Placeholder", "m/cell/w VarHandleOp", "m/cell/read ReadVariableOp m/cell/w"]
    made += ["m/cell/extra Softsign x"] * extra
    made += [f"m/cell/MatMul MatMul {before} m/cell/read", "m/cell/a Neg m/cell/MatMul", "m/cell/b Abs m/cell/MatMul"]
    made += ["m/cell/Tanh Tanh m/cell/a", "m/cell/Sigmoid Sigmoid m/cell/b"] * tanh
    ends = "m/cell/Tanh m/cell/Sigmoid" if tanh else "m/cell/a m/cell/b"
    return graph(*made, f"m/cell/Mul Mul {ends}", "m/out Softmax m/cell/Mul")


@pytest.mark.parametrize("turned", [False, True])
def test_ops_that_go_are_not_exchanged_for_one_that_comes_elsewhere_in_the_layer(turned: bool) -> None:
    pair = cell(True, False), cell(False, True)
    changes = diff(*(reversed(pair) if turned else pair))
    assert changes.kinds == {"added": 1, "removed": 1}
    assert {"Tanh": 1, "Sigmoid": 1} in [dict(change.unit.op_types) for change in changes]


def scaled_step(op: str, *more: str) -> Any:
    """A layer, its gradient and an update of it, by way of an op that may take the rate."""
    return graph(*MODEL, " ".join((f"sgd/step {op} gradients/w", *more)), "sgd/more Mul sgd/step rate",
                 "sgd/AssignSub AssignSubVariableOp w sgd/more")  # fmt: skip


@pytest.mark.parametrize("turn", [False, True])
def test_an_input_that_only_one_of_two_ops_takes_follows(turn: bool) -> None:
    pair = scaled_step("Mul", "rate"), scaled_step("Neg")
    (change,) = diff(*(pair[::-1] if turn else pair))
    assert (change.key, change.name, [inner.kind for inner in change.consequences]) == ("op", "sgd/step", ["rewired"])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("old", "new"), [(b"reflect", b"border"), (0, 1), (0.5, 0.25)])
def test_settings_of_one_op_with_the_same_values_are_all_said(old: Any, new: Any, turned: bool) -> None:
    pair = []
    for value in (old, new):
        made = graph("x Placeholder", "m/sample GridSample x", "m/act Relu m/sample")
        for key in ("inside", "outside"):
            setattr(made.node[1].attr[key], {bytes: "s", int: "i", float: "f"}[type(value)], value)
        pair.append(made)
    text = diff(*(pair[::-1] if turned else pair)).explain()
    assert [key for key in ("inside", "outside") if f"{key} " not in text] == []


@pytest.mark.parametrize("turned", [False, True])
def test_the_precision_of_outputs_follows_from_no_other_output(turned: bool) -> None:
    """x ─▶ ─▶ two results, one of which has another exponent: the type of both follows from that of the input"""
    pair = []
    for dtype, exponent in ((1, 2), (19, 3)):
        made = graph("x Placeholder", f"p={exponent} Const", "power Pow x p", "mean Sigmoid x")
        for node in made.node:
            node.attr["dtype" if node.op in ("Placeholder", "Const") else "T"].type = dtype
        tensor = made.node[1].attr["value"].tensor
        tensor.Clear()
        tensor.dtype = dtype
        if dtype == 1:
            tensor.float_val.append(exponent)
        else:
            tensor.half_val.append(0x4200)  # 3.0
        pair.append(made)
    (number,) = [change for change in diff(*(pair[::-1] if turned else pair)) if change.name == "power"]
    assert number.consequences == ()
