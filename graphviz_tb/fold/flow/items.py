"""Children of one group as boxes, with the flow between them, and the boxes off the flow.

Control edges are not flow, and neither are storage edges: from a handle of a variable or a restored tensor, or into an
assignment or a saver. Children without flow move aside; so do, repeatedly, children that only feed storage, such as
initialisers. If these are more than 30 % of the ops of a level, the level is about storage, and its storage edges are
flow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import field

import numpy as np

from graphviz_tb.fold.flow.box import (
    MIN_STACK_OPS,
    Dag,
    FlowBox,
    SymbolTable,
    contract_groups,
    find_cycles,
    make_dag,
    make_group,
    sub_dag,
)
from graphviz_tb.fold.flow.invariants import FoldContext, narrow_to_limit, total_child_count
from graphviz_tb.fold.flow.levels import ChildEdges, Siblings
from graphviz_tb.fold.flow.loops import loop_closing_edges
from graphviz_tb.fold.flow.order import MIN_COLLECTOR_DEPTHS, box_depths, box_tokens, compute_flow_order
from graphviz_tb.fold.flow.regions import fold_dag
from graphviz_tb.graphs.index_arithmetic import gives_truth_values
from graphviz_tb.graphs.tensors import all_output_dtypes
from graphviz_tb.graphs.traversal import topological_order
from graphviz_tb.model.columns import Bools, Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import SERIES_ROW, GroupOrigin, Hierarchy
from graphviz_tb.model.tensors import INDEX_DTYPES
from graphviz_tb.ops.roles import (
    ADD_OPS,
    CONSTANT_OPS,
    GROUP_OPS,
    INPUT_OPS,
    NEXT_ELEMENT_OPS,
    RANGE_OPS,
    SELECT_OPS,
    SIZE_OPS,
    VARIABLE_OPS,
    VARIABLE_READ_OPS,
)

# State of a level while its boxes are sorted into flow and aside.


@dataclass(slots=True, eq=False)
class FlowSorting:
    """The boxes of a level, while they are sorted into flow and aside.

    before, after   flow between `boxes`
    variable        which boxes are variables
    away            boxes that move aside
    busy            scopes in `away` that closed cycles
    stored          boxes in `away` that are storage, or only feed it
    rings           remaining cycles
    back            edges that make each control flow v1 loop one cycle (see `loop_closing_edges`)
    """

    boxes: Sequence[FlowBox]
    before: list[dict[int, None]]
    after: list[list[int]]
    variable: Sequence[bool]
    away: set[int] = field(default_factory=set)
    busy: set[int] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)
    rings: list[list[int]] = field(default_factory=list)
    back: list[tuple[int, int]] = field(default_factory=list)

    def count_ops(self, boxes: Iterable[int]) -> int:
        return sum(self.boxes[box].ops for box in boxes)

    def flow_users(self, box: int) -> list[int]:
        return [user for user in self.after[box] if user not in self.away] if self.away else self.after[box]

    def set_storage_aside(self, feeding: Iterable[int], stores: Iterable[int]) -> None:
        """Set aside storage (`stores`), and boxes that only feed it: directly (`feeding`) or through others."""
        # Remaining users of each box in the flow; at 0 it feeds storage only.
        remaining_users = (
            [len(self.flow_users(box)) for box in range(len(self.boxes))] if self.away else list(map(len, self.after))
        )
        for box in {source for busy in self.busy for source in self.before[busy]}:
            remaining_users[box] += 1
        # A busy scope is part of the flow, and so are its inputs.
        ends = [box for box in self.away if box not in self.busy]
        feeds = set(feeding).union(source for box in ends for source in self.before[box])
        todo = sorted(box for box in feeds if box not in self.away and not remaining_users[box])
        while todo:
            self.away.update(todo)
            self.stored.update(todo)
            stored: set[int] = set()
            for box in todo:
                for source in self.before[box]:
                    remaining_users[source] -= 1
                    if not remaining_users[source] and source not in self.away:
                        stored.add(source)
            todo = sorted(stored)  # boxes that only feed the previous ones
        self.stored.update(box for box in stores if not self.boxes[box].scope and not remaining_users[box])

    def set_unconnected_aside(self) -> None:
        """Set aside boxes without flow, and variables with several readers."""
        loose = {box for box in range(len(self.boxes)) if box not in self.away and not self._has_flow(box)}
        if len(loose) < len(self.boxes) - len(self.away):  # unless nothing flows at all
            self.away |= loose
        self.away |= {box for box, variable in enumerate(self.variable) if variable and len(self.flow_users(box)) != 1}

    def _has_flow(self, box: int) -> bool:
        if not self.away.issuperset(self.after[box]):
            return True
        return any(source not in self.away and not self.variable[source] for source in self.before[box])


def _start_sorting(boxes: Sequence[FlowBox], source: Longs, target: Longs, variable: Sequence[bool]) -> FlowSorting:
    """Return a sorting with everything in the flow. Edges are ordered by target and slot."""
    before: list[dict[int, None]] = [{} for _ in boxes]
    for start, stop in zip(source.tolist(), target.tolist(), strict=True):
        before[stop][start] = None
    after: list[list[int]] = [[] for _ in boxes]
    for stop, sources in enumerate(before):
        for start in sources:
            after[start].append(stop)
    return FlowSorting(boxes, before, after, variable)


# Break cycles in the flow of a level: a hub moves aside, any other cycle becomes one box.
#
# A hub, such as a shared state or a saver, has far more neighbours than the rest of its cycle. Without it, the rest is
# mostly acyclic and can be folded along its flow.

MIN_HUB_RATIO = 3  # neighbours of a hub, relative to the median of its cycle
MAX_HUB_ROUNDS = 12  # cycles left after these become boxes


def _break_flow_cycles(level: FlowSorting, asked: Callable[[int], bool]) -> None:
    """Move hubs of cycles and requested series (`asked`) on cycles aside; record the remaining cycles."""
    looping = {box for pair in level.back for box in pair}
    for _ in range(MAX_HUB_ROUNDS):
        level.rings = _remaining_cycles(level)
        hubs = {box for ring in level.rings for box in ring if asked(box)}
        # A loop of control flow v1 becomes one box, even with a hub.
        plain = [ring for ring in level.rings if looping.isdisjoint(ring)]
        hubs |= {hub for ring in plain if (hub := _find_hub(ring, level)) is not None}
        if not hubs:
            return
        level.away |= hubs
        level.busy |= {box for box in hubs if level.boxes[box].scope}
    level.rings = _remaining_cycles(level)


def _remaining_cycles(level: FlowSorting) -> list[list[int]]:
    """Return the cycles of the remaining boxes; variables close none."""
    away, variable = level.away, level.variable
    if not away and not any(variable) and not level.back:
        return find_cycles(level.after)
    after = [[] if box in away or variable[box] else level.flow_users(box) for box in range(len(level.boxes))]
    for source, target in level.back:
        after[source] = [*after[source], target]
    return find_cycles(after)


def _find_hub(ring: list[int], level: FlowSorting) -> int | None:
    """Return the box of a cycle with far more neighbours than the rest; None if there is none."""
    degree = {box: len(level.before[box]) + len(level.after[box]) for box in ring}
    busiest = max(ring, key=lambda box: (degree[box], -box))  # the first on a tie
    median = sorted(degree.values())[len(ring) // 2]
    return busiest if degree[busiest] > MIN_HUB_RATIO * median else None


def _make_loop_box(boxes: list[FlowBox], symbols: SymbolTable) -> FlowBox:
    return make_group(GroupOrigin.LOOP, boxes, symbols.symbol_of("loop", *sorted(box.symbol for box in boxes)), "loop")


# Feeders: small inputs with one user are drawn next to it and count as part of it.

VALUE_OPS = VARIABLE_OPS | VARIABLE_READ_OPS | CONSTANT_OPS
RUN_INPUT_OPS = INPUT_OPS | NEXT_ELEMENT_OPS  # program inputs
MAX_FEEDER_OPS = 4  # a constant, a shape or a cast, with all its inputs
MAX_FEEDERS = 16  # per box; with more (a saver, a concatenation) its inputs are paths of the level


def join_feeders(dag: Dag, layers: Set[int], symbols: SymbolTable) -> Dag:
    """Join feeders to their consumers.

    A feeder is a box of at most four ops, with all its ancestors, that has one user. Rows in `layers` are never
    feeders: an embedding stays a box. If all inputs of a box are feeders, the first that is not a value stays in the
    flow. If no other input depends on program inputs, the first feeder that does stays.
    """
    depth = box_depths(dag)
    inputs_first = sorted(range(len(dag)), key=depth.__getitem__)
    small = _find_small_trees(dag, layers, inputs_first)
    consumer: dict[int, int] = {}
    has_value = _fed_by_types(dag, VALUE_OPS, inputs_first)
    has_input = _fed_by_types(dag, RUN_INPUT_OPS, inputs_first, VALUE_OPS)
    # A feeder takes its whole tree along; one that stays may have feeders itself.
    todo = [box for box in range(len(dag)) if box not in small]
    for box in todo:
        feeders = [source for source in dag.before[box] if source in small]
        kept = -1
        if not feeders:
            continue
        if len(feeders) == len(dag.before[box]):
            kept = next((source for source in feeders if not has_value[source]), feeders[0])
        elif not any(has_input[source] for source in dag.before[box] if source not in small):
            kept = next((source for source in feeders if has_input[source]), -1)
        todo += [kept] if kept >= 0 else []
        feeding = [member for feeder in feeders if feeder != kept for member in _feeder_tree(dag, feeder)]
        if len(feeding) <= MAX_FEEDERS:
            consumer.update(dict.fromkeys(feeding, box))
    by_consumer: dict[int, list[int]] = {}
    for feeder, box in consumer.items():
        by_consumer.setdefault(box, []).append(feeder)
    return contract_groups(
        dag, [([box, *feeding], _attach_feeders(dag, box, feeding, symbols)) for box, feeding in by_consumer.items()]
    )


def _find_small_trees(dag: Dag, layers: Set[int], along: list[int]) -> set[int]:
    """Return boxes that are small enough, with all their ancestors, to be feeders."""
    ops = [box.ops for box in dag.boxes]
    small: set[int] = set()
    for number in along:
        if len(dag.after[number]) == 1 and small.issuperset(dag.before[number]) and dag.boxes[number].row not in layers:
            # Each has one user, so no op is counted twice.
            ops[number] += sum(ops[source] for source in dag.before[number])
            if ops[number] <= MAX_FEEDER_OPS:
                small.add(number)
    return small


def _fed_by_types(dag: Dag, types: Set[str], along: list[int], stop: Set[str] = frozenset()) -> list[bool]:
    """Return which boxes have one of these types, or depend on a box that has; boxes of types in `stop` do not depend.

    The read of a variable is not a program input, though its handle may be one.
    """
    found = [box.op in types for box in dag.boxes]
    for number in along if any(found) else ():
        if not found[number] and dag.before[number] and dag.boxes[number].op not in stop:
            found[number] = any(map(found.__getitem__, dag.before[number]))
    return found


def _feeder_tree(dag: Dag, feeder: int) -> list[int]:
    members = [feeder]
    for box in members:  # grows while it is walked through
        members += dag.before[box]
    return members


def _attach_feeders(dag: Dag, number: int, feeders: list[int], symbols: SymbolTable) -> FlowBox:
    """Return a copy of a box with feeders, which change the symbol of an op, but not of a scope."""
    box, feeder_boxes = dag.boxes[number], [dag.boxes[feeder] for feeder in feeders]
    copy = FlowBox(
        box.name,
        box.symbol,
        box.ops,
        box.row,
        box.how,
        box.members,
        [*box.feeders, *feeder_boxes],
        box.unit,
        box.sideways,
        box.scope,
        op=box.op,
    )
    if not box.scope:
        copy.symbol = symbols.symbol_of("fed", box.symbol, *sorted(feeder.symbol for feeder in feeder_boxes))
        copy.ops += sum(feeder.ops for feeder in feeder_boxes)
    return copy


# Masks, positions and shapes: index arithmetic becomes one box.
#
# Index ops with one set of users outside the index arithmetic are a group. It is convex: every op on a path between two
# members has the same users.

MAX_PLAIN_LEVEL = 8  # boxes; smaller levels need no boxes for index arithmetic
MAX_INDEX_USERS = 64  # per box


# Joins that repeat the inputs of an earlier one.
#
# x ─▶ join₁ ─▶ f₁ ─▶ join₂ ─▶ f₂ ─▶ join₃         the inputs of join₂ are x and f₁, those of join₃ x, f₁ and f₂
#
# Inputs of an earlier join also reach the later one through it, so these edges add nothing to the order.

MIN_JOINED, MAX_STEPS_BETWEEN_JOINS = 2, 32  # inputs that two joins share; boxes between them


def drop_repeated_inputs(dag: Dag) -> Dag:
    """Drop inputs that a box shares with the previous box of its op type, if that leads to it."""
    latest: dict[str, int] = {}
    before = list(dag.before)
    for number in topological_order(dag.after):
        op, sources = dag.boxes[number].op, dag.before[number]
        if len(sources) < MIN_JOINED or not op:
            continue
        earlier, latest[op] = latest.get(op), number
        if earlier is None or len(dag.before[earlier]) < MIN_JOINED or not {*dag.before[earlier]} < {*sources}:
            continue
        own = [source for source in sources if source not in dag.before[earlier]]
        if _leads_to(dag, earlier, own):
            before[number] = own
    return dag if before == dag.before else make_dag(dag.boxes, before, dag.outside)


def _leads_to(dag: Dag, start: int, ends: Sequence[int]) -> bool:
    """Return whether a box is one of `ends`, or a near ancestor of one."""
    seen, todo = set(ends), list(ends)
    while todo and start not in seen and len(seen) < MAX_STEPS_BETWEEN_JOINS:
        new = [source for source in dag.before[todo.pop(0)] if source not in seen]
        seen.update(new)
        todo += new
    return start in seen


def fold_running_sums(dag: Dag, symbols: SymbolTable) -> Dag:
    """Fold a chain of additions to one box if nothing else uses their inputs.

    The skips of WaveNet (van den Oord et al. 2016) are one sum of the outputs of all blocks.
    """
    adds = [box.op in ADD_OPS and len(dag.before[number]) == 2 for number, box in enumerate(dag.boxes)]
    next_addition = [users[0] if len(users) == 1 and adds[users[0]] else -1 for users in dag.after]
    chains: dict[int, list[int]] = {}  # by their last addition
    for number in topological_order(dag.after) if sum(adds) >= MIN_COLLECTOR_DEPTHS else ():
        sources = dag.before[number]
        if adds[number] and all(next_addition[source] == number for source in sources):
            longest = max((chains.pop(source, []) for source in sources), key=len)
            chains[number] = [*longest, number]
    depth = box_depths(dag) if any(map(len, chains.values())) else []
    groups = []
    for chain in chains.values():
        inputs = {source for number in chain for source in dag.before[number]} - {*chain}
        if len({depth[source] for source in inputs}) >= MIN_COLLECTOR_DEPTHS:
            boxes = [dag.boxes[number] for number in chain]
            symbol = symbols.symbol_of("sum", *(box.symbol for box in boxes))
            groups.append((chain, make_group(GroupOrigin.REGION, boxes, symbol)))
    return contract_groups(dag, groups)


def fold_index_arithmetic(dag: Dag, rows: Set[int], hierarchy: Hierarchy, context: FoldContext) -> Dag:
    """Fold index arithmetic (`rows`) with equal users, direct or through other index arithmetic, to one box."""
    if len(dag) <= MAX_PLAIN_LEVEL or not rows:
        return dag
    by_users: dict[frozenset[int], list[int]] = defaultdict(list)
    for box, users in enumerate(_outside_users(dag, [box.row in rows for box in dag.boxes])):
        if users:
            by_users[users].append(box)
    groups = []
    for members in by_users.values():
        boxes = [dag.boxes[member] for member in members]
        if len(boxes) > 1 and sum(box.ops for box in boxes) >= MIN_STACK_OPS:
            inner = sub_dag(dag, members)
            order = compute_flow_order(inner)
            symbol = context.symbols.symbol_of("index", *box_tokens(inner, order, context.symbols))
            name = _index_group_name(boxes, hierarchy)
            inside = boxes if len(boxes) <= context.most else fold_dag(inner, context, context.soft)
            groups.append((members, make_group(GroupOrigin.INDEX, inside, symbol, name)))
    return contract_groups(dag, groups)


def _outside_users(dag: Dag, inside: list[bool]) -> list[frozenset[int]]:
    """Return the outside users of each inside box, direct or through inside boxes; empty if they are too many.

    Before: no cycles. After: all boxes on a path between boxes with equal users have these users.
    """
    nobody: frozenset[int] = frozenset()
    users, crowded = [nobody] * len(dag), [False] * len(dag)
    order = topological_order(dag.after)
    for box in reversed(order):
        if inside[box]:
            found = {target for target in dag.after[box] if not inside[target]}
            through = [target for target in dag.after[box] if inside[target]]
            found.update(*(users[target] for target in through))
            crowded[box] = len(found) > MAX_INDEX_USERS or any(crowded[target] for target in through)
            users[box] = nobody if crowded[box] else frozenset(found)
    for box in order:
        if inside[box] and not users[box] and not crowded[box]:  # an end, unused on the level
            others = {users[source] if inside[source] else nobody for source in dag.before[box]}
            users[box] = others.pop() if len(others) == 1 else nobody
    return users


def _index_group_name(boxes: list[FlowBox], hierarchy: Hierarchy) -> str:
    """Name index arithmetic by its ops.

    Booleans are a mask, unless they only select integers; ranges are positions; floats are a mask too (it is added);
    sizes are a shape, all others indices.
    """
    graph = hierarchy.graph
    nodes = [node for box in boxes for node in hierarchy.node[box.row : hierarchy.end[box.row]].tolist() if node >= 0]
    types = {graph.op_types[op] for op in graph.op[nodes].tolist()}
    chosen = [node for node in nodes if graph.op_types[graph.op[node]] in SELECT_OPS]
    truths = any(gives_truth_values(graph, node) for node in nodes)
    if graph.is_value_trace and chosen:  # types are unknown
        return "mask"
    if truths and not any(_gives_integers(hierarchy, node) for node in chosen):
        return "mask"
    if not RANGE_OPS.isdisjoint(types):
        return "positions"
    if any(not _gives_integers(hierarchy, node) for node in nodes):
        return "mask"
    return "indices" if SIZE_OPS.isdisjoint(types) else "shape"


def _gives_integers(hierarchy: Hierarchy, node: int) -> bool:
    """Return whether the results of an op are integers or booleans, or of unknown type."""
    definition = hierarchy.graph.node_def(node)
    return definition is None or INDEX_DTYPES.issuperset(all_output_dtypes(definition))


MAX_STORAGE_SHARE = 0.3  # of the ops of a level only feed storage; with more, the level is about storage


@dataclass(frozen=True, slots=True, eq=False)
class FlowItems:
    """The flow of a level (`dag`), and its other children: positions `aside` in `boxes`, which are all children.

    `edges` are the data edges between all children.
    """

    dag: Dag
    aside: list[int]
    boxes: list[FlowBox]
    edges: ChildEdges


def find_flow_items(level: Siblings, context: FoldContext) -> FlowItems:
    """Return the boxes of a level: a graph without cycles, and the children off the flow."""
    edges = level.edges
    boxes = _make_child_boxes(level, context.symbols)
    sorting = _sort_children(level, boxes, edges.handle | edges.store)
    # e.g. an optimizer or a saver, most of which feeds storage
    if edges.store.any() and sorting.count_ops(sorting.stored) > MAX_STORAGE_SHARE * sorting.count_ops(
        range(len(boxes))
    ):
        sorting = _sort_children(level, boxes, edges.handle)
    kept = [child for child in range(len(boxes)) if child not in sorting.away]
    place = {child: spot for spot, child in enumerate(kept)}
    before = [[place[source] for source in sorting.before[child] if source in place] for child in kept]
    rings = [[place[child] for child in ring if child in place] for ring in sorting.rings]
    dag = make_dag([boxes[child] for child in kept], before)
    loops = [(ring, _make_loop_box([dag.boxes[spot] for spot in ring], context.symbols)) for ring in rings if ring]
    for ring, loop in loops:
        # Fold a loop along the flow between the cycles of its variables, not by length.
        if total_child_count(loop.members) > context.most:
            inside = _fold_as_level([kept[spot] for spot in ring], boxes, edges, context)
            loop.members = inside[0].members if len(inside) == 1 else inside
    return FlowItems(contract_groups(dag, loops), sorted(sorting.away), boxes, edges)


def _sort_children(level: Siblings, boxes: list[FlowBox], storage: Bools) -> FlowSorting:
    """Sort the children into flow and aside, and find the remaining cycles; `storage` edges are not flow."""
    hierarchy, edges = level.hierarchy, level.edges
    ops = [box.op for box in boxes]
    sorting = _start_sorting(boxes, edges.source[~storage], edges.target[~storage], [op in VARIABLE_OPS for op in ops])
    sorting.away.update(child for child, op in enumerate(ops) if op in GROUP_OPS)
    sorting.back.extend(loop_closing_edges(ops, sorting.before, sorting.after))
    # No folds exist yet: these are requested series.
    _break_flow_cycles(sorting, lambda child: bool(hierarchy.kind[boxes[child].row] == SERIES_ROW))
    sorting.set_storage_aside(edges.source[storage].tolist(), edges.target[edges.store & storage].tolist())
    sorting.set_unconnected_aside()
    return sorting


def _make_child_boxes(level: Siblings, symbols: SymbolTable) -> list[FlowBox]:
    """Return children as boxes; ops of one type and scopes of one structure have equal symbols."""
    hierarchy, rows = level.hierarchy, np.array(level.rows)
    types, total = hierarchy.graph.op_types, hierarchy.op_prefix_sum
    ops = (total[hierarchy.end[rows]] - total[rows]).tolist()
    node = hierarchy.node[rows]
    op_ids = np.where(node >= 0, hierarchy.graph.op[node], -1).tolist()
    boxes = []
    number: dict[int, int] = {}  # by op type
    for label, row, op, template, size in zip(
        level.labels, level.rows, op_ids, hierarchy.template[rows].tolist(), ops, strict=True
    ):
        if op >= 0:
            if op not in number:
                number[op] = symbols.symbol_of("op", types[op])
            boxes.append(FlowBox(label, number[op], size, row, op=types[op]))
        else:
            symbol = symbols.symbol_of("scope", template) if template >= 0 else symbols.symbol_of("row", row)
            boxes.append(FlowBox(label, symbol, size, row, scope=True))
    return boxes


# Boxes off the main flow are folded if a level is too wide.
#
# Boxes that depend on nothing in the flow become one box before it; boxes that feed nothing in it, one box after it.
# Neither can close a cycle.

MIN_ASIDE_BOXES = 3  # boxes that are worth a group


def fold_boxes_aside(
    aside: list[int], boxes: Sequence[FlowBox], edges: ChildEdges, context: FoldContext
) -> list[FlowBox]:
    """Fold the boxes off the flow; `aside` are positions of children, `edges` all data edges of the level."""
    early, late = _split_early_late(aside, edges)
    folded = [boxes[child] for child in aside if child not in early and child not in late]
    for members in (sorted(early), sorted(late)):
        if len(members) < MIN_ASIDE_BOXES:
            folded += [boxes[child] for child in members]
            continue
        inside = _fold_as_level(members, boxes, edges, context)
        symbol = context.symbols.symbol_of("aside", *sorted(boxes[child].symbol for child in members))
        folded.append(inside[0] if len(inside) == 1 else make_group(GroupOrigin.SEGMENT, inside, symbol))
    return narrow_to_limit(folded, context, context.most) if total_child_count(folded) > context.most else folded


def _split_early_late(aside: list[int], edges: ChildEdges) -> tuple[set[int], set[int]]:
    """Return the boxes of `aside` that depend on no others, and those of the rest that feed no others."""
    pairs = list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    # With reversed edges: boxes that no edge enters from outside.
    early = _closed_subset(set(aside), [(target, source) for source, target in pairs])
    late = _closed_subset(set(aside) - early, pairs)
    return early, late


def _closed_subset(within: set[int], pairs: list[tuple[int, int]]) -> set[int]:
    """Return the largest part of `within` that no pair leads out of."""
    arriving: dict[int, list[int]] = {}
    for start, stop in pairs:
        arriving.setdefault(stop, []).append(start)
    # Drop all boxes that lead outside, by a backward search.
    kept = set(within)
    todo = [stop for stop in arriving if stop not in kept]
    while todo:
        for start in arriving.get(todo.pop(), ()):
            if start in kept:
                kept.discard(start)
                todo.append(start)
    return kept


def _fold_as_level(
    members: list[int], boxes: Sequence[FlowBox], edges: ChildEdges, context: FoldContext
) -> list[FlowBox]:
    """Fold some children as a level by themselves, storage edges included."""
    place = {child: spot for spot, child in enumerate(members)}
    before: list[dict[int, None]] = [{} for _ in members]
    for source, target in zip(edges.source.tolist(), edges.target.tolist(), strict=True):
        if source in place and target in place:
            before[place[target]][place[source]] = None
    after: list[list[int]] = [[] for _ in members]
    for target, sources in enumerate(before):
        for source in sources:
            after[source].append(target)
    here = [boxes[child] for child in members]
    # Storage edges, which were not flow so far, may close cycles.
    rings = [(ring, _make_loop_box([here[child] for child in ring], context.symbols)) for ring in find_cycles(after)]
    return fold_dag(
        contract_groups(make_dag(here, [list(sources) for sources in before]), rings), context, context.soft
    )
