"""Groups by name: boxes whose names begin with the same words, where the flow allows it.

Start with the first word and take every family of names that is connected and not most of the level. All families
together must be drawable as boxes without a cycle; where they are not, try the families of one more word.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from graphviz_tb.algorithms.components import weak_components
from graphviz_tb.group.flow.dag import Dag, find_cycles
from graphviz_tb.group.flow.order import FlowOrder
from graphviz_tb.group.flow.words import NameWords, Vocabulary, name_form, strip_counters
from graphviz_tb.model.frozen import dataclass

MAX_NAME_DEPTH = 40  # words of a name
# With adopted boxes a group may be larger, but not the whole level: else folding inside it would not terminate.
MAX_FAMILY_SHARE, MAX_ADOPTING_SHARE = 0.8, 0.9  # of a level: larger groups explain nothing
MIN_INSTANCE_OVERLAP = 0.6  # share of common next words that makes a numbered name a separate instance
COUNTING_LETTER = re.compile(r"#[a-z](?![a-z])")  # a counting letter after a number: "stage0a"
MIN_SIBLING_FAMILIES = 2  # parallel families of one pattern, such as experts: their equal layers are no repeat
MAX_STAR_MEMBERS = 12  # members of a family that may be connected by common neighbours only


@dataclass(frozen=True, slots=True)
class NameFamily:
    """Boxes whose names begin with `words`; `members` includes adopted boxes between them."""

    words: NameWords
    named: tuple[int, ...]
    members: tuple[int, ...]


def find_name_families(dag: Dag, order: FlowOrder, vocabulary: Vocabulary) -> list[NameFamily]:
    """Return families of names, coarsest first, that can be boxes of one level without a cycle."""
    words = [vocabulary.name_words(box.name) for box in dag.boxes]
    todo = next_word_families(words, NameFamily((), tuple(range(len(dag))), ()))
    good: list[NameFamily] = []
    for _ in range(MAX_NAME_DEPTH):
        later: list[NameFamily] = []
        taken = {box for named in good for box in named.members}
        equal = {id(named): family_pattern(dag, named) for named in todo if has_one_symbol(dag, named)}
        forms = Counter(filter(None, equal.values()))
        for named in todo:
            if id(named) in equal and not ((made := equal[id(named)]) and forms[made] >= MIN_SIBLING_FAMILIES):
                continue  # equal numbered boxes are a repeat, not a scope
            found = accept_family(dag, order, named, taken)
            if found:  # otherwise too large or not connected: try its next words
                good.append(found)
                taken.update(found.members)
            else:
                later += next_word_families(words, named)
        good = make_disjoint(good)
        # All together: two groups may each be convex and still feed each other.
        lying = families_on_cycles(dag, good)
        later += [finer for number in sorted(lying) for finer in next_word_families(words, good[number])]
        good = [named for number, named in enumerate(good) if number not in lying]
        if not later:
            break
        todo = later
    return good


def has_one_symbol(dag: Dag, named: NameFamily) -> bool:
    """Return whether all boxes of a family have equal structure."""
    return len({dag.boxes[number].symbol for number in named.named}) == 1


def family_pattern(dag: Dag, named: NameFamily) -> tuple[Collection[str], Collection[int]] | None:
    """Return the names of a small family without numbers, and its inputs; None if its names only differ in counters.

    `expert0_in`, `expert0_out` and `expert1_in`, `expert1_out` have one pattern.
    """
    if len(named.named) > MAX_STAR_MEMBERS:
        return None
    names = {COUNTING_LETTER.sub("#", name_form(strip_counters(dag.boxes[number].name))) for number in named.named}
    given = {source for number in named.named for source in dag.before[number]}.difference(named.named)
    return (frozenset(names), frozenset(given)) if len(names) == len(named.named) else None


def next_word_families(words: Sequence[NameWords], named: NameFamily) -> list[NameFamily]:
    """Return the families of the next word."""
    depth = len(named.words)
    filed: dict[NameWords, list[int]] = defaultdict(list)
    for box in named.named:
        if len(words[box]) > depth:
            filed[words[box][: depth + 1]].append(box)
    crowded = [(start, members) for start, members in filed.items() if len(members) > 1]  # only saves time
    return [
        NameFamily(prefix, tuple(of_next), tuple(of_next))
        for start, members in crowded
        for prefix, of_next in split_numbered(words, start, members)
    ]


def split_numbered(
    words: Sequence[NameWords], prefix: NameWords, members: list[int]
) -> list[tuple[NameWords, list[int]]]:
    """Split `dense_1/x, dense_1_2/x`: a number followed by the same words is a separate instance."""
    depth = len(prefix)
    by_next: dict[NameWords, list[int]] = defaultdict(list)
    for box in members:
        by_next[words[box][depth : depth + 1]].append(box)
    # e.g. below "dense_1": "2" of `dense_1_2/MatMul` is an instance if `dense_1/MatMul` has the same next words.
    numbers = dict.fromkeys(word for word in by_next if word and word[0].isdigit())
    own = [box for word, held in by_next.items() if word not in numbers for box in held]
    ours = {words[box][depth : depth + 1] for box in own}
    rest, split = list(own), []
    for number in numbers:
        theirs = {words[box][depth + 1 : depth + 2] for box in by_next[number]}
        both = len(ours & theirs)  # the size of the union, not the set: a level may have thousands of numbers and words
        if own and both >= MIN_INSTANCE_OVERLAP * max(1, len(ours) + len(theirs) - both):
            split.append((prefix + number, by_next[number]))
        else:
            rest += by_next[number]
    return [(prefix, sorted(rest)), *split]


def accept_family(dag: Dag, order: FlowOrder, named: NameFamily, taken: set[int]) -> NameFamily | None:
    """Return the family with the boxes it adopts, or None if it is not connected or most of the level; `taken` are
    boxes of other families."""
    if len(named.named) > MAX_FAMILY_SHARE * len(dag):
        return None
    members = adopt_unnamed_between(dag, order, named.named)
    if len(members) > len(named.named) and not taken.isdisjoint(members):
        members = named.named
    if len(members) > MAX_ADOPTING_SHARE * len(dag) or not is_connected(dag, members):
        return None
    return NameFamily(named.words, named.named, members)


def adopt_unnamed_between(dag: Dag, order: FlowOrder, members: tuple[int, ...]) -> tuple[int, ...]:
    """Adopt boxes on a path between members: activations without a name.

    Only if the stretch is not much longer than the group, and no more boxes than its members.
    """
    places = [order.place[box] for box in members]
    low, high = min(places), max(places)
    # Too long a stretch: more than unnamed activations.
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


def is_connected(dag: Dag, members: tuple[int, ...]) -> bool:
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


def make_disjoint(groups: list[NameFamily]) -> list[NameFamily]:
    """Keep each box in the first family that has it."""
    seen: set[int] = set()
    kept: list[NameFamily] = []
    for named in groups:
        members = tuple(box for box in named.members if box not in seen)
        seen.update(members)
        if len(members) > 1:
            kept.append(NameFamily(named.words, named.named, members))
    return kept


def families_on_cycles(dag: Dag, groups: list[NameFamily]) -> set[int]:
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
