"""Bytes of images and sounds, which stay on disk until requested."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.model.logged import FileRange
from graphviz_tb.page.blobs import MEDIA_HEAD_BYTES, UNKNOWN_MEDIA_TYPE, media_type
from graphviz_tb.serve.answers import RefusedRequest, entity_tag, is_not_modified
from graphviz_tb.serve.asked import checked_query, is_id, served_source
from graphviz_tb.serve.threads import run_in_thread

MAX_BLOB_BYTES = 1 << 28  # bytes of a blob in one response
SANDBOX_POLICY = "default-src 'none'; sandbox"
RANGE_HEADER = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def read_blob_head(request: Request, run: str, place: FileRange) -> bytes:
    """Return the first bytes of a blob."""
    return served_source(request).read(run, place._replace(length=min(place.length, MEDIA_HEAD_BYTES)))


async def blob_bytes(request: Request) -> Response:
    """Return the bytes of an image or a sound, or a range of them."""
    checked_query(request, ())
    number, source = request.path_params["id"], served_source(request)
    found = source.place_of_blob(int(number)) if is_id(number) else None
    if found is None:
        raise RefusedRequest(404, "no such blob", "/api/media gives their ids")
    run, place = found
    headers = {"accept-ranges": "bytes", "cache-control": "no-cache", "content-security-policy": SANDBOX_POLICY}
    headers["etag"] = entity_tag(f"{source.start} {number}")
    if is_not_modified(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    first, last = requested_range(request.headers.get("range"), place.length)
    part = last + 1 - first < place.length
    if part:
        headers["content-range"] = f"bytes {first}-{last}/{place.length}"
    wanted = place._replace(offset=place.offset + first, length=last + 1 - first)
    kind = media_type(await run_in_thread(read_blob_head, request, run, place))
    if kind == UNKNOWN_MEDIA_TYPE:
        headers["content-disposition"] = "attachment"
    return Response(await run_in_thread(source.read, run, wanted), 206 if part else 200, headers, kind)


def requested_range(text: str | None, size: int) -> tuple[int, int]:
    """Return the first and the last byte of a range; the whole blob without exactly one range.

    >>> requested_range("bytes=2-", 10), requested_range("bytes=-3", 10), requested_range(None, 10)
    ((2, 9), (7, 9), (0, 9))
    """
    found = RANGE_HEADER.fullmatch(text or "")
    first, last = 0, size - 1
    if found and (found[1] or found[2]):
        first = int(found[1]) if found[1] else max(0, size - int(found[2]))
        last = min(last, int(found[2])) if found[1] and found[2] else last
        if first > last:
            raise RefusedRequest(416, f"there are {size:,} bytes", headers={"content-range": f"bytes */{size}"})
    return first, min(last, first + MAX_BLOB_BYTES - 1)


MEDIA_ROUTES = [Route("/api/blob/{id}", blob_bytes, methods=["GET"])]
