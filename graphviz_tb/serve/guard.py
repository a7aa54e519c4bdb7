"""Request checks before routing; headers on every response.

A foreign page must not reach this server through the reader's browser: `Host` must be ours (DNS rebinding), the browser
must state that the request comes from our page (`Sec-Fetch-Site`, `Origin`), and a request that changes something needs
a header that only our scripts can send. Outside of loopback a token is required.
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

from graphviz_tb.serve.answers import RefusedRequest, refusal_response
from graphviz_tb.serve.settings import LOOPBACK_HOSTS, Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_TARGET_BYTES = 8_000  # bytes of path and query
MAX_BODY_BYTES = 64_000  # bytes
MAX_SIMULTANEOUS_REQUESTS = 64  # requests
ANSWER_SECONDS = 30.0  # limit until the answer begins, and between two parts of it
HOST_HEADER = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]{0,252}))(?::(\d{1,5}))?", re.IGNORECASE)
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
)
# The page saves pictures through `blob:`, and its style sheet has an image as `data:`; neither leaves the page.
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class RequestGuard:
    """Wraps the application: refuses foreign requests, and adds headers to all responses."""

    def __init__(self, app: App, settings: Settings) -> None:
        self._app, self._settings = app, settings
        self._hosts = frozenset(name.strip("[]").lower().rstrip(".") for name in _configured_hosts(settings))
        self._busy = 0
        self._headers = {
            "content-security-policy": CONTENT_SECURITY_POLICY + (" ".join(settings.allowed_frames) or "'none'"),
            **SECURITY_HEADERS,
        }
        if not settings.allowed_frames:
            self._headers["x-frame-options"] = "DENY"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # a WebSocket is closed unanswered
        send = self.with_headers(send)
        try:
            early = self.check_request(scope)
        except RefusedRequest as refused:
            early = refusal_response(refused)
        if early is not None:
            await early(scope, receive, send)
            return
        self._busy += 1
        try:
            await self.answer_in_time(scope, _limit_body(receive), send)
        finally:
            self._busy -= 1

    def check_request(self, scope: Scope) -> Response | None:
        """Check a request as received: return None if it may go on, else the response. Raises `RefusedRequest`."""
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        target = bytes(scope.get("raw_path") or b"")
        # In absolute form the host of the target would count, not the header; our clients do not send this form.
        if not target.startswith(b"/"):
            raise RefusedRequest(403, "the request names a host in its target", "ask for a path, such as /api/state")
        if len(target) + len(scope["query_string"]) > MAX_TARGET_BYTES:
            raise RefusedRequest(
                414, f"an address is longer than {MAX_TARGET_BYTES:,} bytes", "ask for fewer series at once"
            )
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self.is_own_host(hosts[0], scope):
            raise RefusedRequest(403, "this server is not called that", "start it with --allow-host NAME to call it so")
        self.refuse_other_origins(scope, dict(headers), hosts[0])
        size = dict(headers).get(b"content-length", "0")
        if not size.isdigit() or int(size) > MAX_BODY_BYTES:
            raise RefusedRequest(413, f"a request has more than {MAX_BODY_BYTES:,} bytes")
        early = self.check_token(scope, dict(headers))
        if early is None and self._busy >= MAX_SIMULTANEOUS_REQUESTS:
            raise RefusedRequest(503, "too many requests at once", "ask again in a second", {"retry-after": "1"})
        return early

    def is_own_host(self, host: str, scope: Scope) -> bool:
        """Return whether a `Host` is one of ours, at any port: a tunnel may use a different one."""
        found = HOST_HEADER.fullmatch(host)
        if found is None:
            return False
        name = found[1].strip("[]").lower().rstrip(".")
        bound = scope.get("server") or ("",)
        # The address of the connection: an IP address cannot be rebound by a name server.
        if "*" in self._hosts:  # behind a proxy that controls access
            return True
        return name in self._hosts or (not self._settings.is_local and name == str(bound[0]).lower())

    def refuse_other_origins(self, scope: Scope, headers: dict[bytes, str], host: str) -> None:
        """Refuse the requests of pages of other origins."""
        site, method = headers.get(b"sec-fetch-site", "none"), scope["method"]
        if site not in ("same-origin", "none") and not self.is_page_visit(scope, headers):
            raise RefusedRequest(403, "a page of another origin asks", "open the address itself")
        origin = headers.get(b"origin")
        if origin is not None and "*" not in self._hosts and origin.partition("://")[2].lower() != host.lower():
            raise RefusedRequest(403, "a page of another origin asks", "open the address itself")
        if method not in ("GET", "HEAD", "POST"):
            raise RefusedRequest(405, f"no method {method[:20]}", headers={"allow": "GET, HEAD, POST"})
        if method == "POST" and headers.get(b"x-tbgraph") != "1":
            raise RefusedRequest(403, "a request that changes something lacks its header", "send X-Tbgraph: 1")

    def is_page_visit(self, scope: Scope, headers: dict[bytes, str]) -> bool:
        """Return whether a request is for the page itself, which contains no data, by a link from elsewhere or by an
        allowed frame."""
        if headers.get(b"sec-fetch-mode") != "navigate" or scope["path"] != self._settings.prefix + "/":
            return False
        kinds = ("document", "iframe") if self._settings.allowed_frames else ("document",)
        return scope["method"] == "GET" and headers.get(b"sec-fetch-dest") in kinds

    def check_token(self, scope: Scope, headers: dict[bytes, str]) -> Response | None:
        """Check the token; a visitor with the token in the address gets a cookie and a clean address."""
        token, prefix = self._settings.token, self._settings.prefix
        if not token:
            return None
        name = f"tbgraph-{(scope.get('server') or ('', 0))[1]}"  # all ports of a host share their cookies
        try:
            morsel = SimpleCookie(headers.get(b"cookie", "")).get(name)
        except CookieError:
            morsel = None
        if morsel is not None and _tokens_match(morsel.value, token):
            return None
        address_token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not _tokens_match(address_token, token):
            raise RefusedRequest(403, "this server asks for its token", "open the address that `tbgraph serve` printed")
        if scope["path"] != f"{prefix}/":
            return None
        answer = RedirectResponse(f"{prefix}/", 303, {"cache-control": "no-store"})
        answer.set_cookie(name, token, path=f"{prefix}/", httponly=True, samesite="strict")
        return answer

    def with_headers(self, send: Send) -> Send:
        """Add the missing headers to every response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message.get("headers", ())}
                more = [(name.encode(), value.encode()) for name, value in self._headers.items()]
                message["headers"] = [
                    *message.get("headers", ()),
                    *(header for header in more if header[0] not in there),
                ]
            await send(message)

        return send_with_headers

    async def answer_in_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer within the time limit of each part."""
        loop, started = asyncio.get_running_loop(), False
        endless = scope["path"] == f"{self._settings.prefix}/api/events"
        try:
            async with asyncio.timeout(None if endless else ANSWER_SECONDS) as limit:

                async def send_in_time(message: Message) -> None:
                    nonlocal started
                    started = True
                    await send(message)
                    if not endless:
                        limit.reschedule(loop.time() + ANSWER_SECONDS)

                try:
                    await self._app(scope, receive, send_in_time)
                except RefusedRequest as refused:
                    if started:
                        raise
                    await refusal_response(refused)(scope, receive, send_in_time)
        except TimeoutError:
            if started:
                raise  # close the connection: half an answer must not look complete
            late = RefusedRequest(503, f"no answer within {ANSWER_SECONDS:.0f} seconds", "ask for less, or again")
            await refusal_response(late)(scope, receive, send)


def _limit_body(receive: Receive) -> Receive:
    """Limit the bytes of a body that does not declare its length."""
    taken = 0

    async def receive_limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MAX_BODY_BYTES:
            raise RefusedRequest(413, f"a request has more than {MAX_BODY_BYTES:,} bytes")
        return message

    return receive_limited


def _configured_hosts(settings: Settings) -> Iterable[str]:
    yield from LOOPBACK_HOSTS
    yield from settings.allowed_hosts
    yield settings.host


def _tokens_match(given: str, token: str) -> bool:
    """Compare in constant time."""
    return compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())
