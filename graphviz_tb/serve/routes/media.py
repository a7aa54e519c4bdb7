"""Bytes of images and sounds, which stay on disk until requested."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.model.logged import Place
from graphviz_tb.page.blobs import HEAD, UNKNOWN, kind_of
from graphviz_tb.serve.answers import Refused, etag, unchanged
from graphviz_tb.serve.asked import is_number, known, session_of
from graphviz_tb.serve.threads import in_thread

LARGEST = 1 << 28  # bytes of a blob in one response
SANDBOX = "default-src 'none'; sandbox"
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def head_of(request: Request, run: str, place: Place) -> bytes:
    """Return the first bytes of a blob."""
    return session_of(request).read(run, place._replace(length=min(place.length, HEAD)))


async def blob(request: Request) -> Response:
    """Return the bytes of an image or a sound, or a range of them."""
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
    """Return the first and the last byte of a range; the whole blob without exactly one range.

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


MEDIA_ROUTES = [Route("/api/blob/{id}", blob, methods=["GET"])]
