"""What is inside a call has its own colour and its own words, not those of the call around it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphviz_tb import load
from graphviz_tb.annotate.statistics import join_statistics
from graphviz_tb.api.pipeline import Model
from graphviz_tb.color import SCHEMES, Colouring, make_colouring
from graphviz_tb.model.paths import RowPath
from graphviz_tb.proto import GraphDef
from tests.annotate.traces import entry, trace
from tests.each import each

FLOAT = {"type": 1}
SHAPE = {"shape": {"dim": [{"size": 4}, {"size": 4}]}}
PARTS = [
    {"name": "g/a", "op": "MatMul", "input": ["x", "x"], "attr": {"T": FLOAT}, "device": "/device:GPU:0"},
    {"name": "g/b", "op": "Relu", "input": ["g/a:product:0"], "attr": {"T": FLOAT}, "device": "/device:CPU:0"},
    {"name": "h/a", "op": "MatMul", "input": ["x", "x"], "attr": {"T": FLOAT}},
    {"name": "h/b", "op": "Relu", "input": ["h/a:product:0"], "attr": {"T": FLOAT}},
    {"name": "z/e", "op": "Exp", "input": ["h/b:activations:0"], "attr": {"T": FLOAT, "_XlaCluster": {"s": b"c"}}},
]
PLAIN = [scheme for scheme, row in SCHEMES.items() if not (row.measured or row.logged or row.given)]
NAMES = ("g", "h", "z", "g/a", "g/b", "z/e")


@pytest.fixture(scope="module")
def model() -> Model:
    """x ─▶ call of f, in which g and h are alike and z is another one."""
    function = {
        "signature": {"name": "f", "input_arg": [{"name": "x", "type": 1}], "output_arg": [{"name": "y", "type": 1}]},
        "node_def": PARTS,
        "ret": {"y": "z/e:y:0"},
    }
    x = {"name": "x", "op": "Placeholder", "attr": {"dtype": FLOAT, "shape": SHAPE}}
    call = {"name": "call", "op": "PartitionedCall", "input": ["x"], "attr": {"f": {"func": {"name": "f"}}}}
    after = [{"name": name, "op": "Tanh", "input": ["call"], "attr": {"T": FLOAT}} for name in ("p", "q", "r", "s")]
    return load(GraphDef(node=[x, call, *after], library={"function": [function]}), folds=False)


def paths(model: Model) -> list[tuple[RowPath, RowPath]]:
    """Each part on its path through the call, and by itself."""
    row = model.hierarchy.name.index
    return [((row("call"), row(name)), (row(name),)) for name in NAMES]


@each("scheme", PLAIN)
def test_a_part_looks_as_it_does_by_itself(model: Model, scheme: str) -> None:
    found = make_colouring(model.hierarchy, model.facts, scheme)
    for inside, alone in paths(model):
        assert found.fill_of(inside) == found.fill_of(alone)
        assert found.second_line(inside) == found.second_line(alone)
        assert found.tooltip_text(inside) == found.tooltip_text(alone)
        assert found.legend_rows([inside]) == found.legend_rows([alone])
        assert found.scaled_to([inside]) == found.scaled_to([alone])


def test_parts_differ(model: Model) -> None:
    """Each colouring says of some part what it does not say of the call."""
    call = model.hierarchy.name.index("call")
    for scheme in PLAIN:
        found = make_colouring(model.hierarchy, model.facts, scheme)
        said = {(found.fill_of(path), found.second_line(path)) for path, _ in paths(model)}
        assert len(said | {(found.fill_of((call,)), found.second_line((call,)))}) > 1


@each("scheme", ["compute-time", "memory", "structure"])
@each("again", [False, True])
def test_what_was_not_measured_is_hatched_where_it_is(model: Model, scheme: str, again: bool) -> None:
    """Of the call g was measured and z was not: a group on a grey ground, not an op on a white one."""
    ran = [trace(cpu=[entry("call/g/a", 0, 5, 64), entry("call/g/b", 5, 3, 64)])]
    stats = join_statistics(model.hierarchy, ran)
    facts = replace(model.facts, stats=stats, before=stats if again else None)
    found = make_colouring(model.hierarchy, facts, scheme, stats=scheme == "structure")
    g, h, z = (next(inside for inside, (row,) in paths(model) if model.hierarchy.name[row] == name) for name in "ghz")
    assert not found.fill_of(g).hatch
    assert found.second_line(g)
    assert found.fill_of(z).hatch
    assert found.fill_of(z).fill == found.theme.neutral
    assert hatched(found, [g]) == []
    assert hatched(found, [g, z, h]) == [found.theme.neutral]


def hatched(colouring: Colouring, shown: list[RowPath]) -> list[str]:
    """The grounds of the samples of what was not measured."""
    rows = [row for row in colouring.scaled_to(shown[:1]).legend_rows(shown) if row.shape != "rest"]
    return [row.fill.fill for row in rows if row.fill.hatch]
