"""Addresses of groups: unique on their level and made from the group's content, so that edits elsewhere change none.

A group has its name alone if no other group and no child has it. Several groups of one name add more, until all differ:
what they end with, what they begin with, how many children they hold; at last a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from graphviz_tb.group.flow.box import FlowBox
from graphviz_tb.group.flow.guard import rows_inside
from graphviz_tb.group.flow.titles import NUMBER_RANGE
from graphviz_tb.model.hierarchy import GroupOrigin

AddressForm = Callable[[FlowBox], str]


def stack_ends_text(box: FlowBox) -> str:
    """Return the first and last row of a stack without a range in its name; "" for any other group."""
    repeated = (box.is_repetition or box.how == GroupOrigin.SEGMENT) and not NUMBER_RANGE.search(box.name)
    return f"{box.first_row().name} → {box.last_row().name}" if repeated else ""


ADDRESS_FORMS: tuple[AddressForm, ...] = (
    lambda box: box.name,
    lambda box: (
        box.name if box.last_row().name == box.name else f"{box.name} ({stack_ends_text(box) or box.last_row().name})"
    ),
    lambda box: f"{box.name} ({box.first_row().name} → {box.last_row().name})",
    lambda box: f"{box.name} ({box.first_row().name} → {box.last_row().name}, {len(rows_inside(box))})",
)
FIRST_ADDRESS_NUMBER = 2  # first number, as in a series


def group_addresses(boxes: Sequence[FlowBox], children: Iterable[str]) -> dict[int, str]:
    """Return the address of each group of a level, by `id`; names and labels of its `children` are taken.

    Groups that no form distinguishes are numbered.
    """
    address_of: dict[int, str] = {}
    taken = set(children)
    left = list(boxes)
    for say in ADDRESS_FORMS:
        said = [say(box).replace("/", "|") for box in left]  # a "/" would look like a scope of the file
        count = Counter(said)
        alone = [name not in taken and count[name] == 1 for name in said]
        address_of.update((id(box), name) for box, name, is_alone in zip(left, said, alone, strict=True) if is_alone)
        # An ambiguous form is nobody's address, in later rounds too.
        taken.update(said)
        left = [box for box, is_alone in zip(left, alone, strict=True) if not is_alone]
    following: dict[str, int] = {}  # next number by name: thousands may share one
    for box in left:
        word = name_for_address(box)
        number = following.get(word, FIRST_ADDRESS_NUMBER)
        while (name := f"{word} ({number})") in taken:
            number += 1
        following[word] = number + 1
        taken.add(name)
        address_of[id(box)] = name
    return address_of


def name_for_address(box: FlowBox) -> str:
    """Return the name of a group as part of an address."""
    return box.name.replace("/", "|")
