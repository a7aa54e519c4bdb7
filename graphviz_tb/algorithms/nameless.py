"""Detect names that are little more than numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

DIGITS = re.compile(r"[0-9]+")
ENOUGH = 20  # with fewer names there is no verdict
ALIKE = 0.9  # share of names that differ in digits only


def nameless(names: Iterable[str], count: int) -> bool:
    """Return whether `count` names are little more than numbers; stop reading `names` as soon as that is certain.

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
        if count - (seen - most) <= ALIKE * count:  # too many differ, even if all further names had one form
            return False
    return True
