"""Rules 4 and 5: a tag contains the path of a layer or module, at its end except for the name of a weight (rule 4), or
followed by further parts (rule 5).

Paths of rows form a tree of parts, which a tag descends part by part. The tag may have parts that the path lacks:
PyTorch's lists of modules are in the names of parameters but not in the scopes of a trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

import numpy as np

from graphviz_tb.join.tags import TAG_PREFIXES, LookedUpTag
from graphviz_tb.join.variables import MODULE_SCOPE, parameter_paths
from graphviz_tb.limits import MAX_JOIN_PATHS
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.hierarchy import FUNCTION_ROW, OP_ROW, SCOPE_ROW, STACK_KINDS, Hierarchy
from graphviz_tb.model.interpretation import COMPUTING_PARTS
from graphviz_tb.model.joins import MeasuredAspect, RuleMatch

PathEnds = Callable[[int], list[range]]  # number of parts of a tag → places where a path may end, best first


def join_by_path(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Rule 4: the last part of the path is the last of the tag, or the one before the name of a weight."""
    return join_by_path_end(hierarchy, tags, lambda count: [range(max(0, count - 2), count)])


def join_by_scope_above(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Rule 5: as rule 4 with more parts cut from the end, as few as possible."""
    return join_by_path_end(hierarchy, tags, lambda count: [range(end, end + 1) for end in range(count - 3, -1, -1)])


@dataclass(frozen=True, slots=True)
class ModulePaths:
    """The tree of all paths; `inside` has the paths of layers and scopes by last part, where a tag may begin too, as
    Keras 2 omits the names of models. `parameters` are those of PyTorch."""

    root: PathTree
    inside: dict[str, list[PathTree]]
    parameters: Container[str]


@dataclass(slots=True, eq=False)
class PathTree:
    """A path: its `parts`, the rows that have it, and its continuations."""

    parts: tuple[str, ...] = ()
    rows: list[int] = field(default_factory=list)
    below: dict[str, PathTree] = field(default_factory=dict)

    def child(self, part: str) -> PathTree:
        """Return the path extended by a part."""
        if part not in self.below:
            self.below[part] = PathTree((*self.parts, part))
        return self.below[part]


def join_by_path_end(hierarchy: Hierarchy, tags: Sequence[LookedUpTag], ends: PathEnds) -> dict[str, RuleMatch]:
    """Return the rows of tags whose path ends at the places that `ends` gives."""
    split = re.compile("[/.]" if hierarchy.graph.is_pytorch else "/")
    parts = {tag.name: split.split(tag.core) for tag in tags}
    paths = collect_module_paths(hierarchy, frozenset(part for each in parts.values() for part in each))
    found: dict[str, RuleMatch] = {}
    for tag in tags:
        walked = match_paths(paths, parts[tag.name])
        best = next((best for places in ends(len(parts[tag.name])) if (best := best_matches(walked, places))), [])
        rows = tuple(sorted({row for path in best for row in path.rows}))
        if rows:
            aspect = MeasuredAspect.WEIGHT if parts[tag.name][-1] != best[0].parts[-1] else None
            found[tag.name] = RuleMatch(rows, aspect, several=len(best) > 1)
    return found


MatchedPaths = dict[int, dict[PathTree, int]]  # end in the tag → path → number of its parts that the tag has


def match_paths(paths: ModulePaths, parts: Sequence[str]) -> MatchedPaths:
    """Return all paths whose parts a tag has in order, leading names of models excepted."""
    reached: dict[PathTree, int] = {paths.root: 0}
    found: MatchedPaths = {}
    for place, part in enumerate(parts):
        fresh = dict.fromkeys(paths.inside.get(part, ()), 1)
        for path, count in reached.items():
            if part in path.below:
                longer = path.below[part]
                fresh[longer] = max(count + 1, fresh.get(longer, 0))
        found[place] = {
            path: count
            for path, count in fresh.items()
            if path.rows and is_specific_match(path, count, parts, paths.parameters)
        }
        if len(reached) + len(fresh) > MAX_JOIN_PATHS:
            break
        reached |= {path: max(count, reached.get(path, 0)) for path, count in fresh.items()}
    return found


def is_specific_match(path: PathTree, count: int, parts: Sequence[str], parameters: Container[str]) -> bool:
    """Return whether a path is more than a number in a tag: "epoch/0" is not about module 0, "towers.0.weight" is if
    there is such a parameter."""
    if not all(part.isdigit() for part in path.parts[-count:]):
        return True
    start = next((place for place, part in enumerate(parts) if part not in TAG_PREFIXES), 0)
    return parts[start].isdigit() or ".".join(parts[start:]) in parameters


def best_matches(walked: MatchedPaths, places: range) -> list[PathTree]:
    """Return the paths with most parts in the tag, of these the shortest; several if they tie."""
    found = {path: count for place in places for path, count in walked.get(place, {}).items()}
    rank = {path: (-count, len(path.parts)) for path, count in found.items()}
    least = min(rank.values(), default=None)
    return [path for path, each in rank.items() if each == least]


def collect_module_paths(hierarchy: Hierarchy, wanted: frozenset[str]) -> ModulePaths:
    """Collect the paths of all layers and scopes, and of ops whose last part is `wanted`."""
    root = PathTree()
    inside: dict[str, list[PathTree]] = {}
    at: dict[int, PathTree] = {0: root}
    keep, pytorch = rows_with_model_ops(hierarchy), hierarchy.graph.is_pytorch
    for row in range(1, len(hierarchy)):
        above = int(hierarchy.parent[row])
        around = root if above < 0 else at.get(above)
        if around is None or hierarchy.mark[row] or not keep[row]:
            continue
        if hierarchy.kind[row] == FUNCTION_ROW or hierarchy.kind[row] in STACK_KINDS:
            at[row] = around
            continue
        layer = hierarchy.kind[row] == SCOPE_ROW or hierarchy.name[row] in hierarchy.graph.layers
        for parts in path_parts(hierarchy, row, pytorch):
            if not layer and parts[-1] not in wanted:
                continue
            path = around
            for part in parts:
                path = path.child(part)
            at.setdefault(row, path)
            if parts:
                path.rows.append(row)
            if layer and not pytorch and len(path.rows) == 1 and path.parts[-1] in wanted:
                inside.setdefault(path.parts[-1], []).append(path)
    return ModulePaths(root, inside, parameter_paths(hierarchy.graph) if pytorch else ())


def path_parts(hierarchy: Hierarchy, row: int, pytorch: bool) -> list[tuple[str, ...]]:
    """Return the possible parts of a row: its name in the file, and its label. The class of a PyTorch scope is not a
    part, and PyTorch ops, named by values, have none."""
    written = hierarchy.name_segment(row)
    if pytorch:
        of_class = MODULE_SCOPE.fullmatch(written)
        if hierarchy.kind[row] == OP_ROW:
            return []
        return [tuple(of_class[1].split(".")) if of_class else ()]
    return [(said,) for said in dict.fromkeys((written, hierarchy.short_label(row)))]


def rows_with_model_ops(hierarchy: Hierarchy) -> Bools:
    """Mask the rows that contain an op of the model; gradients and updates have its names too."""
    part = hierarchy.graph.meaning.part()
    ours = np.zeros(len(hierarchy), bool)
    ops = hierarchy.node >= 0
    ours[ops] = np.isin(part[hierarchy.node[ops]], COMPUTING_PARTS) & (hierarchy.mark[ops] == 0)
    total = np.concatenate(([0], np.cumsum(ours)))
    held: Bools = total[hierarchy.end] > total[: len(hierarchy)]
    return held
