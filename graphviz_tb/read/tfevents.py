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
from graphviz_tb.model.sources import absolute_sources
from graphviz_tb.proto import Event, Summary
from graphviz_tb.read.crc import IS_CRC_FAST
from graphviz_tb.read.opened import ByteStream, unreadable_error
from graphviz_tb.read.pb import DECODE_ERRORS
from graphviz_tb.read.records import RECORD_HEADER_BYTES, EventRecord, TornRecord, read_records

EventKind = Literal["graph", "meta_graph", "keras", "traced", "traced_graph", "profile"]
PLUGIN_VERSION = b"1"  # content of the versioned plugins' metadata
VERSIONED_PLUGINS = ("graph_keras_model", "graph_run_metadata", "graph_run_metadata_graph")
MAX_SLOW_CHECKED_BYTES = 1 << 20  # largest payload whose checksum is computed in pure Python
KIND_BY_PLUGIN: dict[str, EventKind] = {
    "graphs": "graph",
    "graph_keras_model": "keras",
    "graph_run_metadata": "traced",
    "graph_run_metadata_graph": "traced_graph",
    "graph_tagged_run_metadata": "profile",
}
EVENT_CONTENT_TAG = re.compile(rb"\x09.{8}(?:\x10[\x80-\xff]*+[\0-\x7f])?(.)", re.DOTALL)  # time, step, next tag
SUMMARY_TAG, SKIPPED_TAGS = b"\x2a", (b"\x1a", b"\x32", b"\x3a")  # version, log message, session log


@dataclass(frozen=True, slots=True)
class EventFind:
    """A graph, model or profile in an event file; `data` reads its `size` bytes."""

    item: EventKind
    tag: str | None
    step: int
    size: int
    data: Callable[[], bytes]


@dataclass(slots=True)
class EventScan:
    """Finds and notices of one file; `damage` is the first defect."""

    name: str
    finds: list[EventFind] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    damage: MalformedRecord | None = None
    events: int = 0

    def note_damage(self, what: str, offset: int) -> None:
        """Record survivable damage."""
        self.notices.append(Notice("damaged-record", f"{self.name}: {what}", f"byte {offset}"))
        self.damage = self.damage or MalformedRecord(f"{self.name}: {what}", offset=offset)

    def note_torn_record(self, offset: int) -> None:
        what = "the last record is not whole: is the file still being written?"
        self.notices.append(Notice("torn-record", f"{self.name}: {what}", f"byte {offset}"))
        self.damage = self.damage or MalformedRecord(f"{self.name}: {what}", offset=offset)


def scan_event_file(stream: ByteStream, name: str, path: Path | None) -> EventScan:
    """Scan an event file from its start. With `path`, finds are read again from the file."""
    made, path = EventScan(name), None if path is None else Path(absolute_sources(path))
    last: EventRecord | None = None
    try:
        for record in read_records(stream):
            if isinstance(record, TornRecord):
                made.note_torn_record(record.offset)
                break
            made.events += 1
            last = record
            add_finds(record, path, made)
    except MalformedRecord as damage:
        what = damage.message.removesuffix(f" (at byte {damage.offset})")
        made.note_damage(f"{what}; what follows is lost", damage.offset)
    # Skipped records are not verified, except the last: that would take longer than reading.
    if last is not None and not may_hold_find(last.payload) and can_check_record(last) and not last.is_sound:
        made.note_damage("the last record is damaged", last.offset)
    return made


def add_finds(record: EventRecord, path: Path | None, made: EventScan) -> None:
    """Add the finds of a record."""
    if not may_hold_find(record.payload):
        return
    if can_check_record(record) and not record.is_sound:
        made.note_damage("a record is damaged and was skipped", record.offset)
        return
    try:
        event = Event.FromString(record.payload)
    except DECODE_ERRORS:
        made.note_damage("a record is no event and was skipped", record.offset)
        return
    stop = 0
    for item, tag, number in finds_in_event(event, made.name, made.notices):
        data = bytes_of_find(event, number)
        # Values are in order: search each after the previous one, or where equal bytes were found.
        start = record.payload.find(data, stop)
        stop = max(stop, start + len(data))
        # If the file can be opened again, keep only the position.
        again = partial(return_data, data)
        if path is not None and start >= 0:
            again = partial(read_bytes_again, path, record.offset + RECORD_HEADER_BYTES + start, len(data), crc32(data))
        made.finds.append(EventFind(item, tag, event.step, len(data), again))


def can_check_record(record: EventRecord) -> bool:
    return IS_CRC_FAST or len(record.payload) <= MAX_SLOW_CHECKED_BYTES


def may_hold_find(payload: bytes) -> bool:
    """Return whether a record may hold a find. Most hold numbers and histograms, seen without decoding."""
    match = EVENT_CONTENT_TAG.match(payload)
    if match is None:
        return True
    if match[1] in SKIPPED_TAGS:
        return False
    # A plugin's name contains "graph"; decoding every histogram would take longer than this search.
    return match[1] != SUMMARY_TAG or b"graph" in payload


def finds_in_event(event: Event, name: str, notices: list[Notice]) -> Iterator[tuple[EventKind, str | None, int]]:
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
            item = kind_of_plugin_value(value, name, notices)
            if item:
                yield item, (None if item == "graph" else value.tag), number


def kind_of_plugin_value(value: Summary.Value, name: str, notices: list[Notice]) -> EventKind | None:
    plugin = value.metadata.plugin_data
    item = KIND_BY_PLUGIN.get(plugin.plugin_name)
    if item is None or not value.tensor.string_val:
        return None
    if plugin.plugin_name in VERSIONED_PLUGINS and plugin.content != PLUGIN_VERSION:
        version = plugin.content.decode("utf-8", "replace")
        text = f"{name}: tag {value.tag} is of version {version!r} of {plugin.plugin_name} and was skipped"
        notices.append(Notice("unknown-version", text))
        return None
    return item


def bytes_of_find(event: Event, number: int) -> bytes:
    if number >= 0:
        return event.summary.value[number].tensor.string_val[0]
    what = event.WhichOneof("what")
    if what == "tagged_run_metadata":
        return event.tagged_run_metadata.run_metadata
    return event.graph_def if what == "graph_def" else event.meta_graph_def


def read_bytes_again(path: Path, offset: int, size: int, checksum: int) -> bytes:
    try:
        with path.open("rb") as handle:
            handle.seek(offset)
            data = handle.read(size)
    except OSError as error:
        raise unreadable_error(path, error) from None
    if len(data) < size or crc32(data) != checksum:
        raise MalformedRecord(f"{path} changed while it was read", offset=offset)
    return data


def return_data(data: bytes) -> bytes:
    return data
