"""Profiles on a server: traced steps are listed, their tables add up, slices come in columns, thinned and marked."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphviz_tb import load
from tests.serve.serving import columns, until
from tests.serve.writing import Writer, chain

FIXTURES = Path(__file__).parents[2] / "fixtures"


def listed(asked: Any) -> list[dict[str, Any]]:
    """The traced steps, once there are some."""
    found: list[dict[str, Any]] = until(lambda: asked.get("/api/profile").json()["profiles"])
    return found


def test_the_steps_of_a_log_and_where_their_time_goes(client: Callable[..., Any]) -> None:
    asked = client(FIXTURES / "logdirs/mnist_runs")
    steps = listed(asked)
    assert [(one["run"], one["tag"], one["graph"]) for one in steps] == [
        ("train", "step002", "0"),
        ("train", "step004", "0"),
    ]
    assert asked.get("/api/state").json()["kinds"]["profile"] == 2
    answer = asked.get(f"/api/profile/{steps[1]['id']}/table")
    told = answer.json()
    stats = load(FIXTURES / "logdirs/mnist_runs", run="train", step="4").facts.stats
    assert stats is not None
    assert told["whole"] == round(stats.figures(0).time * 1000)
    for table in told["tables"].values():
        assert sum(table["self"]) == told["whole"] + told["outside"] + told["unmatched"]
    assert sum(told["shares"].values()) == told["length"]
    again = asked.get(f"/api/profile/{steps[1]['id']}/table", {"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304
    head, column = columns(asked.get(f"/api/profile/{steps[1]['id']}/slices?px=4000").content)
    assert int(np.sum(column["count"])) == told["slices"]
    assert len(head["names"]) == len(set(column["name"].tolist()))


def test_slices_are_searched_by_name_and_by_node(client: Callable[..., Any]) -> None:
    asked = client(FIXTURES / "logdirs/mnist_runs")
    number = listed(asked)[0]["id"]
    head, column = columns(asked.get(f"/api/profile/{number}/slices?match=CONV2D").content)
    assert head["hits"] == len(head["marks"]) > 0
    assert np.any(column["hit"])
    head, column = columns(asked.get(f"/api/profile/{number}/slices?node=conv1").content)
    told = asked.get(f"/api/profile/{number}/table").json()["tables"]["groups"]
    at = told["name"].index("conv1")
    assert (head["hits"], head["busyHits"]) == (told["count"][at], told["total"][at])


@pytest.mark.parametrize(
    "path",
    [
        "9/table",
        "x/slices",
        "0/table?x=1",
        "0/slices?from=5&to=4",
        "0/slices?px=0",
        "0/slices?from=nan",
        "0/slices?to=1e99",
    ],
)
def test_what_is_no_profile_is_refused(client: Callable[..., Any], path: str) -> None:
    asked = client(FIXTURES / "logdirs/mnist_runs")
    listed(asked)
    answer = asked.get(f"/api/profile/{path}")
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]


def test_a_trace_that_comes_later_and_hostile_names(client: Callable[..., Any], tmp_path: Path) -> None:
    """A trace of TensorFlow 2 is a file of its own: no event file grows with it."""
    name = "a\u202e</script>"
    writer = Writer(tmp_path / "run")
    writer.graph(chain(name, "b"))
    asked = client(tmp_path)
    until(lambda: asked.get("/api/state").json()["ready"])
    assert asked.get("/api/profile").json()["profiles"] == []
    folder = tmp_path / "run" / "plugins" / "profile" / "monday"
    folder.mkdir(parents=True)
    shutil.copy(FIXTURES / "run_metadata/xplane_cpu/host.xplane.pb", folder / "host.xplane.pb")
    steps = listed(asked)
    assert [one["tag"] for one in steps] == ["monday:0", "monday:1", "monday:2"]
    told = asked.get(f"/api/profile/{steps[0]['id']}/table").json()
    assert told["lanes"][0][1].startswith("tf_Compute")
    assert "have names that no op of this graph has" in told["missing"][0]


def test_a_source_without_a_graph_has_its_timeline(client: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "log" / "plugins" / "profile" / "p"
    folder.mkdir(parents=True)
    shutil.copy(FIXTURES / "run_metadata/xplane_cpu/host.xplane.pb", folder / "host.xplane.pb")
    asked = client(tmp_path / "log")
    steps = listed(asked)
    assert steps[0]["graph"] is None
    assert asked.get(f"/api/profile/{steps[0]['id']}/table").json()["slices"] > 0
