"""Graphs in a log directory: every run below it.

A run is a folder with event files, whose records form one sequence.
"""

from __future__ import annotations

import errno
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal
from zlib import crc32

from graphviz_tb.errors import MalformedRecord, NoGraph
from graphviz_tb.formats.contents import RUN_GRAPH_TAG, GraphContent, SourceContents, SourceItem, empty_graph_content
from graphviz_tb.formats.detect import RECORD_START_BYTES, starts_with_event
from graphviz_tb.formats.packed_graph import PackedGraph, decode_graph
from graphviz_tb.formats.profiler_traces import add_trace_steps, find_trace_files
from graphviz_tb.formats.protobuf import DECODE_ERRORS, MessageT, decode_message
from graphviz_tb.formats.records import IS_CRC_FAST, RECORD_HEADER_BYTES, EventRecord, TornRecord, read_records
from graphviz_tb.formats.run_metadata import graph_forms_in, graphs_of_run_metadata
from graphviz_tb.keras.model import conceptual_graph
from graphviz_tb.limits import MAX_NOTICES_PER_KIND, MAX_SIBLING_ENTRIES, SNIFFED_BYTES
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import SourceEntry, absolute_sources
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import Event, GraphDef, MetaGraphDef, RunMetadata, Summary
from graphviz_tb.sources.streams import (
    GZIP_MAGIC,
    ByteStream,
    OpenedSource,
    ReadProgress,
    check_source_size,
    open_path,
    unreadable_error,
)
from graphviz_tb.sources.walk import FolderListing, file_identity, list_files_below, saved_model_file

# Scan an event file for records with a graph, a Keras model or a profile; skip the rest.
#
# Anything that can be read again from the file is not kept: memory depends on the chosen graph only.

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
    """Contents and damage of one file: `damage` is the first damage, `torn_end` is true if only the last record is
    incomplete."""

    name: str
    finds: list[EventFind] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    damage: MalformedRecord | None = None
    events: int = 0
    torn_end: bool = False

    def note_damage(self, what: str, offset: int) -> None:
        """Record survivable damage."""
        self.notices.append(Notice("damaged-record", f"{self.name}: {what}", f"byte {offset}"))
        self.damage = self.damage or MalformedRecord(f"{self.name}: {what}", offset=offset)

    def note_torn_record(self, offset: int) -> None:
        what = "the last record is not whole: is the file still being written?"
        self.notices.append(Notice("torn-record", f"{self.name}: {what}", f"byte {offset}"))
        self.torn_end = self.damage is None
        self.damage = self.damage or MalformedRecord(f"{self.name}: {what}", offset=offset)


def _scan_event_file(stream: ByteStream, name: str, path: Path | None) -> EventScan:
    """Scan an event file from its start. With `path`, finds are read again from the file."""
    scan, path = EventScan(name), None if path is None else Path(absolute_sources(path))
    last: EventRecord | None = None
    try:
        for record in read_records(stream):
            if isinstance(record, TornRecord):
                scan.note_torn_record(record.offset)
                break
            scan.events += 1
            last = record
            _add_finds(record, path, scan)
    except MalformedRecord as damage:
        message = damage.message.removesuffix(f" (at byte {damage.offset})")
        scan.note_damage(f"{message}; the rest is lost", damage.offset)
    # Skipped records are not verified, except the last: that would take longer than reading.
    if last is not None and not _may_hold_find(last.payload) and _can_check_record(last) and not last.is_sound:
        scan.note_damage("the last record is damaged", last.offset)
    return scan


def _add_finds(record: EventRecord, path: Path | None, scan: EventScan) -> None:
    if not _may_hold_find(record.payload):
        return
    if _can_check_record(record) and not record.is_sound:
        scan.note_damage("a record is damaged and was skipped", record.offset)
        return
    try:
        event = Event.FromString(record.payload)
    except DECODE_ERRORS:
        scan.note_damage("a record is not an event and was skipped", record.offset)
        return
    searched_to = 0
    for item, tag, number in _finds_in_event(event, scan.name, scan.notices):
        data = _bytes_of_find(event, number)
        # Values are in order: search each after the previous one, or where equal bytes were found.
        start = record.payload.find(data, searched_to)
        searched_to = max(searched_to, start + len(data))
        # If the file can be opened again, keep only the position.
        read_bytes = partial(bytes, data)
        if path is not None and start >= 0:
            read_bytes = partial(
                _read_bytes_again, path, record.offset + RECORD_HEADER_BYTES + start, len(data), crc32(data)
            )
        scan.finds.append(EventFind(item, tag, event.step, len(data), read_bytes))


def _can_check_record(record: EventRecord) -> bool:
    return IS_CRC_FAST or len(record.payload) <= MAX_SLOW_CHECKED_BYTES


def _may_hold_find(payload: bytes) -> bool:
    """Return whether a record may hold a find. Most hold numbers and histograms, seen without decoding."""
    match = EVENT_CONTENT_TAG.match(payload)
    if match is None:
        return True
    if match[1] in SKIPPED_TAGS:
        return False
    # A plugin's name contains "graph"; decoding every histogram would take longer than this search.
    return match[1] != SUMMARY_TAG or b"graph" in payload


def _finds_in_event(event: Event, name: str, notices: list[Notice]) -> Iterator[tuple[EventKind, str | None, int]]:
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
            item = _kind_of_plugin_value(value, name, notices)
            if item:
                yield item, (None if item == "graph" else value.tag), number


def _kind_of_plugin_value(value: Summary.Value, name: str, notices: list[Notice]) -> EventKind | None:
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


def _bytes_of_find(event: Event, number: int) -> bytes:
    if number >= 0:
        return event.summary.value[number].tensor.string_val[0]
    what = event.WhichOneof("what")
    if what == "tagged_run_metadata":
        return event.tagged_run_metadata.run_metadata
    return event.graph_def if what == "graph_def" else event.meta_graph_def


def _read_bytes_again(path: Path, offset: int, size: int, checksum: int) -> bytes:
    try:
        with path.open("rb") as handle:
            handle.seek(offset)
            data = handle.read(size)
    except OSError as error:
        raise unreadable_error(path, error) from None
    if len(data) < size or crc32(data) != checksum:
        raise MalformedRecord(f"{path} changed while it was read", offset=offset)
    return data


# The graphs of each run: a run is a folder with event files, whose records form one sequence.

EVENT_FILE_WORD = "tfevents"  # part of the names of event files
EARLIER_GRAPHS = 20  # earlier graphs of one run that are listed with its last
MODEL_SUFFIXES = (".meta", ".pb", ".pbtxt", ".keras", ".json", ".h5", ".graphdef", ".prototxt")
NO_MODELS = ("keras_metadata.pb", "fingerprint.pb", "package.json", "tsconfig.json", "projector_config.pbtxt")

OptionalRun = str | None


def read_single_event_file(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    """Read one event file. Without a folder there are no runs to choose from."""
    scanned = _scan_event_file(opened.stream(), opened.name, opened.path)
    return _contents_of_scans({None: [scanned]}, opened.name, options, tuple(_sibling_runs_notice(opened.path)))


def _sibling_runs_notice(path: Path | None) -> Iterator[Notice]:
    """Yield a notice about sibling runs of a single event file."""
    if path is None:
        return
    log = path.absolute().parent.parent
    with suppress(OSError):  # a folder that may not be listed
        with os.scandir(log) as listed:
            folders = sorted(entry.name for entry in islice(listed, MAX_SIBLING_ENTRIES) if entry.is_dir())
        runs = [name for name in folders if _has_event_file_name(log / name)]
        if len(runs) > 1 and path.absolute().parent.name in runs:
            shown = ", ".join(runs[:5]) + (", …" if len(runs) > 5 else "")
            text = f"this is one event file of {len(runs)} runs ({shown}): give '{log}' for all of them"
            yield Notice("one-of-several-runs", text, str(path), strict=False)


def _has_event_file_name(folder: Path) -> bool:
    with suppress(OSError), os.scandir(folder) as listed:
        return any(EVENT_FILE_WORD in entry.name for entry in islice(listed, MAX_SIBLING_ENTRIES))
    return False


def read_log_directory(folder: Path, options: ReadOptions, progress: ReadProgress | None = None) -> SourceContents:
    """Read the event files below a folder, run by run. Raises NoGraph if there are none."""
    listing = list_files_below(folder)
    notices = [*listing.notices, *unreadable_event_files(listing)]
    events = [(run, path) for run, path in listing.files if is_event_file(path)]
    # Together, since a run may have only programs or only events.
    chosen = _files_of_run(options.run, folder, [*events, *find_programs(listing)])
    event_paths = {path for _, path in events}
    files = [(run, path) for run, path in chosen if path in event_paths]
    traces = find_trace_files(listing, options)
    programs = _program_items([(run, path) for run, path in chosen if path not in event_paths], options)
    if not files and not traces and not programs:
        # A file that may not be read explains more than the list of files.
        unread = [notice.message for notice in notices if notice.strict]
        raise no_events_error(folder) if not unread else NoGraph(f"no event file in '{folder}': {unread[0]}")
    total = sum(_file_size_or_zero(path) for _, path in files)
    bytes_read = 0
    runs: dict[OptionalRun, list[EventScan]] = {}
    for run, path in files:
        with open_path(path, options) as opened:
            runs.setdefault(run, []).append(_scan_event_file(opened.stream(), str(path), opened.path))
        bytes_read += _file_size_or_zero(path)
        if progress is not None:
            progress(bytes_read, total)
    contents = _contents_of_scans(runs, str(folder), options, notices)
    contents = replace(contents, found=(*contents.found, *programs))
    return add_trace_steps(contents, traces, options)


EXPORT_SUFFIX = ".pt2"  # of the programs that PyTorch exports


def find_programs(below: FolderListing) -> list[tuple[str, Path]]:
    """Return the run and the path of each exported program in a log directory."""
    return [(run, path) for run, path in below.files if path.suffix == EXPORT_SUFFIX]


def _program_items(programs: Sequence[tuple[str, Path]], options: ReadOptions) -> tuple[SourceItem, ...]:
    """Return the exported programs of a log directory; the name of a file is the tag of its graph."""
    found = []
    for run, path in programs:
        if path.is_file():
            entry = SourceEntry("op", run=run, tag=path.name, bytes=_file_size_or_zero(path), format="PyTorch export")
            found.append(SourceItem(entry, partial(_load_program, path, options)))
    return tuple(found)


def _load_program(path: Path, options: ReadOptions) -> GraphContent:
    """Return the graph of an exported program, the first of several."""
    from graphviz_tb.keras.archive import read_archive

    with open_path(path, options) as opened:
        return read_archive(opened, options).found[0].load()


def _file_size_or_zero(path: Path) -> int:
    """Return a file's size for the progress bar; 0 if it has disappeared."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _files_of_run(name: str | None, folder: Path, files: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """Return the files of one run, or of the run that a link of this name leads to; all for None."""
    runs = dict.fromkeys(run for run, _ in files)
    if name is None:
        return files
    if name in runs:
        return [(run, path) for run, path in files if run == name]
    with suppress(OSError, ValueError):
        # `--run` may name a link; its files are listed under the folder that it leads to.
        meant = file_identity(folder / name)
        same = next((run for run in runs if file_identity(folder / run) == meant), None)
        return [(name, path) for run, path in files if run == same] or files
    return files


def unreadable_event_files(below: FolderListing) -> Iterator[Notice]:
    """Yield a notice for each file with the name of an event file that may not be read, or has other content."""
    for _, path in below.files:
        if EVENT_FILE_WORD not in path.name or not path.is_file():
            continue
        if not os.access(path, os.R_OK):
            yield Notice("unread-file", f"cannot read '{path}': {os.strerror(errno.EACCES)}")
        elif _file_size_or_zero(path) >= RECORD_START_BYTES and not is_event_file(path):
            why = "does not begin with an event: it is damaged, or no event file"
            yield Notice("unread-file", f"'{path}' {why}", strict=False)


def is_event_file(path: Path) -> bool:
    """Return whether a file starts like an event file, compressed or not."""
    try:
        # System files have size 0, and reading one may block: /proc/kmsg waits for the next message.
        if not path.is_file() or _file_size_or_zero(path) < RECORD_START_BYTES:
            return False
        with path.open("rb") as handle:
            head = handle.read(SNIFFED_BYTES)
    except OSError:
        return False
    if head.startswith(GZIP_MAGIC):
        try:
            # 31: gzip header, largest window. A record's header is enough.
            head = zlib.decompressobj(31).decompress(head, RECORD_START_BYTES)
        except zlib.error:
            return False
    return starts_with_event(head)


def no_events_error(folder: Path) -> NoGraph:
    """Return the error that says what the folder contains instead."""
    names = sorted(path.name for path in folder.iterdir())
    if event_file := next((name for name in names if EVENT_FILE_WORD in name and (folder / name).is_file()), None):
        why, hint = "does not begin with an event: it is damaged, or no event file", "give the folder of another log"
        if _file_size_or_zero(folder / event_file) < RECORD_START_BYTES:
            why, hint = "holds no whole event yet", "wait until the program has written some"
        return NoGraph(f"no events in '{folder}': {event_file} {why}", hint=hint)
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    models = [name for name in names if name.removesuffix(".gz").endswith(MODEL_SUFFIXES) and name not in NO_MODELS]
    models.sort(key=lambda name: not name.startswith("saved_model."))  # stable: the others stay in their order
    # From the weakest hint to the strongest: a model file, a SavedModel below, files of a checkpoint.
    hint = f"give the file itself, such as {folder / models[0]}" if models else "give the folder of a log or a model"
    if saved_model := next((name for name in names if saved_model_file(folder / name)), None):
        hint = f"a SavedModel is below it: give {folder / saved_model}"
    if any(name.endswith(".index") for name in names):
        parent = folder.resolve().parent
        if saved_model_file(parent):
            hint = f"these are the values of a SavedModel: give {parent}"
        else:
            hint = "these are the values of a checkpoint: give a .meta file or the log folder"
    what = f"it holds {shown}" if names else "it is empty"
    return NoGraph(f"no SavedModel and no event file in '{folder}': {what}", hint=hint)


def _contents_of_scans(
    runs: dict[OptionalRun, list[EventScan]], name: str, options: ReadOptions, before: Sequence[Notice] = ()
) -> SourceContents:
    """Return the contents of all scanned runs. Damage is an error only if no graph was found."""
    graphs: list[SourceItem] = []
    notices = list(before)
    profiles: dict[OptionalRun, dict[str, Callable[[], RunMetadata]]] = {}
    for run, scans in runs.items():
        finds = [find for scan in scans for find in scan.finds]
        notices += [notice for scan in scans for notice in scan.notices]
        profiles[run] = dict(_profile_loaders(finds, options))
        graphs += _graphs_of_run(run, finds, bool(profiles[run]), notices, options)
    all_scans = [scan for scans in runs.values() for scan in scans]
    damage = [scan.damage for scan in all_scans if scan.damage]
    events = sum(scan.events for scan in all_scans)
    torn = [scan.name for scan in all_scans if scan.torn_end]
    # The rest of a torn record may still be written, and most logs have no graph.
    is_only_torn = bool(damage) and events > 1 and len(torn) == len(damage)
    if not graphs and damage and not is_only_torn:
        raise damage[0]
    what = f"{name}: its {events:,} events hold none" if events > 1 else f"{name}: it holds no events yet"
    if is_only_torn:
        what += f"; the last record of {torn[0]} is not whole"
    error = damage[0] if damage and not is_only_torn else None
    return SourceContents(tuple(graphs), profiles, _abridge_notices(notices), what, error)


def _abridge_notices(notices: list[Notice]) -> tuple[Notice, ...]:
    """Keep the first notices and count the rest: a damaged disk causes thousands."""
    if len(notices) <= MAX_NOTICES_PER_KIND:
        return tuple(notices)
    rest = Notice(notices[-1].code, "more of the same", count=len(notices) - MAX_NOTICES_PER_KIND)
    return (*notices[:MAX_NOTICES_PER_KIND], rest)


def _graphs_of_run(
    run: OptionalRun, finds: list[EventFind], has_profile: bool, notices: list[Notice], options: ReadOptions
) -> Iterator[SourceItem]:
    """Yield the items of one run: its graph, then the last step of each tag."""
    graphs = [find for find in finds if find.item == "graph"]
    metas = [find for find in finds if find.item == "meta_graph"]
    if graphs or metas:
        yield _run_graph_item(run, (graphs or metas)[-1], has_profile, options)
    # A graph that is written again at every start has the same size and needs no notice.
    if len({find.size for find in graphs}) > 1:
        earlier = {find.size: number for number, find in enumerate(graphs, 1) if find.size != graphs[-1].size}
        tags = {f"graph@{number}": graphs[number - 1] for number in sorted(earlier.values())[-EARLIER_GRAPHS:]}
        text = f"run {run or 'of this file'} holds {len(graphs)} graphs, the last one is taken"
        notices.append(Notice("several-graphs", f"{text}; --tag {' or '.join(tags)} takes another", strict=False))
        for tag, find in tags.items():
            entry = SourceEntry("op", run, tag, bytes=find.size, step=find.step, variant=True, format="GraphDef")
            yield SourceItem(entry, partial(_graph_content, find, f"tag {tag}", options))
    # Of equal keys the last remains: the last step.
    last = {(find.item, find.tag): find for find in finds if find.tag is not None}
    for find in last.values():
        yield from _tagged_items(run, find, options)


def _run_graph_item(run: OptionalRun, find: EventFind, profile: bool, options: ReadOptions) -> SourceItem:
    entry = SourceEntry("op", run, RUN_GRAPH_TAG, bytes=find.size, step=find.step, profile=profile, format="GraphDef")
    name = "the graph of the run"
    if find.item == "graph":
        return SourceItem(entry, lambda: GraphContent(_decode_found_graph(find, name, options)))

    def content() -> GraphContent:
        from graphviz_tb.formats.saved_model import mark_trained

        graph = _decode_found_message(find, MetaGraphDef, name, options)
        mark_trained(graph)
        return GraphContent(graph.graph_def)

    return SourceItem(entry, content)


def _graph_content(find: EventFind, name: str, options: ReadOptions) -> GraphContent:
    """Return the content of a graph that was found, decoded."""
    return GraphContent(_decode_found_graph(find, name, options))


def _tagged_items(run: OptionalRun, find: EventFind, options: ReadOptions) -> Iterator[SourceItem]:
    if find.item == "keras":
        entry = SourceEntry("conceptual", run, find.tag, bytes=find.size, step=find.step, format="Keras model")
        yield SourceItem(entry, partial(_decode_layers, find, options))
    elif find.item == "profile" and graph_forms_in(find.data())[1]:
        yield SourceItem(_profile_only_entry(run, find), empty_graph_content)
    elif find.item != "profile":
        load = partial(_decode_found_message, find, RunMetadata, f"tag {find.tag}", options)
        yield from graphs_of_run_metadata(load, find.data(), run=run, tag=find.tag, size=find.size, step=find.step)


def _profile_only_entry(run: OptionalRun, find: EventFind) -> SourceEntry:
    return SourceEntry("profile", run, find.tag, bytes=find.size, step=find.step, profile=True, format="RunMetadata")


def _profile_loaders(finds: list[EventFind], options: ReadOptions) -> Iterator[tuple[str, Callable[[], RunMetadata]]]:
    """Yield run statistics by tag; earlier steps of a tag as "tag@step"."""
    kept = [find for find in finds if find.item in ("profile", "traced") and find.tag is not None]
    kept = [find for find in kept if graph_forms_in(find.data())[1]]
    last = {find.tag: find for find in kept}
    for find in kept:
        tag = find.tag or ""
        load = partial(_decode_found_message, find, RunMetadata, f"tag {find.tag}", options)
        yield (tag if last[tag] is find else f"{tag}@{find.step}"), load


def _decode_layers(find: EventFind, options: ReadOptions) -> GraphContent:
    name = f"tag {find.tag}"
    check_source_size(find.size, options, name)
    return conceptual_graph(find.data(), name, on_disk=find.size if options.limits_memory else None)


def _decode_found_graph(find: EventFind, name: str, options: ReadOptions) -> GraphDef | PackedGraph:
    """Decode a find as a graph. Raises TooLarge."""
    check_source_size(find.size, options, name)
    return decode_graph(find.data(), name, bounded=options.limits_memory)


def _decode_found_message(find: EventFind, kind: type[MessageT], name: str, options: ReadOptions) -> MessageT:
    """Decode a find as a message. Raises TooLarge."""
    check_source_size(find.size, options, name)
    return decode_message(find.data(), kind, name, bounded=options.limits_memory)
