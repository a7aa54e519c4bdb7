"""Mermaid: a small picture as text, for Markdown that renders it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_MERMAID_LINES
from graphviz_tb.model.measure import replace_unsafe_characters, truncate_text
from graphviz_tb.model.paint import Paint
from graphviz_tb.model.scene import Scene
from graphviz_tb.render.boxes import is_pill

MAX_LABEL_LETTERS = 60  # of a label
MERMAID_ENTITIES = str.maketrans({letter: f"#{ord(letter)};" for letter in '"#<>&`\\%'})


def mermaid_text(scene: Scene, paint: Paint) -> bytes:
    """Return the picture as a flowchart: open groups are subgraphs, dashed lines are control edges.

    Raises RequestError if it has more lines than Mermaid draws.
    """
    lines = list(
        islice(dict.fromkeys(_mermaid_line(scene, *ends) for ends in _connected_boxes(scene)), MAX_MERMAID_LINES + 1)
    )
    if len(lines) > MAX_MERMAID_LINES:
        raise RequestError(
            f"Mermaid draws {MAX_MERMAID_LINES} lines, and this picture has more",
            hint="open less: --depth 0, or --open of one group",
        )
    text = [f"flowchart {scene.direction}", *_mermaid_boxes(scene), *lines, *_mermaid_classes(scene, paint)]
    return ("\n".join(text) + "\n").encode()


def _mermaid_label(text: str) -> str:
    """Return a text in quotes, with entities for Mermaid's special characters.

    >>> _mermaid_label('a "b" [1]')
    '"a #34;b#34; [1]"'
    """
    return '"' + replace_unsafe_characters(truncate_text(text, MAX_LABEL_LETTERS)).translate(MERMAID_ENTITIES) + '"'


def _mermaid_boxes(scene: Scene) -> Iterator[str]:
    """Yield the boxes, each group around those in it."""
    inside: dict[int, list[int]] = {}
    for index, box in enumerate(scene.boxes):
        inside.setdefault(box.parent, []).append(index)
    texts: dict[int, list[str]] = {}
    for text in scene.texts:
        if text.inside:
            texts.setdefault(text.box, []).append(text.content)
    waiting = [(index, 1) for index in reversed(inside.get(-1, []))]
    while waiting:
        index, depth = waiting.pop()
        if index < 0:
            yield f"{'  ' * depth}end"
            continue
        said = _mermaid_label(" · ".join(texts.get(index, [scene.boxes[index].address])))
        if scene.boxes[index].open:
            yield f"{'  ' * depth}subgraph b{index}[{said}]"
            waiting.append((-1, depth))
            waiting += [(child, depth + 1) for child in reversed(inside.get(index, []))]
        else:
            yield (
                f"{'  ' * depth}b{index}({said})" if is_pill(scene.boxes[index]) else f"{'  ' * depth}b{index}[{said}]"
            )


def _connected_boxes(scene: Scene) -> Iterator[tuple[int, int, bool]]:
    """Yield pairs of boxes that lines join through the borders of open groups, and whether only control edges join
    them."""
    onward: dict[int, list[tuple[int, int, bool]]] = {}  # by port: the next port or box
    begun: list[tuple[int, int, int, bool]] = []
    for route in scene.routes:
        control, end = route.kind == "control", (route.target_port, route.target)
        if route.source_port >= 0:
            onward.setdefault(route.source_port, []).append((*end, control))
        else:
            begun.append((route.source, *end, control))
    for source, first, box, control in begun:
        waiting, seen = [(first, box, control)], {first}
        while waiting:
            port, target, dashed = waiting.pop()
            if port < 0:
                yield source, target, dashed
                continue
            more = [(to, at, dashed or other) for to, at, other in onward.get(port, ()) if to < 0 or to not in seen]
            seen.update(to for to, _, _ in more)
            waiting += reversed(more)


def _mermaid_line(scene: Scene, source: int, target: int, control: bool) -> str:
    """Return one line; a comment if it would join a group with its own content."""
    if _is_in_group(scene, source, target) or _is_in_group(scene, target, source):
        return "  %% a line from a group to itself"
    return f"  b{source} {'-.->' if control else '-->'} b{target}"


def _is_in_group(scene: Scene, group: int, box: int) -> bool:
    while box >= 0:
        if box == group:
            return True
        box = scene.boxes[box].parent
    return False


def _mermaid_classes(scene: Scene, paint: Paint) -> Iterator[str]:
    """Yield the colours of closed boxes that have one, a class for each."""
    classes: dict[tuple[str, str, str], list[int]] = {}
    for index, (box, fill) in enumerate(zip(scene.boxes, paint.boxes, strict=True)):
        if not box.open and fill.hued:
            classes.setdefault((fill.fill, fill.stroke, fill.text), []).append(index)
    for number, ((ground, stroke, ink), members) in enumerate(classes.items()):
        yield f"  classDef c{number} fill:{ground},stroke:{stroke},color:{ink}"
        yield f"  class {','.join(f'b{index}' for index in members)} c{number}"
