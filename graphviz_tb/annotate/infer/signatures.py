"""Shape signatures of the table of ops (`graphviz_tb/ops/ops.tsv`): outputs separated by blanks, each in one of these
forms.

    same  same(2)              as input 0, as input 2
    pass  pass(1)  pass*       input 0 itself, with its elements and held shape; input 1; every input
    broadcast  broadcast(0,1)  inputs broadcast together: all, or some
    agree  agree(1,2)          as inputs that all have one shape
    attr(shape)                an attribute;  attrs(output_shapes)  a list of them, one for each output
    tensor(value)              the shape of the tensor in an attribute
    target(0)                  the shape in the elements of an input
    drop(1)                    input 0 without the axes in input 1, or with size 1 for them if `keep_dims` is set
    held  held(1)              the shape held by the handle at an input
    handle(shape)              a handle that holds an attribute
    as(Conv2D)                 by the rule of a different op
    none  unknown              no output; an unknown output
    rule(arrays)               none of these: a function in rules/arrays.py
    [b 3 ? #1 #2.0 r0 @k]      sizes: a letter, a number, any, the one element of input 1, element 0 of input 2, the
                               rank of input 0, an attribute (`@k?`: any where it is 0)
    mk,kn -> mn                letters name the sizes of inputs, `...` the remaining ones, `_` an input to ignore
    mk^adj_a|transpose_a       with the last two sizes exchanged if one of the attributes is set

A letter that no input binds is an unknown size, equal in all outputs. `*7` or `*dtypes` after an output repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule, merge_all_dims, normalize_axis
from graphviz_tb.annotate.infer.rules import rules_of_module
from graphviz_tb.annotate.infer.symbols import Dims, Out, broadcast_dims, merge_sizes
from graphviz_tb.ops.table import MAX_CACHED_OP_TYPES, op_row

BoundSizes = dict[str, int]  # sizes by letter, and by token for tokens with one size wherever they occur
OutputMaker = Callable[[Op, BoundSizes, Dims], RuleResult]  # the last argument is the dims of `...`
RULE_ENTRY = re.compile(r"rule\((\w+)\)")
OUTPUT_ENTRY = re.compile(r"(\[[^][]*\]|[^\s(*]+(?:\([^()]*\))?)(?:\*(\w*))?")


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def shape_rule_for(op: str) -> ShapeRule | None:
    """Return the rule of an op: its own function (rules/) or its signature; None if it has neither."""
    line = op_row(op)
    if line is None or not line.shape:
        return None
    own = RULE_ENTRY.fullmatch(line.shape)
    return rules_of_module(own[1])[op] if own else _compile_signature(line.shape)


def _compile_signature(text: str) -> ShapeRule:
    inputs, arrow, outputs = text.rpartition("->")
    terms = [_compile_input_term(term.strip(), outputs) for term in inputs.split(",")] if arrow else []
    makers = [_compile_output(*match.groups()) for match in OUTPUT_ENTRY.finditer(outputs)]

    def rule(op: Op) -> RuleResult:
        bound: BoundSizes = {}
        rest: Dims = ()
        for index, term in enumerate(terms):
            rest = term(op, op.shape(index), bound, rest)
        return [out for maker in makers for out in maker(op, bound, rest)]

    return rule


def _compile_input_term(text: str, outputs: str) -> Callable[[Op, Dims, BoundSizes, Dims], Dims]:
    """Compile the term of an input: a function that binds the letters in `outputs` and returns the dims of `...`."""
    letters, _, attributes = text.partition("^")
    before, dots, after = letters.partition("...")
    flags = attributes.split("|") if attributes else []
    named = len(before) + len(after)

    def bind(op: Op, shape: Dims, bound: BoundSizes, rest: Dims) -> Dims:
        if letters == "_":
            return rest
        # Ignore an input that does not fit: its letters become unknown sizes.
        if shape is None or len(shape) < named or (len(shape) > named and not dots):
            return None if dots else rest
        stop = len(shape) - len(after)
        sizes = [*shape[: len(before)], *shape[stop:]]
        if any(op.attr(flag) for flag in flags):
            sizes[-2:] = reversed(sizes[-2:])
        for letter, size in zip(before + after, sizes, strict=True):
            if letter in outputs:
                bound[letter] = merge_sizes(bound[letter], size) if letter in bound else size
        return broadcast_dims(rest, shape[len(before) : stop], op.symbols) if dots else rest

    return bind


def _compile_output(text: str, times: str | None) -> OutputMaker:
    word, _, arguments = text.rstrip(")").partition("(")
    if text.startswith("["):
        maker = _compile_sizes(text[1:-1].split())
    elif word in SIGNATURE_WORDS:
        maker = SIGNATURE_WORDS[word](arguments)
    else:
        maker = _compile_sizes(re.findall(r"\.\.\.|[a-z]", word))
    if times is None:
        return maker
    if not times:  # `pass*`
        return lambda op, bound, rest: op.ins
    if times.isdecimal():
        return lambda op, bound, rest: [*maker(op, bound, rest)] * int(times)
    return lambda op, bound, rest: [*maker(op, bound, rest)] * op.attr_count(times)


def _compile_sizes(tokens: Sequence[str]) -> OutputMaker:
    """Compile a shape made of single sizes."""

    def maker(op: Op, bound: BoundSizes, rest: Dims) -> RuleResult:
        if rest is None and "..." in tokens:
            return [None]
        return [tuple(size for token in tokens for size in _sizes_of_token(op, token, bound, rest))]

    return maker


def _sizes_of_token(op: Op, token: str, bound: BoundSizes, rest: Dims) -> Iterator[int]:
    if token == "...":
        yield from rest or ()
    elif token.isdecimal():
        yield int(token)
    elif token == "?":
        yield op.symbols.new_symbol()
    else:
        if token not in bound:
            bound[token] = _size_of_token(op, token)
        yield bound[token]


def _size_of_token(op: Op, token: str) -> int:
    """Return the size stated by an input or an attribute; a new symbol for an unbound letter."""
    if token[0] == "#":
        index, dot, element = token[1:].partition(".")
        if not dot:
            return op.known_size(int(index))
        value = op.value(int(index))
        known = value is not None and int(element) < len(value) and value[int(element)] != -1
        return value[int(element)] if value is not None and known else op.symbols.new_symbol()
    if token[0] == "@":
        size = op.attr(token[1:].rstrip("?"))
        return int(size) if size or (size == 0 and token[-1] != "?") else op.symbols.new_symbol()
    rank = op.rank(int(token[1:])) if len(token) > 1 else None
    return op.symbols.new_symbol() if rank is None else rank


def _broadcast_all(op: Op, shapes: Sequence[Dims]) -> Dims:
    whole: Dims = shapes[0] if shapes else None
    for shape in shapes[1:]:
        whole = broadcast_dims(whole, shape, op.symbols)
    return whole


def _drop_axes(op: Op, shape: Dims, axes: list[int] | None, keep: bool) -> Dims:
    """Return a shape without some axes, or with size 1 for them.

    If the axes are unknown, so is their number: only with `keep` the rank stays.
    """
    if shape is None:
        return None
    if axes is None:
        return op.symbols.new_symbols(len(shape)) if keep else None
    gone = {normalize_axis(axis, len(shape)) for axis in axes}
    if None in gone:
        return None
    if keep:
        return tuple(1 if dim in gone else size for dim, size in enumerate(shape))
    return tuple(size for dim, size in enumerate(shape) if dim not in gone)


def _from_one_input(make: Callable[[Op, int], Dims | Out]) -> Callable[[str], OutputMaker]:
    """Make an output from one input, the first by default."""

    def word(arguments: str) -> OutputMaker:
        index = int(arguments or 0)
        return lambda op, bound, rest: [make(op, index)]

    return word


def _from_inputs(make: Callable[[Op, Sequence[Dims]], Dims]) -> Callable[[str], OutputMaker]:
    """Make an output from several inputs, all by default."""

    def word(arguments: str) -> OutputMaker:
        if not arguments:
            return lambda op, bound, rest: [make(op, [operand.shape for operand in op.ins])]
        indices = [int(number) for number in arguments.split(",")]
        return lambda op, bound, rest: [make(op, [op.shape(index) for index in indices])]

    return word


def _pass_input(arguments: str) -> OutputMaker:
    index = int(arguments or 0)
    return lambda op, bound, rest: op.ins[index : index + 1]


def _from_shape_attribute(arguments: str) -> OutputMaker:
    return lambda op, bound, rest: [op.attr(arguments)]


def _from_tensor_attribute(arguments: str) -> OutputMaker:
    def maker(op: Op, bound: BoundSizes, rest: Dims) -> RuleResult:
        attrs = op.definition.attr
        # Reading a missing key of a message would add it.
        return [op.dims_of_message(attrs[arguments].tensor.tensor_shape) if arguments in attrs else None]

    return maker


def _from_shape_list_attribute(arguments: str) -> OutputMaker:
    def maker(op: Op, bound: BoundSizes, rest: Dims) -> RuleResult:
        shapes = op.attr(arguments)
        return list(shapes) if isinstance(shapes, list) else []

    return maker


def _from_rule_of_op(arguments: str) -> OutputMaker:
    def maker(op: Op, bound: BoundSizes, rest: Dims) -> RuleResult:
        rule = shape_rule_for(arguments)
        return rule(op) if rule is not None else []

    return maker


def _from_handle_attribute(arguments: str) -> OutputMaker:
    return lambda op, bound, rest: [Out((), None, op.attr(arguments))]


def _constant_outputs(*outputs: Dims) -> Callable[[str], OutputMaker]:
    return lambda arguments: lambda op, bound, rest: outputs


SIGNATURE_WORDS: dict[str, Callable[[str], OutputMaker]] = {
    "same": _from_one_input(lambda op, index: op.shape(index)),
    "pass": _pass_input,
    "broadcast": _from_inputs(_broadcast_all),
    "agree": _from_inputs(lambda op, shapes: merge_all_dims(shapes)),
    "attr": _from_shape_attribute,
    "attrs": _from_shape_list_attribute,
    "tensor": _from_tensor_attribute,
    "target": _from_one_input(lambda op, index: op.stated_dims(index)),
    "drop": _from_one_input(
        lambda op, index: _drop_axes(op, op.shape(0), op.known_elements(index), bool(op.attr("keep_dims")))
    ),
    "held": _from_one_input(lambda op, index: op.held_shape(index)),
    "handle": _from_handle_attribute,
    "as": _from_rule_of_op,
    "none": _constant_outputs(),
    "unknown": _constant_outputs(None),
}
