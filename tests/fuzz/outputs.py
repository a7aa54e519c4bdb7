"""What is wrong with what a run wrote and printed."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

# Signs that control a terminal, but the ends of lines; those that turn text round; those that hide in it.
UNSAFE = {*map(chr, (*range(9), *range(11, 32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)))}
ACTIVE = frozenset({"script", "foreignObject", "iframe", "img", "b"})
MEASURES = frozenset({"x", "y", "width", "height", "d", "points", "viewBox", "transform", "x1", "y1"})
NOT_A_NUMBER = re.compile(r"\b(nan|inf)", re.IGNORECASE)


def outputs_wrong(folder: Path, code: int) -> list[str]:
    """What is wrong with the outputs, which are taken away: whole and of their format after success, else none."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            continue
        if code not in (0, 1):
            found.append(f"output {path.name!r} in spite of exit code {code}")
        elif not is_whole(path):
            found.append(f"output {path.name!r} is not whole")
        path.unlink()
    return found


def strict(data: bytes) -> None:
    """Refuse what Python takes for JSON and nobody else does: NaN and infinities."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    json.loads(data, parse_constant=refuse)
    data.decode()


def said_wrong(words: list[str], said: bytes, code: int) -> list[str]:
    """What is wrong with what was printed: after success, where JSON was asked for, it is JSON."""
    report = words[0] == "diff" and ("--format", "json") in pairwise(words) and not {"-o", "--git"} & set(words)
    asked = (report or "--json" in words) and not {"--help", "--version"} & set(words)
    if not asked or code not in (0, 1) or not said:
        return []
    try:
        strict(said)
    except ValueError as error:
        return [f"no JSON on stdout: {error}"]
    return []


def printed_wrong(words: list[str], said: str, messages: str) -> list[str]:
    """What is wrong with what a terminal was given: signs that move its cursor, turn its text round, or hide in it."""
    picture = ("-o", "-") in pairwise(words) or "--csv" in words  # for a file: a name is written as it is
    streams = {"stdout": "" if picture else said, "stderr": messages}
    found = [f"{''.join(sorted(signs))!a} on {name}" for name, text in streams.items() if (signs := set(text) & UNSAFE)]
    return found + ["a warning of Python"] * bool(re.search(r"\w+Warning: ", messages))


def unsafe(svg: ElementTree.Element) -> list[str]:
    """What in an SVG runs, or is fetched from elsewhere."""
    found = [part.tag for part in svg.iter() if part.tag.rpartition("}")[2] in ACTIVE]
    for part in svg.iter():
        for key, value in part.attrib.items():
            name = key.rpartition("}")[2]
            outside = name == "href" and not value.startswith(("#", "data:"))
            if name.startswith("on") or outside or (NOT_A_NUMBER.search(value) and name in MEASURES):
                found.append(f"{key}={value[:40]}")
    return found


def is_whole(path: Path) -> bool:
    """Whether a file is all of what its suffix says, and nothing in it is active."""
    data, kind = path.read_bytes(), path.suffix.lower()
    try:
        if data.startswith(b"<svg"):  # whatever it is called: `--format` says what is written
            svg = ElementTree.fromstring(data)
            if unsafe(svg):
                return False
        if kind == ".json" and data.startswith((b"{", b"[")):
            strict(data)
    except (ValueError, ElementTree.ParseError):
        return False
    ends = {b"\x89PNG": b"IEND\xaeB`\x82", b"%PDF": b"%%EOF", b"digr": b"}", b"<!do": b"</html>"}
    return data.rstrip(b"\n").endswith(ends.get(data[:4], b""))
