"""Whether names say anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

DIGITS = re.compile(r"[0-9]+")
ENOUGH = 20  # fewer names say nothing about whether names mean anything
ALIKE = 0.9  # of all names of one form: they are numbers, not names


def nameless(names: Sequence[str]) -> bool:
    """Whether names are little else than numbers.

    >>> nameless([f"op_{at}" for at in range(30)]), nameless([f"op_{at}" for at in range(3)])
    (True, False)
    """
    forms = Counter(DIGITS.sub("#", name) for name in names)
    return len(names) > ENOUGH and max(forms.values()) > ALIKE * len(names)
