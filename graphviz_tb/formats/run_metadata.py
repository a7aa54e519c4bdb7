"""The graphs inside a RunMetadata: as passed to the runtime, optimized, and partitioned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from graphviz_tb.formats.contents import GraphContent, SourceItem, empty_graph_content
from graphviz_tb.formats.protobuf import CutError, wire_fields
from graphviz_tb.model.sources import SourceEntry
from graphviz_tb.ops.roles import FUNCTION_ARGUMENT_OPS
from graphviz_tb.proto import GraphDef, RunMetadata
from graphviz_tb.unwrap.calls import HANDLE_ATTRS, complete_argument_attrs
from graphviz_tb.unwrap.traced_graphs import merge_graph_defs

STEP_STATS_FIELD, PARTITIONS_FIELD, FUNCTION_GRAPHS_FIELD = 1, 3, 4  # fields of RunMetadata
DEV_STATS_FIELD, NODE_STATS_FIELD = 1, 2  # fields of StepStats and of DeviceStepStats
GRAPH_FORMS = ("pre_optimization", "post_optimization", "partitions")


def graphs_of_run_metadata(
    load: Callable[[], RunMetadata],
    data: bytes,
    *,
    run: str | None = None,
    tag: str | None = None,
    size: int,
    step: int | None = None,
) -> Iterator[SourceItem]:
    """Yield an item per form of graph in a RunMetadata, else one for its profile; none for an empty record.

    The first form has the plain tag; the others are variants, tagged "tag:form". The profiler of Keras leaves some
    empty records.
    """
    present, profile = graph_forms_in(data)
    size = size or len(data)
    entry = SourceEntry("profile", run, tag, bytes=size, step=step, profile=profile, format="RunMetadata")
    if not present and profile:
        yield SourceItem(entry, empty_graph_content)
    for number, form in enumerate(present):
        name = form if tag is None else f"{tag}:{form}"
        shown = tag if tag is not None and number == 0 else name
        graph = replace(entry, kind="op", tag=shown, variant=number > 0)
        yield SourceItem(graph, partial(_load_graph_form, load, form))


def graph_forms_in(data: bytes) -> tuple[list[str], bool]:
    """Return the forms of graph in a message and whether it records executions, without decoding it."""
    seen: set[str] = set()
    profile = False
    try:
        for piece in wire_fields(data):
            profile |= piece.number == STEP_STATS_FIELD and _has_executions(data, piece.first, piece.last)
            if piece.number == PARTITIONS_FIELD:
                seen.add("partitions")
            elif piece.number == FUNCTION_GRAPHS_FIELD:
                seen |= {FORM_BY_FIELD.get(inner.number, "") for inner in wire_fields(data, piece.first, piece.last)}
    except CutError:
        pass  # decoding will say where
    return [form for form in GRAPH_FORMS if form in seen], profile


def _has_executions(data: bytes, first: int, last: int) -> bool:
    """Return whether step statistics have an entry: `add_graph` of PyTorch names a device alone."""
    return any(
        entry.number == NODE_STATS_FIELD
        for device in wire_fields(data, first, last)
        if device.number == DEV_STATS_FIELD
        for entry in wire_fields(data, device.first, device.last)
    )


# Fields of RunMetadata.FunctionGraphs.
FORM_BY_FIELD = {1: "partitions", 2: "pre_optimization", 3: "post_optimization"}


def _load_graph_form(load: Callable[[], RunMetadata], form: str) -> GraphContent:
    graphs = _graphs_of_form(load(), form)
    merged, notices = merge_graph_defs(graphs)
    return GraphContent(merged, notices, traced=tuple(graphs) if len(graphs) > 1 else ())


def _graphs_of_form(metadata: RunMetadata, form: str) -> list[GraphDef]:
    """Return the GraphDefs of one form, in order."""
    functions = metadata.function_graphs
    if form == "pre_optimization":
        return [_with_handle_attributes(each) for each in functions if each.HasField("pre_optimization_graph")]
    if form == "post_optimization":
        return [each.post_optimization_graph for each in functions if each.HasField("post_optimization_graph")]
    return [*metadata.partition_graphs, *(graph for function in functions for graph in function.partition_graphs)]


def _with_handle_attributes(function: RunMetadata.FunctionGraphs) -> GraphDef:
    """Return the unoptimized graph with the types and shapes of variables on its arguments.

    TensorFlow writes these on the arguments of the optimized graph only.
    """
    graph = function.pre_optimization_graph
    known = {node.name: node for node in function.post_optimization_graph.node if node.op in FUNCTION_ARGUMENT_OPS}
    if not any(key in node.attr for node in known.values() for key in HANDLE_ATTRS):
        return graph
    made = GraphDef()
    made.CopyFrom(graph)
    for node in made.node:
        # Once per name: only hostile files repeat names.
        if (argument := known.pop(node.name, None)) is not None:
            complete_argument_attrs(node, argument.attr)
    return made
