"""Single messages: GraphDef, MetaGraphDef, SavedModel, RunMetadata and XSpace, binary or text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from google.protobuf.message import Message

from graphviz_tb.errors import UnknownFormat
from graphviz_tb.model.loaded import Entry
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, MetaGraphDef, RunMetadata, SavedModel, XSpace
from graphviz_tb.read.holding import Content, Holding, SourceItem
from graphviz_tb.read.opened import Opened
from graphviz_tb.read.packed import decode_graph
from graphviz_tb.read.pb import decode, unknown_fields
from graphviz_tb.read.sniff import FREEZE

M = TypeVar("M", bound=Message)
Decoded = tuple[M, int, tuple[Notice, ...]]  # message, size in the file, notices
Decode = Callable[[Opened, type[Any]], Decoded[Any]]
Reader = Callable[[Opened, ReadOptions], Holding]


def binary(opened: Opened, kind: type[Any]) -> Decoded[Any]:
    data = opened.data()
    if kind is GraphDef and not opened.gunzip:  # compressed: the number of inputs is checked before they are listed
        message: Any = decode_graph(data, opened.name, opened.bounded)
    else:
        message = decode(data, kind, opened.name, opened.bounded)
    return message, len(data), unknown_fields(data, kind)


def text(opened: Opened, kind: type[M]) -> Decoded[M]:
    from graphviz_tb.read.pbtxt import parse_source

    source = opened.text()
    message, notices = parse_source(source, kind)
    return message, source.size, notices


def read_graph(how: Decode, opened: Opened, options: ReadOptions) -> Holding:
    message, size, notices = how(opened, GraphDef)
    unknown = next((notice for notice in notices if notice.code == "unknown-field"), None)
    if unknown is not None and not message.node and not message.library.function:
        # "field GraphDef.item is not known here …"
        field = unknown.message.partition(" is not known")[0].removeprefix("field GraphDef.")
        raise UnknownFormat(f"{opened.name}: unknown field {field!r} at {unknown.where}: not a GraphDef", hint=FREEZE)
    content = Content(message, notices)
    return Holding((SourceItem(Entry("op", bytes=size, format="GraphDef"), lambda: content),), what=opened.name)


def read_meta_graph(how: Decode, opened: Opened, options: ReadOptions) -> Holding:
    from graphviz_tb.read.saved_model import of_meta_graphs

    message, size, notices = how(opened, MetaGraphDef)
    return of_meta_graphs([message], "MetaGraphDef", [size], notices, opened.name, options)


def read_saved_model(how: Decode, opened: Opened, options: ReadOptions) -> Holding:
    from graphviz_tb.read.keras_metadata import beside
    from graphviz_tb.read.saved_model import of_meta_graphs

    message, _, notices = how(opened, SavedModel)
    graphs = list(message.meta_graphs)
    sizes = [graph.ByteSize() for graph in graphs]
    holding = of_meta_graphs(graphs, "SavedModel", sizes, notices, opened.name, options)
    return replace(holding, found=(*holding.found, *beside(opened.path, options)))


def read_run_metadata(how: Decode, opened: Opened, options: ReadOptions) -> Holding:
    from graphviz_tb.read.run_metadata import graphs_of

    message, size, notices = how(opened, RunMetadata)
    data = message.SerializeToString()
    graphs = graphs_of(lambda: message, data, size=size, format="RunMetadata")
    profiles = {"run": lambda: message} if message.HasField("step_stats") else {}
    return Holding(tuple(graphs), {None: profiles}, notices, opened.name)


def nothing() -> Content:
    """Return an empty graph, for a source without one."""
    return Content(GraphDef())


def read_xspace(how: Decode, opened: Opened, options: ReadOptions) -> Holding:
    from graphviz_tb.read.xspace import steps_of

    message, size, notices = how(opened, XSpace)
    steps = steps_of(message, opened.name, opened.bounded)
    entries = [Entry("profile", tag=tag, bytes=size, profile=True, format="XSpace") for tag in steps]
    profiles = tuple(SourceItem(entry, nothing) for entry in entries)
    return Holding(profiles, {None: {tag: partial(_same, step) for tag, step in steps.items()}}, notices, opened.name)


def _same(step: RunMetadata) -> RunMetadata:
    return step


MESSAGE_READERS: dict[str, Reader] = {
    f"{kind}{suffix}": partial(reader, how)
    for kind, reader in (
        ("graph", read_graph),
        ("meta_graph", read_meta_graph),
        ("saved_model", read_saved_model),
        ("run_metadata", read_run_metadata),
        ("xspace", read_xspace),
    )
    for suffix, how in (("", binary), ("_text", text))
}
