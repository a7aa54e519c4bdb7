"""Unknown numbers with an identity, so that a batch size that three tensors share is known to be one number.

A dimension, or an element of a small integer tensor, is an `int`. At or below `SYMBOL_LIMIT` it is a symbol for an
unknown number. Equal symbols are equal numbers; different symbols may be equal or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import gcd, prod
from typing import NamedTuple

from graphviz_tb.limits import CLAIMED_NUMBERS, MAX_FACTORS, Meter
from graphviz_tb.model.tensors import MAX_DIMENSIONS, MAX_OUTPUTS

SYMBOL_LIMIT = -(2**62)  # less than any size, and far from the limit of int64
MAX_CALCULATED = 2**62  # arithmetic of the graph would overflow beyond


def number_from_file(number: int) -> int:
    """Clamp a number of a file above the symbols.

    >>> number_from_file(-7), number_from_file(-(2**63)) > SYMBOL_LIMIT
    (-7, True)
    """
    return max(number, SYMBOL_LIMIT + 1)


def all_sizes_known(dims: Iterable[int] | None) -> bool:
    """Return whether all sizes are known.

    >>> all_sizes_known((2, 3)), all_sizes_known((2, SYMBOL_LIMIT)), all_sizes_known(None)
    (True, False, False)
    """
    return dims is not None and all(dim > SYMBOL_LIMIT for dim in dims)


def _floor(a: int, b: int) -> int | None:
    return a // b if b else None


def _truncate(a: int, b: int) -> int | None:
    return None if not b else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


SYMBOL_OPERATIONS: dict[str, Callable[..., int | None]] = {
    "add": lambda a, b: a + b,
    "floor": _floor,
    "truncate": _truncate,
    "ceil": lambda a, b: -(-a // b) if b else None,
    "mod": lambda a, b: a % b if b else None,
    "max": max,
    "min": min,
    "span": lambda start, stop, step: max(0, -(-(stop - start) // step)) if step else None,
}


SymbolRequest = tuple[list[int], int]  # new symbols, and the amount of claimed memory


class Symbols:
    """The symbols of a graph, and arithmetic with them. An expression of symbols is a symbol too; equal expressions are
    equal symbols.

    >>> symbols = Symbols()
    >>> batch = symbols.new_symbol()
    >>> flat = symbols.product([batch, 7, 7])
    >>> (
    ...     symbols.quotient([flat], [49]) == batch,
    ...     symbols.calculate("add", symbols.calculate("add", batch, 2), -2) == batch,
    ... )
    (True, True)
    >>> symbols.calculate("add", 2, 3), symbols.calculate("ceil", batch, 2) > SYMBOL_LIMIT
    (5, False)
    """

    def __init__(self) -> None:
        self._made: list[tuple[str, tuple[int, ...]] | None] = [None]  # the first means any number (engine.py)
        self._index: dict[tuple[str, tuple[int, ...]], int] = {}
        self._claimed = Meter(CLAIMED_NUMBERS)
        self._values: dict[int, dict[int, int]] = {}  # values of symbols (`evaluate`)
        self._batch: dict[int, bool] = {}  # symbols that follow from the batch alone (`follows_from_batch`)

    def new_symbol(self) -> int:
        """Return a new symbol: an unknown number."""
        self._made.append(None)
        return SYMBOL_LIMIT - (len(self._made) - 1)

    def new_batch(self) -> int:
        """Return a new symbol for a batch size, which costs replace by a chosen number."""
        symbol = self.new_symbol()
        self._batch[symbol] = True
        return symbol

    def follows_from_batch(self, number: int) -> bool:
        """Return whether a number is known, or follows from known numbers and batch sizes only.

        >>> symbols = Symbols()
        >>> batch, height = symbols.new_batch(), symbols.new_symbol()
        >>> (
        ...     symbols.follows_from_batch(symbols.product([batch, 7])),
        ...     symbols.follows_from_batch(symbols.product([batch, height])),
        ... )
        (True, False)
        """
        return number > SYMBOL_LIMIT or self.is_made_of(number, self._batch)

    def new_symbol_like(self, *numbers: int) -> int:
        """Return a new symbol in place of several numbers: a batch size if all of them are."""
        return self.new_batch() if all(self.follows_from_batch(number) for number in numbers) else self.new_symbol()

    def new_symbols(self, count: int) -> tuple[int, ...]:
        """Return `count` new symbols. Raises ValueError for more than any op has outputs or sizes."""
        if count > MAX_OUTPUTS:
            raise ValueError(f"{count} sizes")
        if count > MAX_DIMENSIONS:
            self.claim(count)
        return tuple(self.new_symbol() for _ in range(count))

    def claim_if_room(self, count: int) -> bool:
        """Claim memory for `count` numbers that a few bytes of a file ask for; return whether there is enough."""
        return self._claimed.take(count)

    @property
    def request_state(self) -> tuple[int, int]:
        """Return the number of symbols and the memory left, for `requests_since` and `undo_requests`."""
        return len(self._made), self._claimed.left

    def requests_since(self, asked: tuple[int, int]) -> SymbolRequest | None:
        """Return the requests since then: new symbols, and the amount of memory; None if expressions were made.

        >>> symbols = Symbols()
        >>> before, batch = symbols.request_state, symbols.new_batch()
        >>> symbols.requests_since(before) == ([batch], 0), symbols.requests_since(symbols.request_state)
        (True, ([], 0))
        >>> symbols.product([batch, 7]) and symbols.requests_since(before)
        """
        count, left = asked
        if any(made is not None for made in self._made[count:]):
            return None
        return [SYMBOL_LIMIT - number for number in range(count, len(self._made))], left - self._claimed.left

    def undo_requests(self, state: tuple[int, int]) -> None:
        """Forget the requests since then. Requires that none of the symbols is in use.

        >>> symbols = Symbols()
        >>> before = symbols.request_state
        >>> first = symbols.product([symbols.new_batch(), 7])
        >>> symbols.undo_requests(before)
        >>> symbols.product([symbols.new_batch(), 7]) == first
        True
        """
        count, self._claimed.left = state
        for number in range(count, len(self._made)):
            expression = self._made[number]
            if expression is not None:
                del self._index[expression]
            self._batch.pop(SYMBOL_LIMIT - number, None)
        del self._made[count:]

    def repeat_request(self, asked: SymbolRequest) -> dict[int, int] | None:
        """Repeat a request: return new symbols by the old ones; None if there is not enough memory."""
        made, claimed = asked
        if claimed and (claimed > self._claimed.left or not self.claim_if_room(claimed)):
            return None
        return {symbol: self.new_batch() if self._batch.get(symbol) else self.new_symbol() for symbol in made}

    @property
    def is_full(self) -> bool:
        """Return whether some numbers were not tracked because of the memory budget."""
        return self._claimed.spent

    def claim(self, count: int) -> None:
        """Claim memory for `count` sizes that an attribute asks for. Raises ValueError where there is not enough."""
        if not self.claim_if_room(count):
            raise ValueError(f"{count} sizes")

    def calculate(self, operation: str, *numbers: int) -> int:
        """Return the result of one of `SYMBOL_OPERATIONS`; a division by zero is unknown."""
        if all(number > SYMBOL_LIMIT for number in numbers):
            result = SYMBOL_OPERATIONS[operation](*numbers)
            return result if result is not None and -MAX_CALCULATED < result < MAX_CALCULATED else self.new_symbol()
        if operation == "add":
            return self._sum(*numbers)
        # n / 1, max(n, n), range(0, n, 1): n itself.
        if operation in ("floor", "ceil", "truncate") and numbers[1] == 1:
            return numbers[0]
        if operation in ("max", "min") and numbers[0] == numbers[1]:
            return numbers[0]
        if operation == "span" and numbers[0] == 0 and numbers[2] == 1:
            return numbers[1]
        return self._intern(operation, numbers)

    def _sum(self, a: int, b: int) -> int:
        """Add two numbers in the normal form `symbol + known`, so that adding and subtracting a number leaves the
        symbol."""
        if a > SYMBOL_LIMIT:
            a, b = b, a
        # (n + 2) - 2 is n: symbol and offset are separate.
        if b > SYMBOL_LIMIT:
            base, more = self._offset(a)
            if not -MAX_CALCULATED < more + b < MAX_CALCULATED:
                return self.new_symbol()
            return self._intern("add", (base, more + b)) if more + b else base
        # In sorted order, so that a + b and b + a are equal.
        return self._intern("add", (min(a, b), max(a, b)))

    def _offset(self, symbol: int) -> tuple[int, int]:
        made = self._made[SYMBOL_LIMIT - symbol]
        if made is not None and made[0] == "add":
            base, more = made[1]
            if more > SYMBOL_LIMIT:
                return base, more
        return symbol, 0

    def difference(self, a: int, b: int) -> int:
        if b > SYMBOL_LIMIT:
            return self.calculate("add", a, -b)
        if a == b:
            return 0
        if a <= SYMBOL_LIMIT:
            (base, more), (other, less) = self._offset(a), self._offset(b)
            if base == other:
                return more - less if -MAX_CALCULATED < more - less < MAX_CALCULATED else self.new_symbol()
        return self._intern("difference", (a, b))

    def product(self, numbers: Iterable[int]) -> int:
        """Return the product in a normal form: one known factor, then sorted symbols."""
        factor, symbols = self._factors(numbers)
        if not factor:
            return 0
        if abs(factor) >= MAX_CALCULATED:
            return self.new_symbol()
        if not symbols:
            return factor
        if factor == 1 and len(symbols) == 1:
            return symbols[0]
        return self._intern("product", (factor, *symbols))

    def _factors(self, numbers: Iterable[int]) -> tuple[int, list[int]]:
        given, every = list(numbers), list[int]()
        for number in given:
            made = self._made[SYMBOL_LIMIT - number] if number <= SYMBOL_LIMIT else None
            # A product of products is flat: 7 * (batch * 7) is 49 * batch.
            every += made[1] if made is not None and made[0] == "product" else (number,)
        if len(every) > MAX_FACTORS:
            every = given
        return prod(number for number in every if number > SYMBOL_LIMIT), sorted(n for n in every if n <= SYMBOL_LIMIT)

    def quotient(self, above: Iterable[int], below: Iterable[int]) -> int:
        """Return the quotient of two products, which must be an integer, as in a reshape."""
        (over, left), (under, right) = self._factors(above), self._factors(below)
        # Cancel common symbols, counted with multiplicity.
        above_only, below_only = Counter(left) - Counter(right), Counter(right) - Counter(left)
        left, right = list(above_only.elements()), list(below_only.elements())
        common = gcd(over, under) or 1  # gcd(0, 0) is 0
        over, under = over // common, under // common
        if under == 1 and not right:
            return self.product([over, *left])
        # A fraction of known numbers is not a size.
        if not under or (not left and not right):
            return self.new_symbol()
        return self._intern("quotient", (self.product([over, *left]), self.product([under, *right])))

    def _intern(self, operation: str, numbers: tuple[int, ...]) -> int:
        key = (operation, numbers)
        symbol = self._index.get(key)
        if symbol is None:
            symbol = self._index[key] = SYMBOL_LIMIT - len(self._made)
            self._made.append(key)
        return symbol

    def is_made_of(self, symbol: int, decided: dict[int, bool]) -> bool:
        """Return whether a symbol is built from known numbers and symbols that `decided` accepts. Stores the answer for
        all parts of the symbol in `decided`."""
        for current in self._parts_first(symbol, decided):
            made = self._made[SYMBOL_LIMIT - current]
            decided[current] = made is not None and all(decided[part] for part in made[1] if part <= SYMBOL_LIMIT)
        return decided[symbol]

    def evaluate(self, symbol: int, number: int) -> int:
        """Evaluate a symbol with `number` in place of every unknown number.

        >>> symbols = Symbols()
        >>> symbols.evaluate(symbols.calculate("add", symbols.product([symbols.new_symbol(), 7]), 1), 2)
        15
        """
        values = self._values.setdefault(number, {})  # cached: sizes along a chain are expressions of earlier sizes
        for current in self._parts_first(symbol, values):
            expression = self._made[SYMBOL_LIMIT - current]
            if expression is None:
                values[current] = number
                continue
            operation, parts = expression
            numbers = [values.get(part, part) for part in parts]
            # Bounded: a square of squares has twice as many digits each time.
            values[current] = max(-MAX_CALCULATED, min(_evaluate(operation, numbers, number), MAX_CALCULATED))
        return values[symbol]

    def _parts_first(self, symbol: int, known: Mapping[int, object]) -> Iterator[int]:
        """Yield a symbol and its parts, each after its own parts, skipping known ones; the caller must add each to
        `known`."""
        waiting = [symbol]  # expressions may be nested deeper than Python recurses
        while waiting:
            if waiting[-1] in known:
                waiting.pop()
                continue
            made = self._made[SYMBOL_LIMIT - waiting[-1]]
            if missing := [part for part in (made[1] if made else ()) if part <= SYMBOL_LIMIT and part not in known]:
                waiting += missing
            else:
                yield waiting.pop()


def _evaluate(operation: str, numbers: list[int], otherwise: int) -> int:
    """Return the value of an expression of known numbers."""
    if operation == "product":
        return prod(numbers)
    if operation == "difference":
        return numbers[0] - numbers[1]
    if operation == "quotient":
        return numbers[0] // numbers[1] if numbers[1] else otherwise
    value = SYMBOL_OPERATIONS[operation](*numbers)
    return otherwise if value is None else value


Dims = tuple[int, ...] | None  # sizes and symbols; None: unknown rank
Elements = tuple[int, ...]  # the elements of a small integer tensor, row by row


class Out(NamedTuple):  # a NamedTuple, since a frozen dataclass takes three times as long to create
    """One output: its shape, its elements if it is a small integer tensor, and the shape `held` by a handle.

    A handle holds the value of a variable, the elements of a list or an array, or the element of a queue.
    """

    shape: Dims = None
    value: Elements | None = None
    held: Dims = None


UNKNOWN_OUTPUT = Out()


def rename_output_symbols(outs: tuple[Out, ...], names: Mapping[int, int]) -> tuple[Out, ...]:
    """Return outputs with some symbols replaced.

    >>> rename_output_symbols((Out((SYMBOL_LIMIT - 1, 3)),), {SYMBOL_LIMIT - 1: SYMBOL_LIMIT - 2}) == (
    ...     Out((SYMBOL_LIMIT - 2, 3)),
    ... )
    True
    """
    return tuple(
        [Out(*[None if dims is None else tuple([names.get(n, n) for n in dims]) for dims in out]) for out in outs]
    )


class Contradiction(ValueError):
    """Raised for two statements about one tensor that cannot both be true."""


def merge_dims(a: Dims, b: Dims) -> Dims:
    """Return the dimensions of a tensor that has both shapes. Raises Contradiction if that is impossible.

    >>> merge_dims((2, SYMBOL_LIMIT), (SYMBOL_LIMIT, 3)), merge_dims(None, (1,))
    ((2, 3), (1,))
    """
    if a is None or b is None or a == b:
        return b if a is None else a
    if len(a) != len(b):
        raise Contradiction
    return tuple(merge_sizes(mine, other) for mine, other in zip(a, b, strict=True))


def merge_sizes(a: int, b: int) -> int:
    """Return the number that equals both."""
    if a <= SYMBOL_LIMIT:
        return b if b > SYMBOL_LIMIT else a
    if b > SYMBOL_LIMIT and a != b:
        raise Contradiction
    return a


def _join_dims(a: Dims, b: Dims, symbols: Symbols) -> Dims:
    """Return the dimensions of a tensor that has one shape or the other: new symbols for sizes that differ.

    >>> _join_dims((2, 5), (3, 5), Symbols())[1], _join_dims((1,), (1, 1), Symbols())
    (5, None)
    """
    if a == b:
        return a
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(mine if mine == other else _join_sizes(mine, other, symbols) for mine, other in zip(a, b, strict=True))


def _join_sizes(a: int, b: int, symbols: Symbols) -> int:
    """Return a new symbol for a number that is one or the other."""
    return symbols.new_symbol_like(a, b) if a <= SYMBOL_LIMIT and b <= SYMBOL_LIMIT else symbols.new_symbol()


def join_outputs(a: Out, b: Out, symbols: Symbols) -> Out:
    """Return the common part of two outputs: sizes, and elements if the shapes are equal."""
    if a == b:
        return a
    value = None
    # Elements are compared one by one only where the shapes are equal.
    if a.value is not None and b.value is not None and a.shape == b.shape and len(a.value) == len(b.value):
        value = _join_dims(a.value, b.value, symbols)
    return Out(_join_dims(a.shape, b.shape, symbols), value, _join_dims(a.held, b.held, symbols))


def broadcast_dims(a: Dims, b: Dims, symbols: Symbols) -> Dims:
    """Return the shape of an elementwise op of two operands.

    >>> broadcast_dims((2, 1), (3,), Symbols())
    (2, 3)
    """
    if a is None or b is None:
        return None
    if a == b:
        return a
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    return (*a[:lead], *(_broadcast_size(mine, other, symbols) for mine, other in zip(a[lead:], b, strict=True)))


def _broadcast_size(a: int, b: int, symbols: Symbols) -> int:
    """Return the size of one broadcast dimension: 1 gives way; if neither is 1, both are the known size."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if a <= SYMBOL_LIMIT and b <= SYMBOL_LIMIT:
        return symbols.new_symbol_like(a, b)
    if a > SYMBOL_LIMIT and b > SYMBOL_LIMIT:
        raise Contradiction
    return max(a, b)  # a known size and a symbol, which is at or below HIDDEN: the known size
