"""Attributes known from similar libraries, and their names here."""

from __future__ import annotations

from typing import TYPE_CHECKING

DRAWING_METHODS = "show() in a notebook, save(FILE), svg(), png(), pdf() or to_html()"
# Owner → guessed name → what to type instead, behind "m." of a model, "d." of a diff, "log." of a log.
GUESSES: dict[str, dict[str, str]] = {
    "graphviz_tb": {
        **dict.fromkeys(("show", "view", "display", "open"), "tbgraph.load(MODEL).show()"),
        **dict.fromkeys(("draw", "plot", "plot_model", "picture", "render"), "tbgraph.load(MODEL).save(FILE)"),
        **dict.fromkeys(("info", "inspect", "describe"), "tbgraph.load(MODEL).summary()"),
        **dict.fromkeys(("compare", "cmp"), "tbgraph.diff(OLD, NEW)"),
        **dict.fromkeys(("read", "load_model", "from_file", "parse"), "tbgraph.load(MODEL)"),
        **dict.fromkeys(("scalars", "log", "runs", "read_log"), "tbgraph.open_log(LOGDIR)"),
        **dict.fromkeys(("html", "to_html", "export", "page"), "tbgraph.load(MODEL).to_html()"),
        **dict.fromkeys(("tensorboard", "launch", "notebook"), "tbgraph.serve(LOGDIR)"),
    },
    "Model": {
        **dict.fromkeys(("plot", "draw", "display", "open", "visualize"), DRAWING_METHODS),
        **dict.fromkeys(("ops", "operations", "get_operations"), "nodes"),
        **dict.fromkeys(("params", "count_params", "num_parameters"), "parameters"),
        **dict.fromkeys(("groups", "scopes", "modules", "children", "tree"), "root.children"),
        **dict.fromkeys(("info", "describe", "stats"), "summary()"),
        **dict.fromkeys(("node", "get_node", "get_layer", "get"), "a name in brackets: m['conv1']"),
        **dict.fromkeys(("search", "query", "filter", "select"), "find(QUERY)"),
        **dict.fromkeys(("weights", "variables", "trainable_variables"), "layers, each with its parameters"),
        **dict.fromkeys(("graph_def", "as_graph_def", "graph"), "hierarchy.graph.graph_def"),
        **dict.fromkeys(("json", "to_dict", "dict"), "to_json()"),
        "compare": "diff(OTHER)",
        "html": "to_html()",
        "edges": "to_networkx().edges",
        "macs": "flops",
    },
    "Node": {
        **dict.fromkeys(("params", "count_params"), "parameters"),
        **dict.fromkeys(("type", "op_type"), "op"),
        **dict.fromkeys(("ops", "layers"), "children"),
        **dict.fromkeys(("picture", "svg", "show", "save", "plot"), "model.picture(open=NAME) of its model"),
    },
    "Changes": {
        **dict.fromkeys(("changes", "entries"), "the diff itself: for change in d"),
        **dict.fromkeys(("plot", "draw", "view", "display"), DRAWING_METHODS.replace("to_html", "html")),
        "markdown": "to_markdown()",
        **dict.fromkeys(("text", "report", "describe"), "explain()"),
        **dict.fromkeys(("json", "to_dict", "dict"), "to_json()"),
        **dict.fromkeys(("equal", "is_same", "identical"), "same"),
    },
    "Log": {
        **dict.fromkeys(("scalars", "metrics", "losses"), 'tags("scalar"), and series(RUN, TAG) for the points'),
        **dict.fromkeys(("scalar", "get", "history", "scan_history", "Scalars"), "series(RUN, TAG)"),
        **dict.fromkeys(("histograms", "images", "Tags"), 'tags("histogram"), tags("image"), tags("text")'),
        **dict.fromkeys(("to_pandas", "df", "dataframe", "to_csv"), "`tbgraph scalars LOGDIR -o points.csv`"),
        **dict.fromkeys(("plot", "show", "draw"), "`tbgraph scalars LOGDIR -o curves.svg`, or tbgraph.serve(LOGDIR)"),
    },
}  # fmt: skip


def missing_attribute(owner: str, name: str) -> AttributeError:
    """Return the error for an unknown attribute; for one known from a similar library it says the name here.

    >>> print(missing_attribute("Model", "params"))
    'Model' has no attribute 'params'; what there is: parameters
    """
    there = GUESSES.get(owner, {}).get(name)
    return AttributeError(f"{owner!r} has no attribute {name!r}" + (f"; what there is: {there}" if there else ""))


class HelpfulAttributes:
    """An object whose unknown attributes are answered with what there is; type checkers see no more than before."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            raise missing_attribute(type(self).__name__, name)
