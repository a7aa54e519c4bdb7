"""Responses of the server, and a cache of answers shared by all pages."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Hashable, Mapping
from hashlib import sha256
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from graphviz_tb.caches import BoundedCache
from graphviz_tb.page.blocks import strict_json
from graphviz_tb.serve.jobs import run_in_thread


class AnswerCache:
    """Bodies of answers by request. Simultaneous equal requests are answered by one computation. Used in the event loop
    only."""

    def __init__(self, room: int) -> None:
        self._bodies: BoundedCache[bytes] = BoundedCache(room, len)
        self._made: dict[Hashable, asyncio.Future[bytes]] = {}

    async def cached_body(self, asked: Hashable, tag: str, make: Callable[[], bytes]) -> bytes:
        """Return the body for a request and entity tag, made in a thread unless cached."""
        body = self._bodies.get(asked, tag)
        if body is not None:
            return body
        key = asked, tag
        if key not in self._made:
            self._made[key] = asyncio.ensure_future(run_in_thread(make))
            self._made[key].add_done_callback(lambda _: self._made.pop(key))
        # Shielded: the first request may be cancelled while others wait for the result.
        return self._bodies.store(asked, tag, await asyncio.shield(self._made[key]))


# Responses: JSON, columns, errors, and "not modified".

ANSWER_FORMAT = 1  # of every JSON answer
COLUMNS_MEDIA_TYPE = "application/vnd.tbgraph.columns"
MIN_GZIP_BYTES = 1000  # shorter answers are not compressed
FAST_GZIP_LEVEL = 1  # level of gzip
PIECE_BYTES = 1 << 17  # bytes that are sent at a time


class RefusedRequest(Exception):
    """A refused request: the HTTP `status`, the error, a hint, and `more` fields of the JSON body."""

    def __init__(
        self,
        status: int,
        error: str,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(error)
        self.status, self.error, self.hint = status, error, hint
        self.headers, self.more = dict(headers or {}), dict(more or {})


class PiecewiseResponse(Response):
    """A response that is sent in pieces, because a large buffer that waits for the client would be copied
    repeatedly."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for at in range(0, max(1, len(self.body)), PIECE_BYTES):
            piece = bytes(self.body[at : at + PIECE_BYTES])
            await send({"type": "http.response.body", "body": piece, "more_body": at + PIECE_BYTES < len(self.body)})


def refusal_response(refused: RefusedRequest) -> Response:
    return Response(
        strict_json({**refused.more, "error": refused.error, "hint": refused.hint}),
        refused.status,
        {"cache-control": "no-store", **refused.headers},
        "application/json",
    )


def json_response(request: Request, value: Mapping[str, Any], *, same: bool = False, status: int = 200) -> Response:
    """Return a JSON response; with `same`, the browser revalidates it by its entity tag."""
    body = strict_json({"format": ANSWER_FORMAT, **value})
    headers = {"cache-control": "no-cache" if same else "no-store"}
    if same:
        headers["etag"] = entity_tag(body.decode())
        if is_not_modified(request, headers["etag"]):
            return Response(status_code=304, headers=headers)
    headers["vary"] = "accept-encoding"
    if len(body) > MIN_GZIP_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
        body = gzip.compress(body, FAST_GZIP_LEVEL, mtime=0)
        headers["content-encoding"] = "gzip"
    return Response(body, status, headers, "application/json")


async def cached_json_response(request: Request, make: Callable[[], Mapping[str, Any]], tag: str) -> Response:
    """Return the JSON response of `make()`, whose content depends on `tag` only; encoded and compressed once for all
    clients."""
    packs = "gzip" in request.headers.get("accept-encoding", "")
    headers = {"vary": "accept-encoding", **({"content-encoding": "gzip"} if packs else {})}

    def encode() -> bytes:
        body = strict_json({"format": ANSWER_FORMAT, **make()})
        return gzip.compress(body, FAST_GZIP_LEVEL, mtime=0) if packs else body

    return await _cached_response(request, packs, encode, "application/json", tag, headers)


async def cached_bytes_response(request: Request, make: Callable[[], bytes], kind: str, tag: str) -> Response:
    """Return the bytes of `make()`, which depend on `tag` only; not called if the browser has this version."""
    return await _cached_response(request, False, make, kind, tag, {})


async def _cached_response(
    request: Request, packs: bool, make: Callable[[], bytes], kind: str, tag: str, more: Mapping[str, str]
) -> Response:
    headers = {"cache-control": "no-cache", "etag": entity_tag(tag)}
    if is_not_modified(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    kept: AnswerCache = request.app.state.session.answer_cache
    body = await kept.cached_body((request.url.path, request.url.query, packs), headers["etag"], make)
    return PiecewiseResponse(body, 200, {**headers, **more}, kind)


def entity_tag(tag: str) -> str:
    """Return the entity tag of everything that a response depends on."""
    return f'"{sha256(tag.encode("utf-8", "surrogatepass")).hexdigest()[:24]}"'


def is_not_modified(request: Request, tag: str) -> bool:
    """Return whether the browser has this version."""
    given = request.headers.get("if-none-match", "")
    return tag in (word.strip().removeprefix("W/") for word in given.split(","))
