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
from graphviz_tb.limits import ENTRIES_BESIDE, NOTICES_OF_KIND, SNIFFED
from graphviz_tb.model.loaded import Entry
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, MetaGraphDef, RunMetadata
from graphviz_tb.read.holding import RUN_GRAPH, Content, Holding, SourceItem
from graphviz_tb.read.keras_model import conceptual_graph
from graphviz_tb.read.log_traces import trace_files, with_traces
from graphviz_tb.read.opened import GZIP, Opened, Progress, check_size, open_path
from graphviz_tb.read.packed import PackedGraph, decode_graph
from graphviz_tb.read.pb import M, decode
from graphviz_tb.read.run_metadata import forms_in, graphs_of
from graphviz_tb.read.saved_model import model_file
from graphviz_tb.read.sniff import RECORD, is_events
from graphviz_tb.read.tfevents import Find, Scan, scan
from graphviz_tb.read.walk import Below, files_below, identity

EVENTS_NAME = "tfevents"  # part of an event file's name

RunName = str | None


def read_events(opened: Opened, options: ReadOptions) -> Holding:
    """Read one event file. Without a folder there are no runs to choose from."""
    scanned = scan(opened.stream(), opened.name, opened.path)
    return _holding({None: [scanned]}, opened.name, options, tuple(runs_beside(opened.path)))


def runs_beside(path: Path | None) -> Iterator[Notice]:
    """Yield a notice about sibling runs of a single event file."""
    if path is None:
        return
    log = path.absolute().parent.parent
    with suppress(OSError):  # a folder that may not be listed
        with os.scandir(log) as listed:
            folders = sorted(entry.name for entry in islice(listed, ENTRIES_BESIDE) if entry.is_dir())
        runs = [name for name in folders if has_events(log / name)]
        if len(runs) > 1 and path.absolute().parent.name in runs:
            shown = ", ".join(runs[:5]) + (", …" if len(runs) > 5 else "")
            text = f"this is one event file of {len(runs)} runs ({shown}): give '{log}' for all of them"
            yield Notice("one-of-several-runs", text, str(path), strict=False)


def has_events(folder: Path) -> bool:
    """Return whether a folder has a file named like an event file."""
    with suppress(OSError), os.scandir(folder) as listed:
        return any(EVENTS_NAME in entry.name for entry in islice(listed, ENTRIES_BESIDE))
    return False


def read_logdir(folder: Path, options: ReadOptions, progress: Progress | None = None) -> Holding:
    """Read the event files below a folder, run by run. Raises NoGraph if there are none."""
    below = files_below(folder)
    notices = [*below.notices, *unread_event_files(below)]
    files = of_run(options.run, folder, [(run, path) for run, path in below.files if is_event_file(path)])
    traces = trace_files(below, options)
    if not files and not traces:
        raise no_events(folder) if not notices else NoGraph(f"no event file in '{folder}': {notices[0].message}")
    total = sum(size(path) for _, path in files)
    done = 0
    runs: dict[RunName, list[Scan]] = {}
    for run, path in files:
        with open_path(path, options) as opened:
            runs.setdefault(run, []).append(scan(opened.stream(), str(path), opened.path))
        done += size(path)
        if progress is not None:
            progress(done, total)
    return with_traces(_holding(runs, str(folder), options, notices), traces, options)


def size(path: Path) -> int:
    """Return a file's size for the progress bar; 0 if it has disappeared."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def of_run(name: str | None, folder: Path, files: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """Return the files of one run, or of the run that a link of this name leads to; all for None."""
    runs = dict.fromkeys(run for run, _ in files)
    if name is None:
        return files
    if name in runs:
        return [(run, path) for run, path in files if run == name]
    with suppress(OSError, ValueError):
        # `--run` may name a link; its files are listed under the folder that it leads to.
        meant = identity(folder / name)
        same = next((run for run in runs if identity(folder / run) == meant), None)
        return [(name, path) for run, path in files if run == same] or files
    return files


def unread_event_files(below: Below) -> Iterator[Notice]:
    """Yield a notice for each event file, by name, that may not be read."""
    for _, path in below.files:
        if EVENTS_NAME in path.name and path.is_file() and not os.access(path, os.R_OK):
            yield Notice("unread-file", f"cannot read '{path}': {os.strerror(errno.EACCES)}")


def is_event_file(path: Path) -> bool:
    """Return whether a file starts like an event file, compressed or not."""
    try:
        # System files have size 0, and reading one may block: /proc/kmsg waits for the next message.
        if not path.is_file() or size(path) < RECORD:
            return False
        with path.open("rb") as handle:
            head = handle.read(SNIFFED)
    except OSError:
        return False
    if head.startswith(GZIP):
        try:
            # 31: gzip header, largest window. A record's header is enough.
            head = zlib.decompressobj(31).decompress(head, RECORD)
        except zlib.error:
            return False
    return is_events(head)


def no_events(folder: Path) -> NoGraph:
    """Return the error that says what the folder holds instead."""
    names = sorted(path.name for path in folder.iterdir())
    if begun := next((name for name in names if EVENTS_NAME in name and (folder / name).is_file()), None):
        short = size(folder / begun) < RECORD
        why = "holds no whole event yet" if short else "does not begin with an event: it is damaged, or no event file"
        hint = "wait until the program has written some" if short else "give the folder of another log"
        return NoGraph(f"no events in '{folder}': {begun} {why}", hint=hint)
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    models = [name for name in names if name.endswith((".meta", ".pb", ".pbtxt", ".keras", ".json"))]
    hint = f"give the file itself, such as {folder / models[0]}" if models else "give the folder of a log or a model"
    if below := next((name for name in names if model_file(folder / name)), None):
        hint = f"a SavedModel is below it: give {folder / below}"
    if any(name.endswith(".index") for name in names):
        around = folder.resolve().parent
        if model_file(around):
            hint = f"these are the values of a SavedModel: give {around}"
        else:
            hint = "these are the values of a checkpoint: give a .meta file or the log folder"
    what = f"it holds {shown}" if names else "it is empty"
    return NoGraph(f"no SavedModel and no event file in '{folder}': {what}", hint=hint)


def _holding(
    runs: dict[RunName, list[Scan]], name: str, options: ReadOptions, before: Sequence[Notice] = ()
) -> Holding:
    """Return the contents of all scanned runs. Damage is an error only if no graph was found."""
    graphs: list[SourceItem] = []
    notices = list(before)
    profiles: dict[RunName, dict[str, Callable[[], RunMetadata]]] = {}
    for run, scans in runs.items():
        finds = [find for scanned in scans for find in scanned.finds]
        notices += [notice for scanned in scans for notice in scanned.notices]
        profiles[run] = dict(_profiles(finds, options))
        graphs += _graphs_of_run(run, finds, bool(profiles[run]), notices, options)
    scanned = [each for scans in runs.values() for each in scans]
    damage = [each.damage for each in scanned if each.damage]
    if not graphs and damage:
        raise damage[0]
    events = sum(each.events for each in scanned)
    what = f"{name}: its {events:,} events hold none" if events > 1 else f"{name}: it holds no events yet"
    return Holding(tuple(graphs), profiles, _counted(notices), what, damage[0] if damage else None)


def _counted(notices: list[Notice]) -> tuple[Notice, ...]:
    """Keep the first notices and count the rest: a damaged disk causes thousands."""
    if len(notices) <= NOTICES_OF_KIND:
        return tuple(notices)
    rest = Notice(notices[-1].code, "more of the same", count=len(notices) - NOTICES_OF_KIND)
    return (*notices[:NOTICES_OF_KIND], rest)


def _graphs_of_run(
    run: RunName, finds: list[Find], profile: bool, notices: list[Notice], options: ReadOptions
) -> Iterator[SourceItem]:
    """Yield the items of one run: its graph, then the last step of each tag."""
    graphs = [find for find in finds if find.item == "graph"]
    metas = [find for find in finds if find.item == "meta_graph"]
    if graphs or metas:
        yield _run_graph(run, (graphs or metas)[-1], profile, options)
    # A graph that is written again at every start has the same size and needs no notice.
    if len({find.size for find in graphs}) > 1:
        text = f"run {run or 'of this file'} holds {len(graphs)} graphs, the last one is taken"
        notices.append(Notice("several-graphs", text, strict=False))
    # Later finds overwrite earlier ones: the last step remains.
    last = {(find.item, find.tag): find for find in finds if find.tag is not None}
    for find in last.values():
        yield from _tagged(run, find, options)


def _run_graph(run: RunName, find: Find, profile: bool, options: ReadOptions) -> SourceItem:
    entry = Entry("op", run, RUN_GRAPH, bytes=find.size, step=find.step, profile=profile, format="GraphDef")
    name = "the graph of the run"
    if find.item == "graph":
        return SourceItem(entry, lambda: Content(_graph(find, name, options)))
    return SourceItem(entry, lambda: Content(_message(find, MetaGraphDef, name, options).graph_def))


def _tagged(run: RunName, find: Find, options: ReadOptions) -> Iterator[SourceItem]:
    if find.item == "keras":
        entry = Entry("conceptual", run, find.tag, bytes=find.size, step=find.step, format="Keras model")
        yield SourceItem(entry, partial(_layers, find, options))
    elif find.item == "profile" and forms_in(find.data())[1]:
        yield SourceItem(_profile_entry(run, find), lambda: Content(GraphDef()))
    elif find.item != "profile":
        load = partial(_message, find, RunMetadata, f"tag {find.tag}", options)
        yield from graphs_of(
            load, find.data(), run=run, tag=find.tag, size=find.size, step=find.step, format="RunMetadata"
        )


def _profile_entry(run: RunName, find: Find) -> Entry:
    return Entry("profile", run, find.tag, bytes=find.size, step=find.step, profile=True, format="RunMetadata")


def _profiles(finds: list[Find], options: ReadOptions) -> Iterator[tuple[str, Callable[[], RunMetadata]]]:
    """Yield run statistics by tag; earlier steps of a tag as "tag@step"."""
    kept = [find for find in finds if find.item in ("profile", "traced") and find.tag is not None]
    kept = [find for find in kept if forms_in(find.data())[1]]
    last = {find.tag: find for find in kept}
    for find in kept:
        tag = find.tag or ""
        load = partial(_message, find, RunMetadata, f"tag {find.tag}", options)
        yield (tag if last[tag] is find else f"{tag}@{find.step}"), load


def _layers(find: Find, options: ReadOptions) -> Content:
    """Return the layers of a Keras model."""
    name = f"tag {find.tag}"
    check_size(find.size, options, name)
    return conceptual_graph(find.data(), name, on_disk=find.size if options.bounded else None)


def _graph(find: Find, name: str, options: ReadOptions) -> GraphDef | PackedGraph:
    """Decode a find as a graph. Raises TooLarge."""
    check_size(find.size, options, name)
    return decode_graph(find.data(), name, bounded=options.bounded)


def _message(find: Find, kind: type[M], name: str, options: ReadOptions) -> M:
    """Decode a find as a message. Raises TooLarge."""
    check_size(find.size, options, name)
    return decode(find.data(), kind, name, bounded=options.bounded)
