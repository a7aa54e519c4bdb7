"""Scopes that nobody wrote: names that begin alike become groups where the flow allows it.

A group of names is taken if it is connected, and if all groups that are taken can be drawn as boxes without a
cycle; otherwise the groups of the next word are tried.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from graphviz_tb.algorithms.components import weak_components
from graphviz_tb.group.flow.dag import Dag, circles
from graphviz_tb.group.flow.order import FlowOrder
from graphviz_tb.group.flow.titles import uncounted
from graphviz_tb.group.flow.words import NameWords, Vocabulary, form
from graphviz_tb.model.frozen import dataclass

ROUNDS = 40  # words of a name; deeper names are tried no further
# With what it adopts a group may be larger, but less than the level: else folding inside it would never end.
MOST_OF, WITH_ADOPTED = 0.8, 0.9  # of a level: a group that large says nothing
INSTANCE = 0.6  # of the next words in common: a numbered name is a separate instance
LETTER = re.compile(r"#[a-z](?![a-z])")  # that counts behind a number: "stage0a"
SIBLINGS = 2  # families of one make beside each other, as experts are: equal layers in each are no repeat
STAR = 12  # members that may hang together by common neighbours only


@dataclass(frozen=True, slots=True)
class NameFamily:
    """Boxes whose names begin with `words`; `members` has those adopted from between them too."""

    words: NameWords
    named: tuple[int, ...]
    members: tuple[int, ...]


def name_groups(dag: Dag, order: FlowOrder, vocabulary: Vocabulary) -> list[NameFamily]:
    """Return groups by name, coarsest first, that can be side by side without a cycle."""
    words = [vocabulary.words(box.name) for box in dag.boxes]
    todo = below(words, NameFamily((), tuple(range(len(dag))), ()))
    good: list[NameFamily] = []
    for _ in range(ROUNDS):
        later: list[NameFamily] = []
        taken = {box for named in good for box in named.members}
        equal = {id(named): make(dag, named) for named in todo if one_symbol(dag, named)}
        forms = Counter(filter(None, equal.values()))
        for named in todo:
            if id(named) in equal and not ((made := equal[id(named)]) and forms[made] >= SIBLINGS):
                continue  # numbered equals are a repeat, not a scope
            found = accepted(dag, order, named, taken)
            if found:  # else too large, or in several pieces: its next words are tried
                good.append(found)
                taken.update(found.members)
            else:
                later += below(words, named)
        good = disjoint(good)
        # All together: two groups may each be convex and still lead into each other.
        lying = in_circles(dag, good)
        later += [finer for number in sorted(lying) for finer in below(words, good[number])]
        good = [named for number, named in enumerate(good) if number not in lying]
        if not later:
            break
        todo = later
    return good


def one_symbol(dag: Dag, named: NameFamily) -> bool:
    """Whether all boxes of a family are of equal structure."""
    return len({dag.boxes[number].symbol for number in named.named}) == 1


def make(dag: Dag, named: NameFamily) -> tuple[Collection[str], Collection[int]] | None:
    """The names of a small family without numbers, and what it is given: `expert0_in`, `expert0_out` and `expert1_in`,
    `expert1_out` are of one make. None where its own names differ in numbers, or letters that count, alone."""
    if len(named.named) > STAR:
        return None
    names = {LETTER.sub("#", form(uncounted(dag.boxes[number].name))) for number in named.named}
    given = {source for number in named.named for source in dag.before[number]}.difference(named.named)
    return (frozenset(names), frozenset(given)) if len(names) == len(named.named) else None


def below(words: Sequence[NameWords], named: NameFamily) -> list[NameFamily]:
    """The groups of the next word."""
    depth = len(named.words)
    filed: dict[NameWords, list[int]] = defaultdict(list)
    for box in named.named:
        if len(words[box]) > depth:
            filed[words[box][: depth + 1]].append(box)
    crowded = [(start, members) for start, members in filed.items() if len(members) > 1]  # only saves time
    return [
        NameFamily(prefix, tuple(of_next), tuple(of_next))
        for start, members in crowded
        for prefix, of_next in instances(words, start, members)
    ]


def instances(words: Sequence[NameWords], prefix: NameWords, members: list[int]) -> list[tuple[NameWords, list[int]]]:
    """Split `dense_1/x, dense_1_2/x`: a number that is followed by the same words is a separate instance."""
    depth = len(prefix)
    by_next: dict[NameWords, list[int]] = defaultdict(list)
    for box in members:
        by_next[words[box][depth : depth + 1]].append(box)
    # e.g. below "dense_1": "2" of `dense_1_2/MatMul` is an instance where `dense_1/MatMul` has the same next words.
    numbers = dict.fromkeys(word for word in by_next if word and word[0].isdigit())
    own = [box for word, held in by_next.items() if word not in numbers for box in held]
    ours = {words[box][depth : depth + 1] for box in own}
    rest, split = list(own), []
    for number in numbers:
        theirs = {words[box][depth + 1 : depth + 2] for box in by_next[number]}
        both = len(ours & theirs)  # the union is counted, not made: a level may have thousands of numbers and of words
        if own and both >= INSTANCE * max(1, len(ours) + len(theirs) - both):
            split.append((prefix + number, by_next[number]))
        else:
            rest += by_next[number]
    return [(prefix, sorted(rest)), *split]


def accepted(dag: Dag, order: FlowOrder, named: NameFamily, taken: set[int]) -> NameFamily | None:
    """Return the group with the boxes it adopts, if it is connected and only a part of the level, else None; `taken`
    are the boxes of other groups."""
    if len(named.named) > MOST_OF * len(dag):
        return None
    members = with_between(dag, order, named.named)
    if len(members) > len(named.named) and not taken.isdisjoint(members):
        members = named.named
    if len(members) > WITH_ADOPTED * len(dag) or not hangs_together(dag, members):
        return None
    return NameFamily(named.words, named.named, members)


def with_between(dag: Dag, order: FlowOrder, members: tuple[int, ...]) -> tuple[int, ...]:
    """Adopt what is on a path between members: activations without a name.

    Only if the stretch is not much longer than the group, and no more than its members.
    """
    places = [order.place[box] for box in members]
    low, high = min(places), max(places)
    # In so long a stretch of the flow there is more between the members than nameless activations.
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


def hangs_together(dag: Dag, members: tuple[int, ...]) -> bool:
    """Whether members are connected; in small groups a common neighbour connects too."""
    place_of = {box: place for place, box in enumerate(members)}
    pairs: list[tuple[int, int]] = []
    common: dict[tuple[bool, int], int] = {}
    for box, place in place_of.items():
        for before, others in ((True, dag.before[box]), (False, dag.after[box])):
            for other in others:
                if other in place_of:
                    pairs.append((place, place_of[other]))
                elif len(members) <= STAR:
                    # The first that has this neighbour.
                    pairs.append((place, common.setdefault((before, other), place)))
    return len(weak_components(len(members), pairs)) == 1


def disjoint(groups: list[NameFamily]) -> list[NameFamily]:
    """Each box stays in the first group that has it."""
    seen: set[int] = set()
    kept: list[NameFamily] = []
    for named in groups:
        members = tuple(box for box in named.members if box not in seen)
        seen.update(members)
        if len(members) > 1:
            kept.append(NameFamily(named.words, named.named, members))
    return kept


def in_circles(dag: Dag, groups: list[NameFamily]) -> set[int]:
    """Return the groups that would be on a cycle if all were drawn as boxes."""
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
    return {box - len(dag) for members in circles([sorted(out) for out in after]) for box in members if box >= len(dag)}
