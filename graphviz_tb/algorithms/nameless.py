"""Detect names that are little more than numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

NUMBER_IN_NAME = re.compile(r"[0-9]+")
MIN_JUDGED_NAMES = 20  # with fewer names there is no verdict
SAME_FORM_SHARE = 0.9  # share of names that differ in digits only


def are_names_numbers(names: Iterable[str], count: int) -> bool:
    """Return whether `count` names are little more than numbers; stop reading `names` as soon as that is certain.

    >>> are_names_numbers([f"op_{at}" for at in range(30)], 30), are_names_numbers([f"op_{at}" for at in range(3)], 3)
    (True, False)
    """
    if count <= MIN_JUDGED_NAMES:
        return False
    forms: Counter[str] = Counter()
    most = 0
    for seen, name in enumerate(names, 1):
        form = NUMBER_IN_NAME.sub("#", name)
        forms[form] += 1
        most = max(most, forms[form])
        if count - (seen - most) <= SAME_FORM_SHARE * count:  # too many differ, even if all further names had one form
            return False
    return True
