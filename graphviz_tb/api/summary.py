"""Count what is in a folded graph: the numbers behind `tbgraph info`.

    whole      nodes, ops, marks, edges, levels
    folding    scopes, series, folds, repeated structures
    library    functions, calls, ops through calls
    kinds      op types, devices
    shapes     how many edges have a shape, and its origin

The result is one frozen value; `dataclasses.asdict` makes it JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.limits import MAX_NAMED_GROUPS, MAX_NAMED_MEMBERS, MAX_TRIED_STRUCTURES
from graphviz_tb.model.columns import count_words, prefix_sums
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.hierarchy import STACK_KINDS, Hierarchy, RowKind
from graphviz_tb.model.interpretation import VariableUse
from graphviz_tb.model.paths import (
    function_row_of,
    path_address,
    repetition_count,
)


@dataclass(frozen=True, slots=True)
class EdgeCounts:
    """Edges by kind; `in_functions` of them are in bodies of functions.

    `control_into_marks` lead to constants, weights and summaries: no line is drawn for them.
    """

    all: int
    data: int
    control: int
    reference: int
    in_functions: int
    control_into_marks: int


@dataclass(frozen=True, slots=True)
class StackCount:
    """One series or fold."""

    name: str
    members: int
    ops: int


@dataclass(frozen=True, slots=True)
class StackCounts:
    """All series, or all folds: their number, the sum of their members, the largest ones."""

    count: int
    members: int
    largest: tuple[StackCount, ...]


@dataclass(frozen=True, slots=True)
class StructureCount:
    """Groups of equal structure: their number, ops in each, the first names."""

    template: int
    times: int
    ops: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StructureCounts:
    """Number of `distinct` structures of groups, of those that are `repeated`, and of `groups` with a repeated
    structure.

    `largest` leaves out structures inside listed groups; `undecided` counts searches that were cut short.
    """

    distinct: int
    repeated: int
    groups: int
    undecided: int
    largest: tuple[StructureCount, ...]


@dataclass(frozen=True, slots=True)
class FunctionCount:
    """A function: ops in its body, ops including everything it calls (None: it recurses), places that call it."""

    name: str
    ops: int
    ops_through_calls: int | None
    calls: int


@dataclass(frozen=True, slots=True)
class ShapeCounts:
    """Data edges by where the shape of their tensor was found."""

    edges: int
    declared: int
    stated: int
    signature: int
    inferred: int

    @property
    def with_shape(self) -> int:
        """Number of edges with a shape."""
        return self.declared + self.stated + self.signature + self.inferred


@dataclass(frozen=True, slots=True)
class Summary:
    """All counts.

    Ops, marks, op types and devices are those of the main graph; `function_*` those of function bodies, each counted
    once, arguments (op type "input_arg") included. `weights` are nodes drawn as weights, that is variables and their
    reads; `variables` is the number of distinct variables, `buffers` of those that are not parameters. Names in
    functions are written `function::name`.
    """

    nodes: int
    ops: int
    ops_through_calls: int | None
    constants: int
    weights: int
    variables: int
    buffers: int
    summaries: int
    edges: EdgeCounts
    scopes: int
    levels: int
    series: StackCounts
    folds: StackCounts
    structures: StructureCounts
    functions: tuple[FunctionCount, ...]
    function_ops: int
    calls: int
    op_types: dict[str, int]
    function_op_types: dict[str, int]
    devices: dict[str, int]
    function_devices: dict[str, int]
    shapes: ShapeCounts


def summarize(hierarchy: Hierarchy, facts: Facts) -> Summary:
    """Count everything in a folded graph.

    >>> from graphviz_tb import load
    >>> model = load(b'node { name: "layer/w" op: "Relu" } node { name: "layer/x" op: "Add" input: "layer/w" }')
    >>> summary = summarize(model.hierarchy, model.facts)
    >>> summary.ops, summary.scopes, summary.op_types
    (2, 1, {'Add': 1, 'Relu': 1})
    """
    graph = hierarchy.graph
    main = graph.function < 0
    ordinary = graph.kept & (graph.mark == Mark.NONE)
    through = OpCounter(hierarchy)
    return Summary(
        nodes=int(main.sum()),
        ops=hierarchy.op_count(0),
        ops_through_calls=through(0),
        constants=int((main & (graph.mark == Mark.CONSTANT)).sum()),
        weights=int((main & (graph.mark == Mark.WEIGHT)).sum()),
        variables=len({weight.variable for node, weight in graph.meaning.weights.items() if main[node]}),
        buffers=sum(
            variable.use == VariableUse.BUFFER for variable in graph.meaning.variables() if main[variable.node]
        ),
        summaries=int((main & (graph.mark == Mark.SUMMARY)).sum()),
        edges=_count_edges(graph),
        # The root is a scope, too.
        scopes=int((hierarchy.kind == RowKind.SCOPE).sum()) - 1,
        levels=int(np.max(hierarchy.depth)),
        series=_count_stacks(hierarchy, RowKind.SERIES),
        folds=_count_stacks(hierarchy, RowKind.FOLD),
        structures=_count_structures(hierarchy),
        functions=tuple(_count_functions(hierarchy, through)),
        function_ops=sum(hierarchy.op_count(row) for row in hierarchy.function_rows),
        calls=len(hierarchy.calls),
        op_types=count_words(graph.op[ordinary & main], graph.op_types),
        function_op_types=count_words(graph.op[ordinary & ~main], graph.op_types),
        devices=count_words(graph.device[ordinary & main], graph.devices),
        function_devices=count_words(graph.device[ordinary & ~main], graph.devices),
        shapes=_count_shapes(graph, facts),
    )


def row_display_name(hierarchy: Hierarchy, row: int) -> str:
    """Return the name of a row as an address; inside a function, prefixed with `function::`."""
    return path_address(hierarchy, (row,))


def ambiguous_stack_labels(hierarchy: Hierarchy, inside: bool = True) -> dict[int, str]:
    """Return unambiguous labels for series and folds whose label is also the name of another row.

    Keyed by row; the value is the last segment of the name. Without `inside`, rows inside the stack itself do not
    count.

    >>> from graphviz_tb import load
    >>> names = *(f"a{number}" for number in range(6)), "a[0-5]"
    >>> hierarchy = load("".join(f'node {{ name: "{name}" op: "Relu" }}' for name in names).encode()).hierarchy
    >>> [(hierarchy.display_label(row), name) for row, name in ambiguous_stack_labels(hierarchy).items()]
    [('a[0-5]', 'a[0-5] (a5)')]
    """
    called: dict[int, dict[int, str]] = {}
    for row, label in hierarchy.labels.items():
        if hierarchy.kind[row] in STACK_KINDS:
            name, own = hierarchy.name[row], hierarchy.name_segment(row)
            called.setdefault(function_row_of(hierarchy, row), {})[row] = name[: len(name) - len(own)] + label
    found: list[int] = []
    for root, names in called.items():
        there = {hierarchy.name[row]: row for row in range(root + 1, hierarchy.end[root])}
        others = {row: other for row, name in names.items() if (other := there.get(name, row)) != row}
        found += [row for row, other in others.items() if inside or not row < other < hierarchy.end[row]]
    return {row: hierarchy.name_segment(row) for row in found}


def _count_edges(graph: Graph) -> EdgeCounts:
    """Count edges by kind; a reference edge carries data."""
    control = int(graph.control.sum())
    return EdgeCounts(
        all=graph.edge_count,
        data=graph.edge_count - control,
        control=control,
        reference=int(graph.reference.sum()),
        in_functions=int((graph.function[graph.target] >= 0).sum()),
        control_into_marks=int((graph.control & (graph.mark[graph.target] != Mark.NONE)).sum()),
    )


def _count_stacks(hierarchy: Hierarchy, kind: RowKind) -> StackCounts:
    rows = np.flatnonzero(hierarchy.kind == kind).tolist()
    stacks = [
        StackCount(row_display_name(hierarchy, row), repetition_count(hierarchy, row), hierarchy.op_count(row))
        for row in rows
    ]
    largest = sorted(stacks, key=lambda stack: (-stack.ops, -stack.members))[:MAX_NAMED_GROUPS]
    return StackCounts(len(stacks), sum(stack.members for stack in stacks), tuple(largest))


def _count_structures(hierarchy: Hierarchy) -> StructureCounts:
    """Count templates, and list those with most ops that are not parts of listed ones."""
    # The members of template t are order[starts[t] : starts[t + 1]], in the order of rows.
    rows = np.flatnonzero(hierarchy.template >= 0)
    order = rows[np.argsort(hierarchy.template[rows], kind="stable")]
    counts = np.bincount(hierarchy.template[rows]) if len(rows) else np.zeros(0, np.int64)
    starts = prefix_sums(counts)
    firsts = order[starts[:-1]] if len(counts) else order
    # All members of a template have an equal number of ops: take that of the first.
    sizes = hierarchy.op_prefix_sum[hierarchy.end[firsts]] - hierarchy.op_prefix_sum[firsts]
    # A group of one op is not worth a line.
    repeated = np.flatnonzero((counts > 1) & (sizes > 1))
    by_weight = repeated[np.argsort(-(counts * sizes)[repeated], kind="stable")][:MAX_TRIED_STRUCTURES]
    undecided = sum(notice.count for notice in hierarchy.notices if notice.code == "template-limit")
    in_listed = np.zeros(len(hierarchy), np.bool_)
    largest: list[StructureCount] = []
    for template in by_weight.tolist():
        members = order[starts[template] : starts[template + 1]].tolist()
        if len(largest) == MAX_NAMED_GROUPS:
            break
        # If all members are inside larger listed structures, the line would repeat one above.
        if not in_listed[members].all():
            names = tuple(row_display_name(hierarchy, row) for row in members[:MAX_NAMED_MEMBERS])
            largest.append(StructureCount(template, len(members), int(sizes[template]), names))
        for row in members:
            in_listed[row : hierarchy.end[row]] = True
    return StructureCounts(
        int((counts > 0).sum()), int((counts > 1).sum()), int(counts[counts > 1].sum()), undecided, tuple(largest)
    )


def _count_functions(hierarchy: Hierarchy, through: OpCounter) -> Iterator[FunctionCount]:
    """Yield the counts of each library function, in the order of the file."""
    called = Counter(function for bodies in hierarchy.calls.values() for _, function in bodies)
    for function, row in zip(hierarchy.graph.functions, hierarchy.function_rows, strict=True):
        yield FunctionCount(function.name, hierarchy.op_count(row), through(row), called[row])


def _count_shapes(graph: Graph, facts: Facts) -> ShapeCounts:
    """Count data edges by the origin of their tensor's shape; each distinct tensor is looked up once."""
    data = np.flatnonzero(~graph.control)
    # (source node, output key) packed into one number that identifies the tensor.
    tensors = graph.source[data].astype(np.int64) * len(graph.keys) + graph.key[data]
    distinct, uses = np.unique(tensors, return_counts=True)
    by_origin: Counter[str] = Counter()
    for tensor, edges in zip(distinct.tolist(), uses.tolist(), strict=True):
        node, key = divmod(tensor, len(graph.keys))
        by_origin[facts.decode(node)(graph.keys[key]).origin] += edges
    return ShapeCounts(
        len(data), by_origin["declared"], by_origin["stated"], by_origin["signature"], by_origin["inferred"]
    )
