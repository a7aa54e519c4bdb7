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
from graphviz_tb.commands import _run_command_line
from graphviz_tb.logs.embeddings import Projector
from graphviz_tb.page.log import PAGE_TAG_KINDS, SourceLog, _log_page_html, open_source_log, pack_log
from graphviz_tb.project import project_by_pca
from tests.formats.test_embeddings import stored
from tests.project.digits import write_digits

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
    held = blocks(_log_page_html(SourceLog(log, None), "log", 10**7))
    told = json.loads(held["log"])
    assert {run["name"] for run in told["state"]["runs"]} == set(log.runs)
    names = {run["id"]: run["name"] for run in told["state"]["runs"]}
    seen = 0
    for tag in told["tags"]:
        if tag["kind"] != "scalar":
            continue
        points = columns(held[f"log/{tag['id']}"])
        for run_id, series, *_ in tag["runs"]:
            one = log.series(names[run_id], tag["name"])
            order = one.point_order(superseded=True)
            assert points[f"{series}.value"].tolist() == pytest.approx(one.value[order].tolist(), nan_ok=True)
            assert points[f"{series}.step"].tolist() == one.step[order].tolist()
            seen += 1
    assert seen == sum(one.kind == "scalar" for one in log.logged.series)


def test_a_log_with_a_graph_has_both(tmp_path: Path) -> None:
    target = tmp_path / "run.html"
    assert _run_command_line(["render", "-q", str(LOGS / "tf1_filewriter"), "-o", str(target)]) == 0
    held = blocks(target.read_bytes())
    assert {"rows", "levels", "log"} <= set(held)


def test_a_log_without_a_graph_is_a_page_of_its_scalars(tmp_path: Path) -> None:
    target = tmp_path / "run.html"
    assert _run_command_line(["render", "-q", str(LOGS / "two_writers"), "-o", str(target)]) == 0
    assert "rows" not in blocks(target.read_bytes())
    assert _run_command_line(["render", "-q", str(LOGS / "two_writers"), "-o", str(tmp_path / "run.svg")]) == 3
    assert not (tmp_path / "run.svg").exists()


def test_tags_without_room_are_counted() -> None:
    log = open_log(LOGS / "tf1_filewriter")
    told = json.loads(blocks(_log_page_html(SourceLog(log, None), "log", 500))["log"])
    shown = {(one.tag, one.kind) for one in log.logged.series if one.kind in PAGE_TAG_KINDS}
    assert told["tags"]
    assert told["state"]["left"] == len(shown) - len(told["tags"])
    assert set(told["state"]["kinds"]) == {tag["kind"] for tag in told["tags"]}


def test_histograms_images_and_texts_are_in_it() -> None:
    log = open_log(LOGS / "torch_writer")
    held = blocks(_log_page_html(SourceLog(log, None), "log", 10**7))
    told = json.loads(held["log"])
    tags = {kind: [tag for tag in told["tags"] if tag["kind"] == kind] for kind in ("histogram", "image", "text")}
    series = tags["histogram"][0]["runs"][0][1]
    columns_of = columns(held[f"log/{tags['histogram'][0]['id']}"])
    assert len(columns_of[f"{series}.borders"]) == 31
    assert len(columns_of[f"{series}.bands"]) == 9 * len(columns_of[f"{series}.step"])
    for tag in tags["image"]:
        one = json.loads(held[f"log/{tag['id']}"])[str(tag["runs"][0][1])]
        assert len(one["step"]) == len(one["points"]) == min(10, one["n"])
        sample = one["points"][-1]["samples"][0]
        assert held[f"log/blob/{sample['blob']}"][:4] == b"\x89PNG"
    texts = json.loads(held[f"log/{tags['text'][0]['id']}"])
    assert all(point["cells"] for one in texts.values() for point in one["points"])


def test_images_without_room_are_left_out_first() -> None:
    log = open_log(LOGS / "torch_writer")
    whole = pack_log(SourceLog(log, None), "log", 10**7)
    images = [block for block in whole.blocks if block.name.startswith("log/blob/")]
    room = sum(len(block.base64_text) for block in whole.blocks) - sum(len(block.base64_text) for block in images)
    less = pack_log(SourceLog(log, None), "log", room)
    assert less.left
    assert len([block for block in less.blocks if block.name.startswith("log/blob/")]) < len(images)
    assert sum(len(block.base64_text) for block in less.blocks[1:]) <= room


def test_hostile_names_stay_in_their_blocks() -> None:
    page = _log_page_html(SourceLog(open_log(LOGS / "odd_names"), None), "</script><script>alert(1)", 10**7).decode()
    assert page.count("<script") == page.count("</script>")
    assert "<script>alert" not in page


def test_a_page_of_a_graph_alone_has_nothing_of_logs() -> None:
    page = load(FIXTURES / "real" / "xor.pbtxt").render("html")
    assert b"class ScalarPage" not in page


def test_a_log_with_an_embedding_and_nothing_else(tmp_path: Path) -> None:
    """The page holds its points, its metadata and its pictures; what does not fit is said."""
    log = tmp_path / "log"
    write_digits(log, 5)
    target = tmp_path / "run.html"
    assert _run_command_line(["render", "-q", str(log), "-o", str(target)]) == 0
    held = blocks(target.read_bytes())
    assert json.loads(held["log"])["state"]["kinds"] == {"projector": 1}
    [told] = json.loads(held["log/projector"])["tensors"]
    assert (told["name"], told["points"], told["sprite"]) == ("default:00000", 50, [14, 14])
    points = columns(held["log/projector/0"])
    projector = Projector(log)
    [one] = projector.refresh().found
    assert np.array_equal(points["values"].reshape(50, -1), projector.values(one))
    assert np.array_equal(points["axis.2"], project_by_pca(projector.values(one)).axes[:, 2])
    assert held["log/projector/0/sprite"] == projector.sprite(one)
    assert [each["name"] for each in json.loads(held["log/projector/0/metadata"])["columns"]] == [
        "digit",
        "name",
        "ink",
    ]
    small = pack_log(SourceLog(None, projector), "log", 3_000)
    listed = json.loads(next(block.data for block in small.blocks if block.name == "log/projector"))
    assert (listed["tensors"], listed["notices"][0]["text"]) == (
        [],
        "'default:00000' is not in this file: write it with a larger --page-max",
    )


def test_variables_that_nobody_described_are_not_in_a_page(tmp_path: Path) -> None:
    stored(tmp_path, "model", {"kernel": np.ones((9, 4), np.float32)})
    assert open_source_log(tmp_path) is None
