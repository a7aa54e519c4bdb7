"""A mapping that works out a value when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

LazyValue = TypeVar("LazyValue")


class Lazily(Mapping[int, LazyValue], Generic[LazyValue]):
    """Values by number: the keys are known, `tell` gives the value of one and is asked once for each.

    >>> squares = Lazily(range(3), lambda number: number * number)
    >>> squares[2], squares.get(3), len(squares)
    (4, None, 3)
    """

    def __init__(self, keys: Iterable[int], tell: Callable[[int], LazyValue]) -> None:
        self._known: dict[int, LazyValue | None] = dict.fromkeys(keys)  # None: not asked for yet
        self._tell = tell

    def __getitem__(self, key: int) -> LazyValue:
        value = self._known[key]
        if value is None:
            value = self._known[key] = self._tell(key)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all values: how to tell them need not be picklable."""
        return dict, (dict(self),)

    def get(self, key: int, default: Any = None) -> Any:
        """The value of `key`, or `default`; most of those who ask for a number ask in vain."""
        return self[key] if key in self._known else default

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def __iter__(self) -> Iterator[int]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
