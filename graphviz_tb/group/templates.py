"""Structure templates: groups whose children can be mapped onto each other share one number.

Two certificates decide. The *raw* one describes a group with its children in file order; repeated blocks are written
by the same code, so nearly all of them are equal there. Each distinct raw form then gets a *canonical* one (see
`canonical`). Either describes the whole group, edge by edge, so equal certificates are a checked mapping.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np

from graphviz_tb.group.canonical import canonical
from graphviz_tb.model.columns import Ints, Longs, ints, runs
from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.model.notice import Notice

Form = tuple[bytes, bytes]


def find_templates(hierarchy: Hierarchy) -> tuple[Ints, tuple[Notice, ...]]:
    """For each row the number of its template, -1 for ops and the root, in the order of first appearance.

    Before: raw children, no series and no folds. After: equal numbers exactly where a mapping of children was found
    that keeps op types, data and control edges and nested templates. Heights are done from the bottom up.
    """
    template = np.full(len(hierarchy), -1, np.int64)
    types = len(hierarchy.graph.op_types)
    color = np.full(len(hierarchy), -1, np.int64)
    leaves = hierarchy.node >= 0
    color[leaves] = hierarchy.graph.op[hierarchy.node[leaves]]
    codes, starts = metaedge_codes(hierarchy)
    known: dict[bytes, int] = {}
    gave_up = 0
    for level in groups_by_height(hierarchy):
        forms = {row: raw_form(hierarchy, color, codes, starts, row) for row in level}
        certificates, failed = certify(list(dict.fromkeys(forms.values())))
        gave_up += failed
        for row, form in forms.items():
            template[row] = known.setdefault(certificates[form], len(known))
            color[row] = types + template[row]
    template[0] = -1
    notices: tuple[Notice, ...] = ()
    if gave_up:
        text = f"{gave_up} structures are too regular to compare fully; equal ones among them may differ in colour"
        notices = (Notice("template-limit", text, count=gave_up),)
    return ints(renumber(template)), notices


def renumber(template: Longs) -> Longs:
    """The same classes, numbered in the order of first appearance."""
    held = np.flatnonzero(template >= 0)
    if not len(held):
        return template
    values, first, inverse = np.unique(template[held], return_index=True, return_inverse=True)
    rank = np.empty(len(values), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(values))
    out = template.copy()
    out[held] = rank[inverse]
    return out


def metaedge_codes(hierarchy: Hierarchy) -> tuple[Longs, Longs]:
    """One number for each metaedge (position of source, of target, data and control flags), filed by owner."""
    position = np.zeros(len(hierarchy), np.int64)
    start = hierarchy.child_start
    order = hierarchy.child_order
    position[order] = np.arange(len(order)) - start[hierarchy.parent[order]]
    edges = hierarchy.edge_order
    owner = np.repeat(np.arange(len(hierarchy)), np.diff(hierarchy.owner_start))
    source, target = position[hierarchy.edge_from[edges]], position[hierarchy.edge_to[edges]]
    flag = np.where(hierarchy.graph.control[edges], 2, 1)
    by = np.lexsort((target, source, owner))
    owner, pair, flag = owner[by], (source[by] << 33) | (target[by] << 2), flag[by]
    cuts = distinct_cuts(owner, pair)
    merged = np.bitwise_or.reduceat(flag, cuts) if len(cuts) else flag
    counts = np.bincount(owner[cuts], minlength=len(hierarchy))
    return pair[cuts] | merged, np.concatenate(([0], np.cumsum(counts)))


def distinct_cuts(owner: Longs, pair: Longs) -> Longs:
    """Where a new (owner, pair) begins in two sorted columns."""
    if not len(owner):
        return np.zeros(0, np.int64)
    new = (owner[1:] != owner[:-1]) | (pair[1:] != pair[:-1])
    return np.concatenate(([0], np.flatnonzero(new) + 1))


def groups_by_height(hierarchy: Hierarchy) -> list[list[int]]:
    """Rows of groups with children before the groups around them; the root (compared with nothing) left out."""
    height = np.zeros(len(hierarchy), np.int64)
    parent, kind = hierarchy.parent, hierarchy.kind
    groups = np.flatnonzero(kind != Kind.OP)
    for row in groups[::-1].tolist():
        above = parent[row]
        if above >= 0 and height[above] <= height[row]:
            height[above] = height[row] + 1
    groups = groups[groups > 0]
    order = groups[np.argsort(height[groups], kind="stable")]
    cuts = runs(height[order])
    return [order[a:b].tolist() for a, b in pairwise(cuts.tolist())]


def raw_form(hierarchy: Hierarchy, color: Longs, codes: Longs, starts: Longs, row: int) -> Form:
    """The group as its file order has it: colours of its children, codes of its metaedges."""
    children = hierarchy.children(row)
    return color[children].tobytes(), codes[starts[row] : starts[row + 1]].tobytes()


def certify(forms: list[Form]) -> tuple[dict[Form, bytes], int]:
    """A certificate for each distinct raw form, and for how many the search was cut short.

    A form that no other resembles (same colours, same number of edges between each pair of colours) needs no search.
    """
    resembling: dict[bytes, list[Form]] = defaultdict(list)
    for form in forms:
        resembling[outline(form)].append(form)
    certificates: dict[Form, bytes] = {}
    failed = 0
    for alike, members in resembling.items():
        if len(members) == 1:
            certificates[members[0]] = b"outline" + alike
            continue
        for form in members:
            certificate, complete = canonical(*unpack(form))
            certificates[form] = b"mapping" + certificate
            failed += not complete
    return certificates, failed


def unpack(form: Form) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Colours and edges (source, target, flags) of a raw form."""
    codes = np.frombuffer(form[1], np.int64).tolist()
    edges = [(code >> 33, (code >> 2) & 0x7FFFFFFF, code & 3) for code in codes]
    return np.frombuffer(form[0], np.int64).tolist(), edges


def outline(form: Form) -> bytes:
    """What equal structures have in common whatever their order: counts of colours and of coloured edges."""
    colors, edges = unpack(form)
    pairs = Counter((colors[source], colors[target], flag) for source, target, flag in edges)
    return repr((sorted(Counter(colors).items()), sorted(pairs.items()))).encode()
