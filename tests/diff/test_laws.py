"""Laws that hold for any two graphs."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.diff import diff
from graphviz_tb.proto import GraphDef
from tests.diff.apply import apply
from tests.diff.pairs import shuffled
from tests.effort import examples

SEGMENTS = st.sampled_from(["a", "b", "layer_0", "layer_1", "layer_2", "dense", "dense_1", "x", "add", "add_1", "grad"])
NAMES = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
OPS = st.sampled_from(["Relu", "Add", "MatMul", "Const", "NoOp"])


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """A small graph: any wiring, also cycles, with numbered names."""
    names = draw(st.lists(NAMES, min_size=1, max_size=12, unique=True))
    made = GraphDef()
    for name in names:
        node = made.node.add(name=name, op=draw(OPS))
        node.input.extend(draw(st.lists(st.sampled_from(names), max_size=3)))
        node.input.extend(f"^{control}" for control in draw(st.lists(st.sampled_from(names), max_size=2, unique=True)))
        if draw(st.booleans()):
            node.attr["T"].type = draw(st.sampled_from([1, 3]))
    return made


@examples(150)
@given(graphs())
def test_nothing_changed(graph: Any) -> None:
    assert diff(graph, graph).same
    copy = GraphDef()
    copy.CopyFrom(graph)
    assert diff(graph, copy).same
    assert diff(graph, shuffled(graph)).same


@examples(150)
@given(graphs(), graphs())
def test_back_is_the_inverse(old: Any, new: Any) -> None:
    changes = diff(old, new)
    assert diff(new, old).items == changes.inverse().items
    assert changes.inverse().inverse().items == changes.items


@examples(150)
@given(graphs(), graphs())
def test_the_changes_make_the_new_graph(old: Any, new: Any) -> None:
    changes = diff(old, new)
    assert diff(apply(changes), new).same
    if changes.same:
        assert not changes.items


@examples(150)
@given(graphs(), graphs())
def test_told_in_every_style(old: Any, new: Any) -> None:
    changes = diff(old, new)
    for style in ("text", "json", "markdown"):
        assert changes.explain(style)  # type: ignore[arg-type]
