"""The viewer: the page without data, its script and its style, addressed by content."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.render.html import SERVED_MODULES, script, served, style
from graphviz_tb.serve.answers import Refused
from graphviz_tb.serve.asked import session_of

FOREVER = "public, max-age=31536000, immutable"
KINDS = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


@cache
def files() -> dict[str, bytes]:
    """Return the files of the viewer; their names contain a hash of the content."""
    made = {"js": script(SERVED_MODULES).encode(), "css": style(logs=True).encode()}
    return {f"viewer.{sha256(data).hexdigest()[:16]}.{kind}": data for kind, data in made.items()}


async def home(request: Request) -> Response:
    """Return the page."""
    code, look = files()
    page = served(session_of(request).title, f"static/{code}", f"static/{look}")
    return Response(page, 200, {"cache-control": "no-cache"}, "text/html; charset=utf-8")


async def static(request: Request) -> Response:
    """Return a file of the viewer."""
    name = request.path_params["name"]
    if name not in files():
        raise Refused(404, "no such file", "open the page itself")
    return Response(files()[name], 200, {"cache-control": FOREVER}, KINDS[name.rpartition(".")[2]])


async def icon(request: Request) -> Response:
    """Return no icon: browsers always ask for one."""
    return Response(status_code=204)


VIEWER_ROUTES = [
    Route("/", home, methods=["GET"]),
    Route("/static/{name}", static, methods=["GET"]),
    Route("/favicon.ico", icon, methods=["GET"]),
]
