"""Describe differences of weights and constants in the words of the program: `units 32 → 64`, `rate 0.1 → 0.5`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cache
from math import isclose, sqrt
from typing import Any

from graphviz_tb.diff.changes.attributes import Difference
from graphviz_tb.diff.changes.called import DIVISION_KEYS, FILTERS, UNITS, layer_division, shaped_width
from graphviz_tb.diff.changes.places import other_places, setting_part, unite_changes
from graphviz_tb.diff.changes.witnesses import Witnesses
from graphviz_tb.diff.columns.layers import INNER_SCOPE, SHAPE_PLUMBING, Layers
from graphviz_tb.diff.columns.values import COUNTER_AT_END
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.interpret.layer_classes import infer_recurrent_layer
from graphviz_tb.model.change import Change, NodeEdits, Severity
from graphviz_tb.model.change_content import Setting, SettingPart, Sides
from graphviz_tb.model.columns import exists
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.layers import is_module
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.tensors import Shape
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.roles import (
    CONSTANT_OPS,
    EMBEDDING_OPS,
    SIZE_ARITHMETIC_OPS,
    VARIABLE_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.signatures import (
    TENSORFLOW_LAYOUT,
    is_size_input,
    kernel_layout,
    kernel_sizes,
    kernel_transpose_attribute,
)
from graphviz_tb.ops.table import has_framework

# Shapes of weights: a variable or frozen weight with another shape is a change of the layer that owns it.

Atom = tuple[int, int, Difference]  # old node, new node, their difference
ValueChange = tuple[int, str, str, str]  # score, setting, old value, new value; the greatest score names the change
WeightSettings = tuple[ValueChange, list[tuple[str, str, str]]]  # the setting that names the change, and the others
BothOps = tuple[Sequence[str], Sequence[str]]  # the types of the ops that use the weights of a layer, before and after

TRANSPOSED_PRODUCT = "aten::linear"  # a product with a kernel of outputs×inputs
TRANSPOSED_KERNEL = "tfl::CONV_3D_TRANSPOSE"  # its kernel is window×outputs×inputs
FOLLOWING_SCORE = 0  # of a difference that may follow from another change


def is_weight(m: Matching, new: int, difference: Difference) -> bool:
    if difference.key in ("weight", "value shape") and difference.attribute != "weight":
        return True
    return difference.key == "shape" and m.b.op_type(new) in VARIABLE_READ_OPS | VARIABLE_OPS


def weight_changes(m: Matching, atoms: Sequence[Atom], witnesses: Witnesses) -> list[tuple[int, Change, bool]]:
    """Return one change for each layer: its block, the change, and whether it may only follow from another one."""
    groups: dict[tuple[int, int, bool], list[Atom]] = defaultdict(list)
    for atom in atoms:
        follows = not m.layers[1].forward[atom[1]] and witnesses.value_follows(*atom)
        groups[int(m.b.block[atom[1]]), m.layers[1].layer_of_node(atom[1]), follows].append(atom)
    found = []
    settings = cache(_weight_settings)  # thousands of layers may have the same weights
    for (block, layer, proven), members in groups.items():
        change, follows = _layer_weight_change(m.layers, layer, members, settings)
        found.append((block, change, proven or follows))
    return found


def _layer_weight_change(
    layers: tuple[Layers, Layers], layer: int, members: list[Atom], settings: Callable[..., WeightSettings]
) -> tuple[Change, bool]:
    # The kernel may now belong to another op, whose axes have another order.
    weights_by_side = zip(layers, zip(*((old, new) for old, new, _ in members), strict=True), strict=True)
    user_types = [
        [_product_type(side.side.graph, side.first_user(weight, SHAPE_PLUMBING)) for weight in weights]
        for side, weights in weights_by_side
    ]
    old_ops, new_ops = (tuple(_telling_ops(types)) for types in user_types)
    # A constant and its reads differ in keys of their own.
    counts = Counter((str(each.old), str(each.new), each.key) for *_, each in members)
    shapes = sorted({(old, new) for old, new, _ in counts}, key=lambda pair: (-pair[0].count("×"), pair))
    # In exported programs the gates of a recurrent layer are rows of its weights.
    has_gates = any(has_framework(op) and has_role(op, Role.RECURRENT) for op in user_types[1])
    written_shapes = tuple((_in_columns(old), _in_columns(new)) if has_gates else (old, new) for old, new in shapes)
    once = frozenset(shapes) - {(old, new) for (old, new, _), count in counts.items() if count > 1}
    (score, key, old, new), further = settings((old_ops, new_ops), written_shapes, once)
    places = layers[0].name_around(members[0][0]), layers[1].name(layer)
    weights = tuple(Sides(*pair) for pair in shapes)
    beside = tuple(SettingPart(places[1], *each) for each in further)
    content = Setting(key, old, new, weights=weights, beside=beside)
    edits = NodeEdits(
        attributes=tuple((mine, other, difference.attribute or difference.key) for mine, other, difference in members)
    )
    nodes = len({other for _, other, _ in members})
    severity: Severity = "op" if key == "op" else "attribute"
    follows = score == FOLLOWING_SCORE and not _is_other_row_count(layers, members)
    return Change("changed", severity, *places, nodes, content, edits=edits), follows


def _is_other_row_count(layers: tuple[Layers, Layers], atoms: Sequence[Atom]) -> bool:
    """Return whether the rows of a weight changed although the inputs of its user did not: a longer table, more
    groups."""
    users = set()
    for *nodes, difference in atoms:
        old, new = (str(shape).split("×") for shape in (difference.old, difference.new))
        if len(old) == len(new) > 1 and old[-1] == new[-1]:
            pair = [side.first_user(node, SHAPE_PLUMBING) for side, node in zip(layers, nodes, strict=True)]
            if pair[0] != nodes[0] and pair[1] != nodes[1]:
                users.add((pair[0], pair[1]))
    return any(_has_equal_inputs(layers, pair) for pair in users)


def _has_equal_inputs(layers: tuple[Layers, Layers], users: tuple[int, int]) -> bool:
    """Return whether the first inputs of two ops, without weights and constants, have equal known shapes, or neither op
    has such an input."""
    inputs: list[list[Shape]] = []
    for side, user in zip((each.side for each in layers), users, strict=True):
        not_constant = (each for each in side.data_sources(user) if side.op_type(each) not in CONSTANT_OPS)
        data = [each for each in not_constant if side.graph.meaning.origin[each] < 0]
        inputs.append([side.tensors.tensors_of_node(each)("0").shape for each in data[:1]])
    known = all(shape and None not in shape[1:] for shapes in inputs for shape in shapes)
    return known and inputs[0] == inputs[1]


def _weight_settings(
    ops: BothOps, shapes: Sequence[tuple[str, str]], once: Set[tuple[str, str]] = frozenset()
) -> WeightSettings:
    """Return the setting with the greatest score among all weights of a layer, and its other settings. One weight has
    each of the shapes `once`."""
    heads, by_weight = _attention_settings(shapes, once), [_weight_words(ops[1], *pair, ops[0]) for pair in shapes]
    first = max([*(settings[0] for settings in by_weight), *heads, *_recurrent_settings(shapes)])
    further = [*heads, *(setting for _, *others in by_weight for setting in others)]
    return first, list(dict.fromkeys(setting[1:] for setting in further if setting[1] != first[1]))


def _attention_settings(
    shapes: Sequence[tuple[str, str]], once: Set[tuple[str, str]] = frozenset()
) -> list[ValueChange]:
    """Infer settings of a multi-head attention from its weights: width×heads×key for queries, heads×key×width for
    results. If one weight alone has other keys, these are the values.

    >>> _attention_settings([("32×4×8", "32×2×8"), ("4×8×32", "2×8×32")]), _attention_settings([("3×3×16", "5×5×16")])
    ([(4, 'num_heads', '4', '2')], [])
    """
    new_axes = {
        tuple(old.split("×")): tuple(new.split("×")) for old, new in shapes if old.count("×") == new.count("×") == 2
    }
    settings: list[ValueChange] = []
    for old, new in new_axes.items():
        if new_axes.get((*old[1:], old[0])) == (*new[1:], new[0]):
            settings += [(4, "num_heads", old[1], new[1])] if old[1] != new[1] else []
            resized = [pair for pair in new_axes.items() if (pair[0][2], pair[1][2]) == (old[2], new[2])]
            of_values = len(resized) == 1 and ("×".join(old), "×".join(new)) in once
            key = "value_dim" if of_values else "key_dim"
            settings += [(3, key, old[2], new[2])] if old[2] != new[2] else []
    return settings


def _recurrent_settings(shapes: Sequence[tuple[str, str]]) -> list[ValueChange]:
    """Infer `units` of a recurrent layer from its weights: a GRU has units×3·units and in×3·units, an LSTM 4·units.

    >>> _recurrent_settings([("16×36", "16×84"), ("12×36", "28×84")]), _recurrent_settings([("12×36", "28×84")])
    ([(4, 'units', '12', '28')], [])
    >>> _recurrent_settings([("8×32", "12×48"), ("8×32", "8×48")])  # as many inputs as units
    [(4, 'units', '8', '12')]
    >>> _recurrent_settings([("16×96", "16×128"), ("32×96", "32×128")])  # three gates of 32, and four
    [(5, 'op', 'GRU', 'LSTM')]
    """
    shape_pairs = [
        (tuple(map(int, old.split("×"))), tuple(map(int, new.split("×"))))
        for old, new in shapes
        if old.replace("×", "").isdecimal() and new.replace("×", "").isdecimal() and old.count("×") == 1
    ]
    kind, units = infer_recurrent_layer(old for old, _ in shape_pairs)
    new_layers = (infer_recurrent_layer((new, new)) for old, new in shape_pairs if old[0] == units)
    new_kind, new_units = next(filter(all, new_layers), ("", 0))
    if not kind or not new_kind or (kind, units) == (new_kind, new_units):
        return []
    if kind == new_kind:
        return [(4, "units", str(units), str(new_units))]
    # With equal units, another number of columns is another number of gates.
    return [(5, "op", kind, new_kind)] if units == new_units else []


def _telling_ops(ops: Iterable[str]) -> list[str]:
    """Return the op types that decide `_weight_words`: the first convolution, the first embedding, and the first op
    with another order of kernel axes, as far as there are any."""
    ops = set(ops)
    found = (
        next((op for op in sorted(ops) if each(op)), None)
        for each in (_is_convolution, EMBEDDING_OPS.__contains__, _has_other_layout)
    )
    return [op for op in found if op is not None]


def _product_type(graph: Graph, node: int) -> str:
    """Return the type of an op; for one that transposes its kernel, a type whose kernel has outputs before inputs."""
    op, definition = graph.op_types[graph.op[node]], graph.node_def(node)
    if has_role(op, Role.TRANSPOSED_CONVOLUTION) and not has_framework(op):
        return TRANSPOSED_KERNEL
    turning = kernel_transpose_attribute(op)
    turned = attr_value(definition, turning) if turning and definition is not None else None
    return TRANSPOSED_PRODUCT if turned is not None and turned.i | turned.b else op


def _in_columns(shape: str) -> str:
    """Return the shape of a weight with gates in rows as TensorFlow writes it, with gates in columns.

    >>> _in_columns("1×64×16"), _in_columns("64×16"), _in_columns("1×128")
    ('16×64', '16×64', '128')
    """
    *_, rows, columns = shape.split("×") if "×" in shape else ("1", shape)
    return columns if rows == "1" else f"{columns}×{rows}"


def _has_other_layout(op: str) -> bool:
    """Return whether the kernel of an op has an order of axes other than TensorFlow's."""
    return kernel_layout(op) != TENSORFLOW_LAYOUT


def _kernel_axes(ops: Iterable[str], shape: str) -> list[str]:
    """Return the sizes of a weight in the order of TensorFlow: window, inputs, outputs.

    >>> _kernel_axes(["aten::conv2d"], "64×3×7×7"), _kernel_axes(["MatMul"], "3×64")
    (['7', '7', '3', '64'], ['3', '64'])
    """
    sizes = shape.split("×")
    op = next(filter(_has_other_layout, ops), None)
    if op is None or len(sizes) < 2 or not all(map(str.isdecimal, sizes)):
        return sizes
    outputs, inputs, window = kernel_sizes(op, [int(size) for size in sizes])
    return [str(size) for size in (*window, inputs, outputs)]


def _is_convolution(op: str) -> bool:
    layer = has_layer_role(op, LayerRole.CONVOLUTION)
    return layer or has_role(op, Role.CONVOLUTION, Role.TRANSPOSED_CONVOLUTION)


def _weight_words(ops: Sequence[str], old: str, new: str, ops_before: Sequence[str] = ()) -> list[ValueChange]:
    """Return a difference of weight shapes as settings of the program, the greatest score first.

    `ops` use the weight now, `ops_before` used it.

    >>> _weight_words(["Conv2D"], "3×3×16×32", "5×5×16×64"), _weight_words(["MatMul"], "32×64", "32×128")
    ([(3, 'kernel', '3×3', '5×5'), (2, 'filters', '32', '64')], [(2, 'units', '64', '128')])
    >>> _weight_words(["Split"], "3×3×16×32", "5×5×16×32")  # in a recurrent layer of convolutions
    [(3, 'kernel', '3×3', '5×5')]
    >>> _weight_words(["MatMul"], "64×10", "128×10"), _weight_words(["Mul"], "1×1×64", "1×1×128")
    ([(0, 'weight', '64×10', '128×10')], [(0, 'weight', '1×1×64', '1×1×128')])
    """
    before, after = _kernel_axes(ops_before or ops, old), _kernel_axes(ops, new)
    if len(before) != len(after):
        return [(1, "weight", old, new)]
    settings: list[ValueChange] = []
    is_kernel = any(map(_is_convolution, ops)) or (len(before) >= 4 and before[-2:] == after[-2:])
    if is_kernel and len(before) >= 3:
        settings = [(3, "kernel", "×".join(before[:-2]), "×".join(after[:-2])), (2, "filters", before[-1], after[-1])]
    elif len(before) == 2:
        is_table = any(op in EMBEDDING_OPS for op in ops)
        settings = [(2, "output_dim" if is_table else "units", before[1], after[1])]
        settings += [(2, "input_dim", before[0], after[0])] if is_table else []
    # Another number of inputs, or of channels of a vector, may follow from another layer.
    is_telling = before[-1] != after[-1] and not {*before[:-1], *after[:-1]} <= {"1"}
    return [setting for setting in settings if setting[2] != setting[3]] or [(int(is_telling), "weight", old, new)]


# Names of settings that are constants in programs: by scope, op type, input, and an op that uses the result.
NORMALIZING = r"norm(?!al(?!i))"  # random_normal draws numbers
SETTING_TERMS = (
    (re.compile(r"dropout"), "GreaterEqual", 1, re.compile(""), "rate"),
    (re.compile(r"dropout"), "Mul", 1, re.compile(""), "scale"),
    (re.compile(NORMALIZING, re.IGNORECASE), "AddV2", 1, re.compile(""), "epsilon"),
    (re.compile(r""), "AddV2", 1, re.compile("R?[Ss]qrt$"), "epsilon"),
    (re.compile(rf"{NORMALIZING}|bn(?:_|/|$)", re.IGNORECASE), "Mul", 1, re.compile(r"AddV2|^Assign"), "momentum"),
    (re.compile(r"adam|lamb|lion", re.IGNORECASE), "Pow", 0, re.compile(""), "beta"),
    # The shape of the result of a dense layer with more than two dimensions: leading sizes, and units.
    (re.compile(r"/Tensordot/"), "ConcatV2", 1, re.compile("^Reshape$"), UNITS),
)
SETTING_WORDS = frozenset(word for *_, word in SETTING_TERMS)


def _is_whole(value: Any) -> bool:
    """Return whether a setting is an integer or a list of integers."""
    numbers = value if isinstance(value, list) else [value]
    return all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)


def setting_changes(m: Matching, atoms: Sequence[Atom], witnesses: Witnesses) -> list[tuple[int, Change, bool]]:
    """Return one change for each (setting, old, new) in each layer, and one in all derived ops: its block, the change,
    and whether it may only follow from another change."""
    groups: dict[tuple[object, ...], list[tuple[Atom, int, int, bool]]] = defaultdict(list)
    for old_node, new_node, found in atoms:
        user, slot = _constant_user(m.layers[1], new_node)
        word = _setting_term(m, new_node, user, slot)
        op, is_forward = m.b.op_type(user), m.layers[1].forward[user]
        is_whole = _is_whole(found.old) and _is_whole(found.new)
        is_size = word != UNITS and (is_size_input(op, slot) or (is_whole and op in SIZE_ARITHMETIC_OPS))
        users = _constant_user(m.layers[0], old_node)[0], user
        sizes = witnesses.incoming_sizes(users, (old_node, new_node)) if is_size and is_forward else frozenset()
        shape_user, shapes = _shape_of_difference(m, users, found)
        difference = found
        if is_forward and (divided := layer_division(m.layers[1], shape_user, *shapes, sizes)):
            if shape_user == user or divided[1:] == (found.old, found.new):
                word, before, after = divided
                difference = replace(found, old=before, new=after)
            else:  # the quotient of the divided axis
                sizes |= {(found.old, found.new)}
        layer, follows = m.layers[1].layer_of_node(user) if is_forward else None, False
        if layer is None:
            follows = witnesses.value_follows(old_node, new_node, difference)
        elif is_size and word not in DIVISION_KEYS:
            old, new = difference.old, difference.new
            follows = witnesses.is_size(old, new, sizes)
            width = None if follows else shaped_width(m.layers[1], user, old, new)
            if width and witnesses.is_size(old, new, sizes | {width[1:]}):
                # The rest of the shape follows from known sizes: only the width is a setting.
                word, difference = width[0], replace(difference, old=str(width[1]), new=str(width[2]))
        values = repr((difference.old, difference.new))
        key = (int(m.b.block[new_node]), COUNTER_AT_END.sub("", word), values, layer, follows)
        groups[key].append(((old_node, new_node, difference), user, slot, follows))
    return [
        (
            int(m.b.block[members[0][0][1]]),
            _setting_change(m.layers, str(key[1]), members),
            all(follows for *_, follows in members),
        )
        for key, members in groups.items()
    ]


def _shape_of_difference(m: Matching, users: tuple[int, int], found: Difference) -> tuple[int, tuple[Any, Any]]:
    """Return the new op that uses the shape which a constant is, or is an element of, and the old and the new shape; -1
    for computed sizes."""
    takers = set(m.b.data_users(users[1])) if m.b.op_type(users[1]) == "Pack" else set()
    if len(takers) != 1:
        return users[1], (found.old, found.new)
    old, new = (
        [-1 if (size := side.constant_numbers(source)) is None else size for source in side.data_sources(user)]
        for side, user in zip((m.a, m.b), users, strict=True)
    )
    return takers.pop(), (old, new)


def _setting_change(layers: tuple[Layers, Layers], word: str, members: list[tuple[Atom, int, int, bool]]) -> Change:
    first = members[0][0][2]
    named = word in SETTING_WORDS | DIVISION_KEYS
    ends = [(_constant_user(layers[0], old)[0], user) for (old, _, _), user, *_ in members]
    places = sorted({(_setting_scope(layers[0], a, named), _setting_scope(layers[1], b, named)) for a, b in ends})
    old, new = (_single_value(value) if word in (UNITS, FILTERS) else value for value in (first.old, first.new))
    content = Setting(word, old, new, constant=True)
    edits = NodeEdits(attributes=tuple((old, new, "value") for (old, new, _), *_ in members))
    return Change("changed", "attribute", *places[0], len(members), content, tuple(places[1:]), edits=edits)


def _single_value(value: Any) -> Any:
    """Return the only element of a list as text; anything else unchanged."""
    return str(value[0]) if isinstance(value, list) and len(value) == 1 else value


def _setting_scope(layers: Layers, node: int, is_argument: bool) -> str:
    """Return the name of the op that has a setting; for an argument in the program, the scope of its layer: `drop` for
    `drop/stateless_dropout/GreaterEqual`."""
    scopes = layers.side.scopes
    row, layer = int(scopes.of_node[node]), layers.layer_of_node(node)
    if not is_argument or not exists(layer):
        return layers.side.graph.name[node]
    return scopes.name[int(scopes.parent[row]) if row != layer and INNER_SCOPE.match(scopes.leaf[row]) else row]


def _constant_user(layers: Layers, node: int) -> tuple[int, int]:
    """Return the op that uses a constant, and the slot: an op of the model if there is one, the first by name; (node,
    -1) without users."""
    graph = layers.side.graph
    edges = layers.side.out_edges(node)
    edges = edges[~graph.control[edges]]

    def rank(edge: int) -> tuple[bool, str, int]:
        user = graph.target[edge]
        return not layers.forward[user], graph.name[user], int(graph.slot[edge])

    first = min(edges.tolist(), key=rank, default=None)
    return (node, -1) if first is None else (int(graph.target[first]), int(graph.slot[first]))


def _setting_term(m: Matching, new: int, user: int, slot: int) -> str:
    """Return the name of a setting in programs if known, else the last segment of the constant's name."""
    graph = m.b.graph
    name, op = graph.name[user], graph.op_types[graph.op[user]]
    for scope, kind, place, then, word in SETTING_TERMS:
        if op == kind and slot == place and scope.search(name):
            behind = (graph.op_types[number] for number in graph.op[graph.target[m.b.out_edges(user)]].tolist())
            if any(map(then.search, behind)):
                return word
    return m.b.scopes.node_leaf[new]


# One number of a program may be at several places of a block. Changes in the same blocks are merged if their factors
# are related: equal, inverse, or one the square root of the other.
#
# attention/q   units 32 → 64         the factor 2
# attention/mul y 0.354 → 0.25        the factor 1/√2: the head size changed from 8 to 16

WIDTH_KEYS = frozenset({"units", "filters", "output_dim", "num_heads", "key_dim", "value_dim"})
# Settings that repeat a size of the input: the groups of a depthwise convolution, the axes of a norm.
INPUT_SIZE_KEYS = frozenset({"groups", "group", "normalized_shape"})
TENSOR_TEXT = re.compile(r"^tensor\(([-+.e0-9]+)(?:, .*)?\)$")
OPERAND = "other"  # PyTorch's name of the number that it adds or multiplies by
MIN_WIDTHS_OF_MODEL = 3  # so many widths with one factor are the width of the whole model
FACTOR_TOLERANCE = 1e-3  # relative: constants are rounded to float32


def _common_factor(widths: Iterable[tuple[Change, float]]) -> float:
    """Return the factor that many changed widths of PyTorch modules have in common; 0 if there is none."""
    modules = [(change, factor) for change, factor in widths if is_module(last_segment(change.name))]
    factors = [factor for change, factor in modules for _ in range(change.place_count)]
    for factor in factors:
        if sum(isclose(factor, each, rel_tol=FACTOR_TOLERANCE) for each in factors) >= MIN_WIDTHS_OF_MODEL:
            return factor
    return 0.0


def merge_by_number(causes: Sequence[Change]) -> list[Change]:
    """Merge changes of numbers that are in the same blocks and changed by related factors, each into the first."""
    groups: dict[int, list[Change]] = {}
    leaders: list[tuple[int, frozenset[str], float]] = []
    first_by_width: dict[tuple[str, str], int] = {}  # the first change of each old and new width
    group_by_width: dict[tuple[str, str], int] = {}  # also widths of merged changes
    numbers = [
        (number, change, change.setting, factor)
        for number, change in enumerate(causes)
        if change.setting and (factor := _factor(change, change.setting))
    ]
    common = _common_factor((change, factor) for _, change, setting, factor in numbers if setting.key in WIDTH_KEYS)
    model_width: int | None = None
    # Widths first: constants and sizes of inputs follow from them.
    ordered = sorted(numbers, key=lambda each: each[2].constant or each[2].key in INPUT_SIZE_KEYS)
    for number, change, setting, factor in ordered:
        blocks, names = _blocks_around(change), frozenset(_place_names(change))
        # A number of heads is at the attention itself, or at its queries, keys and values.
        blocks = names if setting.key == "num_heads" and len(blocks) in (0, len(names)) else blocks
        leaders_around = (
            first for first, around, ratio in leaders if _is_related(factor, ratio) and _is_in_each(change, around)
        )
        leader = next(leaders_around, None)
        if leader is None and common and _is_related(factor, common):
            leader = model_width
        width = str(_single_value(setting.old)), str(_single_value(setting.new))
        if setting.key in INPUT_SIZE_KEYS:
            groups.get(group_by_width.get(width, -1), []).append(change)
            continue
        if leader is None and setting.key in WIDTH_KEYS:
            # One width may have several names: `output_dim` of an embedding, and `units` of a layer that is added to
            # it.
            leader = first_by_width.get(width)
        if setting.key in WIDTH_KEYS:
            group_by_width.setdefault(width, number if leader is None else leader)
        if leader is not None:
            groups[leader].append(change)
            continue
        groups[number] = [change]
        if common and _is_related(factor, common) and model_width is None:
            model_width = number
        if setting.key in WIDTH_KEYS:
            first_by_width[width] = number
        if blocks:
            leaders.append((number, blocks, factor))
    merged = {id(change) for members in groups.values() for change in members[1:]}
    united = [_united_change(groups[number]) if number in groups else change for number, change in enumerate(causes)]
    return [change for change, before in zip(united, causes, strict=True) if id(before) not in merged]


def _factor(change: Change, setting: Setting) -> float:
    """Return the factor by which a width, or a constant of the model, was multiplied; 0 for any other change."""
    if change.severity != "attribute":
        return 0.0
    tensor = isinstance(setting.old, str) and bool(TENSOR_TEXT.match(setting.old))
    tensor |= isinstance(setting.old, float) and setting.key == OPERAND
    if not setting.constant and not tensor and setting.key not in WIDTH_KEYS | INPUT_SIZE_KEYS:
        return 0.0
    # Rates and epsilons are never merged.
    if any(each.key in SETTING_WORDS - WIDTH_KEYS for each in setting.as_parts):
        return 0.0
    factors = {factor for each in setting.as_parts for factor in _ratios(each.old, each.new)}
    first = max(factors, default=0.0)
    return first if all(_is_related(factor, first) for factor in factors) else 0.0


def _ratios(old: Any, new: Any) -> Iterator[float]:
    """Yield the new number divided by the old one; for lists, of the elements that differ; 0 for other values.

    >>> list(_ratios("32", "64")), list(_ratios([0, 4], [0, 8])), list(_ratios("SAME", "VALID"))
    ([2.0], [2.0], [0.0])
    """
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            if before != after:
                yield from _ratios(before, after)
        return
    # PyTorch writes numbers of a trace as tensors.
    old, new = (TENSOR_TEXT.sub(r"\1", value) if isinstance(value, str) else value for value in (old, new))
    try:
        before, after = float(old), float(new)
    except (TypeError, ValueError, OverflowError):
        yield 0.0
        return
    yield after / before if before and 0 < after / before < float("inf") else 0.0


def _is_related(factor: float, other: float) -> bool:
    """Return whether two factors may come from one number: equal, inverse, or one the root of the other.

    >>> _is_related(2, 0.5), _is_related(0.7071068, 2), _is_related(0.5, 0.7071068), _is_related(2, 3)
    (True, True, True, False)
    """
    if not factor or not other:
        return False
    found = (other, sqrt(other), other * other)
    return any(isclose(one, each, rel_tol=FACTOR_TOLERANCE) for one in (factor, 1 / factor) for each in found)


def _place_names(change: Change) -> list[str]:
    return [new if new is not None else old or "" for old, new in change.places]


def _blocks_around(change: Change) -> frozenset[str]:
    """Return the scopes around the places of a change; empty if one of them is the whole model."""
    around = [name.rpartition("/")[0] for name in _place_names(change)]
    blocks = len(set(around)) > 1  # several scopes at the top are blocks, not a model
    return frozenset(around) if all("/" in scope or (scope and blocks) for scope in around) else frozenset()


def _is_in_each(change: Change, around: frozenset[str]) -> bool:
    """Return whether a change is in each of some scopes, and nowhere else."""
    found = set()
    for name in _place_names(change):
        while name and name not in around:
            name = name.rpartition("/")[0]
        if not name:
            return False
        found.add(name)
    return found == around


def _united_change(members: Sequence[Change]) -> Change:
    """Merge changes into one with the name of the first."""
    first, *others = members
    if not others:
        return first
    assert first.setting is not None
    beside = (
        *first.further_settings,
        *map(setting_part, others),
        *(part for other in others for part in other.further_settings),
    )
    also = (*first.also, *(place for place in other_places(others, first) if place not in first.also))
    return unite_changes(first, members, content=replace(first.setting, beside=beside), also=also)
