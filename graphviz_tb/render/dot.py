"""Write the picture as DOT for Graphviz: clusters for open groups, points for ports, an edge for each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import graphviz
import pydot

from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_DOT_DEPTH, MAX_DOT_TEXT_LETTERS
from graphviz_tb.model.measure import replace_unsafe_characters, truncate_text
from graphviz_tb.model.paint import Caption, Paint, RowFill
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.scene import Box, Route, Scene, Stub, Text
from graphviz_tb.model.theme import Theme
from graphviz_tb.render.boxes import is_pill
from graphviz_tb.render.lines import edge_colour

DOT_FONT = "Arimo,Arial,Helvetica,sans-serif"


def dot_text(scene: Scene, paint: Paint, caption: Caption) -> bytes:
    """Return the picture as DOT text, which `dot -Tsvg` accepts whatever the names contain.

    Raises RequestError if groups are open deeper than DOT can be written.
    """
    head, _, tail = to_pydot(scene, paint, caption).to_string().rpartition("}")
    return "".join((head, *_web_statements(scene, paint.theme), "}", tail)).encode()


def to_pydot(scene: Scene, paint: Paint, caption: Caption) -> pydot.Dot:
    """Return the picture as an object of pydot, without the lines of webs. Raises like `dot_text`."""
    if any(box.depth > MAX_DOT_DEPTH for box in scene.boxes):
        deepest = max(box.depth for box in scene.boxes)
        raise RequestError(
            f"{deepest:,} groups are open one within another, and DOT takes {MAX_DOT_DEPTH}",
            hint="open fewer groups, or write SVG",
        )
    graph = pydot.Dot("tbgraph", graph_type="digraph", **_dot_graph_attributes(scene, paint.theme, caption))
    labels = _texts_by_box(scene)
    containers: dict[int, Any] = {-1: graph}
    for index, box in enumerate(scene.boxes):
        container = containers[box.parent]
        if box.open:
            containers[index] = _dot_cluster(index, box, labels.get(index, []), paint.boxes[index], paint.theme)
            container.add_subgraph(containers[index])
            # Add an invisible node, because an edge cannot end at a cluster.
            containers[index].add_node(pydot.Node(f"c{index}", shape="point", style="invis", width="0.01"))
        else:
            container.add_node(_dot_node(index, box, labels.get(index, []), paint.boxes[index]))
    for index, port in enumerate(scene.ports):
        colour = _dot_string(edge_colour(port, paint.theme))
        containers[port.box].add_node(pydot.Node(f"p{index}", shape="point", width="0.06", color=colour))
    for route in scene.routes:
        graph.add_edge(_dot_edge(route, scene, paint.theme))
    for index, (stub, fill) in enumerate(zip(scene.stubs, paint.stubs, strict=True)):
        _add_dot_stub(index, stub, containers[scene.boxes[stub.box].parent], fill, paint.theme)
    return graph


def _web_statements(scene: Scene, theme: Theme) -> Iterator[str]:
    """Yield the lines of webs as statements: objects of pydot would take gigabytes for a million of them."""
    for web in scene.webs:
        colour, style = _dot_string(edge_colour(web, theme)), "dashed" if web.kind == "control" else "solid"
        for source, target in zip(web.sources, web.targets, strict=True):
            yield f"{_web_end_node(scene, source)} -> {_web_end_node(scene, target)} [color={colour}, style={style}];\n"


def graphviz_source(text: bytes) -> graphviz.Source:
    """Return DOT text as an object of the `graphviz` package, which runs the user's Graphviz: `.pipe("svg")`,
    `.view()`.

    >>> graphviz_source(b"digraph { a -> b }").source
    'digraph { a -> b }\\n'
    """
    return graphviz.Source(text.decode())


def _dot_string(text: str) -> str:
    """Return `text` as a quoted DOT string without escapes, cut after `MAX_DOT_TEXT_LETTERS` letters.

    >>> _dot_string('a"b\\\\n')
    '"a\\\\"b\\\\\\\\n"'
    """
    return (
        '"'
        + replace_unsafe_characters(truncate_text(text, MAX_DOT_TEXT_LETTERS)).replace("\\", "\\\\").replace('"', '\\"')
        + '"'
    )


def _multiline_label(*texts: str) -> str:
    """Return several lines as one label.

    >>> _multiline_label("conv1", "12 ops")
    '"conv1\\\\n12 ops"'
    """
    return '"' + "\\n".join(_dot_string(text)[1:-1] for text in texts if text) + '"'


def _dot_graph_attributes(scene: Scene, theme: Theme, caption: Caption) -> dict[str, str]:
    attributes = {
        "rankdir": scene.direction,
        "compound": "true",
        "bgcolor": _dot_string(theme.background),
        "fontname": _dot_string(DOT_FONT),
        "fontcolor": _dot_string(theme.text),
    }
    if caption.title:
        attributes |= {"label": _multiline_label(caption.title, caption.facts), "labelloc": "t", "labeljust": "l"}
    return attributes


def _texts_by_box(scene: Scene) -> dict[int, list[Text]]:
    by_box: dict[int, list[Text]] = {}
    for text in scene.texts:
        if text.inside:
            by_box.setdefault(text.box, []).append(text)
    return by_box


def _dot_cluster(index: int, box: Box, texts: list[Text], fill: RowFill, theme: Theme) -> Any:
    return pydot.Cluster(
        f"b{index}",
        label=_dot_string("  ".join(text.content for text in texts)),
        tooltip=_dot_string(box.title),
        style=_dot_string("rounded,filled,dashed" if box.kind in ("series", "fold") else "rounded,filled"),
        fillcolor=_dot_string(theme.frame_fill(box.depth + 1)),
        color=_dot_string(fill.stroke if fill.hued else theme.stroke),
        fontname=_dot_string(DOT_FONT),
        fontsize="12",
        fontcolor=_dot_string(theme.text),
        labeljust="l",
    )


def _dot_node(index: int, box: Box, texts: list[Text], fill: RowFill) -> Any:
    """Return a closed box; a stack has a second outline."""
    return pydot.Node(
        f"b{index}",
        label=_multiline_label(*(text.content for text in texts)),
        tooltip=_dot_string(box.title),
        shape="ellipse" if is_pill(box) else "box",
        style=_dot_string("filled" + ",rounded" * (not is_pill(box)) + ",dashed" * box.surplus),
        peripheries="2" if box.sheets else "1",
        fillcolor=_dot_string(fill.fill),
        color=_dot_string(fill.stroke),
        fontname=_dot_string(DOT_FONT),
        fontsize="11",
        fontcolor=_dot_string(fill.text),
    )


def _dot_edge(route: Route, scene: Scene, theme: Theme) -> Any:
    """Return a line between boxes or ports."""
    attributes: dict[str, Any] = {}
    ends = []
    for port, box, key in ((route.source_port, route.source, "ltail"), (route.target_port, route.target, "lhead")):
        # Graphviz has no edges to clusters, so use an edge to a node inside, cut at the cluster's border (`compound`).
        if port < 0 and scene.boxes[box].open:
            attributes[key] = f"cluster_b{box}"
        ends.append(f"p{port}" if port >= 0 else f"c{box}" if scene.boxes[box].open else f"b{box}")
    return pydot.Edge(
        ends[0],
        ends[1],
        **attributes,
        color=_dot_string(edge_colour(route, theme)),
        style="dashed" if route.kind == "control" else "solid",
        penwidth=f"{route.thickness / 10:.1f}",
        dir="none" if not route.arrow else "back" if route.kind == "reference" else "forward",
        arrowsize="0.7",
        tooltip=_dot_string(route.title),
    )


def _web_end_node(scene: Scene, end: int) -> str:
    return f"p{-1 - end}" if end < 0 else f"c{end}" if scene.boxes[end].open else f"b{end}"


STUB_SHAPES = {"constant": "circle", "summary": "square", "weight": "diamond", "shortcut": "box", "more": "plaintext"}


def _add_dot_stub(index: int, stub: Stub, container: Any, fill: RowFill | None, theme: Theme) -> None:
    """Add a small node next to a box, and its line."""
    ground = fill.fill if stub.kind == "shortcut" and fill is not None else theme.background
    container.add_node(
        pydot.Node(
            f"s{index}",
            # The title of a "+N" stub begins with its count.
            label='""' if stub.kind != "more" else _dot_string(stub.title.split(" ")[0]),
            xlabel=_dot_string(last_segment(stub.title.partition(" (")[0])) if stub.kind != "more" else '""',
            tooltip=_dot_string(stub.title),
            shape=STUB_SHAPES[stub.kind],
            style=_dot_string("filled,dashed,rounded" if stub.kind == "shortcut" else "filled"),
            fillcolor=_dot_string(ground),
            color=_dot_string(theme.stroke),
            fontname=_dot_string(DOT_FONT),
            fontsize="10",
            fontcolor=_dot_string(theme.secondary),
            width="0.25",
            height="0.14",
        )
    )
    ends = (f"s{index}", f"b{stub.box}") if stub.side == "in" else (f"b{stub.box}", f"s{index}")
    container.add_edge(
        pydot.Edge(*ends, color=_dot_string(theme.data), style="dashed" if stub.control else "solid", arrowsize="0.5")
    )
