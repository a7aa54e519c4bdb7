"""Columns of event files: what is alike and what is not, tails, damage, restarts, places on disk."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphviz_tb import Log, open_log
from graphviz_tb.errors import ReadError, RequestError
from graphviz_tb.formats.records import EventRecord, read_records
from graphviz_tb.model.logs import BlobPoints, HistogramPoints
from graphviz_tb.proto import Event
from tests.effort import part
from tests.event_files import append, event, histogram, record, scalar, strings, tensor, write

NAME = "events.out.tfevents.1.host"


def slowly(path: Path) -> dict[str, list[tuple[int, float, float]]]:
    """The scalars of version 1 of a file, by protobuf, record by record."""
    found: dict[str, list[tuple[int, float, float]]] = {}
    with path.open("rb") as stream:
        for each in read_records(stream):
            assert isinstance(each, EventRecord)
            told = Event.FromString(each.payload)
            for value in told.summary.value:
                if value.WhichOneof("value") == "simple_value":
                    found.setdefault(value.tag, []).append((told.step, told.wall_time, value.simple_value))
                elif value.WhichOneof("value") == "histo":
                    found.setdefault(value.tag, []).append((told.step, told.wall_time, value.histo.num))
    return found


def assert_equal(log: Log, path: Path) -> None:
    expected = slowly(path)
    assert log.tags() == sorted(expected)
    for tag, rows in expected.items():
        series = log.series(".", tag)
        assert series.step.tolist() == [row[0] for row in rows]
        assert series.wall.tolist() == [row[1] for row in rows]
        if series.kind == "scalar":
            assert series.value.tolist() == [row[2] for row in rows]


def many_tags(tmp_path: Path) -> Path:
    """10,000 tags of one length."""
    return write(
        tmp_path / NAME,
        *(event(step, scalar(f"t{tag:05}", step + tag)) for step in range(1, 5) for tag in range(10_000)),
    )


def each_unlike(tmp_path: Path) -> Path:
    """Every record of another structure than the last: lengths of tags, steps and numbers of values go on changing."""
    rng = np.random.default_rng(0)
    events = []
    for number in range(20_000):
        step = int(2 ** rng.integers(0, 50))
        values = [scalar("x" * int(rng.integers(1, 40)), number) for _ in range(int(rng.integers(1, 5)))]
        events.append(event(step, *values))
    return write(tmp_path / NAME, *events)


def of_one_length(tmp_path: Path) -> Path:
    """Records of one length, each built otherwise: the lengths of its two tags change places."""
    events = [
        event(5, scalar("a" * (1 + number % 60), number), scalar("b" * (60 - number % 60), number))
        for number in range(20_000)
    ]
    return write(tmp_path / NAME, *events)


def merged(tmp_path: Path) -> Path:
    """Events of TensorFlow 1: many values in each, histograms of any number of buckets among them."""
    rng = np.random.default_rng(0)
    events = []
    for step in range(2_000):
        values = [scalar(f"layer{tag}/mean", step) for tag in range(12)]
        for tag in range(4):
            size = int(rng.integers(1, 60))
            values.append(histogram(f"layer{tag}/weights", list(range(size)), [1.0] * size))
        events.append(event(step, *values))
    return write(tmp_path / NAME, *events)


HARD = [many_tags, each_unlike, of_one_length, merged]


@pytest.mark.parametrize("make", part(HARD, 2))
def test_what_is_unlike_is_read_all_the_same(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)
    assert_equal(open_log(tmp_path), path)


@pytest.mark.slow
@pytest.mark.parametrize("make", HARD)
def test_never_five_times_slower_than_protobuf(make: Callable[[Path], Path], tmp_path: Path) -> None:
    path = make(tmp_path)

    def seconds(work: Callable[[], object]) -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    open_log(tmp_path)  # modules are loaded
    # In pairs, and the best of them: what a busy machine adds to one of a pair says nothing of the other.
    pairs = ((seconds(lambda: open_log(tmp_path)), seconds(lambda: slowly(path))) for _ in range(5))
    assert min(ours / theirs for ours, theirs in pairs) < 5


def test_a_file_that_grows_is_read_on(tmp_path: Path) -> None:
    path = write(tmp_path / "run" / NAME, *(event(step, scalar("loss", step)) for step in range(5)))
    log = open_log(tmp_path)
    assert not log.refresh()
    whole = record(event(5, scalar("loss", 5.0)))
    with path.open("ab") as stream:
        stream.write(whole[:20])
    changes = log.refresh()
    assert [notice.code for notice in changes.notices] == ["torn-record"]
    assert len(log.series("run", "loss")) == 5
    with path.open("ab") as stream:
        stream.write(whole[20:])
    append(path, event(6, scalar("acc", 1.0)))
    changes = log.refresh()
    assert changes.points == {("run", "loss"): 1, ("run", "acc"): 1}
    assert log.series("run", "loss").step.tolist() == [0, 1, 2, 3, 4, 5]
    assert not log.run("run").notices


def test_many_small_steps_of_a_file_are_one_series(tmp_path: Path) -> None:
    path = write(tmp_path / NAME, event(0, scalar("loss", 0)))
    log = open_log(tmp_path)
    for step in range(1, 60):
        append(path, event(step, scalar("loss", step), scalar("other", -step)))
        assert log.refresh().points[".", "loss"] == 1
    assert log.series(".", "loss").value.tolist() == list(range(60))
    assert_equal(log, path)


@pytest.mark.parametrize("size", [3, 7])
def test_a_file_that_was_replaced_is_read_from_its_start(size: int, tmp_path: Path) -> None:
    path = write(tmp_path / NAME, *(event(step, scalar("loss", step)) for step in range(5)))
    log = open_log(tmp_path)
    write(path, *(event(step, scalar("loss", -step)) for step in range(100, 100 + size)))
    changes = log.refresh()
    assert changes.again == ((".", "loss"),)
    assert log.series(".", "loss").step.tolist() == list(range(100, 100 + size))


def test_runs_come_and_go(tmp_path: Path) -> None:
    first = write(tmp_path / "a" / NAME, event(0, scalar("loss", 1)))
    log = open_log(tmp_path)
    write(tmp_path / "b" / NAME, event(0, scalar("loss", 2)))
    first.unlink()
    changes = log.refresh()
    assert (changes.runs, changes.gone) == (("b",), ("a",))
    assert log.runs == ["b"]


def test_what_was_handed_out_stays_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / NAME, event(0, scalar("loss", 1)))
    log = open_log(tmp_path)
    before = log.series(".", "loss")
    append(path, event(1, scalar("loss", 2)))
    log.refresh()
    assert (before.value.tolist(), log.series(".", "loss").value.tolist()) == ([1.0], [1.0, 2.0])
    assert log.series(".", "loss").generation > before.generation
    with pytest.raises(ValueError, match="read-only"):
        before.value[0] = 5


def test_of_large_records_only_heads_are_read(tmp_path: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(1_000_000)
    events = [event(step, strings("picture", [b"640", b"480", picture], "images", (3,))) for step in range(20)]
    write(tmp_path / NAME, *events)
    log = open_log(tmp_path)
    series = log.series(".", "picture")
    assert isinstance(series.data, BlobPoints)
    assert (series.data.width[7], series.data.height[7]) == (640, 480)
    assert log.read(".", log.places(series, 7)[0]) == picture
    (reader,) = log._reader._runs.values()
    assert reader.files[0].tail.read < 20 * 20_000


def test_text_that_is_no_utf8(tmp_path: Path) -> None:
    write(tmp_path / NAME, *(event(step, scalar(b"a\xffb", step)) for step in range(100)), event(7, scalar(b"\xfe", 1)))
    assert open_log(tmp_path).tags() == ["a\ufffdb", "\ufffd"]


def test_numbers_of_other_widths_are_scalars(tmp_path: Path) -> None:
    rows = [("double", np.array(1 / 3), 2), ("long", np.array(2**40 + 1), 9), ("half", np.array(0.1, "<f2"), 19)]
    rows += [("bool", np.array(True), 10), ("one", np.array([[7]], "<i4"), 3), ("bfloat", np.array(0x3F80, "<u2"), 14)]
    write(tmp_path / NAME, *(event(1, tensor(tag, number, "scalars", dtype)) for tag, number, dtype in rows))
    log = open_log(tmp_path)
    values = {tag: float(log.series(".", tag).value[0]) for tag in log.tags("scalar")}
    assert values == {
        "double": 1 / 3,
        "long": 2**40 + 1,
        "half": float(np.float16(0.1)),
        "bool": 1,
        "one": 7,
        "bfloat": 1,
    }


def test_a_tensor_claims_no_more_than_it_holds(tmp_path: Path) -> None:
    bomb = np.zeros(3)
    claim = tensor("h", bomb.reshape(1, 3), "histograms", 2).replace(b"\x08\x01\x12", b"\x08\x01\x12")
    shape = b"\x12\x0d\x12\x07\x08\xff\xff\xff\xff\x0f\x12\x02\x08\x03"
    huge = claim.replace(b"\x12\x08\x12\x02\x08\x01\x12\x02\x08\x03", shape)
    write(tmp_path / NAME, event(1, claim))
    held = open_log(tmp_path).series(".", "h").data
    assert isinstance(held, HistogramPoints)
    assert len(held.count) == 1
    assert huge != claim


def test_damage_in_the_middle_loses_one_record(tmp_path: Path) -> None:
    path = write(tmp_path / NAME, *(event(step, scalar("loss", step)) for step in range(1, 200)))
    data = bytearray(path.read_bytes())
    at = data.index(record(event(100, scalar("loss", 100)))) + 12
    data[at + 12] = 0x7F  # the length of the summary
    path.write_bytes(data)
    log = open_log(tmp_path)
    assert log.series(".", "loss").step.tolist() == [step for step in range(1, 200) if step != 100]
    assert "was skipped" in log.run(".").notices[0].message


def test_a_packed_file(tmp_path: Path) -> None:
    path = write(
        tmp_path / NAME, *(event(step, scalar("loss", step), strings("t", [b"hi"], "text", (1,))) for step in range(9))
    )
    data = path.read_bytes()
    path.write_bytes(gzip.compress(data))
    log = open_log(tmp_path)
    assert log.series(".", "loss").step.tolist() == list(range(9))
    assert log.texts(log.series(".", "t"), 3) == ["hi"]
    path.write_bytes(gzip.compress(data)[:-20])
    assert open_log(tmp_path).runs == ["."]


def test_a_resumed_run_that_opens_with_a_summary_at_zero(tmp_path: Path) -> None:
    """Each tag is decided alone, and a text supersedes nothing."""
    steps = range(100)
    write(tmp_path / f"{NAME}.1", *(event(step, scalar("loss", step), scalar("lr", 1), wall=step) for step in steps))
    later = [event(0, strings("args", [b"x"], "text", (1,)), wall=200)]
    later += [event(step, scalar("loss", -step), wall=200 + step) for step in range(60, 120)]
    write(tmp_path / f"{NAME}.2", *later, event(60, scalar("acc", 1), wall=400))
    log = open_log(tmp_path)
    assert log.series(".", "loss").superseded.sum() == 40
    assert not log.series(".", "lr").superseded.any()
    (restart,) = log.run(".").restarts
    assert (restart.step, restart.points, restart.marked) == (60, 40, False)
    assert not open_log(tmp_path, restarts="keep").series(".", "loss").superseded.any()


def test_metadata_only_with_the_first_value(tmp_path: Path) -> None:
    """TensorFlow 1 writes it once for each tag."""
    bare = tensor("x", np.array(2.0), "scalars", 2)[: -len(b"\x4a\x0d\x0a\x09\x0a\x07scalars\x20\x01")]
    write(
        tmp_path / NAME,
        event(0, tensor("x", np.array(1.0), "scalars", 2)),
        *(event(step, bare) for step in range(1, 200)),
    )
    series = open_log(tmp_path).series(".", "x")
    assert (series.kind, len(series), series.value[5]) == ("scalar", 200, 2.0)


def test_what_cannot_be_had(tmp_path: Path) -> None:
    write(tmp_path / "run" / NAME, event(0, scalar("loss", 1)))
    log = open_log(tmp_path)
    for ask in (lambda: log.series("rum", "loss"), lambda: log.series("run", "los"), lambda: log.tags("scalr")):
        with pytest.raises(RequestError, match=r"nearest|choose"):
            ask()
    with pytest.raises(RequestError, match="choose one of"):
        open_log(tmp_path, restarts="first")  # type: ignore[arg-type]
    with pytest.raises(ReadError):
        open_log(tmp_path / "nothing")
    (tmp_path / "run" / NAME).unlink()
    with pytest.raises(ReadError):
        open_log(tmp_path)
