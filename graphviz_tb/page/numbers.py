"""Numbers as JSON holds them."""

from __future__ import annotations

SAFE = 2**53  # whole numbers up to here are exact as a double


def whole(number: int | None) -> int | str | None:
    """A whole number as JSON holds it; one that a double cannot hold is a text.

    >>> whole(7), whole(2**60)
    (7, '1152921504606846976')
    """
    return number if number is None or -SAFE <= number <= SAFE else str(number)


def finite(number: float | None) -> float | str | None:
    """A number as JSON holds it; one that is not finite is a text.

    >>> finite(0.5), finite(float("-inf"))
    (0.5, '-Infinity')
    """
    if number is None or number - number == 0:
        return number
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"
