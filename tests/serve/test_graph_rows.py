"""Find, trace and card: over the whole graph, whatever is open in a viewer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb.proto import GraphDef
from tests.serve.serving import until
from tests.serve.writing import Writer


def asked_of(asked: Any, path: str) -> Any:
    return until(lambda: (answer := asked.get(path)).status_code != 409 and answer)


@pytest.fixture
def graph(client: Callable[..., Any], tmp_path: Path) -> Any:
    """a/x ─▶ a/b/c/d/y ─▶ z, and a control edge from a/x to z."""
    made = GraphDef()
    made.node.add(name="a/x", op="Placeholder", device="/cpu:0")
    made.node.add(name="a/b/c/d/y", op="Conv2D", input=["a/x"]).attr["padding"].s = b"SAME"
    made.node.add(name="z", op="Conv2DBackprop", input=["a/b/c/d/y", "^a/x"])
    Writer(tmp_path / "run").graph(made)
    return client(tmp_path)


def names(told: Any) -> list[str]:
    return [hit["name"] for hit in told["hits"]]


def test_find_sees_what_was_never_opened(graph: Any) -> None:
    def find(text: str) -> list[str]:
        return names(asked_of(graph, f"/api/graphs/0/find?text={text}").json())

    assert find("op:conv2d") == ["a/b/c/d/y"]
    assert find("op:conv*") == ["a/b/c/d/y", "z"]
    assert find("conv2d") == ["a/b/c/d/y", "z"]
    assert find("name:D/Y") == ["a/b/c/d/y"]
    assert find("attr:padding=same") == ["a/b/c/d/y"]
    assert find("device:cpu") == ["a/x"]
    assert find("op:conv*%20name:z") == ["z"]
    assert find("nothing") == []
    told = graph.get("/api/graphs/0/find?text=conv&limit=1").json()
    assert (told["count"], len(told["hits"])) == (2, 1)


def test_trace_goes_by_steps_and_all_the_way(graph: Any) -> None:
    row = {name: asked_of(graph, f"/api/graphs/0/find?text=name:{name}").json()["hits"][0]["row"] for name in "xyz"}

    def trace(query: str) -> set[int]:
        return set(graph.get(f"/api/graphs/0/trace?{query}").json()["rows"])

    assert trace(f"row={row['y']}&way=out") == {row["y"], row["z"]}
    assert trace(f"row={row['z']}&way=in") == {row["x"], row["y"], row["z"]}  # a control edge counts
    assert trace(f"row={row['x']}&way=out&hops=all") == {row["x"], row["y"], row["z"]}
    assert row["y"] in trace("row=0&way=in&hops=all")


def test_card_of_an_op_and_of_a_group(graph: Any) -> None:
    hits = asked_of(graph, "/api/graphs/0/find?text=a").json()["hits"]
    rows = {hit["name"]: hit["row"] for hit in hits}
    told = graph.get(f"/api/graphs/0/card/{rows['a/b/c/d/y']}").json()
    assert (told["op"], told["attributes"]) == ("Conv2D", [["padding", "SAME"]])
    assert [(edge["name"], edge["input"], edge["control"]) for edge in told["inputs"]["edges"]] == [("a/x", 0, False)]
    assert [edge["name"] for edge in told["outputs"]["edges"]] == ["z"]
    group = graph.get(f"/api/graphs/0/card/{rows['a']}").json()
    assert (group["kind"], group["types"]) == ("scope", {"Conv2D": 1, "Placeholder": 1})
    assert (group["inputs"]["count"], group["outputs"]["count"]) == (0, 2)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("find", 400), ("find?text=%20", 400), ("find?text=/(a%2B)%2B$/", 400), ("find?text=a&limit=0", 400),
        ("trace", 404), ("trace?row=99", 404), ("trace?row=1&way=up", 400), ("trace?row=1&hops=0", 400),
        ("trace?row=-1", 404), ("card/99", 404), ("card/x", 404), ("card/1?more=1", 400),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_says_why(graph: Any, path: str, status: int) -> None:
    asked_of(graph, "/api/graphs/0/card/0")
    answer = graph.get(f"/api/graphs/0/{path}")
    assert answer.status_code == status
    assert answer.json()["error"]
