"""Lazy values, bounded caches, functions imported on their first call, a pause of the garbage collector, and a budget
for scope names."""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Any, Generic, TypeVar

from graphviz_tb.model.frozen import dataclass

# Lazy values, bounded caches, and functions that are imported on their first call.

LazyResult = TypeVar("LazyResult")
CachedValue = TypeVar("CachedValue")


def import_on_call(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module when it is called: the modules of a table take longer to import than
    most pictures to draw.

    >>> import_on_call("operator", "add")(1, 2)
    3
    """

    def call(*arguments: Any) -> Any:
        return getattr(import_module(module), name)(*arguments)

    call.__module__, call.__name__ = module, name
    return call


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Disable the garbage collector: it would walk millions of strings again and again and find no cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Lazy(Generic[LazyResult]):
    """A value that is computed at the first call.

    >>> Lazy(lambda: 6 * 7)()
    42
    """

    def __init__(self, make: Callable[[], LazyResult]) -> None:
        self._make = make
        self._made: list[LazyResult] = []

    def __call__(self) -> LazyResult:
        if not self._made:
            self._made.append(self._make())
        return self._made[0]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value, since the function that makes it may not be picklable."""
        return lazy_constant, (self(),)


def lazy_constant(value: LazyResult) -> Lazy[LazyResult]:
    """Return a lazy value that is already computed."""
    later: Lazy[LazyResult] = Lazy(lambda: value)
    return later


class BoundedCache(Generic[CachedValue]):
    """A least-recently-used cache of `room` bytes, or of `room` values if no `size` function is given. Thread-safe.

    A `stamp` captures everything a value depends on that changes over time: a value with a different stamp is outdated.
    """

    def __init__(self, room: int, size: Callable[[CachedValue], int] = lambda value: 1) -> None:
        self.room, self.taken = room, 0
        self._size = size
        self._values: OrderedDict[Hashable, tuple[Hashable, CachedValue]] = OrderedDict()
        self._lock = Lock()  # threads make values

    def get(self, key: Hashable, stamp: Hashable) -> CachedValue | None:
        """Return the cached value; None if there is none with this stamp."""
        with self._lock:
            kept = self._values.get(key)
            if kept is None or kept[0] != stamp:
                return None
            self._values.move_to_end(key)
            return kept[1]

    def store(self, key: Hashable, stamp: Hashable, value: CachedValue) -> CachedValue:
        """Store a value if there is room for it, and return it."""
        with self._lock:
            if key in self._values:
                self.taken -= self._size(self._values.pop(key)[1])
            if self._size(value) <= self.room:
                self._values[key] = stamp, value
                self.taken += self._size(value)
            while self.taken > self.room:
                self.taken -= self._size(self._values.popitem(last=False)[1][1])
        return value


# A budget for scope names: each contains the names of its enclosing scopes, so depth alone could fill memory.

MAX_SCOPE_NAME_LETTERS = 300 << 20  # letters in total: 10,000 levels of six letters, or a million typical scopes
ESCAPED_LETTER_COST = 6  # JSON writes a non-ASCII or control letter as `\u0000`; in memory it may take four bytes


def _letter_cost(scope: str) -> int:
    """Return the cost of each letter of a name.

    >>> _letter_cost("layer_1/conv"), _letter_cost("couche_é"), _letter_cost("a\\x07")
    (1, 6, 6)
    """
    return 1 if scope.isascii() and scope.isprintable() else ESCAPED_LETTER_COST


@dataclass(slots=True)
class ScopeNameBudget:
    """The budget for names of scopes: `left` letters; `cut` counts names that were truncated."""

    left: int = MAX_SCOPE_NAME_LETTERS
    cut: int = 0

    def truncate(self, scope: str) -> str:
        """Truncate a scope's name to the prefix for which there is room, enclosing scopes included; "" if there is
        none.

        >>> ScopeNameBudget().truncate("a/b/c"), ScopeNameBudget(5).truncate("a/b/c"), ScopeNameBudget(0).truncate("a")
        ('a/b/c', 'a/b', '')
        """
        if (scope.count("/") + 1) * len(scope) * ESCAPED_LETTER_COST <= self.left:
            return scope
        left, start, fits = self.left // _letter_cost(scope), 0, 0
        while start < len(scope):
            end = scope.find("/", start)
            end = len(scope) if end < 0 else end
            left -= end
            if left < 0:
                break
            start, fits = end + 1, end
        self.cut += fits < len(scope)
        return scope[:fits]

    def spend(self, scope: str, around: Sequence[str]) -> None:
        """Spend the cost of a scope and its new enclosing scopes; `around` includes the scope itself."""
        self.left -= _letter_cost(scope) * sum(map(len, around))
