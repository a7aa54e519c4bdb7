"""A value that is worked out when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

LaterValue = TypeVar("LaterValue")


class Later(Generic[LaterValue]):
    """Call it for its value, which is worked out once.

    >>> Later(lambda: 6 * 7)()
    42
    """

    def __init__(self, make: Callable[[], LaterValue]) -> None:
        self._make = make
        self._made: list[LaterValue] = []

    def __call__(self) -> LaterValue:
        if not self._made:
            self._made.append(self._make())
        return self._made[0]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value: the function that makes it need not be picklable."""
        return made, (self(),)


def made(value: LaterValue) -> Later[LaterValue]:
    """One whose value is there."""
    later: Later[LaterValue] = Later(lambda: value)
    return later
