"""The tree of `tbgraph tree`: its branches, and one line of text for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from graphviz_tb.api.pipeline import Model
from graphviz_tb.api.summary import ambiguous_stack_labels, row_display_name
from graphviz_tb.commands.table import (
    SHORT_BAR_WIDTH,
    TextStyle,
    bar_text,
    clip_end,
    clip_middle,
    join_fitting,
    pad_text,
    shown_width,
)
from graphviz_tb.errors import RequestError, UnknownNode
from graphviz_tb.graphs.calls import OpCounter, lower_bound_sign
from graphviz_tb.graphs.level_flow import children_in_ranks, unconnected_children
from graphviz_tb.graphs.rows import quiet_rows
from graphviz_tb.model.formatting import printable
from graphviz_tb.model.hierarchy import (
    FOLD_ROW,
    FUNCTION_ROW,
    LAYER_ORIGIN,
    OP_ROW,
    SCOPE_ROW,
    SERIES_ROW,
    GroupOrigin,
    Hierarchy,
    RowKind,
)
from graphviz_tb.model.paths import content_rows, path_address, repetition_count, sole_scope
from graphviz_tb.words.paper import paper_words

# The tree of groups as a flat list of lines, in preorder. Nothing recurses: scopes may be 10,000 levels deep.

ROW_KIND_WORDS = {SCOPE_ROW: "scope", OP_ROW: "op", SERIES_ROW: "series", FOLD_ROW: "fold", FUNCTION_ROW: "function"}


@dataclass(frozen=True, slots=True)
class Branch:
    """One line: a group, a call or an op (`row`), or the ops of a group together (`row` of the group, `loose` ops).

    `depth` counts from the root shown; `last` marks the last line below its parent. `around` are the scopes around a
    row that contain nothing else, from the outside in: they share its line.
    """

    row: int
    depth: int
    last: bool
    loose: tuple[int, ...] = ()
    around: tuple[int, ...] = ()


def tree_roots(model: Model, under: str | None) -> list[int]:
    """Return the roots: the whole graph and its functions, or the rows named by `under` (the bodies of a call)."""
    hierarchy = model.hierarchy
    if under is None:
        return [0, *hierarchy.function_rows]
    functions = [row for row in hierarchy.function_rows if hierarchy.name[row] == under]
    # Names of nodes have priority over those of functions.
    try:
        rows = [path[-1] for path in model.names.find_paths(under)]
    except UnknownNode:
        if not functions:
            raise
        return functions
    roots: dict[int, None] = {}
    for row in rows:
        # The bodies of a call are roots themselves.
        roots.update(
            dict.fromkeys((body for _, body in hierarchy.calls.get(row, ())) if row in hierarchy.calls else [row])
        )
    openable = [row for row in roots if hierarchy.can_open(row)]
    if not openable:
        raise RequestError(f"{under!r} is an op and holds nothing", hint="name a scope, or a call of a function")
    return openable


def _inner_groups(hierarchy: Hierarchy, row: int) -> list[int]:
    """Return the groups and calls directly below a group; nothing below a call: functions are listed separately."""
    if row in hierarchy.calls:
        return []
    return [child for child in content_rows(hierarchy, (row,)) if hierarchy.can_open(child)]


def _single_ops_below(hierarchy: Hierarchy, row: int) -> list[int]:
    """Return the ops directly below a group that do not open."""
    if row in hierarchy.calls:
        return []
    return [child for child in content_rows(hierarchy, (row,)) if not hierarchy.can_open(child)]


def open_to_depth(hierarchy: Hierarchy, roots: Iterable[int], depth: int) -> set[int]:
    """Return the groups to open so that `depth` levels are shown."""
    opened: set[int] = set()
    level = list(roots)
    for _ in range(depth):
        opened.update(level)
        level = [child for row in level for child in _inner_groups(hierarchy, row)]
        if not level:
            break
    return opened


def open_screenful(hierarchy: Hierarchy, root: int, lines: int) -> set[int]:
    """Return the groups to open so that about `lines` lines are shown.

    Whole levels are opened while they fit, then the largest groups of the next level. Groups with the structure of an
    open group, and groups of one op, stay closed.
    """
    opened, level = {root}, [root]
    room = lines - _lines_added(hierarchy, root)
    seen: set[int] = set()
    while level and room > 0:
        level = [child for row in level if row in opened for child in _inner_groups(hierarchy, row)]
        level = [row for row in level if hierarchy.op_count(row) > 1 and _is_new_structure(hierarchy, row, seen)]
        line_counts = {row: _lines_added(hierarchy, row) for row in level}
        # The level as a whole if it fits, else its largest groups.
        fits = sum(line_counts.values()) <= room
        for row in level if fits else sorted(level, key=lambda row: -hierarchy.op_count(row)):
            if 0 < line_counts[row] <= room:
                opened.add(row)
                room -= line_counts[row]
        if not fits:
            break
    return opened


def _is_new_structure(hierarchy: Hierarchy, row: int, seen: set[int]) -> bool:
    """Return whether the structure of a group is new, and add it to `seen`."""
    template = int(hierarchy.template[row])
    if template >= 0 and template in seen:
        return False
    seen.add(template)
    return True


def _lines_added(hierarchy: Hierarchy, row: int) -> int:
    return len(_inner_groups(hierarchy, row)) + bool(_single_ops_below(hierarchy, row))


def open_distinct_structures(hierarchy: Hierarchy, roots: Iterable[int]) -> set[int]:
    """Return the groups to open so that every structure of the model is shown once; gradients and updates stay
    closed."""
    quiet = quiet_rows(hierarchy)
    opened: set[int] = set()
    seen: set[int] = set()
    level = list(roots)
    # Level by level, to open the outermost of equal structures.
    while level:
        opened.update(level)
        below = [child for row in level for child in _inner_groups(hierarchy, row) if not quiet[child]]
        level = [row for row in below if hierarchy.op_count(row) > 1 and _is_new_structure(hierarchy, row, seen)]
    return opened


def walk_branches(
    hierarchy: Hierarchy, root: int, opened: set[int], ops: bool = False, by_flow: bool = False, join: bool = False
) -> Iterator[Branch]:
    """Yield the lines of `root` and below, in preorder; `ops` lists ops one by one.

    Siblings are in the order of the file, or `by_flow` along the flow of data. With `join` open scopes that contain
    nothing but one another are one line.
    """
    waiting = [Branch(root, 0, True)]
    # A stack: lines are pushed from the last to the first, and popped in preorder.
    while waiting:
        branch = waiting.pop()
        if join and not branch.loose:
            rows = [branch.row]
            while rows[-1] in opened and (inner := sole_scope(hierarchy, rows[-1])) in opened:
                rows.append(inner)
            branch = replace(branch, row=rows[-1], around=tuple(rows[:-1]))
        yield branch
        if branch.loose or branch.row not in opened:
            continue
        depth = branch.depth + 1
        groups, loose = _inner_groups(hierarchy, branch.row), _single_ops_below(hierarchy, branch.row)
        rows = [*groups, *loose] if ops else groups
        if by_flow and rows:
            path = (branch.row,)
            drawing_order = chain(*children_in_ranks(hierarchy, path), unconnected_children(hierarchy, path))
            position = {row: index for index, row in enumerate(drawing_order)}
            rows = _distinct_members(hierarchy, branch.row, sorted(rows, key=position.__getitem__))
        children = [Branch(row, depth, last=False) for row in rows]
        if loose and not ops:
            children.append(Branch(branch.row, depth, last=False, loose=tuple(loose)))
        if children:
            children[-1] = replace(children[-1], last=True)  # the last line has a different corner
        waiting.extend(reversed(children))


def _distinct_members(hierarchy: Hierarchy, row: int, rows: list[int]) -> list[int]:
    """Return the first of equal members of a stack; for other groups, all children."""
    if hierarchy.kind[row] != SERIES_ROW:
        return rows
    first: dict[int, int] = {}
    for child in rows:
        template = int(hierarchy.template[child])
        # Negative: a row without a template is unique.
        first.setdefault(template if template >= 0 else -1 - child, child)
    return list(first.values())


def _op_type_frequencies(hierarchy: Hierarchy, rows: Iterable[int]) -> list[tuple[str, int]]:
    """Return the op types of these ops with their counts, the most frequent first."""
    graph = hierarchy.graph
    return Counter(graph.op_types[graph.op[hierarchy.node[row]]] for row in rows).most_common()


def _row_kind_word(hierarchy: Hierarchy, row: int) -> str:
    return "call" if row in hierarchy.calls else ROW_KIND_WORDS[RowKind(hierarchy.kind[row])]


def branch_values(hierarchy: Hierarchy, branch: Branch, through: OpCounter) -> dict[str, Any]:
    """Return a line as plain values; `id` is that of the JSON of `render`."""
    row, graph = branch.row, hierarchy.graph
    parent, template, node = int(hierarchy.parent[row]), int(hierarchy.template[row]), int(hierarchy.node[row])
    address = path_address(hierarchy, (row,))
    return {
        "id": row,
        "name": hierarchy.name[row],
        **({"address": address} if address != hierarchy.name[row] else {}),
        "kind": _row_kind_word(hierarchy, row),
        "parent": parent if parent >= 0 else None,
        "depth": branch.depth,
        "op": graph.op_types[graph.op[node]] if node >= 0 else None,
        "ops": hierarchy.op_count(row),
        "ops_through_calls": through(row),
        "children": len(hierarchy.children(row)),
        "template": template if template >= 0 else None,
        "how": GroupOrigin(hierarchy.how[row]).name.lower() if hierarchy.how[row] else None,
        "functions": {attr or "body": hierarchy.name[body] for attr, body in hierarchy.calls.get(row, ())},
    }


# The text of `tbgraph tree`: one line for each branch, counts and bars on the right, no line wider than `width`.

MIN_WIDTH_WITH_BARS = 40  # narrower lines have no bars


class TreeWriter:
    """Writes trees with a common scale of bars; remembers the structures seen."""

    def __init__(self, hierarchy: Hierarchy, width: int, look: TextStyle, label: str) -> None:
        self.hierarchy = hierarchy
        self.width = width
        self.look = look
        self.label = label
        self.through = OpCounter(hierarchy)
        self.seen: dict[int, int] = {}
        self.mistaken = ambiguous_stack_labels(hierarchy)
        self.paper = paper_words(hierarchy)
        self.most, self.digits = 1, 1

    def set_scale(self, roots: Iterable[int]) -> None:
        """Scale bars so that the largest of these roots fills its bar."""
        for row in roots:
            self.most = max(self.most, self.ops_below(row))
            self.digits = max(self.digits, len(self.count_text(row)))

    def ops_below(self, row: int) -> int:
        """Return the number of ops below a row, through calls unless recursion makes that infinite."""
        through = self.through(row)
        return self.hierarchy.op_count(row) if through is None else through

    def count_text(self, row: int) -> str:
        """Return the number on the right."""
        through = self.through(row)
        return "∞" if through is None else f"{lower_bound_sign(through)}{through:,}"

    def remainder_line(self, count: int, what: str) -> list[str]:
        """Return a last line that counts the lines not shown."""
        return [self.look.dim(clip_end(f"and {count:,} {what}", self.width))] if count > 0 else []

    def branch_lines(self, shown: Sequence[Branch], opened: set[int]) -> Iterator[str]:
        """Yield the lines of one tree, from branches in preorder."""
        # For each level from the root to this line: whether its line is the last there.
        trail: list[bool] = []
        for branch in shown:
            del trail[branch.depth :]
            trail.append(branch.last)
            if branch.loose:
                yield self.single_ops_line(branch, self.line_stem(trail, " "))
            else:
                closed = branch.row not in opened and self.hierarchy.can_open(branch.row)
                sign = "+ " if closed and branch.row not in self.hierarchy.calls else "─ "
                yield self.group_line(branch.row, self.line_stem(trail, sign) if branch.depth else "", branch.around)
                yield from self.body_lines(branch.row, trail)

    def line_stem(self, trail: list[bool], sign: str) -> str:
        """Return the text before a name: lines of the levels above, or their number if these take half the width."""
        depth = len(trail) - 1
        joint = ("└" if trail[-1] else "├") + ("─ " if sign == " " else sign)
        # A level takes three columns; beyond half the width, show the number of levels instead.
        if 3 * depth > self.width // 2:
            return f"… {depth:,} {joint}"
        return "".join("   " if last else "│  " for last in trail[1:-1]) + joint

    def group_line(self, row: int, stem: str, around: Iterable[int] = ()) -> str:
        """Return the line of a group, a call, or a single op; scopes `around` it that hold nothing else come first."""
        names = (self.row_label(part) if part else self.label for part in (*around, row))
        name = printable("/".join(names)) or "''"
        note = self.row_note(row)
        return self.compose_line(stem, name, note, self.count_text(row), self.ops_below(row) / self.most)

    def row_label(self, row: int) -> str:
        """Return the last segment of a name, in the program's words if unambiguous, as options accept it."""
        return self.mistaken.get(row) or self.hierarchy.full_label(row) or row_display_name(self.hierarchy, row)

    def body_lines(self, row: int, trail: list[bool]) -> Iterator[str]:
        """Yield the lines below a call of several functions: the role of each, such as the branches of a Case."""
        called = self.hierarchy.calls.get(row, ())
        for index, (attr, body) in enumerate(called if len(called) > 1 else ()):
            stem = self.line_stem([*trail, index == len(called) - 1], " ")
            yield self.compose_line(
                stem, attr, f"→ {printable(self.hierarchy.name[body])}", self.count_text(body), 0
            ).rstrip()

    def single_ops_line(self, branch: Branch, stem: str) -> str:
        """Return the line that sums up the ops of a group."""
        rows = branch.loose
        words = [
            (f"{count:,} " if count > 1 else "") + (printable(op) or "(no type)")
            for op, count in _op_type_frequencies(self.hierarchy, rows)
        ]
        room = max(1, self.left_width() - shown_width(stem))
        text = join_fitting(words, room)
        pads = " " * (room - shown_width(text))
        line = f"{stem}{self.look.dim(text)}{pads}  {len(rows):>{self.digits},}"
        return line if self.width >= shown_width(stem) + room + 2 + self.digits else clip_end(stem + text, self.width)

    def row_note(self, row: int) -> str:
        """Return the text after a name: members of a stack, function of a call, an equal group, type of an op."""
        hierarchy = self.hierarchy
        kind = _row_kind_word(hierarchy, row)
        if kind == "call":
            bodies = hierarchy.calls[row]
            return f"→ {printable(hierarchy.name[bodies[0][1]])}" if len(bodies) == 1 else self.op_type_of(row)
        if hierarchy.how[row] == LAYER_ORIGIN:
            return self.paper.words_of_row(row) or ""  # one layer, whatever it is written as
        if kind in ("series", "fold"):
            count = f"×{repetition_count(hierarchy, row):,}" + (" folded" if kind == "fold" else "")
            return " · ".join(part for part in (count, self.paper.words_of_row(row)) if part)
        if kind == "op":
            return " · ".join(part for part in (self.op_type_of(row), self.paper.words_of_row(row)) if part)
        template = int(hierarchy.template[row])
        if template < 0 or hierarchy.op_count(row) < 2:
            return self.paper.words_of_row(row) or ""
        # The first group of a structure is described by its lines; the others only name it.
        first = self.seen.setdefault(template, row)
        if first == row:
            return self.paper.words_of_row(row) or ""
        # A sibling is found by its own name; one elsewhere needs the whole path.
        is_sibling = hierarchy.parent[first] == hierarchy.parent[row]
        return f"= {printable(self.row_label(first) if is_sibling else row_display_name(hierarchy, first))}"

    def op_type_of(self, row: int) -> str:
        graph = self.hierarchy.graph
        return printable(graph.op_types[graph.op[self.hierarchy.node[row]]])

    def left_width(self) -> int:
        """Return the width of the part before the numbers."""
        bars = SHORT_BAR_WIDTH + 2 if self.width >= MIN_WIDTH_WITH_BARS else 0
        return max(1, self.width - bars - self.digits - 2)

    def compose_line(self, stem: str, name: str, note: str, count: str, share: float) -> str:
        """Return one line; a text that does not fit is cut, the name first, then the note."""
        room = max(1, self.left_width() - shown_width(stem))
        # The name keeps half of the room, if it needs it; the note gets the rest.
        note_width = min(shown_width(note), max(0, room - 2 - min(shown_width(name), room // 2)))
        note = clip_middle(note, note_width)
        name = clip_middle(name, room - (note_width + 2 if note_width else 0))
        text = f"{name}  {self.look.dim(note)}" if note else name
        used = shown_width(stem) + shown_width(name) + (shown_width(note) + 2 if note else 0)
        gap = " " * max(0, self.left_width() - used)
        size = SHORT_BAR_WIDTH if self.width >= MIN_WIDTH_WITH_BARS else 0
        if used > self.left_width():
            return clip_end(stem + name, self.width)
        end = f"  {pad_text(count, self.digits, right=True)}" + (
            f"  {self.look.bar(bar_text(share, size))}" if size else ""
        )
        # A line with colours is not clipped, since its escape codes would count as text.
        return clip_end(stem + text + gap + end, self.width) if not self.look.on else stem + text + gap + end
