"""Stage `read`: whatever TensorFlow wrote becomes one GraphDef.

open      a path, stdin, bytes or a message object of TensorFlow; gzip is undone, sizes are bounded
sniff     what it is, by content
hold      every graph in it, none decoded before it is chosen
choose    the one that was asked for, or the only one
load      its GraphDef
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from errno import EACCES
from pathlib import Path
from typing import Any

from graphviz_tb.algorithms.layer_scopes import layers_of_scopes
from graphviz_tb.errors import LENIENT, NoGraph, ReadError, RequestError
from graphviz_tb.limits import HEAD
from graphviz_tb.model.later import imported
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.loaded import Entry, GraphSource, Loaded
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, RunMetadata
from graphviz_tb.read import messages
from graphviz_tb.read.callables import NO_SIGNATURE
from graphviz_tb.read.holding import Content, Holding, Profiles, SourceItem, choose, full_run, label
from graphviz_tb.read.inputs import named
from graphviz_tb.read.limits import check_edges, check_nodes
from graphviz_tb.read.messages import Reader
from graphviz_tb.read.opened import Opened, Progress, open_bytes, open_path, open_stdin, path_of
from graphviz_tb.read.ordered import in_order, was_sorted
from graphviz_tb.read.packed import PackedGraph
from graphviz_tb.read.sniff import MESSAGES, sniff
from graphviz_tb.read.traced import of_content, without_barriers, without_wrappers
from graphviz_tb.read.tracing_artifacts import LOWERED, suspected, without_tracing_artifacts
from graphviz_tb.read.walk import cannot_list

__all__ = ["READERS", "Entry", "Loaded", "contents", "profiles", "read"]


DEFAULT = ReadOptions()
FILES = (str, os.PathLike, bytes, bytearray, memoryview)
FORMS = {kind.DESCRIPTOR.name: form for form, kind in MESSAGES.items()}


READERS: dict[str, Reader] = {
    **messages.READERS,
    "events": imported(f"{__name__}.logdir", "read_events"),
    "keras_json": imported(f"{__name__}.keras_model", "read_keras"),
    "keras_metadata": imported(f"{__name__}.keras_metadata", "read_metadata"),
    "keras_hdf5": imported(f"{__name__}.keras.whole_model", "read_whole_model"),
    "archive": imported(f"{__name__}.archive", "read_archive"),
}


def read(source: Any, options: ReadOptions = DEFAULT, progress: Progress | None = None) -> Loaded:
    """Before: a path, "-", bytes, or an object with a GraphDef. After: one graph, and where it came from.

    >>> read(b'node { name: "x" op: "NoOp" }').graph_def.node[0].op
    'NoOp'
    """
    # A live object is asked for the signature itself; a file is read first.
    if options.signature is not None and not isinstance(source, FILES):
        from graphviz_tb.read.live import message_of

        source, options = message_of(source, options.signature), replace(options, signature=None)
    name, holding = _hold(source, options, progress)
    chosen = choose(holding, options)
    content = chosen.load()
    graph = content.plain() if content.plain and options.whole_file else content.graph_def
    left_out = content.left_out
    # A conceptual graph is the model as its program writes it: nothing in it only runs it.
    if chosen.entry.kind == "op" and not options.whole_file:
        graph, more = cleared(content)
        left_out += more
    if not graph.node and not graph.library.function:
        raise NoGraph(f"{name}: the graph has no nodes")
    entry = chosen.entry
    # A message in memory has no bytes on disk to be measured by.
    if options.bounded and entry.bytes:
        check_nodes(graph, entry.bytes, name)
        if holding.packed is not None:  # else each input takes three bytes or more
            check_edges(graph, holding.packed, name)
    if options.signature is not None and not content.signatures:
        raise RequestError(NO_SIGNATURE)
    if options.strict:
        _refuse_odd((*holding.notices, *content.notices))
    return Loaded(
        graph=graph,
        kind="conceptual" if entry.kind == "conceptual" else "op",
        label=" · ".join((label(entry, _called(name, source)), *_signature(content))),
        run_metadata=Profiles(holding.profiles.get(entry.run, {})),
        signatures=content.signatures,
        notices=(*holding.notices, *content.notices, *_only_conceptual(entry, options)),
        signature=content.signature,
        left_out=left_out,
        layers={} if options.whole_file else content.layers or layers_beside(holding, chosen, graph),
        described=content.described,
    )


def cleared(content: Content) -> tuple[GraphDef | PackedGraph, int]:
    """The graph without what only runs it and what tracing leaves, and how many ops that is."""
    graph, small = of_content(content.traced) if content.traced else (content.graph_def, 0)
    if isinstance(graph, PackedGraph):
        return graph, small  # nothing of that is in it
    graph = without_barriers(without_wrappers(graph))
    suspects = suspected(graph)
    # Freezing lowers loops: what that leaves says that the nodes were sorted.
    made = in_order(without_tracing_artifacts(graph, suspects), LOWERED in suspects or was_sorted(graph.node))
    return made, small + len(graph.node) - len(made.node)


def layers_beside(holding: Holding, chosen: SourceItem, graph: GraphSource) -> dict[str, Layer]:
    """The layers of the model that the log holds beside an op graph, by the names of their scopes there."""
    for other in holding.found:
        if other.entry.kind == "conceptual" and other.entry.run == chosen.entry.run:
            with suppress(ReadError):  # the graph itself is well
                layers = other.load().layers
                scopes = layers_of_scopes((node.name for node in graph.node), layers)
                return {scope: layers[path] for scope, path in scopes.items()}
    return {}


def _signature(content: Content) -> tuple[str, ...]:
    """Which signature it is, where there are several."""
    return (f"signature {content.signature}",) if content.signature and len(content.signatures) > 1 else ()


def _called(name: str, source: Any) -> str:
    """The name of a source; a folder given as "." or "..", or by its way up, has its own."""
    if isinstance(source, str | os.PathLike) and source != "-" and Path(source).name in ("", ".."):
        return Path(source).resolve().name or name
    return name


def _refuse_odd(notices: tuple[Notice, ...]) -> None:
    # The first is enough: strict reading ends at it.
    for notice in notices:
        # Not where the sentence says it itself.
        where = f" ({notice.where})" if notice.where and notice.where not in notice.message else ""
        raise ReadError(f"{notice.message}{where}", hint=LENIENT)


def _only_conceptual(entry: Entry, options: ReadOptions) -> tuple[Notice, ...]:
    """A log without an op graph draws the model's layers, and says so."""
    if entry.kind != "conceptual" or entry.tag is None or options.kind is not None:
        return ()
    text = "the log holds no op graph, these are the layers of its Keras model"
    return (Notice("conceptual-graph", text, label(entry, ""), strict=False),)


def contents(source: Any, options: ReadOptions = DEFAULT) -> tuple[Entry, ...]:
    """Before: as for `read`. After: everything the source holds, graphs with the number of their nodes."""
    _, holding = _hold(source, options, None)
    listed = (part for found in holding.found for part in (found.parts() if found.parts else (found,)))
    return tuple(_counted(found) for found in listed)


def profiles(source: Any, options: ReadOptions = DEFAULT) -> Mapping[str, RunMetadata]:
    """Before: as for `read`. After: the run statistics in it by tag; those of every run if none is chosen."""
    name, holding = _hold(source, options, None)
    run = full_run(options.run, holding.profiles)
    runs = holding.profiles if run is None else {run: holding.profiles.get(run, {})}
    # Runs may have tags in common; with their names before them no two are one.
    several = len([run for run in runs.values() if run]) > 1
    made = {
        f"{run}/{tag}" if several else tag: load
        for run, tags in runs.items()
        for tag, load in tags.items()
        if options.tag in (None, tag)
    }
    if not made:
        raise NoGraph(f"no run statistics in {name}")
    return Profiles(made)


def _counted(found: SourceItem) -> Entry:
    if found.entry.kind == "profile":
        return found.entry
    try:
        graph = found.load().graph_def
    except ReadError:
        return found.entry  # damaged: listed, but not counted
    return replace(found.entry, nodes=len(graph.node), functions=len(graph.library.function))


def _hold(source: Any, options: ReadOptions, progress: Progress | None) -> tuple[str, Holding]:
    """The name of a source, and what it holds."""
    if isinstance(source, bytes | bytearray | memoryview):
        opened = open_bytes(bytes(source), options)
    elif not isinstance(source, str | os.PathLike):
        return "this graph", _of_object(source, options)
    elif source == "-":
        opened = open_stdin(options)
    else:
        path = path_of(source)
        if path.is_dir():
            return named(str(path)), _of_folder(path, options, progress)
        opened = open_path(path, options)
    return named(opened.name), _of_opened(opened, options)


def _of_folder(folder: Path, options: ReadOptions, progress: Progress | None) -> Holding:
    """A SavedModel, or else logs."""
    from graphviz_tb.read.saved_model import model_file

    model = model_file(folder)
    if model is not None:
        return _of_opened(open_path(model, options), options)
    from graphviz_tb.read.logdir import read_logdir

    if not os.access(folder, os.X_OK):  # it can be listed, perhaps; no file in it can be seen
        raise cannot_list(folder, PermissionError(EACCES, ""))

    return read_logdir(folder, options, progress)


def _of_opened(opened: Opened, options: ReadOptions) -> Holding:
    with opened:
        form = sniff(opened.head, opened.name, whole=len(opened.head) < HEAD, tail=opened.tail)
        holding = READERS[form](opened, options)
    return replace(holding, packed=opened.gunzip.taken) if opened.gunzip else holding


def _of_object(source: Any, options: ReadOptions) -> Holding:
    """A message, ours or TensorFlow's; or something of a running TensorFlow that has a graph."""
    if isinstance(source, GraphDef):
        return _holding(source)
    from graphviz_tb.read.live import message_of

    message = message_of(source, options.signature)
    if isinstance(message, GraphDef):
        return _holding(message)
    form = FORMS.get(type(message).__name__, "graph")
    return READERS[form](open_bytes(message.SerializeToString(), options), options)


def _holding(message: GraphDef) -> Holding:
    copied = GraphDef()
    copied.CopyFrom(message)  # attributes are decoded later: what happens to the message until then is not ours
    content = Content(copied)
    return Holding((SourceItem(Entry("op", bytes=message.ByteSize(), format="GraphDef"), lambda: content),))
