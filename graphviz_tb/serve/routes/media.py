"""What was logged beside numbers: images, sounds and texts, the bytes of which stay on disk until somebody asks."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.model.logged import Blobs, Place, Series
from graphviz_tb.page.logged import whole
from graphviz_tb.serve.answers import Refused, etag, json_answer, unchanged
from graphviz_tb.serve.asked import is_number, known, session_of
from graphviz_tb.serve.points import point_at, steps_of
from graphviz_tb.serve.threads import in_thread

MOST_SAMPLES = 200  # of one point
LONGEST_TEXT = 1_000_000  # bytes of the cells of one point
LARGEST = 1 << 28  # bytes of a blob that are sent at once
SANDBOX = "default-src 'none'; sandbox"
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")

# What a browser may show, by the first bytes; all else is a file to keep.
MAGIC: tuple[tuple[str, bytes], ...] = (
    ("image/png", rb"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", rb"\xff\xd8\xff"),
    ("image/gif", rb"GIF8[79]a"),
    ("image/bmp", rb"BM.{12}[\x0c-\x7c]\x00\x00\x00"),
    ("image/webp", rb"RIFF....WEBP"),
    ("audio/wav", rb"RIFF....WAVE"),
    ("audio/mpeg", rb"ID3|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]"),
    ("audio/ogg", rb"OggS"),
    ("audio/flac", rb"fLaC"),
)
HEAD = 32  # bytes that show which it is
UNKNOWN = "application/octet-stream"


def kind_of(head: bytes) -> str:
    """What a blob is, by its first bytes, whatever the log says.

    >>> kind_of(b"GIF89a..."), kind_of(b"<svg xmlns=")
    ('image/gif', 'application/octet-stream')
    """
    return next((kind for kind, magic in MAGIC if re.match(magic, head, re.DOTALL)), UNKNOWN)


def blobs_of(request: Request, *kinds: str) -> tuple[Series, Blobs]:
    """The series that an address means, which is of one of these kinds. Raises `Refused`."""
    number = request.path_params["id"]
    if not is_number(number):
        raise Refused(404, f"no series {number[:40]!r}", "/api/tags lists them")
    found = session_of(request).series(int(number))
    if found.kind not in kinds or not isinstance(found.data, Blobs):
        raise Refused(400, f"series {number} is of kind {found.kind}", f"this address gives {' and '.join(kinds)}")
    return found, found.data


async def media(request: Request) -> Response:
    """The images or sounds of one point, each with the id of its bytes."""
    series, data = blobs_of(request, "image", "audio")
    point = point_at(series, known(request, ("at",)))
    places = data.places(point)
    shown = places[:MOST_SAMPLES]
    heads = await in_thread(lambda: [head_of(request, series.run, place) for place in shown])
    told = zip(shown, heads, strict=True)
    samples = [sample(request, series, data, point, place, head) for place, head in told]
    more = {"samples": samples, "left": max(0, len(places) - MOST_SAMPLES), "steps": steps_of(series)}
    return json_answer(request, {"step": whole(int(series.step[point])), **more}, same=True)


def head_of(request: Request, run: str, place: Place) -> bytes:
    """The first bytes of a blob."""
    return session_of(request).read(run, place._replace(length=min(place.length, HEAD)))


def sample(request: Request, series: Series, data: Blobs, point: int, place: Place, head: bytes) -> dict[str, Any]:
    """One image or sound."""
    source = session_of(request)
    told = {"blob": source.blob_id(series.run, place), "type": kind_of(head), "bytes": place.length}
    if series.kind == "image":
        return {**told, "width": int(data.width[point]), "height": int(data.height[point])}
    return {**told, "rate": float(data.rate[point]), "frames": int(data.frames[point])}


async def blob(request: Request) -> Response:
    """The bytes of an image or a sound, or a range of them."""
    known(request, ())
    number, source = request.path_params["id"], session_of(request)
    found = source.blob(int(number)) if is_number(number) else None
    if found is None:
        raise Refused(404, "no such blob", "/api/media gives their ids")
    run, place = found
    headers = {"accept-ranges": "bytes", "cache-control": "no-cache", "content-security-policy": SANDBOX}
    headers["etag"] = etag(f"{source.start} {number}")
    if unchanged(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    first, last = asked_range(request.headers.get("range"), place.length)
    part = last + 1 - first < place.length
    if part:
        headers["content-range"] = f"bytes {first}-{last}/{place.length}"
    wanted = place._replace(offset=place.offset + first, length=last + 1 - first)
    kind = kind_of(await in_thread(head_of, request, run, place))
    if kind == UNKNOWN:
        headers["content-disposition"] = "attachment"
    return Response(await in_thread(source.read, run, wanted), 206 if part else 200, headers, kind)


def asked_range(text: str | None, size: int) -> tuple[int, int]:
    """The first and the last byte that are asked for; all where that is not said, or not in one range.

    >>> asked_range("bytes=2-", 10), asked_range("bytes=-3", 10), asked_range(None, 10)
    ((2, 9), (7, 9), (0, 9))
    """
    found = RANGE.fullmatch(text or "")
    first, last = 0, size - 1
    if found and (found[1] or found[2]):
        first = int(found[1]) if found[1] else max(0, size - int(found[2]))
        last = min(last, int(found[2])) if found[1] and found[2] else last
        if first > last:
            raise Refused(416, f"there are {size:,} bytes", headers={"content-range": f"bytes */{size}"})
    return first, min(last, first + LARGEST - 1)


async def text(request: Request) -> Response:
    """The cells of one point of a text, as they were logged: Markdown that the viewer draws."""
    series, data = blobs_of(request, "text")
    point = point_at(series, known(request, ("at",)))
    places, room = data.places(point), LONGEST_TEXT
    kept: list[Place] = []
    for place in places:
        if room <= 0:
            break
        kept.append(place._replace(length=min(place.length, room)))
        room -= place.length
    cells = await in_thread(
        lambda: [session_of(request).read(series.run, each).decode("utf-8", "replace") for each in kept]
    )
    told = {
        "step": whole(int(series.step[point])),
        "shape": list(data.shapes[data.shape[point]]),
        "cells": cells,
        "cut": room < 0 or len(kept) < len(places),
        "steps": steps_of(series),
    }
    return json_answer(request, told, same=True)


ROUTES = [
    Route("/api/media/{id}", media, methods=["GET"]),
    Route("/api/blob/{id}", blob, methods=["GET"]),
    Route("/api/text/{id}", text, methods=["GET"]),
]
