"""The input of a shape rule, one op with what is known of its inputs, and helpers that rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from graphviz_tb.annotate.infer.frame import OpInputs
from graphviz_tb.annotate.infer.symbols import (
    SYMBOL_LIMIT,
    Dims,
    Elements,
    Out,
    SymbolRequest,
    Symbols,
    merge_dims,
    number_from_file,
)
from graphviz_tb.limits import MAX_CLAIMED_COUNT
from graphviz_tb.model.tensors import MAX_DIMENSIONS, MAX_OUTPUTS, dtype_name
from graphviz_tb.ops.signatures import op_def, setting_input_name

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef


RuleResult = Sequence[Dims | Out]
ShapeRule = Callable[["Op"], RuleResult]
ElementFold = Callable[["Op"], Elements | None]

MAX_TRACED_LETTERS, MAX_TRACED_DIGITS = 96, 12  # of the numbers in a text of a trace


class Op:
    """One op with its inputs. Rules read the properties that they need; missing ones are None or new symbols."""

    __slots__ = ("definition", "ins", "symbols")

    def __init__(self, definition: NodeDef, ins: Sequence[Out], symbols: Symbols) -> None:
        self.definition = definition
        self.ins = ins
        self.symbols = symbols

    def shape(self, index: int) -> Dims:
        """Return the shape of an input; index -1 is the last."""
        return self.ins[index].shape if -len(self.ins) <= index < len(self.ins) else None

    def rank(self, index: int) -> int | None:
        shape = self.shape(index)
        return None if shape is None else len(shape)

    def value(self, index: int) -> Elements | None:
        return self.ins[index].value if -len(self.ins) <= index < len(self.ins) else None

    def held_shape(self, index: int) -> Dims:
        """Return the shape of the value in the handle at an input."""
        return self.ins[index].held if -len(self.ins) <= index < len(self.ins) else None

    def known_number(self, index: int) -> int | None:
        """Return the only element of an input, if it is known."""
        value = self.value(index)
        return value[0] if value is not None and len(value) == 1 and value[0] > SYMBOL_LIMIT else None

    def known_size(self, index: int) -> int:
        """Return the only element of an input as a dimension: a number or a symbol."""
        value = self.value(index)
        # -1 in a shape means any size.
        return value[0] if value is not None and len(value) == 1 and value[0] != -1 else self.symbols.new_symbol()

    def known_elements(self, index: int) -> list[int] | None:
        """Return all elements of an input, if all are known."""
        value = self.value(index)
        return list(value) if value is not None and all(element > SYMBOL_LIMIT for element in value) else None

    def setting(self, index: int) -> Sequence[int] | None:
        """Return the numbers of a setting: the elements of its input, or the text of an attribute with its name."""
        known = self.known_elements(index)
        stated = self.attr(setting_input_name(self.definition.op, index)) if known is None else None
        return traced_numbers(stated) if isinstance(stated, str) else known

    def stated_dims(self, index: int) -> Dims:
        """Return the shape in the elements of an input; -1 is an unknown size.

        If the elements are unknown, the length of the input is the rank.
        """
        value = self.value(index)
        if value is not None:
            return tuple(self.symbols.new_symbol() if size == -1 else size for size in value)
        shape = self.shape(index)
        if shape is None or len(shape) != 1 or not SYMBOL_LIMIT < shape[0] <= MAX_DIMENSIONS:
            return None
        return self.symbols.new_symbols(shape[0])

    def counted_inputs(self, first: int = 0, others: int = 0) -> Sequence[Out]:
        """Return the inputs counted by attribute `N`, from input `first` on; without it, all but `others`.

        Later inputs are not arguments: the picture of a diff appends removed inputs.
        """
        count = self.attr("N")
        # "N" of a hostile file may be a text.
        if not isinstance(count, int) or count < 1:
            count = len(self.ins) - others
        return self.ins[first : first + count]

    def attr(self, name: str) -> Any:
        """Return an attribute as a plain value (number, text, dtype name, dims, list), or its default; None if there is
        none."""
        attrs = self.definition.attr
        if name in attrs:
            return self._attr_value(attrs[name])
        # An attribute that has its default may be left out of the file.
        known = op_def(self.definition.op)
        return known.defaults.get(name) if known is not None else None

    def _attr_value(self, message: Any) -> Any:
        kind = message.WhichOneof("value")
        if kind == "s":
            return message.s.decode("utf-8", "replace")
        if kind == "i":
            return number_from_file(message.i)
        if kind in ("b", "f"):
            return getattr(message, kind)
        if kind == "type":
            return dtype_name(message.type)
        if kind == "shape":
            return self.dims_of_message(message.shape)
        return self._attr_list(message.list) if kind == "list" else None

    def _attr_list(self, message: Any) -> list[Any]:
        if message.shape:
            return [self.dims_of_message(shape) for shape in message.shape]
        if message.s:
            return [text.decode("utf-8", "replace") for text in message.s]
        if message.type:
            return [dtype_name(number) for number in message.type]
        # An empty list has no element type, so any kind will do.
        return [number_from_file(number) for number in message.i] or list(message.b or message.f)

    def dims_of_message(self, message: Any) -> Dims:
        """Convert a shape message; each dimension of -1 becomes a new symbol. None for an unknown or excessive rank."""
        if message.unknown_rank or len(message.dim) > MAX_DIMENSIONS:
            return None
        return tuple(self.symbols.new_symbol() if dim.size < 0 else int(dim.size) for dim in message.dim)

    def attr_count(self, name: str) -> int:
        """Return the number in an attribute, or the length of its list.

        Raises ValueError if it is negative, or more than `MAX_OUTPUTS`.
        """
        attribute = self.attr(name)
        if isinstance(attribute, list):
            return len(attribute)
        count = int(attribute or 0)
        if not 0 <= count <= MAX_OUTPUTS:
            raise ValueError(f"{name} is {attribute}")
        if count > MAX_CLAIMED_COUNT:
            self.symbols.claim(count * (2 + max((len(operand.shape or ()) for operand in self.ins), default=0)))
        return count


def traced_numbers(text: str) -> tuple[int, ...] | None:
    """Return the integers that a trace states as text; None for other text.

    >>> traced_numbers("1"), traced_numbers("[1, -2]"), traced_numbers("None")
    ((1,), (1, -2), None)
    """
    numbers = [number.strip() for number in text[:MAX_TRACED_LETTERS].strip("[ ]").split(",")]
    is_known = len(text) < MAX_TRACED_LETTERS and all(
        number.removeprefix("-").isdecimal() and len(number) < MAX_TRACED_DIGITS for number in numbers
    )
    return tuple(map(int, numbers)) if is_known else None


RuleOutcome = tuple[tuple[Out, ...], SymbolRequest]  # the outputs of an op, and the symbols requested for them
RuleStep = list[int] | RuleOutcome | None  # the places of the inputs that a rule reads next, or the outcome


class RuleCache:
    """A cache of rule outcomes, by definition and by the inputs that the rule read, as a decision tree.

    Each place of the tree is a state of a rule: either it reads one more input, with a branch for each output found
    there, or it is done. With that input are listed those that the rule reads at the same time.
    """

    def __init__(self) -> None:
        self._starts: dict[tuple[int, int], int] = {}  # by definition and number of inputs
        self._steps: list[RuleStep] = []  # of each place
        self._after: dict[tuple[int, Out], int] = {}

    def __len__(self) -> int:
        return len(self._steps)

    def find(self, definition: int, inputs: OpInputs) -> RuleStep:
        """Return the outcome of an equal op; or the places of the inputs that its rule read next and that are not
        inferred here."""
        place = inputs.place
        if place < 0:
            place = self._starts.get((definition, len(inputs.sources)), -1)
        while place >= 0:
            inputs.place = place
            step = self._steps[place]
            if not isinstance(step, list):
                return step
            out = inputs.read_place(step[0])
            if out is None:
                return [index for index in step if inputs.output_at_place(index) is None]
            place = self._after.get((place, out), -1)
        return None

    def store(self, definition: int, inputs: OpInputs, step: RuleStep) -> None:
        """Store the inputs that an op has read, and the next input or the outcome; None if that depends on more than
        the inputs."""
        place = self._starts.setdefault((definition, len(inputs.sources)), len(self._steps))
        for index, out in inputs.read.items():
            if place == len(self._steps):
                self._steps.append([index])
            place = self._after.setdefault((place, out), len(self._steps))
        self._steps[place : place + 1] = [step]


# Helpers shared by many rules.


def merge_all_dims(shapes: Sequence[Dims]) -> Dims:
    """Merge shapes that must be equal."""
    whole: Dims = None
    for shape in shapes:
        # Raises Contradiction if two of them cannot be equal.
        whole = merge_dims(whole, shape)
    return whole


def normalize_axis(axis: int | None, rank: int) -> int | None:
    """Return a non-negative axis; None if it is unknown or out of range.

    >>> normalize_axis(-1, 3), normalize_axis(3, 3)
    (2, None)
    """
    if axis is None or not -rank <= axis < rank:
        return None
    return axis % rank


def replace_size(shape: Sequence[int], place: int, size: int) -> tuple[int, ...]:
    """Return the shape with the size at `place` replaced.

    >>> replace_size((2, 3), 1, 9)
    (2, 9)
    """
    return (*shape[:place], size, *shape[place + 1 :])


def drop_axes(shape: Sequence[int], axes: Iterable[int]) -> Dims:
    """Return the shape without some axes; None if one is out of range.

    >>> drop_axes((2, 3, 4), [-1, 0]), drop_axes((2, 3), [5])
    ((3,), None)
    """
    gone = {normalize_axis(axis, len(shape)) for axis in axes}
    return None if None in gone else tuple(size for place, size in enumerate(shape) if place not in gone)


def handle_holding(shape: Dims) -> Out:
    """Return a scalar handle that holds a value of a shape."""
    return Out((), None, shape)


def unknown_sizes(op: Op, shape: Dims) -> Dims:
    """Return as many unknown dimensions as `shape` has."""
    return None if shape is None else op.symbols.new_symbols(len(shape))


def are_known_sizes(*numbers: int) -> bool:
    """Return whether no number is a symbol."""
    return all(number > SYMBOL_LIMIT for number in numbers)


def channel_axis_of_format(data_format: str | None, rank: int) -> int:
    """Return the axis of the channels: 1 in "NCHW" and the like, else the last.

    >>> channel_axis_of_format("NCHW", 4), channel_axis_of_format(None, 2)
    (1, 1)
    """
    return 1 if str(data_format or "N").startswith("NC") else rank - 1
