"""Labels: names of layers in the program, and short labels for levels whose names repeat the same words."""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import islice, pairwise, takewhile
from typing import Any

import numpy as np

from graphviz_tb.caches import Lazy, compile_on_use
from graphviz_tb.fold.flow.names import NameWords, shared_prefix_length
from graphviz_tb.graphs.rows import count_ops_below
from graphviz_tb.limits import MAX_ASKED_WEIGHTS, MAX_COMPARED_NAMES
from graphviz_tb.model.columns import Bools, Ints, Longs, group_by_key, sorted_value_range
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import FOLD_ROW, FUNCTION_ROW, SCOPE_ROW, Hierarchy
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import CONSTANT_OPS

# Names that a program gives its layers, where the scopes of a file add counters to them.
#
# Keras 3 opens the scope of a layer twice, to build it and to call it (`Layer.__call__` in keras/src/layers/layer.py),
# and TensorFlow makes names unique: layer `dense` is scope `dense_1`, called again `dense_3`; layer `dense_1` next to
# it is `dense_1_2`. So the scope of a layer always has a counter, and nothing in the file has the name without it.
#
# _keras_layer_names       layers of a model that is known with the graph
# _scopes_with_counter     otherwise, scopes with a counter whose name without it is free
# _types_of_numbered_nodes ops of data pipelines, named by type and number
# _is_made_by_keras_3      Keras 3 is recognised by variable names without counters, or, in a file without variable
#                          names (frozen graphs, functions), by the ops that read weights

COUNTER_SUFFIX = re.compile(r"(?<=[^/])_[1-9][0-9]{0,8}\Z")  # e.g. the "_12" of "dense_12"; TensorFlow counts from 1
MAX_COUNTER_LETTERS = 10  # "_" and nine digits; searching only these saves time
# Ops that read a kernel in Keras 3 (Keras 2: MatMul/ReadVariableOp, Conv2D/ReadVariableOp).
KERAS_3_READ = compile_on_use(r".*/(Cast|convolution|Reshape|GatherV2)(_\d+)?/ReadVariableOp(/resource)?", re.DOTALL)
UNNAMED_VARIABLE = "/resource"  # function arguments are named after the op that reads them

CodeNames = dict[int, str]  # row: name without counter


def find_code_names(hierarchy: Hierarchy, numbered: Iterable[int] = ()) -> CodeNames:
    """Return the names in the program of layers whose scopes have a different name, by row of the scope.

    Before: scopes, without series and folds; `numbered` from `find_numbered_nodes`. After: empty unless the names come
    from Keras 3. Scopes of gradients are renamed like the layers they belong to.
    """
    known = _keras_layer_names(hierarchy) | _types_of_numbered_nodes(hierarchy, numbered)
    counted = _scopes_with_counter(hierarchy)
    if not counted:
        return known
    # Scopes of gradients repeat the names of layers: they are no evidence, and are renamed with the layers.
    gradients = _gradient_only_rows(hierarchy)
    forward = {row: name for row, name in counted.items() if not gradients[row]}
    if not forward or not _is_made_by_keras_3(hierarchy, forward):
        return known
    layers = {last_segment(hierarchy.name[row]) for row in forward}
    names = {row: last_segment(name) for row, name in counted.items() if last_segment(hierarchy.name[row]) in layers}
    return names | known


def _types_of_numbered_nodes(hierarchy: Hierarchy, numbered: Iterable[int]) -> CodeNames:
    """Return the types of ops whose name is only their type and a number."""
    graph = hierarchy.graph
    rows = {int(hierarchy.row_of_node[node]): node for node in numbered}
    # An op that is also a scope has a different name there.
    return {
        row: graph.op_types[graph.op[node]] for row, node in rows.items() if hierarchy.name[row] == graph.name[node]
    }


def _keras_layer_names(hierarchy: Hierarchy) -> CodeNames:
    """Return the names of Keras layers of the main graph whose scopes add a counter."""
    layers, names = hierarchy.graph.layers, hierarchy.name
    # Rows up to the end of the root: functions come after the main graph.
    rows = [row for row in range(int(hierarchy.end[0])) if names[row] in layers] if layers else []
    called = {row: str(layers[names[row]].config.get("name")) for row in rows}
    return {row: name for row, name in called.items() if _strip_counter(last_segment(names[row])) == name}


def _strip_counter(name: str) -> str | None:
    """Return a name without its counter; None if it has none.

    >>> _strip_counter("block_1/dense_12"), _strip_counter("block_1/dense"), _strip_counter("block/_1")
    ('block_1/dense', None, None)
    """
    match = COUNTER_SUFFIX.search(name, len(name) - MAX_COUNTER_LETTERS)
    return name[: match.start()] if match else None


def _scopes_with_counter(hierarchy: Hierarchy) -> CodeNames:
    """Return the scopes whose name is a counter after a free name, with the free name."""
    names: CodeNames = {}
    # Names are unique within one graph or function.
    for root, stop in pairwise((0, *hierarchy.function_rows, len(hierarchy))):
        rows = (root + np.flatnonzero(hierarchy.kind[root:stop] == SCOPE_ROW)).tolist()
        # Only saves time: most names do not end in a digit.
        rows = [row for row in rows if hierarchy.name[row][-1:].isdigit()]
        counted = ((row, _strip_counter(hierarchy.name[row])) for row in rows)
        free_names = {row: name for row, name in counted if name is not None}
        inside = hierarchy.name[root + 1 : stop] if free_names else []
        taken = set(free_names.values()).intersection(inside)
        # All names are needed only if a taken one has a counter itself, which is rare.
        taken = set(inside) if any(map(_strip_counter, taken)) else taken
        names |= {row: name for row, name in free_names.items() if _is_free_name(name, taken)}
    return names


def _is_free_name(name: str, taken: set[str]) -> bool:
    """Return whether a name is unused, or used only by names with a counter themselves.

    >>> _is_free_name("dense", {"dense_1"}), _is_free_name("dense_1", {"dense_1"}), _is_free_name("dense", {"dense"})
    (True, True, False)
    """
    # e.g. "dense_1" of "dense_1_2": a scope has this name, but as the layer `dense` with its counter.
    while name in taken:
        shorter = _strip_counter(name)
        if shorter is None:
            return False
        name = shorter
    return True


def _is_made_by_keras_3(hierarchy: Hierarchy, counted: CodeNames) -> bool:
    """Return whether Keras 3 made the scopes: by most variable names, or, without any, by how a weight is read."""
    asked = list(islice(_weight_uses_inside(hierarchy, counted), MAX_ASKED_WEIGHTS))
    votes = [
        _counter_vote(variable, scopes) for _, variable, scopes in asked if not variable.endswith(UNNAMED_VARIABLE)
    ]
    # Variable names decide; the op that reads a weight only if no variable name does.
    return sum(votes) > 0 if any(votes) else any(KERAS_3_READ.fullmatch(read) for read, _, _ in asked)


def _weight_uses_inside(hierarchy: Hierarchy, counted: CodeNames) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each use of a weight inside `counted` scopes: the mark, its variable, and the scopes from the outside in.

    The variable of a constant is `UNNAMED_VARIABLE`.
    """
    graph, name = hierarchy.graph, hierarchy.name
    beside = graph.beside

    @cache  # one op may use thousands of weights
    def scopes_around(row: int) -> list[str]:
        return [last_segment(name[scope]) for scope in hierarchy.ancestors(row) if scope in counted]

    for index in np.flatnonzero(beside.inward & (graph.mark[beside.mark] == Mark.WEIGHT)).tolist():
        scopes, mark = scopes_around(int(hierarchy.row_of_node[beside.host[index]])), int(beside.mark[index])
        if scopes and (weight := graph.meaning.weights.get(mark)) is not None:
            variable = UNNAMED_VARIABLE if graph.op_types[graph.op[mark]] in CONSTANT_OPS else weight.variable
            yield graph.name[mark], variable, scopes


def _counter_vote(variable: str, scopes: Iterable[str]) -> int:
    """Return 1 if a variable's name contains a scope without its counter, -1 if with it, 0 if neither.

    >>> (
    ...     _counter_vote("dense/kernel", ["small_1", "dense_1"]),
    ...     _counter_vote("dense_1/kernel", ["dense_1"]),
    ...     _counter_vote("w", ["dense_1"]),
    ... )
    (1, -1, 0)
    """
    words = set(variable.split("/"))  # a set: names may have thousands of scopes
    plain = any(_strip_counter(scope) in words for scope in scopes)
    return 1 if plain else -1 if any(scope in words for scope in scopes) else 0


def _gradient_only_rows(hierarchy: Hierarchy) -> Bools:
    """Return which rows contain only ops in scopes of gradients."""
    ops = hierarchy.op_prefix_sum[hierarchy.end] - hierarchy.op_prefix_sum[:-1]
    inside: Bools = (ops > 0) & (count_ops_below(hierarchy, hierarchy.graph.meaning.flow().named) == ops)
    return inside


# Short labels for long names: in a flat graph every name repeats the names of the groups around it.
#
# `model_block_2_conv_1_Conv2D` in the group `block_2` is labelled `conv_1_Conv2D`. Names and addresses stay those of
# the file.

# A letter after a number is a word ("block2", "a"), and so is a number: labels may be cut between them.
LABEL_WORD = compile_on_use(r"[A-Za-z]*[0-9]+|[A-Za-z]+")
LONG_LABEL_LETTERS = 24  # a box shows that many characters of a name
MIN_BEGINNING_SHARE = 0.8  # share of the names of a level with the same beginning
LAST_CHARACTER = chr(0x10FFFF)  # sorts after any continuation of a name
LABEL_START = compile_on_use(r"[_./ -][A-Za-z].")  # a label may begin at the letter
LABEL_SEPARATOR = re.compile("( → | … | · )")  # between the parts of a group's label
INNER_LABEL = compile_on_use(
    r"[_./ -]((?:[0-9]+[_./ -])?[A-Za-z].*)", re.ASCII | re.DOTALL
)  # behind the name of a group


class ShortLabels(Mapping[int, str]):
    """Short labels by row, for levels with a name too long for a box, and for folds whose name all members repeat.

    The words with which most names of a level begin are cut off, unless two labels would become equal, or a label would
    begin with a number. Levels are computed on first access. Before: a hierarchy with all its groups.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._levels: dict[int, LevelNames] = {}
        self._short: dict[int, dict[int, str]] = {}  # by level

    def __getitem__(self, row: int) -> str:
        return self._level_labels(int(self._hierarchy.parent[row]))[row]

    def get(self, row: int, default: Any = None) -> Any:
        """Return the short label of a row, or `default`."""
        return self._level_labels(int(self._hierarchy.parent[row])).get(row, default)

    def __iter__(self) -> Iterator[int]:
        groups = dict.fromkeys(np.flatnonzero(self._hierarchy.kind == FOLD_ROW).tolist())
        for scope in self._long_scopes:
            groups.update(dict.fromkeys([scope, *self._rows_inside(scope, self._hierarchy.is_stack_row).tolist()]))
        for group in groups:
            yield from self._level_labels(group)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def _level_labels(self, group: int) -> dict[int, str]:
        if group not in self._short:
            is_long = group >= 0 and self._scope_of(group) in self._long_scopes
            short = self._level_names(group).short_labels() if is_long else {}
            self._short[group] = short or _labels_behind_fold(self._hierarchy, group)
        return self._short[group]

    def _level_names(self, group: int) -> LevelNames:
        """Return the names of a level, after computing those of the enclosing levels in the same scope."""
        around = [group]
        while self._hierarchy.is_stack_row[around[-1]] and around[-1] not in self._levels:
            around.append(int(self._hierarchy.parent[around[-1]]))
        for row in reversed(around):
            if row not in self._levels:
                outer = self._levels[int(self._hierarchy.parent[row])] if self._hierarchy.is_stack_row[row] else None
                self._levels[row] = LevelNames(self._hierarchy, row, self._common_beginning(row), outer)
        return self._levels[group]

    def _common_beginning(self, group: int) -> NameWords:
        ops = self._rows_inside(self._scope_of(group), self._is_named_row)
        first, stop = sorted_value_range(ops, group, self._hierarchy.end[group])
        some = ops[first : stop : 1 + (stop - first) // MAX_COMPARED_NAMES].tolist()
        return _common_beginning([self._hierarchy.name_segment(op) for op in some])

    def _scope_of(self, group: int) -> int:
        return int(self._enclosing_scopes[group]) if self._hierarchy.is_stack_row[group] else group

    def _rows_inside(self, scope: int, which: Bools) -> Longs:
        """Return the rows in a scope and its stacks for which `which` holds."""
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
        return _enclosing_scopes(self._hierarchy)

    @cached_property
    def _rows_by_scope(self) -> tuple[Longs, Longs]:
        return group_by_key(self._enclosing_scopes, len(self._hierarchy))

    @cached_property
    def _long_scopes(self) -> dict[int, None]:
        """Scopes with a long name inside, in order."""
        lengths = np.fromiter(map(len, self._hierarchy.name), np.int64, len(self._hierarchy))
        lengths[[0, *self._hierarchy.function_rows]] = -1  # names do not begin with the name of the root
        own = lengths - lengths[self._enclosing_scopes] - 1
        return dict.fromkeys(
            sorted({*self._enclosing_scopes[self._is_named_row & (own > LONG_LABEL_LETTERS)].tolist()})
        )


def _labels_behind_fold(hierarchy: Hierarchy, group: int) -> dict[int, str]:
    """Return the labels in a fold without the label of the fold, by row, if all begin with it.

    In `conv4_block2`, `conv4_block2_1_conv` is `1_conv`.
    """
    if group < 0 or hierarchy.kind[group] != FOLD_ROW:
        return {}
    begin = hierarchy.short_label(group)
    short: dict[int, str] = {}
    for row in hierarchy.children(group).tolist():
        parts = LABEL_SEPARATOR.split(hierarchy.short_label(row))
        found = [INNER_LABEL.fullmatch(part, len(begin)) if part.startswith(begin) else None for part in parts[::2]]
        if None in found:
            return {}
        parts[::2] = [match[1] for match in found if match]
        short[row] = "".join(parts)
    return short if len(set(short.values())) == len(short) > 1 else {}


def _enclosing_scopes(hierarchy: Hierarchy) -> Ints:
    """Return the nearest enclosing row of each row that is neither series nor fold; a root encloses itself."""
    stack, around = hierarchy.is_stack_row, np.maximum(hierarchy.parent, 0)
    while stack[around].any():
        around = np.where(stack[around], hierarchy.parent[around], around)
    return around


def _common_beginning(names: list[str]) -> NameWords:
    """Return the words with which most of some names begin.

    >>> _common_beginning(["net_1_conv_2_Conv2D", "net_1_conv_2_BiasAdd", "net_1_conv_10_Relu"])
    ('net', '1', 'conv')
    """
    names.sort()  # names with one beginning are adjacent, so the middle name begins like any majority
    usual = names[len(names) // 2] if names else ""

    def in_most(word: re.Match[str]) -> bool:
        begin = usual[: word.end() + 1]
        return bisect(names, begin + LAST_CHARACTER) - bisect_left(names, begin) >= max(
            2, MIN_BEGINNING_SHARE * len(names)
        )

    return tuple(word[0] for word in takewhile(in_most, LABEL_WORD.finditer(usual)))


class LevelNames:
    """The labels of a level; most names have the words `begin` in common; `around` is the enclosing level."""

    def __init__(self, hierarchy: Hierarchy, group: int, begin: NameWords, around: LevelNames | None) -> None:
        stated = hierarchy.graph.labels
        inside = group + 1 + np.flatnonzero(hierarchy.parent[group + 1 : hierarchy.end[group]] == group)
        nodes = {row: int(hierarchy.node[row]) for row in inside.tolist() if hierarchy.kind[row] != FUNCTION_ROW}
        self.labels = {row: hierarchy.short_label(row) for row, node in nodes.items() if node not in stated}
        # Labels of weights are expensive and rarely needed, so they are computed on demand.
        self.stated = Lazy(lambda: [hierarchy.short_label(row) for row, node in nodes.items() if node in stated])
        begin = begin or (around.begin if around is not None else ())
        # Cut only words that two labels share.
        parts = [part for label in self.labels.values() for part in LABEL_SEPARATOR.split(label)]
        common = sorted((shared_prefix_length(tuple(LABEL_WORD.findall(part)), begin) for part in parts), reverse=True)[
            1:2
        ]
        self.begin: NameWords = begin[: common[0]] if common else ()
        # Levels inside a shortened level are shortened too, since a stack and its members have similar labels.
        self.is_short: bool = (around is not None and around.is_short) or any(
            len(part) > LONG_LABEL_LETTERS and _cut_label(part, self.begin) != part for part in parts
        )

    def short_labels(self) -> dict[int, str]:
        """Return the shortened labels that stay unique, by row."""
        if not self.is_short or not self.begin:
            return {}
        short = {
            row: "".join(_cut_label(part, self.begin) for part in LABEL_SEPARATOR.split(label))
            for row, label in self.labels.items()
        }
        # Labels that were equal before may stay equal.
        called = Counter(label for _, label in {(self.labels[row], label) for row, label in short.items()})
        called.update(self.stated())
        return {row: label for row, label in short.items() if label != self.labels[row] and called[label] == 1}


def _cut_label(label: str, begin: NameWords) -> str:
    """Return a label without the words of `begin` with which it begins; the rest begins with a letter.

    >>> [
    ...     _cut_label(label, ("net", "conv", "2"))
    ...     for label in ("net_conv_2_Relu", "net_Add", "net_conv_3_Relu", "net_conv_2")
    ... ]
    ['Relu', 'Add', 'conv_3_Relu', 'conv_2']
    >>> [_cut_label(label, ("block2",)) for label in ("block2_a", "block2_[b-d]", "block2b_add", "block2[block2_add]")]
    ['block2_a', 'block2_[b-d]', 'block2b_add', 'block2[block2_add]']
    >>> _cut_label("Encoder[encoder_layer_0]", ("Encoder", "encoder"))
    'Encoder[encoder_layer_0]'
    """
    words = list(LABEL_WORD.finditer(label))
    count = shared_prefix_length(tuple(word[0] for word in words), begin)
    if not count or words[0].start():
        return label
    starts = [word.start() for word in words[1 : count + 1]]
    ends = (at for at in reversed(starts) if LABEL_START.match(label, at - 1))
    return next((label[at:] for at in ends if label.count("[", 0, at) == label.count("]", 0, at)), label)
