"""Stage `read_source`: turn whatever TensorFlow wrote into one GraphDef.

open      a path, stdin, bytes or a message object of TensorFlow; undo gzip, limit sizes
detect    recognise the format by content
list      every graph in the source, none decoded before it is chosen
choose    the one that was asked for, or the only one
load      its GraphDef
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from errno import EACCES
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.message import Message

from graphviz_tb.caches import import_on_call, lazy_constant
from graphviz_tb.errors import (
    NOT_STRICT_HINT,
    Ambiguous,
    NoGraph,
    ReadError,
    RequestError,
    UnknownChoice,
    UnknownFormat,
)
from graphviz_tb.formats.contents import (
    NO_SIGNATURE_MESSAGE,
    RUN_GRAPH_TAG,
    TOP_RUN,
    GraphContent,
    LazyProfiles,
    SourceContents,
    SourceItem,
    empty_graph_content,
    selecting_options,
)
from graphviz_tb.formats.detect import MESSAGE_TYPES, SUPPORTED_INPUTS, detect_format
from graphviz_tb.formats.protobuf import decode_message, unknown_field_notices
from graphviz_tb.graphs.layer_rows import match_layers_to_scopes
from graphviz_tb.limits import MAX_LISTED_GRAPHS
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import GraphSource, LoadedGraph, SourceEntry
from graphviz_tb.options import Options, ReadOptions
from graphviz_tb.proto import GraphDef, MetaGraphDef, RunMetadata, SavedModel, XSpace
from graphviz_tb.sources.bounds import check_input_count, check_node_count
from graphviz_tb.sources.streams import (
    FILE_SOURCE_TYPES,
    OpenedSource,
    ReadProgress,
    name_of_user,
    open_bytes,
    open_path,
    open_source,
)
from graphviz_tb.sources.walk import cannot_list_error, saved_model_file
from graphviz_tb.unwrap.artifacts import LOWERED_INPUT_NAME, drop_tracing_artifacts, possible_artifacts
from graphviz_tb.unwrap.node_order import is_frozen_order, sort_graph

if TYPE_CHECKING:
    from graphviz_tb.formats.packed_graph import PackedGraph

# Single messages: GraphDef, MetaGraphDef, SavedModel, RunMetadata and XSpace, binary or text.

AnyMessage = TypeVar("AnyMessage", bound=Message)
DecodedMessage = tuple[AnyMessage, int, tuple[Notice, ...]]  # message, size in the file, notices
DecodeFunction = Callable[[OpenedSource, type[Any]], DecodedMessage[Any]]
Reader = Callable[[OpenedSource, ReadOptions], SourceContents]


def _decode_binary_message(opened: OpenedSource, kind: type[Any]) -> DecodedMessage[Any]:
    data = opened.data()
    if kind is GraphDef and not opened.gunzip:  # compressed: the number of inputs is checked before they are listed
        from graphviz_tb.formats.packed_graph import decode_graph

        message: Any = decode_graph(data, opened.name, opened.bounded)
    else:
        message = decode_message(data, kind, opened.name, opened.bounded)
    return message, len(data), unknown_field_notices(data, kind)


def _decode_text_message(opened: OpenedSource, kind: type[AnyMessage]) -> DecodedMessage[AnyMessage]:
    from graphviz_tb.formats.pbtxt import parse_text_source

    source = opened.text()
    message, notices = parse_text_source(source, kind)
    return message, source.size, notices


def _read_graph_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
    message, size, notices = how(opened, GraphDef)
    unknown = next((notice for notice in notices if notice.code == "unknown-field"), None)
    if unknown is not None and not message.node and not message.library.function:
        # "field GraphDef.item is not known here …"
        field = unknown.message.partition(" is not known")[0].removeprefix("field GraphDef.")
        raise UnknownFormat(
            f"{opened.name}: unknown field {field!r} at {unknown.where}: not a GraphDef", hint=SUPPORTED_INPUTS
        )
    content = GraphContent(message, notices)
    return SourceContents(
        (SourceItem(SourceEntry("op", bytes=size, format="GraphDef"), lambda: content),), what=opened.name
    )


def _read_meta_graph_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
    from graphviz_tb.formats.saved_model import contents_of_meta_graphs

    message, size, notices = how(opened, MetaGraphDef)
    return contents_of_meta_graphs([message], "MetaGraphDef", [size], notices, opened.name, options)


def _read_saved_model_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
    from graphviz_tb.formats.saved_model import contents_of_meta_graphs
    from graphviz_tb.keras.files import metadata_next_to

    message, _, notices = how(opened, SavedModel)
    graphs = list(message.meta_graphs)
    sizes = [graph.ByteSize() for graph in graphs]
    holding = contents_of_meta_graphs(graphs, "SavedModel", sizes, notices, opened.name, options)
    return replace(holding, found=(*holding.found, *metadata_next_to(opened.path, options)))


def _read_run_metadata_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
    from graphviz_tb.formats.run_metadata import graph_forms_in, graphs_of_run_metadata

    message, size, notices = how(opened, RunMetadata)
    data = message.SerializeToString()
    graphs = graphs_of_run_metadata(lambda: message, data, size=size)
    profiles = {"run": lambda: message} if graph_forms_in(data)[1] else {}
    return SourceContents(tuple(graphs), {None: profiles}, notices, opened.name)


def _read_xspace_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
    from graphviz_tb.formats.profiler_traces import run_metadata_by_step

    message, size, notices = how(opened, XSpace)
    steps = run_metadata_by_step(message, opened.name, opened.bounded)
    entries = [SourceEntry("profile", tag=tag, bytes=size, profile=True, format="XSpace") for tag in steps]
    profiles = tuple(SourceItem(entry, empty_graph_content) for entry in entries)
    return SourceContents(
        profiles, {None: {tag: lazy_constant(step) for tag, step in steps.items()}}, notices, opened.name
    )


MESSAGE_READERS: dict[str, Reader] = {
    f"{kind}{suffix}": partial(reader, how)
    for kind, reader in (
        ("graph", _read_graph_message),
        ("meta_graph", _read_meta_graph_message),
        ("saved_model", _read_saved_model_message),
        ("run_metadata", _read_run_metadata_message),
        ("xspace", _read_xspace_message),
    )
    for suffix, how in (("", _decode_binary_message), ("_text", _decode_text_message))
}


DEFAULT_READ_OPTIONS = ReadOptions()
READER_BY_MESSAGE = {kind.DESCRIPTOR.name: form for form, kind in MESSAGE_TYPES.items()}


# Each reader is imported when it is first used.
READERS: dict[str, Reader] = {
    **MESSAGE_READERS,
    "events": import_on_call("graphviz_tb.events.graphs", "read_single_event_file"),
    "keras_json": import_on_call("graphviz_tb.keras.model", "read_keras_json"),
    "keras_metadata": import_on_call("graphviz_tb.keras.files", "read_keras_metadata"),
    "keras_hdf5": import_on_call("graphviz_tb.keras.files", "read_hdf5_model"),
    "archive": import_on_call("graphviz_tb.keras.archive", "read_archive"),  # Keras models, programs of torch.export
    "onnx": import_on_call("graphviz_tb.formats.onnx", "read_onnx"),
    "tflite": import_on_call("graphviz_tb.formats.tflite", "read_tflite"),
}


def read_source(
    source: Any, options: ReadOptions = DEFAULT_READ_OPTIONS, progress: ReadProgress | None = None
) -> LoadedGraph:
    """Read one graph from a path, "-", bytes, or an object with a GraphDef. Raises `ReadError`, `RequestError`.

    >>> read_source(b'node { name: "x" op: "NoOp" }').graph_def.node[0].op
    'NoOp'
    """
    # A live object selects the signature itself; a file is read first.
    if options.signature is not None and not isinstance(source, FILE_SOURCE_TYPES):
        from graphviz_tb.formats.live_objects import message_of_object

        source, options = message_of_object(source, options.signature), replace(options, signature=None)
    name, contents = source_contents(source, options, progress)
    selected = _choose_graph(contents, options)
    content = selected.load()
    graph = content.plain() if content.plain and options.whole_file else content.graph_def
    left_out = content.left_out
    # A conceptual graph is the model as written in the program: it has no runtime ops.
    if selected.entry.kind == "op" and not options.whole_file:
        graph, dropped = _clean_graph(content)
        left_out += dropped
    if not graph.node and not graph.library.function:
        raise NoGraph(f"{name}: the graph has no nodes")
    entry = selected.entry
    # A message in memory has no size on disk to compare with.
    if options.limits_memory and entry.bytes:
        check_node_count(graph, entry.bytes, name)
        if contents.packed is not None:  # uncompressed, each input takes at least three bytes
            check_input_count(graph, contents.packed, name)
    if options.signature is not None and not content.signatures:
        raise RequestError(NO_SIGNATURE_MESSAGE)
    if options.strict:
        _raise_first_notice((*contents.notices, *content.notices))
    return LoadedGraph(
        graph=graph,
        kind="conceptual" if entry.kind == "conceptual" else "op",
        label=" · ".join((_graph_label(entry, _source_display_name(name, source)), *_signature_words(content))),
        run_metadata=LazyProfiles(contents.profiles.get(entry.run, {})),
        signatures=content.signatures,
        notices=(*contents.notices, *content.notices, *_conceptual_graph_notice(entry, options)),
        signature=content.signature,
        left_out=left_out,
        layers={} if options.whole_file else content.layers or _layers_of_same_run(contents, selected, graph),
        described=content.described,
        run=entry.run,
        format=entry.format,
        graph_runs=contents.graph_runs,
    )


def _clean_graph(content: GraphContent) -> tuple[GraphDef | PackedGraph, int]:
    """Remove ops that only run the graph, and tracing artifacts. Return the graph and the number of removed ops."""
    graph, small = content.graph_def, 0
    if not isinstance(graph, GraphDef):
        return graph, small  # packed graphs contain nothing to remove
    if content.traced or graph.library.function:
        from graphviz_tb.unwrap.traced_graphs import drop_function_barriers, merge_traced_graphs, unwrap_calls

        graph, small = merge_traced_graphs(content.traced) if content.traced else (graph, small)
        graph = drop_function_barriers(unwrap_calls(graph))
    suspects = possible_artifacts(graph)
    # Freezing lowers loops and sorts the nodes, so artifacts of lowering show that the nodes are sorted.
    made = sort_graph(
        drop_tracing_artifacts(graph, suspects), LOWERED_INPUT_NAME in suspects or is_frozen_order(graph.node)
    )
    return made, small + len(graph.node) - len(made.node)


def _layers_of_same_run(holding: SourceContents, chosen: SourceItem, graph: GraphSource) -> dict[str, Layer]:
    """Return the layers of the Keras model that the same run logged, by the names of their scopes in the graph."""
    for other in holding.found:
        if other.entry.kind == "conceptual" and other.entry.run == chosen.entry.run:
            with suppress(ReadError):  # the graph itself is fine
                layers = other.load().layers
                scopes = match_layers_to_scopes((node.name for node in graph.node), layers)
                return {scope: layers[path] for scope, path in scopes.items()}
    return {}


def _signature_words(content: GraphContent) -> tuple[str, ...]:
    return (f"signature {content.signature}",) if content.signature and len(content.signatures) > 1 else ()


def _source_display_name(name: str, source: Any) -> str:
    """Return the name of a source; "." and ".." are replaced by the folder's own name."""
    if isinstance(source, str | os.PathLike) and source != "-" and Path(source).name in ("", ".."):
        return Path(source).resolve().name or name
    return name


def _raise_first_notice(notices: tuple[Notice, ...]) -> None:
    # Strict reading stops at the first one.
    for notice in notices:
        # Say where, unless the message does.
        where = f" ({notice.where})" if notice.where and notice.where not in notice.message else ""
        raise ReadError(f"{notice.message}{where}", hint=NOT_STRICT_HINT)


def _conceptual_graph_notice(entry: SourceEntry, options: ReadOptions) -> tuple[Notice, ...]:
    """Return a notice if the log has no op graph of its Keras model and the layers are drawn."""
    if entry.kind != "conceptual" or entry.tag is None or options.kind is not None:
        return ()
    text = "the log holds no op graph of the model, these are its Keras layers"
    return (Notice("conceptual-graph", text, _graph_label(entry, ""), strict=False),)


def list_contents(source: Any, options: ReadOptions = DEFAULT_READ_OPTIONS) -> tuple[SourceEntry, ...]:
    """Return an entry for everything the source holds, graphs with the number of their nodes."""
    _, holding = source_contents(source, options, None)
    listed = (part for found in holding.found for part in (found.parts() if found.parts else (found,)))
    counted = [replace(found, entry=_entry_with_counts(found)) for found in listed]
    of_run: dict[str | None, list[SourceItem]] = {}
    for found in counted:
        if found.entry.kind != "profile":
            of_run.setdefault(found.entry.run, []).append(found)
    preferred = {id(found) for graphs in of_run.values() for found in _preferred_graphs(graphs)}
    return tuple(replace(found.entry, preferred=id(found) in preferred) for found in counted)


def list_profiles(source: Any, options: ReadOptions = DEFAULT_READ_OPTIONS) -> Mapping[str, RunMetadata]:
    """Return the run statistics in a source by tag; those of every run if none is chosen."""
    name, holding = source_contents(source, options, None)
    run = _expand_run_name(options.run, holding.profiles)
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
    return LazyProfiles(made)


def _entry_with_counts(found: SourceItem) -> SourceEntry:
    if found.entry.kind == "profile" or found.entry.nodes is not None:
        return found.entry
    try:
        graph = found.load().graph_def
    except ReadError:
        return found.entry  # damaged: listed without a count
    return replace(found.entry, nodes=len(graph.node), functions=len(graph.library.function))


def source_contents(source: Any, options: ReadOptions, progress: ReadProgress | None) -> tuple[str, SourceContents]:
    if not isinstance(source, FILE_SOURCE_TYPES):
        return "this graph", _object_contents(source, options)
    opened = open_source(source, options)
    if isinstance(opened, Path):
        return name_of_user(str(opened)), _folder_contents(opened, options, progress)
    return name_of_user(opened.name), _opened_contents(opened, options)


def _folder_contents(folder: Path, options: ReadOptions, progress: ReadProgress | None) -> SourceContents:
    """Return the contents of a SavedModel folder, or else of a log directory."""
    model = saved_model_file(folder)
    if model is not None:
        return _opened_contents(open_path(model, options), options)
    from graphviz_tb.events.graphs import read_log_directory

    if not os.access(folder, os.X_OK):  # listable perhaps, but no file in it is accessible
        raise cannot_list_error(folder, PermissionError(EACCES, ""))

    return read_log_directory(folder, options, progress)


def _opened_contents(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    with opened:
        form = detect_format(opened)
        holding = READERS[form](opened, options)
    return replace(holding, packed=opened.gunzip.taken) if opened.gunzip else holding


def _object_contents(source: Any, options: ReadOptions) -> SourceContents:
    """Return the contents of a message, ours or TensorFlow's, or of a TensorFlow object that has a graph."""
    if isinstance(source, GraphDef):
        return _graph_message_contents(source)
    from graphviz_tb.formats.live_objects import bytes_of_program, message_of_object

    if (saved := bytes_of_program(source)) is not None:
        return _opened_contents(open_bytes(saved, options), options)
    message = message_of_object(source, options.signature)
    if isinstance(message, GraphDef):
        return _graph_message_contents(message)
    form = READER_BY_MESSAGE.get(type(message).__name__, "graph")
    return READERS[form](open_bytes(message.SerializeToString(), options), options)


def _graph_message_contents(message: GraphDef) -> SourceContents:
    copied = GraphDef()
    copied.CopyFrom(message)  # attributes are decoded later, and the caller may change the message until then
    content = GraphContent(copied)
    return SourceContents(
        (SourceItem(SourceEntry("op", bytes=message.ByteSize(), format="GraphDef"), lambda: content),)
    )


# Choose one graph.


def _choose_graph(holding: SourceContents, options: ReadOptions) -> SourceItem:
    """Return the graph that the options select, or the only one. Raises `NoGraph`, `Ambiguous`, `UnknownChoice`."""
    graphs = _selected_graphs(holding, options)
    if len(graphs) > 1:
        raise _ambiguous_graphs_error(graphs)
    return graphs[0]


def _selected_graphs(holding: SourceContents, options: ReadOptions) -> list[SourceItem]:
    """Return the preferred graphs among those that the options select. Raises `NoGraph`, `UnknownChoice`."""
    graphs = [found for found in holding.found if found.entry.kind != "profile"]
    if not graphs:
        if holding.damage:
            raise holding.damage
        raise NoGraph(f"no graph in {holding.what}", hint=_only_profiles_hint(holding))
    # Each given option narrows the list; the others choose afterwards.
    graphs = _keep_matching("run", _expand_run_name(options.run, (found.entry.run for found in graphs)), graphs)
    graphs = _keep_matching("tag", options.tag, graphs)
    graphs = _keep_tag_set(options.tag_set, graphs)
    graphs = _keep_matching("kind", options.kind, graphs)
    return _preferred_graphs(graphs, of_any_tag=options.tag is None, of_any_kind=options.kind is None)


def _preferred_graphs(
    graphs: list[SourceItem], *, of_any_tag: bool = True, of_any_kind: bool = True
) -> list[SourceItem]:
    """Return the graphs that are drawn by default: no variants, and op graphs rather than the layers of the same
    model."""
    if of_any_tag:
        graphs = [found for found in graphs if not found.entry.variant] or graphs
    if not of_any_kind:
        return graphs
    models = {found.entry.run: found for found in graphs if found.entry.kind == "conceptual"}
    ops = [found for found in graphs if found.entry.kind == "op"]
    kept = [
        found
        for found in ops
        if found.entry.run not in models or not _is_unrelated_graph(found, models[found.entry.run])
    ]
    return kept or list(models.values()) or graphs


def _is_unrelated_graph(found: SourceItem, model: SourceItem) -> bool:
    """Return whether an op graph is too small to be that of a Keras model: no functions and fewer nodes than the model
    has layers. It may prepare the data. A graph larger than the model's JSON is not decoded."""
    if found.entry.bytes >= model.entry.bytes:
        return False
    graph, layers = _entry_with_counts(found), _entry_with_counts(model)
    return graph.nodes is not None and graph.nodes < (layers.nodes or 0) and not graph.functions


def _expand_run_name(wanted: str | None, runs: Iterable[str | None]) -> str | None:
    """Expand an abbreviated run: consecutive folders of its path, if only one run has them.

    >>> (
    ...     _expand_run_name("a", ["a/train", "b/train"]),
    ...     _expand_run_name("train", ["a/train", "b/train"]),
    ...     _expand_run_name("a", ["a", "a/b"]),
    ... )
    ('a/train', 'train', 'a')
    """
    known = {run for run in runs if run is not None}
    if wanted is None or wanted in known:
        return wanted
    # Whole folders only: "a" matches "logs/a/train" but not "data/train".
    fitting = [run for run in known if f"/{wanted.strip('/')}/" in f"/{run}/"]
    return fitting[0] if len(fitting) == 1 else wanted


def _only_profiles_hint(holding: SourceContents) -> str | None:
    if not any(found.entry.kind == "profile" for found in holding.found):
        return None
    return "it holds run statistics only: give them with --run-metadata beside the graph"


def _keep_matching(what: str, wanted: str | None, graphs: list[SourceItem]) -> list[SourceItem]:
    if wanted is None:
        return graphs
    kept = [found for found in graphs if getattr(found.entry, what) == wanted]
    if kept:
        return kept
    legal = sorted({getattr(found.entry, what) for found in graphs} - {None})
    if not legal:
        raise RequestError(f"no {what} can be chosen here: the source is a single graph", hint=f"leave out the {what}")
    raise UnknownChoice.among(what, wanted, legal)


def _keep_tag_set(wanted: str | None, graphs: list[SourceItem]) -> list[SourceItem]:
    """Keep the graphs with these SavedModel tags, in any order, such as "serve" or "serve,gpu"."""
    if wanted is None:
        return graphs
    tags = set(wanted.split(","))
    kept = [found for found in graphs if set((found.entry.tag_set or "").split(",")) == tags]
    legal = sorted({found.entry.tag_set for found in graphs if found.entry.tag_set})
    # The empty tag set selects the MetaGraph without tags among others.
    if kept and (wanted or legal):
        return kept
    if not legal:
        raise RequestError(
            "no tag set can be chosen here: the source is not a SavedModel", hint="leave out the tag set"
        )
    raise UnknownChoice.among("tag set", wanted, legal)


def _ambiguous_graphs_error(graphs: list[SourceItem]) -> Ambiguous:
    """Return the error that lists the graphs and says how to choose."""
    entries = [found.entry for found in graphs]
    shown = "".join(f"\n  {selecting_options(entry)}" for entry in entries[:MAX_LISTED_GRAPHS])
    more = f"\n  … and {len(entries) - MAX_LISTED_GRAPHS} more" if len(entries) > MAX_LISTED_GRAPHS else ""
    return Ambiguous(f"{len(entries)} graphs, choose one:{shown}{more}", hint=_choice_hint(entries))


def with_first_graph(source: Any, options: Options) -> tuple[Options, str]:
    """Return options that choose the first of several graphs, and a sentence that says which one."""
    _, holding = source_contents(source, options.read, None)
    first = _selected_graphs(holding, options.read)[0].entry
    choices = ("run", "tag", "kind", "tag_set")
    chosen: dict[str, Any] = {name: value for name in choices if (value := getattr(first, name)) is not None}
    words = " ".join(f"{name.replace('_', ' ')} {value!r}" for name, value in chosen.items() if name != "kind")
    count = sum(found.entry.kind != "profile" for found in holding.found)
    return replace(options, read=replace(options.read, **chosen)), f"{count:,} graphs; this is that of {words}"


def _choice_hint(entries: list[SourceEntry]) -> str:
    different = [
        f"--{name.replace('_', '-')}"
        for name in ("run", "tag", "tag_set", "kind")
        if len({getattr(entry, name) for entry in entries}) > 1
    ]
    return f"choose with {' and '.join(different) or '--tag'}; 'tbgraph info' lists them all"


def _graph_label(entry: SourceEntry, name: str) -> str:
    """Return the name of what was opened, for titles; the run "." is omitted.

    >>> (
    ...     _graph_label(SourceEntry("op", run="train", tag="keras"), "logs"),
    ...     _graph_label(SourceEntry("op", run=".", tag=RUN_GRAPH_TAG), "logs"),
    ... )
    ('logs · run train · tag keras', 'logs')
    """
    parts = [f"run {entry.run}"] if entry.run not in (None, TOP_RUN) else []
    parts += [f"tag {entry.tag}"] if entry.tag not in (None, RUN_GRAPH_TAG) else []
    parts += [f"tag set {entry.tag_set}"] if entry.tag_set else []
    return " · ".join([name, *parts] if name else parts)
