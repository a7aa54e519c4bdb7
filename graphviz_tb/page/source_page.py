"""The page of any source: one graph, several, or a log without a graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphviz_tb.errors import Ambiguous, NoGraph
from graphviz_tb.options import Options, ReadOptions
from graphviz_tb.read.source import list_contents

GRAPH_CHOICES = ("run", "tag", "kind", "tag_set")  # they choose one graph of a source


def page_of_source(source: Any, page_max: float) -> tuple[bytes, str]:
    """Return the page of a source, and a sentence where it shows one of several graphs ("" where it shows all)."""
    from graphviz_tb.api.pipeline import load

    try:
        return load(source).render("html", page_max=page_max), ""
    except NoGraph:
        page = _page_of_log(source, page_max)
        if page is None:
            raise
        return page, ""
    except Ambiguous:
        chosen, said = _first_graph(source)
        return load(source, **chosen).render("html", page_max=page_max), said


def _page_of_log(source: Any, page_max: float) -> bytes | None:
    """Return the page of a log that has no graph; None where there is no such log."""
    from graphviz_tb.page.log import log_page_html, name_of_source, open_source_log

    log = open_source_log(source)
    return None if log is None else log_page_html(log, name_of_source(source), int(page_max * 1e6))


def _first_graph(source: Any, options: ReadOptions | None = None) -> tuple[dict[str, Any], str]:
    """Return the choices that take the first of several graphs, ops before layers, and a sentence that says so."""
    entries = [entry for entry in list_contents(source, options or ReadOptions()) if entry.kind != "profile"]
    first = min((entry for entry in entries if not entry.variant), key=lambda entry: entry.kind != "op")
    chosen = {name: value for name in GRAPH_CHOICES if (value := getattr(first, name)) is not None}
    words = " ".join(f"{name.replace('_', ' ')} {value!r}" for name, value in chosen.items() if name != "kind")
    return chosen, f"{len(entries):,} graphs; this is that of {words}"


def with_first_graph(source: Any, options: Options) -> tuple[Options, str]:
    """Return options that choose the first of several graphs, and a sentence that says which one it is."""
    chosen, said = _first_graph(source, options.read)
    return replace(options, read=replace(options.read, **chosen)), said
