"""Build the tree of open groups, with the drawing order of each level and the label of each child."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from operator import is_

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.graphs.calls import OpCounter, listed_functions, lower_bound_sign
from graphviz_tb.limits import MAX_COMPARED_NAMES
from graphviz_tb.model.columns import distinct_values, prefix_sums
from graphviz_tb.model.formatting import plural_noun
from graphviz_tb.model.hierarchy import (
    FOLD_ROW,
    FUNCTION_ROW,
    OP_ROW,
    SCOPE_ROW,
    STACK_KINDS,
    TRAINING_ORIGIN,
    GroupOrigin,
    Hierarchy,
)
from graphviz_tb.model.measure import NODE_FONT_PX, SMALL_FONT_PX, WORDS_DOT, elide_text, group_thousands, text_width
from graphviz_tb.model.metagraph import Metagraph, Surplus
from graphviz_tb.model.paths import (
    RowPath,
    are_names_numbers,
    child_path,
    is_stack,
    last_segment,
    neighbour_path,
    path_address,
    repeated_rows,
    repetition_count,
    scopes_of_frame,
    sole_scope,
    sole_stack,
    stack_boxes,
)
from graphviz_tb.model.scene import BoxKind
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.view import SHORT_NAMES, NodeLabel, View
from graphviz_tb.ops.layers import bare_op_types, is_counted_name, is_numbered_kind
from graphviz_tb.ops.roles import ADD_OPS, MULTIPLY_OPS, Role, has_role, optimizer_of_op
from graphviz_tb.words.level import joined_label, level_words, name_in_stack, stack_label
from graphviz_tb.words.line_labels import TOOLTIP_NAMES, tooltip_name
from graphviz_tb.words.paper import POSITION_BIAS, paper_words
from graphviz_tb.words.printed_names import first_words, module_class, printed_name
from graphviz_tb.words.shared_words import SHARED

# The labels of boxes: name, second line and badge.

LABEL_KINDS: tuple[BoxKind, ...] = ("scope", "op", "series", "fold", "function")  # by `Kind`
# Folds whose name tells why they are one box.
NAMED_ORIGINS = frozenset(map(int, (GroupOrigin.LAYER, GroupOrigin.INDEX, GroupOrigin.TRAINING)))
HASHED_NAME = compile_on_use(r"(\w+)_[0-9a-f]{8}(?:_\d+)?", re.ASCII)  # TensorFlow 1 adds a hash: "swish_f2c5eb10"
NAME_ROOM_PX = 156  # for a name in the widest box
PRINTED_NAME_PX, PRINTED_TITLE_PX = 224, 236  # in a figure: for a name in a box, and for the name of a frame
NARROW_NAME_PX, NARROW_WORDS_PX = 80, 76  # for the two lines of a box in a narrow figure
# The signs of sums and of products.
SIGNS = dict.fromkeys((*ADD_OPS, "AddN", "AccumulateNV2", "onnx::Sum"), "+") | dict.fromkeys(MULTIPLY_OPS, "×")
VERSION = re.compile(r"(?<=[a-z])V[0-9]\Z")
RANGE_MARK = " → "
LIST_MARKS = (WORDS_DOT, " … ", RANGE_MARK)  # between the parts in the name of a fold
MISSING_FUNCTION = "function not in the file"  # the second line of a call
LABEL_COUNTER = re.compile(r"_[0-9]{1,9}", re.ASCII)


class NodeLabels:
    """Makes the labels of nodes.

    - `second(path)`: the second line of the picture; None for the usual one.
    - `placed`: labels have an address.
    - `alone`: stacks show one member, and a group that contains only a stack is drawn as that stack.
    - `printed`: labels are for a figure for print; `narrow`: the figure has little room.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        second: Callable[[RowPath], str | None],
        placed: bool = True,
        alone: bool = False,
        printed: bool = False,
        narrow: int = 0,
    ) -> None:
        self.hierarchy = hierarchy
        self.second = second
        self.placed = placed
        self.alone = alone
        self.printed = printed
        self.narrow, self.has_short_names = narrow, narrow >= SHORT_NAMES
        self.ops = OpCounter(hierarchy)
        self.nameless = _has_nameless_ops(hierarchy, printed)
        self.paper = paper_words(hierarchy)
        self.numbers: dict[int, dict[int, str]] = {}
        self._known: dict[tuple[RowPath, RowPath | None, bool, bool], NodeLabel] = {}
        self._keys: dict[int, tuple[object, ...]] = {}
        self.views: dict[RowPath, list[View]] = {}  # cache of `_build_group_view`

    def node_label(
        self, path: RowPath, content: RowPath | None = None, boxed: bool = False, framed: bool = False
    ) -> NodeLabel:
        """Return the label of the child at `path`.

        `content` is the group that it shows: the member of a stack, or the innermost of nested scopes without other
        content. `boxed`: that group has the box of a surplus; `framed`: the child is open.
        """
        key = path, content, boxed, framed
        if key not in self._known:  # a first picture is laid out several times
            self._known[key] = self._make_label(path, content, boxed, framed)
        return self._known[key]

    def _make_label(self, path: RowPath, content: RowPath | None, boxed: bool, framed: bool) -> NodeLabel:
        if content is None or content == path:
            return self.plain_label(path, framed)
        if sole_scope(self.hierarchy, path[-1]) >= 0:
            scopes = scopes_of_frame(self.hierarchy, path, content)
            return joined_label([self.plain_label(scope, framed) for scope in scopes])
        node, member = self.plain_label(path, framed), self.plain_label(content, framed)
        members = self.hierarchy.children(sole_stack(self.hierarchy, path[-1])).tolist()
        shown = members.index(content[-1])
        have_own_names = any(map(str.isdigit, member.label)) and len(set(self.hierarchy.template[members].tolist())) > 1
        if self.printed and not (have_own_names and WORDS_DOT not in self.drawn_name(content)):
            shown = -1  # all members have this name, or are equal, so it does not matter which is shown
        is_first = shown == 0 and (not node.layers or node.second == member.second)
        grows = self.paper.inner_growth_of(path[-1]) if is_first else ""  # begins with the shown member
        return stack_label(node, self.second(path), member, shown, len(members), boxed, grows)

    def plain_label(self, path: RowPath, framed: bool = False) -> NodeLabel:
        """Return the label of the child at `path`, closed, or open with its own content (`framed`)."""
        hierarchy, row = self.hierarchy, path[-1]
        stack = sole_stack(hierarchy, row) if self.alone else -1
        drawn_row = stack if stack >= 0 else row  # a group that contains only a stack is drawn as that stack
        kind = self.box_kind(drawn_row)
        has_members = kind in ("series", "fold")
        members = hierarchy.children(drawn_row)[:1].tolist() if has_members else []
        badge = _repeat_badge(kind, repetition_count(hierarchy, drawn_row)) if has_members else ""
        picture_line = self.second(path)
        usual_line, name = self.usual_second_line(row), self.drawn_name(path)
        if self.printed and hierarchy.graph.has_module_scopes:
            usual_line = usual_line or module_class(self.short_label(path))
        sign = self.sign_of(row)
        second = ("" if sign else usual_line) if picture_line is None else picture_line
        # The norm and the activation of a layer follow its name, if that is not a list of parts.
        main, _, rest = usual_line.partition(WORDS_DOT) if WORDS_DOT not in name else (usual_line, "", "")
        lists = kind == "series" and self.lists_members(drawn_row, main)
        words = f"{main} {badge}" if kind == "series" and not lists else main
        semibold = picture_line is None and self.says_more(row, name, words, self.name_room(framed))
        label, second = (main, WORDS_DOT.join([name, rest] if rest else [name])) if semibold else (name, second)
        if framed and kind == "scope" and self.is_listed_fold(row, name):
            label = second = ""  # a figure does not show where these parts begin and end
        first, is_broken = self.words_of_first(row, name), False
        if self.has_short_names:
            list_words = self.words_for_list(row, label, second) if picture_line is None else ""
            if is_broken := bool(list_words):  # words on both lines
                label, second, semibold = list_words, second.removeprefix(list_words).lstrip(" ,·"), True
            label = elide_text(label, self.name_room(framed), NODE_FONT_PX)
            second = first_words(second, NARROW_WORDS_PX, SMALL_FONT_PX)
            first = first_words(first, NARROW_WORDS_PX, SMALL_FONT_PX)
        if second.casefold() == label.casefold() and not is_broken:
            second = ""
        # Words say more of a fold than the number of its parts.
        has_badge = not (lists and semibold) and (kind == "series" or usual_line == self.op_count_text(row))
        return NodeLabel(
            row=row,
            address=path_address(hierarchy, path) if self.placed else "",
            kind="op" if sign else kind,
            label=label,
            full=hierarchy.name[row],
            second=second,
            badge=badge if has_badge else "",
            openable=not self.printed and hierarchy.can_open(row) and hierarchy.sole_op(row) < 0,
            connected=bool(hierarchy.connected[drawn_row]),
            member=self.box_kind(members[0]) if members else "scope",
            about=self.tooltip_rest(row, usual_line, picture_line),
            sign=sign,
            first=first,
            semibold=semibold,
            layers=self.paper.tells_layers(row),
            printed=self.printed,
        )

    def words_of_first(self, row: int, name: str) -> str:
        """Return the words for the third line of a box: the surplus of the first member of the stack `name`,
        `block1: /2`; or the growth of its members, `→ 256, 288, 288`; or that a group shares its weights; otherwise
        ""."""
        if not self.alone:
            return ""
        if not (more := self.paper.more_of_first(row)):
            return self.paper.growth_of(row) or (SHARED if self.paper.shares_all_kernels(row) else "")
        first = repeated_rows(self.hierarchy, sole_stack(self.hierarchy, row))[0]
        return f"{self.member_name(name, first) or 'first'}: {more}"

    def words_for_list(self, row: int, label: str, second: str) -> str:
        """Return the words of layers to replace a label that is a list of kinds and would be cut; "" for other
        labels."""
        is_cut_list = WORDS_DOT in label and text_width(label, NODE_FONT_PX) > NARROW_NAME_PX
        lists_layers = is_cut_list and self.paper.tells_layers(row)
        return first_words(second, NARROW_NAME_PX, NODE_FONT_PX, goes_on=True) if lists_layers else ""

    def name_room(self, framed: bool) -> int:
        """Return the room in px for a name in a box, or in the title bar of a frame."""
        if not self.printed:
            return NAME_ROOM_PX
        return PRINTED_TITLE_PX if framed else NARROW_NAME_PX if self.has_short_names else PRINTED_NAME_PX

    def drawn_name(self, path: RowPath) -> str:
        """Return the name of a row, shortened in a figure for print, where an op whose name is little more than a
        number has the name of its type."""
        label, row = self.short_label(path), path[-1]
        if not self.printed:
            return label
        if self.has_type_as_name(row):
            return self.end_of_graph(row) or self.op_type(row)
        return printed_name(label) if self.hierarchy.graph.has_module_scopes else label

    def lists_members(self, stack: int, words: str) -> bool:
        """Return whether the words of a stack list its members, so that the number of members after them would look
        like a number of the last layer."""
        parts, members = words.split(", "), repeated_rows(self.hierarchy, stack)
        if len(parts) != len(members) or len(set(parts)) == 1:
            return False
        layers = ((self.paper.words_of_row(member) or "").partition(WORDS_DOT)[0] for member in members)
        return all(layer.replace(", ", " ") == part for layer, part in zip(layers, parts, strict=True))

    def has_type_as_name(self, row: int) -> bool:
        """Return whether a row is an op whose name is replaced by its type in a figure."""
        return self.printed and self.nameless and bool(self.hierarchy.kind[row] == OP_ROW)

    def is_listed_fold(self, row: int, name: str) -> bool:
        """Return whether a group is a fold whose name in a figure would only list its parts."""
        is_fold = self.printed and self.hierarchy.kind[row] == FOLD_ROW
        return is_fold and self.hierarchy.how[row] not in NAMED_ORIGINS and any(mark in name for mark in LIST_MARKS)

    def end_of_graph(self, row: int) -> str:
        """Return `input` or `output` for an op where data enters or leaves the graph; "" for other ops."""
        graph, node = self.hierarchy.graph, self.hierarchy.node[row]
        if not has_role(self.type_of_node(int(node)), Role.INPUT, Role.RESULT, Role.PASS, Role.TRACE_VALUE):
            return ""
        return "input" if node not in graph.target else "output" if node not in graph.source else ""

    def member_name(self, stack: str, member: int) -> str:
        """Return the name of a member without the name of its stack; "" if all members have the same name, or if it is
        a list of parts."""
        name = self.drawn_name((member,))
        return name_in_stack(stack, name) if any(map(str.isdigit, name)) and WORDS_DOT not in name else ""

    def surplus_label(self, path: RowPath, surplus: Surplus) -> NodeLabel:
        """Return the label of the box of a surplus: the words of a paper, or the scope of its weights, or the number of
        its ops; and the member that has it."""
        hierarchy, row = self.hierarchy, path[-1]
        stack = int(hierarchy.parent[row])
        stack_box = stack_boxes(hierarchy, (stack,))[-1][-1]  # the row that is drawn as the stack
        place = "first" if row == hierarchy.children(stack)[0] else "last"
        member = self.member_name(self.drawn_name((stack_box,)), row) or place
        words = (self.paper.of_nodes(surplus.nodes) or "").partition(WORDS_DOT)[0]
        parts = _parts_of_surplus(hierarchy, surplus) if words in ("", POSITION_BIAS) else []
        part = next(filter(self.paper.parameters.holds_weight, parts), -1)
        has_scope = part >= 0 and (not words or (words == POSITION_BIAS and hierarchy.kind[part] == SCOPE_ROW))
        label = self.drawn_name((part,)) if has_scope else words or _ops_text(len(surplus.nodes))
        room = min(NAME_ROOM_PX, self.name_room(framed=False))
        names = [hierarchy.graph.name[node] for node in surplus.nodes]
        listed = ", ".join(map(tooltip_name, names[:TOOLTIP_NAMES])) + ", …" * (len(names) > TOOLTIP_NAMES)
        return NodeLabel(
            row=row,
            address=path_address(hierarchy, path) if self.placed else "",
            kind="scope",
            label=elide_text(label, room, NODE_FONT_PX),
            full=hierarchy.name[row],
            second=f"{member} only",
            about=f"{_ops_text(len(names))} that the others lack: {listed}",
            semibold=bool(words) and not has_scope,
            surplus=True,
            shared=surplus.shared,
        )

    def sign_of(self, row: int) -> str:
        """Return `+` for an op, or a scope of one op, that adds tensors, `×` if it multiplies them; "" for any other
        row, and if an input is a constant or a weight."""
        hierarchy, only = self.hierarchy, self.hierarchy.sole_op(row)
        node = int(hierarchy.node[only if only >= 0 else row])
        sign = "" if node < 0 or row in hierarchy.calls else SIGNS.get(self.type_of_node(node).removesuffix("_"), "")
        if not sign:
            return ""
        graph = hierarchy.graph
        sources = [source for _, (source, _) in self.paper.steps.inputs_of(node)]
        plain = all(not graph.mark[source] and graph.meaning.origin[source] < 0 for source in sources)
        return sign if plain and len(set(sources)) > 1 else ""

    def says_more(self, row: int, name: str, words: str, room: int) -> bool:
        """Return whether words fit `room` and tell more than the name, because the name has a counter of a framework,
        is that of a fold with such a name at one of its ends, or only tells the kind of a layer."""
        if not self.paper.tells_layers(row) or text_width(words, NODE_FONT_PX) > room:
            return False
        kind, node = self.hierarchy.kind[row], int(self.hierarchy.node[row])
        # The name of a fold lists types of ops, the name of an op is often its type.
        own_type = (self.type_of_node(node).rpartition("::")[2],) if node >= 0 else ()
        kinds = bare_op_types() if kind in STACK_KINDS else own_type
        ends = name.split(RANGE_MARK) if kind == FOLD_ROW else [name]
        is_counted = any(is_counted_name(end, kinds) for end in ends)
        return is_counted or (is_numbered_kind(name) and self.paper.is_one_layer(row))

    def tooltip_rest(self, row: int, usual_line: str, picture_line: str | None) -> str:
        """Return further lines of a tooltip: the settings of a Keras layer, the words of a paper if the box does not
        show them, the number of ops of a group."""
        count = self.op_count_text(row)
        parts = [usual_line] if picture_line is not None and usual_line != count else []
        if (layer := self.hierarchy.keras_layer(row)) is not None:
            parts += [layer.one_line] if usual_line != layer.one_line else []
            return " · ".join([*parts, layer.tooltip_text] if layer.tooltip_text else parts)
        parts += [f"the first: {first}"] if (first := self.paper.first_of(row)) else []
        return " · ".join([*parts, *([] if usual_line.endswith(count) else [count])])

    def label_key(self, row: int) -> tuple[object, ...]:
        """Return a key of a row's label: rows of equal content with equal keys have equal labels, except for names."""
        if row not in self._keys:  # a stack has one usual member and many copies of it
            missing = int(self.hierarchy.node[row]) in self.hierarchy.graph.missing
            words = self.paper.words_of_row(row), self.paper.first_of(row)
            self._keys[row] = self.short_label((row,)), self.hierarchy.keras_layer(row), missing, *words
        return self._keys[row]

    def usual_second_line(self, row: int) -> str:
        """Return the usual second line: the words of a paper, or the Keras layer, or the type of an op whose name is
        little more than a number, or the number of ops, for updates with the optimizer."""
        if int(self.hierarchy.node[row]) in self.hierarchy.graph.missing:
            return MISSING_FUNCTION
        words = self.paper.words_of_row(row)
        if (layer := self.hierarchy.keras_layer(row)) is not None:
            return words or layer.one_line
        if words is not None:
            return words
        if (only := self.hierarchy.sole_op(row)) >= 0:
            return self.op_type(only)
        if self.has_type_as_name(row) and self.end_of_graph(row):
            return ""
        if self.nameless and not self.hierarchy.can_open(row):
            return self.op_type(row)
        return WORDS_DOT.join(filter(None, (self.optimizer_of_row(row), self.op_count_text(row))))

    def optimizer_of_row(self, row: int) -> str:
        """Return the optimizer of a group of updates; "" if there is none, or if there are several."""
        if self.hierarchy.how[row] != TRAINING_ORIGIN:
            return ""
        graph = self.hierarchy.graph
        nodes = self.hierarchy.node[row : self.hierarchy.end[row]]
        types = distinct_values(graph.op[nodes[nodes >= 0]]).tolist()
        found = {optimizer_of_op(graph.op_types[op]) for op in types} - {""}
        return found.pop() if len(found) == 1 else ""

    def op_type(self, row: int) -> str:
        """Return the type of an op without its framework, in a figure also without its version (`ConcatV2`)."""
        name = self.type_of_node(int(self.hierarchy.node[row])).rpartition("::")[2]
        return VERSION.sub("", name) if self.printed else name

    def type_of_node(self, node: int) -> str:
        graph = self.hierarchy.graph
        return str(graph.op_types[graph.op[node]])

    def box_kind(self, row: int) -> BoxKind:
        """Return the kind that decides how the box of a row is drawn."""
        fold = self.hierarchy.kind[row] == FOLD_ROW
        if self.hierarchy.how[row] in NAMED_ORIGINS or (fold and (self.printed or self.paper.tells_layers(row))):
            return "scope"  # if words describe it, or in a figure, the reason for the fold does not matter
        return "call" if row in self.hierarchy.calls else LABEL_KINDS[self.hierarchy.kind[row]]

    def short_label(self, path: RowPath) -> str:
        """Return the last segment of the name; for one of several functions of a call, its attribute in the call."""
        hierarchy, row = self.hierarchy, path[-1]
        if hierarchy.kind[row] != FUNCTION_ROW:
            # Numbers of siblings help only on a screen.
            return hierarchy.display_label(row) + ("" if self.printed else self.sibling_number(row))
        if len(path) > 1:
            return hierarchy.call_attributes[path[-2], row]
        if hashed := HASHED_NAME.fullmatch(hierarchy.name[row]):
            return hashed[1]
        return hierarchy.display_label(row)

    def sibling_number(self, row: int) -> str:
        """Return the number that distinguishes unnamed groups with equal labels in one group."""
        if row not in self.hierarchy.labels or row <= 0:
            return ""
        parent = int(self.hierarchy.parent[row])
        if parent not in self.numbers:
            self.numbers[parent] = _sibling_numbers(self.hierarchy, parent)
        return self.numbers[parent].get(row, "")

    def op_count_text(self, row: int) -> str:
        """Return the number of ops of a group, through calls, as text; "" for an op. For a stack, the number of each
        member, if all are equal."""
        if not self.hierarchy.can_open(row):
            return ""
        stack = sole_stack(self.hierarchy, row) if self.alone else row
        if stack >= 0 and is_stack(self.hierarchy, stack):
            member_counts = {self.ops(member) for member in repeated_rows(self.hierarchy, stack)}
            return (
                f"{_ops_text(member_counts.pop())} each"
                if len(member_counts) == 1
                else f"{_ops_text(self.ops(row))} in all"
            )
        return _ops_text(self.ops(row))

    def function_labels(self, level: Metagraph, opened: Container[RowPath] = ()) -> tuple[NodeLabel, ...]:
        """Return the labels of library functions that are not called, and of functions opened separately."""
        shown, _ = listed_functions(self.hierarchy, opened)
        return tuple(self.node_label((row,)) for row in level.functions if row in shown)


def _parts_of_surplus(hierarchy: Hierarchy, surplus: Surplus) -> list[int]:
    """Return the groups that contain only ops of a surplus: scopes first, then the largest."""
    rows = np.arange(surplus.member, int(hierarchy.end[surplus.member]))
    in_surplus = np.zeros(len(rows), bool)
    in_surplus[hierarchy.row_of_node[list(surplus.nodes)] - surplus.member] = True
    surplus_before = prefix_sums(in_surplus)
    ends = hierarchy.end[rows]
    ops = hierarchy.op_prefix_sum[ends] - hierarchy.op_prefix_sum[rows]
    is_inside = (
        (surplus_before[ends - surplus.member] - surplus_before[:-1] == ops)
        & (hierarchy.kind[rows] != OP_ROW)
        & (ops > 0)
    )
    return sorted(
        rows[is_inside].tolist(), key=lambda row: (hierarchy.kind[row] != SCOPE_ROW, -hierarchy.op_count(row))
    )


def _sibling_numbers(hierarchy: Hierarchy, parent: int) -> dict[int, str]:
    """Number the children of a row that share a label, by the counters in their names, or in file order."""
    rows_by_label: dict[str, list[int]] = {}
    for row in hierarchy.children(parent).tolist():
        if row in hierarchy.labels:
            rows_by_label.setdefault(hierarchy.labels[row], []).append(row)
    shared = [(label, rows) for label, rows in rows_by_label.items() if len(rows) > 1]
    return {
        row: f" #{number}"
        for label, rows in shared
        for number, row in enumerate(sorted(rows, key=lambda row: _name_counter(hierarchy.name[row], label)), 1)
    }


def _name_counter(name: str, label: str) -> int:
    """Return the counter that TensorFlow appended to a layer's name; 0 if there is none.

    >>> _name_counter("net/dense_13", "dense"), _name_counter("net/a → b", "a")
    (13, 0)
    """
    counter = last_segment(name).removeprefix(label)
    return int(counter[1:]) if LABEL_COUNTER.fullmatch(counter) else 0


def _has_nameless_ops(hierarchy: Hierarchy, in_file: bool) -> bool:
    """Return whether labels of ops, or their names `in_file`, are little more than numbers, judged by a sample."""
    ops = np.flatnonzero((hierarchy.kind == OP_ROW) & (hierarchy.mark == 0))
    # Sample the whole file, because its beginning may differ from the rest.
    some = ops[:: 1 + len(ops) // MAX_COMPARED_NAMES].tolist()
    name_of = hierarchy.name.__getitem__ if in_file else hierarchy.display_label
    return are_names_numbers(map(last_segment, map(name_of, some)), len(some))


def _ops_text(ops: int | None) -> str:
    """Return a number of ops as text; None represents endless recursion.

    >>> _ops_text(1), _ops_text(None)
    ('1 op', '∞ ops')
    """
    return "∞ ops" if ops is None else f"{lower_bound_sign(ops)}{group_thousands(ops)} {plural_noun(ops, 'op')}"


def _repeat_badge(kind: BoxKind, members: int) -> str:
    """Return how often a series repeats, or how many different parts a fold has.

    >>> _repeat_badge("series", 12), _repeat_badge("fold", 3)
    ('×12', '3 parts')
    """
    return f"×{members}" if kind == "series" else f"{members} {plural_noun(members, 'part')}"


def build_view(
    hierarchy: Hierarchy,
    metagraph: Callable[[RowPath], Metagraph],
    opened: Iterable[RowPath],
    skeletons: Mapping[RowPath, Skeleton],
    node_labels: NodeLabels,
    stubs: int,
    members: Mapping[RowPath, RowPath],
) -> View:
    """Build the view of a picture, from the inside out.

    `opened` lists groups, each after the group around it; each has a skeleton, except stacks that show one of their
    `members` alone. `stubs` is the number of stubs that a side of a box shows. The result is a `View` that contains the
    views of its open children, and for a stack that of its shown member.
    """
    views: dict[RowPath, View] = {}
    for path in reversed(list(opened)):  # inner groups first, because outer views contain them
        if path in members:
            views[path] = views[members[path]]
        else:
            views[path] = _build_group_view(
                hierarchy, metagraph(path), path, skeletons[path], views, node_labels, stubs
            )
    return views[(0,)]


def _build_group_view(
    hierarchy: Hierarchy,
    level: Metagraph,
    path: RowPath,
    skeleton: Skeleton,
    views: dict[RowPath, View],
    node_labels: NodeLabels,
    stubs: int,
) -> View:
    """Build one open group; the views of its open children come from `views`."""
    paths = [child_path(hierarchy, path, row) for row in level.children]
    functions = node_labels.function_labels(level, views) if path == (0,) else ()  # next to the main graph only
    opened = {position: views[child] for position, child in enumerate(paths) if child in views}
    opened |= {
        len(paths) + index: views[node_label.row,]  # positions of functions follow those of children
        for index, node_label in enumerate(functions)
        if (node_label.row,) in views
    }
    for known in node_labels.views.get(path, ()):  # layouts of a first picture share groups
        is_equal = known.metagraph is level and known.skeleton == skeleton and known.functions == functions
        # Compare by identity, because a comparison by value would recurse.
        if is_equal and known.opened.keys() == opened.keys() and all(map(is_, known.opened.values(), opened.values())):
            return known
    contents = [views[child].path if child in views else child for child in paths]
    with_surplus = {child for child in paths if child in views and views[child].metagraph.surplus is not None}
    outside = {bridge.other for bridge in level.bridges}
    rows = {note.other for note in level.annotations} | outside
    view = View(
        address=path_address(hierarchy, path),
        path=path,
        metagraph=level,
        skeleton=skeleton,
        node_labels=tuple(
            node_labels.surplus_label(child, level.surplus)
            if level.surplus is not None and child[-1] == level.surplus.member
            else node_labels.node_label(child, content, child in with_surplus, child in views)
            for child, content in zip(paths, contents, strict=True)
        ),
        opened=opened,
        names={row: hierarchy.name[row] for row in sorted(rows)},
        labels={row: hierarchy.display_label(row) for row in sorted(rows) if _has_label(hierarchy, row)},
        addresses={
            row: path_address(hierarchy, neighbour_path(hierarchy, path, row, row not in outside))
            for row in sorted(rows)
        },
        functions=functions,
        narrow=node_labels.narrow,
    )
    view = replace(view, words=level_words(view, stubs, node_labels.printed))
    node_labels.views.setdefault(path, []).append(view)
    return view


def _has_label(hierarchy: Hierarchy, row: int) -> bool:
    return row in hierarchy.labels or row in hierarchy.short or int(hierarchy.node[row]) in hierarchy.graph.labels
