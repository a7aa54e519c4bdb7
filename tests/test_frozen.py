"""Dataclasses with slots, of our own make, are as the standard ones."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import pprint
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from functools import cached_property
from inspect import signature
from typing import Any

import pytest

from graphviz_tb.model import frozen
from tests.each import each


class Spot:
    """A place, and what was noted of it."""

    x: int
    y: int = 0
    notes: list[str] = field(default_factory=list, compare=False)
    secret: str = field(default="none", repr=False)
    far: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "far", self.x > 9)


class Named:
    """What shows itself in its own way, and is equal to nothing else."""

    name: str

    def __repr__(self) -> str:
        return self.name


Ours = frozen.dataclass(frozen=True, slots=True)(type("Spot", (), dict(vars(Spot))))
Theirs = dataclasses.dataclass(frozen=True, slots=True)(type("Spot", (), dict(vars(Spot))))


@frozen.dataclass(frozen=True, slots=True)
class Kept:
    """One that can be found by name, as pickle wants it."""

    one: int
    two: tuple[int, ...] = ()


@frozen.dataclass(slots=True)
class Counter:
    """One that counts."""

    count: int = 0


BEHAVIOUR: dict[str, Callable[[Any], Any]] = {
    "repr": lambda made: repr(made(3, secret="key")),
    "defaults": lambda made: (made(3).y, made(3).notes, made(3).notes is made(3).notes),
    "post": lambda made: (made(3).far, made(12).far),
    "equal": lambda made: (made(1) == made(1, notes=["a"]), made(1) == made(1, 2), made(1) == (1, 0)),
    "hash": lambda made: (hash(made(1, 2)), len({made(1), made(1, 0), made(2)})),
    "replace": lambda made: repr(dataclasses.replace(made(1, 2), y=5)),
    "asdict": lambda made: dataclasses.asdict(made(1, 2)),
    "match": lambda made: made.__match_args__,
    "slots": lambda made: (made.__slots__, hasattr(made(1), "__dict__")),
    "copy": lambda made: (copy.copy(made(1, 2)) == made(1, 2), copy.deepcopy(made(12, 2)).far),
    "parameters": lambda made: [(one.name, one.annotation) for one in signature(made).parameters.values()],
}


@each("name", BEHAVIOUR)
def test_it_behaves_as_the_standard_one(name: str) -> None:
    assert BEHAVIOUR[name](Ours) == BEHAVIOUR[name](Theirs)


def refused(act: Callable[[], object]) -> tuple[type[BaseException], str]:
    with pytest.raises((TypeError, AttributeError)) as caught:
        act()
    return caught.type, str(caught.value)


@pytest.mark.parametrize(
    "act",
    [
        lambda made: setattr(made(1), "x", 2),
        lambda made: delattr(made(1), "x"),
        lambda made: made(),
        lambda made: made(1, z=2),
        lambda made: made(1, far=True),
    ],
)
def test_it_refuses_what_the_standard_one_refuses(act: Callable[[Any], object]) -> None:
    assert refused(lambda: act(Ours)) == refused(lambda: act(Theirs))


def test_it_is_frozen() -> None:
    for name in ("one", "new"):
        with pytest.raises(FrozenInstanceError, match=name):
            setattr(Kept(1), name, 2)


@pytest.mark.parametrize("is_frozen", [True, False])
def test_tools_for_dataclasses_take_it(is_frozen: bool) -> None:
    made: Any = frozen.dataclass(frozen=is_frozen, slots=True)(type("Spot", (), dict(vars(Spot))))
    long = made(1, notes=["a" * 50, "b" * 50])
    assert pprint.pformat(long) == repr(long)
    assert made(1, 2).__replace__(y=5) == made(1, 5)  # as `copy.replace` calls it
    inner = dataclasses.dataclass(frozen=is_frozen)(type("Inner", (made,), {"__annotations__": {"z": int}, "z": 3}))
    assert inner(1).z == 3


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, (2, 3)))) == Kept(1, (2, 3))


def test_methods_of_the_class_stay() -> None:
    made: Any = frozen.dataclass(frozen=True, slots=True, eq=False)(type("Named", (), dict(vars(Named))))
    assert repr(made("here")) == "here"
    assert made("here") != made("here")


def test_one_that_is_not_frozen_can_be_changed() -> None:
    made = frozen.dataclass(slots=True)(type("Spot", (), dict(vars(Spot))))
    theirs = dataclasses.dataclass(slots=True)(type("Spot", (), dict(vars(Spot))))
    for behaviour in ("repr", "defaults", "equal", "replace", "asdict", "match", "slots", "copy", "parameters"):
        assert BEHAVIOUR[behaviour](made) == BEHAVIOUR[behaviour](theirs)
    spot = made(1)
    spot.x += 1
    assert spot == made(2) != made(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(spot)
    assert pickle.loads(pickle.dumps(Counter(3))) == Counter(3)


@frozen.dataclass(frozen=True, slots=True)
class Square:
    """One whose area is found once."""

    side: int

    @cached_property
    def area(self) -> list[int]:
        return [self.side * self.side]


def test_cached_properties_are_kept_and_not_pickled() -> None:
    square = Square(3)
    assert square.area is square.area
    assert square.area == [9]
    again = pickle.loads(pickle.dumps(square))
    assert again == square
    assert "area" not in vars(again)


def test_a_default_that_can_change_is_refused() -> None:
    with pytest.raises(ValueError, match="mutable default of field 'many'"):
        frozen.dataclass(slots=True)(type("Many", (), {"__annotations__": {"many": list}, "many": []}))


def test_others_are_left_to_the_standard_one() -> None:
    @frozen.dataclass(frozen=True)
    class Free:
        count: int = 0

    assert Free(1) == Free(1)
    assert vars(Free(1)) == {"count": 1}


def make_spot_class(dataclass: Callable[..., Any]) -> Any:
    @dataclass(frozen=True, slots=True)
    class Spot:
        x: int
        y: int = 2
        marks: list[int] = field(default_factory=list)
        total: int = field(init=False, default=0)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.x + self.y)

    return Spot


def test_first_objects_are_made_as_those_after_the_constructor_is_compiled() -> None:
    spot = make_spot_class(frozen.dataclass)
    made = [(repr(spot(1)), repr(spot(y=3, x=1)), repr(spot(1, 2, [3]))) for _ in range(frozen.MAX_UNCOMPILED_OBJECTS)]
    assert set(made) == {made[0]}
    assert spot(1).marks is not spot(1).marks


@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((1,), {"total": 1})]
)
def test_a_first_object_that_cannot_be_made_is_refused_as_by_the_standard_one(
    given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    errors = []
    for dataclass in (frozen.dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError) as caught:
            make_spot_class(dataclass)(*given, **named)
        errors.append(str(caught.value).rpartition("Spot.")[2])
    assert errors[0] == errors[1]
