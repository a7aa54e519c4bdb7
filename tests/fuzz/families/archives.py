"""Families of `.keras` archives, written by hand: each member packed in a way of its own, in a directory that lies."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from random import Random
from typing import Any

from tests.fuzz.families import grown_json, layers

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
OTHER_METHODS = (1, 6, 9, 93, 95, 99, 0xFFFF)  # shrunk, imploded, deflated further, …: nobody packs Keras so
LARGE = 64 << 20  # what small members unpack to
UNITS = (b"\0", b"[", b" ")  # one byte each: bzip2 takes seconds to pack what repeats otherwise
WHOLE = (0, 1, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1)
NAMES = ("config.json", "metadata.json", "model.weights.h5", "CONFIG.JSON", "x/config.json", "../a", "/a", "a\\b", "")
SUBCLASSED = {"class_name": "Mine", "registered_name": "x>Mine", "config": {"name": "m"}}


@dataclass(frozen=True)
class Member:
    """A member as both of its headers tell of it."""

    name: str
    packed: bytes
    method: int
    size: int
    check: int
    flags: int = 0
    said: int | None = None  # of the packed size, where it is not the truth
    offset: int | None = None  # of the local header, where it is not the truth
    comment: bytes = b""
    mode: int = 0

    @property
    def middle(self) -> bytes:
        """What the local header and the directory have in common: flags, method, time, check, sizes, length of name."""
        sizes = len(self.packed) if self.said is None else self.said, self.size
        return struct.pack("<4H3I2H", self.flags, self.method, 0, 33, self.check, *sizes, len(self.name.encode()), 0)


def member(name: str, content: bytes, method: int) -> Member:
    """A member that is sound."""
    return Member(name, packed(content, method), method, len(content), zlib.crc32(content))


@cache
def unfolding(unit: bytes, method: int) -> Member:
    """A member without a name that unpacks to much."""
    return member("", unit * (LARGE // len(unit)), method)


def packed(content: bytes, method: int) -> bytes:
    """The bytes of a content between the headers of a zip."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a"), content, method)
        size = archive.infolist()[0].compress_size
    return made.getvalue()[31 : 31 + size]


def zipped(members: list[Member], before: bytes = b"") -> bytes:
    """An archive, perhaps behind something else."""
    data, directory = before, b""
    for each in members:
        name, offset = each.name.encode(), len(data) if each.offset is None else each.offset
        rest = struct.pack("<3H2I", len(each.comment), 0, 0, each.mode << 16, offset)
        directory += b"PK\1\2" + struct.pack("<2H", 0x314, 20) + each.middle + rest + name + each.comment
        data += b"PK\3\4" + struct.pack("<H", 20) + each.middle + name + each.packed
    end = struct.pack("<4H2IH", 0, 0, len(members), len(members), len(directory), len(data), 0)
    return data + directory + b"PK\5\6" + end


def packed_archive(random: Random) -> tuple[str, bytes]:
    """A model that has its layers, or only weights; members twice, in any order, sound or not."""
    config: Any = random.choice((SUBCLASSED, SUBCLASSED, layers.of_layers(random), grown_json.model(random)))
    members = [_member("metadata.json", b'{"keras_version": "3.0"}', random)]
    members.append(_member("config.json", json.dumps(config).encode(), random))
    if random.random() < 0.8:
        members.append(_member("model.weights.h5", random.choice((kept, kept, of_fixture))(random), random))
    for _ in range(random.choice((0, 0, 1, 3))):
        again = random.choice((random.choice(members), _member("x", random.randbytes(1000), random)))
        members.append(replace(again, name=random.choice(NAMES)))
    random.shuffle(members)
    for _ in range(random.choice((0, 0, 1, 2))):
        at = random.randrange(len(members))
        members[at] = replace(members[at], **random.choice(LIES)(random))
    return "keras", zipped(members, random.choice((b"", b"", b"MZ" * 40)))


LIES: tuple[Callable[[Random], dict[str, Any]], ...] = (
    lambda random: {"size": random.choice(WHOLE)},
    lambda random: {"said": random.choice(WHOLE)},
    lambda random: {"check": random.choice(WHOLE)},
    lambda random: {"offset": random.choice(WHOLE)},
    lambda random: {"flags": 1 << random.randrange(16)},
    lambda random: {"method": random.choice((*METHODS, *OTHER_METHODS))},
    lambda random: {"comment": b"x" * random.choice((1, 60_000))},
    lambda random: {"mode": random.choice((0o120777, 0o40755, 0o10644))},
    lambda random: {"packed": random.randbytes(random.choice((0, 4, 400)))},
)


def _member(name: str, content: bytes, random: Random) -> Member:
    """Of the content, or of much that takes no room."""
    method = random.choice(METHODS)
    if random.random() < 0.15:
        return replace(unfolding(random.choice(UNITS), method or zipfile.ZIP_DEFLATED), name=name)
    return member(name, content, method)


def of_fixture(random: Random) -> bytes:
    """The weights of a good model."""
    with zipfile.ZipFile(io.BytesIO(random.choice(grown_json.archives()))) as archive:
        weights = next((name for name in archive.namelist() if name.endswith(".h5")), None)
        return archive.read(weights) if weights else b""


def kept(random: Random) -> bytes:
    """Weights by their objects, in groups that lead to each other, elsewhere or round; of a fixture without h5py."""
    if find_spec("h5py") is None:
        return of_fixture(random)
    import h5py

    made = io.BytesIO()
    with h5py.File(made, "w") as file:
        places: Mapping[str, str] = {"plain": "layers/dense_{}", "deep": "a/" * 30 + "b{}", "held": "_inner/x{}"}
        form = places[random.choice(sorted(places))]
        for number in range(random.choice((0, 1, 5, 60))):
            group = file.create_group(form.format(number) + random.choice(("/vars", "/vars", "")))
            group.attrs["name"] = random.choice((f"dense_{number}", "a/b", "\u202e", 3, b"\xff", "x" * 3000))
            for at in range(random.choice((0, 1, 2, 40))):
                group.create_dataset(str(at), random.choices((0, 1, 3, 10), k=random.randrange(4)), dtype="f4")
        if random.random() < 0.4:
            file["round"] = file["/"]
            file["soft"], file["outside"] = h5py.SoftLink("/soft"), h5py.ExternalLink("/etc/passwd", "/x")
        if random.random() < 0.3:
            file.create_dataset("layers/vast/vars/0", (2**40, 2**20), chunks=(1, 1024), dtype="f4")
    return made.getvalue()


FAMILIES = {"packed_archive": packed_archive}
