"""DOT: the picture for Graphviz to place: clusters for open groups, points for ports, one edge for each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import graphviz
import pydot

from graphviz_tb.errors import RequestError
from graphviz_tb.limits import DOT_DEPTH, DOT_TEXT
from graphviz_tb.model.measure import clean, cut
from graphviz_tb.model.paint import Caption, Fill, Paint
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.scene import Box, Route, Scene, Stub, Text
from graphviz_tb.model.theme import Theme
from graphviz_tb.render.boxes import is_pill
from graphviz_tb.render.lines import edge_colour

FONT = "Arimo,Arial,Helvetica,sans-serif"


def dot(scene: Scene, paint: Paint, caption: Caption) -> bytes:
    """Return the picture as DOT text, which `dot -Tsvg` accepts whatever the names contain.

    Raises RequestError if groups are open deeper than DOT can be written.
    """
    head, _, tail = to_pydot(scene, paint, caption).to_string().rpartition("}")
    return "".join((head, *webs(scene, paint.theme), "}", tail)).encode()


def to_pydot(scene: Scene, paint: Paint, caption: Caption) -> pydot.Dot:
    """Return the picture as an object of pydot, without the lines of webs. Raises like `dot`."""
    if any(box.depth > DOT_DEPTH for box in scene.boxes):
        deepest = max(box.depth for box in scene.boxes)
        raise RequestError(
            f"{deepest:,} groups are open one within another, and DOT takes {DOT_DEPTH}",
            hint="open fewer groups, or write SVG",
        )
    graph = pydot.Dot("tbgraph", graph_type="digraph", **_graph(scene, paint.theme, caption))
    labels = _labels(scene)
    parts: dict[int, Any] = {-1: graph}
    for index, box in enumerate(scene.boxes):
        around = parts[box.parent]
        if box.open:
            parts[index] = _cluster(index, box, labels.get(index, []), paint.boxes[index], paint.theme)
            around.add_subgraph(parts[index])
            # An invisible node, because an edge needs one to end at.
            parts[index].add_node(pydot.Node(f"c{index}", shape="point", style="invis", width="0.01"))
        else:
            around.add_node(_node(index, box, labels.get(index, []), paint.boxes[index]))
    for index, port in enumerate(scene.ports):
        colour = quoted(edge_colour(port, paint.theme))
        parts[port.box].add_node(pydot.Node(f"p{index}", shape="point", width="0.06", color=colour))
    for route in scene.routes:
        graph.add_edge(_edge(route, scene, paint.theme))
    for index, (stub, fill) in enumerate(zip(scene.stubs, paint.stubs, strict=True)):
        _stub(index, stub, parts[scene.boxes[stub.box].parent], fill, paint.theme)
    return graph


def webs(scene: Scene, theme: Theme) -> Iterator[str]:
    """Yield the lines of webs as statements: objects of pydot would take gigabytes for a million of them."""
    for web in scene.webs:
        colour, style = quoted(edge_colour(web, theme)), "dashed" if web.kind == "control" else "solid"
        for source, target in zip(web.sources, web.targets, strict=True):
            yield f"{end_node(scene, source)} -> {end_node(scene, target)} [color={colour}, style={style}];\n"


def source(text: bytes) -> graphviz.Source:
    """Return DOT text as an object of the `graphviz` package, which runs the user's Graphviz: `.pipe("svg")`,
    `.view()`.

    >>> source(b"digraph { a -> b }").source
    'digraph { a -> b }\\n'
    """
    return graphviz.Source(text.decode())


def quoted(text: str) -> str:
    """Return `text` as a quoted DOT string without escapes, cut after `DOT_TEXT` letters.

    >>> quoted('a"b\\\\n')
    '"a\\\\"b\\\\\\\\n"'
    """
    return '"' + clean(cut(text, DOT_TEXT)).replace("\\", "\\\\").replace('"', '\\"') + '"'


def label_of_lines(*texts: str) -> str:
    """Return several lines as one label.

    >>> label_of_lines("conv1", "12 ops")
    '"conv1\\\\n12 ops"'
    """
    return '"' + "\\n".join(quoted(text)[1:-1] for text in texts if text) + '"'


def _graph(scene: Scene, theme: Theme, caption: Caption) -> dict[str, str]:
    """Return the attributes of the whole graph."""
    attributes = {
        "rankdir": scene.direction,
        "compound": "true",
        "bgcolor": quoted(theme.background),
        "fontname": quoted(FONT),
        "fontcolor": quoted(theme.text),
    }
    if caption.title:
        attributes |= {"label": label_of_lines(caption.title, caption.facts), "labelloc": "t", "labeljust": "l"}
    return attributes


def _labels(scene: Scene) -> dict[int, list[Text]]:
    """Return the texts in each box."""
    by_box: dict[int, list[Text]] = {}
    for text in scene.texts:
        if text.inside:
            by_box.setdefault(text.box, []).append(text)
    return by_box


def _cluster(index: int, box: Box, texts: list[Text], fill: Fill, theme: Theme) -> Any:
    """Return an open group."""
    return pydot.Cluster(
        f"b{index}",
        label=quoted("  ".join(text.content for text in texts)),
        tooltip=quoted(box.title),
        style=quoted("rounded,filled,dashed" if box.kind in ("series", "fold") else "rounded,filled"),
        fillcolor=quoted(theme.frame(box.depth + 1)),
        color=quoted(fill.stroke if fill.hued else theme.stroke),
        fontname=quoted(FONT),
        fontsize="12",
        fontcolor=quoted(theme.text),
        labeljust="l",
    )


def _node(index: int, box: Box, texts: list[Text], fill: Fill) -> Any:
    """Return a closed box; a stack has a second outline."""
    return pydot.Node(
        f"b{index}",
        label=label_of_lines(*(text.content for text in texts)),
        tooltip=quoted(box.title),
        shape="ellipse" if is_pill(box) else "box",
        style=quoted("filled" if is_pill(box) else "filled,rounded"),
        peripheries="2" if box.sheets else "1",
        fillcolor=quoted(fill.fill),
        color=quoted(fill.stroke),
        fontname=quoted(FONT),
        fontsize="11",
        fontcolor=quoted(fill.text),
    )


def _edge(route: Route, scene: Scene, theme: Theme) -> Any:
    """Return a line between boxes or ports."""
    attributes: dict[str, Any] = {}
    ends = []
    for port, box, key in ((route.source_port, route.source, "ltail"), (route.target_port, route.target, "lhead")):
        # Graphviz has no edges to clusters: use one to a node inside, cut at the cluster's border (`compound`).
        if port < 0 and scene.boxes[box].open:
            attributes[key] = f"cluster_b{box}"
        ends.append(f"p{port}" if port >= 0 else f"c{box}" if scene.boxes[box].open else f"b{box}")
    return pydot.Edge(
        ends[0],
        ends[1],
        **attributes,
        color=quoted(edge_colour(route, theme)),
        style="dashed" if route.kind == "control" else "solid",
        penwidth=f"{route.thickness / 10:.1f}",
        dir="none" if not route.arrow else "back" if route.kind == "reference" else "forward",
        arrowsize="0.7",
        tooltip=quoted(route.title),
    )


def end_node(scene: Scene, end: int) -> str:
    """Return the node at which a line of a web ends."""
    return f"p{-1 - end}" if end < 0 else f"c{end}" if scene.boxes[end].open else f"b{end}"


SHAPES = {"constant": "circle", "summary": "square", "weight": "diamond", "shortcut": "box", "more": "plaintext"}


def _stub(index: int, stub: Stub, around: Any, fill: Fill | None, theme: Theme) -> None:
    """Add a small node next to a box, and its line."""
    ground = fill.fill if stub.kind == "shortcut" and fill is not None else theme.background
    around.add_node(
        pydot.Node(
            f"s{index}",
            # The title of a "+N" stub begins with its count.
            label='""' if stub.kind != "more" else quoted(stub.title.split(" ")[0]),
            xlabel=quoted(last_segment(stub.title.partition(" (")[0])) if stub.kind != "more" else '""',
            tooltip=quoted(stub.title),
            shape=SHAPES[stub.kind],
            style=quoted("filled,dashed,rounded" if stub.kind == "shortcut" else "filled"),
            fillcolor=quoted(ground),
            color=quoted(theme.stroke),
            fontname=quoted(FONT),
            fontsize="10",
            fontcolor=quoted(theme.secondary),
            width="0.25",
            height="0.14",
        )
    )
    ends = (f"s{index}", f"b{stub.box}") if stub.side == "in" else (f"b{stub.box}", f"s{index}")
    around.add_edge(
        pydot.Edge(*ends, color=quoted(theme.data), style="dashed" if stub.control else "solid", arrowsize="0.5")
    )
