"""Run a diff, from two sources to their changes."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from typing import Any

import numpy as np

from graphviz_tb.caches import garbage_collection_paused
from graphviz_tb.diff.changes.compare import compare_matched, ignored_counts
from graphviz_tb.diff.changes.interface import inferred_output_changes, signature_changes, with_signatures
from graphviz_tb.diff.changes.numbers import invisible_properties, total_changes
from graphviz_tb.diff.columns.labels import Known
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.comparison import MatchedGraphs
from graphviz_tb.diff.exporters import DiffInput, align_exports, form_notices
from graphviz_tb.diff.ledger import add_open_changes
from graphviz_tb.diff.match.steps import match_graphs
from graphviz_tb.diff.result import Changes
from graphviz_tb.diff.traced import inline_called, module_graph
from graphviz_tb.errors import RequestError, UnknownChoice
from graphviz_tb.flatten import flatten
from graphviz_tb.interpret import interpret
from graphviz_tb.model.columns import exists
from graphviz_tb.model.facts import FoldedGraph
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.sources import absolute_sources, regular_file_stats
from graphviz_tb.options import DiffOptions, FlattenOptions, ReadOptions
from graphviz_tb.progress import advance
from graphviz_tb.read.source import read_source
from graphviz_tb.sources.streams import check_stdin_once, localize_source


@garbage_collection_paused()
def compare_sources(old: Any, new: Any, options: DiffOptions, choices: dict[str, Any]) -> Changes:
    """Load both graphs and compare them."""
    old, new = localize_source(old), localize_source(new)
    check_stdin_once((old, new))
    advance("read the old graph", 0, 4)
    before = load_flat(old, choices, 0)
    advance("read the new graph", 1, 4)
    after = load_flat(new, choices, 1)
    if {before.kind, after.kind} == {"op", "conceptual"}:
        raise RequestError(
            f"{before.label or 'old'} and {after.label or 'new'}: layers of a Keras model cannot be compared with ops",
            hint="compare two .keras files, or export both models to the same form",
        )
    return replace(_compare_inputs(before, after, options), inputs=(*_input_files(old), *_input_files(new)))


def _input_files(source: Any) -> tuple[Any, ...]:
    """Return the input files of a source, which no output may overwrite."""
    given = (
        source.files if isinstance(source, FoldedGraph) else (absolute_sources(source), *regular_file_stats((source,)))
    )
    return tuple(each for each in given if isinstance(each, str | os.PathLike | os.stat_result))


def _compare_inputs(before: DiffInput, after: DiffInput, options: DiffOptions) -> Changes:
    """Return the changes between two flat graphs. They are matched in the order of their hashes, so that exchanging old
    and new gives the inverse changes."""
    known: Known = {}
    before, after = _align(before, after)
    a, b = GraphColumns(before.graph, options, known), GraphColumns(after.graph, options, known)
    known.clear()
    if a.graph_hash() > b.graph_hash():
        return _compare_oriented(after, before, b, a, options).inverse()
    return _compare_oriented(before, after, a, b, options)


def _align(before: DiffInput, after: DiffInput) -> tuple[DiffInput, DiffInput]:
    """Return both inputs without differences that come from their exporter or the version of their format. A call is
    replaced by its function's body where the other graph has that inline."""
    old, old_notices = inline_called(before.graph, after.graph)
    new, new_notices = inline_called(after.graph, before.graph)
    before = replace(before, graph=old, notices=(*before.notices, *old_notices))
    after = replace(after, graph=new, notices=(*after.notices, *new_notices))
    return align_exports(before, after)


def _compare_oriented(
    before: DiffInput, after: DiffInput, a: GraphColumns, b: GraphColumns, options: DiffOptions
) -> Changes:
    """Return the changes of two graphs that are matched in this orientation."""
    advance("match nodes", 2, 4)
    m = match_graphs(a, b)
    advance("compare nodes", 3, 4)
    changes = add_open_changes(m, compare_matched(m, options), options)
    signature = signature_changes(m, before.signatures, after.signatures)
    # Files with signatures declare their outputs; equal graphs need no inferred shapes.
    if changes and not (before.signatures and after.signatures):
        signature += inferred_output_changes(m)
    source = MatchedGraphs(m, options)
    # Graphs of equal nodes with different totals differ, even if the comparison of nodes does not show where.
    combined = with_signatures(source.in_order(changes), signature)
    items = source.in_order(combined) or total_changes(m, source.numbers)
    return Changes(
        items=items,
        found=len(items),
        old_name=before.label,
        new_name=after.label,
        matched=int(np.count_nonzero(exists(m.to_b))),
        ignored=ignored_counts(m, options),
        renumbered=sum(m.renumbered.values()) + sum(m.renumbered_scopes.values()) + m.recounted,
        notices=(*before.notices, *after.notices, *form_notices(before.graph, after.graph), *m.notices),
        left_out=invisible_properties(m.layers),
        source=source,
    )


def load_flat(source: Any, choices: dict[str, Any], side: int) -> DiffInput:
    """Read and flatten a source, or take the graph of a Model. A choice may be a pair, one for each side."""
    if isinstance(source, DiffInput):
        return source
    if isinstance(source, FoldedGraph):
        options = source.options.flatten
        graph = source.hierarchy.graph
        graph = _by_modules(interpret(flatten(graph.graph_def)) if options.tensorboard else graph)
        if source.loaded and source.loaded.layers:
            graph = replace(graph, layers=source.loaded.layers)
        known = source.loaded
        if known is None:
            return DiffInput(graph, "")
        return DiffInput(graph, known.label, known.signatures, kind=known.kind)
    legal = [field.name for field in fields(ReadOptions)]
    if strange := sorted(set(choices) - set(legal)):
        raise UnknownChoice.among("option of reading", strange[0], legal)
    asked = ReadOptions(**{name: _of_side(name, value, side) for name, value in choices.items()})
    loaded = read_source(source, asked)
    graph = _by_modules(interpret(flatten(loaded.graph, FlattenOptions(strict=asked.strict), loaded.layers)))
    return DiffInput(graph, loaded.label, loaded.signatures, loaded.notices, loaded.kind)


def _by_modules(graph: Graph) -> Graph:
    """Reduce a trace of values to the ops of its modules; return any other graph unchanged."""
    return interpret(flatten(module_graph(graph))) if graph.is_value_trace else graph


def _of_side(name: str, value: Any, side: int) -> Any:
    """Return a choice for one side: a pair has one for each."""
    if not isinstance(value, tuple):
        return value
    if len(value) != 2:
        raise RequestError(f"{name} has {len(value)} values; it takes one, or one for each of the two graphs")
    return value[side]
