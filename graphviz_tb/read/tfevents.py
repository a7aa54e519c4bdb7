"""Scan an event file for records with a graph, a Keras model or a profile; skip the rest.

Anything that can be read again from the file is not kept: memory depends on the chosen graph only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal
from zlib import crc32

from graphviz_tb.errors import MalformedRecord
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import lasting
from graphviz_tb.proto import Event, Summary
from graphviz_tb.read.crc import FAST
from graphviz_tb.read.opened import Stream, unreadable
from graphviz_tb.read.pb import BROKEN
from graphviz_tb.read.records import HEADER, Record, Torn, records

EventKind = Literal["graph", "meta_graph", "keras", "traced", "traced_graph", "profile"]
VERSION = b"1"  # content of the versioned plugins' metadata
VERSIONED = ("graph_keras_model", "graph_run_metadata", "graph_run_metadata_graph")
CHECKED_BYTES = 1 << 20  # largest payload whose checksum is computed in pure Python
PLUGINS: dict[str, EventKind] = {
    "graphs": "graph",
    "graph_keras_model": "keras",
    "graph_run_metadata": "traced",
    "graph_run_metadata_graph": "traced_graph",
    "graph_tagged_run_metadata": "profile",
}
_WHAT = re.compile(rb"\x09.{8}(?:\x10[\x80-\xff]*+[\0-\x7f])?(.)", re.DOTALL)  # time, step, next tag
_SUMMARY, _DULL = b"\x2a", (b"\x1a", b"\x32", b"\x3a")  # version, log message, session log


@dataclass(frozen=True, slots=True)
class Find:
    """A graph, model or profile in an event file; `data` reads its `size` bytes."""

    item: EventKind
    tag: str | None
    step: int
    size: int
    data: Callable[[], bytes]


@dataclass(slots=True)
class Scan:
    """Finds and notices of one file; `damage` is the first defect."""

    name: str
    finds: list[Find] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    damage: MalformedRecord | None = None
    events: int = 0

    def damaged(self, what: str, offset: int) -> None:
        """Record survivable damage."""
        self.notices.append(Notice("damaged-record", f"{self.name}: {what}", f"byte {offset}"))
        self.damage = self.damage or MalformedRecord(f"{self.name}: {what}", offset=offset)

    def torn(self, offset: int) -> None:
        what = "the last record is not whole: is the file still being written?"
        self.notices.append(Notice("torn-record", f"{self.name}: {what}", f"byte {offset}"))
        self.damage = self.damage or MalformedRecord(f"{self.name}: {what}", offset=offset)


def scan(stream: Stream, name: str, path: Path | None) -> Scan:
    """Scan an event file from its start. With `path`, finds are read again from the file."""
    made, path = Scan(name), None if path is None else Path(lasting(path))
    last: Record | None = None
    try:
        for record in records(stream):
            if isinstance(record, Torn):
                made.torn(record.offset)
                break
            made.events += 1
            last = record
            _look(record, path, made)
    except MalformedRecord as damage:
        what = damage.message.removesuffix(f" (at byte {damage.offset})")
        made.damaged(f"{what}; what follows is lost", damage.offset)
    # Skipped records are not verified, except the last: that would take longer than reading.
    if last is not None and not _of_interest(last.payload) and _affordable(last) and not last.sound:
        made.damaged("the last record is damaged", last.offset)
    return made


def _look(record: Record, path: Path | None, made: Scan) -> None:
    """Add the finds of a record."""
    if not _of_interest(record.payload):
        return
    if _affordable(record) and not record.sound:
        made.damaged("a record is damaged and was skipped", record.offset)
        return
    try:
        event = Event.FromString(record.payload)
    except BROKEN:
        made.damaged("a record is no event and was skipped", record.offset)
        return
    stop = 0
    for item, tag, number in _items(event, made.name, made.notices):
        data = _bytes_of(event, number)
        # Values are in order: search each after the previous one, or where equal bytes were found.
        start = record.payload.find(data, stop)
        stop = max(stop, start + len(data))
        # If the file can be opened again, keep only the position.
        again = partial(_kept, data)
        if path is not None and start >= 0:
            again = partial(_read_again, path, record.offset + HEADER + start, len(data), crc32(data))
        made.finds.append(Find(item, tag, event.step, len(data), again))


def _affordable(record: Record) -> bool:
    return FAST or len(record.payload) <= CHECKED_BYTES


def _of_interest(payload: bytes) -> bool:
    """Return whether a record may hold a find. Most hold numbers and histograms, seen without decoding."""
    match = _WHAT.match(payload)
    if match is None:
        return True
    if match[1] in _DULL:
        return False
    # A plugin's name contains "graph"; decoding every histogram would take longer than this search.
    return match[1] != _SUMMARY or b"graph" in payload


def _items(event: Event, name: str, notices: list[Notice]) -> Iterator[tuple[EventKind, str | None, int]]:
    """Yield (kind, tag, number of the summary value, or -1 for the event itself)."""
    what = event.WhichOneof("what")
    if what == "graph_def":
        yield "graph", None, -1
    elif what == "meta_graph_def":
        yield "meta_graph", None, -1
    elif what == "tagged_run_metadata":
        yield "profile", event.tagged_run_metadata.tag, -1
    elif what == "summary":
        for number, value in enumerate(event.summary.value):
            item = _plugin(value, name, notices)
            if item:
                yield item, (None if item == "graph" else value.tag), number


def _plugin(value: Summary.Value, name: str, notices: list[Notice]) -> EventKind | None:
    plugin = value.metadata.plugin_data
    item = PLUGINS.get(plugin.plugin_name)
    if item is None or not value.tensor.string_val:
        return None
    if plugin.plugin_name in VERSIONED and plugin.content != VERSION:
        version = plugin.content.decode("utf-8", "replace")
        text = f"{name}: tag {value.tag} is of version {version!r} of {plugin.plugin_name} and was skipped"
        notices.append(Notice("unknown-version", text))
        return None
    return item


def _bytes_of(event: Event, number: int) -> bytes:
    if number >= 0:
        return event.summary.value[number].tensor.string_val[0]
    what = event.WhichOneof("what")
    if what == "tagged_run_metadata":
        return event.tagged_run_metadata.run_metadata
    return event.graph_def if what == "graph_def" else event.meta_graph_def


def _read_again(path: Path, offset: int, size: int, checksum: int) -> bytes:
    try:
        with path.open("rb") as handle:
            handle.seek(offset)
            data = handle.read(size)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) < size or crc32(data) != checksum:
        raise MalformedRecord(f"{path} changed while it was read", offset=offset)
    return data


def _kept(data: bytes) -> bytes:
    return data
