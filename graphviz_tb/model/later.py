"""A value that is worked out when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Later(Generic[Value]):
    """Call it for its value, which is worked out once.

    >>> Later(lambda: 6 * 7)()
    42
    """

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make = make
        self._made: list[Value] = []

    def __call__(self) -> Value:
        if not self._made:
            self._made.append(self._make())
        return self._made[0]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value: the function that makes it need not be picklable."""
        return made, (self(),)


def made(value: Value) -> Later[Value]:
    """One whose value is there."""
    later: Later[Value] = Later(lambda: value)
    return later
