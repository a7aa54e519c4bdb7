"""The page of a log directory: the graph and the scalars in one file, or the scalars alone."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphviz_tb import load, open_log
from graphviz_tb.commands import run
from graphviz_tb.page.logged import log_html

FIXTURES = Path(__file__).parents[2] / "fixtures"
LOGS = FIXTURES / "logged"
TYPES = {"i4": "<i4", "f4": "<f4", "f8": "<f8", "u1": "u1"}


def blocks(page: bytes) -> dict[str, bytes]:
    """What the blocks of a page hold, by name."""
    found = re.findall(rb'data-block="([^"]+)"[^>]*>([^<]+)<', page)
    return {name.decode(): gzip.decompress(b64decode(packed)) for name, packed in found}


def columns(data: bytes) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a block in columns, by name."""
    long = int.from_bytes(data[:4], "little")
    head = json.loads(data[4 : 4 + long])
    return {
        one["name"]: np.frombuffer(data, TYPES[one["type"]], one["count"], 4 + long + one["at"])
        for one in head["blocks"]
    }


def test_it_holds_every_point_of_a_short_log() -> None:
    log = open_log(LOGS / "tf1_filewriter")
    held = blocks(log_html(log.logged, "log", 10**7))
    told = json.loads(held["log"])
    assert {run["name"] for run in told["state"]["runs"]} == set(log.runs)
    names = {run["id"]: run["name"] for run in told["state"]["runs"]}
    seen = 0
    for tag in told["tags"]:
        points = columns(held[f"log/{tag['id']}"])
        for run_id, series, *_ in tag["runs"]:
            one = log.series(names[run_id], tag["name"])
            order = one.in_order(superseded=True)
            assert points[f"{series}.value"].tolist() == pytest.approx(one.value[order].tolist(), nan_ok=True)
            assert points[f"{series}.step"].tolist() == one.step[order].tolist()
            seen += 1
    assert seen == sum(one.kind == "scalar" for one in log.logged.series)


def test_a_log_with_a_graph_has_both(tmp_path: Path) -> None:
    target = tmp_path / "run.html"
    assert run(["render", "-q", str(LOGS / "tf1_filewriter"), "-o", str(target)]) == 0
    held = blocks(target.read_bytes())
    assert {"rows", "levels", "log"} <= set(held)


def test_a_log_without_a_graph_is_a_page_of_its_scalars(tmp_path: Path) -> None:
    target = tmp_path / "run.html"
    assert run(["render", "-q", str(LOGS / "two_writers"), "-o", str(target)]) == 0
    assert "rows" not in blocks(target.read_bytes())
    assert run(["render", "-q", str(LOGS / "two_writers"), "-o", str(tmp_path / "run.svg")]) == 3
    assert not (tmp_path / "run.svg").exists()


def test_tags_without_room_are_counted() -> None:
    log = open_log(LOGS / "tf1_filewriter")
    told = json.loads(blocks(log_html(log.logged, "log", 500))["log"])
    scalars = {one.tag for one in log.logged.series if one.kind == "scalar"}
    assert told["tags"]
    assert told["state"]["left"] == len(scalars) - len(told["tags"])


def test_hostile_names_stay_in_their_blocks() -> None:
    page = log_html(open_log(LOGS / "odd_names").logged, "</script><script>alert(1)", 10**7).decode()
    assert page.count("<script") == page.count("</script>")
    assert "<script>alert" not in page


def test_a_page_of_a_graph_alone_has_nothing_of_logs() -> None:
    page = load(FIXTURES / "real" / "xor.pbtxt").render("html")
    assert b"class ScalarPage" not in page
