"""Costs of ops (parameters, multiply-adds, floating point operations, bytes), by op and for every group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from numbers import Integral
from operator import add, attrgetter, mul
from typing import Any

import numpy as np

from graphviz_tb.errors import RequestError, check_choice, require_type
from graphviz_tb.limits import MAX_QUANTITY
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.frozen import dataclass

COST_ROLES = ("forward", "gradient", "optimizer")


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one op, or of several together. After: no quantity is above `MAX_QUANTITY`."""

    parameters: int = 0  # elements of weights
    macs: int = 0  # multiply-adds
    flops: int = 0  # floating point operations; a multiply-add is two
    activation_bytes: int = 0  # size of the outputs
    weight_bytes: int = 0  # size of the parameters
    # Ops that these numbers leave out or estimate.
    uncounted: int = 0  # ops without a rule that counts their operations
    guessed: int = 0  # ops with an unknown size, which counts as the batch
    unsized: int = 0  # weights of unknown size
    copied: int = 0  # elements of averages and of copies of parameters
    unshaped: int = 0  # ops with an output of unknown rank, or of an unknown size that is not the batch
    partial: int = 0  # ops of which a part is not counted: an unknown size, or a loop of unknown length
    non_trainable: int = 0  # parameters that are not trained
    undecided: int = 0  # weights that may or may not be trained
    doubtful: int = 0  # constants, and ops of unknown types, that may hold parameters that are not counted
    branched: int = 0  # calls that run one of several unequal branches: the most expensive counts
    repeated: int = 0  # elements that may be a second copy of another weight

    def __post_init__(self) -> None:
        # Too large a number is rare: loop over the names only then.
        if max(self.parameters, self.macs, self.flops, self.activation_bytes, self.weight_bytes) > MAX_QUANTITY:
            for name in COST_QUANTITIES:
                object.__setattr__(self, name, min(MAX_QUANTITY, getattr(self, name)))

    def __add__(self, other: Cost) -> Cost:
        return Cost(*map(add, COST_VALUES(self), COST_VALUES(other)))

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in COST_QUANTITIES)

    def as_dict(self) -> dict[str, int]:
        """Return the quantities by name."""
        return {name: getattr(self, name) for name in COST_QUANTITIES}

    def repeat(self, times: int) -> Cost:
        """Return the cost of `times` runs; weights count once.

        >>> cost = Cost(parameters=7, flops=3, uncounted=1).repeat(20)
        >>> cost.parameters, cost.flops, cost.uncounted
        (7, 60, 1)
        """
        done = (times * self.macs, times * self.flops, times * self.activation_bytes)
        return Cost(self.parameters, *done, *COST_VALUES(self)[4:])

    def gap_counts(self, quantity: str) -> dict[str, int]:
        """Return the counts of missing, guessed or doubly counted parts of a quantity, by name of the count.

        >>> Cost(uncounted=2).gap_counts("flops")
        {'uncounted': 2, 'guessed': 0, 'partial': 0, 'branched': 0}
        """
        counts = {*GAPS_OF_QUANTITY[quantity], *(() if quantity in WEIGHT_QUANTITIES else ("guessed",))}
        counts |= {*EXCESS_OF_QUANTITY[quantity]}
        return {name: getattr(self, name) for name in COST_FIELDS if name in counts}

    def lower_bounds(self) -> tuple[str, ...]:
        """Return the quantities that are only lower bounds.

        >>> Cost(flops=12, uncounted=1).lower_bounds(), Cost(parameters=7).lower_bounds()
        (('macs', 'flops'), ())
        """
        return tuple(name for name in COST_QUANTITIES if self.is_lower_bound(name))

    def upper_bounds(self) -> tuple[str, ...]:
        """Return the quantities that may be larger than the true numbers."""
        return tuple(name for name in COST_QUANTITIES if self.is_upper_bound(name))

    def is_upper_bound(self, quantity: str) -> bool:
        """Return whether the true quantity may be smaller: one of several branches runs, parameters may be stored
        twice, or some of `trainable` may not be trained."""
        if quantity == TRAINABLE:
            return self.is_lower_bound("non_trainable") or self.is_upper_bound("parameters")
        return any(getattr(self, count) for count in EXCESS_OF_QUANTITY[quantity])

    def is_lower_bound(self, quantity: str) -> bool:
        """Return whether a quantity, `non_trainable` or `trainable`, is only a lower bound."""
        if quantity == TRAINABLE:
            return self.is_lower_bound("parameters")
        return any(getattr(self, count) for count in GAPS_OF_QUANTITY[quantity])

    def bound_word(self, quantity: str) -> str:
        """Return the word before a quantity: "at least" if a part is not counted, "at most" if it may be smaller,
        "about" if both.

        >>> Cost(uncounted=1).bound_word("flops"), Cost(branched=1).bound_word("flops"), Cost().bound_word("flops")
        ('at least ', 'at most ', '')
        """
        return BOUND_WORDS[self.bound_index(quantity)]

    def bound_index(self, quantity: str) -> int:
        """Return the index of the word in `BOUND_WORDS`, which the page stores."""
        return LOWER_BOUND * self.is_lower_bound(quantity) + UPPER_BOUND * self.is_upper_bound(quantity)


COST_FIELDS = tuple(field.name for field in fields(Cost))
COST_QUANTITIES = COST_FIELDS[:5]
COST_VALUES = attrgetter(*COST_FIELDS)
NO_COST = Cost()
# Quantity → the counts of its missing parts; an unknown batch counts as `--batch`.
GAPS_OF_QUANTITY = {
    "parameters": ("unsized", "doubtful"),
    "macs": ("uncounted", "partial"),
    "flops": ("uncounted", "partial"),
    "activation_bytes": ("partial", "unshaped"),
    "weight_bytes": ("unsized", "doubtful"),
    "non_trainable": ("undecided", "unsized", "doubtful"),
}
TRAINABLE = "trainable"  # parameters except those that are not trained
LOWER_BOUND, UPPER_BOUND = 1, 2  # bits of an index into `BOUND_WORDS`
BOUND_WORDS = ("", "at least ", "at most ", "about ")
BOUND_SIGNS = ("", "≥ ", "≤ ", "≈ ")
WEIGHT_QUANTITIES = ("parameters", "weight_bytes", "non_trainable")  # do not depend on the batch
# Quantity → the counts of parts that may be counted twice, or may not run.
EXCESS_OF_QUANTITY = {
    quantity: ("repeated",) if quantity in WEIGHT_QUANTITIES else ("branched",) for quantity in GAPS_OF_QUANTITY
}


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """Costs of all rows of a hierarchy.

    `own[row]` is the cost of an op; for a call, the cost of its functions with its arguments. `counted[row]` is the
    cost that sums use, in which the weights of a variable count at the op that uses it. `uncounted` maps op types
    without a cost rule to their number of ops. `role[row]` is an index into `COST_ROLES`.
    """

    own: Sequence[Cost]
    counted: Sequence[Cost] = field(repr=False)
    end: Sequence[int] = field(repr=False)
    role: Sequence[int] = field(repr=False)
    uncounted: Mapping[str, int]
    batch: int = 1
    _sums: dict[int, Ints] = field(default_factory=dict, repr=False)
    _distinct: dict[int, tuple[list[Cost], list[int]]] = field(default_factory=dict, repr=False)

    def under(self, row: int, role: str | None = None) -> Cost:
        """Return the sum over a row and everything below it, of one role or of all.

        Raises `RequestError` if there is no such row or role.
        """
        require_type("row", row, Integral)
        if not 0 <= row < len(self.end):
            raise RequestError(f"no such row; the last is {len(self.end) - 1}")
        if role is not None:
            require_type("role", role, str)
            check_choice("role", role, COST_ROLES)
        stop = self.end[row]
        totals = self._running_totals(-1 if role is None else COST_ROLES.index(role))
        return Cost(*(totals[stop] - totals[row]).tolist())

    def distinct_totals(self, count: int) -> tuple[list[Cost], list[int]]:
        """Return the distinct sums under the first `count` rows, and for each row the index of its sum."""
        if count not in self._distinct:
            totals, numbers, known = self._running_totals(-1), dict[Cost, int](), dict[tuple[int, ...], int]()
            sums = list(map(tuple, (totals[np.array(self.end[:count], int)] - totals[:count]).tolist()))
            for each in sums:
                if each not in known:
                    known[each] = numbers.setdefault(Cost(*each), len(numbers))
            self._distinct[count] = list(numbers), [known[total] for total in sums]
        return self._distinct[count]

    def _running_totals(self, role: int) -> Ints:
        """Running totals of all quantities over the ops of a role, one line per row; over all ops for role -1."""
        sums = self._sums.get(role)
        if sums is None:
            # Equal costs are mostly one object: convert each object once.
            costs = {id(cost): cost for cost in self.counted}
            number_of = {identity: number for number, identity in enumerate(costs)}
            numbers = np.array([number_of[id(cost)] for cost in self.counted], int)
            values = list(map(COST_VALUES, costs.values()))
            counts = np.bincount(numbers).tolist()
            largest = max((sum(map(mul, column, counts)) for column in zip(*values, strict=True)), default=0)
            # Python's integers if sums may exceed 64 bits.
            distinct = np.array(values, np.int64 if largest <= MAX_QUANTITY else object)
            by_op = distinct.reshape(-1, len(COST_FIELDS))[numbers]
            if role >= 0:
                by_op[np.array(self.role) != role] = 0
            sums = self._sums[role] = np.zeros((len(by_op) + 1, len(COST_FIELDS)), by_op.dtype)
            np.cumsum(by_op, axis=0, out=sums[1:])
        return sums

    def json_entry(self, row: int) -> dict[str, Any]:
        """Return the `"cost"` of a node in the JSON document; `at_least` names quantities that are lower bounds."""
        distinct, which = self.distinct_totals(len(self.end))
        cost = distinct[which[row]]
        bounds = cost.lower_bounds()
        bounds += ("non_trainable",) if cost.non_trainable and cost.is_lower_bound("non_trainable") else ()
        kept = {"non_trainable": cost.non_trainable} if cost.non_trainable else {}
        most = list(cost.upper_bounds())
        words = {**({"at_least": list(bounds)} if bounds else {}), **({"at_most": most} if most else {})}
        return {**cost.as_dict(), **kept, **words}
