"""Titles of groups: from the names of their members if these are meaningful, otherwise from their content.

In this order: the words that all names of the group share, if no further names of the level do; the words that most
names given by people share; a list or range of its groups and layers; for a segment its ends; what it ends in, if
telling; its op types, products first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence, Set
from functools import lru_cache

from graphviz_tb.group.flow.box import FlowBox
from graphviz_tb.group.flow.given import given
from graphviz_tb.group.flow.guard import leaves
from graphviz_tb.group.flow.setting import Setting
from graphviz_tb.group.flow.words import Vocabulary, common, form, lengths, shared, uncounted
from graphviz_tb.group.series import LONGEST_NUMBER
from graphviz_tb.model.hierarchy import Hierarchy, How
from graphviz_tb.ops.layers import LAYER_CLASSES, LayerRole, classes_of
from graphviz_tb.ops.roles import COMMON
from graphviz_tb.ops.table import line_of

PARTS = re.compile(r"[0-9]+|[^\W\d_]+|[\W_]+")  # numbers, words, separators: "block_2" is "block", "_", "2"
RANGE = re.compile(r"\[[0-9]+-[0-9]+\]")
OTHERS = 2  # boxes outside that may begin with the same words
FEW, MOST = 3, 0.8  # members in a title, and the share of ops they need
BETWEEN, AND = " … ", " · "  # between the ends of a stack, and between members
ROOM = 30  # characters: boxes are hardly ever wider
TELLING, PRODUCTS = 3, 2  # op types in a title, and products among them
# Named first in a title: products, then what distinguishes kinds of layers.
WORK = re.compile(
    r"Conv(olution)?[0-9]|MatMul|Einsum|RNN|LSTM|GRU|Dense\Z|Attention|Embedding"
    r"|conv|dense|attention|embedding|rnn|lstm|gru"  # scopes of layers
)
SIGNS = re.compile(r".*Pool(3D)?(V[0-9])?|.*[RS]elu6?|Elu|Erfc?|Tanh|Sigmoid|Resize.*|.*[Nn]orm(alization|V[0-9])?")
NORM = re.compile(r"(?<![^\W\d])[^\W\d]*[Nn]orm(alization|V[0-9])?\b")
# Op types, layers and scopes common to all parts of a network: never in a title.
EVERYWHERE = (
    COMMON
    | classes_of(LayerRole.COMMON)
    | {
        *("add", "multiply", "concatenate", "activation", "dropout", "reshape", "cast"),
    }
)
# Ops that only help to compute the key: a product of any shape needs shapes, a norm needs means.
PLUMBING = {
    "Prod": frozenset(("Prod", "GatherV2", "ConcatV2", "Transpose")),
    "Rsqrt": frozenset(("Mean", "SquaredDifference", "Neg", "StopGradient", "Square")),
}
CENTRED = PLUMBING["Rsqrt"] | {"Sub"}  # with a root these are a norm; an attention's scale is a root alone


def name_groups(boxes: Sequence[FlowBox], setting: Setting, hierarchy: Hierarchy) -> None:
    """Give every group a name, inner ones first."""
    todo = list(boxes)
    order: list[FlowBox] = []
    while todo:
        box = todo.pop()
        order.append(box)
        todo += [*box.members, *box.feeders]
    ranges = {id(part) for box in order if box.stack for part in box.members if part.how == How.SEGMENT}
    human_named: set[int] = set()  # boxes with names given by people
    for box in reversed(order):  # members first
        if box.how == How.NAME and not box.stack:
            box.name = longer(box, setting)
        if box.members and not box.name:
            if box.stack or id(box) in ranges:
                members = [end for member in box.members for end in ends(member, ranges)]
                box.name = of_repetitions(members, setting.vocabulary, hierarchy, human_named)
            else:
                box.name = title(box, setting, hierarchy, human_named)
        if by_people(box, setting.vocabulary, human_named):
            human_named.add(id(box))


def by_people(box: FlowBox, vocabulary: Vocabulary, human_named: Set[int]) -> bool:
    """Return whether a box has a name given by people, not one made of op or layer types."""
    if box.stack:
        return all(id(member) in human_named for member in box.members)
    if AND in box.name or box.how == How.INDEX:
        return False
    return bool(RANGE.search(box.name)) or not given(box.name, box.op, vocabulary)


def ends(box: FlowBox, ranges: Container[int]) -> list[FlowBox]:
    """Return the first and the last repetition in a part of a tall stack; the box itself if it is no such part."""
    first = last = box
    while id(first) in ranges:
        first = first.members[0]
    while id(last) in ranges:
        last = last.members[-1]
    return [first] if first is last else [first, last]


def of_repetitions(
    boxes: Sequence[FlowBox], vocabulary: Vocabulary, hierarchy: Hierarchy, human_named: Set[int]
) -> str:
    """Name a stack; if its repetitions' names have several forms, by the layers they end in, if these have one form."""
    name = stack_name([box.name for box in boxes])
    if BETWEEN in name and all(
        box.members and id(box.last()) in human_named and ends_tellingly(box.last(), vocabulary, hierarchy)
        for box in boxes
    ):
        last = [box.last().name for box in boxes]
        ended = stack_name(last)
        if BETWEEN not in ended:
            for box, title_of_it in zip(boxes, last, strict=True):
                box.name = title_of_it
            return ended
    return name


def longer(box: FlowBox, setting: Setting) -> str:
    """Extend the name of a group by name to all words that its members share: `cross_entropy`, not `cross`."""
    words = "_".join(common(setting.vocabulary, box.members))
    return words if words.startswith(f"{box.name}_") else box.name


def title(box: FlowBox, setting: Setting, hierarchy: Hierarchy, human_named: Set[int]) -> str:
    """Return the title of a group, in the order given at the top of this file.

    `human_named` are the boxes with names given by people, by `id`.
    """
    rows, last = leaves(box), box.last()
    words = common(setting.vocabulary, box.members)
    if words and setting.vocabulary.starting(words) <= len(rows) + OTHERS:
        return "_".join(words)
    if setting.vocabulary.nameless:
        return contents(rows, hierarchy) or last.name
    own = own_words([row for row in rows if id(row) in human_named or of_own_type(row, hierarchy)], setting.vocabulary)
    if own or (own := of_members(box, hierarchy, human_named)):
        return own
    if box.how == How.SEGMENT:
        return f"{box.first().name} → {last.name}"
    telling = id(last) in human_named and ends_tellingly(last, setting.vocabulary, hierarchy)
    return (not telling and contents(rows, hierarchy)) or last.name


def ends_tellingly(last: FlowBox, vocabulary: Vocabulary, hierarchy: Hierarchy) -> bool:
    """Return whether the last box of a group says what the group is: no op of a layer, norm, activation or addition."""
    *around, word = ("", *vocabulary.words(last.name))
    if any(around) and last.op and hierarchy.name[last.row] not in hierarchy.graph.layers:
        return False
    kind = uncounted(word)
    return kind not in EVERYWHERE and not NORM.fullmatch(kind) and not SIGNS.fullmatch(kind)


def own_words(rows: Sequence[FlowBox], vocabulary: Vocabulary) -> str:
    """Return the words that three quarters of the names of some rows begin with, but no further name of the level."""
    count = Counter(words[:end] for row in rows for words in [vocabulary.words(row.name)] for end in lengths(words))
    own = [
        words
        for words, many in count.items()
        if many > 1 and 4 * many >= 3 * len(rows) and many == vocabulary.starting(words)
    ]
    best = max(own, key=lambda words: (count[words], len(words), words), default=())
    return "_".join(best[shared(best, vocabulary.model) :])


def of_own_type(row: FlowBox, hierarchy: Hierarchy) -> bool:
    """Return whether an op or layer has a custom type, so that names of other rows do not describe it."""
    layer = hierarchy.graph.layers.get(hierarchy.name[row.row])
    kind = layer.class_name if layer is not None else row.op
    return bool(kind) and kind not in LAYER_CLASSES and not line_of(kind)


def of_members(box: FlowBox, hierarchy: Hierarchy, human_named: Set[int]) -> str:
    """Title a group by its telling members, "" if there are none.

    The only one if it comes last; the range of their names; else a list of two or three names.
    """
    groups = [member for member in box.members if member.members or member.scope]
    members = [member for member in groups if id(member) in human_named]
    if not members or sum(member.ops for member in members) < MOST * box.ops:
        return ""
    if len(members) == 1:
        return members[0].name if groups == [box.members[-1]] else ""
    single = [
        end for member in members for end in (member.members[:: len(member.members) - 1] if member.stack else [member])
    ]
    ranged = stack_name([end.name for end in single])
    if RANGE.search(ranged) and BETWEEN not in ranged:
        return ranged
    if len(members) > FEW:
        return ""
    text = AND.join(member.name for member in members)
    return text if len(text) <= ROOM else ""


def contents(rows: Sequence[FlowBox], hierarchy: Hierarchy) -> str:
    """Return the most telling types, as in `3 Conv2D · 3 Relu`; "" if no row has a type."""
    types = tuple(sorted([type_of(box, hierarchy) for box in rows]))
    return of_types(types, main_scope(rows, hierarchy))


@lru_cache(maxsize=64)  # for equal branches; few, as keys may be long
def of_types(types: tuple[str, ...], scope: str) -> str:
    """Return the most telling of some row types; `scope` is the type of a scope with most of the ops, "" for none."""
    count = Counter(filter(None, types))
    # e.g. a level with `Rsqrt` is a norm: leave out its `Mean` and `SquaredDifference`.
    plain = EVERYWHERE.union(*(parts for sign, parts in PLUMBING.items() if sign in count))
    telling = sorted((op for op in count if op not in plain), key=lambda op: (rank(op), -count[op], op))
    others = [op for op in telling if rank(op)]
    products = telling[: len(telling) - len(others)][: max(PRODUCTS, TELLING - len(others))]
    telling = [*products, *others][:TELLING] or sorted(count, key=lambda op: (-count[op], op))[:TELLING]
    if not products and scope:
        telling = [scope, *(op for op in telling if op != scope)][:TELLING]
    words = {"Rsqrt": "norm"} if telling == ["Rsqrt"] and not count.keys().isdisjoint(CENTRED) else {}
    named = [f"{count[op]} {words.get(op, op)}" if count[op] > 1 else words.get(op, op) for op in telling]
    return joined(named) if named else ""


def main_scope(rows: Sequence[FlowBox], hierarchy: Hierarchy) -> str:
    """Return the name of the only scope among some rows if it has most of their ops; "" for none."""
    scopes = [box for box in rows if box.scope]
    most = len(scopes) == 1 and 2 * scopes[0].ops > sum(box.ops for box in rows)
    return type_of(scopes[0], hierarchy) if most else ""


def joined(parts: list[str]) -> str:
    """Join the first part with those after it that fit in a box. Norms are abbreviated to make room, and come first of
    the rest.

    >>> joined(["2 dense", "multi_head_attention", "2 layer_normalization"])
    '2 dense · multi_head_attention'
    >>> joined(["conv2d", "re_lu", "batch_normalization"]), joined(["2 Conv2D", "2 FusedBatchNormV3"])
    ('conv2d · norm · re_lu', '2 Conv2D · 2 FusedBatchNormV3')
    """
    short = parts if len(AND.join(parts)) <= ROOM else [NORM.sub("norm", part) for part in parts]
    kept = short[:1]
    for part in short[1:]:
        if len(AND.join([*kept, part])) <= ROOM:
            kept.append(part)
    return AND.join([kept[0], *sorted(kept[1:], key=lambda part: not NORM.search(part))])


def type_of(box: FlowBox, hierarchy: Hierarchy) -> str:
    """Return the type of a row: an op's type, a layer's class, a scope's name without its number.

    Empty if a scope's name is nothing but a number.
    """
    if not box.scope:
        return box.op
    layer = hierarchy.graph.layers.get(hierarchy.name[box.row])
    return layer.class_name if layer is not None else uncounted(box.name)


def rank(op: str) -> int:
    """Return the position of an op type in titles: products, attention (softmax), other telling types, the rest,
    norms."""
    if WORK.search(op):
        return 0
    return 1 if "Softmax" in op else 4 if NORM.search(op) else 2 if SIGNS.fullmatch(op) else 3


def stack_name(names: Sequence[str]) -> str:
    """Name a stack by its members' names, with the one number or word that differs as a range.

    >>> stack_name(["block_2", "block_3", "block_4"]), stack_name(["in_1", "out"])
    ('block_[2-4]', 'in_1 … out')
    >>> stack_name(["net_A_1", "net_B_1"]), stack_name(["query", "key"])
    ('net_[A-B]_1', 'query … key')
    >>> stack_name(["0", "1", "2"]), stack_name(["dw_1 · pw_1", "dw_2 · pw_2"])
    ('[0-2]', 'dw_[1-2] · pw_[1-2]')
    >>> stack_name(["block_1", "block_1_2", "block_2_1"])  # Keras's counters
    'block'
    """
    if len(set(names)) == 1:
        return names[0]
    parts = [PARTS.findall(name) for name in names]
    if len({len(words) for words in parts}) == 1:
        # Names of one form that differ in one place, or equally in several: write a range there.
        differ = [place for place, words in enumerate(zip(*parts, strict=True)) if len(set(words)) > 1]
        one, *_ = parts  # equal in all other places
        alike = len({tuple([words[place] for words in parts]) for place in differ}) == 1
        if alike and (len(one) > 1 or names[0].isdigit()):
            first, last = span([words[differ[0]] for words in parts])
            words = [f"{first}-{last}" if place in differ else word for place, word in enumerate(one)]
            for place in differ:
                if not ("".join(one[:place]).endswith("[") and "".join(one[place + 1 :]).startswith("]")):
                    words[place] = f"[{words[place]}]"  # PyTorch has brackets already: Block[3]
            return "".join(words)
    first, *others = dict.fromkeys(map(form, names))
    if first.count("#") == first.count("_#") == 1 and not others and BETWEEN not in first:
        return first.replace("_#", "")
    return names[0] + BETWEEN + names[-1]


def span(words: list[str]) -> tuple[str, str]:
    """Return the least and the largest number; the first and last of other words."""
    if all(word.isdigit() and len(word) < LONGEST_NUMBER for word in words):
        ordered = sorted(words, key=lambda word: (int(word), word))
        return ordered[0], ordered[-1]
    return words[0], words[-1]
