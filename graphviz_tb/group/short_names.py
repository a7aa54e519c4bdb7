"""Short labels where names are long: a flat graph writes into every name all that the groups around it say.

`model_block_2_conv_1_Conv2D` in the group `block_2` is labelled `conv_1_Conv2D`. Names and addresses stay those of the
file.
"""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections import Counter
from itertools import takewhile

import numpy as np

from graphviz_tb.limits import NAMES_LOOKED_AT
from graphviz_tb.model.columns import Bools, Ints, filed
from graphviz_tb.model.hierarchy import FOLD, FUNCTION, SCOPE, SERIES, Hierarchy

WORD = re.compile(r"[A-Za-z]*[0-9]+|[A-Za-z]+")  # a letter that counts behind a number is one: "block2", "a"
LONG = 24  # characters: what a box shows of a name
MOST = 0.8  # of the names of a level, that begin alike
LAST = chr(0x10FFFF)  # comes after all that follows in a name
BEGUN = re.compile(r"[_./ -][A-Za-z].")  # where a label may begin
ENDS = re.compile("( → | … )")  # in the label of a group that is called by its ends


def short_labels(hierarchy: Hierarchy) -> dict[int, str]:
    """Before: a hierarchy with all its groups. After: labels by row, in levels with a name that no box has room for.

    Cut off are the words that the names of most ops and scopes of a level begin with; never so that two labels of
    a level become one, or that one begins with a number.
    """
    stack = (hierarchy.kind == SERIES) | (hierarchy.kind == FOLD)
    around = scope_around(hierarchy, stack)
    lengths = np.fromiter(map(len, hierarchy.name), np.int64, len(hierarchy))
    lengths[[0, *hierarchy.function_rows]] = -1  # no name begins with that of its root
    own = lengths - lengths[around] - 1
    named = hierarchy.ordinary | (hierarchy.kind == SCOPE)
    named[0] = False
    order, start = filed(around, len(hierarchy))
    labels: dict[int, str] = {}
    for scope in sorted({*around[named & (own > LONG)].tolist()}):
        inside = order[start[scope] : start[scope + 1]]
        ops = inside[named[inside]]
        begins: dict[int, list[str]] = {}
        for group in [scope, *inside[stack[inside]].tolist()]:
            first, stop = np.searchsorted(ops, (group, hierarchy.end[group]))
            some = ops[first : stop : 1 + (stop - first) // NAMES_LOOKED_AT].tolist()
            outside = [] if group == scope else begins[int(hierarchy.parent[group])]
            begins[group] = beginning([hierarchy.written(op) for op in some]) or outside
            if begins[group]:
                labels |= of_level(hierarchy, group, begins[group])
    return labels


def scope_around(hierarchy: Hierarchy, stack: Bools) -> Ints:
    """The nearest row around each that is no series and no fold; of a root itself."""
    around = np.maximum(hierarchy.parent, 0)
    while stack[around].any():
        around = np.where(stack[around], hierarchy.parent[around], around)
    return around


def beginning(names: list[str]) -> list[str]:
    """The words that most of some names begin with.

    >>> beginning(["net_1_conv_2_Conv2D", "net_1_conv_2_BiasAdd", "net_1_conv_10_Relu"])
    ['net', '1', 'conv']
    """
    names.sort()  # those that begin alike lie together, and the middle one is among most
    usual = names[len(names) // 2] if names else ""

    def in_most(word: re.Match[str]) -> bool:
        begin = usual[: word.end() + 1]
        return bisect(names, begin + LAST) - bisect_left(names, begin) >= max(2, MOST * len(names))

    return [word[0] for word in takewhile(in_most, WORD.finditer(usual))]


def of_level(hierarchy: Hierarchy, group: int, begin: list[str]) -> dict[int, str]:
    """The labels of a level that are shorter without the words that its names begin with."""
    told = hierarchy.graph.labels
    inside = group + 1 + np.flatnonzero(hierarchy.parent[group + 1 : hierarchy.end[group]] == group)
    before = {
        row: hierarchy.segment(row)
        for row in inside.tolist()
        if hierarchy.kind[row] != FUNCTION and int(hierarchy.node[row]) not in told
    }
    if not any(len(label) > LONG for label in before.values()):
        return {}
    after = {row: "".join(cut(part, begin) for part in ENDS.split(label)) for row, label in before.items()}
    # Labels that were one before may be one.
    called = Counter(label for _, label in {(before[row], label) for row, label in after.items()})
    return {row: label for row, label in after.items() if label != before[row] and called[label] == 1}


def cut(label: str, begin: list[str]) -> str:
    """A label without the words that it has in common with a beginning. What is left begins with a letter, and is more
    than one.

    >>> [cut(label, ["net", "conv", "2"]) for label in ("net_conv_2_Relu", "net_Add", "net_conv_3_Relu", "net_conv_2")]
    ['Relu', 'Add', 'conv_3_Relu', 'conv_2']
    >>> [cut(label, ["block2"]) for label in ("block2_a", "block2_[b-d]", "block2b_add")]
    ['block2_a', 'block2_[b-d]', 'block2b_add']
    """
    words = list(WORD.finditer(label))
    shared = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1], zip(words, begin, strict=False)))
    if not shared or words[0].start():
        return label
    starts = [word.start() for word in words[1 : shared + 1]]
    return next((label[at:] for at in reversed(starts) if BEGUN.match(label, at - 1)), label)
