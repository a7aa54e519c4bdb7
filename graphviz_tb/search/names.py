"""Find the rows that a name or pattern selects."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from graphviz_tb.errors import LIST_NAMES_HINT, RequestError, UnknownNode, nearest_names, require_type, suggest_names
from graphviz_tb.limits import MAX_MATCHED_NAMES, MAX_MATCHED_PLACES, MAX_PATTERN_STEPS, MAX_PLACE_LETTERS
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.hierarchy import FUNCTION_ROW, OP_ROW, SCOPE_ROW, Hierarchy
from graphviz_tb.model.paths import LIBRARY_PREFIX, RowPath, join_address, last_segment, path_address, split_address

# Patterns for names: `**` matches any text, through calls too, `*` any text within one segment, `?` one character;
# brackets are literal.

WILDCARD = re.compile(r"\*\*+|\*|\?")
CALL_SEPARATOR = re.compile(r"(?<!:)::(?!:)")  # between a call and its contents: a segment ends there, and at a slash
SEGMENT_PATTERN = rf"(?:(?!{CALL_SEPARATOR.pattern})[^/])*"
WILDCARDS = frozenset(("*", "**", "?"))
WILDCARD_CLASSES = {"**": ".", "*": "[^/]", "?": "[^/]"}  # characters that a wildcard matches in a name without calls


class NamePattern:
    """A pattern for names.

    >>> NamePattern("layer_*/att").matches_name("layer_1/att"), NamePattern("conv[1-5]").matches_name("conv[1-5]")
    (True, True)
    """

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []  # wildcards, and letters one by one
        last = 0
        for wildcard in WILDCARD.finditer(text):
            self.tokens += [*text[last : wildcard.start()], wildcard[0][:2]]  # "***" equals "**"
            last = wildcard.end()
        self.tokens += text[last:]
        self._stars = self.tokens.count("*") + self.tokens.count("**")
        self._both = "*" in self.tokens and "**" in self.tokens

    def matches_name(self, name: str) -> bool:
        """Return whether the pattern matches a whole name."""
        if "::" not in name and (not self._both or len(name) ** 2 <= MAX_PATTERN_STEPS):
            return self._linear_regex.fullmatch(name) is not None
        if self._stars < 2 or len(name) ** self._stars <= MAX_PATTERN_STEPS:
            return self._backtracking_regex.fullmatch(name) is not None
        return _matches_tokens(self.tokens, name)

    @cached_property
    def _backtracking_regex(self) -> re.Pattern[str]:
        """The pattern as a regular expression, for names short enough that backtracking is cheap."""
        wild = {"**": ".*", "*": SEGMENT_PATTERN, "?": "[^/]"}
        return re.compile("".join(wild.get(token) or re.escape(token) for token in self.tokens), re.DOTALL)

    @cached_property
    def _linear_regex(self) -> re.Pattern[str]:
        """The pattern for names without `::`, without backtracking.

        The text after a star needs only its first match, because the next star reaches every later one. The same holds
        for everything between two `**`.
        """
        parts: list[str] = []
        begun = False
        stars = [at for at, token in enumerate(self.tokens) if token in ("*", "**")]
        for at, end in pairwise((-1, *stars, len(self.tokens))):
            text = "".join(WILDCARD_CLASSES.get(token) or re.escape(token) for token in self.tokens[at + 1 : end])
            if at < 0:
                parts.append(text)
                continue
            star = f"{WILDCARD_CLASSES[self.tokens[at]]}*?{text}"
            if self.tokens[at] == "**":
                parts.append(")" * begun)
                begun = "**" in self.tokens[end:]
                parts.append("(?>" * begun + star)
            else:
                parts.append(f"(?>{star})" if end < len(self.tokens) else star)
        return re.compile("".join(parts), re.DOTALL)


def _matches_tokens(tokens: list[str], name: str) -> bool:
    """Return whether tokens match a whole name.

    Bit n of `ends` is set if the tokens so far match the first n letters, so that all alternatives advance at once
    (as in Navarro & Raffinot, Flexible pattern matching in strings, 2002).

    >>> (
    ...     _matches_tokens(["*", "a", "*", "b"], "a" * 99_999 + "b"),
    ...     _matches_tokens(["*", "a"], "a/a"),
    ...     _matches_tokens(["**", "a"], "a/a"),
    ... )
    (True, False, True)
    """
    whole = (1 << len(name)) - 1
    points = np.frombuffer(name.encode("utf-32-le", "surrogatepass"), "<u4")
    no_slash = whole & ~_bit_mask(points == ord("/"))
    inside = no_slash
    if "::" in name:
        borders = np.zeros(len(name), bool)
        borders[[found.start() for found in CALL_SEPARATOR.finditer(name)]] = True
        inside &= ~_bit_mask(borders)
    letters = {letter: _bit_mask(points == ord(letter)) for letter in set(tokens) - WILDCARDS}
    ends = 1  # before the first letter
    for token in tokens:
        if token == "**":
            ends = (whole << 1 | 1) & -(ends & -ends)  # from the first end on, every position
        elif token == "*":
            # The carry of the addition runs to the end of the segment.
            ends |= (inside + (ends & inside)) ^ inside
        else:
            ends = (ends & (no_slash if token == "?" else letters[token])) << 1
    return bool(ends >> len(name) & 1)


def _bit_mask(places: Bools) -> int:
    return int.from_bytes(np.packbits(places, bitorder="little").tobytes(), "little")


def has_wildcards(pattern: str) -> bool:
    """Return whether a pattern can match more than one name."""
    return bool(WILDCARD.search(pattern))


def _is_library_address(text: str) -> bool:
    """Return whether a leading `::` marks an address as inside a function that is shown outside of its calls.

    >>> _is_library_address("::f::x"), _is_library_address("f::x"), _is_library_address("::::f")
    (True, False, False)
    """
    return text.startswith(LIBRARY_PREFIX) and not text.startswith(f"{LIBRARY_PREFIX}:")


def _with_program_names(hierarchy: Hierarchy) -> Hierarchy | None:
    """Return the hierarchy with the program's names: `vision/conv` for `vision_1/conv_1`; None if none differs."""
    if not any(hierarchy.kind[row] == SCOPE_ROW for row in hierarchy.labels):
        return None
    scopes = (row for row in hierarchy.labels if hierarchy.kind[row] == SCOPE_ROW)
    return replace(hierarchy, name=_renamed_rows(hierarchy, {row: hierarchy.labels[row] for row in scopes}))


def _with_label_names(hierarchy: Hierarchy) -> Hierarchy | None:
    """Return the hierarchy with groups named by their labels where these are unique; None if none differs."""
    if not hierarchy.labels and not hierarchy.short:
        return None
    groups = np.flatnonzero(hierarchy.kind != OP_ROW).tolist()
    names = _renamed_rows(
        hierarchy, {row: hierarchy.short_label(row) for row in groups if row and hierarchy.parent[row] >= 0}
    )
    counts = Counter(names)
    return replace(
        hierarchy, name=[new if counts[new] == 1 else old for new, old in zip(names, hierarchy.name, strict=True)]
    )


def _renamed_rows(hierarchy: Hierarchy, labels: Mapping[int, str]) -> list[str]:
    """Return the names of all rows after renaming some groups: rows in a scope begin with its name."""
    names = list(hierarchy.name)
    scope = [0] * len(hierarchy)  # the nearest scope around each row or itself, 0 for none
    for row, parent in enumerate(hierarchy.parent.tolist()):
        around = scope[parent] if parent >= 0 else 0
        scope[row] = row if hierarchy.kind[row] == SCOPE_ROW else around
        before = hierarchy.name[around]
        if around and names[row].startswith(f"{before}/"):
            names[row] = names[around] + names[row][len(before) :]
        if row in labels:
            names[row] = names[row][: len(names[row]) - len(hierarchy.name_segment(row))] + labels[row]
    return names


class RowFinder:
    """Finds rows by name, in the main graph and inside calls."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.index = lru_cache(maxsize=None)(self._build_index)
        self._groups = lru_cache(maxsize=None)(self._opening_rows)

    def _build_index(self, root: int) -> dict[str, int]:
        """Return the first row of each name below `root` (a group before an op of that name, because its rows come
        first)."""
        names = self.hierarchy.name
        index: dict[str, int] = {}
        # Backwards, so that the first row of a name wins.
        for row in range(int(self.hierarchy.end[root]) - 1, root, -1):
            index[names[row]] = row
        return index

    def _opening_rows(self, root: int) -> list[int]:
        return [row for row in range(root + 1, int(self.hierarchy.end[root])) if self.hierarchy.can_open(row)]

    def find_each(self, patterns: Iterable[str]) -> Iterator[list[RowPath]]:
        """Yield the paths that each distinct pattern matches. Raises RequestError if there are too many to search."""
        asked = list(dict.fromkeys(patterns))
        wild = sum(map(has_wildcards, asked))
        if wild and wild * len(self._groups(0)) > MAX_MATCHED_NAMES:
            raise RequestError(
                f"{wild:,} patterns for {len(self._groups(0)):,} groups are too many",
                hint="let fewer patterns mean more: 'layer_*' for all whose names begin so",
            )
        yield from map(self.find_paths, asked)

    def find_paths(self, pattern: str) -> list[RowPath]:
        """Return the paths that `pattern` matches: as an address, then as a literal name, then with wildcards; names of
        the file before names of the program, then labels.

        Raises UnknownNode with the nearest names if there is none.
        """
        require_type("name", pattern, str)
        try:
            return self._find_matches(pattern)
        except UnknownNode:
            for other in (self._program_finder, self._label_finder):
                if other is not None:
                    with suppress(UnknownNode):
                        return other._find_matches(pattern)
            raise

    find = find_paths  # of the Python API, as `model.names.find`

    def find_main_row(self, name: str) -> int:
        """Return the row of the main graph with a name (address, literal name, then the program's name of a layer), or
        -1."""
        row = self._main_row(name)
        return self._program_finder._main_row(name) if row < 0 and self._program_finder is not None else row

    @cached_property
    def _program_finder(self) -> RowFinder | None:
        """A finder of rows by the program's names of layers; None if they equal those of the file."""
        hierarchy = _with_program_names(self.hierarchy)
        return None if hierarchy is None else RowFinder(hierarchy)

    @cached_property
    def _label_finder(self) -> RowFinder | None:
        """A finder of groups by their labels; None if they equal the names of the file."""
        hierarchy = _with_label_names(self.hierarchy)
        return None if hierarchy is None else RowFinder(hierarchy)

    def _main_row(self, name: str) -> int:
        if not name:  # the whole graph is not a part of itself
            return -1
        if found := self._address_paths(name):  # an address means its place, also in a function
            return next((path[0] for path in found if path[1:] == () and path[0] < self.hierarchy.end[0]), -1)
        return self.index(0).get(name, -1)

    def _find_matches(self, pattern: str) -> list[RowPath]:
        if not pattern:  # a scope without a name is written as a backslash
            return [(0,)]
        # An address wins over an equal name: `f::x` is x in the call f, `f::::x` the node `f::x`.
        if found := self._address_paths(pattern):
            return found
        if pattern in self.index(0):
            return [(self.index(0)[pattern],)]
        if "**" in pattern:
            return self._match_anywhere(pattern)
        paths, parts = self._address_start(pattern)
        if not paths:
            raise self._unknown_error(pattern, [()])
        for part in parts:
            around, paths = paths, [match for path in paths for match in self._match_part(path, part)]
            # Places multiply inside calls; in the main graph there are no more than rows.
            if len(paths) > MAX_MATCHED_PLACES and around != [()]:
                raise RequestError(
                    f"{pattern!r} means more than {MAX_MATCHED_PLACES:,} places", hint="say more of the name"
                )
            if not paths:
                raise self._unknown_error(pattern, around)
        return paths

    def _address_paths(self, address: str) -> list[RowPath]:
        """Return the places that an address means literally; empty if it is not an address."""
        paths, parts = self._address_start(address)
        for part in parts:
            paths = [match for path in paths for match in self._match_part(path, part, exact=True)]
        return paths

    def _address_start(self, address: str) -> tuple[list[RowPath], list[str]]:
        """Return where an address begins (in the main graph, or in a library function), and its remaining parts."""
        parts = split_address(address)
        if not _is_library_address(address):
            return [()], parts
        functions = [row for row in self.hierarchy.function_rows if self.hierarchy.name[row] == parts[1]]
        return [(row,) for row in functions], parts[2:]

    def _match_anywhere(self, pattern: str) -> list[RowPath]:
        """Return the groups whose whole address matches a pattern with `**`: in the main graph, then call by call.

        A function is not entered again on its own path; the search stops after 50,000 places.
        """
        wanted, name = NamePattern(pattern), self.hierarchy.name
        matches: list[RowPath] = [(row,) for row in self._groups(0) if wanted.matches_name(join_address([name[row]]))]
        places, more = self._call_contents
        matches += [path for path, called in places if wanted.matches_name(called)]
        if not matches and more:
            raise RequestError(
                f"{pattern!r} means none of {len(places):,} places in calls that were looked at",
                hint="say more of the name",
            )
        if not matches:
            raise self._unknown_error(pattern, [()])
        return matches

    @cached_property
    def _call_contents(self) -> tuple[list[tuple[RowPath, str]], bool]:
        """The groups inside calls with their addresses, call by call; and whether there are more."""
        hierarchy = self.hierarchy
        waiting: deque[RowPath] = deque((row,) for row in self._groups(0) if row in hierarchy.calls)
        places: list[tuple[RowPath, str]] = []
        letters = 0
        while waiting and len(places) <= MAX_MATCHED_PLACES:
            for path in self._groups_inside(waiting.popleft()):
                places.append((path, path_address(hierarchy, path)))
                letters += len(places[-1][1])
                if letters > MAX_PLACE_LETTERS:
                    return places, True
                if path[-1] in hierarchy.calls:
                    waiting.append(path)
        return places, bool(waiting)

    def _groups_inside(self, call: RowPath) -> Iterator[RowPath]:
        """Yield the groups inside a call, apart from functions that are already around the call."""
        hierarchy = self.hierarchy
        around = {body for row in call[:-1] for _, body in hierarchy.calls[row]}
        bodies = hierarchy.calls[call[-1]]
        for body in dict.fromkeys(body for _, body in bodies if body not in around):
            if len(bodies) > 1:
                yield (*call, body)
            yield from ((*call, row) for row in self._groups(body))

    def _unknown_error(self, pattern: str, around: list[RowPath]) -> UnknownNode:
        """Return the error with the nearest names, and where to find all names."""
        names = self._candidate_names(around)
        if has_wildcards(pattern):  # suggest names similar to its last word
            leaves = {last_segment(name): name for name in reversed(names)}
            said = (re.sub(r"[*?]", "", segment) for segment in reversed(pattern.split("/")))
            word = next(filter(None, said), "")
            near = [leaves[leaf] for leaf in nearest_names(word, leaves)]
            error = UnknownNode(f"no node or group {pattern!r}{suggest_names(near, names)}")
            error.hint = LIST_NAMES_HINT
            return error
        return UnknownNode.among(pattern, names, "node or group")

    def _candidate_names(self, around: list[RowPath]) -> list[str]:
        """Return the candidates where a pattern failed: names of the main graph, or addresses in the last calls."""
        hierarchy = self.hierarchy
        if around == [()]:
            functions = [hierarchy.name[row] for row in hierarchy.function_rows]
            return [join_address([name]) for name in (*reversed(self.index(0)), *functions)]  # in file order
        opened_functions = [path[0] for path in around if len(path) == 1 and hierarchy.kind[path[0]] == FUNCTION_ROW]
        paths: list[RowPath] = [(row,) for function in opened_functions for row in self.index(function).values()]
        paths += [
            (*path, row)
            for path in around
            for _, body in hierarchy.calls.get(path[-1], ())
            for row in (body, *self.index(body).values())
        ]
        addresses: list[str] = []
        letters_left: int = MAX_PLACE_LETTERS  # of long addresses the first are enough
        for path in paths or around:
            if letters_left > 0:
                addresses.append(path_address(hierarchy, path))
                letters_left -= len(addresses[-1])
        return addresses

    def _match_part(self, path: RowPath, part: str, exact: bool = False) -> list[RowPath]:
        """Return the rows named `part` in the main graph, or in the functions of the call at the end of `path`;
        `exact`: without wildcards."""
        if not path:
            functions = self.hierarchy.function_rows
            matches = self._match_names(0, part, exact) or [
                row for row in functions if self.hierarchy.name[row] == part
            ]
            return [(row,) for row in matches]
        if len(path) == 1 and self.hierarchy.kind[path[0]] == FUNCTION_ROW:
            return [(row,) for row in self._match_names(path[0], part, exact)]
        bodies = self.hierarchy.calls.get(path[-1], ())
        if len(bodies) == 1:
            return [(*path, row) for row in self._match_names(bodies[0][1], part, exact)]
        rows = {row: None for attr, body in bodies for row in self._match_in_body(attr, body, part, exact)}
        return [(*path, row) for row in rows]

    def _match_in_body(self, attr: str, body: int, part: str, exact: bool) -> list[int]:
        """Return the rows that `attr` or `attr/name` means in one of several functions of a call."""
        if part == attr:
            return [body]
        if part.startswith(attr + "/"):
            return self._match_names(body, part[len(attr) + 1 :], exact)
        if exact or not has_wildcards(part):
            return []
        first, slash, rest = part.partition("/")
        if not NamePattern(first).matches_name(attr):
            return []
        if slash:
            return self._match_names(body, rest, exact)
        return [body, *(self._match_names(body, "**", exact) if first == "**" else ())]

    def _match_names(self, root: int, part: str, exact: bool) -> list[int]:
        index = self.index(root)
        if part in index:
            return [index[part]]
        if exact or not has_wildcards(part):
            return []
        wanted = NamePattern(part)
        name = self.hierarchy.name
        return [row for row in self._groups(root) if wanted.matches_name(name[row])]
