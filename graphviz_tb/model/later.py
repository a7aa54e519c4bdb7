"""Values that are worked out when they are first asked for, and functions that are imported when they are called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Generic, TypeVar

LaterValue = TypeVar("LaterValue")


def imported(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that is imported when it is first called: what a table lists takes longer to import than
    most pictures to draw.

    >>> imported("operator", "add")(1, 2)
    3
    """

    def call(*arguments: Any) -> Any:
        return getattr(import_module(module), name)(*arguments)

    call.__module__, call.__name__ = module, name
    return call


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
