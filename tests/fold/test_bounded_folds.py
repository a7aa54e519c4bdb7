"""What two sizes of a file have to do with each other is bounded when a level is folded."""

from __future__ import annotations

from random import Random

import pytest

from graphviz_tb import load
from graphviz_tb.fold.flow.box import FlowBox, SymbolTable
from graphviz_tb.fold.flow.invariants import FoldContext, level_budget
from graphviz_tb.fold.flow.names import Vocabulary
from graphviz_tb.fold.flow.repeats import fold_repeats
from graphviz_tb.fold.flow.sequence import SequenceElement
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.proto import GraphDef
from tests.timing import seconds


@pytest.mark.slow
def test_a_long_template_that_may_begin_in_any_of_its_places() -> None:
    # 300 ops in random order, 12,000 of them one after the other, almost four times
    luck = Random(1)
    template = [luck.randrange(300) for _ in range(12_000)]
    sequence = [
        SequenceElement(FlowBox(f"{place:x}", op, 1, row=place), op, op)
        for place in range(12_000 * 39 // 10)
        for op in [template[place % 12_000]]
    ]
    symbols = SymbolTable()
    context = FoldContext(Vocabulary([each.box.name for each in sequence]), symbols, level_budget(len(sequence)))
    with seconds(20):
        folded = fold_repeats(sequence, context)
    assert any(each.box.is_repetition for each in folded)


@pytest.mark.slow
def test_many_dense_and_regular_scopes() -> None:
    # 60 scopes of 60 nodes, node i reads i + s for half of all s: the same ring each time, written in another order
    luck = Random(1)
    steps = [step for step in range(1, 60) if luck.random() < 0.5]
    graph = GraphDef()
    for scope in range(60):
        for node in luck.sample(range(60), 60):
            inputs = [f"{scope}/{(node + step) % 60}" for step in steps]
            graph.node.add(name=f"{scope}/{node}", op="A", input=inputs)
    with seconds(20):
        model = load(graph)
    assert any("too regular to compare fully" in notice.message for notice in model.notices)
    # What was looked at before is one structure.
    first, second, *_ = model.hierarchy.template[1:][model.hierarchy.kind[1:] == RowKind.SCOPE].tolist()
    assert first == second


@pytest.mark.slow
def test_many_values_behind_a_wide_sum() -> None:
    # 12,000 inputs ─▶ sum ─▶ 12,000 values, each read at once, behind a long chain and at its end
    inputs, values, links = ([f"{name}{2 * number}" for number in range(12_000)] for name in "ivl")
    graph = GraphDef(node=[{"name": name, "op": "A"} for name in inputs])
    graph.node.add(name="sum", op="B", input=inputs)
    for name in values:
        graph.node.add(name=name, op="C", input=["sum"])
    graph.node.add(name="near", op="D", input=values)
    for name, before in zip(links, ["near", *links], strict=False):
        graph.node.add(name=name, op="E", input=[before])
    graph.node.add(name="far", op="D", input=[*values, links[-1]])
    graph.node.add(name="end", op="D", input=[*values, "far"])
    with seconds(6):
        load(graph)


@pytest.mark.slow
def test_many_values_that_all_need_each_other() -> None:
    # a chain of 16,000 ops, all read by five sums beside it too
    chain = [f"c{number}" for number in range(16_000)]
    graph = GraphDef()
    for name, before in zip([*chain, *map(str, range(10))], [None, *chain, *map(str, range(9))], strict=True):
        graph.node.add(name=name, op="A", input=[before] if before else [])
    for number in range(5):
        graph.node.add(name=f"s{number}", op="B", input=[*chain, *([f"s{number - 1}"] if number else [])])
    with seconds(6):
        load(graph)


@pytest.mark.slow
def test_many_groups_of_names_that_adopt_what_is_between() -> None:
    # g0_x ─▶ 0 ─▶ g0_y ─▶ g1_x ─▶ 1 ─▶ …
    names = [name for number in range(15_000) for name in (f"g{number}_x", f"{number}", f"g{number}_y")]
    graph = GraphDef()
    for number, name in enumerate(names):
        graph.node.add(name=name, op="ABC"[number % 3], input=names[max(0, number - 1) : number])
    with seconds(7):
        load(graph)


@pytest.mark.slow
def test_many_numbers_and_many_words_behind_one_word() -> None:
    graph = GraphDef(node=[{"name": f"a1_{2 * number}", "op": "A"} for number in range(20_000)])
    graph.node.extend(GraphDef(node=[{"name": f"a1_b{2 * number}", "op": "B"} for number in range(20_000)]).node)
    with seconds(5):
        load(graph)
