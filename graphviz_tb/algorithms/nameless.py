"""Whether names say anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

DIGITS = re.compile(r"[0-9]+")
ENOUGH = 20  # fewer names say nothing about whether names mean anything
ALIKE = 0.9  # of all names of one form: they are numbers, not names


def nameless(names: Iterable[str], count: int) -> bool:
    """Whether `count` names are little else than numbers; they are looked at until that is plain.

    >>> nameless([f"op_{at}" for at in range(30)], 30), nameless([f"op_{at}" for at in range(3)], 3)
    (True, False)
    """
    if count <= ENOUGH:
        return False
    forms: Counter[str] = Counter()
    most = 0
    for seen, name in enumerate(names, 1):
        form = DIGITS.sub("#", name)
        forms[form] += 1
        most = max(most, forms[form])
        if count - (seen - most) <= ALIKE * count:  # too many differ, even if all names to come were alike
            return False
    return True
