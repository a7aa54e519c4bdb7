"""The graphs inside a RunMetadata: as passed to the runtime, optimized, and partitioned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from graphviz_tb.model.loaded import Entry
from graphviz_tb.ops.roles import ARGUMENTS
from graphviz_tb.proto import GraphDef, RunMetadata
from graphviz_tb.read.holding import Content, SourceItem
from graphviz_tb.read.inline import HANDLES, complete
from graphviz_tb.read.merge import merge
from graphviz_tb.read.wire import CutError, pieces

STEP_STATS, PARTITIONS, FUNCTIONS = 1, 3, 4  # fields of RunMetadata
FORMS = ("pre_optimization", "post_optimization", "partitions")


def graphs_of(
    load: Callable[[], RunMetadata],
    data: bytes,
    *,
    run: str | None = None,
    tag: str | None = None,
    size: int = 0,
    step: int | None = None,
    format: str = "",
) -> Iterator[SourceItem]:
    """Yield an item per form of graph in a RunMetadata, else one for its profile; none for an empty record.

    The first form has the plain tag; the others are variants, tagged "tag:form". The profiler of Keras leaves some
    empty records.
    """
    present, profile = forms_in(data)
    entry = Entry("profile", run=run, tag=tag, step=step, bytes=size or len(data), profile=profile, format=format)
    if not present and profile:
        yield SourceItem(entry, _nothing)
    for number, form in enumerate(present):
        name = form if tag is None else f"{tag}:{form}"
        shown = tag if tag is not None and number == 0 else name
        graph = replace(entry, kind="op", tag=shown, variant=number > 0)
        yield SourceItem(graph, partial(_content, load, form))


def forms_in(data: bytes) -> tuple[list[str], bool]:
    """Return the forms of graph in a message and whether it has step statistics, without decoding it."""
    seen: set[str] = set()
    profile = False
    try:
        for piece in pieces(data):
            profile |= piece.number == STEP_STATS and piece.last > piece.first
            if piece.number == PARTITIONS:
                seen.add("partitions")
            elif piece.number == FUNCTIONS:
                seen |= {_INSIDE.get(inner.number, "") for inner in pieces(data, piece.first, piece.last)}
    except CutError:
        pass  # decoding will say where
    return [form for form in FORMS if form in seen], profile


# Fields of RunMetadata.FunctionGraphs.
_INSIDE = {1: "partitions", 2: "pre_optimization", 3: "post_optimization"}


def _content(load: Callable[[], RunMetadata], form: str) -> Content:
    graphs = graphs_in(load(), form)
    merged, notices = merge(graphs)
    return Content(merged, notices, traced=tuple(graphs) if len(graphs) > 1 else ())


def graphs_in(metadata: RunMetadata, form: str) -> list[GraphDef]:
    """Return the GraphDefs of one form, in order."""
    functions = metadata.function_graphs
    if form == "pre_optimization":
        return [with_handles(each) for each in functions if each.HasField("pre_optimization_graph")]
    if form == "post_optimization":
        return [each.post_optimization_graph for each in functions if each.HasField("post_optimization_graph")]
    return [*metadata.partition_graphs, *(graph for each in functions for graph in each.partition_graphs)]


def with_handles(function: RunMetadata.FunctionGraphs) -> GraphDef:
    """Return the unoptimized graph with the types and shapes of variables on its arguments.

    TensorFlow writes these on the arguments of the optimized graph only.
    """
    graph = function.pre_optimization_graph
    known = {node.name: node for node in function.post_optimization_graph.node if node.op in ARGUMENTS}
    if not any(key in node.attr for node in known.values() for key in HANDLES):
        return graph
    made = GraphDef()
    made.CopyFrom(graph)
    for node in made.node:
        # Once per name: only hostile files repeat names.
        if (argument := known.pop(node.name, None)) is not None:
            complete(node, argument.attr, HANDLES)
    return made


def _nothing() -> Content:
    return Content(GraphDef())
