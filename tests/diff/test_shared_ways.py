"""Ways that thousands of changes share are gone once; signs that calls hand on go to what is around them alone."""

from __future__ import annotations

import pytest

from graphviz_tb.api.pipeline import load
from graphviz_tb.diff.baseline import lines_of
from graphviz_tb.diff.picture import rows
from graphviz_tb.diff.picture import rows as opened
from graphviz_tb.diff.picture.merge import Merged
from graphviz_tb.diff.picture.rows import HOLDS_SIGN, GroupPaths, edge_states, group_signs, row_places, ways_to_changes
from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.limits import MAX_NESTED_OPEN_GROUPS
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath, child_path, content_rows
from graphviz_tb.proto import GraphDef
from tests.conftest import cpu_seconds
from tests.diff.test_causes import graph
from tests.diff.test_limits import library
from tests.diff.test_limits_of_pictures import tower


def called(bodies: dict[str, list[str]], *lines: str) -> GraphDef:
    """The functions, a call of the first, and an op beside it."""
    made = library(bodies)
    made.MergeFrom(graph("x Relu", *lines))
    made.node.add(name="call", op="PartitionedCall").attr["f"].func.name = next(iter(bodies))
    return made


def named(hierarchy: Hierarchy, paths: list[RowPath]) -> list[list[str]]:
    return [[hierarchy.name[row] for row in path] for path in paths]


def test_the_way_to_a_function_is_gone_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand ops behind a thousand calls: 2,000 × 1,000 × 1,000, were each way put together anew."""
    deep, many = 1000, 2000
    bodies = {f"f{level}": [f"@f{level + 1}"] for level in range(deep)}
    hierarchy = load(called({**bodies, f"f{deep}": ["Relu"] * many})).hierarchy
    last = hierarchy.function_rows[deep]
    asked: list[RowPath] = []

    def counting(hierarchy: Hierarchy, path: RowPath, child: int) -> RowPath:
        asked.append(path)
        return child_path(hierarchy, path, child)

    monkeypatch.setattr(opened, "child_path", counting)
    found, left = ways_to_changes(
        hierarchy, [""] * len(hierarchy), [[row] for row in range(last + 1, last + 1 + many)], 4000
    )
    assert [len(path) for path in found] == list(range(1, MAX_NESTED_OPEN_GROUPS + 1))
    assert left == 0
    assert len(asked) <= deep + 1


def test_where_there_was_no_room_there_is_none_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    many = 60
    hierarchy = load(
        graph(*(f"{scope}/op{at:x}z Op{at}" for scope in "ab" for at in range(many))), folds=False
    ).hierarchy
    asked: list[str] = []

    def counting(*args: object) -> object:
        asked.append("")
        return around(*args)  # type: ignore[arg-type]

    around = opened._groups_around
    monkeypatch.setattr(opened, "_groups_around", counting)
    shown = [row for row in range(len(hierarchy)) if hierarchy.node[row] >= 0]
    found, left = ways_to_changes(hierarchy, [""] * len(hierarchy), [[row] for row in shown * 50])
    assert named(hierarchy, found) == [["a"]]
    assert left == 50 * many
    assert len(asked) == 50 * many + 1


@pytest.mark.parametrize("bodies", [{"f": ["@f"]}, {"f": ["@g"], "g": ["@f"]}, {"f": ["Relu"]}])
def test_what_nothing_shown_calls_is_not_to_be_opened(bodies: dict[str, list[str]]) -> None:
    hierarchy = load(library(bodies)).hierarchy
    inner = [row + 1 for row in hierarchy.function_rows]
    assert [GroupPaths(hierarchy).innermost_group(row) for row in inner] == [None] * len(inner)
    assert ways_to_changes(hierarchy, [""] * len(hierarchy), [inner]) == ([], 0)


def test_each_function_of_a_call_of_several_is_a_group() -> None:
    made = called({"f": ["Relu"], "g": ["Abs", "@f"]})
    made.node[-1].attr["other"].func.name = "g"
    hierarchy = load(made).hierarchy
    call = hierarchy.name.index("call")
    f, g = hierarchy.function_rows
    assert ways_to_changes(hierarchy, [""] * len(hierarchy), [[f + 1, g + 1, f]])[0] == [(call,), (call, f), (call, g)]
    assert content_rows(hierarchy, (call,)) == [f, g]


def test_groups_are_counted_once_however_deep_calls_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change behind thirty calls, and a hundred scopes in which nothing changed, which are not asked thirty times."""
    made = called(tower("f", 30, "Tanh"), *(f"s{at:x}/op Relu" for at in range(100)), "here/op Relu", "here/in/op Abs")
    hierarchy = load(made).hierarchy
    ops = [row for row in range(len(hierarchy)) if hierarchy.node[row] >= 0]
    changed = [
        row for row in ops if hierarchy.graph.op_types[hierarchy.graph.op[hierarchy.node[row]]] in ("Tanh", "Abs")
    ]
    signs, words = ["" for _ in hierarchy.name], dict[int, str]()
    for row in changed:
        signs[row] = "~"
    counted: list[int] = []

    class Counting(OpCounter):
        def __call__(self, row: int) -> int | None:
            counted.append(row)
            return super().__call__(row)

    monkeypatch.setattr(rows, "OpCounter", Counting)
    sums = rows._rows_of_signs
    monkeypatch.setattr(rows, "_rows_of_signs", lambda *args: counted.append(0) or sums(*args))  # type: ignore[func-returns-value]
    group_signs(hierarchy, signs, words, {})
    assert {words[row] for row in hierarchy.calls if signs[row] == HOLDS_SIGN} == {"function changed"}
    assert sum(signs[row] == HOLDS_SIGN for row in hierarchy.calls) == 31
    assert words[hierarchy.name.index("here")] == "1 changed of 2 ops"
    assert words[hierarchy.function_rows[29]] == "1 reconnected of 2 ops"
    assert len(counted) < 50  # 30 × 2 sums, and 30 × 33 groups


@pytest.mark.slow
def test_inputs_that_are_wired_anew_are_looked_up_all_at_once() -> None:
    many = 320_000
    hierarchy = load(
        GraphDef(node=[{"name": "a", "op": "A"}, {"name": "h", "op": "AddN", "input": ["a"] * many}])
    ).hierarchy
    where, signs = row_places(hierarchy), [""] * len(hierarchy)
    lost, gained = {(("", "h"), slot) for slot in range(0, many, 2)}, {(("", "h"), slot) for slot in (0, 1)}
    merged = Merged(GraphDef(), lost=lost, gained=gained)
    assert edge_states(hierarchy, signs, where, merged).tolist() == [2, 1] + [2, 0] * (many // 2 - 1)
    assert not edge_states(hierarchy, signs, where, Merged(GraphDef())).any()
    listed = cpu_seconds(lambda: dict.fromkeys((*lost, *gained), 1))
    # Looked for one by one they take 1,000 times as long as it takes to list them.
    assert cpu_seconds(lambda: edge_states(hierarchy, signs, where, merged)) < 100 * listed


def test_the_name_of_a_function_is_not_written_with_each_of_its_nodes() -> None:
    name, many = "f" * 50_000 + "g" * 50_000, 500
    text = lines_of(library({name: ["Relu"] * many}))
    assert len(text) < 230 * many  # 100,000 letters a line
    lines = text.splitlines()
    assert len(set(lines)) == many
    assert lines[0] == f"{'f' * 100}…{'g' * 99}::n0 Relu ()"
    short = "f" * 200
    assert lines_of(library({short: ["Relu"]})) == f"{short}::n0 Relu ()\n"
