"""A reader with little room drops what was asked for least recently, and reads it again, equal, when it is asked."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphviz_tb.errors import ReadError
from graphviz_tb.events.log_reader import LogReader
from graphviz_tb.logs.log import Log
from graphviz_tb.model.logs import Series
from tests.event_files import append, event, histogram, scalar, write

NAME = "events.out.tfevents.1.host"
LOGS = Path(__file__).parents[2] / "fixtures" / "logged"
POINTS = 1000
AT_ONCE = 20  # series
POINT = 4 + 8 + 8 + 8 + 4  # bytes of a scalar: tag, place, step, wall, value


def fields(value: Any) -> dict[str, Any]:
    """The fields of an object, arrays as bytes."""
    found = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    for numbers, table in (("shape", "shapes"), ("form", "forms")):
        if table in found:  # grows with all series of a run
            found |= {numbers: [found[table][number] for number in found[numbers].tolist()], table: ()}
    return {
        name: fields(each) if dataclasses.is_dataclass(each) and name == "data"
        else (each.dtype.str, each.tobytes()) if isinstance(each, np.ndarray) else each
        for name, each in found.items()
    }  # fmt: skip


def same(little: Log, whole: Log) -> None:
    """Whatever is known of dropped series is that of the columns, and these come back equal."""
    assert little.logged.runs == whole.logged.runs
    assert [(one.run, one.tag, one.kind, len(one)) for one in little.logged.series] == [
        (one.run, one.tag, one.kind, len(one)) for one in whole.logged.series
    ]
    known = [repr(one.extent()) for one in little.logged.series]
    assert known == [repr(one.extent()) for one in whole.logged.series]
    for start in range(0, len(known), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        for again, one in zip(little.read_again(little.logged.series[part]), whole.logged.series[part], strict=True):
            assert again.dropped is None
            assert fields(again) == fields(one)


@pytest.mark.parametrize(
    ("source", "restarts"),
    [
        ("plugin_v1", "last"),
        ("restart_without_mark", "last"),
        ("session_restart", "keep"),
        ("session_restart", "last"),
        ("tensorboardx_writer", "last"),
        ("tf2_function", "last"),
        ("torn", "last"),
        ("two_writers", "last"),
    ],
)
def test_what_was_dropped_comes_back_equal(source: str, restarts: Any, tmp_path: Path) -> None:
    """Also where the files grow meanwhile, one after the other and all at once."""
    top = tmp_path / "log"
    shutil.copytree(LOGS / source, top)
    files = [path for path in sorted(top.rglob("*")) if path.is_file()]
    whole = {path: path.read_bytes() for path in files}
    for path, data in whole.items():
        path.write_bytes(data[: len(data) // 2])
    try:
        little, all_of_it = (Log(LogReader(top, restarts, room=room)) for room in (1, None))
    except ReadError:
        return  # half of it is nothing
    same(little, all_of_it)
    for share in (0.7, 0.8, 1):
        for path, data in whole.items():
            path.write_bytes(data[: int(share * len(data))])
            if share < 0.8:
                little.refresh(), all_of_it.refresh()
        little.refresh(), all_of_it.refresh()
        assert all(one.dropped is not None for one in little.logged.series)
        same(little, all_of_it)


def some_runs(top: Path, runs: int, tags: int) -> Path:
    """Runs of scalars."""
    for run in range(runs):
        write(
            top / f"run{run}" / NAME,
            *(event(step, *(scalar(f"tag{tag}", step + tag) for tag in range(tags))) for step in range(POINTS)),
        )
    return top


def dropped(reader: LogReader) -> set[tuple[str, str]]:
    """The series without columns."""
    return {(one.run, one.tag) for one in reader.contents().series if one.dropped is not None}


def of(reader: LogReader, run: str, tag: str) -> Series:
    """A series as it is now."""
    return next(one for one in reader.contents().series if (one.run, one.tag) == (run, tag))


def test_the_room_is_kept(tmp_path: Path) -> None:
    """Five runs of four series, and room for a fifth of them: asked for in turn, never more is held."""
    room = 4 * POINTS * POINT
    reader = LogReader(some_runs(tmp_path, 5, 4), room=room)
    for turn in range(20):
        one = reader.contents().series[turn * 7 % 20]
        logged = reader.read_again([one])
        held = sum(each.step.nbytes * POINT // 8 for each in logged.series)
        assert held <= room
        assert reader.room.taken <= room
        assert of(reader, one.run, one.tag).value.tolist() == [float(step + int(one.tag[3:])) for step in range(POINTS)]


def test_who_was_asked_for_last_stays(tmp_path: Path) -> None:
    reader = LogReader(some_runs(tmp_path, 3, 2), room=4 * POINTS * POINT)
    reader.read_again([of(reader, "run0", "tag1")])
    reader.read_again([of(reader, "run1", "tag0")])
    append(tmp_path / "run2" / NAME, *(event(step, scalar("tag0", 0)) for step in range(POINTS, 3 * POINTS)))
    reader.refresh()
    assert not {("run0", "tag1"), ("run1", "tag0")} & dropped(reader)
    assert ("run1", "tag1") in dropped(reader)


def test_what_grows_and_is_not_asked_for_is_not_read_again(tmp_path: Path) -> None:
    """Only the new bytes of its file are."""
    reader = LogReader(some_runs(tmp_path, 1, 5), room=1)
    before = reader._runs["run0"].files[0].tail.read
    size = (tmp_path / "run0" / NAME).stat().st_size
    for step in range(POINTS, POINTS + 20):
        append(tmp_path / "run0" / NAME, event(step, *(scalar(f"tag{tag}", 0) for tag in range(5))))
        reader.refresh()
    grown = (tmp_path / "run0" / NAME).stat().st_size - size
    assert len(of(reader, "run0", "tag3")) == POINTS + 20
    assert reader._runs["run0"].files[0].tail.read - before <= grown + 20 * 3 * 64  # what tells files apart, too
    extent = of(reader, "run0", "tag3").extent()
    assert extent is not None
    assert (extent.last_step, extent.last) == (POINTS + 19, (POINTS + 19, 1.6e9, 0.0))


def test_several_series_of_a_run_are_read_at_once(tmp_path: Path) -> None:
    reader = LogReader(some_runs(tmp_path, 1, 5), room=1)
    before = reader._runs["run0"].files[0].tail.read
    reader.read_again(reader.contents().series)
    size = (tmp_path / "run0" / NAME).stat().st_size
    assert reader._runs["run0"].files[0].tail.read - before <= size + 4 * 64
    assert not dropped(reader)


def test_a_file_that_was_replaced_or_is_gone(tmp_path: Path) -> None:
    path = some_runs(tmp_path, 1, 1) / "run0" / NAME
    reader = LogReader(tmp_path, room=1)
    [one] = reader.contents().series
    other = write(tmp_path / "other", *(event(step, histogram("h", [1, 2], [1, 2])) for step in range(5 * POINTS)))
    other.replace(path)
    with pytest.raises(ReadError, match="was replaced"):
        reader.read_again([one])
    path.unlink()
    with pytest.raises(ReadError, match="cannot be read again"):
        reader.read_again([one])
