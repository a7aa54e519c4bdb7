"""What two sizes of a file have to do with each other is bounded when a level is folded."""

from __future__ import annotations

from random import Random

from graphviz_tb import load
from graphviz_tb.group.flow.box import Box, Symbols
from graphviz_tb.group.flow.repeats import fold_repeats
from graphviz_tb.group.flow.sequence import Element
from graphviz_tb.group.flow.setting import Setting, budget_of
from graphviz_tb.group.flow.words import Vocabulary
from graphviz_tb.model.hierarchy import Kind
from graphviz_tb.proto import GraphDef
from tests.timing import seconds


def test_a_long_template_that_may_begin_in_any_of_its_places() -> None:
    # 300 ops in random order, 12,000 of them one after the other, almost four times
    luck = Random(1)
    template = [luck.randrange(300) for _ in range(12_000)]
    sequence = [
        Element(Box(f"{place:x}", op, 1, row=place), op, op)
        for place in range(12_000 * 39 // 10)
        for op in [template[place % 12_000]]
    ]
    symbols = Symbols()
    setting = Setting(Vocabulary([each.box.name for each in sequence]), symbols, budget_of(len(sequence)))
    with seconds(20):
        folded = fold_repeats(sequence, setting)
    assert any(each.box.stack for each in folded)


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
    first, second, *_ = model.hierarchy.template[1:][model.hierarchy.kind[1:] == Kind.SCOPE].tolist()
    assert first == second
