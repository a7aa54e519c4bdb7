"""Shapes of weights: a variable or frozen weight with another shape is a change of the layer that owns it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from graphviz_tb.diff.changes.attributes import Difference
from graphviz_tb.diff.changes.layers import SHAPING, Layers
from graphviz_tb.diff.changes.witnesses import Witnesses
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.interpret.layer_classes import CLASS_BY_GATE_COUNT
from graphviz_tb.model.change import Change, NodeEdits, Severity
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.roles import EMBEDDING_OPS, VARIABLE_OPS, VARIABLE_READ_OPS, Role, has_role

Atom = tuple[int, int, Difference]  # old node, new node, what is different
ValueChange = tuple[int, str, str, str]  # how telling it is, the word, the old and the new value

FOLLOWS = 0  # only what comes in, or one number a channel: it follows from what is before


def is_weight(m: Matching, new: int, difference: Difference) -> bool:
    """Whether a difference is the shape of a weight."""
    if difference.key in ("weight", "value shape") and difference.attribute != "weight":
        return True
    return difference.key == "shape" and m.b.graph.op_types[m.b.graph.op[new]] in VARIABLE_READ_OPS | VARIABLE_OPS


def weight_changes(
    m: Matching, layers: tuple[Layers, Layers], atoms: Sequence[Atom], witnesses: Witnesses
) -> list[tuple[int, Change, bool]]:
    """One change for each layer: its block, the change, and whether it may only follow from another one."""
    groups: dict[tuple[int, int, bool], list[Atom]] = defaultdict(list)
    for atom in atoms:
        follows = not layers[1].forward[atom[1]] and witnesses.value_follows(*atom)
        groups[int(m.b.block[atom[1]]), layers[1].of(atom[1]), follows].append(atom)
    found = []
    for (block, layer, proven), members in groups.items():
        change, follows = _weight_change(m, layers, layer, members)
        found.append((block, change, proven or follows))
    return found


def _weight_change(m: Matching, layers: tuple[Layers, Layers], layer: int, members: list[Atom]) -> tuple[Change, bool]:
    graph = layers[1].side.graph
    ops = telling(graph.op_types[graph.op[layers[1].user(new, SHAPING)]] for _, new, _ in members)
    shapes = sorted(
        {(str(difference.old), str(difference.new)) for *_, difference in members},
        key=lambda pair: (-pair[0].count("×"), pair),
    )
    # The most telling phrase of all weights of the layer; ties go by the word.
    score, key, old, new = max([words(ops, *pair) for pair in shapes] + heads(shapes) + recurrent(shapes))
    names = layers[0].name(layers[0].of(members[0][0])), layers[1].name(layer)
    detail: dict[str, Any] = {
        "key": key,
        "old": old,
        "new": new,
        "weights": [{"old": before, "new": after} for before, after in shapes],
    }
    if beside := beside_first(ops, shapes, key):
        detail["with"] = [{"name": names[1], "key": word, "old": mine, "new": other} for word, mine, other in beside]
    edits = NodeEdits(
        attributes=tuple((mine, other, difference.attribute or difference.key) for mine, other, difference in members)
    )
    nodes = len({other for _, other, _ in members})
    severity: Severity = "op" if key == "op" else "attribute"
    return Change("changed", severity, *names, nodes, detail, edits=edits), score == FOLLOWS


def beside_first(ops: Sequence[str], shapes: Sequence[tuple[str, str]], first: str) -> list[tuple[str, str, str]]:
    """The other settings that the shapes of a layer's weights show: each dimension that a program sets is one.

    >>> beside_first(["Conv2D"], [("3×3×8×8", "5×5×8×12"), ("8", "12")], "kernel")
    [('filters', '8', '12')]
    >>> beside_first(["Conv2D"], [("3×3×8×8", "5×5×8×8")], "kernel")
    []
    """
    found = [(key, old, new) for _, key, old, new in heads(shapes)]
    for old, new in shapes:
        before, after = old.split("×"), new.split("×")
        _, key, *_ = words(ops, old, new)
        if key == "kernel" and before[-1] != after[-1]:
            found.append(("filters", before[-1], after[-1]))
        if key == "output_dim" and before[0] != after[0]:
            found.append(("input_dim", before[0], after[0]))
    return [each for each in dict.fromkeys(found) if each[0] != first]


def heads(shapes: Sequence[tuple[str, str]]) -> list[ValueChange]:
    """Infer settings of a multi-head attention from its weights: queries are width×heads×key, results heads×key×width.

    >>> heads([("32×4×8", "32×2×8"), ("4×8×32", "2×8×32")]), heads([("3×3×16", "5×5×16")])
    ([(4, 'num_heads', '4', '2')], [])
    """
    known = {
        tuple(old.split("×")): tuple(new.split("×")) for old, new in shapes if old.count("×") == new.count("×") == 2
    }
    phrases: list[ValueChange] = []
    for old, new in known.items():
        # width×heads×key is there as heads×key×width too, before and after: queries and results.
        if known.get((*old[1:], old[0])) == (*new[1:], new[0]):
            phrases += [(4, "num_heads", old[1], new[1])] if old[1] != new[1] else []
            phrases += [(3, "key_dim", old[2], new[2])] if old[2] != new[2] else []
    return phrases


def recurrent(shapes: Sequence[tuple[str, str]]) -> list[ValueChange]:
    """Infer `units` of a recurrent layer from its weights: a GRU has units×3·units and in×3·units, an LSTM 4·units.

    >>> recurrent([("16×36", "16×84"), ("12×36", "28×84")]), recurrent([("12×36", "28×84")])
    ([(4, 'units', '12', '28')], [])
    >>> recurrent([("16×96", "16×128"), ("32×96", "32×128")])  # three gates of 32, and four
    [(5, 'op', 'GRU', 'LSTM')]
    """
    known = [
        (tuple(map(int, old.split("×"))), tuple(map(int, new.split("×"))))
        for old, new in shapes
        if old.replace("×", "").isdecimal() and new.replace("×", "").isdecimal() and old.count("×") == 1
    ]
    phrases: list[ValueChange] = []
    columns = Counter(shape[1] for shape in {old for old, _ in known})
    for old, new in known:
        # The input kernel has as many columns as the recurrent one: gates × units.
        for gates in CLASS_BY_GATE_COUNT if columns[old[1]] > 1 and len(new) == 2 else ():
            if old[1] == gates * old[0] and new[1] == gates * new[0] and old != new:
                phrases.append((4, "units", str(old[0]), str(new[0])))
        kinds = [gated(shape) if len(shape) == 2 else None for shape in (old, new)]
        # Both matrices have other columns: another number of gates, or other inputs by chance.
        if columns[old[1]] > 1 and None not in kinds and kinds[0] != kinds[1]:
            phrases += [(5, "op", str(kinds[0]), str(kinds[1]))] if old[0] == new[0] else []
    return phrases


def gated(shape: tuple[int, ...]) -> str | None:
    """The kind of recurrent layer whose recurrent matrix has such a shape; None for none.

    >>> gated((32, 96)), gated((32, 128)), gated((32, 32))
    ('GRU', 'LSTM', None)
    """
    return CLASS_BY_GATE_COUNT.get(shape[1] // shape[0]) if shape[0] and not shape[1] % shape[0] else None


def telling(ops: Iterable[str]) -> list[str]:
    """Of op types as much as `words` asks for: one of a convolution, one of an embedding."""
    ops = set(ops)
    found = (
        next((op for op in sorted(ops) if each(op)), None) for each in (is_convolution, EMBEDDING_OPS.__contains__)
    )
    return [op for op in found if op is not None]


def is_convolution(op: str) -> bool:
    """Whether an op, or a layer, is a convolution."""
    layer = has_layer_role(op, LayerRole.CONVOLUTION)
    return layer or has_role(op, Role.CONVOLUTION, Role.TRANSPOSED_CONVOLUTION)


def words(ops: Sequence[str], old: str, new: str) -> ValueChange:
    """A weight's shapes in the words of the program.

    >>> words(["Conv2D"], "3×3×16×32", "5×5×16×32"), words(["MatMul"], "32×64", "32×128")
    ((3, 'kernel', '3×3', '5×5'), (2, 'units', '64', '128'))
    >>> words(["Split"], "3×3×16×32", "5×5×16×32")  # in a recurrent layer of convolutions
    (3, 'kernel', '3×3', '5×5')
    >>> words(["MatMul"], "64×10", "128×10"), words(["Mul"], "64", "128")
    ((0, 'weight', '64×10', '128×10'), (0, 'weight', '64', '128'))
    """
    before, after = old.split("×"), new.split("×")
    if len(before) != len(after):
        return 1, "weight", old, new
    convolution = any(map(is_convolution, ops)) or (len(before) >= 4 and before[-2:] == after[-2:])
    if convolution and len(before) >= 3 and before[:-2] != after[:-2]:
        return 3, "kernel", "×".join(before[:-2]), "×".join(after[:-2])
    if len(before) >= 2 and before[-1] != after[-1]:
        if convolution and len(before) >= 3:
            return 2, "filters", before[-1], after[-1]
        if len(before) == 2:
            return 2, "output_dim" if any(op in EMBEDDING_OPS for op in ops) else "units", before[-1], after[-1]
        return 1, "weight", old, new
    if len(before) == 2 and any(op in EMBEDDING_OPS for op in ops):
        return 2, "input_dim", before[0], after[0]
    return FOLLOWS, "weight", old, new
