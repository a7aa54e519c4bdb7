"""Paths and addresses of shown nodes, and stacks.

A path is a tuple of rows: the calls around a node, then its own row.

(7,)       row 7 of the main graph
(7, 90)    row 90, inside the function that call 7 opens to
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, takewhile
from numbers import Integral

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import FOLD_ROW, FUNCTION_ROW, SCOPE_ROW, SEGMENT_ORIGIN, SERIES_ROW, Hierarchy

RowPath = tuple[int, ...]

CALL_BORDER = LIBRARY_PREFIX = "::"  # between a call and its contents; before the name of a function
NAME_ESCAPE = "\\"
ESCAPED_CHARACTERS = (":", NAME_ESCAPE)
COLON_RUN = re.compile(r"::+")
DIGITS = "0123456789"  # not `string.digits`: its module takes longer to import than any here
DIGIT_RUN = re.compile(r"([0-9]+)")
COUNTER_SUFFIX = re.compile(r"_[0-9]+\Z")


def without_digits(name: str) -> str:
    """Remove the numbers from a name.

    >>> without_digits("net/block12_conv1")
    'net/block_conv'
    """
    return "".join(DIGIT_RUN.split(name)[::2])


def without_counter(name: str) -> str:
    """Remove the counter that a framework puts at the end of a name that is taken.

    >>> without_counter("net/dense_12"), without_counter("conv1_1x1"), without_counter("_1")
    ('net/dense', 'conv1_1x1', '')
    """
    return COUNTER_SUFFIX.sub("", name)


def natural_name_key(name: str) -> tuple[tuple[int, int, str, str], ...]:
    """Return a sort key that orders numbers in names by value, after text.

    >>> sorted(["a10", "a2", "b", "a", "2"], key=natural_name_key)
    ['a', 'a2', 'a10', 'b', '2']
    """
    parts = enumerate(DIGIT_RUN.split(name))
    # Numbers compare by length, then by digits: converting digits from a hostile file might take too long.
    keys = ((at % 2, part.lstrip("0") if at % 2 else "", part) for at, part in parts if part)
    return tuple((number, len(digits), digits, part) for number, digits, part in keys)


MIN_JUDGED_NAMES = 20  # with fewer names the answer is no
SAME_FORM_SHARE = 0.9  # share of names that differ only in digits


def are_names_numbers(names: Iterable[str], count: int) -> bool:
    """Return whether `count` names are little more than numbers; stop reading `names` as soon as that is certain.

    >>> are_names_numbers([f"op_{at}" for at in range(30)], 30), are_names_numbers([f"op_{at}" for at in range(3)], 3)
    (True, False)
    """
    if count <= MIN_JUDGED_NAMES:
        return False
    forms: Counter[str] = Counter()
    most = 0
    for seen, name in enumerate(names, 1):
        form = DIGIT_RUN.sub("#", name)
        forms[form] += 1
        most = max(most, forms[form])
        if count - (seen - most) <= SAME_FORM_SHARE * count:  # too many names differ, whatever the rest
            return False
    return True


def last_segment(name: str) -> str:
    """Return the part of a name after its last slash.

    >>> last_segment("encoder/layer_1/dense"), last_segment("dense")
    ('dense', 'dense')
    """
    return name.rsplit("/", 1)[-1]


def content_rows(hierarchy: Hierarchy, path: RowPath) -> list[int]:
    """Return the rows that group `path` shows when it is open, in file order.

    A call of one function shows the function's children, a call of several functions shows these functions.
    """
    row = path[-1]
    bodies = hierarchy.calls.get(row)
    if bodies is not None and len(bodies) > 1:
        return list(dict.fromkeys(function for _, function in bodies))
    rows: list[int] = hierarchy.children(row if bodies is None else bodies[0][1]).tolist()
    return rows


def owner_row(hierarchy: Hierarchy, path: RowPath) -> int:
    """Return the row that owns the edges between the children of `path`; -1 for none."""
    bodies = hierarchy.calls.get(path[-1])
    if bodies is None:
        return path[-1]
    return bodies[0][1] if len(bodies) == 1 else -1


def child_path(hierarchy: Hierarchy, path: RowPath, child: int) -> RowPath:
    # A path lists only the calls, not the scopes between them.
    return (*path, child) if path[-1] in hierarchy.calls else (*path[:-1], child)


def parent_path(hierarchy: Hierarchy, path: RowPath) -> RowPath | None:
    """Return the path of the enclosing group; None for the root and for a function shown outside of its calls."""
    row = path[-1]
    parent = hierarchy.parent.item(row)
    if len(path) == 1:
        return None if parent < 0 else (parent,)
    call = path[-2]
    if hierarchy.kind[row] == FUNCTION_ROW:
        return path[:-1]
    if parent >= 0 and hierarchy.kind[parent] != FUNCTION_ROW:  # in a scope of a function's body
        return (*path[:-1], parent)
    return path[:-1] if len(hierarchy.calls[call]) == 1 else (*path[:-1], parent)


def neighbour_path(hierarchy: Hierarchy, path: RowPath, row: int, inside: bool) -> RowPath:
    """Return the path of a row at the end of a line of open group `path`.

    The row is in the function of the group or of an enclosing call; the nearest such call counts. With `inside`, the
    row may also be in the content of the group, which counts first.
    """
    home = function_row_of(hierarchy, row)
    if inside and (path[-1], home) in hierarchy.call_attributes:
        return (*path, row)
    for depth in range(len(path) - 1, -1, -1):  # from the inside out: a function may call itself
        if function_row_of(hierarchy, path[depth]) == home:
            return (*path[:depth], row)
    return (row,)


def path_address(hierarchy: Hierarchy, path: RowPath) -> str:
    """Return the path as text: `call::body/inner/op`, with the attribute's name if a call has several bodies.

    A literal `::` in a name is doubled. In a function that is shown outside of its calls the address begins with the
    function's name, with `::` before it where the main graph has such a name. The root's address is "".
    """
    if path == (0,):
        return ""
    words: list[str] = []
    function_row = function_row_of(hierarchy, path[0])
    if path[0] != function_row and function_row:
        words.append(hierarchy.name[function_row])
    for depth, row in enumerate(path):
        name = hierarchy.name[row]
        if depth and len(hierarchy.calls[path[depth - 1]]) > 1:
            function = function_row_of(hierarchy, row)
            attr = hierarchy.call_attributes[path[depth - 1], function]
            name = attr if row == function else f"{attr}/{name}"
        words.append(name)
    return (
        LIBRARY_PREFIX + CALL_BORDER.join(map(_escape_address_part, words))
        if function_row in hierarchy.shadowed_functions
        else join_address(words)
    )


def join_address(names: list[str]) -> str:
    """Join names along calls to one address. A literal `::` is doubled; a colon or backslash at the start or end of a
    name, next to a border, is escaped by a backslash between it and the border; an empty name is a backslash. A single
    name is escaped only if it is empty or all backslashes.

    >>> join_address(["call", "body/x"]), join_address(["a::b"]), join_address(["a:", ":b", ""])
    ('call::body/x', 'a::::b', 'a:\\\\::\\\\:b::\\\\')
    >>> join_address([""]), join_address(["\\\\"]), join_address(["\\\\a"])
    ('\\\\', '\\\\\\\\\\\\', '\\\\a')
    """
    if len(names) == 1 and names[0].strip(NAME_ESCAPE):
        return names[0].replace("::", "::::")
    return CALL_BORDER.join(map(_escape_address_part, names))


def _escape_address_part(name: str) -> str:
    text = name.replace("::", "::::")
    before = "" if text and text[0] not in ESCAPED_CHARACTERS else NAME_ESCAPE
    return before + text + (NAME_ESCAPE if text and text[-1] in ESCAPED_CHARACTERS else "")


def _unescape_address_part(part: str) -> str:
    """Unescape one part of an address, whose literal `::` are already single.

    >>> (
    ...     _unescape_address_part(":\\\\"),
    ...     _unescape_address_part("\\\\:b"),
    ...     _unescape_address_part("\\\\"),
    ...     _unescape_address_part("x"),
    ... )
    (':', ':b', '', 'x')
    """
    if part == NAME_ESCAPE * 2:  # one escapes the empty name, three escape a single backslash
        return part
    part = part.removeprefix(NAME_ESCAPE)
    return part.removesuffix(NAME_ESCAPE)


def split_address(text: str) -> list[str]:
    """Split an address into the names along its calls; a doubled `::` is a literal one.

    >>> split_address("call::body/x"), split_address("a::::b")
    (['call', 'body/x'], ['a::b'])
    >>> split_address("x::::::::y"), split_address("x::::::y"), split_address("x:::::y")
    (['x::::y'], ['x::', 'y'], ['x:::y'])
    >>> split_address("\\\\"), split_address("\\\\\\\\\\\\"), split_address("\\\\a")
    ([''], ['\\\\'], ['\\\\a'])
    """
    parts, last = [""], 0
    for colons in COLON_RUN.finditer(text):
        pairs, rest = divmod(len(colons[0]), 4)  # four are an escaped pair, two more are the border of a call
        parts[-1] += text[last : colons.start()] + "::" * pairs + ":" * (rest % 2)
        parts += [""] * (rest > 1)
        last = colons.end()
    parts[-1] += text[last:]
    # A single name is guarded only where it is empty or all backslashes.
    return parts if len(parts) == 1 and text.strip(NAME_ESCAPE) else list(map(_unescape_address_part, parts))


def possible_node_names(text: str) -> tuple[str, ...]:
    """Return the names of the main graph that a text may mean: unescaped as an address, then unchanged.

    >>> possible_node_names("a::::b"), possible_node_names("a::b"), possible_node_names("a")
    (('a::b', 'a::::b'), ('a::b',), ('a',))
    """
    parts = split_address(text)
    return (parts[0], text) if len(parts) == 1 and parts[0] != text else (text,)


def function_row_of(hierarchy: Hierarchy, row: int) -> int:
    """Return the root row of the function that `row` is in; 0 for the main graph."""
    rows = hierarchy.function_rows
    following = bisect_right(rows, row)  # function rows ascend, and follow the main graph
    return rows[following - 1] if following else 0


def is_valid_path(hierarchy: Hierarchy, path: RowPath) -> bool:
    """Return whether a path is valid: it leads to a row, each step but the last through a call to its function."""
    rows = len(hierarchy)
    # An `int` is an Integral too; checking for it first halves the time.
    if not path or not all(isinstance(row, int | Integral) and 0 <= row < rows for row in path):
        return False
    return all((call, function_row_of(hierarchy, row)) in hierarchy.call_attributes for call, row in pairwise(path))


# Stacks: series of groups. An open stack shows a single member.


def is_stack(hierarchy: Hierarchy, row: int) -> bool:
    """Return whether a row is a series of groups."""
    return row in hierarchy.stacks


def sole_stack(hierarchy: Hierarchy, row: int) -> int:
    """Return the row itself if it is a stack, else the stack that is its only content; -1 if neither."""
    known, way = hierarchy.stack_inside, []
    if (stack := known.get(row)) is not None:
        return stack
    while row > 0 and row not in known and hierarchy.kind.item(row) in (SCOPE_ROW, FOLD_ROW):
        way.append(row)
        children = hierarchy.children(row)
        row = int(children[0]) if len(children) == 1 else -1
    found = known[row] if row in known else row if row > 0 and is_stack(hierarchy, row) else -1
    known.update(dict.fromkeys([*way, row], found))
    return found


def stack_around(hierarchy: Hierarchy, path: RowPath) -> RowPath | None:
    """Return the stack of which a path is a member; None if there is none."""
    around = parent_path(hierarchy, path)
    return around if around is not None and is_stack(hierarchy, around[-1]) else None


def stack_boxes(hierarchy: Hierarchy, stack: RowPath) -> list[RowPath]:
    """Return a stack and the enclosing groups that contain nothing else, from the inside out: all are drawn as one box.
    Members of another stack are excluded: they are drawn as that stack."""
    found = [stack]
    while (row := int(hierarchy.parent[found[-1][-1]])) > 0 and sole_stack(hierarchy, row) == stack[-1]:
        if is_stack(hierarchy, int(hierarchy.parent[row])):
            break
        found.append((*stack[:-1], row))
    return found


def usual_member(hierarchy: Hierarchy, stack: int) -> int:
    """Return the first member with the most common template: the representative of the stack."""
    members = hierarchy.children(stack).tolist()
    templates = hierarchy.template[members].tolist()
    counts = Counter(templates)
    return int(members[templates.index(max(counts, key=lambda template: counts[template]))])  # a tie: the first


def paths_to_usual_member(hierarchy: Hierarchy, path: RowPath) -> list[RowPath]:
    """Return the groups that open together with a stack, or with a group that contains only a stack: the groups in
    between, and the usual member.

    Empty for any other group.
    """
    stack = sole_stack(hierarchy, path[-1])
    if stack < 0:
        return []
    inner = [*takewhile(lambda box: box != path, stack_boxes(hierarchy, (*path[:-1], stack)))][::-1]
    return [*inner, (*path[:-1], usual_member(hierarchy, stack))]


def sole_open_members(hierarchy: Hierarchy, opened: Iterable[RowPath]) -> dict[RowPath, RowPath] | None:
    """Return the only open member of each open stack, by the path of the stack and of the groups that contain nothing
    else.

    None if two members of one stack are open: then each open stack lists its members.
    """
    members: dict[RowPath, RowPath] = {}
    for path in opened:
        stack = stack_around(hierarchy, path)
        if stack is not None:
            if stack in members:
                return None
            members.update(dict.fromkeys(stack_boxes(hierarchy, stack), path))
    return members


def box_of_path(hierarchy: Hierarchy, path: RowPath, members: Mapping[RowPath, RowPath]) -> RowPath:
    """Return the group whose box represents a path while open stacks show `members`: the stack for its shown member,
    and for a stack the outermost group that contains nothing else."""
    around = stack_around(hierarchy, path)
    shown = around if around is not None and members.get(around) == path else path
    stack = sole_stack(hierarchy, shown[-1])
    return stack_boxes(hierarchy, (*shown[:-1], stack))[-1] if stack >= 0 else shown


# Scopes that contain only one scope: when open, they are drawn as one frame, `outer/middle/inner`.


def sole_scope(hierarchy: Hierarchy, row: int) -> int:
    """Return the scope that is the only content of a scope; -1 if there is more, if it is a stack, or if each scope has
    a frame (TensorBoard's preset)."""
    if row <= 0 or hierarchy.kind[row] != SCOPE_ROW or not hierarchy.joins_scopes:
        return -1
    children = hierarchy.children(row)
    if len(children) != 1 or hierarchy.kind[children[0]] != SCOPE_ROW or sole_stack(hierarchy, row) >= 0:
        return -1
    return -1 if is_stack(hierarchy, int(hierarchy.parent[row])) else int(children[0])


def scopes_inside_alone(hierarchy: Hierarchy, path: RowPath) -> list[RowPath]:
    """Return the scopes that open together with a scope that contains nothing else, from the outside in."""
    found: list[RowPath] = []
    *calls, row = path
    while (row := sole_scope(hierarchy, row)) >= 0:
        found.append((*calls, row))
    return found


def scopes_of_frame(hierarchy: Hierarchy, path: RowPath, content: RowPath) -> list[RowPath]:
    """Return the scopes that share the frame of a scope, which shows `content`, from the outside in."""
    found = [path]
    while found[-1] != content and (row := sole_scope(hierarchy, found[-1][-1])) >= 0:
        found.append((*path[:-1], row))
    return found


def joined_frames(hierarchy: Hierarchy, opened: Iterable[RowPath]) -> dict[RowPath, RowPath]:
    """Return the innermost open scope whose content a frame shows, by the path of the scopes around it that contain
    nothing else; inner ones first. `opened` lists groups, each after the group around it."""
    found: dict[RowPath, RowPath] = {}
    open_ones = dict.fromkeys(opened)
    for path in reversed(open_ones):
        inner = (*path[:-1], sole_scope(hierarchy, path[-1]))
        if inner in open_ones:
            found[path] = found.get(inner, inner)
    return found


def frame_of_path(hierarchy: Hierarchy, path: RowPath, joined: Mapping[RowPath, RowPath]) -> RowPath:
    """Return the scope whose frame shows an open scope: the outermost that contains nothing else."""
    around = parent_path(hierarchy, path)
    while around is not None and around in joined and sole_scope(hierarchy, around[-1]) == path[-1]:
        path, around = around, parent_path(hierarchy, around)
    return path


def repetition_count(hierarchy: Hierarchy, row: int) -> int:
    """Return the number of members of a series, or of children of a fold."""
    return len(repeated_rows(hierarchy, row))


def repeated_rows(hierarchy: Hierarchy, row: int) -> list[int]:
    """Return the members of a series, through its ranges if it has any; the children of a fold."""
    if hierarchy.kind[row] != SERIES_ROW:
        return [*hierarchy.children(row).tolist()]
    found: list[int] = []
    todo = [row]
    while todo:
        held = hierarchy.children(todo.pop()).tolist()
        ranges = all(hierarchy.how.item(row) == SEGMENT_ORIGIN and hierarchy.kind.item(row) == FOLD_ROW for row in held)
        if ranges:
            todo += held
        else:
            found += held
    return found


# A budget for scope names: each contains the names of its enclosing scopes, so depth alone could fill memory.

MAX_SCOPE_NAME_LETTERS = 300 << 20  # letters in total: 10,000 levels of six letters, or a million typical scopes
ESCAPED_LETTER_COST = 6  # JSON writes a non-ASCII or control letter as `\u0000`; in memory it may take four bytes


def _letter_cost(scope: str) -> int:
    """Return the cost of each letter of a name.

    >>> _letter_cost("layer_1/conv"), _letter_cost("couche_é"), _letter_cost("a\\x07")
    (1, 6, 6)
    """
    return 1 if scope.isascii() and scope.isprintable() else ESCAPED_LETTER_COST


@dataclass(slots=True)
class ScopeNameBudget:
    """The budget for names of scopes: `left` letters; `cut` counts names that were truncated."""

    left: int = MAX_SCOPE_NAME_LETTERS
    cut: int = 0

    def truncate(self, scope: str) -> str:
        """Truncate a scope's name to the prefix for which there is room, enclosing scopes included; "" if there is
        none.

        >>> ScopeNameBudget().truncate("a/b/c"), ScopeNameBudget(5).truncate("a/b/c"), ScopeNameBudget(0).truncate("a")
        ('a/b/c', 'a/b', '')
        """
        if (scope.count("/") + 1) * len(scope) * ESCAPED_LETTER_COST <= self.left:
            return scope
        left, start, end_of_fit = self.left // _letter_cost(scope), 0, 0
        while start < len(scope):
            end = scope.find("/", start)
            end = len(scope) if end < 0 else end
            left -= end
            if left < 0:
                break
            start, end_of_fit = end + 1, end
        self.cut += end_of_fit < len(scope)
        return scope[:end_of_fit]

    def spend(self, scope: str, around: Sequence[str]) -> None:
        """Spend the cost of a scope and its new enclosing scopes; `around` includes the scope itself."""
        self.left -= _letter_cost(scope) * sum(map(len, around))
