"""Families of Keras models: JSON with anything anywhere, and archives that lie."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

KEYS = [
    "class_name",
    "config",
    "layers",
    "name",
    "inbound_nodes",
    "input_layers",
    "output_layers",
    "args",
    "keras_history",
    "dtype",
    "kwargs",
    "module",
    "registered_name",
    "build_config",
]
WORDS = ["a", "b", "m", "", "/", "a/b", "\ud800", "\u202e", "Dense", "Sequential", "Functional", "Model", "x" * 2000]


def anything(random: Random, depth: int) -> Any:
    """A value of JSON."""
    kind = random.randrange(9 if depth else 6)
    if kind < 3:
        return random.choice(WORDS)
    if kind == 3:
        return random.choice([0, -1, 1, 10**30, -(10**30), 0.5, float("nan"), float("inf"), 10**4000])
    if kind == 4:
        return random.choice([None, True, False])
    if kind == 5:
        return [random.choice("ab"), random.choice((0, -1, 7)), random.choice((0, -3, 10**9)), {}]
    if kind == 6:
        return [anything(random, depth - 1) for _ in range(random.randrange(4))]
    return {random.choice(KEYS): anything(random, depth - 1) for _ in range(random.randrange(5))}


def model(random: Random) -> Any:
    """Layers that call each other by names that are there, with anything beside it."""
    names = random.sample(["a", "b", "c", "d/e", "", "\udfff"], 4)
    return {
        "class_name": random.choice(["Functional", "Sequential", "Model", "Mine"]),
        "config": {
            "name": random.choice(WORDS),
            "layers": [layer(random, name, names) for name in names],
            "input_layers": anything(random, 2),
            "output_layers": [[random.choice(names), 0, random.choice((0, -2, 5))]],
        },
    }


def layer(random: Random, name: str, names: list[str]) -> Any:
    """One layer; a model now and then."""
    if random.random() < 0.2:
        return {**model(random), "name": name, "inbound_nodes": [[[random.choice(names), 0, -1, {}]]]}
    calls: Any = [[[random.choice(names), random.choice((0, -1, 4)), random.choice((0, -1, 10**12)), {}]]]
    return {
        "class_name": random.choice(["Dense", "InputLayer", 7, None, ""]),
        "config": {"name": name, "dtype": anything(random, 2)},
        "name": name,
        "inbound_nodes": calls if random.random() < 0.7 else anything(random, 4),
    }


def wild_json(random: Random) -> tuple[str, bytes]:
    value = {"class_name": "Model", "config": anything(random, 6)} if random.random() < 0.4 else model(random)
    return "json", json.dumps(value).encode()


def spoilt_json(random: Random) -> tuple[str, bytes]:
    """The text itself is odd: long numbers, lone halves of letters, endless nesting, other encodings."""
    good = json.dumps(model(random))
    text = random.choice(
        [
            good.replace("0", "9" * 5000),
            good.replace('"a"', '"\\ud83d"'),
            good.replace("[[", "[" * 100_000),
            good[: random.randrange(len(good))],
            good + good,
            good.replace(":", ": /* */"),
            '{"class_name":"Functional","config":{"layers":[' * random.choice((50, 300, 900, 3000, 50_000)),
            _nested(random.choice((50, 200, 330, 1500))),
            '{"class_name":"Sequential","config":{"layers":[' + "{}," * 400_000 + "{}]}}",
            '{"class_name":"Sequential","config":{"layers":[' + '{"a":{}},' * 200_000 + "{}]}}",
        ]
    )
    return "json", text.encode(random.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"]), "surrogatepass")


def _nested(levels: int) -> str:
    """Models in models, each with one layer."""
    return (
        '{"class_name":"Functional","config":{"name":"m","layers":[' * levels
        + '{"class_name":"Dense","config":{"name":"d"}}'
        + "]}}" * levels
    )


def many_calls(random: Random) -> tuple[str, bytes]:
    """A nested model of many inputs, called many times."""
    inputs = random.choice((10, 300, 3000))
    calls = random.choice((1, 10, 100))
    inner = [
        {"class_name": "InputLayer", "config": {"name": f"i{number}"}, "name": f"i{number}", "inbound_nodes": []}
        for number in range(inputs)
    ]
    outer = {"class_name": "InputLayer", "config": {"name": "x"}, "name": "x", "inbound_nodes": []}
    inbound = [[["x", 0, 0, {}]] * inputs] * calls
    nested = {
        "class_name": "Functional",
        "name": "m",
        "inbound_nodes": inbound,
        "config": {
            "name": "m",
            "layers": inner,
            "input_layers": [[f"i{number}", 0, 0] for number in range(inputs)],
            "output_layers": [["i0", 0, 0]],
        },
    }
    config = {"name": "top", "layers": [outer, nested], "input_layers": [["x", 0, 0]], "output_layers": [["m", 0, 0]]}
    return "json", json.dumps({"class_name": "Functional", "config": config}).encode()


def archive(random: Random) -> tuple[str, bytes]:
    """A zip: other methods, damage in the member, bombs, names twice, none at all."""
    data = json.dumps(model(random)).encode()
    unit = random.choice((b"{},", b"[],", b'{"a":1},', b"0,", b" ", b'"a",'))
    contents = random.choice(
        [data, data, data, b'{"class_name":"Sequential","config":{"layers":[' + unit * ((60 << 20) // len(unit))]
    )
    packed = io.BytesIO()
    method = random.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    with zipfile.ZipFile(packed, "w", method if len(contents) < 1 << 20 else zipfile.ZIP_DEFLATED) as made:
        for name in random.choice(
            (["config.json"], ["metadata.json", "config.json"], ["x/config.json"], ["../config.json"], [])
        ):
            made.writestr(zipfile.ZipInfo(name), contents, made.compression)
    changes: list[Callable[[bytes], bytes]] = [
        lambda data: data,
        lambda data: data,
        lambda data: data[: random.randrange(len(data))],
        lambda data: _flip(data, random),
        lambda data: _flip(data, random),
        lambda data: random.randbytes(30) + data,
        lambda data: data.replace(struct.pack("<I", len(contents)), b"\xff\xff\xff\xff"),
        lambda data: data.replace(b"PK\1\2\x14\3", b"PK\1\2\xff\3"),
    ]
    return "keras", random.choice(changes)(packed.getvalue())


def _flip(data: bytes, random: Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(random.choice((1, 4, 20))):
        damaged[random.randrange(min(len(damaged), 2000))] = random.randrange(256)
    return bytes(damaged)


FAMILIES = {family.__name__: family for family in (wild_json, spoilt_json, many_calls, archive)}
