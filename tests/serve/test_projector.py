"""Embeddings over HTTP: the list, points in columns, metadata, neighbours, sprites, layouts that take a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphviz_tb
from graphviz_tb.project import nearest_points, project_by_pca
from graphviz_tb.serve import embeddings
from tests.project.digits import write_looked_up
from tests.serve.serving import PATIENCE, columns, until
from tests.serve.test_served_joins import loaded

HEADERS = {"x-tbgraph": "1"}
VALUES = np.random.default_rng(1).normal(size=(40, 6)).astype(np.float32)
PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(20)


def slow_layout(told: Callable[..., None], values: np.ndarray, *_: Any) -> np.ndarray:
    """A layout that takes its time, in a process of its own."""
    told("tsne", 250, 1000)
    time.sleep(PATIENCE)
    return values[:, :3]


def quick_layout(told: Callable[..., None], values: np.ndarray, method: str, axes: int, near: int | None) -> np.ndarray:
    """A layout that is there at once."""
    told("tsne", 1000, 1000)
    return values[:, :axes] * 2


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A folder as the tutorial has it: no event files; hostile words in its metadata."""
    config = (
        'embeddings { tensor_name: "<b>w</b>" tensor_path: "w.tsv" metadata_path: "m.tsv" '
        'sprite { image_path: "s.png" single_image_dim: 4 single_image_dim: 2 } }\n'
        'embeddings { tensor_name: "x" tensor_path: "w.tsv" metadata_path: "../m.tsv" '
        'sprite { image_path: "s.svg" single_image_dim: 4 } }'
    )
    (tmp_path / "projector_config.pbtxt").write_text(config)
    (tmp_path / "w.tsv").write_text("".join("\t".join(map(repr, row)) + "\n" for row in VALUES.tolist()))
    rows = [f"<script>{at}</script>\t{at / 4}\n" for at in range(40)]
    (tmp_path / "m.tsv").write_text("na<i>me\tnumber\n" + "".join(rows))
    (tmp_path / "s.png").write_bytes(PIXEL)
    (tmp_path / "s.svg").write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>")
    return tmp_path


def test_the_list(client: Callable[..., Any], log: Path) -> None:
    """A log without an event file has embeddings all the same; what is refused is a notice."""
    asked = client(log)
    state = asked.get("/api/state").json()
    assert (state["kinds"], state["ready"]) == ({"projector": 2}, True)
    told = asked.get("/api/projector").json()
    assert [(one["id"], one["name"], one["points"], one["dims"], one["sprite"]) for one in told["tensors"]] == [
        (0, "<b>w</b>", 40, 6, [4, 2]),
        (1, "x", 40, 6, [4, 4]),
    ]
    assert [one["code"] for one in told["notices"]] == ["moved"]
    assert [one["name"] for one in told["methods"]] == ["pca", "tsne", "umap"]
    assert str(log) not in asked.get("/api/projector").text


def test_an_embedding_is_joined_to_the_op_that_looks_it_up(client: Callable[..., Any], tmp_path: Path) -> None:
    write_looked_up(tmp_path)
    asked = client(tmp_path)
    loaded(asked)
    hit = graphviz_tb.load(tmp_path)["model/lookup"].row
    assert asked.get("/api/graphs/0/joins").json()["clouds"] == [[0, hit, "variable"]]


def test_points_neighbours_and_metadata(client: Callable[..., Any], log: Path) -> None:
    asked = client(log)
    answer = asked.get("/api/projector/0/points")
    head, blocks = columns(answer.content)
    found = project_by_pca(VALUES)
    for at in range(6):
        assert np.array_equal(blocks[f"axis.{at}"], found.axes[:, at])
    assert head["variance"] == [round(share, 6) for share in found.variance]
    same = asked.get("/api/projector/0/points", headers={"if-none-match": answer.headers["etag"]})
    assert same.status_code == 304
    for metric in ("cosine", "euclidean"):
        told = asked.get(f"/api/projector/0/neighbours?row=7&k=5&metric={metric}").json()
        rows, far = nearest_points(VALUES, 7, 5, metric)  # type: ignore[arg-type]
        assert (told["rows"], told["distances"]) == (rows.tolist(), far.tolist())
    told = asked.get("/api/projector/0/metadata").json()["columns"]
    assert [(one["name"], one["numeric"], len(one["texts"])) for one in told] == [
        ("na<i>me", False, 40),
        ("number", True, 40),
    ]
    assert told[0]["texts"][3] == "<script>3</script>"
    # The path of the other leads out of the log: the file of that name beside its config is taken.
    assert asked.get("/api/projector/1/metadata").json()["columns"] == told


def test_sprites_are_images_by_their_first_bytes(client: Callable[..., Any], log: Path) -> None:
    asked = client(log)
    image = asked.get("/api/projector/0/sprite")
    assert (image.status_code, image.headers["content-type"], image.content) == (200, "image/png", PIXEL)
    assert image.headers["content-security-policy"] == "default-src 'none'; sandbox"
    refused = asked.get("/api/projector/1/sprite")
    assert (refused.status_code, "not an image" in refused.json()["error"]) == (404, True)


def test_what_is_refused(client: Callable[..., Any], log: Path) -> None:
    asked = client(log)
    for path, status in {
        "/api/projector/9/points": 404,
        "/api/projector/..%2f..%2fetc%2fpasswd/points": 404,
        "/api/projector/-1/metadata": 404,
        "/api/projector/0/points?method=lle": 400,
        "/api/projector/0/points?method=tsne": 409,
        "/api/projector/0/points?axes=4": 400,
        "/api/projector/0/neighbours?row=40": 400,
        "/api/projector/0/neighbours?k=1001": 400,
        "/api/projector/0/neighbours?metric=l1": 400,
        "/api/projector/0/points?path=/etc/passwd": 400,
    }.items():
        assert asked.get(path).status_code == status, path
    (log / "w.tsv").write_text("1\t2\nx\t3\n")
    refused = asked.get("/api/projector/0/points")
    assert (refused.status_code, "traceback" in refused.text.lower()) == (404, False)
    (log / "w.tsv").unlink()
    assert asked.get("/api/projector/0/points").status_code == 404


def test_a_layout_goes_on_elsewhere(client: Callable[..., Any], log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how far it is, is cancelled, and its points are kept when it is done."""
    monkeypatch.setattr(embeddings, "layout_points", lambda values, method: np.arange(len(values)))
    asked, path = client(log), "/api/projector/0/points?method=tsne&axes=2"
    monkeypatch.setattr(embeddings, "lay_out_points", slow_layout)
    assert asked.post("/api/projector/0/layout?method=tsne&axes=2").status_code == 403  # without our header
    assert asked.post("/api/projector/0/layout?method=tsne&axes=2", headers=HEADERS).status_code == 202
    until(lambda: asked.get(path).json().get("done"))
    told = asked.get(path).json()
    assert (told["state"], told["done"], told["total"]) == ("working", 250, 1000)
    assert asked.post("/api/projector/1/layout?method=umap", headers=HEADERS).status_code == 429
    assert asked.post("/api/projector/0/cancel", headers=HEADERS).status_code == 202
    assert asked.get(path).json()["state"] == "none"
    monkeypatch.setattr(embeddings, "lay_out_points", quick_layout)
    assert asked.post("/api/projector/0/layout?method=tsne&axes=2", headers=HEADERS).status_code == 202
    until(lambda: asked.get(path).status_code == 200)
    head, blocks = columns(asked.get(path).content)
    assert np.array_equal(blocks["axis.1"], VALUES[:, 1] * 2)
    assert (head["method"], head["settings"]["perplexity"], "axis.2" in blocks) == ("tsne", 13.0, False)


def test_files_that_come_later(client: Callable[..., Any], log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "RELIST_SECONDS", 0.0)
    monkeypatch.setattr(embeddings, "EMBEDDING_RELIST_RATIO", 0)
    (log / "projector_config.pbtxt").rename(log / "later")
    asked = client(log, poll=0.1)
    assert asked.get("/api/projector").json()["tensors"] == []
    (log / "later").rename(log / "projector_config.pbtxt")
    until(lambda: asked.get("/api/state").json()["kinds"].get("projector"))
    assert len(asked.get("/api/projector").json()["tensors"]) == 2
