"""Enforce the invariants of folding: the size of groups, the members of stacks, and no new cycles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field
from functools import cache
from zlib import crc32

import numpy as np

from graphviz_tb.fold.flow.box import (
    Dag,
    FlowBox,
    SymbolTable,
    WiringKey,
    find_cycles,
    make_group,
    walk_groups,
)
from graphviz_tb.fold.flow.levels import ChildEdges, Siblings
from graphviz_tb.fold.flow.names import Vocabulary
from graphviz_tb.fold.flow.order import FlowOrder, compute_flow_order
from graphviz_tb.fold.flow.widths import ChannelWidths, OpTypes
from graphviz_tb.fold.scopes import MODULE_PORT_OP
from graphviz_tb.fold.table import lowest_common_owners
from graphviz_tb.graphs.traversal import strong_components, weak_components
from graphviz_tb.limits import MAX_VISITED_BOXES, Meter
from graphviz_tb.model.columns import distinct_values, int32_column
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.ops.roles import (
    BATCH_PRODUCT_OPS,
    CONVOLUTION_OPS,
    EMBEDDING_LOOKUP_OPS,
    INPUT_OPS,
    MATRIX_PRODUCT_OPS,
)

# State shared by all steps of folding a level.

TARGET_CHILDREN = 16  # boxes that a reader sees at a glance
MAX_FLOW_DEPTH = 12  # nested groups made by flow


# Extra cost of a region that holds most of its level: in random wiring each step peels off only a few boxes. Twelve
# such regions of 1,600 boxes are within the budget.
PEELING_COST = 10


def level_budget(boxes: int) -> Meter:
    """Return the budget of a level: each box can be visited at least once."""
    return Meter(MAX_VISITED_BOXES + boxes)


@dataclass(frozen=True, slots=True, eq=False)
class FoldContext:
    """Shared state of the steps that fold one level: its limits, its budget, and caches.

    `most` is the limit of boxes in a group, `soft` the target. Caches: the content of equal regions (`known`), the
    content and symbol of equal branches (`branches`), and the order of each graph (`orders`).
    """

    vocabulary: Vocabulary
    symbols: SymbolTable
    budget: Meter
    soft: int = TARGET_CHILDREN
    most: int = 40
    types: OpTypes = field(default_factory=OpTypes)
    widths: ChannelWidths = field(default_factory=ChannelWidths)
    orders: dict[Dag, FlowOrder] = field(default_factory=dict)
    known: dict[tuple[int, ...], tuple[list[FlowBox], list[FlowBox]]] = field(default_factory=dict)
    branches: dict[WiringKey, tuple[list[FlowBox], list[FlowBox], int]] = field(default_factory=dict)

    def order(self, dag: Dag) -> FlowOrder:
        """Return the order of a graph along its flow."""
        order = self.orders.get(dag)
        if order is None:
            order = self.orders[dag] = compute_flow_order(dag)
        return order


# Segments: stretches of plain boxes that are cut off where a group would have too many boxes.
#
# Long stretches are cut at boxes chosen by the checksums of their names (content-defined chunking), near equal parts,
# so that an edit moves few cuts.

MAX_PLAIN_OPS = 200  # larger boxes stay outside segments
MIN_SEGMENT_BOXES = 3  # boxes that are worth a segment
MAX_PIECES = 12  # into which a level is cut
CUT_SLACK = 0.4  # distance of a cut from equal parts, in pieces
MAX_LAST_PIECE = 1.5  # length of the last piece, in pieces; it is never below half a piece


def narrow_to_limit(
    boxes: Sequence[FlowBox], context: FoldContext, limit: int, dag: Dag | None = None
) -> list[FlowBox]:
    """Fold stretches of plain boxes to segments, to at most `limit` boxes if possible, and never more than `most`.

    The order stays. If `dag` is given, separate flows have separate segments: the end of an encoder, and the embedding
    of a decoder.
    """
    if total_child_count(boxes) <= limit:
        return list(boxes)
    kept: list[FlowBox] = []
    stretch: list[FlowBox] = []
    for box in [*boxes, None]:  # None ends the last stretch
        if box is not None and box.how == GroupOrigin.NONE and box.ops <= MAX_PLAIN_OPS:
            stretch.append(box)
            continue
        parts = _separate_flows(stretch, dag) if dag is not None and len(stretch) < len(boxes) else [stretch]
        for part in parts:
            kept += _make_segments(part, context) if MIN_SEGMENT_BOXES <= len(part) < len(boxes) else part
        stretch = []
        kept += [box] if box else []
    # Accept more than the target, up to `most`: a few more boxes are better than arbitrary cuts.
    if total_child_count(kept) > limit and (total_child_count(kept) > context.most or limit >= context.most):
        return cut_into_segments(kept, context)
    return kept


def _separate_flows(stretch: Sequence[FlowBox], dag: Dag) -> list[list[FlowBox]]:
    """Split a stretch into the flows that begin in it and are worth a segment, and the rest, in the order of first
    boxes.

    The rest is one part, unless half of it is single boxes.
    """
    place = {id(box): number for number, box in enumerate(stretch)}
    numbers = [place.get(id(box), -1) for box in dag.boxes]
    pairs = [
        (numbers[source], numbers[box])
        for box, sources in enumerate(dag.before)
        if numbers[box] >= 0
        for source in sources
    ]
    fed = {box for source, box in pairs if source < 0}
    components = weak_components(len(stretch), [pair for pair in pairs if pair[0] >= 0])
    flows = [part for part in components if len(part) >= MIN_SEGMENT_BOXES and fed.isdisjoint(part)]
    rest = [part for part in components if len(part) < MIN_SEGMENT_BOXES or not fed.isdisjoint(part)]
    if 2 * sum(len(part) == 1 for part in rest) < sum(map(len, rest)):
        rest = [sorted(number for part in rest for number in part)]
    return [[stretch[number] for number in part] for part in sorted(flows + rest)]


def total_child_count(boxes: Sequence[FlowBox]) -> int:
    """Return the number of children of a group of these boxes, feeders included."""
    return sum(box.child_count for box in boxes)


def _make_segments(boxes: Sequence[FlowBox], context: FoldContext) -> list[FlowBox]:
    """Fold boxes to one segment, or to several if one would be too wide."""
    return (
        [_make_segment(boxes, context)]
        if total_child_count(boxes) <= context.most
        else cut_into_segments(boxes, context)
    )


def _make_segment(boxes: Sequence[FlowBox], context: FoldContext) -> FlowBox:
    return make_group(GroupOrigin.SEGMENT, boxes, context.symbols.symbol_of("segment", *(box.symbol for box in boxes)))


def cut_into_segments(boxes: Sequence[FlowBox], context: FoldContext) -> list[FlowBox]:
    """Cut a long stretch into segments of about equal length, wide ones again."""
    pieces = max(2, min(MAX_PIECES, len(boxes) // 4))
    stretches = [piece[0] if len(piece) == 1 else piece for piece in _cut_into_pieces(boxes, pieces)]
    return [
        stretch if isinstance(stretch, FlowBox) else _make_segment(_shorten_piece(stretch, context), context)
        for stretch in stretches
    ]


def _shorten_piece(boxes: Sequence[FlowBox], context: FoldContext) -> list[FlowBox]:
    """Cut a piece again if it is too wide."""
    return (
        list(boxes)
        if total_child_count(boxes) <= context.soft or len(boxes) <= 2
        else cut_into_segments(boxes, context)
    )


def _cut_into_pieces(boxes: Sequence[FlowBox], pieces: int) -> list[Sequence[FlowBox]]:
    """Cut boxes into about `pieces` stretches of about equal length."""
    size = len(boxes) / pieces
    stretches: list[Sequence[FlowBox]] = []
    start = 0
    while len(boxes) - start > MAX_LAST_PIECE * size:
        # Cut before the box of least checksum near the target: most edits do not move it.
        # `MAX_LAST_PIECE` keeps it before the end.
        low, high = int(start + (1 - CUT_SLACK) * size), int(start + (1 + CUT_SLACK) * size)
        cut = min(range(max(low, start + 1), high + 1), key=lambda spot: _name_checksum(boxes[spot]))
        stretches.append(boxes[start:cut])
        start = cut
    return [*stretches, boxes[start:]]


def _name_checksum(box: FlowBox) -> int:
    """Return a checksum of the name of the first op inside."""
    return crc32(box.first_row().name.encode("utf-8", "surrogatepass"))


# Limits of every group: members of a stack are single boxes, and no group has more boxes than allowed.

RANGE_MEMBERS = 20  # half the default limit of a group


def enforce_limits(boxes: Sequence[FlowBox], context: FoldContext) -> list[FlowBox]:
    """Return the boxes with all groups inside within their limits."""
    return [_enforce_box_limits(box, context) for box in boxes]


def _enforce_box_limits(box: FlowBox, context: FoldContext) -> FlowBox:
    """Bring one box and its content within the limits. Recursion depth is bounded by the folding steps."""
    if not box.members:
        return box
    members = enforce_limits(box.members, context)
    if box.is_repetition:
        # A stack of blocks opens to one member, so it needs no ranges.
        parts = [as_stack_member(member) for member in members]
        blocks = any(part.members or part.scope for part in parts) and context.types.maps_channels(parts[0])
        box.members = parts if blocks else _split_into_ranges(parts, context)
    elif total_child_count(members) > context.most:
        box.members = enforce_limits(narrow_to_limit(members, context, context.soft), context)
    else:
        box.members = members
    return box


def as_stack_member(box: FlowBox) -> FlowBox:
    """Return a box as a member of a stack: a box with feeders becomes a group."""
    if not box.feeders:
        return box
    feeders, box.feeders = box.feeders, []
    return make_group(GroupOrigin.REGION, [*feeders, box], box.symbol)


def _split_into_ranges(members: Sequence[FlowBox], context: FoldContext) -> list[FlowBox]:
    """Return the members of a stack, in ranges of about equal length if there are too many."""
    parts = list(members)
    while len(parts) > context.most:
        size = max(2, min(RANGE_MEMBERS, context.most // 2))
        parts = [
            make_group(GroupOrigin.SEGMENT, piece, context.symbols.symbol_of("range", piece[0].symbol, len(piece)))
            for piece in _cut_into_pieces(parts, -(-len(parts) // size))
        ]
    return parts


# Open groups that are on a cycle which the level itself does not have.
#
# Groups are convex in the flow by construction. Storage edges are not flow, but they are drawn, so all data edges are
# checked once more, for all groups of a level together:
#
# b ─▶ d by flow, d ─▶ c by storage: the group [b c] and d are on a cycle, though the rows b, c and d are not
#
# Training groups open nothing: they move aside with stubs for their edges (see `expand`) if they are on a cycle.

MAX_OPENING_ROUNDS = 50  # each opens at least one group; after these, all are opened


def open_cyclic_groups(boxes: list[FlowBox], count: int, place: dict[int, int], edges: ChildEdges) -> list[FlowBox]:
    """Open the groups of a level that are on a cycle which its children alone do not have.

    `count` is the number of children, `place` the position of each row, `edges` all data edges. After: the only cycles
    in the data edges between boxes of a group are those of the children.
    """

    @cache  # only needed if the folded level has a cycle
    def real_cycles() -> list[int]:
        return _real_cycle_by_child(count, edges)

    for _ in range(MAX_OPENING_ROUNDS):
        # Opening a group may close or break other cycles: repeat until none is left.
        cyclic = _cyclic_groups(boxes, count, place, edges, real_cycles)
        if not cyclic:
            return boxes
        boxes = _replace_by_members(boxes, cyclic)
    return [box for top in boxes for box in rows_inside(top)]


def _real_cycle_by_child(count: int, edges: ChildEdges) -> list[int]:
    """Return the number of the cycle of each child, -1 for none."""
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in zip(edges.source.tolist(), edges.target.tolist(), strict=True):
        after[source].append(target)
    component = strong_components(after)
    size = np.bincount(component, minlength=1)
    return [number if size[number] > 1 else -1 for number in component]


def _cyclic_groups(
    boxes: list[FlowBox], count: int, place: dict[int, int], edges: ChildEdges, real_cycles: Callable[[], list[int]]
) -> set[int]:
    """Return the `id` of each group on a cycle that only grouping makes."""
    # Numbers: children 0 … count-1, groups from count on, the level itself last.
    listed, parent, depth = _number_groups(boxes, count, place)
    _, source_child, target_child = lowest_common_owners(
        int32_column(parent), int32_column(depth), edges.source.astype(np.int32), edges.target.astype(np.int32)
    )
    # Edges between siblings that are both rows need no check.
    beside_groups = np.zeros(len(parent), bool)
    beside_groups[parent[count:-1]] = True
    has_group = beside_groups[int32_column(parent)[source_child]]
    after: list[list[int]] = [[] for _ in parent]
    # These move aside in `expand`.
    quiet = {count + member for member, box in enumerate(listed) if box.how == GroupOrigin.TRAINING}
    # Pairs as numbers: a million tuples would take hundreds of megabytes.
    for pair in distinct_values(
        source_child[has_group].astype(np.int64) << 32 | target_child[has_group].astype(np.int64)
    ).tolist():
        source, target = pair >> 32, pair & 0xFFFFFFFF
        if source not in quiet and target not in quiet:
            after[source].append(target)
    cyclic: set[int] = set()
    for ring in find_cycles(after):
        groups = [listed[member - count] for member in ring if member >= count]
        # A cycle that contains a real one is not made by the groups.
        if groups and not _spans_real_cycle(ring, listed, count, place, real_cycles()):
            # Groups by flow are on a new cycle only because of a group by name.
            by_name = [box for box in groups if box.how == GroupOrigin.NAME]
            cyclic.update(id(box) for box in by_name or groups if box.how != GroupOrigin.LOOP)
    return cyclic


def _number_groups(
    boxes: list[FlowBox], count: int, place: dict[int, int]
) -> tuple[list[FlowBox], list[int], list[int]]:
    """Return all groups of a level, and parent and depth of children and groups; the level itself comes last."""
    listed: list[FlowBox] = []
    parent, depth = [0] * count, [1] * count
    todo = [(boxes, -1, 1)]
    while todo:
        siblings, parent_number, child_depth = todo.pop()
        for box in siblings:
            if box.row >= 0:
                parent[place[box.row]], depth[place[box.row]] = parent_number, child_depth
            else:
                todo.append((box.members, count + len(listed), child_depth + 1))
                parent.append(parent_number)
                depth.append(child_depth)
                listed.append(box)
            if box.feeders:
                todo.append((box.feeders, parent_number, child_depth))
    root = len(parent)
    return listed, [root if parent_number < 0 else parent_number for parent_number in parent] + [-1], [*depth, 0]


def _spans_real_cycle(
    ring: list[int], listed: list[FlowBox], count: int, place: dict[int, int], real: Sequence[int]
) -> bool:
    """Return whether a real cycle has members in two boxes of this one."""
    seen: dict[int, int] = {}
    for member in ring:
        rows = [member] if member < count else [place[box.row] for box in rows_inside(listed[member - count])]
        for row in rows:
            if real[row] >= 0 and seen.setdefault(real[row], member) != member:
                return True
    return False


def rows_inside(top: FlowBox, whole: Collection[GroupOrigin] = ()) -> list[FlowBox]:
    """Return all rows inside a box, feeders as separate rows; groups of an origin in `whole` count as rows."""
    rows: list[FlowBox] = []
    todo = [top]
    while todo:
        box = todo.pop()
        if box.row >= 0 or (box.how in whole and box is not top):
            rows.append(box)
            todo += box.feeders
        else:
            todo += [*box.members, *box.feeders]
    return rows


def _replace_by_members(boxes: Sequence[FlowBox], opened: set[int]) -> list[FlowBox]:
    """Replace the groups with these `id`s by their members, at any depth."""
    kept: list[FlowBox] = []
    for box in boxes:
        if id(box) in opened:
            kept += [*box.feeders, *_replace_by_members(box.members, opened)]
        else:
            box.members = _replace_by_members(box.members, opened)
            kept.append(box)
    return kept


# Inputs of a program are drawn beside groups of layers, not inside them.

GIVEN_OPS = INPUT_OPS | {MODULE_PORT_OP}
GIVEN_USERS = CONVOLUTION_OPS | MATRIX_PRODUCT_OPS | BATCH_PRODUCT_OPS | EMBEDDING_LOOKUP_OPS
BY_FLOW = frozenset(
    {GroupOrigin.REGION, GroupOrigin.BRANCH, GroupOrigin.SEGMENT, GroupOrigin.STAGE, GroupOrigin.REPEAT}
)
MAX_SHOWN_INPUTS = 4  # inputs of a level; more are a record


def release_inputs(boxes: list[FlowBox], level: Siblings, context: FoldContext) -> list[FlowBox]:
    """Move the inputs of a program out of groups by flow, in place. Nothing feeds inputs, so no cycle closes."""
    fed = {level.rows[position] for position in level.edges.target.tolist()}
    inputs = [
        (top, group, member)
        for top in boxes
        for group in _groups_of_input(top)
        for member in group.members
        if member.op in GIVEN_OPS and member.row not in fed
    ]
    if not 0 < len(inputs) <= MAX_SHOWN_INPUTS or total_child_count(boxes) + len(inputs) > context.most:
        return boxes
    # A mask stays one box with its input; a segment has no such reason.
    releasable = [
        (group, input_box)
        for top, group, input_box in inputs
        if group.how == GroupOrigin.SEGMENT or not GIVEN_USERS.isdisjoint(context.types.type_counts(top))
    ]
    by_group: dict[int, list[FlowBox]] = {}
    member_counts = {id(group): len(group.members) for group, _ in releasable}
    for group, input_box in releasable:
        by_group.setdefault(id(group), []).append(input_box)
    # A group of nothing but inputs keeps them.
    released = [box for group, found in by_group.items() if len(found) < member_counts[group] for box in found]
    released_ids = {id(box) for box in released}
    for group in list(walk_groups(boxes)) if released_ids else ():
        kept = [member for member in group.members if id(member) not in released_ids]
        if len(kept) < len(group.members):
            group.members, group.ops = kept, sum(member.ops for member in kept)
    return [*released, *(box.members[0] if len(box.members) == 1 and not box.feeders else box for box in boxes)]


def _groups_of_input(top: FlowBox) -> Iterator[FlowBox]:
    """Yield the groups by flow in a box, except stacks; of a stack only those in its first repetition."""
    todo = [top]
    while todo:
        group = todo.pop()
        if group.how not in BY_FLOW:
            continue
        inner = group.members[: 0 if group.sideways else 1] if group.is_repetition else group.members
        todo += inner
        if not group.is_repetition:
            yield group
