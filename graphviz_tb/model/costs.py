"""Costs of ops: parameters, multiply-adds, floating point operations, bytes; by op and under every group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from numbers import Integral
from operator import add, attrgetter, mul
from typing import Any

import numpy as np

from graphviz_tb.errors import RequestError, UnknownChoice, demand
from graphviz_tb.limits import MOST_OF_QUANTITY
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.frozen import dataclass

ROLES = ("forward", "gradient", "optimizer")


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one op, or of many together.

    `parameters` are elements of weights, `macs` multiply-adds, `flops` floating point operations (two of them a
    multiply-add), `activation_bytes` what the outputs take, `weight_bytes` what the parameters take. The others say
    what is not in it: `uncounted` ops whose operations nobody counts, `guessed` ops with an unknown size, which counts
    as the batch, `unsized` weights of unknown size, `copied` elements of averages and
    copies of parameters, `partial` ops that take more operations than are counted (a size that is not the batch is
    unknown, a loop runs nobody knows how often), `unshaped` ops with an output of such a size, or of unknown rank.
    `non_trainable` parameters are kept and not trained; of `undecided` weights nothing says whether they are.
    After: no quantity is above `MOST_OF_QUANTITY`.
    """

    parameters: int = 0
    macs: int = 0
    flops: int = 0
    activation_bytes: int = 0
    weight_bytes: int = 0
    uncounted: int = 0
    guessed: int = 0
    unsized: int = 0
    copied: int = 0
    unshaped: int = 0
    partial: int = 0
    non_trainable: int = 0
    undecided: int = 0

    def __post_init__(self) -> None:
        # Rare: only then a loop over the names.
        if max(self.parameters, self.macs, self.flops, self.activation_bytes, self.weight_bytes) > MOST_OF_QUANTITY:
            for name in QUANTITIES:
                object.__setattr__(self, name, min(MOST_OF_QUANTITY, getattr(self, name)))

    def __add__(self, other: Cost) -> Cost:
        return Cost(*map(add, VALUES(self), VALUES(other)))

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in QUANTITIES)

    def as_dict(self) -> dict[str, int]:
        """The quantities by name."""
        return {name: getattr(self, name) for name in QUANTITIES}

    def repeated(self, times: int) -> Cost:
        """What it costs to do the same so many times: weights are there once.

        >>> cost = Cost(parameters=7, flops=3, uncounted=1).repeated(20)
        >>> cost.parameters, cost.flops, cost.uncounted
        (7, 60, 1)
        """
        done = (times * self.macs, times * self.flops, times * self.activation_bytes)
        return Cost(self.parameters, *done, *VALUES(self)[4:])

    def missing(self, quantity: str) -> dict[str, int]:
        """How often something of a quantity is missing, or is a guess, by the name of the count.

        >>> Cost(uncounted=2).missing("flops")
        {'uncounted': 2, 'guessed': 0, 'partial': 0}
        """
        counts = {*LACKS[quantity], *(() if quantity in OF_WEIGHTS else ("guessed",))}
        return {name: getattr(self, name) for name in FIELDS if name in counts}

    def lower_bounds(self) -> tuple[str, ...]:
        """The quantities that are more than is counted.

        >>> Cost(flops=12, uncounted=1).lower_bounds(), Cost(parameters=7).lower_bounds()
        (('macs', 'flops'), ())
        """
        return tuple(name for name in QUANTITIES if self.lacks(name))

    def lacks(self, quantity: str) -> bool:
        """Whether a quantity, or `non_trainable`, is more than is counted."""
        return any(getattr(self, count) for count in LACKS[quantity])


FIELDS = tuple(each.name for each in fields(Cost))
QUANTITIES = FIELDS[:5]
VALUES = attrgetter(*FIELDS)
NOTHING = Cost()
# Quantity → the counts that say how often something of it is missing; an unknown batch is counted as `--batch`.
LACKS = {
    "parameters": ("unsized",),
    "macs": ("uncounted", "partial"),
    "flops": ("uncounted", "partial"),
    "activation_bytes": ("partial", "unshaped"),
    "weight_bytes": ("unsized",),
    "non_trainable": ("undecided",),
}
OF_WEIGHTS = ("parameters", "weight_bytes", "non_trainable")  # the batch is not in them


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """Costs of all rows of a hierarchy.

    `own[row]` is that of an op: a call has what its functions cost with its arguments. `counted[row]` is the same as
    sums take it: what a variable keeps counts at the op that uses it. `uncounted` are op types whose
    operations nobody counts, with how many ops there are. `role[row]` is an index into `ROLES`.
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
        """The sum over a row and all that lies under it, of one role or of all.

        Raises `RequestError` where there is no such row or role.
        """
        demand("row", row, Integral)
        if not 0 <= row < len(self.end):
            raise RequestError(f"no such row; the last is {len(self.end) - 1}")
        if role is not None:
            demand("role", role, str)
            if role not in ROLES:
                raise UnknownChoice.among("role", role, ROLES)
        stop = self.end[row]
        totals = self._totals(-1 if role is None else ROLES.index(role))
        return Cost(*(totals[stop] - totals[row]).tolist())

    def distinct(self, count: int) -> tuple[list[Cost], list[int]]:
        """Return the distinct sums under the first `count` rows, and for each row the index of its sum."""
        if count not in self._distinct:
            totals, numbers, known = self._totals(-1), dict[Cost, int](), dict[tuple[int, ...], int]()
            sums = list(map(tuple, (totals[np.array(self.end[:count], int)] - totals[:count]).tolist()))
            for each in sums:
                if each not in known:
                    known[each] = numbers.setdefault(Cost(*each), len(numbers))
            self._distinct[count] = list(numbers), [known[each] for each in sums]
        return self._distinct[count]

    def _totals(self, role: int) -> Ints:
        """The running totals of all quantities over the ops of a role, one line for each row; of all ops at -1."""
        sums = self._sums.get(role)
        if sums is None:
            # Most ops cost the same as many others, which are one object.
            costs = {id(cost): cost for cost in self.counted}
            place = {number: index for index, number in enumerate(costs)}
            which = np.array([place[id(cost)] for cost in self.counted], int)
            values = list(map(VALUES, costs.values()))
            many = np.bincount(which).tolist()
            most = max((sum(map(mul, column, many)) for column in zip(*values, strict=True)), default=0)
            # Python's integers where sums pass 2^63.
            own = np.array(values, np.int64 if most <= MOST_OF_QUANTITY else object).reshape(-1, len(FIELDS))[which]
            if role >= 0:
                own[np.array(self.role) != role] = 0
            sums = self._sums[role] = np.zeros((len(own) + 1, len(FIELDS)), own.dtype)
            np.cumsum(own, axis=0, out=sums[1:])
        return sums

    def entry(self, row: int) -> dict[str, Any]:
        """The `"cost"` of a node in the JSON document; `at_least` names quantities that are more than is counted."""
        distinct, which = self.distinct(len(self.end))
        cost = distinct[which[row]]
        bounds = cost.lower_bounds()
        bounds += ("non_trainable",) if cost.non_trainable and cost.lacks("non_trainable") else ()
        kept = {"non_trainable": cost.non_trainable} if cost.non_trainable else {}
        return {**cost.as_dict(), **kept, **({"at_least": list(bounds)} if bounds else {})}
