"""The viewer: the page without data, its script and its style, addressed by content."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.render.html import SERVED_MODULES, joined_script, served_page, style_sheet
from graphviz_tb.serve.answers import RefusedRequest
from graphviz_tb.serve.asked import served_source

CACHE_FOREVER = "public, max-age=31536000, immutable"
VIEWER_MEDIA_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


@cache
def viewer_files() -> dict[str, bytes]:
    """Return the files of the viewer; their names contain a hash of the content."""
    made = {"js": joined_script(SERVED_MODULES).encode(), "css": style_sheet(logs=True).encode()}
    return {f"viewer.{sha256(data).hexdigest()[:16]}.{kind}": data for kind, data in made.items()}


async def viewer_page(request: Request) -> Response:
    """Return the page."""
    code, look = viewer_files()
    page = served_page(served_source(request).title, f"static/{code}", f"static/{look}")
    return Response(page, 200, {"cache-control": "no-cache"}, "text/html; charset=utf-8")


async def viewer_file(request: Request) -> Response:
    """Return a file of the viewer."""
    name = request.path_params["name"]
    if name not in viewer_files():
        raise RefusedRequest(404, "no such file", "open the page itself")
    return Response(
        viewer_files()[name], 200, {"cache-control": CACHE_FOREVER}, VIEWER_MEDIA_TYPES[name.rpartition(".")[2]]
    )


async def no_icon(request: Request) -> Response:
    """Return no icon: browsers always ask for one."""
    return Response(status_code=204)


VIEWER_ROUTES = [
    Route("/", viewer_page, methods=["GET"]),
    Route("/static/{name}", viewer_file, methods=["GET"]),
    Route("/favicon.ico", no_icon, methods=["GET"]),
]
