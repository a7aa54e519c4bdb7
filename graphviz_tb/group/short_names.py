"""Short labels for long names: in a flat graph every name repeats what the groups around it say.

`model_block_2_conv_1_Conv2D` in the group `block_2` is labelled `conv_1_Conv2D`. Names and addresses stay those of the
file.
"""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np

from graphviz_tb.group.flow.words import NameWords, shared_prefix_length
from graphviz_tb.limits import MAX_COMPARED_NAMES
from graphviz_tb.model.columns import Bools, Ints, Longs, group_by_key
from graphviz_tb.model.hierarchy import FUNCTION_ROW, SCOPE_ROW, Hierarchy
from graphviz_tb.model.later import Lazy

# A counting letter after a number is a word: "block2", "a". So is a number on its own: folding joins it to the word
# before, but labels may be cut between them.
LABEL_WORD = re.compile(r"[A-Za-z]*[0-9]+|[A-Za-z]+")
LONG_LABEL_LETTERS = 24  # characters of a name that a box shows
MIN_BEGINNING_SHARE = 0.8  # share of the names of a level with the same beginning
LAST_CHARACTER = chr(0x10FFFF)  # sorts after any continuation of a name
LABEL_START = re.compile(r"[_./ -][A-Za-z].")  # a label may begin at the letter
LABEL_SEPARATOR = re.compile("( → | … | · )")  # between the parts of a group's label


class ShortLabels(Mapping[int, str]):
    """Labels by row, in levels with a name too long for a box; a level is computed on first access.

    The words that most ops and scopes of a level begin with are cut off, but never so that two labels of a level become
    equal, or that a label begins with a number. Before: a hierarchy with all its groups.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._levels: dict[int, LevelNames] = {}
        self._short: dict[int, dict[int, str]] = {}  # by level

    def __getitem__(self, row: int) -> str:
        return self._level_labels(int(self._hierarchy.parent[row]))[row]

    def get(self, row: int, default: Any = None) -> Any:
        """Return the label of a row, or `default`, as for most rows."""
        return self._level_labels(int(self._hierarchy.parent[row])).get(row, default)

    def __iter__(self) -> Iterator[int]:
        for scope in self._long_scopes:
            for group in (scope, *self._rows_inside(scope, self._hierarchy.is_stack_row)):
                yield from self._level_labels(group)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def _level_labels(self, group: int) -> dict[int, str]:
        if group not in self._short:
            is_long = group >= 0 and self._scope_of(group) in self._long_scopes
            self._short[group] = self._level_names(group).short_labels() if is_long else {}
        return self._short[group]

    def _level_names(self, group: int) -> LevelNames:
        """Return the names of a level, after computing those of the enclosing levels in the same scope."""
        around = [group]
        while self._hierarchy.is_stack_row[around[-1]] and around[-1] not in self._levels:
            around.append(int(self._hierarchy.parent[around[-1]]))
        for each in reversed(around):
            if each not in self._levels:
                outer = self._levels[int(self._hierarchy.parent[each])] if self._hierarchy.is_stack_row[each] else None
                self._levels[each] = LevelNames(self._hierarchy, each, self._common_beginning(each), outer)
        return self._levels[group]

    def _common_beginning(self, group: int) -> NameWords:
        ops = self._rows_inside(self._scope_of(group), self._is_named_row)
        first, stop = np.searchsorted(ops, (group, self._hierarchy.end[group]))
        some = ops[first : stop : 1 + (stop - first) // MAX_COMPARED_NAMES].tolist()
        return common_beginning([self._hierarchy.name_segment(op) for op in some])

    def _scope_of(self, group: int) -> int:
        return int(self._enclosing_scopes[group]) if self._hierarchy.is_stack_row[group] else group

    def _rows_inside(self, scope: int, which: Bools) -> Longs:
        """Return the rows of a scope, through its stacks, for which `which` holds."""
        order, start = self._rows_by_scope
        inside: Longs = order[start[scope] : start[scope + 1]]
        return inside[which[inside]]

    @cached_property
    def _is_named_row(self) -> Bools:
        named: Bools = self._hierarchy.is_ordinary_op | (self._hierarchy.kind == SCOPE_ROW)
        named[0] = False
        return named

    @cached_property
    def _enclosing_scopes(self) -> Ints:
        return enclosing_scopes(self._hierarchy)

    @cached_property
    def _rows_by_scope(self) -> tuple[Longs, Longs]:
        return group_by_key(self._enclosing_scopes, len(self._hierarchy))

    @cached_property
    def _long_scopes(self) -> dict[int, None]:
        """Scopes with a long name inside, in order."""
        lengths = np.fromiter(map(len, self._hierarchy.name), np.int64, len(self._hierarchy))
        lengths[[0, *self._hierarchy.function_rows]] = -1  # no name begins with its root's name
        own = lengths - lengths[self._enclosing_scopes] - 1
        return dict.fromkeys(
            sorted({*self._enclosing_scopes[self._is_named_row & (own > LONG_LABEL_LETTERS)].tolist()})
        )


def enclosing_scopes(hierarchy: Hierarchy) -> Ints:
    """Return the nearest enclosing row that is neither series nor fold; a root's is itself."""
    stack, around = hierarchy.is_stack_row, np.maximum(hierarchy.parent, 0)
    while stack[around].any():
        around = np.where(stack[around], hierarchy.parent[around], around)
    return around


def common_beginning(names: list[str]) -> NameWords:
    """Return the words that most of some names begin with.

    >>> common_beginning(["net_1_conv_2_Conv2D", "net_1_conv_2_BiasAdd", "net_1_conv_10_Relu"])
    ('net', '1', 'conv')
    """
    names.sort()  # names with one beginning are adjacent, and the middle one belongs to any majority
    usual = names[len(names) // 2] if names else ""

    def in_most(word: re.Match[str]) -> bool:
        begin = usual[: word.end() + 1]
        return bisect(names, begin + LAST_CHARACTER) - bisect_left(names, begin) >= max(
            2, MIN_BEGINNING_SHARE * len(names)
        )

    return tuple(word[0] for word in takewhile(in_most, LABEL_WORD.finditer(usual)))


class LevelNames:
    """The labels of a level. `begin` is the common beginning of most names in it, `around` the enclosing level in its
    scope."""

    def __init__(self, hierarchy: Hierarchy, group: int, begin: NameWords, around: LevelNames | None) -> None:
        stated = hierarchy.graph.labels
        inside = group + 1 + np.flatnonzero(hierarchy.parent[group + 1 : hierarchy.end[group]] == group)
        nodes = {row: int(hierarchy.node[row]) for row in inside.tolist() if hierarchy.kind[row] != FUNCTION_ROW}
        self.labels = {row: hierarchy.short_label(row) for row, node in nodes.items() if node not in stated}
        # Labels of weights are expensive and rarely needed: computed on demand.
        self.stated = Lazy(lambda: [hierarchy.short_label(row) for row, node in nodes.items() if node in stated])
        begin = begin or (around.begin if around is not None else ())
        # Words shared by no two labels distinguish them: keep these.
        parts = [part for label in self.labels.values() for part in LABEL_SEPARATOR.split(label)]
        common = sorted((shared_prefix_length(tuple(LABEL_WORD.findall(part)), begin) for part in parts), reverse=True)[
            1:2
        ]
        self.begin: NameWords = begin[: common[0]] if common else ()
        # Levels inside a shortened one are shortened too: a stack and its members have similar labels.
        self.is_short: bool = (around is not None and around.is_short) or any(
            len(part) > LONG_LABEL_LETTERS and cut_label(part, self.begin) != part for part in parts
        )

    def short_labels(self) -> dict[int, str]:
        """Return the shortened labels that stay unique, by row."""
        if not self.is_short or not self.begin:
            return {}
        short = {
            row: "".join(cut_label(part, self.begin) for part in LABEL_SEPARATOR.split(label))
            for row, label in self.labels.items()
        }
        # Labels that were equal before may stay equal.
        called = Counter(label for _, label in {(self.labels[row], label) for row, label in short.items()})
        called.update(self.stated())
        return {row: label for row, label in short.items() if label != self.labels[row] and called[label] == 1}


def cut_label(label: str, begin: NameWords) -> str:
    """Return a label without the words that it shares with a beginning.

    The rest begins with a letter and is longer than one character.

    >>> [
    ...     cut_label(label, ("net", "conv", "2"))
    ...     for label in ("net_conv_2_Relu", "net_Add", "net_conv_3_Relu", "net_conv_2")
    ... ]
    ['Relu', 'Add', 'conv_3_Relu', 'conv_2']
    >>> [cut_label(label, ("block2",)) for label in ("block2_a", "block2_[b-d]", "block2b_add")]
    ['block2_a', 'block2_[b-d]', 'block2b_add']
    """
    words = list(LABEL_WORD.finditer(label))
    count = shared_prefix_length(tuple(word[0] for word in words), begin)
    if not count or words[0].start():
        return label
    starts = [word.start() for word in words[1 : count + 1]]
    return next((label[at:] for at in reversed(starts) if LABEL_START.match(label, at - 1)), label)
