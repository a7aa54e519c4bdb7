"""Numbers that bound something: exactly as many, and one more; and every type of numbers in each list of types."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.changes.across_layers import shared_scope
from graphviz_tb.diff.changes.attributes import _sizing_nodes
from graphviz_tb.diff.changes.causes import _main_derived_part
from graphviz_tb.diff.changes.compare import _feeds_graph
from graphviz_tb.diff.changes.training import training_of
from graphviz_tb.diff.columns.labels import _setting_constants
from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Findings, Matching, Member, Reason, common_subsequence, node_pairs
from graphviz_tb.diff.match.neighbours import _match_around
from graphviz_tb.diff.match.numbered import match_functions, match_renamed_functions
from graphviz_tb.diff.match.scopes import _align_scopes
from graphviz_tb.diff.match.steps import match_graphs
from graphviz_tb.diff.picture.rows import _count_words
from graphviz_tb.diff.report.words import _chain_text, change_facts, value_text
from graphviz_tb.diff.result import Changes
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import InputWire, Rewiring, Setting, Sides, Unit
from graphviz_tb.options import DiffOptions
from graphviz_tb.proto import GraphDef
from tests.diff.pairs import FIXTURES
from tests.diff.test_causes import graph
from tests.each import each
from tests.flat import flatten

# What types.proto calls some of its numbers.
FLOATING = {"float": 1, "double": 2, "bfloat16": 14, "half": 19}
TYPES = range(1, 24)
INT32, STRING, INT64, RESOURCE, VARIANT, UINT32, UINT64 = 3, 7, 9, 20, 21, 22, 23


def side(made: Any) -> GraphColumns:
    """The columns of a graph."""
    return GraphColumns(flatten(made), DiffOptions())


def matching(old: Any, new: Any) -> Matching:
    """Two graphs of which nothing is matched yet."""
    return Matching(side(old), side(new))


def constant(dtype: int, *sizes: int, user: str = "Add") -> Any:
    """A constant, and an op that takes it."""
    made = GraphDef()
    tensor = made.node.add(name="c", op="Const").attr["value"].tensor
    tensor.dtype = dtype
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)
    made.node.add(name="user", op=user, input=["c"])
    return made


@each("dtype", TYPES)
def test_a_setting_is_small_and_no_string(dtype: int) -> None:
    def counts(*sizes: int, user: str = "Add") -> bool:
        return bool(_setting_constants(flatten(constant(dtype, *sizes, user=user)))[0])

    most = 8 if dtype in FLOATING.values() else 64
    assert counts(most) == (dtype != STRING)
    assert not counts(most + 1)
    whole = dtype not in (STRING, *FLOATING.values())
    assert counts(2, 2) == whole
    assert counts(user="Identity") == whole
    assert counts() == (dtype != STRING)


@each("dtype", TYPES)
def test_counters_are_not_trained(dtype: int) -> None:
    made = graph("x Placeholder", "w VariableV2", "m/MatMul MatMul x w", "gradients/Grad MatMulGrad m/MatMul",
                 "opt/ApplyAdam ApplyAdam w gradients/Grad")  # fmt: skip
    made.node[-1].attr["dtype"].type = dtype
    assert bool(training_of(Layers(side(made))).trained) == (dtype not in (INT32, INT64, UINT32, UINT64))


@each("dtype", TYPES)
def test_sizes_are_whole_numbers(dtype: int) -> None:
    made = graph("x Placeholder", "y Mul x x")
    made.node[1].attr["T"].type = dtype
    assert _sizing_nodes(side(made), 1) == (dtype in (INT32, INT64))


@each("dtype", TYPES)
def test_handles_are_no_inputs(dtype: int) -> None:
    made = graph("x Placeholder")
    made.node[0].attr["dtype"].type = dtype
    assert _feeds_graph(side(made), 0) == (dtype not in (RESOURCE, VARIANT))


@pytest.mark.parametrize(("seed", "seed2", "same"), [(87654321, 5, False), (87654320, 5, True), (None, 5, True)])
def test_a_seed_that_was_counted_is_nothing(seed: int | None, seed2: int, same: bool) -> None:
    old = graph("x RandomUniform")
    if seed is not None:
        old.node[0].attr["seed"].i = seed
    new = GraphDef.FromString(old.SerializeToString())
    old.node[0].attr["seed2"].i, new.node[0].attr["seed2"].i = seed2, seed2 + 1
    assert diff(old, new).same == same


def came(name: str, scope: bool = True) -> Change:
    return Change("added", "op", None, name, 1, Unit(scope, {"Abs": 1}))


@pytest.mark.parametrize(("many", "listed"), [(8, 8), (9, 3)])
def test_of_more_than_eight_parts_those_of_one_name_are_it(many: int, listed: int) -> None:
    names = ["a/ema", "b/ema_1", "c/ema_2", *(f"s{chr(97 + number)}" for number in range(many - 3))]
    assert len(_main_derived_part([came(name) for name in names])) == listed


def test_the_scope_of_nine_in_ten() -> None:
    names = [f"m/{number}" for number in range(9)]
    assert shared_scope([*names, "x"]) == "m"
    assert shared_scope([*names, "x", "y"]) == ""


@pytest.mark.parametrize(("steps", "layer"), [(8, "a"), (9, None)])
def test_a_weight_is_of_the_op_eight_steps_on(steps: int, layer: str | None) -> None:
    lines = ["w VariableV2"]
    for number in range(1, steps):
        lines.append(f"r{number} Identity {lines[-1].split()[0]}")
    layers = Layers(side(graph(*lines, f"a/MatMul MatMul {lines[-1].split()[0]}")))
    assert layers.name(layers.layer_of_node(0)) == (layer or f"r{steps - 1}")


def test_a_table_of_a_common_subsequence_has_at_most_sixteen_million_cells() -> None:
    some, many = list(range(256)), [0] * 65536
    assert common_subsequence(some, many) == [(0, 0)]
    assert common_subsequence(some, [*many, 0]) is None


def series(old: int, new: int) -> Matching:
    """Scopes m/a_0 …, each with an op of its own on either side."""
    graphs = []
    for many, word in ((old, "Old"), (new, "New")):
        graphs.append(graph(*(f"m/a_{at}/op{at} {word}{at}" for at in range(many))))
    return matching(*graphs)


@pytest.mark.parametrize(("old", "new", "noted"), [(16, 16, 0), (32, 8, 0), (17, 16, 1), (257, 1, 1)])
def test_a_part_of_a_series_is_compared_each_with_each(old: int, new: int, noted: int) -> None:
    m = series(old, new)
    members = [
        [Member(at, side.scopes.name.index(f"m/a_{at}")) for at in range(many)]
        for side, many in ((m.a, old), (m.b, new))
    ]
    assert _align_scopes(m, ("a_", ""), *members) == [(at, at) for at in range(min(old, new))]
    assert [notice.code for notice in m.notices] == ["gap-limit"] * noted


def found(m: Matching, findings: Findings) -> int:
    """How many nodes are matched when the findings were taken."""
    for finding in findings:
        m.take(finding)
    return int((m.to_b >= 0).sum())


@pytest.mark.parametrize(("length", "noted"), [(198, []), (199, ["spread-limit"]), (201, ["spread-limit"])])
def test_matches_spread_two_hundred_steps(length: int, noted: list[str]) -> None:
    def chained(word: str) -> Any:
        lines = ["x Placeholder", f"{word}0 Relu x"]
        lines += [f"{word}{at} Relu {word}{at - 1}" for at in range(1, length)]
        return graph(*lines, f"{word}_end Tanh")

    m = matching(chained("a"), chained("b"))
    m.take(node_pairs([(0, 0)], Reason.NAME))
    assert found(m, _match_around(m)) == 1 + min(length, 200)
    assert [notice.code for notice in m.notices] == noted


def library(bodies: dict[str, list[str]]) -> Any:
    """Functions by name, their ops without inputs; a body may call others as `@name`."""
    made = GraphDef()
    for name, ops in bodies.items():
        function = made.library.function.add()
        function.signature.name = name
        for number, op in enumerate(ops):
            node = function.node_def.add(name=f"n{number}", op=op)
            if op.startswith("@"):
                node.op = "PartitionedCall"
                node.attr["f"].func.name = op[1:]
    return made


@pytest.mark.parametrize(("many", "noted"), [(64, []), (65, ["function-limit"])])
def test_functions_of_one_name_are_compared_each_with_each(many: int, noted: list[str]) -> None:
    old = library({f"f_{number}": [f"Op{number}", "Relu"] for number in range(many)})
    new = library({f"f_{number + 100}": [f"Other{number}", "Relu"] for number in range(2)})
    m = matching(old, new)
    match_functions(m)
    assert m.functions == {0: 0, 1: 1}
    assert [notice.code for notice in m.notices] == noted


@pytest.mark.parametrize(("share", "paired"), [(1, 0), (2, 1)])
def test_functions_of_other_names_are_one_where_most_ops_are(share: int, paired: int) -> None:
    old, new = (library({name: [*"ABC"[:share], last]}) for name, last in (("f", "D"), ("g", "E")))
    m = matching(old, new)
    match_functions(m)
    match_renamed_functions(m)
    assert len(m.functions) == paired  # half of the ops are not enough


def calling(first: str, *bodies: tuple[str, list[str]]) -> Any:
    """A graph that calls the first function."""
    made = library(dict(bodies))
    made.node.add(name="x", op="Placeholder")
    made.node.add(name="call", op="PartitionedCall", input=["x"]).attr["f"].func.name = first
    return made


def test_functions_are_paired_by_calls_three_deep() -> None:
    def nested(word: str) -> Any:
        names = [f"{word}{letter}" for letter in "pqrst"]
        bodies = [(name, [f"@{inner}", *[f"{name}Op"] * 9]) for name, inner in pairwise(names)]
        return calling(names[0], *bodies, (names[-1], [f"{word}Last"] * 9))

    m = match_graphs(side(nested("old")), side(nested("new")))
    assert m.functions == {0: 0, 1: 1, 2: 2}


def test_a_function_is_paired_by_one_call_alone() -> None:
    old = calling("p", ("p", ["A"] * 9), ("q", ["B"] * 9))
    new = calling("r", ("r", ["C"] * 9))
    for made, name in ((old, "q"), (new, "r")):
        made.node.add(name="more", op="PartitionedCall", input=["x"]).attr["f"].func.name = name
    assert match_graphs(side(old), side(new)).functions == {0: 0}


@each("first", range(8))
def test_members_of_a_run_are_known_by_their_wires_wherever_they_are(first: int) -> None:
    # x ─▶ m/a ─▶ norm ─▶ m/b ─▶ norm_1 ─▶ m/c: the first norm goes
    old = graph("x Placeholder", "m/a MatMul x", "m/norm/Mul Rsqrt m/a", "m/b MatMul m/norm/Mul",
                "m/norm_1/Mul Rsqrt m/b", "m/c Softmax m/norm_1/Mul")  # fmt: skip
    new = graph("x Placeholder", "m/a MatMul x", "m/b MatMul m/a", "m/norm/Mul Rsqrt m/b", "m/c Softmax m/norm/Mul")
    for made in (old, new):
        nodes = list(made.node)
        start = first % len(nodes)
        moved = GraphDef(node=nodes[start:] + nodes[:start])
        made.CopyFrom(moved)
    (change,) = diff(old, new)
    assert (change.kind, change.old) == ("removed", "m/norm")


@pytest.mark.parametrize(("many", "removed"), [(64, "m/norm"), (65, "")])
def test_runs_of_sixty_four_are_tried_each_with_each(many: int, removed: str) -> None:
    def chained(places: list[int]) -> Any:
        lines, before = ["x Placeholder"], "x"
        for at in range(many):
            lines.append(f"m/op{chr(97 + at % 26)}{chr(97 + at // 26)} Op{at} {before}")
            before = lines[-1].split()[0]
            if at in places:
                number = places.index(at)
                lines.append(f"m/norm{f'_{number}' if number else ''}/Mul Rsqrt {before}")
                before = lines[-1].split()[0]
        return graph(*lines, f"m/end Softmax {before}")

    (change,) = diff(chained(list(range(many))), chained(list(range(1, many))))
    assert (change.old == "m/norm") == bool(removed)


def test_changes_say_nothing_by_themselves() -> None:
    changes = Changes(())
    summary = changes.summary
    assert [summary[word] for word in ("changes", "matched", "renumbered")] == [0, 0, 0]
    assert (changes.old_name, changes.new_name, changes.found) == ("old", "new", 0)
    assert summary["ops"] == {"old": None, "new": None}
    assert list(changes.matches()) == []


def test_lists_in_a_line_are_short() -> None:
    assert value_text(list(range(8))) == "[0, 1, 2, 3, 4, 5, 6, 7]"
    assert value_text(list(range(9))) == "[0, 1, 2, 3, 4, 5, 6, 7, … 1 more]"
    assert value_text("a" * 60) == "a" * 60
    assert len(value_text("a" * 61)) == 60


@pytest.mark.parametrize(("parts", "shown"), [(8, "n/p … n/p_7"), (9, "n/p ×9")])
def test_many_parts_of_one_name(parts: int, shown: str) -> None:
    names = ["n/p", *(f"n/p_{number}" for number in range(1, parts))]
    unit = Unit(True, {"Abs": parts}, parts=tuple(names))
    change = Change("added", "op", None, "n/p", parts, unit)
    assert _chain_text(change, unit) == shown
    made_of = [fact for fact in change_facts(change) if fact.startswith("made of")]
    assert len(made_of) == (parts <= 8)


def wires(many: int) -> Change:
    inputs = tuple(InputWire(number, "a", "b") for number in range(many))
    return Change("rewired", "wiring", "x", "x", 1, Rewiring(inputs))


def test_four_wires_are_listed_and_three_places() -> None:
    assert len(list(change_facts(wires(4)))) == 4
    assert list(change_facts(wires(5)))[4:] == ["and 1 other wire"]
    places = tuple((f"p{number}", f"p{number}") for number in range(4))
    for many, end in ((3, "p0, p1, p2"), (4, "p0, p1, p2, …")):
        change = Change("rewired", "wiring", "x", "x", 1, Rewiring(()), places[:many])
        assert list(change_facts(change)) == [f"and {many} other places: {end}"]


def test_weights_in_a_line_are_four() -> None:
    shapes = tuple(Sides(str(number), "9") for number in range(5))
    for many, end in ((4, "3 → 9"), (5, "3 → 9, … 1 more")):
        content = Setting("units", 1, 2, weights=shapes[:many])
        (fact,) = change_facts(Change("changed", "attribute", "x", "x", 1, content))
        assert fact.endswith(end)


def test_a_box_says_how_much_of_what_where_it_is_short() -> None:
    assert _count_words([1, 1, 0, 0, 0], [1, 1, 0, 0, 0], 9, "moved") == "1 new, 1 gone of 9 ops"
    assert _count_words([1, 1, 1, 0, 0], [1, 1, 1, 0, 0], 9, "moved") == "1 new, 1 gone, 1 changed"
    assert _count_words([0, 0, 1, 0, 0], [0, 0, 0, 0, 0], None, "moved") == "1 constant or weight changed, ∞ ops"


def test_a_result_may_be_the_first_node_of_all() -> None:
    # a file that holds nothing but a function: its first node is the first of the file
    def made(result: str, last: str) -> Any:
        whole = library({"f": ["Abs", last]})
        whole.library.function[0].signature.output_arg.add(name="out", type=1)
        whole.library.function[0].ret["out"] = f"{result}:y:0"
        return whole

    (change,) = diff(made("n0", "Exp"), made("n0", "Log"))
    assert [inner.kind for inner in change.inside] == ["changed"]
    (change,) = diff(made("n0", "Exp"), made("n1", "Exp"))
    assert [inner.kind for inner in change.inside] == ["signature-changed"]
    (change,) = diff(made("n1", "Exp"), made("n0", "Exp"))
    assert [inner.detail["returned"]["new"] for inner in change.inside] == [["n0:y:0"]]


def test_a_choice_of_reading_may_be_one_for_each_side(tmp_path: Path) -> None:
    for run, folder in (("a", "mnist_runs/train"), ("b", "xor_filewriter")):
        shutil.copytree(FIXTURES / "logdirs" / folder, tmp_path / run)
    there = diff(tmp_path, tmp_path, run=("a", "b"))
    assert not there.same
    assert there.items == diff(tmp_path, tmp_path, run=("b", "a")).inverse().items
    assert diff(tmp_path, tmp_path, run=("b", "b")).same


@pytest.mark.parametrize("sizes", [[2**62] * 5, [2**63 - 1], [2**62, 1], [10**9]])
def test_weights_past_counting(sizes: list[int]) -> None:
    # Two such constants as weights of products, and one more after: no sum is less than a part of it.
    def weights(count: int) -> GraphDef:
        made = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
        for number in range(count):
            kernel = made.node.add(name=f"k{number}", op="Const")
            kernel.attr["value"].tensor.dtype = 1
            for size in sizes:
                kernel.attr["value"].tensor.tensor_shape.dim.add(size=size)
            made.node.add(name=f"m{number}", op="MatMul", input=["x", f"k{number}"])
        return made

    changes = diff(weights(2), weights(3))
    before, after = changes.numbers["parameters"]
    assert before is not None
    assert after is not None
    assert 0 < max(sizes) <= before <= after <= 2**63 - 1
    assert changes.explain()
    changes.picture().render("svg")
