"""Stage `read`: turn whatever TensorFlow wrote into one GraphDef.

open      a path, stdin, bytes or a message object of TensorFlow; undo gzip, limit sizes
detect    recognise the format by content
list      every graph in the source, none decoded before it is chosen
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
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.loaded import Entry, GraphSource, Loaded
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, RunMetadata
from graphviz_tb.read.callables import NO_SIGNATURE
from graphviz_tb.read.holding import Content, Holding, Profiles, SourceItem, choose, full_run, label
from graphviz_tb.read.inputs import named
from graphviz_tb.read.limits import check_edges, check_nodes
from graphviz_tb.read.messages import MESSAGE_READERS, Reader
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


def lazy_read_events(opened: Opened, options: ReadOptions) -> Holding:
    """Read an event file. Here and below, a reader is imported when it is first used."""
    from graphviz_tb.read.logdir import read_events

    return read_events(opened, options)


def lazy_read_keras_json(opened: Opened, options: ReadOptions) -> Holding:
    """Read the JSON of a Keras model."""
    from graphviz_tb.read.keras_model import read_keras

    return read_keras(opened, options)


def lazy_read_keras_metadata(opened: Opened, options: ReadOptions) -> Holding:
    """Read the `keras_metadata.pb` of a SavedModel."""
    from graphviz_tb.read.keras_metadata import read_metadata

    return read_metadata(opened, options)


def lazy_read_keras_hdf5(opened: Opened, options: ReadOptions) -> Holding:
    """Read an HDF5 file with a whole Keras model."""
    from graphviz_tb.read.keras.whole_model import read_whole_model

    return read_whole_model(opened, options)


def lazy_read_archive(opened: Opened, options: ReadOptions) -> Holding:
    """Read a zip file."""
    from graphviz_tb.read.archive import read_archive

    return read_archive(opened, options)


READERS: dict[str, Reader] = {
    **MESSAGE_READERS,
    "events": lazy_read_events,
    "keras_json": lazy_read_keras_json,
    "keras_metadata": lazy_read_keras_metadata,
    "keras_hdf5": lazy_read_keras_hdf5,
    "archive": lazy_read_archive,
}


def read(source: Any, options: ReadOptions = DEFAULT, progress: Progress | None = None) -> Loaded:
    """Read one graph from a path, "-", bytes, or an object with a GraphDef. Raises `ReadError`, `RequestError`.

    >>> read(b'node { name: "x" op: "NoOp" }').graph_def.node[0].op
    'NoOp'
    """
    # A live object selects the signature itself; a file is read first.
    if options.signature is not None and not isinstance(source, FILES):
        from graphviz_tb.read.live import message_of

        source, options = message_of(source, options.signature), replace(options, signature=None)
    name, holding = _hold(source, options, progress)
    chosen = choose(holding, options)
    content = chosen.load()
    graph = content.plain() if content.plain and options.whole_file else content.graph_def
    left_out = content.left_out
    # A conceptual graph is the model as written in the program: it has no runtime ops.
    if chosen.entry.kind == "op" and not options.whole_file:
        graph, more = cleared(content)
        left_out += more
    if not graph.node and not graph.library.function:
        raise NoGraph(f"{name}: the graph has no nodes")
    entry = chosen.entry
    # A message in memory has no size on disk to compare with.
    if options.bounded and entry.bytes:
        check_nodes(graph, entry.bytes, name)
        if holding.packed is not None:  # uncompressed, each input takes at least three bytes
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
    """Remove what only runs the graph and what tracing left. Returns the graph and the number of removed ops."""
    graph, small = of_content(content.traced) if content.traced else (content.graph_def, 0)
    if isinstance(graph, PackedGraph):
        return graph, small  # packed graphs contain nothing to remove
    graph = without_barriers(without_wrappers(graph))
    suspects = suspected(graph)
    # Freezing lowers loops and sorts the nodes: the artifacts of the first prove the second.
    made = in_order(without_tracing_artifacts(graph, suspects), LOWERED in suspects or was_sorted(graph.node))
    return made, small + len(graph.node) - len(made.node)


def layers_beside(holding: Holding, chosen: SourceItem, graph: GraphSource) -> dict[str, Layer]:
    """Return the layers of the Keras model that the same run logged, by the names of their scopes in the graph."""
    for other in holding.found:
        if other.entry.kind == "conceptual" and other.entry.run == chosen.entry.run:
            with suppress(ReadError):  # the graph itself is fine
                layers = other.load().layers
                scopes = layers_of_scopes((node.name for node in graph.node), layers)
                return {scope: layers[path] for scope, path in scopes.items()}
    return {}


def _signature(content: Content) -> tuple[str, ...]:
    """Return words for the signature, if there are several."""
    return (f"signature {content.signature}",) if content.signature and len(content.signatures) > 1 else ()


def _called(name: str, source: Any) -> str:
    """Return the name of a source; "." and ".." are replaced by the folder's own name."""
    if isinstance(source, str | os.PathLike) and source != "-" and Path(source).name in ("", ".."):
        return Path(source).resolve().name or name
    return name


def _refuse_odd(notices: tuple[Notice, ...]) -> None:
    # Strict reading stops at the first one.
    for notice in notices:
        # Only if the message does not say it.
        where = f" ({notice.where})" if notice.where and notice.where not in notice.message else ""
        raise ReadError(f"{notice.message}{where}", hint=LENIENT)


def _only_conceptual(entry: Entry, options: ReadOptions) -> tuple[Notice, ...]:
    """Return a notice if the log has no op graph and the layers of its Keras model are drawn."""
    if entry.kind != "conceptual" or entry.tag is None or options.kind is not None:
        return ()
    text = "the log holds no op graph, these are the layers of its Keras model"
    return (Notice("conceptual-graph", text, label(entry, ""), strict=False),)


def contents(source: Any, options: ReadOptions = DEFAULT) -> tuple[Entry, ...]:
    """Return an entry for everything the source holds, graphs with the number of their nodes."""
    _, holding = _hold(source, options, None)
    listed = (part for found in holding.found for part in (found.parts() if found.parts else (found,)))
    return tuple(_counted(found) for found in listed)


def profiles(source: Any, options: ReadOptions = DEFAULT) -> Mapping[str, RunMetadata]:
    """Return the run statistics in a source by tag; those of every run if none is chosen."""
    name, holding = _hold(source, options, None)
    run = full_run(options.run, holding.profiles)
    runs = holding.profiles if run is None else {run: holding.profiles.get(run, {})}
    # Runs may share tags; the run's name makes them unique.
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
        return found.entry  # damaged: listed without a count
    return replace(found.entry, nodes=len(graph.node), functions=len(graph.library.function))


def _hold(source: Any, options: ReadOptions, progress: Progress | None) -> tuple[str, Holding]:
    """Return the name of a source and its contents."""
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
    """Return the contents of a SavedModel folder, or else of a log directory."""
    from graphviz_tb.read.saved_model import model_file

    model = model_file(folder)
    if model is not None:
        return _of_opened(open_path(model, options), options)
    from graphviz_tb.read.logdir import read_logdir

    if not os.access(folder, os.X_OK):  # listable perhaps, but no file in it is accessible
        raise cannot_list(folder, PermissionError(EACCES, ""))

    return read_logdir(folder, options, progress)


def _of_opened(opened: Opened, options: ReadOptions) -> Holding:
    with opened:
        form = sniff(opened.head, opened.name, whole=len(opened.head) < HEAD, tail=opened.tail)
        holding = READERS[form](opened, options)
    return replace(holding, packed=opened.gunzip.taken) if opened.gunzip else holding


def _of_object(source: Any, options: ReadOptions) -> Holding:
    """Return the contents of a message, ours or TensorFlow's, or of a TensorFlow object that has a graph."""
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
    copied.CopyFrom(message)  # attributes are decoded later, and the caller may change the message until then
    content = Content(copied)
    return Holding((SourceItem(Entry("op", bytes=message.ByteSize(), format="GraphDef"), lambda: content),))
