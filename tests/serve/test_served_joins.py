"""Where tags belong in a served graph: at rows, by a rule, also those that came after the graph was read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.serve.serving import until
from tests.serve.writing import Writer, chain


def loaded(asked: Any, number: str = "0") -> Any:
    """The head of a graph, when it is read."""
    return until(lambda: (told := asked.get(f"/api/graphs/{number}").json()) and "head" in told and told)


def told(asked: Any, number: str = "0") -> tuple[dict[str, list[list[Any]]], dict[str, str]]:
    """Rows, rules and aspects of each tag that is joined, and the rules of those that are not, by name."""
    names = {tag["id"]: tag["name"] for tag in asked.get("/api/tags").json()["tags"]}
    answer = asked.get(f"/api/graphs/{number}/joins").json()
    found: dict[str, list[list[Any]]] = {}
    for tag, *rest in answer["joins"]:
        found.setdefault(names[tag], []).append(rest)
    return found, {names[tag]: rule for tag, rule, _ in answer["apart"]}


def test_tags_are_joined_to_rows_and_later_ones_too(client: Callable[..., Any], tmp_path: Path) -> None:
    """The graph is m/a ─▶ m/b ─▶ c: rows 1 (m), 2, 3 and 4."""
    writer = Writer(tmp_path / "run")
    writer.graph(chain("m/a", "m/b", "c"))
    writer.scalars(1, **{"m/a/grad": 0.5, "loss": 1.0})
    asked = client(tmp_path)
    early = asked.get("/api/graphs/0/joins")
    assert early.status_code in (200, 409), early.text
    loaded(asked)
    joined, apart = told(asked)
    assert joined == {"m/a/grad": [[2, "name", "gradient"]]}
    assert apart == {"loss": "run"}
    first = asked.get("/api/graphs/0/joins")
    assert asked.get("/api/graphs/0/joins", {"if-none-match": first.headers["etag"]}).status_code == 304
    writer.scalars(2, **{"m/b/grad": 0.5})
    until(lambda: "m/b/grad" in {tag["name"] for tag in asked.get("/api/tags").json()["tags"]})
    assert told(asked)[0]["m/b/grad"] == [[3, "name", "gradient"]]
    assert asked.get("/api/graphs/7/joins").status_code == 404
    assert asked.get("/api/graphs/0/joins?x=1").status_code == 400
