"""One event file of a run: read incrementally, its contents as rows by kind, large values left on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO, FileIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.errors import MalformedProto, MalformedRecord, ReadError, TooLarge
from graphviz_tb.events.batch_decode import (
    BLOCK_PADDING_BYTES,
    FoundValues,
    Numbering,
    RecordBlock,
    SingleRecords,
    ValueGroup,
    decode_alike_events,
    sound_records,
)
from graphviz_tb.events.point_rows import (
    GrowingRows,
    PointRows,
    PointTables,
    concatenate_rows,
    decode_rows,
    kind_of_form,
)
from graphviz_tb.events.series import STEPLESS_KINDS
from graphviz_tb.events.single_decode import SingleDecoder
from graphviz_tb.events.structure import UnusualEventError, locate_event_structure
from graphviz_tb.formats.protobuf import DECODE_ERRORS, CutError, wire_fields
from graphviz_tb.formats.records import (
    RECORD_FOOTER_BYTES,
    RECORD_HEADER_BYTES,
    RecordFrames,
    damaged_length_error,
    find_record_frames,
)
from graphviz_tb.graphs.tensors import claimed_element_count, decode_elements, pad_with_last, stored_elements
from graphviz_tb.limits import MAX_CLAIMED_BYTES, MAX_WHOLE_RECORD_BYTES
from graphviz_tb.model.columns import Bytes, distinct_values
from graphviz_tb.model.logs import FileRange, SeriesKind, TagMetadata
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import Event, TensorProto
from graphviz_tb.sources.streams import GZIP_MAGIC, open_path, unreadable_error

# Read an event file incrementally: new data is read in blocks, from where reading stopped.
#
# A file that was replaced or truncated is read from its start. Of records over `LARGE_RECORD_BYTES` bytes, only the
# needed parts are read.

LARGE_RECORD_BYTES = 1 << 16  # bytes of a record that is read only in parts
PAGE_BYTES = 1 << 12  # bytes of a large record that are read at once
PEEK_BYTES, MAX_BLOCK_BYTES = 1 << 16, 1 << 23  # bytes that show whether large records follow, and bytes of a block
MARK_BYTES = 64  # bytes at the start, and before the position, that identify the file


def _open_event_stream(path: Path) -> FileIO | BytesIO:
    """Open an event file, decompressing gzip. Raises OSError, and ReadError for damaged gzip data."""
    stream = path.open("rb", buffering=0)
    if stream.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
        return stream
    stream.close()
    with open_path(path, ReadOptions()) as whole:
        return BytesIO(whole.data())


class FileHandle:
    """An open file with random access, and the number of bytes read."""

    def __init__(self, stream: FileIO | BytesIO) -> None:
        self._stream, self.read = stream, 0
        self.size = stream.seek(0, os.SEEK_END)

    def read_into(self, into: Bytes, place: int) -> int:
        """Read from an offset until `into` is full or the file ends; return the number of bytes."""
        self._stream.seek(place)
        got = 0
        while got < len(into) and (more := self._stream.readinto(into.data[got:])):
            got += more
        self.read += got
        return got

    def read_bytes(self, place: int, size: int) -> bytes:
        """Return bytes of the file, fewer at its end."""
        into = np.empty(size, np.uint8)
        return into[: self.read_into(into, place)].tobytes()


class RecordWindow:
    """The payload of a large record, read page by page on access."""

    def __init__(self, handle: FileHandle, offset: int, size: int, page: bytes = b"") -> None:
        self._handle, self._offset, self._size = handle, offset, size
        self._first, self._page = 0, page

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, where: Any, /) -> Any:
        if isinstance(where, slice):
            return self._read_range(where.start, where.stop)
        if not self._first <= where < self._first + len(self._page):
            self._first, self._page = where, self._read_range(where, min(self._size, where + PAGE_BYTES))
        return self._page[where - self._first]

    def _read_range(self, first: int, stop: int) -> bytes:
        inner = first - self._first
        if inner >= 0 and stop <= self._first + len(self._page):
            return self._page[inner : inner + stop - first]
        return self._handle.read_bytes(self._offset + first, stop - first)


class LargeRecord(NamedTuple):
    """A record at `place` whose payload of `size` bytes is not read as a whole."""

    place: int
    size: int
    window: RecordWindow


@dataclass(slots=True)
class FileTail:
    """The position up to which a file was read.

    `torn`: the last record was incomplete. `damage`: the file is unreadable from there on.
    """

    path: Path
    offset: int = 0
    torn: bool = False
    damage: MalformedRecord | None = None
    read: int = 0  # bytes read from the system, in all
    end: int | None = None  # stop here although there may be more
    _identity: tuple[int, int] = (0, 0)
    _size: int = 0
    _time: int = 0
    _mark: tuple[bytes, bytes] = (b"", b"")
    _checked: dict[int, int] = field(default_factory=dict)

    def reset_if_replaced(self) -> bool:
        """Return whether the file was replaced, and reset the position if so. Raises OSError."""
        status = self.path.stat()
        identity = status.st_dev, status.st_ino
        known = self._identity == identity and status.st_size >= self._size
        if known and (status.st_size, status.st_mtime_ns) != (self._size, self._time) and self.offset:
            with _open_event_stream(self.path) as stream:
                known = not isinstance(stream, BytesIO) and self._read_marks(FileHandle(stream)) == self._mark
        if known:
            return False
        again = self.offset > 0 or self.damage is not None
        self._identity, self._size, self._time = identity, 0, 0
        self.offset, self.torn, self.damage, self._mark = 0, False, None, (b"", b"")
        return again

    def is_unchanged(self) -> bool:
        """Return whether the file still has what was read, neither replaced nor truncated. Raises OSError."""
        status = self.path.stat()
        if (status.st_dev, status.st_ino) != self._identity or status.st_size < self._size:
            return False
        with _open_event_stream(self.path) as stream:
            return self._read_marks(FileHandle(stream)) == self._mark

    def has_grown(self) -> bool:
        """Return whether the file was written since."""
        status = self.path.stat()
        return (status.st_size, status.st_mtime_ns) != (self._size, self._time) or self._identity != (
            status.st_dev,
            status.st_ino,
        )

    def _read_marks(self, handle: FileHandle) -> tuple[bytes, bytes]:
        start = max(0, self.offset - MARK_BYTES)
        return handle.read_bytes(0, min(MARK_BYTES, self.offset)), handle.read_bytes(start, self.offset - start)

    def read_blocks(self, stream: FileIO | BytesIO) -> Iterator[RecordBlock | LargeRecord]:
        """Yield the unread rest as whole records; afterwards `offset` is the end of the last one."""
        status = self.path.stat()
        self._size, self._time = status.st_size, status.st_mtime_ns
        handle = FileHandle(stream)
        handle.size = handle.size if self.end is None else min(handle.size, self.end)
        peek = PEEK_BYTES
        while self.offset < handle.size:
            data, found = self._next_block(handle, peek)
            if len(found.starts):
                yield RecordBlock(data, self.offset, found.starts, found.sizes)
            self.offset += found.end
            if found.damaged:
                self.damage = damaged_length_error(
                    data[found.end : found.end + RECORD_HEADER_BYTES].tobytes(), self.offset
                )
                break
            left = handle.size - self.offset
            if left < max(found.wanted, RECORD_HEADER_BYTES) or not (found.wanted or found.end):
                break
            peek = PEEK_BYTES
            if found.wanted > LARGE_RECORD_BYTES:
                page = data[found.end + RECORD_HEADER_BYTES : -BLOCK_PADDING_BYTES].tobytes()
                size = found.wanted - RECORD_HEADER_BYTES - RECORD_FOOTER_BYTES
                yield LargeRecord(
                    self.offset, size, RecordWindow(handle, self.offset + RECORD_HEADER_BYTES, size, page)
                )
                self.offset += found.wanted
                peek = PAGE_BYTES
        self.torn = self.damage is None and self.offset < handle.size
        self._mark = self._read_marks(handle)
        self.read += handle.read

    def _next_block(self, handle: FileHandle, peek: int) -> tuple[Bytes, RecordFrames]:
        """Return the next bytes with `BLOCK_PADDING_BYTES`, and their records.

        A peek if a large record follows, else a block.
        """
        room = min(MAX_BLOCK_BYTES, handle.size - self.offset)
        data = np.empty(room + BLOCK_PADDING_BYTES, np.uint8)
        got = handle.read_into(data[: min(peek, room)], self.offset)
        found = find_record_frames(data[:got], self._checked)
        if got < room and not found.damaged and found.wanted <= LARGE_RECORD_BYTES:
            got += handle.read_into(data[got:room], self.offset + got)
            rest = find_record_frames(data[found.end : got], self._checked)
            starts = np.concatenate([found.starts, rest.starts + found.end])
            sizes = np.concatenate([found.sizes, rest.sizes])
            found = rest._replace(starts=starts, sizes=sizes, end=found.end + rest.end)
        data[got : got + BLOCK_PADDING_BYTES] = 0
        return data[: got + BLOCK_PADDING_BYTES], found


# One event file of a run: its contents so far, as rows by kind.

GRAPH_DEF_FIELD, META_GRAPH_DEF_FIELD = 4, 9  # fields of an Event
RowFamily = tuple[SeriesKind, str]  # kind and dtype: rows of one family can be concatenated


@dataclass(slots=True)
class RunTags:
    """Tags of a run by number, and the first metadata of each; the places of both are (file, offset)."""

    tags: Numbering[bytes] = field(default_factory=Numbering)
    tables: PointTables = field(default_factory=PointTables)
    _plugins: dict[int, str] = field(default_factory=dict)
    _plugin_places: dict[int, tuple[int, int]] = field(default_factory=dict)
    abouts: dict[tuple[int, SeriesKind], TagMetadata] = field(default_factory=dict)
    _about_places: dict[tuple[int, SeriesKind], tuple[int, int]] = field(default_factory=dict)

    def learn_metadata(self, found: FoundValues, file: int) -> None:
        """Store the metadata of values, unless earlier values of their tag had some."""
        kind = kind_of_form(found.group.form)
        if found.about is None or kind is None:
            return
        for tag, place in found.first.items():
            here = file, place
            if here < self._plugin_places.get(tag, (file + 1, 0)):
                self._plugins[tag], self._plugin_places[tag] = found.about.plugin, here
            if here < self._about_places.get((tag, kind), (file + 1, 0)):
                self.abouts[tag, kind], self._about_places[tag, kind] = found.about, here

    def plugin_of_tag(self, tag: int, file: int) -> str:
        """Return the plugin that a file or an earlier one names for a tag, else "".

        Later files do not count, so that a file always decodes to the same values.
        """
        named = self._plugin_places.get(tag)
        return "" if named is None or named[0] > file else self._plugins[tag]


class EventFile:
    """The contents of one event file. `number` is its position in the run."""

    def __init__(self, path: Path, number: int, names: RunTags, checksum: bool, shown: str = "") -> None:
        self.path, self.number, self.names, self.checksum = path, number, names, checksum
        self.shown = shown or str(path)  # the name used in notices
        self.tail = FileTail(path)
        self._only: set[tuple[int, SeriesKind]] | None = None  # tags and kinds to read again; None: everything is new
        self._reset()

    def _reset(self) -> None:
        self.kinds: dict[RowFamily, GrowingRows] = {}
        self.graphs = 0
        self.starts: list[tuple[int, int]] = []
        self.damage: list[Notice] = []
        self._skipped: set[int] = set()  # offsets of damaged records

    def refresh(self) -> tuple[set[tuple[int, SeriesKind]], bool]:
        """Read new data. Returns the tags and kinds with new points, and whether all was read again. Raises OSError."""
        if not self.tail.has_grown():
            return set(), False
        is_reset = self.tail.reset_if_replaced()
        former_keys = self.tags_and_kinds() if is_reset else set()
        if is_reset:
            self._reset()
        try:
            with _open_event_stream(self.path) as stream:
                rows = self._read_rows(stream)
        except ReadError as error:  # damaged gzip data
            self.damage.append(Notice("damaged-record", error.message))
            return former_keys, is_reset
        changed = set(former_keys)
        for family, parts in rows.items():
            new = concatenate_rows(parts)
            self.kinds.setdefault(family, GrowingRows()).add_rows(new)
            changed |= {(tag, family[0]) for tag in distinct_values(new.tag).tolist()}
        return changed, is_reset

    @property
    def wall_range(self) -> tuple[float, float]:
        """First and last time of points that a restart may write again."""
        spans = [growing.walls for (kind, _), growing in self.kinds.items() if kind not in STEPLESS_KINDS]
        return min((first for first, _ in spans), default=np.inf), max((last for _, last in spans), default=-np.inf)

    def tags_and_kinds(self) -> set[tuple[int, SeriesKind]]:
        return {(tag, kind) for (kind, _), growing in self.kinds.items() for tag in growing.tags}

    def drop_points(self, keys: set[tuple[int, SeriesKind]]) -> None:
        """Drop the points of some tags and kinds; `read_again` restores them."""
        for (kind, _), growing in self.kinds.items():
            growing.drop_tags({tag for tag, each in keys if each == kind})

    def read_again(self, keys: set[tuple[int, SeriesKind]]) -> None:
        """Read all dropped points of some tags and kinds.

        Raises OSError, and ReadError if the file no longer has what was read.
        """
        wanted = keys & self.tags_and_kinds()
        if not wanted:
            return
        if not self.tail.is_unchanged():
            raise ReadError(f"'{self.shown}' was replaced or cut", hint="try again after it has been read again")
        self.drop_points(wanted)  # points that were read since are read again with the rest
        reader = EventFile(self.path, self.number, self.names, self.checksum, self.shown)
        reader._only, reader._skipped, reader.tail.end = wanted, self._skipped, self.tail.offset
        with _open_event_stream(self.path) as stream:
            for family, parts in reader._read_rows(stream).items():
                self.kinds[family].restore_rows(concatenate_rows(parts))
        self.tail.read += reader.tail.read

    def memory_bytes(self) -> int:
        return sum(part.rows.memory_bytes() for growing in self.kinds.values() for part in growing.parts)

    def notices(self) -> Iterator[Notice]:
        """Yield notices of damage in the file."""
        # A damaged disk causes thousands: report the first of each kind, and their number.
        alike: dict[str, list[Notice]] = {}
        for notice in self.damage:
            alike.setdefault(notice.message, []).append(notice)
        for notices in alike.values():
            yield notices[0] if len(notices) == 1 else replace(notices[0], count=len(notices))
        if self.tail.damage is not None:
            what = self.tail.damage.message.removesuffix(f" (at byte {self.tail.damage.offset})")
            yield self._make_notice("damaged-record", f"{what}; the rest is lost", self.tail.damage.offset)
        elif self.tail.torn:
            what = "the last record is not whole: is the file still being written?"
            yield self._make_notice("torn-record", what, self.tail.offset)

    def _make_notice(self, code: str, what: str, place: int) -> Notice:
        return Notice(code, f"{self.shown}: {what}", f"byte {place}")

    def _read_rows(self, stream: FileIO | BytesIO) -> dict[RowFamily, list[PointRows]]:
        """Read new records as rows. Values without metadata wait until all metadata is known."""
        singles = SingleDecoder(lambda name: self.names.tags.number_of(name))
        waiting: list[ValueGroup] = []
        rows: dict[RowFamily, list[PointRows]] = {}
        for part in self.tail.read_blocks(stream):
            if isinstance(part, LargeRecord):
                self._read_large_record(part, singles)
            else:
                self._read_block(part, singles, waiting, rows)
        for found in singles.grouped_values():
            self._take_values(found, waiting, rows)
        self.graphs += singles.graphs
        self.starts += singles.starts
        for group in waiting:
            # Values without metadata belong to the plugin that the first value of their tag names.
            plugins = [self.names.plugin_of_tag(tag, self.number) for tag in group.tag.tolist()]
            for plugin in dict.fromkeys(plugins):
                self._decode_group(group.select_values(np.array([name == plugin for name in plugins]), plugin), rows)
        return rows

    def _read_block(
        self,
        block: RecordBlock,
        singles: SingleDecoder,
        waiting: list[ValueGroup],
        rows: dict[RowFamily, list[PointRows]],
    ) -> None:
        last_record = len(block.starts) - 1
        if self._only is not None:
            block = block.select_records(np.flatnonzero(~np.isin(block.starts + block.offset, list(self._skipped))))
        elif self.checksum:
            sound = sound_records(block)
            for record in sorted(set(range(len(block.starts))) - set(sound.tolist())):
                self._note_damaged_record(block.record_offset(record))
            block = block.select_records(sound)
        elif not block.is_record_sound(last_record):
            # Damage is most frequent at the end of a file.
            self._note_damaged_record(block.record_offset(last_record))
            block = block.select_records(np.arange(last_record))
        unlike = SingleRecords()
        damaged: list[int] = []
        for found in decode_alike_events(block, self.names.tags.number_of, unlike, damaged.append):
            self._take_values(found, waiting, rows)
        for record in damaged:
            self._note_damaged_record(block.record_offset(record))
        for record in sorted(unlike):
            if not singles.add_event(block.payload(record), block.record_offset(record)):
                self._note_damaged_record(block.record_offset(record), "is not an event")

    def _note_damaged_record(self, place: int, what: str = "is damaged") -> None:
        self.damage.append(self._make_notice("damaged-record", f"a record {what} and was skipped", place))
        self._skipped.add(place)

    def _read_large_record(self, record: LargeRecord, singles: SingleDecoder) -> None:
        try:
            structure = locate_event_structure(record.window, record.size)
        except CutError:
            return self._note_damaged_record(record.place, "is not an event")
        except UnusualEventError:
            if record.size > MAX_WHOLE_RECORD_BYTES:
                return self._note_damaged_record(record.place, f"of {record.size:,} bytes is not written as events are")
            if not singles.add_event(record.window[0 : record.size], record.place):
                self._note_damaged_record(record.place, "is not an event")
            return None
        if structure is not None:
            singles.add_structure(structure, record.window, record.place, record.size)
        elif _holds_graph(record):
            self.graphs += 1
        return None

    def _take_values(
        self, found: FoundValues, waiting: list[ValueGroup], rows: dict[RowFamily, list[PointRows]]
    ) -> None:
        self.names.learn_metadata(found, self.number)
        group, form = found.group, found.group.form
        if self._only is not None:
            wanted = np.isin(group.tag, [tag for tag, _ in self._only])
            if not np.any(wanted):
                return
            group = group.select_values(wanted, form.plugin)
        if form.plugin is None and form.field not in ("simple_value", "histo", "image", "audio"):
            waiting.append(group)
        else:
            self._decode_group(group, rows)

    def _decode_group(self, group: ValueGroup, rows: dict[RowFamily, list[PointRows]]) -> None:
        made = decode_rows(group, self.names.tables)
        if made is not None:
            kind, columns = made
            if self._only is not None:
                wanted = [tag for tag, each in self._only if each == kind]
                columns = columns.take_points(np.flatnonzero(np.isin(columns.tag, wanted)))
                if not len(columns):
                    return
            dtype = columns.fixed["value"].dtype.str if kind == "scalar" else ""
            rows.setdefault((kind, dtype), []).append(columns)


def _holds_graph(record: LargeRecord) -> bool:
    return any(
        piece.number in (GRAPH_DEF_FIELD, META_GRAPH_DEF_FIELD) for piece in wire_fields(record.window, 0, record.size)
    )


# Values that stay on disk and are read on demand.


def read_place(path: Path, place: FileRange) -> bytes:
    """Read the bytes at a place. Raises ReadError if the file is gone or truncated."""
    try:
        with _open_event_stream(path) as stream:
            data = FileHandle(stream).read_bytes(place.offset, place.length)
    except OSError as error:
        raise unreadable_error(path, error) from None
    if len(data) < place.length:
        raise ReadError(f"{path} is shorter than it was when it was read", hint="read the log again")
    return data


def tensor_of_event(event: bytes, value: int) -> NDArray[Any]:
    """Return the tensor of one value of an event. Raises ReadError if there is none."""
    try:
        return _array_of_tensor(Event.FromString(event).summary.value[value].tensor)
    except (*DECODE_ERRORS, IndexError):
        raise MalformedProto("the event that held a tensor is damaged") from None


def _array_of_tensor(tensor: TensorProto) -> NDArray[Any]:
    """Return a tensor as a numpy array, text as bytes. The last value fills up the claimed size.

    Raises MalformedProto if shape and values do not fit, TooLarge if it claims far more values than it contains.
    """
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    count, elements = claimed_element_count(tensor), stored_elements(tensor)
    if elements is None:
        elements = np.empty(len(tensor.string_val), object)
        elements[:] = list(tensor.string_val)
    if len(elements) > count or count < 0:
        raise MalformedProto(f"a tensor of shape {shape} holds {len(elements):,} values")
    if (count - len(elements)) * elements.itemsize > MAX_CLAIMED_BYTES:
        raise TooLarge(f"a tensor claims {count:,} values and holds {len(elements):,}")
    if not elements.dtype.hasobject:
        elements = decode_elements(elements, tensor.dtype)
    return pad_with_last(elements, count).reshape(shape)
