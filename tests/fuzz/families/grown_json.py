"""What any good Keras model can become: a layer a thousand times, a name a mile long, NaN for a number."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from random import Random
from typing import Any

from tests.fuzz.families.damage import FIXTURES

MOST = 600_000  # characters that one change may add
LIES = (
    *(None, True, 0, -1, 1, 2**31, 2**63, 10**30, 1.5, float("nan"), float("inf"), float("-inf"), 1e308, ""),
    *("x", "<b>", "\u202e", "\ud800", "\0", "9" * 5000, [], {}, [[]], [None], {"class_name": None, "config": None}),
    *(["a", 0, 0], [["a", 0, 0]], [float("nan")], {"a": float("-inf")}, "NaN", "Infinity"),
)
Spot = tuple[Any, Any]  # what holds a value, and its key or place there


@cache
def models() -> tuple[str, ...]:
    """The texts of all Keras models in the fixtures."""
    paths = sorted((FIXTURES / "models").glob("keras*/*.json")) + sorted((FIXTURES / "containers").glob("*.json"))
    return tuple(path.read_text() for path in paths if path.name != "truth.json")


@cache
def archives() -> tuple[bytes, ...]:
    """The bytes of all Keras archives."""
    return tuple(
        path.read_bytes() for path in [*FIXTURES.glob("containers/*.keras"), *sorted(FIXTURES.glob("models/*/*.keras"))]
    )


def model(random: Random) -> Any:
    """A good model."""
    return json.loads(random.choice(models()))


def changed(value: Any, random: Random, times: int = 1) -> Any:
    """Before: a value of JSON, no part of which is in it twice. After: the same, with so many changes."""
    written = json.dumps(value)
    for _ in range(times):
        if len(written) >= 2 * MOST:
            break
        try:
            random.choice(CHANGES)(value, random)
            written = json.dumps(value)
        except RecursionError:  # deeper than Python writes: as it was before
            return json.loads(written)
    return value


def spots(value: Any) -> Iterator[Spot]:
    """Every value in a value, however deep."""
    stack = [value]
    while stack:
        holder = stack.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], dict | list):
                stack.append(holder[key])


def a_spot(value: Any, random: Random, wanted: Callable[[Any], bool]) -> Spot | None:
    """One of the values of a sort: first one of the keys, then one of its values."""
    kinds: dict[str, list[Spot]] = {}
    for holder, key in spots(value):
        if wanted(holder[key]):
            kinds.setdefault(key if isinstance(key, str) else "", []).append((holder, key))
    return random.choice(random.choice(list(kinds.values()))) if kinds else None


def multiplied(value: Any, random: Random) -> None:
    """One element of a list very often, named apart or not."""
    spot = a_spot(value, random, lambda inner: isinstance(inner, list) and bool(inner))
    if spot is None:
        return
    items = spot[0][spot[1]]
    item = random.choice(items)
    count = min(random.choice((1, 30, 1000, 20_000)), MOST // (len(json.dumps(item)) + 2))
    apart, chained = random.random() < 0.6, random.random() < 0.4
    items += [deepcopy(_named_apart(item, number, chained) if apart else item) for number in range(count)]


def _named_apart(item: Any, number: int, chained: bool) -> Any:
    """A layer of its own, called on the one before it or not."""
    name = item.get("name") if isinstance(item, dict) else None
    if not isinstance(name, str):
        return item
    made = {**item, "name": f"{name}_{number}"}
    if isinstance(item.get("config"), dict):
        made["config"] = {**item["config"], "name": f"{name}_{number}"}
    if chained:
        made["inbound_nodes"] = [[[f"{name}_{number - 1}" if number else name, 0, 0, {}]]]
    return made


def lengthened(value: Any, random: Random) -> None:
    """One text long or deep, wherever it stands."""
    spot = a_spot(value, random, lambda inner: isinstance(inner, str))
    if spot is None:
        return
    old = spot[0][spot[1]]
    places = [(holder, key) for holder, key in spots(value) if holder[key] == old]
    unit = random.choice((f"{old}/", "/", "a/", "x", "_1", "é"))
    new = unit * min(random.choice((2, 100, 3000, 50_000)), MOST // (len(places) * len(json.dumps(unit)))) + old
    for holder, key in places:
        holder[key] = new


def untrue(value: Any, random: Random) -> None:
    """Something else in the place of a value."""
    spot = a_spot(value, random, lambda inner: True)
    if spot is not None:
        spot[0][spot[1]] = deepcopy(random.choice(LIES))


def exchanged(value: Any, random: Random) -> None:
    """One value in the place of another."""
    one, other = (a_spot(value, random, lambda inner: not isinstance(inner, dict)) for _ in range(2))
    if one and other:
        one[0][one[1]] = deepcopy(other[0][other[1]])


def nested(value: Any, random: Random) -> None:
    """The model in models, each with one layer."""
    if not isinstance(value.get("config"), dict):
        return
    for level in range(random.choice((1, 20, 90))):
        inner = {**value, "name": f"m{level}", "inbound_nodes": [[["i", 0, 0, {}]]]}
        first = {"class_name": "InputLayer", "config": {"name": "i"}, "name": "i", "inbound_nodes": []}
        value.update(class_name="Functional", config={"name": f"m{level}", "layers": [first, inner]})


CHANGES: list[Callable[[Any, Random], None]] = [
    *(multiplied, multiplied, lengthened, untrue, untrue, untrue, exchanged, nested)
]


def grown_json(random: Random) -> tuple[str, bytes]:
    made = changed(model(random), random, random.choice((1, 1, 2, 3, 8, 30)))
    return "json", json.dumps(made).encode()


def grown_archive(random: Random) -> tuple[str, bytes]:
    """A `.keras` archive with a changed model, or with damage in its weights."""
    data = random.choice(archives())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    which = random.choice(sorted(members))
    for name in random.choice(([which], sorted(members))):
        members[name] = _damaged(name, members[name], random)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return "keras", packed.getvalue()


def _damaged(name: str, content: bytes, random: Random) -> bytes:
    if name.endswith(".json"):
        return json.dumps(changed(json.loads(content), random, random.choice((1, 2, 5)))).encode()
    damaged = bytearray(content)
    for _ in range(random.choice((1, 5, 50, 300))):
        damaged[random.randrange(min(len(damaged), random.choice((100, 3000, 10**6))))] = random.randrange(256)
    return bytes(damaged[: -random.choice((1, 500))] if random.random() < 0.2 else damaged)


FAMILIES = {family.__name__: family for family in (grown_json, grown_archive)}
