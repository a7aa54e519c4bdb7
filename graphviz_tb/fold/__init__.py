"""Stage `fold_graph`: from names to the hierarchy of scopes, templates, series and folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graphviz_tb.fold.flow.plan import fold_by_flow
from graphviz_tb.fold.labels import find_code_names
from graphviz_tb.fold.module_calls import enclose_copies, merged_modules, separate_calls
from graphviz_tb.fold.scopes import build_scope_tree, find_numbered_nodes
from graphviz_tb.fold.series import SeriesRun, find_series, mirrored_series, requested_series
from graphviz_tb.fold.table import NewGroup, Regrouping, build_hierarchy, insert_groups
from graphviz_tb.fold.templates import find_templates
from graphviz_tb.graphs.rows import number_tree
from graphviz_tb.limits import LARGE_PAGE_ROWS
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import Hierarchy, RepeatableGrouping, RowKind
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import GroupOptions

__all__ = ["Regrouping", "fold_graph", "make_regrouping"]


def fold_graph(graph: Graph, options: GroupOptions = GroupOptions()) -> Hierarchy:  # noqa: B008
    """Fold the flat graph into a hierarchy.

    After: every node is a row below the scopes of its name. Templates are computed on the raw scopes; then numbered
    runs become series, and levels that are still too wide are folded along their flow.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.interpret import interpret
    >>> from graphviz_tb.proto import GraphDef
    >>> graph = interpret(flatten(GraphDef(node=[{"name": f"layer/x{i}", "op": "Relu"} for i in range(6)])))
    >>> fold_graph(graph).name[:3]
    ['', 'layer', 'layer/x[0-5]']
    """
    grouping, notices = _find_new_groups(graph, options)
    hierarchy = grouping.without_series(())
    legs = [] if options.tensorboard or hierarchy is grouping.raw else mirrored_series(hierarchy)
    if legs:
        stacked = _add_missing_templates(hierarchy)
        members = {hierarchy.name[row] for leg in legs for row in hierarchy.children(leg).tolist()}
        grouping = grouping.drop_series([hierarchy.name[leg] for leg in legs])
        hierarchy = grouping.without_series(())
        leg_rows = (row for row, name in enumerate(hierarchy.name) if name in members and hierarchy.node[row] < 0)
        hierarchy = replace(hierarchy, legs=frozenset(leg_rows), stacked=stacked)
    hierarchy = replace(hierarchy, notices=hierarchy.notices + notices) if notices else hierarchy
    # TensorBoard gives series no template; if nothing was inserted, all groups have one.
    if not options.tensorboard and hierarchy is not grouping.raw:
        hierarchy = _add_missing_templates(hierarchy)
    return replace(hierarchy, grouping=grouping) if len(hierarchy) <= LARGE_PAGE_ROWS else hierarchy


def make_regrouping(hierarchy: Hierarchy, options: GroupOptions) -> RepeatableGrouping:
    """Return an object that rebuilds the hierarchy with some series ungrouped; its groups have no templates."""
    kept = hierarchy.grouping
    return _find_new_groups(hierarchy.graph, options)[0] if kept is None else kept


def _find_new_groups(graph: Graph, options: GroupOptions) -> tuple[Regrouping, tuple[Notice, ...]]:
    """Return the raw hierarchy with the series and folds to insert, and notices."""
    raw = _build_raw_hierarchy(graph, options)
    # Requested series come first, so that no fold breaks one up.
    raw = insert_groups(raw, _series_as_groups(requested_series(raw, options)), last=options.tensorboard)
    series = find_series(raw, options)
    groups, notices = fold_by_flow(raw, series, options) if options.folds else (_series_as_groups(series), ())
    return Regrouping(raw, groups, options), notices


def _add_missing_templates(hierarchy: Hierarchy) -> Hierarchy:
    """Compute templates for all groups without one, so that equal regions share a template, like equal scopes."""
    template, notices = find_templates(hierarchy)
    return replace(hierarchy, template=template, notices=hierarchy.notices + notices)


def _build_scopes(graph: Graph, numbered: list[int], moved: Mapping[int, str], options: GroupOptions) -> Hierarchy:
    """Build the tree of scopes; `moved` are the scopes of nodes that differ from their names."""
    tree, functions, notices = build_scope_tree(graph, numbered, moved, options)
    return build_hierarchy(
        graph, tree, number_tree(tree.parent, tree.key), functions, notices=(*graph.notices, *notices)
    )


def _series_as_groups(series: list[SeriesRun]) -> list[NewGroup]:
    return [NewGroup(RowKind.SERIES, run.parent, run.name, run.members) for run in series]


def _build_raw_hierarchy(graph: Graph, options: GroupOptions) -> Hierarchy:
    """Build scopes with their names in the program and their templates, before series and folds."""
    numbered = [] if options.tensorboard else find_numbered_nodes(graph)
    moved = {} if options.tensorboard else enclose_copies(graph, merged_modules(graph))
    built = _build_scopes(graph, numbered, moved, options)
    if not options.tensorboard and (calls := separate_calls(built, moved)) != moved:
        built = _build_scopes(graph, numbered, calls, options)
    return _add_missing_templates(
        built if options.tensorboard else replace(built, labels=find_code_names(built, numbered))
    )
