"""Titles and addresses of groups: from the names of their members if these are meaningful, else from their content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence, Set
from functools import lru_cache

from graphviz_tb.caches import compile_on_use
from graphviz_tb.fold.flow.box import FlowBox
from graphviz_tb.fold.flow.invariants import FoldContext, rows_inside
from graphviz_tb.fold.flow.layers import is_form
from graphviz_tb.fold.flow.names import (
    Vocabulary,
    common_words,
    is_generated_name,
    join_words,
    name_form,
    prefix_lengths,
    shared_prefix_length,
    strip_counters,
)
from graphviz_tb.fold.series import MAX_NUMBER_DIGITS
from graphviz_tb.model.hierarchy import CELL_ORIGINS, IDIOM_ORIGINS, GroupOrigin, Hierarchy
from graphviz_tb.ops.layers import LAYER_CLASSES, LayerRole, classes_with_role
from graphviz_tb.ops.roles import COMMON_OPS
from graphviz_tb.ops.table import op_line, op_name

# Titles of groups: from the names of their members if these are meaningful, otherwise from their content.
#
# A title is the first of these: the words that all names of the group share, and no other names of the level; the words
# that most names given by people share; a list or range of its groups and layers; for a segment, its ends; the last
# box, if its name is telling; the op types, products first.

NAME_PARTS = re.compile(r"[0-9]+|[^\W\d_]+|[\W_]+")  # numbers, words, separators: "block_2" is "block", "_", "2"
NUMBER_RANGE = re.compile(r"\[[0-9]+(?:[-,][0-9]+)+\]")
MAX_LISTED_LETTERS = 9  # characters of a list of numbers with gaps: "2,4"
MAX_OTHER_BOXES = 2  # boxes outside that may begin with the same words
MAX_TITLE_MEMBERS, MIN_TITLE_OPS_SHARE = 3, 0.8  # members in a title, and their least share of the ops
ENDS_SEPARATOR, LIST_SEPARATOR = " … ", " · "  # between the ends of a stack, and between members
MAX_TITLE_LETTERS = 30  # characters: boxes are hardly ever wider
MAX_TITLE_TYPES, MAX_TITLE_PRODUCTS = 3, 2  # op types in a title, and products among them
# First in a title: products, then types that distinguish kinds of layers.
PRODUCT_TYPE = compile_on_use(
    r"Conv(olution)?(Transpose)?([0-9]|\Z)|MatMul|Gemm\Z|Einsum|RNN|LSTM|GRU|Dense\Z|Attention|Embedding"
    r"|conv|dense|attention|embedding|rnn|lstm|gru|matmul|\blinear\Z"  # scopes of layers, ops of PyTorch
)
DISTINCTIVE_TYPE = compile_on_use(
    r".*Pool(3D)?(V[0-9])?|.*[RSG]elu6?|Elu|Erfc?|Tanh|Sigmoid|HardSwish|Clip|Resize.*|.*[Nn]orm(alization|V[0-9])?"
    r"|.*pool[123]d|(leaky_)?[rsg]elu6?|silu|elu|erf|tanh|sigmoid|hardswish|hardtanh"
)
NORM_TYPE = compile_on_use(r"(?<![^\W\d])[^\W\d]*[Nn]orm(alization|V[0-9])?\b")
# Op types, layers and scopes common to all parts of a network: never in a title.
COMMON_TYPES = (
    COMMON_OPS
    | classes_with_role(LayerRole.COMMON)
    | {
        "add", "multiply", "concatenate", "activation", "dropout", "reshape", "cast",
    }
)  # fmt: skip
# Ops that only help to compute the key: a norm computes means.
HELPER_TYPES = {
    "Prod": frozenset(("Prod", "GatherV2", "ConcatV2", "Transpose")),
    "Rsqrt": frozenset(("Mean", "SquaredDifference", "Neg", "StopGradient", "Square")),
}
# together with a root these are a norm; the scale of an attention is only a root
NORM_HELPER_TYPES = HELPER_TYPES["Rsqrt"] | {"Sub"}


def title_groups(boxes: Sequence[FlowBox], context: FoldContext, hierarchy: Hierarchy) -> None:
    """Give every group a name, inner ones first."""
    todo = list(boxes)
    order: list[FlowBox] = []
    while todo:
        box = todo.pop()
        order.append(box)
        todo += [*box.members, *box.feeders]
    segment_ids = {
        id(part) for box in order if box.is_repetition for part in box.members if part.how == GroupOrigin.SEGMENT
    }
    human_named: set[int] = set()  # boxes with names given by people
    for box in reversed(order):  # members first
        if box.how == GroupOrigin.NAME and not box.is_repetition:
            box.name = _extend_family_name(box, context)
        if box.how == GroupOrigin.LAYER:
            layer = next((part for part in box.members if not is_form(part.op)), box.members[0])
            box.name = "" if context.vocabulary.is_nameless else layer.name
        if box.how in IDIOM_ORIGINS:
            box.name = _shared_name(box, context) or _idiom_word(box.how)
        if box.members and not box.name:
            if box.is_repetition or id(box) in segment_ids:
                members = [end for member in box.members for end in _end_repetitions(member, segment_ids)]
                _call_alike(members, context.vocabulary)
                whole = len(members) == len(box.members)
                box.name = _title_stack(members, context.vocabulary, hierarchy, human_named, whole)
            else:
                box.name = _title_group(box, context, hierarchy, human_named)
        if _is_named_by_people(box, context.vocabulary, human_named):
            human_named.add(id(box))


def _call_alike(members: Sequence[FlowBox], vocabulary: Vocabulary) -> None:
    """Give members of a stack the usual name, in place, if their members have it: a first layer without some parts."""
    forms = Counter(name_form(member.name) for member in members)
    usual, count = forms.most_common(1)[0]
    for member in members if 1 < count < len(members) else ():
        words = join_words(common_words(vocabulary, member.members)) if member.members else ""
        if words and name_form(words) == usual:
            member.name = words


def _is_named_by_people(box: FlowBox, vocabulary: Vocabulary, human_named: Set[int]) -> bool:
    """Return whether the name of a box was chosen by people, and is not made of types of ops and layers."""
    if box.is_repetition:
        return all(id(member) in human_named for member in box.members)
    if LIST_SEPARATOR in box.name or box.how == GroupOrigin.INDEX:
        return False
    return bool(NUMBER_RANGE.search(box.name)) or not is_generated_name(box.name, box.op, vocabulary)


def _end_repetitions(box: FlowBox, ranges: Container[int]) -> list[FlowBox]:
    """Return the first and the last repetition in a range of a tall stack; the box itself if it is no range."""
    first = last = box
    while id(first) in ranges:
        first = first.members[0]
    while id(last) in ranges:
        last = last.members[-1]
    return [first] if first is last else [first, last]


def _title_stack(
    boxes: Sequence[FlowBox], vocabulary: Vocabulary, hierarchy: Hierarchy, human_named: Set[int], whole: bool
) -> str:
    """Return the title of a stack: the range of the names of its members, or of their last layers if that is shorter.

    If `whole`, `boxes` are all members; else only the ends of ranges.
    """
    names = [box.name for box in boxes]
    if any(LIST_SEPARATOR in each for each in names):  # the usual content, since the first may have more
        usual, count = Counter(names).most_common(1)[0]
        names = [usual] if 2 * count > len(names) else names
    name = _name_range(names, whole)
    if ENDS_SEPARATOR in name and all(
        box.members and id(box.last_row()) in human_named and _has_telling_end(box.last_row(), vocabulary, hierarchy)
        for box in boxes
    ):
        last = [box.last_row().name for box in boxes]
        ended = _name_range(last, whole)
        if ENDS_SEPARATOR not in ended:
            for box, own in zip(boxes, last, strict=True):
                box.name = own
            return ended
    return name


def _extend_family_name(box: FlowBox, context: FoldContext) -> str:
    """Return the name of a group by name with all words that its members share: `cross_entropy`, not `cross`."""
    words = "_".join(common_words(context.vocabulary, box.members))
    return words if words.startswith(f"{box.name}_") else box.name


def _title_group(box: FlowBox, context: FoldContext, hierarchy: Hierarchy, human_named: Set[int]) -> str:
    """Return the title of a group, in the order given at the top of this file.

    `human_named` are the boxes with names given by people, by `id`.
    """
    if shared := _shared_name(box, context):
        return shared
    rows, last = rows_inside(box), box.last_row()
    if context.vocabulary.is_nameless:
        return _title_from_contents(box, hierarchy) or last.name
    own = _distinctive_words(
        [row for row in rows if id(row) in human_named or _has_custom_type(row, hierarchy)], context.vocabulary
    )
    if own or (own := _title_from_members(box, context, human_named)):
        return own
    if box.how == GroupOrigin.SEGMENT:
        return f"{box.first_row().name} → {last.name}"
    telling = id(last) in human_named and _has_telling_end(last, context.vocabulary, hierarchy)
    return (not telling and _title_from_contents(box, hierarchy)) or last.name


def _shared_name(box: FlowBox, context: FoldContext) -> str:
    """Return the words with which all names of a group begin, and no other names of the level; else ""."""
    words = common_words(context.vocabulary, box.members)
    alone = words and context.vocabulary.count_starting(words) <= len(rows_inside(box)) + MAX_OTHER_BOXES
    return join_words(words) if alone else ""


def _heaviest_part(box: FlowBox, context: FoldContext, human_named: Set[int]) -> str:
    """Return the name of the part with most parameters, as a range with the parts numbered like it.

    Empty if people did not name it, or no part has parameters.
    """
    weights = [context.widths.parameter_count(member) for member in box.members]
    most = max(weights)
    heaviest = [member for member, weight in zip(box.members, weights, strict=True) if weight == most]
    named = most and all(id(member) in human_named and (member.scope or member.members) for member in heaviest)
    if not named or len(box.members) == len(heaviest):
        return ""
    form = name_form(heaviest[0].name)
    numbered = [member.name for member in box.members if form and name_form(member.name) == form]
    return _name_range(numbered if len(numbered) > len(heaviest) else [member.name for member in heaviest])


def _has_telling_end(last: FlowBox, vocabulary: Vocabulary, hierarchy: Hierarchy) -> bool:
    """Return whether the last box describes its group: it is no op of a layer, norm, activation or sum."""
    *around, word = ("", *vocabulary.name_words(last.name))
    if any(around) and last.op and hierarchy.name[last.row] not in hierarchy.graph.layers:
        return False
    kind = strip_counters(word.removeprefix("."))
    return kind not in COMMON_TYPES and not NORM_TYPE.fullmatch(kind) and not DISTINCTIVE_TYPE.fullmatch(kind)


def _distinctive_words(rows: Sequence[FlowBox], vocabulary: Vocabulary) -> str:
    """Return the words with which three quarters of the names of some rows begin, and no other name of the level."""
    count = Counter(
        words[:end] for row in rows for words in [vocabulary.name_words(row.name)] for end in prefix_lengths(words)
    )
    own = [
        words
        for words, many in count.items()
        if many > 1 and 4 * many >= 3 * len(rows) and many == vocabulary.count_starting(words)
    ]
    best = max(own, key=lambda words: (count[words], len(words), words), default=())
    return join_words(best[shared_prefix_length(best, vocabulary.model_words) :])


def _has_custom_type(row: FlowBox, hierarchy: Hierarchy) -> bool:
    """Return whether an op or layer has a custom type, so that names of other rows do not describe it."""
    layer = hierarchy.graph.layers.get(hierarchy.name[row.row])
    kind = layer.class_name if layer is not None else row.op
    return bool(kind) and kind not in LAYER_CLASSES and not op_line(kind)


def _title_from_members(box: FlowBox, context: FoldContext, human_named: Set[int]) -> str:
    """Return the title of a group by its members with names given by people; "" if they have too few ops.

    The range of their names, a list of two or three names, or the member with most parameters; a single member must
    come last.
    """
    groups = [member for member in box.members if member.members or member.scope]
    members = [member for member in groups if id(member) in human_named]
    if not members or sum(member.ops for member in members) < MIN_TITLE_OPS_SHARE * box.ops:
        return ""
    heaviest = _heaviest_part(box, context, human_named)
    if len(members) == 1:
        covers_end = box.how == GroupOrigin.REPEAT or groups == [box.members[-1]]
        return heaviest or (members[0].name if covers_end else "")
    repetitions = [
        end
        for member in members
        for end in (member.members[:: len(member.members) - 1] if member.is_repetition else [member])
    ]
    name_range = _name_range([end.name for end in repetitions], len(repetitions) == len(members))
    if NUMBER_RANGE.search(name_range) and ENDS_SEPARATOR not in name_range:
        return name_range
    text = LIST_SEPARATOR.join(member.name for member in members)
    fits = len(members) <= MAX_TITLE_MEMBERS and len(text) <= MAX_TITLE_LETTERS
    if fits and not (heaviest and not all(map(context.widths.parameter_count, members))):
        return text
    return heaviest


def _title_from_contents(box: FlowBox, hierarchy: Hierarchy) -> str:
    """Return the most telling types with their counts, `3 Conv2D · 3 Relu`; "" if no row inside has a type."""
    rows = rows_inside(box, IDIOM_ORIGINS)
    types = tuple(sorted([_row_type(row, hierarchy) for row in rows]))
    title = _title_from_types(types, _main_scope_type(rows, hierarchy))
    named = [row.name for row in rows if row.scope and _row_type(row, hierarchy) == title]
    return named[0] if len(named) == 1 and strip_counters(named[0]) == title else title


@lru_cache(maxsize=64)  # for equal branches; few, as keys may be long
def _title_from_types(types: tuple[str, ...], scope: str) -> str:
    """Return the most telling of some row types as a title; `scope` is the type of the scope with most ops, or ""."""
    count = Counter(filter(None, types))
    # e.g. a level with `Rsqrt` is a norm: leave out its `Mean` and `SquaredDifference`.
    plain = COMMON_TYPES.union(*(parts for sign, parts in HELPER_TYPES.items() if sign in count))
    telling = sorted(
        (op for op in count if op not in plain),
        key=lambda op: (_title_rank(op), op not in TELLING_WORDS, -count[op], op),
    )
    others = [op for op in telling if _title_rank(op)]
    products = telling[: len(telling) - len(others)][: max(MAX_TITLE_PRODUCTS, MAX_TITLE_TYPES - len(others))]
    telling = [*products, *others][:MAX_TITLE_TYPES] or sorted(count, key=lambda op: (-count[op], op))[:MAX_TITLE_TYPES]
    if not products and scope:
        telling = [scope, *(op for op in telling if op != scope)][:MAX_TITLE_TYPES]
    words = {"Rsqrt": "norm"} if telling == ["Rsqrt"] and not count.keys().isdisjoint(NORM_HELPER_TYPES) else {}
    named = [f"{count[op]} " * (count[op] > 1) + (words.get(op) or op_name(op) or op) for op in telling]
    return _join_title_parts(named) if named else ""


def _main_scope_type(rows: Sequence[FlowBox], hierarchy: Hierarchy) -> str:
    """Return the type of the only scope among some rows if it has most of their ops; else ""."""
    scopes = [box for box in rows if box.scope]
    most = len(scopes) == 1 and 2 * scopes[0].ops > sum(box.ops for box in rows)
    return _row_type(scopes[0], hierarchy) if most else ""


def _join_title_parts(parts: list[str]) -> str:
    """Join the first part with the later ones that fit in a box. Norms are abbreviated if necessary, and come second.

    >>> _join_title_parts(["2 dense", "multi_head_attention", "2 layer_normalization"])
    '2 dense · multi_head_attention'
    >>> (
    ...     _join_title_parts(["conv2d", "re_lu", "batch_normalization"]),
    ...     _join_title_parts(["2 Conv2D", "2 FusedBatchNormV3"]),
    ... )
    ('conv2d · norm · re_lu', '2 Conv2D · 2 FusedBatchNormV3')
    """
    short = (
        parts
        if len(LIST_SEPARATOR.join(parts)) <= MAX_TITLE_LETTERS
        else [NORM_TYPE.sub("norm", part) for part in parts]
    )
    kept = short[:1]
    for part in short[1:]:
        if len(LIST_SEPARATOR.join([*kept, part])) <= MAX_TITLE_LETTERS:
            kept.append(part)
    return LIST_SEPARATOR.join([kept[0], *sorted(kept[1:], key=lambda part: not NORM_TYPE.search(part))])


def _row_type(box: FlowBox, hierarchy: Hierarchy) -> str:
    """Return the op type, layer class, word of an idiom, or name without a number of a row.

    Empty for a scope whose name is only a number.
    """
    if not box.scope:
        return _idiom_word(box.how) if box.how in IDIOM_ORIGINS else box.op
    layer = hierarchy.graph.layers.get(hierarchy.name[box.row])
    return layer.class_name if layer is not None else strip_counters(box.name)


def _idiom_word(how: GroupOrigin) -> str:
    return how.name.lower().replace("_", " ")


# Words for idioms that describe a group better than products.
TELLING_WORDS = frozenset(map(_idiom_word, (GroupOrigin.ATTENTION, GroupOrigin.SCAN, *CELL_ORIGINS)))


def _title_rank(op: str) -> int:
    """Return the rank of an op type in titles: products, softmax, other telling types, the rest, norms."""
    op = op_name(op)
    if op in TELLING_WORDS or PRODUCT_TYPE.search(op):
        return 0
    return 1 if "Softmax" in op else 4 if NORM_TYPE.search(op) else 2 if DISTINCTIVE_TYPE.fullmatch(op) else 3


def _name_range(names: Sequence[str], whole: bool = True) -> str:
    """Return the names of members as one, with a range for the number or word in which they differ.

    Numbers with gaps are listed if these are the names of all members (`whole`).

    >>> _name_range(["block_2", "block_3", "block_4"]), _name_range(["in_1", "out"])
    ('block_[2-4]', 'in_1 … out')
    >>> _name_range(["net_A_1", "net_B_1"]), _name_range(["query", "key"])
    ('net_[A-B]_1', 'query … key')
    >>> _name_range(["0", "1", "2"]), _name_range(["dw_1 · pw_1", "dw_2 · pw_2"])
    ('[0-2]', 'dw_[1-2] · pw_[1-2]')
    >>> _name_range(["merge_2", "merge_4"]), _name_range(["block_1", "block_2", "block_4"])
    ('merge_[2,4]', 'block_[1-2,4]')
    >>> _name_range(["block_1", "block_1_2", "block_2_1"])  # Keras's counters
    'block'
    """
    if len(set(names)) == 1:
        return names[0]
    parts = [NAME_PARTS.findall(name) for name in names]
    if len({len(words) for words in parts}) == 1:
        # Names of one form that differ in one place, or equally in several: write a range there.
        differing = [place for place, words in enumerate(zip(*parts, strict=True)) if len(set(words)) > 1]
        sample, *_ = parts  # equal in all other places
        differ_equally = len({tuple([words[place] for words in parts]) for place in differing}) == 1
        if differ_equally and (len(sample) > 1 or names[0].isdigit()):
            number_range = _range_words([words[differing[0]] for words in parts], whole)
            words = [number_range if place in differing else word for place, word in enumerate(sample)]
            for place in differing:
                if not ("".join(sample[:place]).endswith("[") and "".join(sample[place + 1 :]).startswith("]")):
                    words[place] = f"[{words[place]}]"  # PyTorch has brackets already: Block[3]
            return "".join(words)
    first, *others = dict.fromkeys(map(name_form, names))
    if first.count("#") == first.count("_#") == 1 and not others and ENDS_SEPARATOR not in first:
        return first.replace("_#", "")
    return names[0] + ENDS_SEPARATOR + names[-1]


def _range_words(words: list[str], whole: bool) -> str:
    """Return the range of numbers, with short gaps if these are all (`whole`), or the first and last of other words."""
    if not all(word.isdigit() and len(word) < MAX_NUMBER_DIGITS for word in words):
        return f"{words[0]}-{words[-1]}"
    numbers = {int(word): word for word in sorted(words, reverse=True)}
    ordered = sorted(numbers)
    starts = [number for number in ordered if number - 1 not in numbers]
    stops = [number for number in ordered if number + 1 not in numbers]
    listed = ",".join(
        numbers[start] if start == stop else f"{numbers[start]}-{numbers[stop]}"
        for start, stop in zip(starts, stops, strict=True)
    )
    ends = f"{numbers[ordered[0]]}-{numbers[ordered[-1]]}"
    return listed if whole and len(listed) <= max(MAX_LISTED_LETTERS, len(ends)) else ends


# Addresses of groups: unique on their level and made from the group's content, so that edits elsewhere change none.
#
# The address of a group is its name, if no other group and no child has it. Otherwise its last row, its first row and
# its number of rows are added, until all addresses differ; finally a number.

AddressForm = Callable[[FlowBox], str]


def _stack_ends_text(box: FlowBox) -> str:
    """Return the first and last row of a stack without a range in its name; "" for any other group."""
    repeated = (box.is_repetition or box.how == GroupOrigin.SEGMENT) and not NUMBER_RANGE.search(box.name)
    return f"{box.first_row().name} → {box.last_row().name}" if repeated else ""


ADDRESS_FORMS: tuple[AddressForm, ...] = (
    lambda box: box.name,
    lambda box: (
        box.name if box.last_row().name == box.name else f"{box.name} ({_stack_ends_text(box) or box.last_row().name})"
    ),
    lambda box: f"{box.name} ({box.first_row().name} → {box.last_row().name})",
    lambda box: f"{box.name} ({box.first_row().name} → {box.last_row().name}, {len(rows_inside(box))})",
)
FIRST_ADDRESS_NUMBER = 2  # first number, as in a series


def group_addresses(boxes: Sequence[FlowBox], children: Iterable[str]) -> dict[int, str]:
    """Return the address of each group of a level by `id`; none equals a name or label of its `children`."""
    address_of: dict[int, str] = {}
    taken = set(children)
    unaddressed = list(boxes)
    for say in ADDRESS_FORMS:
        addresses = [say(box).replace("/", "|") for box in unaddressed]  # a "/" would look like a scope of the file
        count = Counter(addresses)
        is_unique = [name not in taken and count[name] == 1 for name in addresses]
        address_of.update(
            (id(box), name) for box, name, is_alone in zip(unaddressed, addresses, is_unique, strict=True) if is_alone
        )
        # An ambiguous text is never an address.
        taken.update(addresses)
        unaddressed = [box for box, is_alone in zip(unaddressed, is_unique, strict=True) if not is_alone]
    following: dict[str, int] = {}  # next number by name: thousands may share one
    for box in unaddressed:
        word = box.name.replace("/", "|")
        number = following.get(word, FIRST_ADDRESS_NUMBER)
        while (name := f"{word} ({number})") in taken:
            number += 1
        following[word] = number + 1
        taken.add(name)
        address_of[id(box)] = name
    return address_of
