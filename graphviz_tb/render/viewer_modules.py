"""The modules of the viewer, joined into one script.

Each is an ES module that says with `import` what it needs. A page is given its entry and all that the entry needs, in
the order in which a browser would run them, as one script without `import` and `export`.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(r'^import (?:\{[^}\n]*\} from )?"([^"\n]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def viewer_source(name: str) -> str:
    """Return a file of the viewer as part of a joined script, without `import` and `export`."""
    return _EXPORT.sub("", _IMPORT.sub("", _viewer_text(name)))


@cache
def modules_of(entry: str) -> tuple[str, ...]:
    """Return the modules that an entry needs, each after those that it imports, and the entry at the end.

    Where modules import each other in a circle, the one that is reached first comes last, as in a browser.
    """
    order: list[str] = []
    seen = {entry}
    path = [(entry, iter(_imported_modules(entry)))]
    while path:
        module, rest = path[-1]
        needed = next((name for name in rest if name not in seen), None)
        if needed is None:
            order.append(module)
            path.pop()
        else:
            seen.add(needed)
            path.append((needed, iter(_imported_modules(needed))))
    return tuple(order)


def _imported_modules(name: str) -> list[str]:
    """Return the modules that a module imports, by their paths in the viewer's folder."""
    folder = posixpath.dirname(name)
    return [posixpath.normpath(posixpath.join(folder, found)) for found in _IMPORT.findall(_viewer_text(name))]


def _viewer_text(name: str) -> str:
    """Return a file of the viewer as it is written."""
    return (files("graphviz_tb") / "viewer" / name).read_text(encoding="utf-8")
