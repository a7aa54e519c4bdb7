"""Groups by name: boxes whose names begin with the same words, where the flow allows it.

Start with families of names that share their first word, and accept each that is connected and not most of the level.
Families that are too large, not connected, or on a cycle are divided by their next word.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from graphviz_tb.fold.flow.box import Dag, FlowBox, find_cycles
from graphviz_tb.fold.flow.order import FlowOrder
from graphviz_tb.graphs.traversal import weak_components
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.paths import DIGIT_RUN, DIGITS, are_names_numbers
from graphviz_tb.ops.layers import LayerRole, has_layer_role
from graphviz_tb.ops.table import plain_op_name

# Names as words: common beginnings, counters, and the words of a whole level.

NameWords = tuple[str, ...]

WORD_BREAK = re.compile(r"[_.\-\s/:]+")  # between words
# Words of a name, the rest of which is one more word: the total length of prefixes is quadratic in it.
MAX_WORDS = 50
LETTERED_WORD = re.compile(r"(?<![^_.\-\s/:])[A-Za-z]+[0-9]+[a-z](?![^_.\-\s/:])")  # a whole word, e.g. "block2a"
MODEL_NAME_SHARE = 0.8  # of the names of a level begin with the name of the model
COUNTER_IN_NAME = re.compile(r"[0-9]+(?:_[0-9]+)*|_[a-z]\Z")  # e.g. "2", Keras's "2_1", and "_b" in "block_2_b"


class Vocabulary:
    """The words of all names of one level, the first `MAX_WORDS` of each.

    A number belongs to the word before it unless that ends in a digit, so that `conv2d, conv2d_1` share no word:
    `block_3_conv` is (`block_3`, `conv`). The words of a module are the parts of its path, each with its dot:
    `Block[down.2.0]` is (`.down.2`, `.0`). A letter after a number is a separate word only if the level has the same
    stem with an `a`: `block2a`, `block2b`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._words: dict[str, NameWords] = {}
        self._started: dict[str, Counter[NameWords]] = {}
        self.generated_names: dict[tuple[str, str], bool] = {}  # see `is_generated_name`

    @cached_property
    def lettered_words(self) -> set[str]:
        """Words of the level whose last letter is a separate word."""
        lettered = set(LETTERED_WORD.findall("\n".join(self._names)))
        return {word for word in lettered if word[:-1] + "a" in lettered}

    def count_starting(self, words: NameWords) -> int:
        """Return the number of names that start with these words (at least one word)."""
        return self._count_beginnings(words[0])[words]

    @cached_property
    def model_words(self) -> NameWords:
        """Words at the start of nearly all names, such as the name of the model."""
        least = MODEL_NAME_SHARE * self.name_count
        for first, filed in self._words_by_first.items():
            if len(filed) >= least:  # true for at most one first word
                return max((words for words, many in self._count_beginnings(first).items() if many >= least), key=len)
        return ()

    def _count_beginnings(self, first: str) -> Counter[NameWords]:
        """Count the names by the words they start with, for one first word."""
        known = self._started.get(first)
        if known is None:
            filed = self._words_by_first[first]
            known = self._started[first] = Counter(words[:end] for words in filed for end in prefix_lengths(words))
        return known

    @cached_property
    def _words_by_first(self) -> dict[str, list[NameWords]]:
        filed: dict[str, list[NameWords]] = defaultdict(list)
        for words in map(self.name_words, self._names):
            if words:
                filed[words[0]].append(words)
        return filed

    @property
    def name_count(self) -> int:
        return len(self._names)

    @cached_property
    def is_nameless(self) -> bool:
        """Whether the names are little more than numbers."""
        return are_names_numbers(self._names, len(self._names))

    def name_words(self, name: str) -> NameWords:
        known = self._words.get(name)
        if known is None:
            known = self._words[name] = self._split_words(name)
        return known

    def digit_pattern(self, name: str) -> str:
        """Return a name with 0 for each number, unless numbers decide how names of this level are split.

        Names of one pattern are split into words that only differ in numbers.
        """
        return DIGIT_RUN.sub("0", name) if self._ignores_numbers else name

    @cached_property
    def _ignores_numbers(self) -> bool:
        return not self.model_words and not self.lettered_words

    def _split_words(self, name: str) -> NameWords:
        before, _, number = name.rpartition("_")
        if name.isalpha() or (before.isalpha() and number.isdigit()):  # only saves time: most are "mul" or "mul_12"
            return (name,)
        words: list[str] = []
        path = module_path(name)
        for word in path.split(".", MAX_WORDS) if path else WORD_BREAK.split(name, MAX_WORDS):
            if not word:
                continue
            if word.isdigit() and words and not words[-1][-1].isdigit():
                words[-1] += f".{word}" if path else f"_{word}"
            elif path:
                words.append(f".{word}")
            elif word in self.lettered_words:
                words += [word[:-1], word[-1]]
            else:
                words.append(word)
        return tuple(words)


def prefix_lengths(words: NameWords) -> range:
    """Return the possible prefix lengths of some words."""
    return range(1, len(words) + 1)


def module_path(name: str) -> str:
    """Return the path of a module in its name, without its class; "" for a name without a path.

    >>> module_path("Block[down.2.0]"), module_path("Block[down]"), module_path("down.2.0")
    ('down.2.0', '', '')
    """
    path = name.partition("[")[2]
    return path[:-1] if path.endswith("]") and "." in path else ""


def name_form(name: str) -> str:
    """Return a name with "#" for each number and for a counting letter.

    >>> name_form("block_2_b"), name_form("conv3"), name_form("block_2_1")
    ('block_##', 'conv#', 'block_#')
    """
    return COUNTER_IN_NAME.sub("#", name)


def strip_counters(name: str) -> str:
    """Remove the counters at the end of a name.

    >>> strip_counters("dense_1_2"), strip_counters("dense__1"), strip_counters("dense_"), strip_counters("12")
    ('dense', 'dense_', 'dense_', '')
    """
    if not name or name[-1] not in DIGITS:
        return name
    bare = name.rstrip(f"{DIGITS}_")
    # Each counter has at most one "_" before it.
    before, twice, _ = name[len(bare) :].rpartition("__")
    return bare + before + twice[:1]


def shared_prefix_length(words: NameWords, other: NameWords) -> int:
    """Return the number of leading words that two names share.

    >>> shared_prefix_length(("block_1", "conv"), ("block_1", "relu"))
    1
    """
    count = 0
    for ours, theirs in zip(words, other, strict=False):
        if ours != theirs:
            break
        count += 1
    return count


def common_words(vocabulary: Vocabulary, boxes: Iterable[FlowBox]) -> NameWords:
    """Return the words with which the names of all rows in some boxes begin."""
    shared_words: NameWords | None = None
    todo = list(boxes)
    while todo and shared_words != ():
        box = todo.pop()
        if box.members:
            todo.extend(box.members)
            continue
        words = vocabulary.name_words(box.name)
        shared_words = words if shared_words is None else shared_words[: shared_prefix_length(shared_words, words)]
    return shared_words or ()


NUMBERED_PART = re.compile(r"_(?=[0-9])")


def join_words(words: Sequence[str]) -> str:
    """Join words to a name; the bracket of a PyTorch module is closed.

    >>> join_words(["cross", "entropy"]), join_words(["Block[stages", "1"]), join_words([".down.2", ".0"])
    ('cross_entropy', 'Block[stages.1]', 'down.2.0')
    """
    text = "_".join(words).replace("_.", ".").removeprefix(".")
    kind, opened, attribute = text.partition("[")
    return f"{kind}[{NUMBERED_PART.sub('.', attribute)}]" if opened and "]" not in attribute else text


# Generated names: Keras and TensorFlow name layers and ops after their types.

DIGITS_AND_UNDERSCORES = re.compile(r"[0-9_]+")
# Words of names generated by Keras and TensorFlow, without digits: `re_lu_5_1_Relu`, `max_pooling2d_3`, `AddV2_1`.
TYPE_WORD_LIST = """
add addn addv addition sub subtract mul multiply div truediv realdiv mod pow sqrt rsqrt square neg maximum minimum
average sum mean max min reduce op getitem identity cast lambda function functional sequential model
concat concatv concatenate stack unstack pack unpack split slice strided stridedslice gather transpose permute
reshape flatten repeat vector squeeze expand dims expanddims tile pad padding padv zero zeropadding zeropaddingd
cropping croppingd up sampling upsampling samplingd upsamplingd resize
re lu relu elu selu gelu leaky leakyrelu prelu p celu sigmoid tanh softmax softplus swish silu mish hard erf activation
dropout spatial dropoutd spatialdropoutd gaussian noise masking
biasadd bias matmul batchmatmul batchmatmulv einsum dot dense linear conv convd depthwise depthwiseconvd separable
separableconvd convdtranspose convolution multi head attention multiheadattention additive
layer batch group instance unit normalization batchnorm layernorm batchnormalization layernormalization fusedbatchnormv
pooling poolingd poold pool maxpool avgpool maxpoold avgpoold global maxpoolingd averagepoolingd
embedding lookup lstm gru rnn cell simple bidirectional time distributed
"""
TYPE_WORDS = frozenset(["", *TYPE_WORD_LIST.split()])
# no generated name ends in one: `layer_3`
INCOMPLETE_TYPE_WORDS = frozenset(["layer", "batch", "group", "unit", "multi", "head"])


def is_generated_name(name: str, type_name: str, vocabulary: Vocabulary) -> bool:
    """Return whether a name consists of words for types of ops and layers.

    The words with which nearly all names of the level begin do not count.

    >>> level = Vocabulary(["net_conv2d_1", "net_re_lu_1", "net_mixed3", "net_Log_7"])
    >>> (
    ...     is_generated_name("net_re_lu_1", "Relu", level),
    ...     is_generated_name("net_mixed3", "ConcatV2", level),
    ...     is_generated_name("net_Log_7", "Log", level),
    ... )
    (True, False, True)
    >>> is_generated_name("net_layer_3", "", level), is_generated_name("net_layer_normalization_3", "", level)
    (False, True)
    >>> is_generated_name("net_cat_2", "aten::cat", level)
    True
    """
    # One verdict per pattern: there may be thousands of `mul_12`.
    key = vocabulary.digit_pattern(name), type_name
    known = vocabulary.generated_names.get(key)
    if known is None:
        words = vocabulary.name_words(name)
        said = [
            bare
            for word in words[shared_prefix_length(words, vocabulary.model_words) :]
            if (bare := DIGITS_AND_UNDERSCORES.sub("", word).lower())
        ]
        kind = DIGITS_AND_UNDERSCORES.sub("", plain_op_name(type_name)).lower()
        typed = all(word in TYPE_WORDS or word == kind for word in said)
        known = vocabulary.generated_names[key] = typed and not (said and said[-1] in INCOMPLETE_TYPE_WORDS)
    return known


MAX_NAME_DEPTH = 40  # words of a name
# share of a level, without and with adopted boxes; a family that is the whole level would be folded forever
MAX_FAMILY_SHARE, MAX_ADOPTING_SHARE = 0.8, 0.9
MIN_INSTANCE_OVERLAP = 0.6  # share of common next words; above it, a numbered name is a separate instance
COUNTING_LETTER = re.compile(r"#[a-z](?![a-z])")  # a counting letter after a number: "stage0a"
MIN_SIBLING_FAMILIES = 2  # parallel families of one pattern (experts), whose equal layers are not a repeat
MAX_STAR_MEMBERS = 12  # members of a family that may be connected by common neighbours alone


@dataclass(frozen=True, slots=True)
class NameFamily:
    """The boxes whose names begin with `words` (`named`), and these with adopted boxes between them (`members`)."""

    words: NameWords
    named: tuple[int, ...]
    members: tuple[int, ...]


def find_name_families(dag: Dag, order: FlowOrder, vocabulary: Vocabulary) -> list[NameFamily]:
    """Return families of names, coarsest first, that can be boxes of one level without a cycle."""
    words = [vocabulary.name_words(box.name) for box in dag.boxes]
    # An input of the model is no part of a layer, whatever its name: `token_ids`, `token_embedding`.
    parts = tuple(number for number, box in enumerate(dag.boxes) if not has_layer_role(box.op, LayerRole.INPUT))
    candidates = _next_word_families(words, NameFamily((), parts, ()))
    accepted: list[NameFamily] = []
    for _ in range(MAX_NAME_DEPTH):
        deferred: list[NameFamily] = []
        taken = {box for named in accepted for box in named.members}
        equal = {
            id(named): _family_pattern(dag, named)
            for named in candidates
            if len({dag.boxes[number].symbol for number in named.named}) == 1
        }
        forms = Counter(filter(None, equal.values()))
        for named in candidates:
            if id(named) in equal and not ((pattern := equal[id(named)]) and forms[pattern] >= MIN_SIBLING_FAMILIES):
                continue  # equal numbered boxes are a repeat, not a scope
            closed = None if _is_partial_type(words, named, vocabulary) else _accept_family(dag, order, named, taken)
            if closed:  # otherwise too large or not connected: try its next words
                accepted.append(closed)
                taken.update(closed.members)
            else:
                deferred += _next_word_families(words, named)
        accepted = _make_disjoint(accepted)
        # Check all together: two groups may each be convex and still feed each other.
        cyclic = _families_on_cycles(dag, accepted)
        deferred += [finer for number in sorted(cyclic) for finer in _next_word_families(words, accepted[number])]
        accepted = [named for number, named in enumerate(accepted) if number not in cyclic]
        if not deferred:
            break
        candidates = deferred
    return accepted


def _is_partial_type(words: Sequence[NameWords], named: NameFamily, vocabulary: Vocabulary) -> bool:
    """Return whether the shared words are only a part of a type: `up` of `up_sampling2d_1`, `up_sampling2d_2`."""
    depth = len(named.words)
    following = {words[box][depth : depth + 1] for box in named.named}
    return (
        (len(following) > 1 or () in following)
        and len({"".join(map(strip_counters, word)) for word in following}) == 1
        and not named.words[-1][-1].isdigit()
        and is_generated_name(join_words(named.words), "", vocabulary)
    )


def _family_pattern(dag: Dag, named: NameFamily) -> tuple[Collection[str], Collection[int]] | None:
    """Return the names of a small family without numbers, and its inputs; None if names differ only in counters.

    `expert0_in`, `expert0_out` and `expert1_in`, `expert1_out` have one pattern.
    """
    if len(named.named) > MAX_STAR_MEMBERS:
        return None
    names = {COUNTING_LETTER.sub("#", name_form(strip_counters(dag.boxes[number].name))) for number in named.named}
    given = {source for number in named.named for source in dag.before[number]}.difference(named.named)
    return (frozenset(names), frozenset(given)) if len(names) == len(named.named) else None


def _next_word_families(words: Sequence[NameWords], named: NameFamily) -> list[NameFamily]:
    depth = len(named.words)
    filed: dict[NameWords, list[int]] = defaultdict(list)
    for box in named.named:
        if len(words[box]) > depth:
            filed[words[box][: depth + 1]].append(box)
    crowded = [(start, members) for start, members in filed.items() if len(members) > 1]  # only saves time
    return [
        NameFamily(prefix, tuple(of_next), tuple(of_next))
        for start, members in crowded
        for prefix, of_next in _split_numbered(words, start, members)
    ]


def _split_numbered(
    words: Sequence[NameWords], prefix: NameWords, members: list[int]
) -> list[tuple[NameWords, list[int]]]:
    """Split off separate instances: `dense_1_2/x` of `dense_1/x`, where the same words follow the number."""
    depth = len(prefix)
    by_next: dict[NameWords, list[int]] = defaultdict(list)
    for box in members:
        by_next[words[box][depth : depth + 1]].append(box)
    # e.g. below "dense_1": "2" of `dense_1_2/MatMul` is an instance if `dense_1/MatMul` has the same next words.
    numbers = dict.fromkeys(word for word in by_next if word and word[0].isdigit())
    unnumbered = [box for word, members_below in by_next.items() if word not in numbers for box in members_below]
    words_below = _words_at(words, unnumbered, depth)
    rest, split = list(unnumbered), []
    for number in numbers:
        instance_words = _words_at(words, by_next[number], depth + 1)
        common = len(
            words_below & instance_words
        )  # the union is not built: a level may have thousands of numbers and words
        if unnumbered and common >= MIN_INSTANCE_OVERLAP * max(1, len(words_below) + len(instance_words) - common):
            split.append((prefix + number, by_next[number]))
        else:
            rest += by_next[number]
    return [(prefix, sorted(rest)), *split]


def _words_at(words: Sequence[NameWords], boxes: Iterable[int], depth: int) -> set[str]:
    """Return the words of boxes at a depth, without counters; "" for names with fewer words."""
    return {strip_counters(words[box][depth]) if len(words[box]) > depth else "" for box in boxes}


def _accept_family(dag: Dag, order: FlowOrder, named: NameFamily, taken: set[int]) -> NameFamily | None:
    """Return the family with the boxes it adopts; None if it is not connected, or most of the level.

    `taken` are boxes of other families.
    """
    if len(named.named) > MAX_FAMILY_SHARE * len(dag):
        return None
    members = _adopt_unnamed_between(dag, order, named.named)
    if len(members) > len(named.named) and not taken.isdisjoint(members):
        members = named.named
    used = tuple(box for box in members if dag.after[box])  # unused boxes close no cycle
    if len(members) > MAX_ADOPTING_SHARE * len(dag) or not _is_connected(dag, used or members):
        return None
    return NameFamily(named.words, named.named, members)


def _adopt_unnamed_between(dag: Dag, order: FlowOrder, members: tuple[int, ...]) -> tuple[int, ...]:
    """Return the members with the boxes on paths between them, such as activations without a name.

    None are adopted if they would be more than the members, or if the stretch is much longer.
    """
    places = [order.place[box] for box in members]
    low, high = min(places), max(places)
    # Longer stretches have more than unnamed activations between members.
    if high - low >= 4 * len(members) + 8:
        return members
    window = order.line[low:high]
    behind, ahead = set(members), set(members)
    for box in window:
        if any(source in behind for source in dag.before[box]):
            behind.add(box)
    for box in reversed(window):
        if any(user in ahead for user in dag.after[box]):
            ahead.add(box)
    between = (behind & ahead) - set(members)  # on a path from a member to a member
    return members if len(between) > len(members) else tuple(sorted({*members, *between}))


def _is_connected(dag: Dag, members: tuple[int, ...]) -> bool:
    """Return whether members are connected; in small groups a common neighbour connects too."""
    place_of = {box: place for place, box in enumerate(members)}
    pairs: list[tuple[int, int]] = []
    common: dict[tuple[bool, int], int] = {}
    for box, place in place_of.items():
        for before, others in ((True, dag.before[box]), (False, dag.after[box])):
            for other in others:
                if other in place_of:
                    pairs.append((place, place_of[other]))
                elif len(members) <= MAX_STAR_MEMBERS:
                    # The first member with this neighbour.
                    pairs.append((place, common.setdefault((before, other), place)))
    return len(weak_components(len(members), pairs)) == 1


def _make_disjoint(groups: list[NameFamily]) -> list[NameFamily]:
    """Keep each box in the first family that has it."""
    seen: set[int] = set()
    kept: list[NameFamily] = []
    for named in groups:
        members = tuple(box for box in named.members if box not in seen)
        seen.update(members)
        if len(members) > 1:
            kept.append(NameFamily(named.words, named.named, members))
    return kept


def _families_on_cycles(dag: Dag, groups: list[NameFamily]) -> set[int]:
    """Return the families that would be on a cycle if all were drawn as boxes."""
    if not groups:
        return set()
    owner = list(range(len(dag)))
    for number, named in enumerate(groups):
        for box in named.members:
            owner[box] = len(dag) + number
    after: list[set[int]] = [set() for _ in range(len(dag) + len(groups))]
    for target, sources in enumerate(dag.before):
        for source in sources:
            if owner[source] != owner[target]:
                after[owner[source]].add(owner[target])
    return {
        box - len(dag) for members in find_cycles([sorted(out) for out in after]) for box in members if box >= len(dag)
    }
