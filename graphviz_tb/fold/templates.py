"""Structure templates: groups whose children can be mapped onto each other share one number.

Two certificates decide. The *raw* one describes a group with its children in file order; repeated blocks are written by
the same code, so nearly all of them are equal there. Each distinct raw form then gets a *canonical* one (see
`canonical_certificate`). Either lists the whole group, edge by edge, so equal certificates are a verified mapping.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.graphs.canonical import RefinementBudget, canonical_certificate
from graphviz_tb.limits import MAX_REFINEMENTS
from graphviz_tb.model.columns import (
    Bools,
    Ints,
    Longs,
    int32_column,
    key_starts,
    mix_bits,
    places_of_runs,
    prefix_sums,
    run_bounds,
)
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.model.notice import Notice

GroupForm = tuple[bytes, bytes]
GOLDEN_RATIO_STEP = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, the step of splitmix64
MAX_GROUPS_BY_BYTES = 8  # up to this number, comparing bytes is faster than hashing


def find_templates(hierarchy: Hierarchy) -> tuple[Ints, tuple[Notice, ...]]:
    """Return the template number of each row, -1 for ops and the root, in the order of first appearance; and notices.

    Groups that have a number keep it: scopes were compared without series and folds. After: two groups have equal
    numbers exactly if a mapping of their children was found that keeps op types, data and control edges and nested
    templates. Heights are processed from the bottom up.
    """
    template = hierarchy.template.astype(np.int64)
    has_template = template >= 0
    first = int(np.max(template, initial=-1)) + 1
    types = len(hierarchy.graph.op_types)
    # Colour of a row: its op type id, or, numbered after these, its template if known.
    color = np.zeros(len(hierarchy), np.int64)
    leaves = hierarchy.node >= 0
    color[leaves] = hierarchy.graph.op[hierarchy.node[leaves]]
    color[has_template] = types + template[has_template]
    is_compared = ~has_template
    is_compared[0] = False  # the root is not compared
    codes, starts = _metaedge_codes(hierarchy, is_compared)
    child_start, child_order = hierarchy.child_start, hierarchy.child_order
    slot = np.full(len(hierarchy), len(child_order))  # rows without a parent share the last slot
    slot[child_order] = np.arange(len(child_order))
    child_color = np.append(color[child_order], types)  # in child order: gathers per height would be quadratic
    known: dict[bytes, int] = {}
    budget, gave_up = RefinementBudget(0), 0
    # Children have colours, since the templates of lower heights are known.
    for height in _groups_by_height(hierarchy):
        level = height[~has_template[height]]
        children = ColumnRuns(child_color, child_start[level], child_start[level + 1])
        metaedges = ColumnRuns(codes, starts[level], starts[level + 1])
        heads, same_as = group_equal_runs(children, metaedges)
        forms = [(children.run_bytes(head), metaedges.run_bytes(head)) for head in heads]
        certificates, failed = _certify_forms(
            forms, _hash_outlines(children, metaedges, np.array(heads, np.int64)), budget
        )
        gave_up += failed
        numbers = np.array([first + known.setdefault(certificates[form], len(known)) for form in forms], np.int64)
        template[level] = numbers[same_as]
        child_color[slot[level]] = types + template[level]
    template[0] = -1
    template[~has_template] = _renumber_by_appearance(np.where(has_template, -1, template), first)[~has_template]
    notices: tuple[Notice, ...] = ()
    if gave_up:
        text = f"{gave_up} structures are too regular to compare fully; equal ones among them may differ in colour"
        notices = (Notice("template-limit", text, count=gave_up, strict=False),)
    return int32_column(template), notices


@dataclass(frozen=True, slots=True, eq=False)
class ColumnRuns:
    """One run of `values` for each group: from `start` to `stop`."""

    values: Longs
    start: Longs
    stop: Longs

    def run_bytes(self, group: int) -> bytes:
        return self.values[self.start[group] : self.stop[group]].tobytes()

    def concatenate_runs(self, groups: Longs) -> tuple[Longs, Longs]:
        """Return the concatenated runs of some groups, and where each begins, with the end."""
        length = self.stop[groups] - self.start[groups]
        return self.values[places_of_runs(self.start[groups], length)], prefix_sums(length)

    def sum_by_group(self, groups: Longs, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Sum `numbers`, one for each value of `concatenate_runs(groups)`, by group."""
        cuts = prefix_sums(self.stop[groups] - self.start[groups])
        before = np.concatenate((np.zeros(1, np.uint64), np.cumsum(numbers, dtype=np.uint64)))
        # Modulo 2^64: correct although prefix sums overflow.
        sums: NDArray[np.uint64] = before[cuts[1:]] - before[cuts[:-1]]
        return sums

    def hash_runs(self, seed: int) -> NDArray[np.uint64]:
        """Hash each run, positions included."""
        groups = np.arange(len(self.start))
        values, cuts = self.concatenate_runs(groups)
        place = (np.arange(len(values)) - np.repeat(cuts[:-1], np.diff(cuts))).astype(np.uint64)
        mixed = mix_bits(values.astype(np.uint64) * GOLDEN_RATIO_STEP ^ mix_bits(place + np.uint64(seed)))
        return mix_bits(self.sum_by_group(groups, mixed) ^ np.diff(cuts).astype(np.uint64))


def group_equal_runs(*columns: ColumnRuns) -> tuple[list[int], Longs]:
    """Group runs that are equal in all columns: return one head of each class, in order, and the class of each group.

    Hashes propose, values decide: every group is compared with its head, and becomes its own head if they differ.
    """
    if len(columns[0].start) <= MAX_GROUPS_BY_BYTES:  # only saves time
        return _group_equal_bytes(columns)
    digest = np.zeros(len(columns[0].start), np.uint64)
    for seed, column in enumerate(columns):
        digest = mix_bits(digest) ^ column.hash_runs(seed)
    _, first, inverse = np.unique(digest, return_index=True, return_inverse=True)
    head = first[inverse]
    same = np.ones(len(head), bool)
    for column in columns:
        same &= _equals_head(column, head)
    head = np.where(same, head, np.arange(len(head)))
    heads, same_as = np.unique(head, return_inverse=True)
    return heads.tolist(), same_as


def _group_equal_bytes(columns: Sequence[ColumnRuns]) -> tuple[list[int], Longs]:
    """Return the result of `group_equal_runs` for few groups, by a dictionary of their bytes."""
    head: dict[tuple[bytes, ...], int] = {}
    groups = range(len(columns[0].start))
    first = [head.setdefault(tuple(column.run_bytes(group) for column in columns), group) for group in groups]
    place = {group: number for number, group in enumerate(head.values())}
    return list(place), np.array([place[group] for group in first], np.int64)


def _equals_head(runs: ColumnRuns, head: Longs) -> Bools:
    equal: Bools = (runs.stop - runs.start) == (runs.stop - runs.start)[head]
    groups = np.flatnonzero(equal)
    ours, cuts = runs.concatenate_runs(groups)
    theirs, _ = runs.concatenate_runs(head[groups])
    # Prefix counts of differences: equal runs have none inside.
    wrong = prefix_sums(ours != theirs)
    equal[groups] = wrong[cuts[1:]] == wrong[cuts[:-1]]
    return equal


def _renumber_by_appearance(template: Longs, start: int = 0) -> Longs:
    """Renumber classes from `start` on, in the order of first appearance."""
    numbered = np.flatnonzero(template >= 0)
    if not len(numbered):
        return template
    values, first, inverse = np.unique(template[numbered], return_index=True, return_inverse=True)
    rank = np.empty(len(values), np.int64)
    rank[np.argsort(first, kind="stable")] = start + np.arange(len(values))
    out = template.copy()
    out[numbered] = rank[inverse]
    return out


def _metaedge_codes(hierarchy: Hierarchy, is_compared: Bools) -> tuple[Longs, Longs]:
    """Return one number per metaedge (positions of both ends, data and control flags) by owner, and where owners start.

    Only owners in `is_compared` are included.
    """
    start, order, parent = hierarchy.child_start, hierarchy.child_order, hierarchy.parent
    place = np.zeros(len(hierarchy), np.int64)
    place[order] = np.arange(len(order))
    edges = hierarchy.edge_order[np.repeat(is_compared, np.diff(hierarchy.owner_start))]
    source, target = hierarchy.edge_from[edges], hierarchy.edge_to[edges]
    flag = np.where(hierarchy.graph.control[edges], 2, 1)
    # Bits of a code: 33-62 the source, 2-32 the target, 1 control, 0 data. Children are in the order of their parents,
    # so codes sorted by source are sorted by owner.
    codes = np.sort(place[source] << 33 | place[target] - start[parent[target]] << 2 | flag)
    cuts = run_bounds(codes >> 2)[:-1]
    merged = np.bitwise_or.reduceat(codes, cuts) if len(cuts) else codes  # several edges of one pair are one metaedge
    owner = parent[order[merged >> 33]]
    return merged - (start[owner] << 33), key_starts(owner, len(hierarchy))


def _groups_by_height(hierarchy: Hierarchy) -> list[Longs]:
    """Return rows of groups by height, inner ones first, without the root."""
    height = np.zeros(len(hierarchy), np.int64)
    groups = np.flatnonzero(hierarchy.kind != RowKind.OP)
    # A height is final once all deeper rows are processed: one step per depth.
    deepest_first = groups[np.argsort(-hierarchy.depth[groups], kind="stable")]
    for level in np.split(deepest_first, run_bounds(hierarchy.depth[deepest_first])[1:-1]):
        inner = level[hierarchy.parent[level] >= 0]
        np.maximum.at(height, hierarchy.parent[inner], height[inner] + 1)
    groups = groups[groups > 0]  # only saves time: the root is not compared
    order = groups[np.argsort(height[groups], kind="stable")]
    return np.split(order, run_bounds(height[order])[1:-1]) if len(order) else []


def _hash_outlines(children: ColumnRuns, metaedges: ColumnRuns, groups: Longs) -> list[int]:
    """Hash each group by its counts of colours and coloured edges: equal structures have equal hashes in any order."""
    if len(groups) == 1:  # nothing to compare with; only saves time
        return [0]
    colors, _ = children.concatenate_runs(groups)
    codes, cuts = metaedges.concatenate_runs(groups)
    first = np.repeat(children.start[groups], np.diff(cuts))
    source, target = children.values[first + (codes >> 33)], children.values[first + (codes >> 2 & 0x7FFFFFFF)]
    ends = mix_bits(source.astype(np.uint64) * GOLDEN_RATIO_STEP ^ (codes & 3).astype(np.uint64))
    edges = metaedges.sum_by_group(groups, mix_bits(target.astype(np.uint64) * GOLDEN_RATIO_STEP ^ ends))
    hashes: list[int] = (children.sum_by_group(groups, mix_bits(colors.astype(np.uint64))) ^ mix_bits(edges)).tolist()
    return hashes


def _certify_forms(
    forms: list[GroupForm], outlines: list[int], budget: RefinementBudget
) -> tuple[dict[GroupForm, bytes], int]:
    """Return a certificate for each distinct raw form, and the number of searches that were cut short.

    A form with a unique outline is its own certificate.
    """
    forms_by_outline: dict[int, list[GroupForm]] = defaultdict(list)
    for form, alike in zip(forms, outlines, strict=True):
        forms_by_outline[alike].append(form)
    certificates: dict[GroupForm, bytes] = {}
    failed = 0
    for members in forms_by_outline.values():
        if len(members) == 1:
            # The prefixes keep raw and canonical certificates distinct.
            certificates[members[0]] = b"alone" + b"".join(members[0])
            continue
        for form in members:
            colors, edges = _unpack_form(form)
            budget.left = MAX_REFINEMENTS * len(colors)
            certificate, complete = canonical_certificate(colors, edges, budget)
            certificates[form] = b"mapping" + certificate
            failed += not complete
    return certificates, failed


def _unpack_form(form: GroupForm) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Return colours and edges (source, target, flags) of a raw form."""
    codes = np.frombuffer(form[1], np.int64).tolist()
    edges = [(code >> 33, (code >> 2) & 0x7FFFFFFF, code & 3) for code in codes]
    return np.frombuffer(form[0], np.int64).tolist(), edges
