"""Contents of changes, by kind: typed, and as the plain values of docs/diff.md.

Fields called `old` and `new` are the two sides; their values are data of the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass, replace
from typing import Any

from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Sides:
    """A value before and now."""

    old: Any
    new: Any

    def to_json(self) -> dict[str, Any]:
        """Return both as plain values."""
        return {"old": self.old, "new": self.new}


def exchange_sides(value: Any) -> Any:
    """Return a content, or a part of one, with the fields `old` and `new` exchanged; their values are not changed.

    >>> exchange_sides(Setting("gate", {"old": 1, "new": 5}, None))
    Setting(key='gate', old=None, new={'old': 1, 'new': 5}, constant=False, attributes=(), weights=(), beside=(), \
links=(), casts=None)
    """
    if isinstance(value, tuple):
        return tuple(map(exchange_sides, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    turn = {"old": "new", "new": "old"}
    parts = {field.name: getattr(value, turn.get(field.name, field.name)) for field in fields(value)}
    return replace(value, **{name: part if name in turn else exchange_sides(part) for name, part in parts.items()})


@dataclass(frozen=True, slots=True)
class InputWire:
    """An input with another source: its position (None for a control input), the old and the new tensor (None: no
    input), and the old and new node with this input, unless it is the node of the change."""

    slot: int | None
    old: str | None
    new: str | None
    node: Sides | None = None

    @property
    def taker(self) -> str:
        """The new name of the node with this input; "" for the node of the change."""
        return (self.node.new or self.node.old or "") if self.node else ""

    def source(self, new: bool) -> str:
        """Return the node that the input comes from, now or before; "" for none."""
        return ((self.new if new else self.old) or "").partition(":")[0]

    def to_json(self) -> dict[str, Any]:
        """Return the wire as plain values."""
        node = {"node": self.node.to_json()} if self.node else {}
        return {**node, "input": "control" if self.slot is None else self.slot, "old": self.old, "new": self.new}


@dataclass(frozen=True, slots=True)
class SettingPart:
    """One of several settings that differ in one edit: its place, key, and values."""

    name: str
    key: str
    old: Any
    new: Any

    def to_json(self) -> dict[str, Any]:
        """Return the setting as plain values."""
        return {"name": self.name, "key": self.key, "old": self.old, "new": self.new}


@dataclass(frozen=True, slots=True)
class Setting:
    """A changed value of a setting, or a changed op type; `old` and `new` are data of the program.

    `constant`: the value is that of a constant. `attributes`: the attributes of the setting, unless it is `key`.
    `weights`: old and new shapes of the weights in which it shows. `beside`: further settings of the same edit;
    `links`: its rewired inputs. `casts`: casts that a changed type added or removed, None for any other setting.
    """

    key: str
    old: Any
    new: Any
    constant: bool = False
    attributes: tuple[str, ...] = ()
    weights: tuple[Sides, ...] = ()
    beside: tuple[SettingPart, ...] = ()
    links: tuple[InputWire, ...] = ()
    casts: int | None = None

    @property
    def as_parts(self) -> tuple[SettingPart, ...]:
        """This setting and the settings that changed with it."""
        return (SettingPart("", self.key, self.old, self.new), *self.beside)

    def to_json(self) -> dict[str, Any]:
        """Return the setting as plain values."""
        return {
            "key": self.key,
            "old": self.old,
            "new": self.new,
            **({"constant": True} if self.constant else {}),
            **({"attributes": list(self.attributes)} if self.attributes else {}),
            **({"weights": [shapes.to_json() for shapes in self.weights]} if self.weights else {}),
            **({"with": [part.to_json() for part in self.beside]} if self.beside else {}),
            **({"links": [wire.to_json() for wire in self.links]} if self.links else {}),
            **({"casts": self.casts} if self.casts is not None else {}),
        }


@dataclass(frozen=True, slots=True)
class LayerExpression:
    """A layer or block as a call in a program: its class or name, its arguments, and the number of equal layers."""

    name: str
    arguments: tuple[str, ...] = ()
    count: int = 1
    in_block: bool = False

    def __str__(self) -> str:
        many = f"{self.count} " if self.in_block or self.count > 1 else ""
        return f"{many}{self.name}({', '.join(self.arguments)})" if self.arguments else f"{many}{self.name}"


@dataclass(frozen=True, slots=True)
class Unit:
    """Ops, a scope or a whole `function` that was added or removed: the number of ops of each type, and the wires of
    other ops that led to it (None: not looked for).

    `equal`: equal neighbours, any of which may be the one that was added or removed. `parts`: the parts of a chain.
    `reads`: layers whose weights it reads. `training`: its part in the training. `layers`: the layers that it consists
    of.
    """

    scope: bool = False
    op_types: Mapping[str, int] = field(default_factory=dict)
    links: tuple[InputWire, ...] | None = None
    equal: int = 0
    parts: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    training: str = ""
    layers: tuple[LayerExpression, ...] = ()
    function: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the unit as plain values."""
        return {
            "scope": self.scope,
            **({"function": self.function} if self.function is not None else {}),
            "op_types": dict(self.op_types),
            **({"links": [wire.to_json() for wire in self.links]} if self.links is not None else {}),
            **({"equal": self.equal} if self.equal else {}),
            **({"parts": list(self.parts)} if self.parts else {}),
            **({"reads": list(self.reads)} if self.reads else {}),
            **({"training": self.training} if self.training else {}),
            **({"layers": list(map(str, self.layers))} if self.layers else {}),
        }


@dataclass(frozen=True, slots=True)
class WholeSignature:
    """A signature that was added or removed, with the keys of its tensors."""

    tensors: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the signature as plain values."""
        return {"signature": True, "tensors": list(self.tensors)}


@dataclass(frozen=True, slots=True)
class Rename:
    """A changed part of names (`old`, `new`), or a `series` of which only the numbers changed."""

    old: str = ""
    new: str = ""
    series: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the rename as plain values."""
        if self.series is not None:
            return {"series": self.series, "numbers": True}
        return {"part": {"old": self.old, "new": self.new}}


@dataclass(frozen=True, slots=True)
class Move:
    """The old and the new scope of children that moved; "" for the root."""

    old: str
    new: str
    children: int

    def to_json(self) -> dict[str, Any]:
        """Return the move as plain values."""
        return {"around": {"old": self.old, "new": self.new}, "children": self.children}


@dataclass(frozen=True, slots=True)
class LayerOrder:
    """Layers in the old and the new order of the data flow; `blocks`: the number of blocks with this change, None for
    one place."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    blocks: int | None = None


@dataclass(frozen=True, slots=True)
class Rewiring:
    """Inputs with other sources; `reordered` if only their order changed; `order`: the order of layers that changed
    with them."""

    inputs: tuple[InputWire, ...]
    reordered: bool = False
    order: LayerOrder | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the rewiring as plain values."""
        plain: dict[str, Any] = {"inputs": [wire.to_json() for wire in self.inputs]}
        if self.reordered:
            plain["reordered"] = True
        if self.order is not None:
            blocks = {"blocks": self.order.blocks} if self.order.blocks is not None else {}
            plain["order"] = {"old": list(self.order.old), "new": list(self.order.new), **blocks}
        return plain


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """The function, without its number, whose body has the changes inside."""

    function: str

    def to_json(self) -> dict[str, Any]:
        """Return the function as plain values."""
        return {"function": self.function}


@dataclass(frozen=True, slots=True)
class SignaturePort:
    """An input or output of a signature whose type, shape or tensor changed; None on a side where it is missing."""

    side: str
    key: str
    old: str | None
    new: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the port as plain values."""
        return {"side": self.side, "key": self.key, "old": self.old, "new": self.new}


@dataclass(frozen=True, slots=True)
class Ports:
    """The inputs and outputs of a signature that differ."""

    ports: tuple[SignaturePort, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the ports as plain values."""
        return {"ports": [port.to_json() for port in self.ports]}


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """Types of arguments and of results, or the tensors that are returned, old and new; None where equal."""

    arguments: Sides | None = None
    results: Sides | None = None
    returned: Sides | None = None

    def by_word(self) -> dict[str, Sides]:
        """Return the lists that differ, by their name."""
        pairs = {"arguments": self.arguments, "results": self.results, "returned": self.returned}
        return {word: pair for word, pair in pairs.items() if pair is not None}

    def to_json(self) -> dict[str, Any]:
        """Return the signature as plain values."""
        return {word: pair.to_json() for word, pair in self.by_word().items()}


ChangeContent = Setting | Unit | WholeSignature | Rename | Move | Rewiring | FunctionBody | Ports | FunctionSignature
