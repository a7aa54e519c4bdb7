"""One event file of a run: its contents so far, as rows by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO, FileIO
from pathlib import Path

import numpy as np

from graphviz_tb.errors import ReadError
from graphviz_tb.limits import WHOLE_RECORD
from graphviz_tb.model.logged import About, Kind
from graphviz_tb.model.notice import Notice
from graphviz_tb.read.logged.alike import Unlike, found_alike
from graphviz_tb.read.logged.block import NumberOf, RecordBlock, sound_records
from graphviz_tb.read.logged.group import Found, ValueGroup
from graphviz_tb.read.logged.kinds import Tables, decoded, kind_of
from graphviz_tb.read.logged.restarts import LASTING
from graphviz_tb.read.logged.rows import GrowingRows, Rows, concatenated
from graphviz_tb.read.logged.single import Singles
from graphviz_tb.read.logged.structure import CutError, OddError, structure_of
from graphviz_tb.read.logged.tail import FileTail, LargeRecord, opened
from graphviz_tb.read.wire import pieces

GRAPH, META_GRAPH = 4, 9  # fields of an Event
Family = tuple[Kind, str]  # kind and dtype: rows of one family can be concatenated


@dataclass(slots=True)
class Names:
    """Tags of a run by number, and the first metadata of each; `places` are (file, offset)."""

    tags: NumberOf[bytes] = field(default_factory=NumberOf)
    tables: Tables = field(default_factory=Tables)
    _plugins: dict[int, str] = field(default_factory=dict)
    _plugin_places: dict[int, tuple[int, int]] = field(default_factory=dict)
    abouts: dict[tuple[int, Kind], About] = field(default_factory=dict)
    _about_places: dict[tuple[int, Kind], tuple[int, int]] = field(default_factory=dict)

    def learn(self, found: Found, file: int) -> None:
        """Store the metadata of values, unless earlier values of their tag had some."""
        kind = kind_of(found.group.form)
        if found.about is None or kind is None:
            return
        for tag, place in found.first.items():
            here = file, place
            if here < self._plugin_places.get(tag, (file + 1, 0)):
                self._plugins[tag], self._plugin_places[tag] = found.about.plugin, here
            if here < self._about_places.get((tag, kind), (file + 1, 0)):
                self.abouts[tag, kind], self._about_places[tag, kind] = found.about, here

    def plugin(self, tag: int, file: int) -> str:
        """Return the plugin that a file or an earlier one names for a tag, else "".

        Later files do not count, so that a file always decodes to the same values.
        """
        named = self._plugin_places.get(tag)
        return "" if named is None or named[0] > file else self._plugins[tag]


class EventFile:
    """The contents of one event file. `number` is its position in the run."""

    def __init__(self, path: Path, number: int, names: Names, checksum: bool, shown: str = "") -> None:
        self.path, self.number, self.names, self.checksum = path, number, names, checksum
        self.shown = shown or str(path)  # the name used in notices
        self.tail = FileTail(path)
        self._only: set[tuple[int, Kind]] | None = None  # tags and kinds to read again; None: everything is new
        self._forget()

    def _forget(self) -> None:
        self.kinds: dict[Family, GrowingRows] = {}
        self.graphs = 0
        self.starts: list[tuple[int, int]] = []
        self.damage: list[Notice] = []
        self._skipped: set[int] = set()  # offsets of damaged records

    def refresh(self) -> tuple[set[tuple[int, Kind]], bool]:
        """Read new data. Returns the tags and kinds with new points, and whether all was read again. Raises OSError."""
        if not self.tail.grown():
            return set(), False
        again = self.tail.restarted()
        before = self.changed() if again else set()
        if again:
            self._forget()
        try:
            with opened(self.path) as stream:
                rows = self._read(stream)
        except ReadError as error:  # damaged gzip data
            self.damage.append(Notice("damaged-record", error.message))
            return before, again
        changed = set(before)
        for family, parts in rows.items():
            new = concatenated(parts)
            self.kinds.setdefault(family, GrowingRows()).add(new)
            changed |= {(tag, family[0]) for tag in np.unique(new.tag).tolist()}
        return changed, again

    @property
    def walls(self) -> tuple[float, float]:
        """First and last time of points that a restart may write again."""
        spans = [growing.walls for (kind, _), growing in self.kinds.items() if kind not in LASTING]
        return min((first for first, _ in spans), default=np.inf), max((last for _, last in spans), default=-np.inf)

    def changed(self) -> set[tuple[int, Kind]]:
        """Return all tags and kinds that have points."""
        return {(tag, kind) for (kind, _), growing in self.kinds.items() for tag in growing.tags}

    def drop(self, keys: set[tuple[int, Kind]]) -> None:
        """Drop the points of some tags and kinds; `read_again` restores them."""
        for (kind, _), growing in self.kinds.items():
            growing.drop({tag for tag, each in keys if each == kind})

    def read_again(self, keys: set[tuple[int, Kind]]) -> None:
        """Read all dropped points of some tags and kinds.

        Raises OSError, and ReadError if the file no longer has what was read.
        """
        wanted = keys & self.changed()
        if not wanted:
            return
        if not self.tail.holds():
            raise ReadError(f"'{self.shown}' was replaced or cut", hint="ask again when it has been read anew")
        self.drop(wanted)  # points that were read since are read again with the rest
        other = EventFile(self.path, self.number, self.names, self.checksum, self.shown)
        other._only, other._skipped, other.tail.end = wanted, self._skipped, self.tail.offset
        with opened(self.path) as stream:
            for family, parts in other._read(stream).items():
                self.kinds[family].take_back(concatenated(parts))
        self.tail.read += other.tail.read

    def bytes(self) -> int:
        """Return the memory of its columns, in bytes."""
        return sum(part.rows.bytes() for growing in self.kinds.values() for part in growing.parts)

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
            yield self._notice("damaged-record", f"{what}; what follows is lost", self.tail.damage.offset)
        elif self.tail.torn:
            what = "the last record is not whole: is the file still being written?"
            yield self._notice("torn-record", what, self.tail.offset)

    def _notice(self, code: str, what: str, place: int) -> Notice:
        return Notice(code, f"{self.shown}: {what}", f"byte {place}")

    def _read(self, stream: FileIO | BytesIO) -> dict[Family, list[Rows]]:
        """Read new records as rows. Values without metadata wait until all metadata is known."""
        singles = Singles(lambda name: self.names.tags.number(name))
        waiting: list[ValueGroup] = []
        rows: dict[Family, list[Rows]] = {}
        for part in self.tail.blocks(stream):
            if isinstance(part, LargeRecord):
                self._large(part, singles)
            else:
                self._block(part, singles, waiting, rows)
        for found in singles.found():
            self._take(found, waiting, rows)
        self.graphs += singles.graphs
        self.starts += singles.starts
        for group in waiting:
            self._resolve(group, rows)
        return rows

    def _block(
        self, block: RecordBlock, singles: Singles, waiting: list[ValueGroup], rows: dict[Family, list[Rows]]
    ) -> None:
        last = len(block.starts) - 1
        if self._only is not None:
            block = block.only(np.flatnonzero(~np.isin(block.starts + block.offset, list(self._skipped))))
        elif self.checksum:
            sound = sound_records(block)
            for record in sorted(set(range(len(block.starts))) - set(sound.tolist())):
                self._damaged(block.place(record))
            block = block.only(sound)
        elif not block.sound(last):
            # Damage is most frequent at the end of a file.
            self._damaged(block.place(last))
            block = block.only(np.arange(last))
        unlike = Unlike()
        bad: list[int] = []
        for found in found_alike(block, self.names.tags.number, unlike, bad.append):
            self._take(found, waiting, rows)
        for record in bad:
            self._damaged(block.place(record))
        for record in sorted(unlike):
            if not singles.add(block.payload(record), block.place(record)):
                self._damaged(block.place(record), "is no event")

    def _damaged(self, place: int, what: str = "is damaged") -> None:
        self.damage.append(self._notice("damaged-record", f"a record {what} and was skipped", place))
        self._skipped.add(place)

    def _large(self, record: LargeRecord, singles: Singles) -> None:
        try:
            structure = structure_of(record.window, record.size)
        except CutError:
            return self._damaged(record.place, "is no event")
        except OddError:
            if record.size > WHOLE_RECORD:
                return self._damaged(record.place, f"of {record.size:,} bytes is not written as events are")
            if not singles.add(record.window[0 : record.size], record.place):
                self._damaged(record.place, "is no event")
            return None
        if structure is not None:
            singles.add_structure(structure, record.window, record.place, record.size)
        elif _holds_graph(record):
            self.graphs += 1
        return None

    def _take(self, found: Found, waiting: list[ValueGroup], rows: dict[Family, list[Rows]]) -> None:
        self.names.learn(found, self.number)
        group, form = found.group, found.group.form
        if self._only is not None:
            wanted = np.isin(group.tag, [tag for tag, _ in self._only])
            if not np.any(wanted):
                return
            group = group.of(wanted, form.plugin)
        if form.plugin is None and form.field not in ("simple_value", "histo", "image", "audio"):
            waiting.append(group)
        else:
            self._decode(group, rows)

    def _resolve(self, group: ValueGroup, rows: dict[Family, list[Rows]]) -> None:
        """Decode values without metadata by the plugin that the first value of their tag names."""
        plugins = [self.names.plugin(tag, self.number) for tag in group.tag.tolist()]
        for plugin in dict.fromkeys(plugins):
            self._decode(group.of(np.array([each == plugin for each in plugins]), plugin), rows)

    def _decode(self, group: ValueGroup, rows: dict[Family, list[Rows]]) -> None:
        made = decoded(group, self.names.tables)
        if made is not None:
            kind, columns = made
            if self._only is not None:
                wanted = [tag for tag, each in self._only if each == kind]
                columns = columns.take(np.flatnonzero(np.isin(columns.tag, wanted)))
                if not len(columns):
                    return
            dtype = columns.fixed["value"].dtype.str if kind == "scalar" else ""
            rows.setdefault((kind, dtype), []).append(columns)


def _holds_graph(record: LargeRecord) -> bool:
    """Return whether a large event holds a graph."""
    return any(piece.number in (GRAPH, META_GRAPH) for piece in pieces(record.window, 0, record.size))
