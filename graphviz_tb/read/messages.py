"""Single messages: GraphDef, MetaGraphDef, SavedModel, RunMetadata and XSpace, binary or text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from google.protobuf.message import Message

from graphviz_tb.errors import UnknownFormat
from graphviz_tb.model.loaded import SourceEntry
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, MetaGraphDef, RunMetadata, SavedModel, XSpace
from graphviz_tb.read.holding import GraphContent, SourceContents, SourceItem
from graphviz_tb.read.opened import OpenedSource
from graphviz_tb.read.packed import decode_graph
from graphviz_tb.read.pb import decode_message, unknown_field_notices
from graphviz_tb.read.sniff import SUPPORTED_INPUTS

AnyMessage = TypeVar("AnyMessage", bound=Message)
DecodedMessage = tuple[AnyMessage, int, tuple[Notice, ...]]  # message, size in the file, notices
DecodeFunction = Callable[[OpenedSource, type[Any]], DecodedMessage[Any]]
Reader = Callable[[OpenedSource, ReadOptions], SourceContents]


def decode_binary_message(opened: OpenedSource, kind: type[Any]) -> DecodedMessage[Any]:
    data = opened.data()
    if kind is GraphDef and not opened.gunzip:  # compressed: the number of inputs is checked before they are listed
        message: Any = decode_graph(data, opened.name, opened.bounded)
    else:
        message = decode_message(data, kind, opened.name, opened.bounded)
    return message, len(data), unknown_field_notices(data, kind)


def decode_text_message(opened: OpenedSource, kind: type[AnyMessage]) -> DecodedMessage[AnyMessage]:
    from graphviz_tb.read.pbtxt import parse_text_source

    source = opened.text()
    message, notices = parse_text_source(source, kind)
    return message, source.size, notices


def read_graph_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
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


def read_meta_graph_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
    from graphviz_tb.read.saved_model import contents_of_meta_graphs

    message, size, notices = how(opened, MetaGraphDef)
    return contents_of_meta_graphs([message], "MetaGraphDef", [size], notices, opened.name, options)


def read_saved_model_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
    from graphviz_tb.read.keras_metadata import metadata_next_to
    from graphviz_tb.read.saved_model import contents_of_meta_graphs

    message, _, notices = how(opened, SavedModel)
    graphs = list(message.meta_graphs)
    sizes = [graph.ByteSize() for graph in graphs]
    holding = contents_of_meta_graphs(graphs, "SavedModel", sizes, notices, opened.name, options)
    return replace(holding, found=(*holding.found, *metadata_next_to(opened.path, options)))


def read_run_metadata_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
    from graphviz_tb.read.run_metadata import graphs_of_run_metadata

    message, size, notices = how(opened, RunMetadata)
    data = message.SerializeToString()
    graphs = graphs_of_run_metadata(lambda: message, data, size=size, format="RunMetadata")
    profiles = {"run": lambda: message} if message.HasField("step_stats") else {}
    return SourceContents(tuple(graphs), {None: profiles}, notices, opened.name)


def empty_graph_content() -> GraphContent:
    """Return an empty graph, for a source without one."""
    return GraphContent(GraphDef())


def read_xspace_message(how: DecodeFunction, opened: OpenedSource, options: ReadOptions) -> SourceContents:
    from graphviz_tb.read.xspace import run_metadata_by_step

    message, size, notices = how(opened, XSpace)
    steps = run_metadata_by_step(message, opened.name, opened.bounded)
    entries = [SourceEntry("profile", tag=tag, bytes=size, profile=True, format="XSpace") for tag in steps]
    profiles = tuple(SourceItem(entry, empty_graph_content) for entry in entries)
    return SourceContents(
        profiles, {None: {tag: partial(return_step, step) for tag, step in steps.items()}}, notices, opened.name
    )


def return_step(step: RunMetadata) -> RunMetadata:
    return step


MESSAGE_READERS: dict[str, Reader] = {
    f"{kind}{suffix}": partial(reader, how)
    for kind, reader in (
        ("graph", read_graph_message),
        ("meta_graph", read_meta_graph_message),
        ("saved_model", read_saved_model_message),
        ("run_metadata", read_run_metadata_message),
        ("xspace", read_xspace_message),
    )
    for suffix, how in (("", decode_binary_message), ("_text", decode_text_message))
}
