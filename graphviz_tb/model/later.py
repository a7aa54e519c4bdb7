"""Values that are worked out when they are first asked for, or kept as far as there is room, and functions that are
imported when they are called."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from importlib import import_module
from threading import Lock
from typing import Any, Generic, TypeVar

LaterValue = TypeVar("LaterValue")
Value = TypeVar("Value")


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


class KeptValues(Generic[Value]):
    """Values of `room` bytes together, or so many of them where no `size` is given, one for each key; those that were
    asked for least recently go first. May be used by several threads.

    A `stamp` is all that a value depends on that changes with time: a value of another stamp is outdated.
    """

    def __init__(self, room: int, size: Callable[[Value], int] = lambda value: 1) -> None:
        self.room, self.taken = room, 0
        self._size = size
        self._values: OrderedDict[Hashable, tuple[Hashable, Value]] = OrderedDict()
        self._lock = Lock()  # threads make values

    def get(self, key: Hashable, stamp: Hashable) -> Value | None:
        """The value that was kept."""
        with self._lock:
            kept = self._values.get(key)
            if kept is None or kept[0] != stamp:
                return None
            self._values.move_to_end(key)
            return kept[1]

    def put(self, key: Hashable, stamp: Hashable, value: Value) -> Value:
        """Keep a value, as far as there is room."""
        with self._lock:
            if key in self._values:
                self.taken -= self._size(self._values.pop(key)[1])
            if self._size(value) <= self.room:
                self._values[key] = stamp, value
                self.taken += self._size(value)
            while self.taken > self.room:
                self.taken -= self._size(self._values.popitem(last=False)[1][1])
        return value
