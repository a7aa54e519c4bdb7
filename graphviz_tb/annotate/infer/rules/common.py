"""Rules that many ops share, and makers of rules."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.symbols import HIDDEN
from graphviz_tb.annotate.infer.values import Dims, Out, broadcast, merge


def same(op: Op) -> RuleResult:
    """The first output is as the first input."""
    return [op.shape(0)]


def passed(op: Op) -> RuleResult:
    """The first output is the first input, with what it holds."""
    return op.ins[:1]


def scalar(op: Op) -> RuleResult:
    """One scalar."""
    return [()]


def nothing(op: Op) -> RuleResult:
    """No outputs."""
    return []


def as_input(*places: int) -> Rule:
    """Each output is as one of the inputs: -1 is the last."""
    return lambda op: [op.shape(index) for index in places]


def fixed_shapes(*shapes: Dims) -> Rule:
    """Outputs of always the same shapes."""
    return lambda op: shapes


def scalars(count: int) -> Rule:
    """Several scalars."""
    return lambda op: [()] * count


def merged(*places: int) -> Rule:
    """One output that is as all of some inputs."""
    return lambda op: [agreed([op.shape(index) for index in places])]


def stated(attr: str) -> Rule:
    """The output's shape is an attribute."""
    return lambda op: [op.attr(attr)]


def batch_of(shape: Dims, inner: int) -> Dims:
    """A shape without its last `inner` sizes; None where it has fewer.

    >>> batch_of((8, 3, 3), 2), batch_of((3,), 2), batch_of(None, 2)
    ((8,), None, None)
    """
    return shape[: len(shape) - inner] if shape is not None and len(shape) >= inner else None


def shape_from_input(index: int) -> Rule:
    """The output's shape is in the elements of an input."""
    return lambda op: [op.target(index)]


def elementwise(op: Op) -> RuleResult:
    """Operands stretched to one another."""
    shape: Dims = op.shape(0)
    for index in range(1, len(op.ins)):
        shape = broadcast(shape, op.shape(index), op.symbols)
    return [shape]


def agreed(shapes: Sequence[Dims]) -> Dims:
    """The shape of tensors that are all as one another."""
    whole: Dims = None
    for shape in shapes:
        # Raises Contradiction where two of them cannot be the same.
        whole = merge(whole, shape)
    return whole


def axis_of(axis: int | None, rank: int) -> int | None:
    """An axis from 0 on; None where it is not known or not there.

    >>> axis_of(-1, 3), axis_of(3, 3)
    (2, None)
    """
    if axis is None or not -rank <= axis < rank:
        return None
    return axis % rank


def replaced(shape: Sequence[int], place: int, size: int) -> tuple[int, ...]:
    """The shape with another size in one place.

    >>> replaced((2, 3), 1, 9)
    (2, 9)
    """
    return (*shape[:place], size, *shape[place + 1 :])


def held(op: Op, index: int = 0) -> RuleResult:
    """The one output is what the handle holds."""
    return [op.held(index)]


def handle(of: Dims) -> Out:
    """A scalar handle."""
    return Out((), None, of)


def unknown(op: Op, shape: Dims) -> Dims:
    """As many dimensions, of which no size is known."""
    return None if shape is None else op.symbols.several(len(shape))


def is_known(*numbers: int) -> bool:
    """Whether none is a symbol."""
    return all(number > HIDDEN for number in numbers)


def layouts_channels(data_format: str | None, rank: int) -> int:
    """Where the channels are: second in "NCHW" and the like, else last.

    >>> layouts_channels("NCHW", 4), layouts_channels(None, 2)
    (1, 1)
    """
    return 1 if str(data_format or "N").startswith("NC") else rank - 1
