"""What every request passes before it is routed, and what every answer bears.

A page elsewhere must not reach this server through the reader's browser: `Host` must be ours (DNS rebinding), the
browser must say that our own page asks (`Sec-Fetch-Site`, `Origin`), what changes something has a header that only
scripts of ours can send. Off loopback a token is demanded.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response

from graphviz_tb.serve.answers import Refused, refusal
from graphviz_tb.serve.settings import LOOPBACK, Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LONGEST_TARGET = 8_000  # bytes of path and query
LARGEST_BODY = 64_000  # bytes
MOST_AT_ONCE = 64  # requests
SECONDS = 30.0  # that a request may take until it is answered, and between two parts of its answer
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]{0,252}))(?::(\d{1,5}))?", re.IGNORECASE)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
)
# The page saves pictures through `blob:` and has a mark of its style sheet as `data:`; neither leads anywhere.
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Wraps the application: refuses what is not for it, and dresses all that it answers."""

    def __init__(self, app: App, settings: Settings) -> None:
        self._app, self._settings = app, settings
        self._hosts = allowed_hosts(settings)
        self._busy = 0
        self._headers = {
            "content-security-policy": POLICY + (" ".join(settings.allowed_frames) or "'none'"),
            **HEADERS,
        }
        if not settings.allowed_frames:
            self._headers["x-frame-options"] = "DENY"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # a WebSocket is closed unanswered
        send = self._dressed(send)
        try:
            early = self._checked(scope)
        except Refused as refused:
            early = refusal(refused)
        if early is not None:
            await early(scope, receive, send)
            return
        self._busy += 1
        try:
            await self._timed(scope, bounded(receive), send)
        finally:
            self._busy -= 1

    def _checked(self, scope: Scope) -> Response | None:
        """Before: a request as it came. After: nothing where it may go on, else the answer. Raises `Refused`."""
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        target = bytes(scope.get("raw_path") or b"")
        # In absolute form the host of the target counts, not the header: nobody who means this server writes that.
        if not target.startswith(b"/"):
            raise Refused(403, "the request names a host in its target", "ask for a path, such as /api/state")
        if len(target) + len(scope["query_string"]) > LONGEST_TARGET:
            raise Refused(414, f"an address is longer than {LONGEST_TARGET:,} bytes", "ask for fewer series at once")
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self._ours(hosts[0], scope):
            raise Refused(403, "this server is not called that", "start it with --allow-host NAME to call it so")
        self._same_site(scope, dict(headers), hosts[0])
        size = dict(headers).get(b"content-length", "0")
        if not size.isdigit() or int(size) > LARGEST_BODY:
            raise Refused(413, f"a request has more than {LARGEST_BODY:,} bytes")
        early = self._known(scope, dict(headers))
        if early is None and self._busy >= MOST_AT_ONCE:
            raise Refused(503, "too many requests at once", "ask again in a second", {"retry-after": "1"})
        return early

    def _ours(self, host: str, scope: Scope) -> bool:
        """Whether a `Host` is one of ours. Any port: a tunnel may end at another one."""
        found = HOST.fullmatch(host)
        if found is None:
            return False
        name = found[1].strip("[]").lower().rstrip(".")
        bound = scope.get("server") or ("",)
        # The address that was connected to: no name, so no name server can have changed what it means.
        return name in self._hosts or (not self._settings.local and name == str(bound[0]).lower())

    def _same_site(self, scope: Scope, headers: dict[bytes, str], host: str) -> None:
        """Refuse what a page of another origin asks."""
        site, method = headers.get(b"sec-fetch-site", "none"), scope["method"]
        if site not in ("same-origin", "none") and not self._visit(scope, headers):
            raise Refused(403, "a page of another origin asks", "open the address itself")
        origin = headers.get(b"origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            raise Refused(403, "a page of another origin asks", "open the address itself")
        if method not in ("GET", "HEAD", "POST"):
            raise Refused(405, f"no method {method[:20]}", headers={"allow": "GET, HEAD, POST"})
        if method == "POST" and headers.get(b"x-tbgraph") != "1":
            raise Refused(403, "a request that changes something lacks its header", "send X-Tbgraph: 1")

    def _visit(self, scope: Scope, headers: dict[bytes, str]) -> bool:
        """Whether a link elsewhere leads to the page itself, which holds no data; or a frame that may show it."""
        if headers.get(b"sec-fetch-mode") != "navigate" or scope["path"] != self._settings.prefix + "/":
            return False
        kinds = ("document", "iframe") if self._settings.allowed_frames else ("document",)
        return scope["method"] == "GET" and headers.get(b"sec-fetch-dest") in kinds

    def _known(self, scope: Scope, headers: dict[bytes, str]) -> Response | None:
        """Check the token; a visitor who has it in the address gets a cookie for it and the address without it."""
        token, prefix = self._settings.token, self._settings.prefix
        if not token:
            return None
        name = f"tbgraph-{(scope.get('server') or ('', 0))[1]}"  # cookies of all ports of a host are one heap
        try:
            morsel = SimpleCookie(headers.get(b"cookie", "")).get(name)
        except CookieError:
            morsel = None
        if morsel is not None and same(morsel.value, token):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not same(given, token):
            raise Refused(403, "this server asks for its token", "open the address that `tbgraph serve` printed")
        if scope["path"] != f"{prefix}/":
            return None
        answer = RedirectResponse(f"{prefix}/", 303, {"cache-control": "no-store"})
        answer.set_cookie(name, token, path=f"{prefix}/", httponly=True, samesite="strict")
        return answer

    def _dressed(self, send: Send) -> Send:
        """Give every answer the headers that it lacks."""

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message.get("headers", ())}
                more = [(name.encode(), value.encode()) for name, value in self._headers.items()]
                message["headers"] = [*message.get("headers", ()), *(one for one in more if one[0] not in there)]
            await send(message)

        return dressed

    async def _timed(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer within the time that there is, part by part."""
        loop, started = asyncio.get_running_loop(), False
        endless = scope["path"] == f"{self._settings.prefix}/api/events"
        try:
            async with asyncio.timeout(None if endless else SECONDS) as limit:

                async def counted(message: Message) -> None:
                    nonlocal started
                    started = True
                    await send(message)
                    if not endless:
                        limit.reschedule(loop.time() + SECONDS)

                try:
                    await self._app(scope, receive, counted)
                except Refused as refused:
                    if started:
                        raise
                    await refusal(refused)(scope, receive, counted)
        except TimeoutError:
            if started:
                raise  # the connection is closed: half an answer must not look like one
            late = Refused(503, f"no answer within {SECONDS:.0f} seconds", "ask for less, or again")
            await refusal(late)(scope, receive, send)


def bounded(receive: Receive) -> Receive:
    """Count the bytes of a body that does not say how long it is."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST_BODY:
            raise Refused(413, f"a request has more than {LARGEST_BODY:,} bytes")
        return message

    return counted


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """What this server may be called."""
    return frozenset(name.strip("[]").lower().rstrip(".") for name in names(settings))


def names(settings: Settings) -> Iterable[str]:
    """All names of this server."""
    yield from LOOPBACK
    yield from settings.allowed_hosts
    yield settings.host


def same(given: str, token: str) -> bool:
    """Compare in a time that says nothing of where they differ."""
    return compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())
