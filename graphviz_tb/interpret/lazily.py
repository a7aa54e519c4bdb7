"""A mapping that computes its values on first access."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

LazyValue = TypeVar("LazyValue")


class LazyMapping(Mapping[int, LazyValue], Generic[LazyValue]):
    """Values by number: the keys are known, `tell` is called once per key, on first access.

    >>> squares = LazyMapping(range(3), lambda number: number * number)
    >>> squares[2], squares.get(3), len(squares)
    (4, None, 3)
    """

    def __init__(self, keys: Iterable[int], tell: Callable[[int], LazyValue]) -> None:
        self._known: dict[int, LazyValue | None] = dict.fromkeys(keys)  # None: not computed yet
        self._tell = tell

    def __getitem__(self, key: int) -> LazyValue:
        value = self._known[key]
        if value is None:
            value = self._known[key] = self._tell(key)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all values as a dict: `tell` need not be picklable."""
        return dict, (dict(self),)

    def get(self, key: int, default: Any = None) -> Any:
        """Return the value of `key`, or `default`; most lookups are misses."""
        return self[key] if key in self._known else default

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def __iter__(self) -> Iterator[int]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
