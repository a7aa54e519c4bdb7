"""One picture of both graphs: what is unchanged stays closed and pale, the way to what changed is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphviz_tb.color.hues import mixed, plain
from graphviz_tb.color.none import is_op
from graphviz_tb.diff.changes import Changes
from graphviz_tb.diff.merge import Merged, Where, merge
from graphviz_tb.diff.words import SIGNS, counted, facts, head
from graphviz_tb.model.change import Change
from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.model.paint import Fill, LegendRow
from graphviz_tb.model.paths import Path, address, parent_path
from graphviz_tb.model.scene import Route, Scene
from graphviz_tb.model.theme import THEMES, Theme
from graphviz_tb.options import PictureOptions

LIGHT = {"+": "#00875F", "−": "#C2410C", "~": "#9A6700", "→": "#0969DA"}
DARK = {"+": "#3FB68B", "−": "#FF7B54", "~": "#E3B341", "→": "#58A6FF"}
WORDS = {"+": "added", "−": "removed", "~": "changed", "→": "renamed or moved"}
SHORT = {"+": "new", "−": "gone", "~": "changed", "→": "renamed"}
TINT, PALE = 12, 45  # per cent of the colour in a fill, of the background in what is unchanged
MOST_GROUPS, MOST_ROWS = 40, 14
LOST_DASHES = "6 3"


@dataclass(eq=False)
class Overlay:
    """The colouring of a diff. `sign` is by row; `words` the second lines; `edges` what became of each edge
    (0 nothing, 1 came, 2 gone)."""

    hierarchy: Hierarchy
    theme: Theme
    changes: Changes
    sign: list[str]
    words: dict[int, str]
    edges: np.ndarray
    scheme: str = "diff"

    @property
    def colours(self) -> dict[str, str]:
        """The colour of each sign."""
        return LIGHT if self.theme.name == "light" else DARK

    def fill(self, row: int) -> Fill:
        """Pale where nothing changed, tinted and signed where something did."""
        sign = self.sign[row]
        usual = plain(self.theme, is_op(self.hierarchy, row))
        if not sign:
            ground = self.theme.background
            faded = mixed(usual.fill, ground, PALE), mixed(usual.stroke, ground, PALE)
            return replace(
                usual, fill=faded[0], stroke=faded[1], text=self.theme.secondary, second=self.theme.secondary
            )
        return self.signed(sign)

    def signed(self, sign: str) -> Fill:
        """The fill of a sign."""
        colour, theme = self.colours[sign], self.theme
        return Fill(mixed(theme.background, colour, TINT), colour, theme.text, theme.text, hued=False, sign=sign)

    def second(self, row: int) -> str | None:
        """What changed at an op, how much changed in a group."""
        return self.words.get(row)

    def legend(self, rows: Sequence[int]) -> list[LegendRow]:
        """Totals, then the changes one by one, the gravest first."""
        totals: Counter[str] = Counter(SIGNS[change.kind] for change in self.changes)
        told = [
            LegendRow(f"{WORDS[sign]}: {counted(totals[sign], 'change')}", self.signed(sign))
            for sign in WORDS
            if totals[sign]
        ]
        neutral = replace(plain(self.theme, False), sign="")
        told.append(LegendRow("unchanged", self.fill_unchanged(neutral)))
        for change in self.changes.items[:MOST_ROWS]:
            told.append(LegendRow(line(change), self.signed(SIGNS[change.kind])))
        if len(self.changes) > MOST_ROWS:
            told.append(LegendRow(f"+{len(self.changes) - MOST_ROWS} more changes", neutral, "rest"))
        return told

    def fill_unchanged(self, usual: Fill) -> Fill:
        """The pale box of the legend."""
        ground = self.theme.background
        return replace(usual, fill=mixed(usual.fill, ground, PALE), stroke=mixed(usual.stroke, ground, PALE))

    def tint(self, scene: Scene, route: Route) -> tuple[str, str | None] | None:
        """The colour of an edge all of which came or all of which is gone."""
        hierarchy = self.hierarchy
        frame = scene.boxes[route.frame].row if route.frame >= 0 else 0
        start = self._ends(scene, route.source, frame, hierarchy.graph.source)
        stop = self._ends(scene, route.target, frame, hierarchy.graph.target)
        found = self.edges[start & stop]
        if not len(found) or (found != found[0]).any() or not found[0]:
            return None
        return (self.colours["+"], None) if found[0] == 1 else (self.colours["−"], LOST_DASHES)

    def _ends(self, scene: Scene, box: int, frame: int, nodes: np.ndarray) -> np.ndarray:
        """Which edges have an end in a box; -1: outside of the frame."""
        hierarchy = self.hierarchy
        rows = hierarchy.row_of_node[nodes]
        row = scene.boxes[box].row if box >= 0 else frame
        inside: np.ndarray = (rows >= row) & (rows < hierarchy.end[row])
        return inside if box >= 0 else ~inside


def line(change: Change) -> str:
    """A change in one line of the legend."""
    more = list(facts(change)) if change.kind in ("rewired", "renamed", "signature-changed") else []
    also = ""
    if change.also and change.kind not in ("moved", "renamed"):
        also = f" and {counted(len(change.also), 'other place')}"
    told = head(change) + also + ("; " + "; ".join(more[:2]) if more else "")
    return told.replace("  ", ": ", 1)


def picture(changes: Changes, options: PictureOptions | None = None) -> Any:
    """The merged picture, as a `Picture`.

    Before: changes of `diff`. After: every group on the way to a change is open (at most `MOST_GROUPS`), unless
    `options` say what is.
    """
    from graphviz_tb.pipeline import draw, load

    options = options or PictureOptions()
    merged = merge(changes)
    model = load(merged.graph_def)
    painter = overlay(model.hierarchy, merged, changes, THEMES[options.theme])
    title = options.title if options.title is not None else f"{changes.old_name} → {changes.new_name}"
    wanted = options.open or tuple(address(model.hierarchy, path) for path in ways(model.hierarchy, painter))
    options = replace(options, title=title, open=wanted, depth=options.depth if wanted else "auto")
    return draw(model, options, painter)


def overlay(hierarchy: Hierarchy, merged: Merged, changes: Changes, theme: Theme) -> Overlay:
    """What became of every row."""
    where = places(hierarchy)
    signs = [merged.signs.get(at, "") if at else "" for at in where]
    words = {row: merged.told[at] for row, at in enumerate(where) if at in merged.told}
    moved = {
        row: sign
        for row, name in enumerate(hierarchy.name)
        if hierarchy.node[row] < 0 and (sign := merged.scopes.get((function_at(hierarchy, row), name)))
    }
    group_signs(hierarchy, signs, words, moved)
    return Overlay(hierarchy, theme, changes, signs, words, edge_states(hierarchy, where, merged))


def function_at(hierarchy: Hierarchy, row: int) -> str:
    """The name of the function that a row lies in, "" for the main graph."""
    from graphviz_tb.model.paths import function_of

    root = function_of(hierarchy, row)
    return hierarchy.name[root] if root else ""


def places(hierarchy: Hierarchy) -> list[Where | None]:
    """For each row that is a node its function and name; None for groups."""
    graph = hierarchy.graph
    told: list[Where | None] = []
    for node in hierarchy.node.tolist():
        if node < 0:
            told.append(None)
            continue
        function = int(graph.function[node])
        told.append((graph.functions[function].name if function >= 0 else "", graph.name[node]))
    return told


def group_signs(hierarchy: Hierarchy, signs: list[str], words: dict[int, str], moved: dict[int, str]) -> None:
    """Give groups their sign: wholly added or removed ones that, others with changes in them `~`."""
    end = hierarchy.end.tolist()
    total = {sign: np.concatenate(([0], np.cumsum([one == sign for one in signs]))) for sign in WORDS}
    ops = np.concatenate(([0], np.cumsum(hierarchy.node >= 0)))
    for row in range(len(hierarchy)):
        if hierarchy.node[row] >= 0:
            continue
        inside = {sign: int(total[sign][end[row]] - total[sign][row]) for sign in WORDS}
        count = int(ops[end[row]] - ops[row])
        whole = next((sign for sign in WORDS if count and inside[sign] == count), "")
        signs[row] = whole or ("~" if any(inside.values()) else moved.get(row, ""))
        if signs[row] == "~" and row:
            told = ", ".join(f"{inside[sign]:,} {SHORT[sign]}" for sign in WORDS if inside[sign])
            words[row] = f"{told} of {counted(count, 'op')}"
    bodies = {row: [body for _, body in called] for row, called in hierarchy.calls.items()}
    for row, called in bodies.items():
        if not signs[row] and any(signs[body] for body in called):
            signs[row] = "~"
            words.setdefault(row, "body changed")


def edge_states(hierarchy: Hierarchy, where: list[Where | None], merged: Merged) -> np.ndarray:
    """What became of each edge: 0 nothing, 1 came, 2 gone."""
    graph = hierarchy.graph
    told = np.zeros(graph.edge_count, np.uint8)
    touched = {one for pair in (*merged.lost, *merged.gained) for one in pair}
    at = {
        node: where[row]
        for node, row in enumerate(hierarchy.row_of_node.tolist())
        if row >= 0 and where[row] in touched
    }
    for edge, (source, target) in enumerate(zip(graph.source.tolist(), graph.target.tolist(), strict=True)):
        if source in at and target in at:
            pair = at[source], at[target]
            told[edge] = 2 if pair in merged.lost else 1 if pair in merged.gained else 0
    return told


def ways(hierarchy: Hierarchy, painter: Overlay) -> list[Path]:
    """The groups to open: every one that changed but is not new, gone or moved as a whole; calls of changed bodies."""
    told: list[Path] = []
    callers: dict[int, int] = {}
    for row, called in sorted(hierarchy.calls.items()):
        for _, body in called:
            callers.setdefault(body, row)
    for row in range(1, len(hierarchy)):
        if painter.sign[row] != "~" or not hierarchy.opens(row) or hierarchy.kind[row] == Kind.FUNCTION:
            continue
        path = path_of(hierarchy, row, callers)
        if path is not None:
            told.append(path)
    told.sort(key=len)
    return [path for path in told if parent_path(hierarchy, path) is not None][:MOST_GROUPS]


def path_of(hierarchy: Hierarchy, row: int, callers: dict[int, int]) -> Path | None:
    """Where a row is shown first: through the first call of the function that it lies in."""
    from graphviz_tb.model.paths import function_of

    path: Path = (row,)
    seen: set[int] = set()
    while root := function_of(hierarchy, path[0]):
        if root in seen or root not in callers:
            return None
        seen.add(root)
        path = (callers[root], *path)
    return path
