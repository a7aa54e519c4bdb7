"""tbgraph: draw, describe, check and compare TensorFlow, Keras and PyTorch graphs.

    from graphviz_tb import load

    model = load("model.pbtxt")
    model.picture(depth=1).save("graph.svg")
    model.svg()  # or png(), pdf(), to_html(), to_json()

The names below are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

# The names that are also folders: imported here (they are light), they stay functions when modules below the folders
# are imported.
from graphviz_tb.diff import diff
from graphviz_tb.serve import serve

__version__ = "0.1.0"

TYPE_CHECKING = False  # importing `typing` takes as long as everything else, and Ctrl-C is not handled until it is done
if TYPE_CHECKING:
    from typing import Any

    from graphviz_tb.api.picture import Picture
    from graphviz_tb.api.pipeline import Model, load
    from graphviz_tb.diff.result import Changes
    from graphviz_tb.errors import GraphError, ReadError, RequestError, TbGraphError, ToolError
    from graphviz_tb.logs.log import Log, open_log
    from graphviz_tb.options import Options

_MODULES = ("errors", "options", "summary")  # available without an import: `tbgraph.errors.ReadError`
_HOME = {
    "load": "api.pipeline",
    "Changes": "diff.result",
    "Model": "api.pipeline",
    "Log": "logs.log",
    "open_log": "logs.log",
    "Picture": "api.picture",
    "Options": "options",
    "TbGraphError": "errors",
    "ReadError": "errors",
    "GraphError": "errors",
    "RequestError": "errors",
    "ToolError": "errors",
    "load_ipython_extension": "serve.notebook",  # called by `%load_ext tbgraph`
}

__all__ = [
    "Changes",
    "GraphError",
    "Log",
    "Model",
    "Options",
    "Picture",
    "ReadError",
    "RequestError",
    "TbGraphError",
    "ToolError",
    "__version__",
    "diff",
    "load",
    "open_log",
    "serve",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"graphviz_tb.{_HOME[name]}"), name)
    if name in _MODULES:
        return import_module(f"graphviz_tb.{name}")
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise import_module("graphviz_tb.errors").missing_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
