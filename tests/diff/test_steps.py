"""Each matching step on the smallest pair of graphs that needs it: without the step the outcome is another."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.match import steps
from graphviz_tb.diff.result import Changes
from graphviz_tb.proto import GraphDef
from tests.diff import test_program_lines
from tests.diff.pairs import FIXTURES, graph_def, renamed, shuffled
from tests.diff.test_soundness import precise
from tests.each import each

INT = 3


def graph(*nodes: str) -> Any:
    """A graph from lines: name, op type, inputs; `name=3` is a constant of that value."""
    made = GraphDef()
    for line in nodes:
        name, op, *inputs = line.split()
        name, _, value = name.partition("=")
        node = made.node.add(name=name, op=op, input=inputs)
        if value:
            node.attr["value"].tensor.dtype = INT
            node.attr["value"].tensor.int_val.append(int(value))
    return made


def partner(changes: Changes, name: str) -> str:
    """What an old node is called now; "" where it has no partner."""
    assert changes.source is not None
    return next((new for old, new, _ in changes.source.matches() if old == name), "")


STEPS = {  # what each step of the loop is for: the test that fails without it
    "match_keras_layers": "test_layers_by_their_list",
    "match_program_lines": "test_program_lines_on_both_sides",
    "match_wrapped": "test_wrapped",
    "match_from_roots": "test_by_name",
    "_match_arguments": "test_arguments",
    "match_anchors": "test_anchors",
    "match_same_names": "test_same_names",
    "match_containers": "test_containers",
    "_match_series_by_wires": "test_by_wires",
    "match_same_places": "test_same_places",
    "match_by_variable": "test_by_variable",
    "_match_alike_ops": "test_of_alike",
    "match_weight_reads": "test_weight_reads",
    "take_lines_apart": "test_other_program_lines",
    "match_constants": "test_constants",
    "_doubt_matches": "test_doubt",
}


@each("step", STEPS)
def test_no_step_is_idle(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, step, lambda *_: iter(()))
    with pytest.raises((AssertionError, ValueError)):  # a test that takes the one change apart finds none, or several
        globals()[STEPS[step]]()


def test_every_step_of_the_loop_is_listed() -> None:
    loop = "".join(inspect.getsource(part) for part in (steps._matching_steps, steps._match_blocks))
    assert set(re.findall(r"yield from (\w+)\(", loop)) - {"_match_blocks"} == STEPS.keys()


def test_weight_reads() -> None:
    (change,) = diff(precise(False), precise(True))
    assert change.detail["key"] == "dtype"


def test_program_lines_on_both_sides() -> None:
    # a mask compares two views of the positions; another line made views behind it, a new one makes them before it
    def views(line: str, first: int, source: str) -> list[str]:
        return [f"{line} | view_{number} aten::unsqueeze {source}" for number in (first, first + 1)]

    def mask(first: int, scores: str) -> list[str]:
        compared = f"y = mask(y) | gt aten::gt view_{first} view_{first + 1}"
        return [*views("y = mask(y)", first, "positions"), compared, f"y = mask(y) | where aten::where gt {scores}"]

    start = (" | x Placeholder", "y = arange(n) | positions aten::arange")
    turned = [*views("y = rope(y)", 2, "where"), "y = rope(y) | mul aten::mul view_2 view_3"]
    biased = views("y = bias(y)", 0, "positions")
    biased += ["y = bias(y) | sub aten::sub view_0 view_1", "y = bias(y) | add aten::add x sub"]
    old = test_program_lines.program(*start, *mask(0, "x"), *turned, "y = end(y) | softmax aten::softmax mul")
    new = test_program_lines.program(*start, *biased, *mask(2, "add"), "y = end(y) | softmax aten::softmax where")
    changes = diff(old, new)
    assert (partner(changes, "view_0"), partner(changes, "view_1")) == ("view_2", "view_3")


def test_other_program_lines() -> None:
    changes = diff(test_program_lines.TURNED_PROGRAM, test_program_lines.BIASED_PROGRAM)
    assert (partner(changes, "arange"), partner(changes, "pow")) == ("", "")


def told(changes: Changes) -> list[tuple[str, str | None, str | None]]:
    return [(change.kind, change.old, change.new) for change in changes]


def test_same_places() -> None:
    # eight layers alike: the Tanh behind the third became an Elu, and a Tanh came behind the sixth
    def made(*between: str) -> Any:
        lines, before = ["x Placeholder"], "x"
        for number, more in enumerate(between):
            lines += [f"m/fc{number}/MatMul MatMul {before}", f"m/fc{number}/Relu Relu m/fc{number}/MatMul"]
            before = f"m/fc{number}/Relu"
            if more:
                lines.append(f"m/{'one' if number == 2 else 'two'} {more} {before}")
                before = lines[-1].split()[0]
        return graph(*lines)

    changes = diff(made("", "", "Tanh", "", "", "", "", ""), made("", "", "Elu", "", "", "Tanh", "", ""))
    assert sorted(told(changes), key=str) == [("added", None, "m/two"), ("changed", "m/one", "m/one")]


def trained(*names: str) -> Any:
    """Layers with their weights, and one update a weight, counted in their order."""
    lines, before = ["x Placeholder"], "x"
    for number, name in enumerate(names):
        count = f"_{number}" if number else ""
        grad = f"gradients/{name}/MatMul_grad/MatMul"
        lines += [f"{name}/w VarHandleOp", f"{name}/Read ReadVariableOp {name}/w",
                  f"{name}/MatMul MatMul {before} {name}/Read", f"{grad} MatMul {name}/MatMul",
                  f"sgd/mul{count} Mul {grad} rate",
                  f"sgd/AssignSubVariableOp{count} AssignSubVariableOp {name}/w sgd/mul{count}"]  # fmt: skip
        before = f"{name}/MatMul"
    return graph(*lines, "rate Const", f"gradients/{names[-1]}/top Square {before}")


def test_by_variable() -> None:
    # the updates of b and c have other numbers now that z is before them
    changes = diff(trained("a", "b", "c"), trained("a", "z", "b", "c"))
    assert partner(changes, "sgd/AssignSubVariableOp_1") == "sgd/AssignSubVariableOp_2"
    assert told(changes) == [("added", None, "z")]


def test_of_alike() -> None:
    # add = x + a, add_1 = add + b, then add = a + b: the first of two sums is gone
    old = graph("x Placeholder", "m/a MatMul x", "m/add AddV2 x m/a", "m/b Relu m/add", "m/add_1 AddV2 m/add m/b",
                "m/end Softmax m/add_1")  # fmt: skip
    new = graph("x Placeholder", "m/a MatMul x", "m/b Relu m/a", "m/add AddV2 m/a m/b", "m/end Softmax m/add")
    assert told(diff(old, new)) == [("removed", "m/add", None)]


def test_by_name() -> None:
    # x ─▶ a ─▶ b and x ─▶ c: two that cannot be told from what is around them, only by their names
    old = graph("x Placeholder", "p/one Relu x", "p/two Relu x")
    new = graph("x Placeholder", "p/one Relu x", "p/two Relu x", "more Neg x")
    assert told(diff(old, new)) == [("added", None, "more")]


def test_wrapped() -> None:
    # everything went into a scope, and what is in a loop is its own frame: one way, one change
    old = graph_def(FIXTURES / "real" / "while_v1.pb")
    (change,) = diff(old, renamed(old, lambda name: f"outer/inner/{name}"))
    assert change.kind == "moved"


def test_anchors() -> None:
    # other names everywhere, one op more: what is what is seen from the neighbourhoods
    old = graph("x Placeholder", "a MatMul x", "b Relu a", "c Softmax b", "d Tanh a")
    new = graph("in Placeholder", "p MatMul in", "q Relu p", "r Softmax q", "s Tanh p", "t Neg s")
    changes = diff(old, new)
    assert [partner(changes, name) for name in "xabcd"] == ["in", "p", "q", "r", "s"]


def test_spread_without_anchors() -> None:
    # x + t(x), then + c of it; now first c, then t: of two sums one is aligned, the other lies beside what is matched
    old = graph("p Placeholder", "x AddV2 p p", "m/n1 Rsqrt x", "m/t_1/a MatMul m/n1", "m/add AddV2 x m/t_1/a",
                "m/n2 Square m/add", "m/c Tanh m/n2", "m/add_1 AddV2 m/add m/c", "y Softmax m/add_1")  # fmt: skip
    new = graph("p Placeholder", "x AddV2 p p", "m/n2 Square x", "m/c Tanh m/n2", "m/add AddV2 x m/c",
                "m/n1 Rsqrt m/add", "m/t_2/a MatMul m/n1", "m/add_1 AddV2 m/add m/t_2/a",
                "y Softmax m/add_1")  # fmt: skip
    changes = diff(old, new)
    assert [partner(changes, name) for name in ("m/add", "m/add_1")] == ["m/add_1", "m/add"]
    assert [change.kind for change in changes] == ["rewired"]


def test_same_names() -> None:
    # act is fed by a and feeds nothing that could tell where it went
    old = graph("x Placeholder", "m/a MatMul x", "m/act Relu m/a")
    new = graph("x Placeholder", "m/b Neg x", "m/act Tanh m/b")
    assert partner(diff(old, new), "m/act") == "m/act"


LAYERS = ("{0}/l1/MatMul MatMul x", "{0}/l1/Relu Relu {0}/l1/MatMul", "{0}/l2/MatMul MatMul {0}/l1/Relu",
          "{0}/l2/Relu Relu {0}/l2/MatMul", "{0}/l3/MatMul MatMul {0}/l2/Relu",
          "{0}/l3/Tanh Tanh {0}/l3/MatMul")  # fmt: skip


def test_containers() -> None:
    # a scope has another name, and a layer more in it: that it is the same scope is seen from what is in it
    old = graph("x Placeholder", *(line.format("m") for line in LAYERS))
    new = graph("x Placeholder", *(line.format("n") for line in LAYERS), "n/l4/MatMul MatMul n/l3/Tanh")
    assert told(diff(old, new)) == [("added", None, "n/l4"), ("renamed", "m", "n")]


def test_by_wires() -> None:
    # a ─▶ norm ─▶ b ─▶ norm_1 ─▶ c: the first goes, and the second is called norm now
    old = graph("x Placeholder", "m/a MatMul x", "m/norm/Mul Rsqrt m/a", "m/b MatMul m/norm/Mul",
                "m/norm_1/Mul Rsqrt m/b", "m/c Softmax m/norm_1/Mul")  # fmt: skip
    new = graph("x Placeholder", "m/a MatMul x", "m/b MatMul m/a", "m/norm/Mul Rsqrt m/b", "m/c Softmax m/norm/Mul")
    changes = diff(old, new)
    assert told(changes) == [("removed", "m/norm", None)]
    assert partner(changes, "m/norm_1/Mul") == "m/norm/Mul"
    for seed in range(4):  # whatever the order of the file
        assert diff(shuffled(old, seed), shuffled(new, seed + 1)).items == changes.items


def test_by_wires_with_counted_names_inside() -> None:
    # as above; what is in the second bears a number of its own: what goes together is not seen from the names alone
    def block(scope: str, before: str, inner: str) -> list[str]:
        parts = ("Rsqrt", "Square", "Exp", "Log", "Sin", "Cos")
        names = [before, *(f"{scope}/{inner}/{op}" for op in parts)]
        return [f"{name} {op} {source}" for name, op, source in zip(names[1:], parts, names, strict=False)]

    old = graph("x Placeholder", "m/a MatMul x", *block("m/norm", "m/a", "drop"), "m/b MatMul m/norm/drop/Cos",
                *block("m/norm_1", "m/b", "drop_1"), "m/c Softmax m/norm_1/drop_1/Cos")  # fmt: skip
    new = graph("x Placeholder", "m/a MatMul x", "m/b MatMul m/a", *block("m/norm", "m/b", "drop"),
                "m/c Softmax m/norm/drop/Cos")  # fmt: skip
    changes = diff(old, new)
    assert told(changes) == [("removed", "m/norm", None)]
    assert partner(changes, "m/norm_1/drop_1/Exp") == "m/norm/drop/Exp"


def test_constants() -> None:
    # a mean and a sum changed places: their axes are counted anew, and each goes with its user
    old = graph("x Placeholder", "m/Sum Sum x m/Const", "m/Mean Mean m/Sum m/Const_1", "m/Const=3 Const",
                "m/Const_1=7 Const")  # fmt: skip
    new = graph("x Placeholder", "m/Mean Mean x m/Const", "m/Sum Sum m/Mean m/Const_1", "m/Const=7 Const",
                "m/Const_1=3 Const")  # fmt: skip
    changes = diff(old, new)
    assert [partner(changes, name) for name in ("m/Const", "m/Const_1")] == ["m/Const_1", "m/Const"]


def test_arguments() -> None:
    # f(x, y, z) = −x: TensorFlow makes up the names of arguments, and nobody uses the last two
    def made(*names: str) -> Any:
        whole = graph("x Placeholder", "call PartitionedCall x x x", "user Relu call")
        whole.node[1].attr["f"].func.name = "f"
        function = whole.library.function.add()
        function.signature.name = "f"
        for name in names:
            function.signature.input_arg.add(name=name, type=1)
        function.signature.output_arg.add(name="first", type=1)
        function.node_def.add(name="first", op="Neg", input=[names[0]])
        function.ret["first"] = "first:y:0"
        return whole

    changes = diff(made("inputs", "unknown", "unknown_0"), made("args_0", "captured", "args_1"))
    assert changes.same
    assert [partner(changes, name) for name in ("unknown", "unknown_0")] == ["captured", "args_1"]


def test_doubt() -> None:
    # next to nothing in common: what looks alike elsewhere is not followed
    old = graph("x Placeholder", *(f"a/n{at} Relu x" for at in range(8)), "a/t/u MatMul x", "a/t/v Tanh a/t/u")
    new = graph("y Placeholder", *(f"b/m{at} Neg y" for at in range(8)), "b/z/u MatMul y", "b/z/v Tanh b/z/u")
    changes = diff(old, new)
    assert "moved" not in changes.kinds
    assert any(notice.code == "unrelated" for notice in changes.notices)


def test_layers_by_their_list() -> None:
    # two Dense layers of a Keras model under other names, one with other units: their order is what they are
    def model(names: tuple[str, str], units: tuple[int, int]) -> bytes:
        layers: list[dict[str, Any]] = [
            {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [None, 4]}}
        ]
        for name, size in zip(names, units, strict=True):
            layers.append({"class_name": "Dense", "config": {"name": name, "units": size}})
        return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode()

    changes = diff(model(("a", "b"), (8, 12)), model(("b", "c"), (8, 16)))
    assert partner(changes, "m/a") == "m/b"
    assert partner(changes, "m/b") == "m/c"


def stack_of_keras(*layers: tuple[str, str, int]) -> bytes:
    """A Sequential model of layers: class, name, units."""
    listed: list[dict[str, Any]] = [{"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [None, 4]}}]
    listed += [{"class_name": kind, "config": {"name": name, "units": units}} for kind, name, units in layers]
    return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": listed}}).encode()


def test_a_number_in_common_says_nothing() -> None:
    # built in one session, the second model counts on: what is called add_11 in both is the last here, the first there
    layers = [(kind, f"{kind.lower()}_{at}", 4) for at in range(23) for kind in ("Dense", "Add")]
    new = [*layers[22:35], ("Multiply", "multiply", 4), *layers[36:46]]
    (change,) = diff(stack_of_keras(*layers[:24]), stack_of_keras(*new))
    assert (change.old, change.new, change.detail["new"]) == ("m/add_6", "m/multiply", "Multiply")


def test_of_equal_layers_that_count_on_each_keeps_its_place() -> None:
    old = stack_of_keras(("Dense", "dense", 4), ("Dense", "dense_1", 4))
    (change,) = diff(old, stack_of_keras(("Dense", "dense_2", 8), ("Dense", "dense_3", 4)))
    assert (change.old, change.new, change.detail["new"]) == ("m/dense", "m/dense_2", 8)


def test_of_equal_scopes_that_count_on_each_keeps_its_place() -> None:
    # x ─▶ m/a ─▶ m/act ─▶ m/b ─▶ m/act_1: the first has another slope, and both other numbers
    def made(first: str, second: str, slope: float) -> Any:
        whole = graph("x Placeholder", "m/a MatMul x", f"m/{first}/LeakyRelu LeakyRelu m/a",
                      f"m/b Softmax m/{first}/LeakyRelu", f"m/{second}/LeakyRelu LeakyRelu m/b")  # fmt: skip
        for at, alpha in ((2, slope), (4, 0.3)):
            whole.node[at].attr["alpha"].f = alpha
        return whole

    (change,) = diff(made("act", "act_1", 0.3), made("act_2", "act_3", 0.1))
    assert (change.detail["key"], change.old, change.new) == ("alpha", "m/act/LeakyRelu", "m/act_2/LeakyRelu")


def test_wires_say_which_of_equal_members_went() -> None:
    def made(*norms: int) -> Any:
        lines, before = ["x Placeholder"], "x"
        for at, op in enumerate(("Tanh", "Elu", "Selu")):
            lines += [f"m/d_{at}/Dense{at} Dense{at} {before}"]
            if at in norms:
                lines += [f"m/norm_{at}/Mean Mean m/d_{at}/Dense{at}", f"m/norm_{at}/Sub Sub m/norm_{at}/Mean"]
            lines.append(f"m/act_{at}/{op} {op} {f'm/norm_{at}/Sub' if at in norms else f'm/d_{at}/Dense{at}'}")
            before = f"m/act_{at}/{op}"
        return graph(*lines)

    (change,) = diff(made(0, 1, 2), made(1, 2))
    assert (change.old, change.unit and change.unit.equal) == ("m/norm_0", 0)
