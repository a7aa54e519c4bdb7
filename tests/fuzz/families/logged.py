"""Families of logs: what runs logged, sound in its framing and odd within, or damaged; several files, several runs."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

from tests.event_files import event, field, histogram, metadata, record, scalar, strings, tensor, varint
from tests.fuzz.families import graphs

LOGGED = Path(__file__).parents[3] / "fixtures" / "logged"
SEEDS = sorted(path for path in LOGGED.rglob("events*") if path.stat().st_size < 60_000)
PLUGINS = [
    "scalars",
    "histograms",
    "images",
    "audio",
    "text",
    "pr_curves",
    "hparams",
    "mesh",
    "custom_scalars",
    "",
    "x",
]
STEPS = (0, 1, 7, 300, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
WALLS = (1.6e9, 0.0, -1.0, float("nan"), float("inf"), 1e308)
PATTERNS = ("", "loss", "(", "a*b", "[", "(?P<n>x)(?P=n)", "\\", "x{9999}", "(a+)+$")
WAYS = ([], ["--csv"], ["--json"], ["--curves"], ["-o", "out/a.svg"], ["--restarts", "keep"], ["--checksum"])
MORE = (["--axis", "time"], ["--log"], ["--smooth", "0.9"], ["--axis", "relative"], ["-q"])


def logs(random: Random) -> tuple[dict[str, bytes], list[str]]:
    """A log directory, and a command line that reads it."""
    runs = [random.choice(("a", "a/b", "run 1", ".", "__proto__")) for _ in range(random.choice((1, 2, 3)))]
    files = {f"log/{run}/events.out.tfevents.{number}.host": one(random) for number, run in enumerate(runs)}
    words = ["scalars", "log", *random.choice(WAYS)]
    if random.random() < 0.5:
        words += random.choice(MORE)
    if random.random() < 0.3:
        words += [random.choice(("--tag", "--run")), random.choice(PATTERNS)]
    return files, words if random.random() < 0.8 else ["info", "log", *random.choice(([], ["--json"]))]


def one(random: Random) -> bytes:
    """An event file: of a fixture or made, then maybe damaged."""
    data = random.choice(SEEDS).read_bytes() if random.random() < 0.4 else made(random)
    way = random.random()
    if way < 0.2:
        data = data[: random.randrange(len(data) + 1)]
    elif way < 0.6:
        data = damaged(data, random)
    return data


def made(random: Random) -> bytes:
    """Records that are sound, each with odd values."""
    payloads = [b"\x09" + struct.pack("<d", 1.6e9) + field(3, b"brain.Event:2")]
    for _ in range(random.choice((1, 5, 200))):
        values = [value(random) for _ in range(random.choice((1, 1, 1, 4)))]
        payloads.append(event(random.choice(STEPS), *values, wall=random.choice(WALLS)))
    return b"".join(map(record, payloads))


def value(random: Random) -> bytes:
    """One value of any kind, its parts as they come."""
    tag = random.choice((*graphs.ODD, "loss", "loss", "x" * 300))
    numbers = np.array([random.choice((0, 1, -1, 1e300, float("nan"))) for _ in range(random.choice((0, 1, 3, 6, 18)))])
    shapes = [
        (len(numbers),),
        (len(numbers) // 3, 3),
        (6, len(numbers) // 6),
        (2**40, 3),
        (0, 3),
        (2**62, 2**62),
        (1,) * 300,
    ]
    plugin, ways = random.choice(PLUGINS), list[Callable[[], bytes]]()
    ways.append(
        lambda: scalar(tag.encode("utf-8", "surrogatepass"), random.choice((0.0, 1.5, float("nan"), float("-inf"))))
    )
    ways.append(
        lambda: histogram(
            "h", list(map(float, range(random.randrange(9)))), [random.choice((0.0, -1.0, 2.0))] * random.randrange(9)
        )
    )
    ways.append(lambda: tensor("loss", numbers, plugin, random.choice((1, 2, 3, 7, 14, 19, 99))))
    ways.append(
        lambda: strings(
            "s",
            [random.randbytes(random.choice((0, 3, 50))) for _ in range(random.randrange(5))],
            plugin,
            random.choice(shapes),
        )
    )
    ways.append(
        lambda: (
            field(1, b"loss")
            + field(8, b"\x08" + varint(2) + shape(random.choice(shapes)) + field(4, numbers.tobytes()))
            + metadata(plugin)
        )
    )
    ways.append(
        lambda: (
            field(1, b"i")
            + field(random.choice((4, 6)), b"\x08" + varint(random.choice((3, 2**31, 2**63))) + field(4, b"\x89PNG"))
        )
    )
    ways.append(lambda: field(1, b"hp") + metadata(plugin))
    ways.append(lambda: random.randbytes(random.randrange(40)))
    return random.choice(ways)()


def shape(sizes: tuple[int, ...]) -> bytes:
    """A TensorShapeProto, as a field of a tensor."""
    return field(2, b"".join(field(2, b"\x08" + varint(size)) for size in sizes))


def damaged(data: bytes, random: Random) -> bytes:
    """Some bits of some payloads turned; half the time the checksums are made to fit."""
    out, at = bytearray(), 0
    fits = random.random() < 0.5
    while at + 16 <= len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        payload = bytearray(data[at + 12 : at + 12 + size])
        whole = bytearray(data[at : at + 16 + size])
        if payload and random.random() < 0.1:
            place = random.randrange(len(payload))
            payload[place] ^= 1 << random.randrange(8)
            whole = bytearray(record(bytes(payload))) if fits else whole[:12] + payload + whole[12 + size :]
        out += whole
        at += 16 + size
    return bytes(out)


SETS = {"logged": logs}
