"""The description of one change: a sign, its subject, and a few facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from posixpath import commonprefix
from types import MappingProxyType
from typing import Any

from graphviz_tb.diff.changes.across_layers import fewest_moved_names, shared_scope
from graphviz_tb.diff.columns.values import COUNTER_AT_END
from graphviz_tb.diff.traced import OWN_PARAMETER
from graphviz_tb.limits import MAX_HEADLINE_PARTS, MAX_REPORT_VALUE_LETTERS
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import (
    FunctionBody,
    FunctionSignature,
    InputWire,
    LayerOrder,
    Move,
    Ports,
    Rename,
    Rewiring,
    Setting,
    SettingPart,
    Unit,
    WholeSignature,
)
from graphviz_tb.model.costs import BOUND_WORDS
from graphviz_tb.model.formatting import format_count, format_counted_noun
from graphviz_tb.model.measure import truncate_text
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import GROUP_OPS

KIND_SIGNS = {
    "added": "+",
    "removed": "−",
    "renamed": "→",
    "moved": "→",
    "changed": "~",
    "rewired": "~",
    "function-changed": "~",
    "signature-changed": "~",
}
# Items of a list in a line of the report, so that the line fits a terminal; `--all` and JSON list everything.
MAX_TYPES, MAX_WIRES, MAX_PLACES, MAX_PARTS = 4, 4, 3, 8
MAX_NUMBERS = 8  # of a list
SWAPPED_NAMES = 2  # of two names, the old and the new order are shown
SEPARATORS = ("/", "_", ".", "-")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def change_head(change: Change, types: int = MAX_TYPES) -> str:
    """Return the headline of a change, in one line; at most `types` op types of added or removed nodes are listed."""
    match change.content:
        case Unit() as unit:
            return _unit_head(change, unit, types)
        case Rename(series=series):
            return f"{change.old} → {change.new}  renamed" + (", numbers only" if series is not None else "")
        case Move(children=1):
            return f"{change.old} → {change.new}  moved"
        case Move() as move:
            ends = f"{move.old or 'the root'} → {move.new or 'the root'}"
            return f"{ends}  {move.children:,} children moved, {format_counted_noun(change.ops, 'op')}"
        case Setting() as setting:
            return f"{_both(change)}  {setting_words(setting)}".lstrip()
        case Rewiring(order=LayerOrder() as order):
            return _order_words(order)
        case Rewiring(reordered=reordered):
            return f"{_both(change)}  {'inputs reordered' if reordered else 'rewired'}"
        case FunctionBody(function=function) if len(change.inside) == 1:
            return f"{change_head(change.inside[0], types)} in function {function}"
        case FunctionBody(function=function):
            return f"function {function}  {format_counted_noun(len(change.inside), 'change')} inside"
        case WholeSignature(tensors=tensors):
            return f"{change.name}  signature ({', '.join(tensors)})"
        case _:
            return f"signature of {_both(change)}  changed"


def _unit_head(change: Change, unit: Unit, types: int) -> str:
    """Return the headline of added or removed ops, scopes or functions."""
    if _names_apart(change):
        listed = [change.name, *((new if new is not None else old) or "" for old, new in change.also)]
        shown = ", ".join(listed[:MAX_PLACES]) + (", …" if len(listed) > MAX_PLACES else "")
        return f"{' + '.join(map(str, unit.layers or counts_of_types(unit)))} ×{len(listed)}: {shown}"
    if called := _parts_text(change, unit):
        return called
    reads = _first_words(unit.reads, MAX_PLACES)
    if unit.training:
        return f"{unit.training}  {_chain_text(change, unit)}, {format_counted_noun(change.ops, 'op')}"
    return f"{_chain_text(change, unit)}{f' on {reads}' if reads else ''}  {_unit_words(change, unit, types)}"


def setting_words(setting: Setting | SettingPart) -> str:
    """Return a setting with its old and its new value."""
    return f"{setting.key} {' → '.join(value_texts(setting.old, setting.new))}"


def _order_words(order: LayerOrder) -> str:
    """Return the layers that moved with their old and new neighbours; both orders if most layers moved.

    >>> _order_words(LayerOrder(("norm", "q", "add", "mlp"), ("q", "add", "norm", "mlp"), 4))
    'norm  after add instead of before q, in 4 blocks'
    >>> _order_words(LayerOrder(("bn", "act"), ("act", "bn")))
    'bn, act → act, bn  in another order'
    """
    old, new = order.old, order.new
    blocks = f", in {order.blocks:,} blocks" if order.blocks is not None else ""
    names = fewest_moved_names(old, new)
    if len(old) == SWAPPED_NAMES or 2 * len(names) > len(old):
        return f"{', '.join(old)} → {', '.join(new)}  in another order{blocks}"
    stay = [name for name in old if name not in names]
    now, was = (_order_neighbours(names, stay, *pair) for pair in ((new, old), (old, new)))
    return f"{_listing(names)}  {now} instead of {was}{blocks}"


def _order_neighbours(names: Sequence[str], stay: Sequence[str], order: Sequence[str], other: Sequence[str]) -> str:
    """Return the position of names relative to names that stay: `after a, b`, or `before c` if they come first."""
    ahead = {name: [each for each in order[: order.index(name)] if each in stay] for name in names}
    there = {name: [each for each in other[: other.index(name)] if each in stay] for name in names}
    if all(ahead[name] and ahead[name][-1] not in there[name] for name in names):
        return f"after {_listing([ahead[name][-1] for name in names])}"
    behind = [next((each for each in order[order.index(name) :] if each in stay), "") for name in names]
    return f"before {_listing(list(filter(None, behind)))}" if any(behind) else "at the end"


def _listing(names: Sequence[str]) -> str:
    """Return the last segments of names, without duplicates, shortened to the first few."""
    leaves = list(dict.fromkeys(map(last_segment, names)))
    return _first_words(leaves, MAX_PLACES)


def _first_words(words: Sequence[str], most: int) -> str:
    """Return the first words of a list, and the number of the others."""
    return ", ".join(words[:most]) + (f", … {len(words) - most:,} more" if len(words) > most else "")


def _names_apart(change: Change) -> bool:
    """Return whether ops of one type, or layers of one class, were added or removed under different names, so that no
    single name describes all."""
    unit = change.unit
    if unit is None or unit.parts or not change.also:
        return False
    if len(unit.layers) == 1:
        return not str(unit.layers[0])[0].isdecimal()
    alone = len(unit.op_types) == 1
    leaves = {COUNTER_AT_END.sub("", last_segment(name)) for place in change.also for name in place if name}
    return (
        alone
        and change.place_count == change.ops
        and bool(leaves - {COUNTER_AT_END.sub("", last_segment(change.name))})
    )


def _parts_text(change: Change, unit: Unit) -> str:
    """Return the calls of the layers of a unit, then its name; for a block the name first; "" for unknown layers."""
    layers = list(map(str, unit.layers))
    listed = _first_words(layers, MAX_TYPES)
    if any(layer[0].isdecimal() for layer in layers):
        return f"{_chain_text(change, unit)}  {format_counted_noun(change.ops, 'op')}, of {listed}"
    return f"{listed}  {_chain_text(change, unit)}" if layers else ""


def _chain_text(change: Change, unit: Unit) -> str:
    """Return the name of a unit, its first and last part, or the scope or stem of very many parts."""
    parts = unit.parts
    stems = {COUNTER_AT_END.sub("", part) for part in parts}
    # "dropout ×12" for dropout, dropout_1, … dropout_11
    if len(parts) > MAX_PARTS and len(stems) == 1:
        return f"{stems.pop()} ×{len(parts)}"
    around = shared_scope(parts) if len(parts) > MAX_PARTS else ""
    if around and not unit.scope:
        stem = commonprefix(parts)
        # "net/block5_…" for net/block5_conv1, net/block5_bn1, …
        return f"{stem if stem[-1:] in SEPARATORS else around + '/'}…"
    return f"{change.name} … {parts[-1]}" if len(parts) > 1 else change.name


def _both(change: Change) -> str:
    """Return the new name; also the old one if the last segments differ in more than counters."""
    side = _place_of_own_weights(change)
    if side is not None:
        return str((change.old, change.new)[side])
    last = [COUNTER_AT_END.sub("", last_segment(name or "")) for name in (change.old, change.new)]
    return change.name if last[0] == last[1] else f"{change.name} (was {change.old})"


def _place_of_own_weights(change: Change) -> int | None:
    """Return the side, 0 for old and 1 for new, on which a module has its own weights; None for any other change. On
    the other side, the change has the name of the module that lends them."""
    if change.setting is None or change.key != "weights":
        return None
    values = [change.setting.old, change.setting.new]
    return values.index(OWN_PARAMETER) if OWN_PARAMETER in values else None


def counts_of_types(unit: Unit) -> Counter[str]:
    """Count the added or removed ops by type without framework."""
    counts = Counter[str]()
    for op, count in unit.op_types.items():
        counts[op.rpartition("::")[2]] += count
    return counts


def _unit_words(change: Change, content: Unit, most: int) -> str:
    """Describe an added or removed unit: `scope, 12 ops (4 MatMul, …)`, `op MatMul`."""
    types = counts_of_types(content)
    # List one more if it is the last: "and 1 other type" would be as long.
    first = list(types.items())[: most if len(types) > most + 1 else most + 1]
    rest = f" and {len(types) - len(first)} other types" if len(types) > len(first) else ""
    shown = ", ".join(f"{count:,} {op or 'no type'}" for op, count in first) + rest
    if content.function is not None:
        return f"function, {format_counted_noun(change.ops, 'op')} ({shown})"
    if change.ops == change.place_count and len(types) == 1:
        return f"op {next(iter(types)) or 'without type'}"
    several = len(content.parts)
    unit = format_counted_noun(several, "part") if several > 1 else "scope" if content.scope else "op"
    return f"{unit}, {format_counted_noun(change.ops, 'op')} ({shown})"


def wire_words(change: Change) -> str:
    """Return the position of an insertion or removal in a wire: ` between a and b`; "" if there is no single wire."""
    if isinstance(change.content, Rewiring):
        return ""
    # The source and the target of the wire that was split or joined.
    ends: set[tuple[str | None, str]] = set()
    for wire in change.links:
        ends.add((wire.old if change.kind == "added" else wire.new, wire.taker))
    source, target = ends.pop() if len(ends) == 1 else (None, "")
    return f" between {source} and {target}" if source is not None else ""


def value_texts(old: Any, new: Any) -> tuple[str, str]:
    """Return both values of a setting; for long lists, the numbers from the first that differs.

    >>> value_texts([0] * 11, 0), value_texts([0] * 9 + [1], [0] * 9 + [2])
    (('[0, 0, 0, 0, 0, 0, 0, 0, … 3 more]', '0'), ('[9 equal …, 1]', '[9 equal …, 2]'))
    """
    both = isinstance(old, (list, tuple)) and isinstance(new, (list, tuple))
    pairs = zip(old, new, strict=False) if both else ()
    first = next((number for number, (one, other) in enumerate(pairs) if one != other), 0)
    first = first if first >= MAX_NUMBERS else 0
    return value_text(old, first), value_text(new, first)


def value_text(plain: Any, first: int = 0) -> str:
    """Return a plain value as text; for a list, the items from number `first`.

    >>> (
    ...     value_text([1, 2]),
    ...     value_text(None),
    ...     value_text("SAME"),
    ...     value_text({"producer": 27, "bad_consumers": []}),
    ...     value_text({"bias": False}),
    ... )
    ('[1, 2]', 'nothing', 'SAME', 'producer 27', 'bias false')
    """
    if plain is None or plain == "":
        return "nothing"
    if isinstance(plain, Mapping):
        return ", ".join(
            f"{key} {value_text(part)}" for key, part in plain.items() if part or isinstance(part, bool | int)
        )
    if isinstance(plain, (list, tuple)):
        shown, rest = ", ".join(map(value_text, plain[first : first + MAX_NUMBERS])), len(plain) - first - MAX_NUMBERS
        return f"[{f'{first:,} equal …, ' if first else ''}{shown}{f', … {rest:,} more' if rest > 0 else ''}]"
    # Booleans as in JSON and in text protobufs.
    text = str(plain).lower() if isinstance(plain, bool) else str(plain)
    return truncate_text(text, MAX_REPORT_VALUE_LETTERS)


def change_facts(change: Change) -> Iterator[str]:
    """Yield further facts of a change, line by line."""
    wires = list(change.links)
    match change.content:
        case Unit() as unit:
            if unit.equal:
                yield f"position not determinable: one of {unit.equal} equal neighbours"
            if MAX_HEADLINE_PARTS < len(unit.parts) <= MAX_PARTS:
                yield f"made of {', '.join(last_segment(part) for part in unit.parts)}"
            wires = [] if unit.training else wires
        case Setting() as setting:
            yield from (f"{inner.name}: {setting_words(inner)}" for inner in setting.beside)
            if shapes := [f"{pair.old} → {pair.new}" for pair in setting.weights]:
                yield f"weights {_first_words(shapes, MAX_WIRES)}"
            if setting.casts:
                yield f"with {format_counted_noun(setting.casts, 'cast')}"
                wires = []
        case Rename(old=old, new=new, series=None) if change.also:
            yield f"{value_text(old)} → {value_text(new)} in each name"
        case Rewiring(inputs=inputs, order=order):
            wires = list(inputs) if order is None else []
        case Ports(ports=ports):
            for port in ports:
                yield f"{port.side} {port.key}: {value_text(port.old)} → {value_text(port.new)}"
        case FunctionSignature() as signature:
            for word, pair in signature.by_word().items():
                yield f"{word}: {value_text(pair.old)} → {value_text(pair.new)}"
    # Data wires; if there are none, control wires except those of group ops.
    data = [wire for wire in wires if wire.slot is not None]
    wires = data or [wire for wire in wires if last_segment(wire.taker).split("_")[0] not in GROUP_OPS]
    for wire in wires[:MAX_WIRES]:
        node = f" of {wire.taker}" if wire.taker else ""
        yield f"{place_words(wire)}{node}: {wire.old or 'nothing'} → {wire.new or 'nothing'}"
    if len(wires) > MAX_WIRES:
        yield f"and {format_counted_noun(len(wires) - MAX_WIRES, 'other wire')}"
    if consequence_words(change):
        own = _place_of_own_weights(change)  # 0: the old name counts, 1: the new one, None: the new one if there is one
        names = [(old if own == 0 or (own is None and new is None) else new) or "" for old, new in change.also]
        shown = ", ".join(names[:MAX_PLACES]) + (", …" if len(names) > MAX_PLACES else "")
        yield f"and {format_counted_noun(len(names), 'other place')}: {shown}"


def program_line_words(old: str | None, new: str | None) -> str:
    """Return the program line behind a change; both lines if their text differs.

    >>> program_line_words("m.py:40 x = relu(x)", "m.py:41 x = relu(x)"), program_line_words("m.py:7 f(x)", None)
    ('at m.py:41 x = relu(x)', 'was at m.py:7 f(x)')
    >>> program_line_words("m.py:41 x = relu(x)", "m.py:41 x = gelu(x)")
    'at m.py:41 x = relu(x) → m.py:41 x = gelu(x)'
    """
    if new is None:
        return f"was at {old}" if old else ""
    same = old is None or old.partition(" ")[2] == new.partition(" ")[2]
    return f"at {new}" if same else f"at {old} → {new}"


def consequence_words(change: Change) -> bool:
    """Return whether a change has other places that its headline does not mention: that of a move has the number of
    children, that of an order the number of blocks."""
    order = change.rewiring.order if change.rewiring else None
    names_itself = change.kind == "moved" or _names_apart(change) or (order is not None and order.blocks is not None)
    return bool(change.also) and not names_itself


def differing_words(
    numbers: Mapping[str, tuple[int | None, int | None]],
    bounds_before: Mapping[str, int] = MappingProxyType({}),
    bounds_after: Mapping[str, int] = MappingProxyType({}),
) -> list[str]:
    """Return the numbers that differ, with their difference; operations have three digits. Bounds are indexes into
    `BOUND_WORDS`; between two kinds of bounds the difference is unknown.

    >>> differing_words({"ops": (4, 4), "parameters": (10, 12), "flops": (3_370_000, 1_370_000)})
    ['10 → 12 parameters (+2)', '3.37 M → 1.37 M FLOPs (−2 M)']
    >>> (
    ...     differing_words({"flops": (7, 5)}, {"flops": 1}, {"flops": 1}),
    ...     differing_words({"parameters": (7, 5)}, {}, {"parameters": 1}),
    ...     differing_words({"flops": (7, 5)}, {"flops": 2}, {"flops": 2}),
    ... )
    (['at least 7 → 5 FLOPs (−2)'], ['7 → at least 5 parameters'], ['at most 7 → 5 FLOPs (−2)'])
    """
    return [
        _difference(word, old, new, BOUND_WORDS[bounds_before.get(word, 0)], BOUND_WORDS[bounds_after.get(word, 0)])
        for word, (old, new) in numbers.items()
        if old is not None and new is not None and old != new
    ]


def _difference(word: str, old: int, new: int, before: str, after: str) -> str:
    shown = format_count if word == "flops" else "{:,}".format
    named = "FLOPs" if word == "flops" else word
    if before != after:
        return f"{before}{shown(old)} → {after}{shown(new)} {named}"
    return f"{before}{shown(old)} → {shown(new)} {named} ({'+' if new > old else '−'}{shown(abs(new - old))})"


def following_words(change: Change) -> list[Change]:
    """Return the consequences to report, without renames that the change itself shows: `silu (was gelu)`."""
    places = set(change.places)
    return [inner for inner in change.consequences if inner.kind != "renamed" or not places.issuperset(inner.places)]


def behind_words(change: Change) -> str:
    """Return the number of consequences of a change as text; "" if there are none."""
    following = following_words(change)
    if not following:
        return ""
    many = format_counted_noun(len(following), "consequence")
    if len(following) == 1:
        return f"{many}: {change_head(following[0], 1)}"
    return f"{many} in {format_counted_noun(sum(inner.ops for inner in following), 'op')}"


def place_words(wire: InputWire) -> str:
    """Return the position of an input: the number in the file, and a word that shows that it counts from 0.

    >>> (
    ...     place_words(InputWire(1, "a", "b")),
    ...     place_words(InputWire(12, "a", "b")),
    ...     place_words(InputWire(None, "a", "b")),
    ... )
    ('input 1 (second)', 'input 12 (counted from 0)', 'control input')
    """
    number = wire.slot
    if number is None:
        return "control input"
    return f"input {number} ({ORDINALS[number] if number < len(ORDINALS) else 'counted from 0'})"
