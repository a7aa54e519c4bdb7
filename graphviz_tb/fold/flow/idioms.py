"""Find ops that a paper draws as one box by their structure: norms, activations, rotary embeddings, attention.

    x ─┬─▶ Square ─▶ Mean ─▶ Add ─▶ Rsqrt ─┐            x ─┬─▶ Slice ─▶ Neg ─┐          ┌─ sin
       └──────────────────────────────────▶ Mul ─▶        ├─▶ Slice ────────▶ Concat ─▶ Mul ─▶ Add ─▶
                                                           └─▶ Mul ──────────────────────────▲
                                                                ▲─ cos

An idiom transforms one tensor and has one end, where all paths through it leave: so it is convex. Inputs that nothing
else uses, such as tables of positions, are part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from functools import lru_cache

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, Dag, FlowBox, contract_groups, make_group, sub_dag
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.names import common_words, join_words
from graphviz_tb.fold.flow.order import box_tokens
from graphviz_tb.graphs.traversal import reachable_from, topological_order, weak_components
from graphviz_tb.model.hierarchy import CELL_ORIGINS, GroupOrigin
from graphviz_tb.ops.roles import (
    ADD_OPS,
    BATCH_PRODUCT_OPS,
    CAST_OPS,
    EMBEDDING_LOOKUP_OPS,
    IDENTITY_OPS,
    INPUT_OPS,
    MULTIPLY_OPS,
    RANGE_OPS,
    REARRANGE_OPS,
    SELECT_OPS,
    UNIT_AXES_OPS,
    VARIANCE_ROOT_OPS,
    Role,
    has_role,
    is_elementwise,
)
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES, plain_op_name

MAX_IDIOM_BOXES = 48
MIN_BOXES_OUTSIDE_IDIOM = 3  # boxes of the level; with fewer, the group around it is the idiom
MAX_SCALING_OPS = 3  # of a norm: subtract the mean, multiply, add
MAX_OPS_BEFORE_MEAN = 4  # cast, square
MAX_BOXES_AFTER_START = (
    8  # after a root: multiply by scale and tensor, subtract the mean, add; after a softmax: cast, drop
)
MAX_SOFTMAX_SCOPE_OPS = 10  # ops of a scope that is a softmax, such as a layer
PASSING_OPS = REARRANGE_OPS | UNIT_AXES_OPS | CAST_OPS | IDENTITY_OPS
ARITHMETIC_OPS = MULTIPLY_OPS | ADD_OPS | PASSING_OPS
# Op types of all frameworks, in small letters and without underscores.
MEAN_TYPES = frozenset(("mean", "reducemean"))
SUBTRACT_TYPES = frozenset(("sub", "subtract", "rsub", "neg", "negative"))
NORM_TYPES = frozenset(
    ("div", "realdiv", "truediv", "square", "pow", "squareddifference", "sqrt", "reciprocal", "stopgradient", "biasadd")
)
SUM_TYPES = frozenset(("sum", "reducesum", "reducesumsquare"))
LENGTH_TYPES = frozenset(("norm", "linalgvectornorm", "reducel2"))
POWER_TYPES = frozenset(("square", "pow", "sqrt", "rsqrt", "reducesumsquare"))
BOUND_TYPES = frozenset(("maximum", "clampmin", "clamp", "clip", "max", "expand", "expandas"))
SPLIT_TYPES = frozenset(
    (
        "slice", "stridedslice", "split", "unsafesplit", "splitv", "splitwithsizes", "unpack", "unbind", "chunk",
        "unsafechunk", "select", "listunpack",
    )
)  # fmt: skip
REPEATING_TYPES = frozenset(("expand", "repeatinterleave"))
JOIN_TYPES = frozenset(("concat", "concatv2", "concatenation", "cat", "pack", "stack"))
SIGMOID_TYPES = frozenset(("sigmoid", "logistic"))
GATE_TYPES = SIGMOID_TYPES | {"tanh", "erf", "erfc"}
COMPLEX_TYPES, FROM_COMPLEX_TYPES = frozenset(("complex", "viewascomplex")), frozenset(("real", "imag", "viewasreal"))
WAVE_TYPES = {"cos", "sin"}
PAIRING_TYPES = frozenset(("pack", "stack", "viewasreal"))
ROTARY_TYPES = SPLIT_TYPES | JOIN_TYPES | COMPLEX_TYPES | FROM_COMPLEX_TYPES | SUBTRACT_TYPES

Finder = Callable[[Dag, FoldContext], Iterator[list[int]]]


def fold_idioms(dag: Dag, context: FoldContext) -> Dag:
    """Fold each norm, activation, rotary embedding, pair of sinusoids and attention of a level to one box."""
    for find, how in FINDERS:
        dag = fold_matches(dag, context, find, how)
    return dag


def fold_matches(dag: Dag, context: FoldContext, find: Finder, how: GroupOrigin) -> Dag:
    """Fold each list of boxes that `find` yields to one box, unless it is nearly the whole level."""
    groups = [
        _make_idiom(dag, members, context, how)
        for members in find(dag, context)
        if len(members) >= MIN_STACK_OPS and len(dag) - len(members) >= MIN_BOXES_OUTSIDE_IDIOM
    ]
    return contract_groups(dag, groups)


def _make_idiom(dag: Dag, members: Sequence[int], context: FoldContext, how: GroupOrigin) -> tuple[list[int], FlowBox]:
    """Return the members of an idiom along the flow, and its box."""
    inner = sub_dag(dag, members)
    order = context.order(inner)
    # The outside inputs of a cell do not matter: the first may use one initial state twice.
    alone = replace(inner, outside=None) if how in CELL_ORIGINS else inner
    symbol = context.symbols.symbol_of(how, *box_tokens(alone, order, context.symbols))
    boxes = [inner.boxes[number] for number in order.line]
    name = join_words(common_words(context.vocabulary, boxes))
    return [members[number] for number in order.line], make_group(how, boxes, symbol, name)


# The boxes between a tensor and an end.


class _Region:
    """A box (`end`) and its ancestors of types that occur in an idiom, nearest first."""

    def __init__(self, dag: Dag, end: int, is_part: Callable[[FlowBox], bool]) -> None:
        self.dag, self.end = dag, end
        found, todo = {end: None}, [end]
        for box in todo:  # grows while it is walked through: nearest boxes first
            for source in dag.before[box]:
                if source not in found and len(found) < MAX_IDIOM_BOXES and is_part(dag.boxes[source]):
                    found[source] = None
                    todo.append(source)
        self.boxes = list(found)

    def derived_from(self, start: int) -> set[int]:
        """Return the boxes on all paths from `start` to the end; empty if a path leaves the region."""
        inside, found, todo = set(self.boxes), set[int](), [start]
        while todo:
            new = inside.intersection(self.dag.after[todo.pop()]) - found - {start}
            found |= new
            todo += sorted(new)
        if self.end not in found or not all(found.issuperset(self.dag.after[box]) for box in found - {self.end}):
            return set()
        return found

    def inputs_of(self, derived: set[int], start: int) -> set[int]:
        """Return the other inputs of boxes derived from `start`."""
        return {source for box in derived for source in self.dag.before[box]} - derived - {start}


def _with_private_sources(
    dag: Dag, members: set[int], start: int, is_part: Callable[[FlowBox], bool], beside: Set[int] = frozenset()
) -> list[int]:
    """Return boxes and their ancestors, except `start`, that nothing else uses; users in `beside` do not count."""
    inside = set(members)
    todo = sorted(inside)
    while todo and len(inside) < MAX_IDIOM_BOXES:
        for source in dag.before[todo.pop()]:
            known = source == start or source in inside
            if not known and inside.issuperset({*dag.after[source]} - beside) and is_part(dag.boxes[source]):
                inside.add(source)
                todo.append(source)
    return sorted(inside)


# Norms.


def _constant_norms(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield each norm whose statistics are weights, such as the batch norms of a trained model.

    Its boxes are ops computed from weights alone, with a root among them, and the ops that scale and shift by the
    result.
    """
    if not any(box.op in VARIANCE_ROOT_OPS for box in dag.boxes):
        return
    inside = [context.widths.is_computed_from_weights(box) for box in dag.boxes]
    pairs = [(source, box) for box, sources in enumerate(dag.before) if inside[box] for source in sources]
    for made in weak_components(len(dag), pairs):
        if any(inside[box] and dag.boxes[box].op in VARIANCE_ROOT_OPS for box in made):
            scaling = _scaling_chain(dag, made, inside)
            if scaling:
                yield sorted([*made, *scaling])


def _scaling_chain(dag: Dag, made: Sequence[int], of_weights: Sequence[bool]) -> list[int]:
    """Return the elementwise ops that scale and shift one tensor by values computed from weights (`made`).

    Empty if other ops use these values, or if the tensor itself is computed from weights (`of_weights`).
    """
    own = set(made)
    users = {user for box in made for user in dag.after[box]} - own
    if not 0 < len(users) <= MAX_SCALING_OPS or not all(is_elementwise(dag.boxes[user].op) for user in users):
        return []
    ends = [user for user in users if not users.intersection(dag.after[user])]
    data = [source for user in users for source in dag.before[user] if source not in own | users]
    if len(ends) != 1 or len(data) > 1 or any(of_weights[source] for source in data):
        return []
    if any(len(dag.after[user]) > 1 for user in users - {*ends}):
        return []
    return sorted(users)


def _norms(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield each norm that computes the statistics of its input: a mean, a root, and the ops that scale and shift."""
    taken: set[int] = set()
    for root, box in enumerate(dag.boxes):
        if box.op in VARIANCE_ROOT_OPS and root not in taken:
            found = _norm_of_root(dag, root, context)
            if found and taken.isdisjoint(found):
                taken.update(found)
                yield found


def _norm_of_root(dag: Dag, root: int, context: FoldContext) -> list[int]:
    """Return the largest norm that contains a root; empty if there is none."""
    best: list[int] = []
    for end in _boxes_behind(dag, root, _is_norm_part):
        if len(dag.before[end]) > 1 or (best and context.widths.parameter_count(dag.boxes[end])):
            best = _norm_before(_Region(dag, end, _is_norm_part), root, context) or best
    return best


def _boxes_behind(dag: Dag, start: int, is_part: Callable[[FlowBox], bool]) -> list[int]:
    """Return the boxes behind a box, nearest first."""
    found, todo = {start: None}, [start]
    for box in todo:
        for user in dag.after[box]:
            if user not in found and len(found) <= MAX_BOXES_AFTER_START and is_part(dag.boxes[user]):
                found[user] = None
                todo.append(user)
    return todo[1:]


def _norm_before(region: _Region, root: int, context: FoldContext) -> list[int]:
    """Return the boxes of the largest norm that ends where a region does; empty if there is none.

    Two paths lead from its input to the end, one of them through a mean and a root.
    """
    dag = region.dag
    means = [box for box in region.boxes if plain_op_name(dag.boxes[box].op) in MEAN_TYPES]
    best: list[int] = []
    for start in dict.fromkeys(start for mean in means for start in _sources_in_line(dag, mean)):
        derived = region.derived_from(start)
        sides = [dag.boxes[box] for box in region.inputs_of(derived, start)]
        parted = root in derived and len(derived.intersection(dag.after[start])) > 1
        if not parted or not all(map(context.widths.is_computed_from_weights, sides)):
            continue
        ways = (derived | {start}).intersection(dag.before[region.end])
        sums = start in ways and dag.boxes[region.end].op in ADD_OPS
        joins = len(ways) > 1 or context.widths.parameter_count(dag.boxes[region.end])
        if joins and not sums and derived.intersection(means) and len(derived) > len(best):
            best = _with_private_sources(dag, derived, start, context.widths.is_computed_from_weights)
    return best


def _sources_in_line(dag: Dag, box: int) -> list[int]:
    """Return the ancestors of a box in a chain of ops with one input each, nearest first."""
    found = [box]
    while len(dag.before[found[-1]]) == 1 and len(found) <= MAX_OPS_BEFORE_MEAN:
        found += dag.before[found[-1]]
    return found[1:]


def _is_norm_part(box: FlowBox) -> bool:
    return bool(box.op) and _is_norm_type(box.op)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def _is_norm_type(op: str) -> bool:
    arithmetic = op in ARITHMETIC_OPS or op in VARIANCE_ROOT_OPS
    return arithmetic or plain_op_name(op) in (MEAN_TYPES | NORM_TYPES | SUBTRACT_TYPES)


# Activations.


def _activations(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield each activation of several ops: the product of a tensor and a function (sigmoid, tanh, erf) of it."""
    taken: set[int] = set()
    for gate, box in enumerate(dag.boxes):
        if plain_op_name(box.op) in GATE_TYPES and gate not in taken:
            members = _activation_of_gate(dag, gate, context)
            if taken.isdisjoint(members):
                taken.update(members)
                yield members


def _activation_of_gate(dag: Dag, gate: int, context: FoldContext) -> list[int]:
    """Return the boxes of the activation around a sigmoid, tanh or erf; empty if there is none."""

    def is_part(box: FlowBox) -> bool:
        known = bool(box.op) and (is_elementwise(box.op) or box.op in IDENTITY_OPS)
        return known and not context.widths.parameter_count(box)

    best: list[int] = []
    for end in _boxes_behind(dag, gate, is_part):
        if best:  # an op that scales the result
            if len(dag.before[end]) > 1 or dag.boxes[end].op not in MULTIPLY_OPS or dag.before[end][0] != best[-1]:
                break
            best = [*best, end]
        elif dag.boxes[end].op in MULTIPLY_OPS and len(dag.before[end]) == 2:
            region = _Region(dag, end, is_part)
            for start in dict.fromkeys(source for box in region.boxes for source in dag.before[box]):
                derived = region.derived_from(start)
                gates = sum(plain_op_name(dag.boxes[box].op) in GATE_TYPES for box in derived)
                is_only_gate = gate in derived and gates == 1 and not _splits_tensor(dag.boxes[start], context)
                if is_only_gate and not region.inputs_of(derived, start):
                    best = [*sorted(derived - {end}), end]
                    break
        if best and len(dag.after[best[-1]]) != 1:
            break
    return best


def _splits_tensor(box: FlowBox, context: FoldContext) -> bool:
    """Return whether a box splits a tensor, so that its users may have different inputs."""
    return any(plain_op_name(op) in SPLIT_TYPES for op in ([box.op] if box.op else context.types.type_counts(box)))


# Unit vectors.


def _unit_vectors(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield each division of a tensor by its L2 norm: the root of the sum of squares, or one op."""
    for measure, box in enumerate(dag.boxes):
        if plain_op_name(box.op) in SUM_TYPES | LENGTH_TYPES and (members := _division_by(dag, measure, context)):
            yield members


def _division_by(dag: Dag, measure: int, context: FoldContext) -> list[int]:
    """Return the boxes that divide a tensor by its L2 norm, which `measure` computes; empty if there is no division."""
    starts = _sources_in_line(dag, measure)
    for end in _boxes_behind(dag, measure, _is_length_part):
        divided = [start for start in starts if start in dag.before[end] and len(dag.before[end]) > 1]
        for start in divided:
            region = _Region(dag, end, _is_length_part)
            derived = region.derived_from(start)
            sides = [dag.boxes[box] for box in region.inputs_of(derived, start)]
            if (
                measure in derived
                and _is_length(dag, derived)
                and all(map(context.widths.is_computed_from_weights, sides))
            ):
                return _with_private_sources(dag, derived, start, context.widths.is_computed_from_weights)
    return []


def _is_length(dag: Dag, derived: set[int]) -> bool:
    """Return whether boxes compute an L2 norm: squares and a root, or one op."""
    kinds = [plain_op_name(dag.boxes[box].op) for box in derived]
    squared = any(dag.boxes[box].op in MULTIPLY_OPS and len(dag.before[box]) == 1 for box in derived)
    steps = squared + sum(kind in POWER_TYPES for kind in kinds)
    return steps > 1 or not LENGTH_TYPES.isdisjoint(kinds)


def _is_length_part(box: FlowBox) -> bool:
    return bool(box.op) and (_is_norm_type(box.op) or plain_op_name(box.op) in SUM_TYPES | LENGTH_TYPES | BOUND_TYPES)


# Rotary embeddings.


def _rotary_embeddings(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield each rotary embedding: the products of a tensor and of its rotated halves or pairs with tables, added."""
    types = {plain_op_name(box.op) for box in dag.boxes if box.op}
    if not types & (JOIN_TYPES | FROM_COMPLEX_TYPES) or not types & (SPLIT_TYPES | COMPLEX_TYPES):
        return
    found: dict[int, list[int]] = {}  # by end
    for end in topological_order(dag.after):
        if _may_end_rotary(dag, end) and (members := _rotary_before(_Region(dag, end, _is_rotary_part), context)):
            found[end] = members
    # Keep the last end of each rotation: splits and joins before it are part of it.
    taken: set[int] = set()
    for members in reversed(found.values()):
        if taken.isdisjoint(members):
            taken.update(members)
            yield members


def _may_end_rotary(dag: Dag, end: int) -> bool:
    """Return whether a rotation may end in a box: a sum, a join of halves, or a reshape of stacked pairs."""
    if dag.boxes[end].op in REARRANGE_OPS:
        return any(_stacks_pairs(dag, source) for source in dag.before[end])
    return dag.boxes[end].op in ADD_OPS or plain_op_name(dag.boxes[end].op) in JOIN_TYPES | FROM_COMPLEX_TYPES


def _stacks_pairs(dag: Dag, box: int) -> bool:
    """Return whether a box joins tensors along a new axis."""
    kind = plain_op_name(dag.boxes[box].op)
    joins = kind in JOIN_TYPES and all(dag.boxes[source].op in UNIT_AXES_OPS for source in dag.before[box])
    return joins or kind in PAIRING_TYPES


def _rotary_before(region: _Region, context: FoldContext) -> list[int]:
    """Return the boxes of a rotation that ends where a region does."""
    dag = region.dag
    parting = [box for box in region.boxes if plain_op_name(dag.boxes[box].op) in SPLIT_TYPES | COMPLEX_TYPES]
    for start in dict.fromkeys(source for box in parting for source in dag.before[box]):
        if _rotates(dag, derived := region.derived_from(start), start):
            return _with_private_sources(dag, derived, start, lambda box: _may_be_table(box, context))
    return []


def _rotates(dag: Dag, derived: set[int], start: int) -> bool:
    """Return whether the boxes between a tensor and an end rotate it.

    Its parts are multiplied by tables that do not depend on it, one part is negated, and the products are added; or the
    product is complex.
    """
    types = Counter(plain_op_name(dag.boxes[box].op) for box in derived)
    products = [box for box in derived if dag.boxes[box].op in MULTIPLY_OPS]
    inside = derived | {start}
    if any(len(inside.intersection(dag.before[box])) > 1 for box in products):
        return False
    others = {box for box in derived if not inside.issuperset(dag.before[box])} - {*products}
    if not all(dag.boxes[box].op in REARRANGE_OPS for box in others):  # whose other input is a shape
        return False
    is_complex_product = types.keys() & COMPLEX_TYPES and types.keys() & FROM_COMPLEX_TYPES and products
    signs = sum(types[kind] for kind in SUBTRACT_TYPES)
    sums = sum(dag.boxes[box].op in ADD_OPS for box in derived)
    joins = sum(types[kind] for kind in JOIN_TYPES)
    parts = sum(len(dag.after[box]) for box in derived if plain_op_name(dag.boxes[box].op) in SPLIT_TYPES)
    return bool(is_complex_product) or bool(len(products) > 1 and signs and sums and joins and parts > 1)


def _is_rotary_part(box: FlowBox) -> bool:
    return bool(box.op) and _is_rotary_type(box.op)


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def _is_rotary_type(op: str) -> bool:
    return op in ARITHMETIC_OPS or plain_op_name(op) in ROTARY_TYPES


def _may_be_table(box: FlowBox, context: FoldContext) -> bool:
    """Return whether a box may compute the tables of a rotation: no program input, and no layer with weights.

    It may pass on stored frequencies.
    """
    # A product without weights counts one parameter.
    few = box.op in PASSING_OPS or context.widths.parameter_count(box) < 2
    return few and box.op not in INPUT_OPS and not box.scope


# Sinusoids.


def _sinusoids(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield the sine and cosine of the same angles, with the ops that compute the angles and join the results."""
    waves: dict[tuple[int, ...], list[int]] = {}
    for number, box in enumerate(dag.boxes):
        if plain_op_name(box.op) in WAVE_TYPES:
            waves.setdefault(tuple(dag.before[number]), []).append(number)
    masks = {number for number, box in enumerate(dag.boxes) if box.how == GroupOrigin.INDEX} if waves else set[int]()
    for sources, ends in waves.items():
        if not sources or {plain_op_name(dag.boxes[end].op) for end in ends} != WAVE_TYPES:
            continue
        members = {*ends, *(box for end in ends for box in _pass_through_chain(dag, end))}
        users = {user for member in members for user in dag.after[member]} - members
        if len(users) == 1 and plain_op_name(dag.boxes[next(iter(users))].op) in JOIN_TYPES:
            members |= users
        others: set[int] = set()
        if masks and context.budget.take(len(dag)):  # a mask may use the same positions
            before = reachable_from(members, dag.before.__getitem__)
            others = masks - before
        yield _with_private_sources(dag, members, -1, lambda box: _may_be_table(box, context), others)


def _pass_through_chain(dag: Dag, box: int) -> list[int]:
    """Return the chain of ops after a box that split, scale or rearrange its result, each the only user of the last."""
    found = [box]
    while len(dag.after[found[-1]]) == 1 and len(found) < MAX_BOXES_AFTER_START:
        user = dag.after[found[-1]][0]
        kind = dag.boxes[user].op
        if len(dag.before[user]) > 1 or not (
            kind in PASSING_OPS or kind in MULTIPLY_OPS or plain_op_name(kind) in SPLIT_TYPES
        ):
            break
        found.append(user)
    return found[1:]


# Positions.


def _positions(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield each lookup of a table by positions (a position bias), with the ops that compute the positions."""

    def is_part(box: FlowBox) -> bool:
        return not box.scope and box.op not in INPUT_OPS and not context.types.maps_channels(box)

    for number, box in enumerate(dag.boxes):
        if box.op in EMBEDDING_LOOKUP_OPS and all(is_part(dag.boxes[source]) for source in dag.before[number]):
            members = _with_private_sources(dag, {number, *_pass_through_chain(dag, number)}, -1, is_part)
            inside = [dag.boxes[member] for member in members]
            counts = any(held.how == GroupOrigin.INDEX or held.op in RANGE_OPS for held in inside)
            if counts and all({*members}.issuperset(dag.before[member]) for member in members):
                yield members


# Attention.


def _attention_scores(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield each attention: the product of queries and keys, its softmax, and the product with the values."""
    softmaxes = [number for number, box in enumerate(dag.boxes) if _is_softmax(box, context)]
    taken: set[int] = set()
    for softmax in softmaxes:
        members = _attention_around(dag, softmax, context)
        if taken.isdisjoint(members):
            taken.update(members)
            yield members


def _fused_attention(dag: Dag, context: FoldContext) -> Iterator[list[int]]:
    """Yield each op that is an attention, with the ops that split and join its heads."""
    for number, box in enumerate(dag.boxes):
        if box.op and has_role(box.op, Role.ATTENTION):
            yield _with_private_sources(dag, {number, *_pass_through_chain(dag, number)}, -1, _splits_heads)


def _splits_heads(box: FlowBox) -> bool:
    """Return whether a box may split queries, keys and values into heads, or repeat those of a group."""
    return box.op in PASSING_OPS or plain_op_name(box.op) in SPLIT_TYPES | REPEATING_TYPES


def _attention_around(dag: Dag, softmax: int, context: FoldContext) -> list[int]:
    """Return the boxes from the product before a softmax to the product after it; empty if there are none."""

    def is_part(box: FlowBox) -> bool:
        return _is_score_part(box, context) or is_plain_product(box, context)

    ends = _boxes_behind(dag, softmax, is_part)
    for end in (box for box in ends if is_plain_product(dag.boxes[box], context)):
        region = _Region(dag, end, is_part)
        for start in region.boxes[1:]:
            if not is_plain_product(dag.boxes[start], context):
                continue
            derived = region.derived_from(start)
            products = sum(is_plain_product(dag.boxes[box], context) for box in derived)
            if softmax in derived and products == 1 and derived.issuperset(dag.after[start]):
                return sorted({start, *derived})
    return []


def is_plain_product(box: FlowBox, context: FoldContext) -> bool:
    """Return whether a box is a product of two tensors without weights: an op, or a scope that also transposes."""
    kinds = context.types.type_counts(box) if box.scope and box.ops <= MAX_SOFTMAX_SCOPE_OPS else Counter([box.op])
    products = sum(count for kind, count in kinds.items() if kind in BATCH_PRODUCT_OPS)
    plain = products == 1 and all(kind in BATCH_PRODUCT_OPS or kind in PASSING_OPS for kind in kinds)
    return plain and context.widths.parameter_count(box) < 2  # a product counts one itself


def _is_softmax(box: FlowBox, context: FoldContext) -> bool:
    kinds = context.types.type_counts(box) if box.scope and box.ops <= MAX_SOFTMAX_SCOPE_OPS else [box.op]
    return any(plain_op_name(op) == "softmax" for op in kinds)


def _is_score_part(box: FlowBox, context: FoldContext) -> bool:
    """Return whether a box may scale, mask, normalize or drop attention scores, or compute their mask."""
    if box.how == GroupOrigin.INDEX or _is_softmax(box, context):
        return True
    if box.op and (is_elementwise(box.op) or box.op in PASSING_OPS):
        return True
    drops = "dropout" in (box.op or box.name).lower() and box.ops <= MAX_SOFTMAX_SCOPE_OPS
    return drops or box.op in SELECT_OPS or plain_op_name(box.op) == "expand"


FINDERS = (
    (_constant_norms, GroupOrigin.NORM),
    (_norms, GroupOrigin.NORM),
    (_activations, GroupOrigin.ACTIVATION),
    (_unit_vectors, GroupOrigin.L2_NORM),
    (_rotary_embeddings, GroupOrigin.ROTARY),
    (_sinusoids, GroupOrigin.SINUSOIDS),
    (_positions, GroupOrigin.POSITIONS),
    (_attention_scores, GroupOrigin.ATTENTION),
    (_fused_attention, GroupOrigin.ATTENTION),
)
