"""Charts that a training laid out itself, by the server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphviz_tb.limits import MAX_CUSTOM_CHARTS
from graphviz_tb.proto import CustomLayout
from tests.event_files import event, record, strings
from tests.serve.writing import Writer

TAG = "custom_scalars__config__"


def layout(*categories: tuple[str, list[str]]) -> CustomLayout:
    """Categories with a chart of several lines for each title."""
    made = CustomLayout()
    for title, charts in categories:
        category = made.category.add(title=title.encode("utf-8", "surrogateescape"))
        for chart in charts:
            category.chart.add(title=chart.encode()).multiline.tag.append(b"loss.*")
    return made


def write(writer: Writer, content: bytes) -> None:
    """Write it as TensorBoard's own summary does."""
    writer.raw(record(event(0, strings(TAG, [content], "custom_scalars", ()))))


def test_layouts_of_several_runs_are_one(client: Callable[..., Any], tmp_path: Path) -> None:
    one, other = Writer(tmp_path / "a"), Writer(tmp_path / "b")
    first = layout(("losses", ["x", "y"]))
    margin = first.category[0].chart.add(title=b"band").margin.series.add()
    margin.value, margin.lower, margin.upper = b"mean", b"low", b"high"
    write(one, first.SerializeToString())
    write(other, layout(("losses", ["y", "z"]), ("more", ["w"])).SerializeToString())
    asked = client(tmp_path)
    assert asked.get("/api/state").json()["kinds"] == {"layout": 2}
    told = asked.get("/api/custom").json()["categories"]
    assert [(one["title"], [chart["title"] for chart in one["charts"]]) for one in told] == [
        ("losses", ["x", "y", "band", "z"]),
        ("more", ["w"]),
    ]
    assert told[0]["charts"][2]["margins"] == [["mean", "low", "high"]]
    assert told[0]["charts"][0]["tags"] == ["loss.*"]


def test_hostile_layouts(client: Callable[..., Any], tmp_path: Path) -> None:
    """Damaged ones are left out, a last one counts, charts are bounded, and text that is no UTF-8 is shown."""
    writer = Writer(tmp_path / "a")
    write(writer, layout(("gone", ["x"])).SerializeToString())
    write(writer, layout(("\udcff<b>", ["c"] * 2), ("many", [str(at) for at in range(2000)])).SerializeToString())
    write(Writer(tmp_path / "b"), b"\xff\xff\xff")
    told = client(tmp_path).get("/api/custom").json()["categories"]
    assert [(one["title"], len(one["charts"])) for one in told] == [("\ufffd<b>", 1), ("many", MAX_CUSTOM_CHARTS - 2)]
