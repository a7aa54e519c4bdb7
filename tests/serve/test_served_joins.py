"""Where tags belong in a served graph: at rows, by a rule, also those that came after the graph was read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from graphviz_tb import load
from graphviz_tb.options import PictureOptions
from tests.each import each
from tests.logs.bad_training import write_log
from tests.serve.serving import columns, until
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


def test_the_card_of_a_layer_shows_its_own_run(client: Callable[..., Any], tmp_path: Path) -> None:
    for run in ("a/train", "b/train"):
        writer = Writer(tmp_path / run)
        writer.graph(chain("m/a", run.replace("/", "_")))
        writer.scalars(1, **{"m/a/grad": 0.5})
    Writer(tmp_path / "a/validation").scalars(1, **{"m/a/grad": 0.5})
    asked = client(tmp_path)
    graphs = {one["run"]: one["id"] for one in asked.get("/api/state").json()["graphs"]}
    assert loaded(asked, graphs["b/train"])
    assert asked.get(f"/api/graphs/{graphs['b/train']}/joins").json()["runs"] == ["b/train"]
    assert loaded(asked, graphs["a/train"])
    assert asked.get(f"/api/graphs/{graphs['a/train']}/joins").json()["runs"] == ["a/train", "a/validation"]


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


def test_a_graph_in_the_colours_of_a_step(client: Callable[..., Any], tmp_path: Path) -> None:
    """The same words as `render --color-by logged` has: values, conditions since when, layers that are silent."""
    write_log(tmp_path / "bad")
    asked = client(tmp_path)
    loaded(asked)
    head, column = columns(asked.get("/api/graphs/0/logged?at=300").content)
    model = load(tmp_path)
    values = model.facts_for_picture(PictureOptions(color_by="logged", at=300)).logged
    assert values is not None
    rows = column["row"].tolist()
    assert rows == sorted(values.rows.keys() | values.silent)
    assert np.array_equal(column["value"], [values.rows[row].value for row in rows], equal_nan=True)
    assert head["steps"] == list(range(0, 500, 50))
    assert (head["at"], head["measure"], "ratio" in head["measures"]) == (300, "rms", True)
    names = [model.hierarchy.name[row] for row in rows]
    seconds = {
        name: head["texts"][max(0, word - 1)] for name, word in zip(names, column["second"].tolist(), strict=True)
    }
    assert seconds["head/dense_1/MatMul"] == "NaN since step 300"
    assert seconds["dead/dense_1/MatMul"] == "zero since step 100"
    assert column["flags"][names.index("head/dense_1/MatMul")] & 8
    assert head["heading"].endswith("step 300, log scale")


@each(
    ("query", "status"),
    [
        ("pattern=nothing*", 400),
        ("measure=colour", 400),
        ("measure=last", 400),  # of histograms
        ("run=7", 404),
        ("at=x", 400),
        ("more=1", 400),
        ("at=-1", 200),
        ("pattern=weights/*&measure=norm&run=0&against=0", 200),
    ],
)
def test_what_is_asked_of_colours_is_looked_at(
    query: str, status: int, client: Callable[..., Any], tmp_path: Path
) -> None:
    write_log(tmp_path / "bad")
    asked = client(tmp_path)
    loaded(asked)
    answer = asked.get(f"/api/graphs/0/logged?{query}")
    assert answer.status_code == status, answer.text
    if status == 200:
        again = asked.get(f"/api/graphs/0/logged?{query}", {"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304
    else:
        assert answer.json()["error"]
