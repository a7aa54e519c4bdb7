"""Answers: JSON, columns, errors, and what is not sent again because it did not change."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

FORMAT = 1  # of every JSON answer
COLUMNS = "application/vnd.tbgraph.columns"
SMALL = 1000  # bytes that are not worth packing
FAST = 1  # level of gzip


class Refused(Exception):
    """A request that is not answered: the HTTP `status`, what is wrong, and what to do."""

    def __init__(self, status: int, error: str, hint: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(error)
        self.status, self.error, self.hint, self.headers = status, error, hint, dict(headers or {})


def refusal(refused: Refused) -> Response:
    """The answer that says so."""
    return Response(
        dumped({"error": refused.error, "hint": refused.hint}),
        refused.status,
        {"cache-control": "no-store", **refused.headers},
        "application/json",
    )


def json_answer(request: Request, value: Mapping[str, Any], tag: str | None = None, status: int = 200) -> Response:
    """A JSON document; with `tag` (what the answer depends on) the browser asks whether it still holds."""
    headers = {"cache-control": "no-cache" if tag else "no-store"}
    if tag is not None:
        headers["etag"] = etag(tag)
        if unchanged(request, headers["etag"]):
            return Response(status_code=304, headers=headers)
    body = dumped({"format": FORMAT, **value})
    headers["vary"] = "accept-encoding"
    if len(body) > SMALL and "gzip" in request.headers.get("accept-encoding", ""):
        body = gzip.compress(body, FAST, mtime=0)
        headers["content-encoding"] = "gzip"
    return Response(body, status, headers, "application/json")


def bytes_answer(request: Request, make: Any, kind: str, tag: str) -> Response:
    """Bytes of `make()`, made only where the browser does not have them already."""
    headers = {"cache-control": "no-cache", "etag": etag(tag)}
    if unchanged(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(make(), 200, headers, kind)


def etag(tag: str) -> str:
    """The entity tag of what an answer depends on."""
    return f'"{sha256(tag.encode("utf-8", "surrogatepass")).hexdigest()[:24]}"'


def unchanged(request: Request, tag: str) -> bool:
    """Whether the browser has this very answer."""
    given = request.headers.get("if-none-match", "")
    return tag in (each.strip().removeprefix("W/") for each in given.split(","))


def dumped(value: Any) -> bytes:
    """JSON as bytes; ASCII, so that lone surrogates of odd names are escapes; no NaN, which is no JSON."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
