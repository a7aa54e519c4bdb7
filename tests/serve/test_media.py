"""Images, sounds, texts, histograms, curves and tensors of real logs, and what a hostile log calls an image."""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from graphviz_tb import open_log
from graphviz_tb.logs.scalars_export import scalars_as_csv
from tests.each import each
from tests.event_files import event, field, histogram, metadata, strings, tensor, varint, write
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


def test_thresholds_are_as_many_as_the_writer_says(client: Callable[..., Any], tmp_path: Path) -> None:
    rates = np.zeros((6, 10), "<f4")
    rates[0, :4], rates[2] = [8, 4, 2, 1], 9  # nothing is found above the fourth threshold
    about = field(9, field(1, field(1, b"pr_curves") + field(2, b"\x10\x7f")) + b"\x20\x01")  # 127 thresholds
    value = tensor("curve", rates, "", 1).replace(metadata(""), about)
    write(tmp_path / "run" / "events.out.tfevents.1.h", event(0, value))
    asked = client(tmp_path)
    curve = asked.get(f"/api/pr/{first(asked, 'pr_curve')}").json()
    assert curve["thresholds"] == [0.0, 1 / 126, 2 / 126, 3 / 126]
    assert (curve["tp"], curve["tn"]) == ([8, 4, 2, 1], [9, 9, 9, 9])


def test_a_jpeg_whose_size_stands_behind_a_profile(client: Callable[..., Any], tmp_path: Path) -> None:
    profile = b"".join(b"\xff\xe2" + struct.pack(">H", 60_000) + bytes(59_998) for _ in range(3))
    picture = b"\xff\xd8" + profile + b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 200, 300) + b"\x03" + bytes(99)
    late = b"\xff\xd8\xff\xc0\x00\x11\x08" + struct.pack(">HH", 0, 300) + b"\x03" + bytes(99)  # the height comes last
    for name, data in (("profile", picture), ("late", late)):
        logged = field(4, b"\x08" + varint(200) + b"\x10" + varint(300) + b"\x18\x03" + field(4, data))
        write(tmp_path / name / "events.out.tfevents.1.h", event(0, field(1, b"picture") + logged))
    asked = client(tmp_path)
    for tag in asked.get("/api/tags?kind=image").json()["tags"]:
        for run in tag["runs"]:
            [sample] = asked.get(f"/api/media/{run[1]}").json()["samples"]
            assert (sample["width"], sample["height"]) == (300, 200)


def test_histograms_count_what_is_live_after_a_restart(client: Callable[..., Any], tmp_path: Path) -> None:
    def begun(step: int, wall: float) -> bytes:
        return b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step) + field(7, b"\x08\x01")

    def logged(first: int, last: int, wall: float) -> list[bytes]:
        return [event(step, histogram("w", [1, 2], [1, 1]), wall=wall + step) for step in range(first, last)]

    # As an Estimator writes: the first session says nothing of its start, the second one begins at step 7.
    write(tmp_path / "events.out.tfevents.1.h", *logged(0, 12, 1.6e9), begun(7, 1.6e9 + 50), *logged(7, 17, 1.6e9 + 60))
    asked = client(tmp_path)
    number = first(asked, "histogram")
    head, told = columns(asked.get(f"/api/histograms/{number}").content)
    assert told[f"{number}.step"].tolist() == list(range(17))
    assert head["series"][str(number)]["points"] == 17


def test_steps_that_no_double_holds_are_told_exactly(client: Callable[..., Any]) -> None:
    asked = client(LOGGED / "odd_steps")
    [tag] = [one for one in asked.get("/api/tags?kind=scalar").json()["tags"] if one["name"] == "large"]
    number = tag["runs"][0][1]
    head, _ = columns(asked.get(f"/api/series/{number}").content)
    assert head["exact"] == {f"{number}.step": ["-3", "0", str(2**31), str(2**53 + 1)]}
