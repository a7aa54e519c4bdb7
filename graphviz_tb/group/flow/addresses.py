"""Addresses of groups: unique on their level and made from the group's content, so that edits elsewhere change none.

A group has its name alone if no other group and no child has it. Several groups of one name add more, until all differ:
what they end with, what they begin with, how many children they hold; at last a number.
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
    """Return the first and last row of a stack without a range in its name; "" for any other group."""
    repeated = (box.stack or box.how == How.SEGMENT) and not RANGE.search(box.name)
    return f"{box.first().name} → {box.last().name}" if repeated else ""


SAYINGS: tuple[Say, ...] = (
    lambda box: box.name,
    lambda box: box.name if box.last().name == box.name else f"{box.name} ({between(box) or box.last().name})",
    lambda box: f"{box.name} ({box.first().name} → {box.last().name})",
    lambda box: f"{box.name} ({box.first().name} → {box.last().name}, {len(leaves(box))})",
)
FIRST_AGAIN = 2  # first number, as in a series


def addresses(boxes: Sequence[FlowBox], children: Iterable[str]) -> dict[int, str]:
    """Return the address of each group of a level, by `id`; names and labels of its `children` are taken.

    Groups that no form distinguishes are numbered.
    """
    address_of: dict[int, str] = {}
    taken = set(children)
    left = list(boxes)
    for say in SAYINGS:
        said = [say(box).replace("/", "|") for box in left]  # a "/" would look like a scope of the file
        count = Counter(said)
        alone = [name not in taken and count[name] == 1 for name in said]
        address_of.update((id(box), name) for box, name, is_alone in zip(left, said, alone, strict=True) if is_alone)
        # An ambiguous form is nobody's address, in later rounds too.
        taken.update(said)
        left = [box for box, is_alone in zip(left, alone, strict=True) if not is_alone]
    following: dict[str, int] = {}  # next number by name: thousands may share one
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
    """Return the name of a group as part of an address."""
    return box.name.replace("/", "|")
