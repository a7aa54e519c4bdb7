"""Addresses of groups: unique on their level, made of the contents of each group: an edit elsewhere changes none.

A group has its name alone if no other and no child has it. Of several with one name each says more: what it ends
with, what it begins with too, how many children it holds; whatever distinguishes all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from graphviz_tb.group.flow.box import FlowBox
from graphviz_tb.group.flow.guard import leaves
from graphviz_tb.group.flow.titles import RANGE
from graphviz_tb.model.hierarchy import How

Say = Callable[[FlowBox], str]


def between(box: FlowBox) -> str:
    """The first and the last row of a stack that has no range in its name; "" for another group, which may end where a
    stack does."""
    repeated = (box.stack or box.how == How.SEGMENT) and not RANGE.search(box.name)
    return f"{box.first().name} → {box.last().name}" if repeated else ""


SAYINGS: tuple[Say, ...] = (
    lambda box: box.name,
    lambda box: box.name if box.last().name == box.name else f"{box.name} ({between(box) or box.last().name})",
    lambda box: f"{box.name} ({box.first().name} → {box.last().name})",
    lambda box: f"{box.name} ({box.first().name} → {box.last().name}, {len(leaves(box))})",
)
FIRST_AGAIN = 2  # the first that gets a number, as in a series


def addresses(boxes: Sequence[FlowBox], children: Iterable[str]) -> dict[int, str]:
    """The address of each group of a level, by `id`; names and labels of its `children` are taken.

    Groups that no saying distinguishes, which takes names made for it, are counted.
    """
    address_of: dict[int, str] = {}
    taken = set(children)
    left = list(boxes)
    for say in SAYINGS:
        said = [say(box).replace("/", "|") for box in left]  # a "/" would read as a scope of the file
        count = Counter(said)
        alone = [name not in taken and count[name] == 1 for name in said]
        address_of.update((id(box), name) for box, name, is_alone in zip(left, said, alone, strict=True) if is_alone)
        # What several could be called is nobody's address, nor one that a later saying may give.
        taken.update(said)
        left = [box for box, is_alone in zip(left, alone, strict=True) if not is_alone]
    following: dict[str, int] = {}  # by name the number after the last one given: thousands may have one name
    for box in left:
        word = said_last(box)
        number = following.get(word, FIRST_AGAIN)
        while (name := f"{word} ({number})") in taken:
            number += 1
        following[word] = number + 1
        taken.add(name)
        address_of[id(box)] = name
    return address_of


def said_last(box: FlowBox) -> str:
    """The name of a group as part of an address."""
    return box.name.replace("/", "|")
