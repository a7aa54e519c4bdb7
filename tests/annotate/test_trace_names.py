"""Names of a trace: spellings of inlined functions and lowered loops, and names that mean nothing."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.annotate import trace_names
from graphviz_tb.annotate.trace_names import TraceNames
from graphviz_tb.fold import fold_graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import function_row_of, path_address
from graphviz_tb.proto import FunctionDef, GraphDef
from tests.each import each
from tests.flat import flatten
from tests.functions.strategies import call
from tests.timing import within


def library() -> Hierarchy:
    """f holds s/x and a call c of g; g holds y, and z alone; r calls itself by `c`. The main graph:

    call ─ f,  loop ─ cond g, body f,  if ─ f or g,  s/x,  back ─ r
    """
    graph = GraphDef()
    graph.node.extend(
        [
            call("call", "PartitionedCall", ["f"], []),
            call("loop", "While", ["g", "f"], []),
            call("if", "If", ["f", "g"], ["s/x", "s/x"]),
            call("back", "PartitionedCall", ["r"], []),
        ]
    )
    graph.node.add(name="s/x", op="Relu")
    bodies = {"f": [("s/x", "Relu"), ("c", "g")], "g": [("y", "Abs"), ("z", "Abs")], "r": [("c", "r"), ("w", "Abs")]}
    for name, nodes in bodies.items():
        function = FunctionDef()
        function.signature.name = name
        for node, op in nodes:
            if op in bodies:
                function.node_def.append(call(node, "PartitionedCall", [op], []))
            else:
                function.node_def.add(name=node, op=op)
        graph.library.function.append(function)
    return fold_graph(flatten(graph))


HIERARCHY = library()


@each(
    ("name", "expected", "within"),
    [
        ("s/x", "s/x", False),
        ("s/x:Relu", "s/x", False),
        ("s/x:MEMCPYHtoD", "s/x", False),
        ("call", "call", False),
        ("call/s/x", "call::s/x", False),
        ("call/c/y", "call::c::y", False),
        ("call/c/y:Abs", "call::c", True),
        ("loop/body/_5/s/x", "loop::body/s/x", False),
        ("loop/body/_5/c/z", "loop::body/c::z", False),
        ("loop/cond/_4/y", "loop::cond/y", False),
        ("loop/merge/_12", "loop", True),
        ("Func/call/input/_0", "call", True),
        ("if/then/_29/s/x", "if::then_branch/s/x", False),
        ("if/else/_30/y", "if::else_branch/y", False),
        ("call/s/x/_0__cf__3", "call::s/x", False),
        ("back/c/c/w", "back::c::c::w", False),
    ],
)
def test_spellings(name: str, expected: str, within: bool) -> None:
    place = TraceNames(HIERARCHY).execution_paths([name])[name]
    assert (path_address(HIERARCHY, place.path), place.within) == (expected, within)


def test_names_of_a_function_that_runs_by_itself() -> None:
    """`w` is in r alone, which one chain of calls leads to; z is in g, which several call."""
    places = TraceNames(HIERARCHY).execution_paths(["z", "y", "nowhere", "_SOURCE"])
    assert set(places) == {"z", "y"}
    assert not places["z"].whole
    assert HIERARCHY.name[places["z"].path[0]] == "z"


def test_tensorboard_takes_names_as_they_are() -> None:
    assert TraceNames(HIERARCHY, tensorboard=True).execution_paths(["call/s/x", "s/x:Relu"]) == {}


words = st.lists(
    st.sampled_from(["call", "loop", "if", "s", "x", "c", "y", "body", "_5", "then", "Func", "", ":", "back", "w"]),
    max_size=8,
)


@given(st.lists(words.map("/".join), max_size=10))
def test_any_name_is_legal(names: list[str]) -> None:
    for name, place in TraceNames(HIERARCHY).execution_paths(names).items():
        assert place.path, name
        path_address(HIERARCHY, place.path)


@pytest.mark.slow
def test_a_long_name_through_a_recursive_function_takes_no_time() -> None:
    start = process_time()
    TraceNames(HIERARCHY).execution_paths(["back" + "/c" * 10_000 + "/nothing"])
    assert within(process_time() - start, 5)


def test_of_very_many_functions_a_name_is_looked_for_in_the_first_that_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = GraphDef()
    for number in range(4):
        function = graph.library.function.add()
        function.signature.name = f"f{number}"
        function.node_def.add(name="shared", op="Neg")
        function.node_def.add(name=f"own{number}", op="Exp")
    function.node_def.add(name="more", op="Exp")
    names = ["shared", "own0", "own3", "more", "stranger"]

    def functions() -> list[str | None]:
        hierarchy = fold_graph(flatten(graph))
        places = TraceNames(hierarchy).execution_paths(names)
        return [hierarchy.name[function_row_of(hierarchy, places[name].path[-1])] if name in places else None
                for name in names]  # fmt: skip

    assert functions() == ["f3", "f0", "f3", "f3", None]  # the function that explains most names
    monkeypatch.setattr(trace_names, "MAX_SEARCHED_FUNCTIONS", 0)
    monkeypatch.setattr(trace_names, "FEW_NAME_READINGS", 2)
    assert functions() == ["f0", "f0", "f3", "f3", None]


@pytest.mark.slow
def test_calls_of_thousands_of_functions_are_read_in_no_time() -> None:
    """A Case in `loop` calls thousands of functions, `loop` itself last: each part of a name may go on in any."""
    graph = GraphDef()
    many = [f"f{number}" for number in range(5000)]
    graph.node.append(call("top", "PartitionedCall", ["loop"], []))
    for name in [*many, "loop"]:
        function = graph.library.function.add()
        function.signature.name = name
        function.node_def.add(name="x", op="Neg")
    branches = function.node_def.add(name="c", op="Case").attr["branches"].list.func
    for name in [*many, "loop"]:
        branches.add(name=name)
    names = [f"top{'/c' * 300}/n{number}/y" for number in range(30)]
    traced = TraceNames(fold_graph(flatten(graph)))
    start = process_time()
    places = traced.execution_paths(names)
    assert within(process_time() - start, 5)
    assert set(places) == set(names)
