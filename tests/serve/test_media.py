"""Images, sounds, texts, histograms, curves and tensors of real logs, and what a hostile log calls an image."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from graphviz_tb import open_log
from graphviz_tb.logs.scalars_export import scalars_as_csv
from tests.each import each
from tests.event_files import event, strings, write
from tests.serve.serving import columns

LOGGED = Path(__file__).parents[2] / "fixtures" / "logged"
DIRECTORIES = sorted(path.name for path in LOGGED.iterdir() if path.is_dir())


def first(asked: Any, kind: str) -> int:
    """The first series of a kind."""
    number: int = asked.get(f"/api/tags?kind={kind}").json()["tags"][0]["runs"][0][1]
    return number


@each("name", DIRECTORIES)
def test_what_is_exported_is_what_was_logged(client: Callable[..., Any], name: str) -> None:
    """Every point; other tests compare these with TensorBoard's own answers."""
    log = open_log(LOGGED / name)
    scalars = [series for series in log.logged.series if series.kind == "scalar"]
    wanted = "".join(scalars_as_csv(sorted(scalars, key=lambda one: (one.run, one.tag))))
    told = client(LOGGED / name).get("/api/export").content.decode()
    assert list(csv.reader(io.StringIO(told))) == list(csv.reader(io.StringIO(wanted)))


def test_images_and_their_bytes(client: Callable[..., Any]) -> None:
    asked = client(LOGGED / "torch_writer")
    told = asked.get(f"/api/media/{first(asked, 'image')}").json()
    one = told["samples"][0]
    assert one["type"] == "image/png"
    assert one["width"] > 0
    whole = asked.get(f"/api/blob/{one['blob']}")
    assert whole.headers["content-type"] == "image/png"
    assert "sandbox" in whole.headers["content-security-policy"]
    assert len(whole.content) == one["bytes"]
    part = asked.get(f"/api/blob/{one['blob']}", {"range": "bytes=1-3"})
    assert (part.status_code, part.content) == (206, b"PNG")
    assert asked.get(f"/api/blob/{one['blob']}", {"range": "bytes=999999999-"}).status_code == 416
    assert asked.get("/api/blob/999").status_code == 404


def test_what_only_says_that_it_is_an_image(client: Callable[..., Any], tmp_path: Path) -> None:
    cells = [b"2", b"3", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"]
    write(tmp_path / "events.out.tfevents.1.host", event(1, strings("x", cells, "images", (3,))))
    asked = client(tmp_path)
    blob = asked.get(f"/api/media/{first(asked, 'image')}").json()["samples"][0]
    assert blob["type"] == "application/octet-stream"
    answer = asked.get(f"/api/blob/{blob['blob']}")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment"


def test_texts_are_told_as_they_are(client: Callable[..., Any]) -> None:
    asked = client(LOGGED / "plugin_v1")
    numbers = [run[1] for tag in asked.get("/api/tags?kind=text").json()["tags"] for run in tag["runs"]]
    told = [asked.get(f"/api/text/{number}").json() for number in numbers]
    assert told
    for one in told:
        assert len(one["cells"]) == int(np.prod(one["shape"]))
        assert one["cut"] is False


def test_histograms(client: Callable[..., Any]) -> None:
    asked = client(LOGGED / "tf2_summaries")
    number = first(asked, "histogram")
    _, raw = columns(asked.get(f"/api/histograms/{number}?view=buckets").content)
    count = len(raw[f"{number}.step"])
    assert raw[f"{number}.start"][-1] == len(raw[f"{number}.left"]) == len(raw[f"{number}.count"])
    _, ridge = columns(asked.get(f"/api/histograms/{number}").content)
    assert len(ridge[f"{number}.borders"]) == 31
    assert np.isclose(ridge[f"{number}.count"].sum(), raw[f"{number}.count"].sum())
    _, band = columns(asked.get(f"/api/histograms/{number}?view=bands&steps=1").content)
    assert len(band[f"{number}.bands"]) == 9
    assert count >= len(band[f"{number}.step"]) == 1


def test_steps_of_any_kind(client: Callable[..., Any]) -> None:
    asked = client(LOGGED / "torch_writer")
    numbers = [first(asked, kind) for kind in ("image", "text", "histogram")]
    _, found = columns(asked.get(f"/api/steps/{','.join(map(str, numbers))}").content)
    told = asked.get(f"/api/media/{numbers[0]}").json()["steps"]
    steps = found[f"{numbers[0]}.step"]
    assert (len(steps), steps[0], steps[-1]) == (told["n"], told["first"], told["last"])
    assert all(len(found[f"{number}.step"]) == len(found[f"{number}.wall"]) > 0 for number in numbers)


def test_curves_and_tensors(client: Callable[..., Any]) -> None:
    asked = client(LOGGED)
    curve = asked.get(f"/api/pr/{first(asked, 'pr_curve')}").json()
    assert len(curve["precision"]) == len(curve["recall"]) == len(curve["thresholds"]) > 1
    tensor = asked.get(f"/api/tensors/{first(asked, 'tensor')}").json()
    assert len(tensor["values"]) == min(1000, int(np.prod(tensor["shape"])))
    assert asked.get(f"/api/tensors/{first(asked, 'scalar')}").status_code == 400
    assert asked.get(f"/api/media/{first(asked, 'scalar')}").status_code == 400
    assert asked.get(f"/api/media/{first(asked, 'image')}?at=-5").status_code == 404
