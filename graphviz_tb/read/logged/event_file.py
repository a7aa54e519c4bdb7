"""One event file of a run: its contents so far, as rows by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO, FileIO
from pathlib import Path

import numpy as np

from graphviz_tb.errors import ReadError
from graphviz_tb.limits import MAX_WHOLE_RECORD_BYTES
from graphviz_tb.model.logged import SeriesKind, TagMetadata
from graphviz_tb.model.notice import Notice
from graphviz_tb.read.logged.alike import SingleRecords, decode_alike_events
from graphviz_tb.read.logged.block import Numbering, RecordBlock, sound_records
from graphviz_tb.read.logged.group import FoundValues, ValueGroup
from graphviz_tb.read.logged.kinds import PointTables, decode_rows, kind_of_form
from graphviz_tb.read.logged.restarts import STEPLESS_KINDS
from graphviz_tb.read.logged.rows import GrowingRows, PointRows, concatenate_rows
from graphviz_tb.read.logged.single import SingleDecoder
from graphviz_tb.read.logged.structure import CutError, UnusualEventError, locate_event_structure
from graphviz_tb.read.logged.tail import FileTail, LargeRecord, open_event_stream
from graphviz_tb.read.wire import wire_fields

GRAPH_DEF_FIELD, META_GRAPH_DEF_FIELD = 4, 9  # fields of an Event
RowFamily = tuple[SeriesKind, str]  # kind and dtype: rows of one family can be concatenated


@dataclass(slots=True)
class RunTags:
    """Tags of a run by number, and the first metadata of each; `places` are (file, offset)."""

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
        again = self.tail.reset_if_replaced()
        before = self.tags_and_kinds() if again else set()
        if again:
            self._reset()
        try:
            with open_event_stream(self.path) as stream:
                rows = self._read_rows(stream)
        except ReadError as error:  # damaged gzip data
            self.damage.append(Notice("damaged-record", error.message))
            return before, again
        changed = set(before)
        for family, parts in rows.items():
            new = concatenate_rows(parts)
            self.kinds.setdefault(family, GrowingRows()).add_rows(new)
            changed |= {(tag, family[0]) for tag in np.unique(new.tag).tolist()}
        return changed, again

    @property
    def wall_range(self) -> tuple[float, float]:
        """First and last time of points that a restart may write again."""
        spans = [growing.walls for (kind, _), growing in self.kinds.items() if kind not in STEPLESS_KINDS]
        return min((first for first, _ in spans), default=np.inf), max((last for _, last in spans), default=-np.inf)

    def tags_and_kinds(self) -> set[tuple[int, SeriesKind]]:
        """Return all tags and kinds that have points."""
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
            raise ReadError(f"'{self.shown}' was replaced or cut", hint="ask again when it has been read anew")
        self.drop_points(wanted)  # points that were read since are read again with the rest
        other = EventFile(self.path, self.number, self.names, self.checksum, self.shown)
        other._only, other._skipped, other.tail.end = wanted, self._skipped, self.tail.offset
        with open_event_stream(self.path) as stream:
            for family, parts in other._read_rows(stream).items():
                self.kinds[family].restore_rows(concatenate_rows(parts))
        self.tail.read += other.tail.read

    def memory_bytes(self) -> int:
        """Return the memory of its columns, in bytes."""
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
            yield self._make_notice("damaged-record", f"{what}; what follows is lost", self.tail.damage.offset)
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
            self._resolve_plugins(group, rows)
        return rows

    def _read_block(
        self,
        block: RecordBlock,
        singles: SingleDecoder,
        waiting: list[ValueGroup],
        rows: dict[RowFamily, list[PointRows]],
    ) -> None:
        last = len(block.starts) - 1
        if self._only is not None:
            block = block.select_records(np.flatnonzero(~np.isin(block.starts + block.offset, list(self._skipped))))
        elif self.checksum:
            sound = sound_records(block)
            for record in sorted(set(range(len(block.starts))) - set(sound.tolist())):
                self._note_damaged_record(block.record_offset(record))
            block = block.select_records(sound)
        elif not block.is_record_sound(last):
            # Damage is most frequent at the end of a file.
            self._note_damaged_record(block.record_offset(last))
            block = block.select_records(np.arange(last))
        unlike = SingleRecords()
        bad: list[int] = []
        for found in decode_alike_events(block, self.names.tags.number_of, unlike, bad.append):
            self._take_values(found, waiting, rows)
        for record in bad:
            self._note_damaged_record(block.record_offset(record))
        for record in sorted(unlike):
            if not singles.add_event(block.payload(record), block.record_offset(record)):
                self._note_damaged_record(block.record_offset(record), "is no event")

    def _note_damaged_record(self, place: int, what: str = "is damaged") -> None:
        self.damage.append(self._make_notice("damaged-record", f"a record {what} and was skipped", place))
        self._skipped.add(place)

    def _read_large_record(self, record: LargeRecord, singles: SingleDecoder) -> None:
        try:
            structure = locate_event_structure(record.window, record.size)
        except CutError:
            return self._note_damaged_record(record.place, "is no event")
        except UnusualEventError:
            if record.size > MAX_WHOLE_RECORD_BYTES:
                return self._note_damaged_record(record.place, f"of {record.size:,} bytes is not written as events are")
            if not singles.add_event(record.window[0 : record.size], record.place):
                self._note_damaged_record(record.place, "is no event")
            return None
        if structure is not None:
            singles.add_structure(structure, record.window, record.place, record.size)
        elif holds_graph(record):
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

    def _resolve_plugins(self, group: ValueGroup, rows: dict[RowFamily, list[PointRows]]) -> None:
        """Decode values without metadata by the plugin that the first value of their tag names."""
        plugins = [self.names.plugin_of_tag(tag, self.number) for tag in group.tag.tolist()]
        for plugin in dict.fromkeys(plugins):
            self._decode_group(group.select_values(np.array([each == plugin for each in plugins]), plugin), rows)

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


def holds_graph(record: LargeRecord) -> bool:
    """Return whether a large event holds a graph."""
    return any(
        piece.number in (GRAPH_DEF_FIELD, META_GRAPH_DEF_FIELD) for piece in wire_fields(record.window, 0, record.size)
    )
