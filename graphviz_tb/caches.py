"""Lazy values, bounded caches, functions imported and patterns compiled on their first use, and a pause of the garbage
collector."""

from __future__ import annotations

import gc
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import Any, AnyStr, Generic, TypeVar, cast

LazyResult = TypeVar("LazyResult")
CachedValue = TypeVar("CachedValue")


def import_on_call(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module when it is called, since importing all modules of a table takes longer
    than drawing most pictures.

    >>> import_on_call("operator", "add")(1, 2)
    3
    """

    def call(*arguments: Any) -> Any:
        return getattr(import_module(module), name)(*arguments)

    call.__module__, call.__name__ = module, name
    return call


class PatternOnUse:
    """A regular expression that is compiled when a method is first called; see `compile_on_use`."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name == "compiled":
            self.compiled = re.compile(self._source, self._flags)
            return self.compiled
        method = getattr(self.compiled, name)
        setattr(self, name, method)  # found without `__getattr__` from now on
        return method


def compile_on_use(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled on its first use. Most pictures use half of the patterns, and compiling the
    rest takes longer than placing the boxes.

    >>> word = compile_on_use("[a-z]+")
    >>> word.sub("x", "one 2"), word.pattern
    ('x 2', '[a-z]+')
    """
    return cast(re.Pattern[AnyStr], PatternOnUse(source, flags))


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Disable the garbage collector, which would walk millions of strings again and again and find no cycle."""
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
