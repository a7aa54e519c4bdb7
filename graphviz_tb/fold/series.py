"""Series: runs of numbered siblings, drawn as stacked nodes that open to their members."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.errors import UnknownNode
from graphviz_tb.model.columns import Ints, Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import FUNCTION_ROW, SERIES_ROW, Hierarchy, RowKind
from graphviz_tb.model.paths import DIGITS, join_address, last_segment, possible_node_names
from graphviz_tb.options import GroupOptions

MAX_NUMBER_DIGITS = 500  # digits; Python refuses to parse thousands
BRACKETED_NUMBER = compile_on_use(r"(.*?)\[([0-9]{1,500})\]", re.DOTALL)  # PyTorch: Block[3]
# The name of a series: "scope/conv[1-3]".
SERIES_NAME = compile_on_use(r"(.*)\[([0-9]{1,500})-([0-9]{1,500})\](\*?)", re.DOTALL)

MAX_LEG_MEMBERS = 12  # longer series stay stacks
MIN_LEVELS = 3  # levels of a U

BRACKET_SUFFIX = "[]"  # suffix of names that end in a bracketed number

NumberedRow = tuple[int, int]  # (number, row)
NumberAffixes = tuple[str, str]  # (prefix, suffix)


@dataclass(frozen=True, slots=True)
class SeriesRun:
    """A series: consecutive members of one motif below one parent. `name` is `parent/prefix[first-last]`."""

    parent: int
    name: str
    members: tuple[int, ...]


def find_series(hierarchy: Hierarchy, options: GroupOptions) -> list[SeriesRun]:
    """Return all series of the hierarchy, in the order of their parents.

    Before: raw rows with templates. After: runs of at least `series_min` siblings of one motif (op type, or template of
    a scope) whose names differ only in a number that increases by one.
    """
    shortest = options.series_min
    return [run for run in _find_runs(hierarchy, options, shortest) if len(run.members) >= shortest] if shortest else []


def requested_series(hierarchy: Hierarchy, options: GroupOptions) -> list[SeriesRun]:
    """Return the series named in `options.group`, however short."""
    if not options.group:
        return []
    # Reversed, so that the first of several groups with one name (functions) wins.
    parents = {hierarchy.name[row]: row for row in np.flatnonzero(hierarchy.kind != RowKind.OP).tolist()[::-1]}

    @cache  # once per level, however many of its runs are requested
    def numbered_children(parent: int) -> dict[NumberAffixes, list[NumberedRow]]:
        return _numbered_rows_by_affixes(hierarchy, hierarchy.children(parent).tolist(), options)

    runs: list[SeriesRun] = []
    for name in options.group:
        run = next(
            filter(None, (_run_by_name(each, parents, numbered_children) for each in possible_node_names(name))), None
        )
        if run is None:
            candidates = [join_address([run.name]) for run in _find_runs(hierarchy, options, 2)]
            raise UnknownNode.among(name, candidates, "run of numbered nodes")
        runs.append(run)
    return runs


def _row_motifs(hierarchy: Hierarchy, options: GroupOptions) -> Longs:
    """Return the key that is equal for all members of a series: op type or template; -1 for none."""
    graph = hierarchy.graph
    named = np.array([bool(op) for op in graph.op_types] or [False])  # ops without a type match nothing
    code = np.full(len(hierarchy), -1, np.int64)
    leaves = np.flatnonzero((hierarchy.node >= 0) & (hierarchy.mark == 0))
    ops = graph.op[hierarchy.node[leaves]]
    code[leaves] = np.where(named[ops], ops, -1)
    if options.scope_series:
        scopes = (hierarchy.kind == RowKind.SCOPE) & (hierarchy.template >= 0)
        code[scopes] = len(graph.op_types) + hierarchy.template[scopes]  # templates are numbered after the op types
    return code


def _find_runs(hierarchy: Hierarchy, options: GroupOptions, shortest: int) -> Iterator[SeriesRun]:
    """Yield the runs among siblings of one motif, if these are at least `shortest`."""
    code = _row_motifs(hierarchy, options)
    rows = hierarchy.child_order[code[hierarchy.child_order] >= 0]
    parent = hierarchy.parent[rows]
    # Siblings of one motif become one run of the sorted columns, in file order.
    order = np.lexsort((code[rows], parent))
    rows, parent = rows[order], parent[order]
    cuts = _motif_run_starts(parent, code[rows])
    long = np.flatnonzero(np.diff(cuts) >= max(2, shortest))  # only saves time: fewer are not a run
    # By parent, then by first row: template numbers have no order.
    first = long[np.lexsort((rows[cuts[long]], parent[cuts[long]]))]
    for index in first.tolist():
        yield from _runs_of_siblings(
            hierarchy, int(parent[cuts[index]]), rows[cuts[index] : cuts[index + 1]].tolist(), options
        )


def _motif_run_starts(parent: Ints, code: Longs) -> Longs:
    """Return where a new (parent, code) begins in sorted columns, and the length at the end."""
    if not len(parent):
        return np.zeros(1, np.int64)
    new = (parent[1:] != parent[:-1]) | (code[1:] != code[:-1])
    return np.concatenate(([0], np.flatnonzero(new) + 1, [len(parent)]))


def _runs_of_siblings(hierarchy: Hierarchy, parent: int, rows: list[int], options: GroupOptions) -> Iterator[SeriesRun]:
    """Yield the runs of at least two members among siblings of one motif."""
    for (prefix, suffix), members in _numbered_rows_by_affixes(hierarchy, rows, options).items():
        for run in _consecutive_runs(members):
            name = f"{prefix}[{run[0][0]}-{run[-1][0]}]{suffix.removeprefix(BRACKET_SUFFIX)}"
            yield SeriesRun(parent, qualified_name(hierarchy, parent, name), tuple(row for _, row in run))


def qualified_name(hierarchy: Hierarchy, parent: int, leaf: str) -> str:
    """Return the full name of `leaf` in group `parent`."""
    if parent == 0 or hierarchy.kind[parent] == FUNCTION_ROW:
        return leaf
    return f"{hierarchy.name[parent]}/{leaf}"


def _numbered_rows_by_affixes(
    hierarchy: Hierarchy, rows: Iterable[int], options: GroupOptions
) -> dict[NumberAffixes, list[NumberedRow]]:
    """Return rows of one motif by (prefix, suffix), each with its number."""
    filed: dict[NumberAffixes, list[NumberedRow]] = defaultdict(list)
    bare: list[tuple[str, int]] = []
    for row in rows:
        leaf = last_segment(hierarchy.name[row])
        prefix = leaf.rstrip(DIGITS)  # "block1_conv12" is "block1_conv", "12"
        number = leaf[len(prefix) :]
        # TensorBoard's rule: no digit before the number.
        lenient = options.lenient_numbers or not any(map(prefix.__contains__, DIGITS))
        if number and len(number) <= MAX_NUMBER_DIGITS and lenient:
            filed[prefix, ""].append((int(number), row))
        elif options.lenient_numbers and leaf.endswith("]") and (bracketed := BRACKETED_NUMBER.fullmatch(leaf)):
            filed[bracketed[1], BRACKET_SUFFIX].append((int(bracketed[2]), row))
        elif options.lenient_numbers:
            bare.append((leaf, row))
        else:
            # TensorBoard's rule: a name without a number counts as number 0; a trailing "*" is a suffix.
            filed[(leaf[:-1], "*") if leaf.endswith("*") else (leaf, "")].append((0, row))
    # Once per name, since many nodes may share it.
    zeros = {leaf: _run_started_by(filed, leaf) for leaf in dict(bare)}
    # In a second pass: an unnumbered name that joins a run must not change the result for the rest.
    for leaf, row in bare:
        if (place := zeros[leaf]) is not None:
            filed[place].append((0, row))
    return {place: sorted(members) for place, members in filed.items()}


def _run_started_by(filed: dict[NumberAffixes, list[NumberedRow]], leaf: str) -> NumberAffixes | None:
    """Return the run that a name without a number begins: the longer of `foo1…` and `foo_1…`, the latter on a tie.

    A run that has a number 0 is not extended.
    """
    best: tuple[int, str] | None = None
    for prefix in (leaf + "_", leaf):
        numbers = {number for number, _ in filed.get((prefix, ""), ())}
        length = 0
        while length + 1 in numbers:
            length += 1
        if length and 0 not in numbers and (best is None or length > best[0]):
            best = (length, prefix)
    return (best[1], "") if best else None


def _consecutive_runs(members: list[NumberedRow]) -> list[list[NumberedRow]]:
    """Return the runs of at least two members in which the number increases by one.

    >>> _consecutive_runs([(1, 10), (2, 11), (4, 12), (4, 13), (5, 14)])
    [[(1, 10), (2, 11)], [(4, 13), (5, 14)]]
    """
    runs: list[list[NumberedRow]] = []
    for member in members:
        if runs and member[0] == runs[-1][-1][0] + 1:
            runs[-1].append(member)
        else:
            runs.append([member])
    return [run for run in runs if len(run) > 1]


def _run_by_name(
    name: str, parents: dict[str, int], filed: Callable[[int], dict[NumberAffixes, list[NumberedRow]]]
) -> SeriesRun | None:
    """Return the run with a name like `scope/conv[1-3]` if it has at least two members.

    `filed` returns the numbered children of a group by prefix and suffix.
    """
    match = SERIES_NAME.fullmatch(name)
    if not match:
        return None
    scope, _, prefix = match[1].rpartition("/")
    parent = parents.get(scope, -1)
    if parent < 0:
        return None
    numbered = filed(parent)
    loose = numbered.get((prefix, match[4])) or numbered.get((prefix, BRACKET_SUFFIX), [])
    begin, end = bisect_left(loose, (int(match[2]), -1)), bisect_left(loose, (int(match[3]) + 1, -1))
    members = tuple(row for _, row in loose[begin:end])
    return SeriesRun(parent, name, members) if len(members) > 1 else None


# Mirrored series, the two legs of a U: member i of the first feeds member n - 1 - i of the second. No member represents
# the others, so all are drawn.


def mirrored_series(hierarchy: Hierarchy) -> list[int]:
    """Return the series that are the legs of a U."""
    found: list[int] = []
    siblings: dict[int, list[int]] = {}
    for row in np.flatnonzero((hierarchy.kind == SERIES_ROW) & (hierarchy.connected == 1)).tolist():
        siblings.setdefault(int(hierarchy.parent[row]), []).append(row)
    for parent, rows in siblings.items():
        fitting = [row for row in rows if len(hierarchy.children(row)) <= MAX_LEG_MEMBERS]
        if len(fitting) > 1:
            found += _legs_among(hierarchy, parent, fitting)
    return found


def _legs_among(hierarchy: Hierarchy, parent: int, rows: list[int]) -> list[int]:
    """Return the series among children of one group that are the legs of a U."""
    graph, owned = hierarchy.graph, hierarchy.owned_edges(parent)
    owned = owned[~graph.control[owned] & (hierarchy.edge_from[owned] >= 0)]
    starts, ends = hierarchy.edge_from[owned], hierarchy.edge_to[owned]
    legs: list[int] = []
    for first in rows:
        for second in rows:
            if first == second or first in legs or second in legs:
                continue
            between = owned[(starts == first) & (ends == second)]
            if not len(between):
                continue
            pairs = {
                (_member_at(hierarchy, first, source), _member_at(hierarchy, second, target))
                for source, target in zip(graph.source[between].tolist(), graph.target[between].tolist(), strict=True)
            }
            others = owned[(starts != first) & (starts != second) & (ends == second)]
            fed = {_member_at(hierarchy, second, target) for target in graph.target[others].tolist()}
            if _is_mirrored(pairs, len(hierarchy.children(first)), fed):
                legs += [first, second]
    return legs


def _member_at(hierarchy: Hierarchy, series: int, node: int) -> int:
    """Return the index of the member of a series that contains a node."""
    members = np.sort(hierarchy.children(series))
    return int(np.searchsorted(members, hierarchy.row_of_node[node], side="right")) - 1


def _is_mirrored(pairs: set[tuple[int, int]], count: int, fed: set[int]) -> bool:
    """Return whether `pairs` of members (of a first series of `count`, of a second) are in reverse order.

    `fed` are the members of the second series with inputs from other boxes.

    >>> _is_mirrored({(0, 2), (1, 1), (2, 0), (3, 0)}, 4, {3})
    True
    >>> _is_mirrored({(0, 0), (1, 1), (2, 2)}, 3, set())
    False
    """
    # The last member is the bottom of the U: it also feeds the first member of the second series.
    ties = sorted(pairs - {(count - 1, 0)})
    if len(ties) < MIN_LEVELS - 1:
        return False
    falls = all(start < after and end > below for (start, end), (after, below) in pairwise(ties))
    # The top level of the U may be the boxes before the first series.
    return falls and len(ties) + (ties[0][1] + 1 in fed) >= MIN_LEVELS
