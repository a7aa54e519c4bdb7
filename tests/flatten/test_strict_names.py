"""TensorBoard's strict names: an op that is called as a scope is inside it."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.flatten.tensorboard import _tensorboard_strict_name
from graphviz_tb.options import FlattenOptions
from graphviz_tb.proto import GraphDef
from tests.flat import flatten

NAMES = st.text("ab-/", max_size=6)


@given(st.sets(NAMES), NAMES)
def test_a_name_is_a_scope_or_is_around_one(scopes: set[str], name: str) -> None:
    around = {scope[:end] for scope in scopes for end in range(1, len(scope) + 1) if f"{scope}/"[end] == "/"}
    assert (_tensorboard_strict_name(name, sorted(scopes)) != name) == (name in around)


def test_scopes_around_a_deep_name_are_not_listed() -> None:
    graph = GraphDef(node=[{"name": name, "op": "A"} for name in ("twice", "twice", "/".join("s" * 10_000))])
    options = FlattenOptions(tensorboard=True)
    flatten(GraphDef(), options)  # imports what it needs
    tracemalloc.start()
    flatten(graph, options)
    assert tracemalloc.get_traced_memory()[1] < 20e6  # the names of all scopes together have 100 million letters
    tracemalloc.stop()
