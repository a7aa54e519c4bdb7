"""Graphs in a log directory: every run below it. A run is a folder with event files, whose records form one
sequence."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

from graphviz_tb.errors import NoGraph
from graphviz_tb.limits import MAX_NOTICES_PER_KIND, MAX_SIBLING_ENTRIES, SNIFFED_BYTES
from graphviz_tb.model.loaded import SourceEntry
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, MetaGraphDef, RunMetadata
from graphviz_tb.read.holding import RUN_GRAPH_TAG, GraphContent, SourceContents, SourceItem
from graphviz_tb.read.keras_model import conceptual_graph
from graphviz_tb.read.log_traces import add_trace_steps, find_trace_files
from graphviz_tb.read.opened import GZIP_MAGIC, OpenedSource, ReadProgress, check_source_size, open_path
from graphviz_tb.read.packed import PackedGraph, decode_graph
from graphviz_tb.read.pb import MessageT, decode_message
from graphviz_tb.read.run_metadata import graph_forms_in, graphs_of_run_metadata
from graphviz_tb.read.saved_model import saved_model_file
from graphviz_tb.read.sniff import RECORD_START_BYTES, starts_with_event
from graphviz_tb.read.tfevents import EventFind, EventScan, scan_event_file
from graphviz_tb.read.walk import FolderListing, file_identity, list_files_below

EVENT_FILE_WORD = "tfevents"  # part of an event file's name

OptionalRun = str | None


def read_single_event_file(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    """Read one event file. Without a folder there are no runs to choose from."""
    scanned = scan_event_file(opened.stream(), opened.name, opened.path)
    return contents_of_scans({None: [scanned]}, opened.name, options, tuple(sibling_runs_notice(opened.path)))


def sibling_runs_notice(path: Path | None) -> Iterator[Notice]:
    """Yield a notice about sibling runs of a single event file."""
    if path is None:
        return
    log = path.absolute().parent.parent
    with suppress(OSError):  # a folder that may not be listed
        with os.scandir(log) as listed:
            folders = sorted(entry.name for entry in islice(listed, MAX_SIBLING_ENTRIES) if entry.is_dir())
        runs = [name for name in folders if has_event_file_name(log / name)]
        if len(runs) > 1 and path.absolute().parent.name in runs:
            shown = ", ".join(runs[:5]) + (", …" if len(runs) > 5 else "")
            text = f"this is one event file of {len(runs)} runs ({shown}): give '{log}' for all of them"
            yield Notice("one-of-several-runs", text, str(path), strict=False)


def has_event_file_name(folder: Path) -> bool:
    """Return whether a folder has a file named like an event file."""
    with suppress(OSError), os.scandir(folder) as listed:
        return any(EVENT_FILE_WORD in entry.name for entry in islice(listed, MAX_SIBLING_ENTRIES))
    return False


def read_log_directory(folder: Path, options: ReadOptions, progress: ReadProgress | None = None) -> SourceContents:
    """Read the event files below a folder, run by run. Raises NoGraph if there are none."""
    below = list_files_below(folder)
    notices = [*below.notices, *unreadable_event_files(below)]
    files = files_of_run(options.run, folder, [(run, path) for run, path in below.files if is_event_file(path)])
    traces = find_trace_files(below, options)
    if not files and not traces:
        raise no_events_error(folder) if not notices else NoGraph(f"no event file in '{folder}': {notices[0].message}")
    total = sum(file_size_or_zero(path) for _, path in files)
    done = 0
    runs: dict[OptionalRun, list[EventScan]] = {}
    for run, path in files:
        with open_path(path, options) as opened:
            runs.setdefault(run, []).append(scan_event_file(opened.stream(), str(path), opened.path))
        done += file_size_or_zero(path)
        if progress is not None:
            progress(done, total)
    return add_trace_steps(contents_of_scans(runs, str(folder), options, notices), traces, options)


def file_size_or_zero(path: Path) -> int:
    """Return a file's size for the progress bar; 0 if it has disappeared."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def files_of_run(name: str | None, folder: Path, files: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
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
    """Yield a notice for each event file, by name, that may not be read."""
    for _, path in below.files:
        if EVENT_FILE_WORD in path.name and path.is_file() and not os.access(path, os.R_OK):
            yield Notice("unread-file", f"cannot read '{path}': {os.strerror(errno.EACCES)}")


def is_event_file(path: Path) -> bool:
    """Return whether a file starts like an event file, compressed or not."""
    try:
        # System files have size 0, and reading one may block: /proc/kmsg waits for the next message.
        if not path.is_file() or file_size_or_zero(path) < RECORD_START_BYTES:
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
    """Return the error that says what the folder holds instead."""
    names = sorted(path.name for path in folder.iterdir())
    if begun := next((name for name in names if EVENT_FILE_WORD in name and (folder / name).is_file()), None):
        short = file_size_or_zero(folder / begun) < RECORD_START_BYTES
        why = "holds no whole event yet" if short else "does not begin with an event: it is damaged, or no event file"
        hint = "wait until the program has written some" if short else "give the folder of another log"
        return NoGraph(f"no events in '{folder}': {begun} {why}", hint=hint)
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    models = [name for name in names if name.endswith((".meta", ".pb", ".pbtxt", ".keras", ".json"))]
    hint = f"give the file itself, such as {folder / models[0]}" if models else "give the folder of a log or a model"
    if below := next((name for name in names if saved_model_file(folder / name)), None):
        hint = f"a SavedModel is below it: give {folder / below}"
    if any(name.endswith(".index") for name in names):
        around = folder.resolve().parent
        if saved_model_file(around):
            hint = f"these are the values of a SavedModel: give {around}"
        else:
            hint = "these are the values of a checkpoint: give a .meta file or the log folder"
    what = f"it holds {shown}" if names else "it is empty"
    return NoGraph(f"no SavedModel and no event file in '{folder}': {what}", hint=hint)


def contents_of_scans(
    runs: dict[OptionalRun, list[EventScan]], name: str, options: ReadOptions, before: Sequence[Notice] = ()
) -> SourceContents:
    """Return the contents of all scanned runs. Damage is an error only if no graph was found."""
    graphs: list[SourceItem] = []
    notices = list(before)
    profiles: dict[OptionalRun, dict[str, Callable[[], RunMetadata]]] = {}
    for run, scans in runs.items():
        finds = [find for scanned in scans for find in scanned.finds]
        notices += [notice for scanned in scans for notice in scanned.notices]
        profiles[run] = dict(profile_loaders(finds, options))
        graphs += graphs_of_run(run, finds, bool(profiles[run]), notices, options)
    scanned = [each for scans in runs.values() for each in scans]
    damage = [each.damage for each in scanned if each.damage]
    if not graphs and damage:
        raise damage[0]
    events = sum(each.events for each in scanned)
    what = f"{name}: its {events:,} events hold none" if events > 1 else f"{name}: it holds no events yet"
    return SourceContents(tuple(graphs), profiles, abridge_notices(notices), what, damage[0] if damage else None)


def abridge_notices(notices: list[Notice]) -> tuple[Notice, ...]:
    """Keep the first notices and count the rest: a damaged disk causes thousands."""
    if len(notices) <= MAX_NOTICES_PER_KIND:
        return tuple(notices)
    rest = Notice(notices[-1].code, "more of the same", count=len(notices) - MAX_NOTICES_PER_KIND)
    return (*notices[:MAX_NOTICES_PER_KIND], rest)


def graphs_of_run(
    run: OptionalRun, finds: list[EventFind], profile: bool, notices: list[Notice], options: ReadOptions
) -> Iterator[SourceItem]:
    """Yield the items of one run: its graph, then the last step of each tag."""
    graphs = [find for find in finds if find.item == "graph"]
    metas = [find for find in finds if find.item == "meta_graph"]
    if graphs or metas:
        yield run_graph_item(run, (graphs or metas)[-1], profile, options)
    # A graph that is written again at every start has the same size and needs no notice.
    if len({find.size for find in graphs}) > 1:
        text = f"run {run or 'of this file'} holds {len(graphs)} graphs, the last one is taken"
        notices.append(Notice("several-graphs", text, strict=False))
    # Later finds overwrite earlier ones: the last step remains.
    last = {(find.item, find.tag): find for find in finds if find.tag is not None}
    for find in last.values():
        yield from tagged_items(run, find, options)


def run_graph_item(run: OptionalRun, find: EventFind, profile: bool, options: ReadOptions) -> SourceItem:
    entry = SourceEntry("op", run, RUN_GRAPH_TAG, bytes=find.size, step=find.step, profile=profile, format="GraphDef")
    name = "the graph of the run"
    if find.item == "graph":
        return SourceItem(entry, lambda: GraphContent(decode_found_graph(find, name, options)))
    return SourceItem(entry, lambda: GraphContent(decode_found_message(find, MetaGraphDef, name, options).graph_def))


def tagged_items(run: OptionalRun, find: EventFind, options: ReadOptions) -> Iterator[SourceItem]:
    if find.item == "keras":
        entry = SourceEntry("conceptual", run, find.tag, bytes=find.size, step=find.step, format="Keras model")
        yield SourceItem(entry, partial(decode_layers, find, options))
    elif find.item == "profile" and graph_forms_in(find.data())[1]:
        yield SourceItem(profile_only_entry(run, find), lambda: GraphContent(GraphDef()))
    elif find.item != "profile":
        load = partial(decode_found_message, find, RunMetadata, f"tag {find.tag}", options)
        yield from graphs_of_run_metadata(
            load, find.data(), run=run, tag=find.tag, size=find.size, step=find.step, format="RunMetadata"
        )


def profile_only_entry(run: OptionalRun, find: EventFind) -> SourceEntry:
    return SourceEntry("profile", run, find.tag, bytes=find.size, step=find.step, profile=True, format="RunMetadata")


def profile_loaders(finds: list[EventFind], options: ReadOptions) -> Iterator[tuple[str, Callable[[], RunMetadata]]]:
    """Yield run statistics by tag; earlier steps of a tag as "tag@step"."""
    kept = [find for find in finds if find.item in ("profile", "traced") and find.tag is not None]
    kept = [find for find in kept if graph_forms_in(find.data())[1]]
    last = {find.tag: find for find in kept}
    for find in kept:
        tag = find.tag or ""
        load = partial(decode_found_message, find, RunMetadata, f"tag {find.tag}", options)
        yield (tag if last[tag] is find else f"{tag}@{find.step}"), load


def decode_layers(find: EventFind, options: ReadOptions) -> GraphContent:
    """Return the layers of a Keras model."""
    name = f"tag {find.tag}"
    check_source_size(find.size, options, name)
    return conceptual_graph(find.data(), name, on_disk=find.size if options.limits_memory else None)


def decode_found_graph(find: EventFind, name: str, options: ReadOptions) -> GraphDef | PackedGraph:
    """Decode a find as a graph. Raises TooLarge."""
    check_source_size(find.size, options, name)
    return decode_graph(find.data(), name, bounded=options.limits_memory)


def decode_found_message(find: EventFind, kind: type[MessageT], name: str, options: ReadOptions) -> MessageT:
    """Decode a find as a message. Raises TooLarge."""
    check_source_size(find.size, options, name)
    return decode_message(find.data(), kind, name, bounded=options.limits_memory)
