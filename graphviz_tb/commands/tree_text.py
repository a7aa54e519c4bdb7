"""The text of `tbgraph tree`: one line for each branch, counts and bars on the right, no line wider than `width`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from graphviz_tb.algorithms.calls import OpCounter, lower_bound_sign
from graphviz_tb.commands.branches import Branch, op_type_frequencies, row_kind_word
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
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stacks import repetition_count
from graphviz_tb.summary import ambiguous_stack_labels, row_display_name

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
        self.most, self.digits = 1, 1

    def set_scale(self, roots: Iterable[int]) -> None:
        """Give the largest of these roots the full bar."""
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

    def heading_lines(self, text: str) -> list[str]:
        """Return a line between trees."""
        return [self.look.head(clip_end(text, self.width))]

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
                yield self.group_line(branch.row, self.line_stem(trail, sign) if branch.depth else "")
                yield from self.body_lines(branch.row, trail)

    def line_stem(self, trail: list[bool], sign: str) -> str:
        """Return the text before a name: lines of the levels above, or their number if these take half the width."""
        depth = len(trail) - 1
        joint = ("└" if trail[-1] else "├") + ("─ " if sign == " " else sign)
        # Three columns for each level: past half the width the number of levels says as much.
        if 3 * depth > self.width // 2:
            return f"… {depth:,} {joint}"
        return "".join("   " if last else "│  " for last in trail[1:-1]) + joint

    def group_line(self, row: int, stem: str) -> str:
        """Return the line of a group, a call, or a single op."""
        name = one_line(self.row_label(row) if row else self.label) or "''"
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
                stem, attr, f"→ {one_line(self.hierarchy.name[body])}", self.count_text(body), 0
            ).rstrip()

    def single_ops_line(self, branch: Branch, stem: str) -> str:
        """Return the line that sums up the ops of a group."""
        rows = branch.loose
        words = [
            (f"{count:,} " if count > 1 else "") + (one_line(op) or "(no type)")
            for op, count in op_type_frequencies(self.hierarchy, rows)
        ]
        room = max(1, self.left_width() - shown_width(stem))
        text = join_fitting(words, room)
        pads = " " * (room - shown_width(text))
        line = f"{stem}{self.look.dim(text)}{pads}  {len(rows):>{self.digits},}"
        return line if self.width >= shown_width(stem) + room + 2 + self.digits else clip_end(stem + text, self.width)

    def row_note(self, row: int) -> str:
        """Return the text after a name: members of a stack, function of a call, an equal group, type of an op."""
        hierarchy = self.hierarchy
        kind = row_kind_word(hierarchy, row)
        if kind == "call":
            bodies = hierarchy.calls[row]
            return f"→ {one_line(hierarchy.name[bodies[0][1]])}" if len(bodies) == 1 else self.op_type_of(row)
        if kind in ("series", "fold"):
            return f"×{repetition_count(hierarchy, row):,}" + (" folded" if kind == "fold" else "")
        if kind == "op":
            return self.op_type_of(row)
        template = int(hierarchy.template[row])
        if template < 0 or hierarchy.op_count(row) < 2:
            return ""
        # The lines below the first group show its structure; later equal groups only name it.
        first = self.seen.setdefault(template, row)
        if first == row:
            return ""
        # A sibling needs only its own name, a distant group the whole path.
        near = hierarchy.parent[first] == hierarchy.parent[row]
        return f"= {one_line(self.row_label(first) if near else row_display_name(hierarchy, first))}"

    def op_type_of(self, row: int) -> str:
        """Return the type of an op."""
        graph = self.hierarchy.graph
        return one_line(graph.op_types[graph.op[self.hierarchy.node[row]]])

    def left_width(self) -> int:
        """Return the width of the part before the numbers."""
        bars = SHORT_BAR_WIDTH + 2 if self.width >= MIN_WIDTH_WITH_BARS else 0
        return max(1, self.width - bars - self.digits - 2)

    def compose_line(self, stem: str, name: str, note: str, count: str, share: float) -> str:
        """Return one line; a text that does not fit is cut, the name first, then the note."""
        room = max(1, self.left_width() - shown_width(stem))
        # The name keeps half of the room, if it needs it; the note gets the rest.
        kept = min(shown_width(note), max(0, room - 2 - min(shown_width(name), room // 2)))
        note = clip_middle(note, kept)
        name = clip_middle(name, room - (kept + 2 if kept else 0))
        text = f"{name}  {self.look.dim(note)}" if note else name
        used = shown_width(stem) + shown_width(name) + (shown_width(note) + 2 if note else 0)
        gap = " " * max(0, self.left_width() - used)
        size = SHORT_BAR_WIDTH if self.width >= MIN_WIDTH_WITH_BARS else 0
        if used > self.left_width():
            return clip_end(stem + name, self.width)
        end = f"  {pad_text(count, self.digits, right=True)}" + (
            f"  {self.look.bar(bar_text(share, size))}" if size else ""
        )
        # With colours, a cut would count escape codes as text: such a line is not cut at its end.
        return clip_end(stem + text + gap + end, self.width) if not self.look.on else stem + text + gap + end
