"""Join the tags of a log to the rows of a hierarchy.

The `JOIN_RULES` are tried in order; the first that finds rows counts. A tag without rows belongs to the run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import chain

import numpy as np

from graphviz_tb.graphs.rows import sums_below
from graphviz_tb.limits import MAX_FOLLOWED_CARRIERS, MAX_JOIN_PATHS
from graphviz_tb.model.columns import Bools, group_by_key
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import INPUT_ARG_OP, Call, Graph, wiring_of_call
from graphviz_tb.model.hierarchy import FUNCTION_ROW, OP_ROW, SCOPE_ROW, STACK_KINDS, Hierarchy
from graphviz_tb.model.interpretation import COMPUTING_PARTS, Part
from graphviz_tb.model.joins import JoinRule, MeasuredAspect, RuleMatch, TagJoin, box_rows_of_nodes, nearest_box_row
from graphviz_tb.model.paths import without_counter
from graphviz_tb.ops.roles import CONSTANT_OPS, Role, has_role
from graphviz_tb.ops.signatures import summary_input_slots, weight_input_names

# Forms of a tag for the look-up: prefixes and suffixes that loggers add to a name are cut off.
#
# histogram, image, gradient, :0 at the end    always cut
# grad, params, train, … in front              cut only if the name with them is not found

TAG_SUFFIX = re.compile(r"(?:/histogram|/(?:image|audio)(?:/\d+)?|[/._](?:grad|gradient)s?|:0)$")
TAG_PREFIXES = frozenset({
    "grad", "grads", "gradient", "gradients", "grad_norm", "grad_norms", "norm", "norms",
    "weight", "weights", "param", "params", "parameter", "parameters", "activation", "activations",
    "output", "outputs", "hist", "histogram", "histograms", "train", "training", "val", "valid", "validation",
    "test", "eval", "evaluation",
})  # fmt: skip
TAG_SEPARATOR = re.compile(r"[/.]")
GRADIENT_WORD = re.compile(r"(?:l\d_)?grad(?:ient)?s?(?:_.*)?|.*_grad(?:ient)?s?(?:_norm)?", re.DOTALL)
ASPECT_BY_WORD = {
    **dict.fromkeys(("activation", "activations", "output", "outputs"), MeasuredAspect.ACTIVATION),
    **dict.fromkeys(("weight", "weights", "param", "params", "parameter", "parameters"), MeasuredAspect.WEIGHT),
    **dict.fromkeys(
        ("kernel", "bias", "biases", "gamma", "beta", "moving_mean", "moving_variance"), MeasuredAspect.WEIGHT
    ),
}


@dataclass(frozen=True, slots=True)
class LookedUpTag:
    """A tag: the `forms` under which it is looked up, the longest first, its `core` (without the suffixes that are
    always cut), and the aspect that its words state, or None."""

    name: str
    forms: tuple[str, ...]
    core: str
    aspect: MeasuredAspect | None


def _parse_tag(name: str) -> LookedUpTag:
    """Split a tag into the forms for its look-up.

    >>> _parse_tag("grad/fc.weight").forms, _parse_tag("dense/kernel_0/histogram").forms
    (('grad/fc.weight', 'fc.weight'), ('dense/kernel_0/histogram', 'dense/kernel_0'))
    """
    forms = [name]
    core = name
    while found := TAG_SUFFIX.search(core):
        core = core[: found.start()]
    if core and core != name:
        forms.append(core)
    without_suffix = forms[-1]
    while (split := TAG_SEPARATOR.search(core)) and core[: split.start()] in TAG_PREFIXES and core[split.end() :]:
        core = core[split.end() :]
        forms.append(core)
    return LookedUpTag(name, tuple(forms), without_suffix, _aspect_in_words(name))


def _aspect_in_words(name: str) -> MeasuredAspect | None:
    """Return the aspect that the words of a tag state, or None.

    >>> (
    ...     _aspect_in_words("grad_norm/fc/bias").value,
    ...     _aspect_in_words("layer1/weights_1").value,
    ...     _aspect_in_words("val/loss").value,
    ... )
    ('gradient', 'weight', 'loss')
    """
    parts = TAG_SEPARATOR.split(name)
    if any(GRADIENT_WORD.fullmatch(part) for part in parts):
        return MeasuredAspect.GRADIENT
    words = [re.sub(r"_\d+$", "", part) for part in reversed(parts)]
    found = next((ASPECT_BY_WORD[word] for word in words if word in ASPECT_BY_WORD), None)
    return MeasuredAspect.LOSS if found is None and "loss" in words[0].lower() else found


# Rule 3: a tag is the name of an op or a scope, in the file or by labels.


def _join_by_name(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Return the rows of tags that are names of rows; of a name in several functions, the row in each."""
    wanted: dict[str, set[int]] = {form: set() for tag in tags for form in tag.forms}
    for row, name in enumerate(hierarchy.name):
        if name in wanted and row:
            wanted[name].add(nearest_box_row(hierarchy, row))
    if not hierarchy.graph.has_module_scopes:  # there labels are kinds and values
        for row in hierarchy.labels:
            if row and hierarchy.kind[row] not in STACK_KINDS and (path := _labelled_path(hierarchy, row)) in wanted:
                wanted[path].add(row)
    found: dict[str, RuleMatch] = {}
    for tag in tags:
        rows = next((rows for form in tag.forms if (rows := wanted[form] - {0, -1})), None)
        if rows:
            found[tag.name] = RuleMatch(tuple(sorted(rows)))
    return found


def _labelled_path(hierarchy: Hierarchy, row: int) -> str:
    around = [above for above in hierarchy.ancestors(row) if above and hierarchy.kind[above] not in STACK_KINDS]
    return "/".join(hierarchy.short_label(place) for place in (*around, row) if hierarchy.parent[place] >= 0)


# Rule 2: a tag is the name of a variable, and belongs to the ops that use it.

MODULE_SCOPE = re.compile(r"[^\[\]]*\[(.*)\]", re.DOTALL)  # PyTorch scope: class[attribute]
CALL_NUMBER = re.compile(r"@\d+$")  # of a later call of a module


def _join_by_variable(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Return, for tags that are names of variables, the rows of the ops that use the variable."""
    graph = hierarchy.graph
    if graph.is_value_trace:
        return _join_by_parameter(hierarchy, tags)
    users = _variable_users_by_name(graph)
    found: dict[str, RuleMatch] = {}
    for tag in tags:
        # Keras 2 numbers the weights of a layer, TensorFlow 1 duplicate tags.
        names = [name for form in tag.forms for name in (form, without_counter(form))]
        name = next((name for name in names if name in users), None)
        rows = box_rows_of_nodes(hierarchy, users[name]) if name is not None else ()
        if rows:
            found[tag.name] = RuleMatch(rows, MeasuredAspect.WEIGHT)
    return found


def _variable_users_by_name(graph: Graph) -> dict[str, tuple[int, ...]]:
    users: dict[str, tuple[int, ...]] = {}
    by_mark: dict[int, list[int]] = {}
    for mark, host in zip(graph.beside.mark.tolist(), graph.beside.host.tolist(), strict=True):
        by_mark.setdefault(mark, []).append(host)
    for mark, weight in graph.meaning.weights.items():
        name = weight.variable.removesuffix(":0")
        users[name] = (*users.get(name, ()), *by_mark.get(mark, ()))
    for variable in graph.meaning.variables():
        users.setdefault(variable.name.removesuffix(":0"), variable.users)
    return {name: _preferred_users(graph, nodes) for name, nodes in users.items()}


def _preferred_users(graph: Graph, users: Sequence[int]) -> tuple[int, ...]:
    """Return the users of a variable that belong to the model: by preference the users with it as a weight that are not
    downstream of gradients, then those that have gradients, then those not downstream of gradients, then all."""
    flow = graph.meaning.flow()
    ahead = [node for node in users if not (len(flow.behind) and flow.behind[node])]
    weighted = [node for node in ahead if weight_input_names(graph.op_types[graph.op[node]])]
    forward = [node for node in users if len(flow.forward) and flow.forward[node]]
    return tuple(weighted or forward or ahead or users)


def _join_by_parameter(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Join parameters that a PyTorch model has outside of its modules to the scope of the model."""
    paths = _parameter_paths(hierarchy.graph)
    found: dict[str, RuleMatch] = {}
    for tag in tags:
        node = next((paths[form] for form in tag.forms if "." not in form and form in paths), -1)
        row = int(hierarchy.row_of_node[node]) if node >= 0 else -1
        while row >= 0 and int(hierarchy.parent[row]) > 0:
            row = int(hierarchy.parent[row])
        if row >= 0 and hierarchy.kind[row] == SCOPE_ROW:
            found[tag.name] = RuleMatch((row,), MeasuredAspect.WEIGHT)
    return found


def _parameter_paths(graph: Graph) -> dict[str, int]:
    """Return the node of each parameter of a PyTorch model, by its name in `named_parameters`."""
    paths: dict[str, int] = {}
    for node in map(int, np.flatnonzero(graph.nodes_of_types("prim::GetAttr".__eq__))):
        modules = [found[1] for part in graph.name[node].split("/") if (found := MODULE_SCOPE.fullmatch(part))]
        paths.setdefault(".".join([*modules, graph.labels.get(node, "")]), node)
    return paths


# Rules 4 and 5: a tag contains the path of a layer or module, at its end except for the name of a weight (rule 4), or
# followed by further parts (rule 5).
#
# Paths of rows form a tree of parts, which a tag descends part by part. The tag may have parts that the path lacks:
# PyTorch's lists of modules are in the names of parameters but not in the scopes of a trace.

PathEnds = Callable[[int], list[range]]  # number of parts of a tag → places where a path may end, best first


def _join_by_path(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Rule 4: the last part of the path is the last of the tag, or the one before the name of a weight."""
    return _join_by_path_end(hierarchy, tags, lambda count: [range(max(0, count - 2), count)])


def _join_by_scope_above(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Rule 5: as rule 4 with more parts cut from the end, as few as possible."""
    return _join_by_path_end(hierarchy, tags, lambda count: [range(end, end + 1) for end in range(count - 3, -1, -1)])


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
        if part not in self.below:
            self.below[part] = PathTree((*self.parts, part))
        return self.below[part]


def _join_by_path_end(hierarchy: Hierarchy, tags: Sequence[LookedUpTag], ends: PathEnds) -> dict[str, RuleMatch]:
    """Return the rows of tags that have the path of a row among their parts, ending at one of the places `ends`.

    A tag that goes on after the path (`encoder/dense/kernel` for `encoder/dense`) is about a weight of the row.
    """
    separator = re.compile("[/.]" if hierarchy.graph.has_module_scopes else "/")
    parts_of_tag = {tag.name: separator.split(tag.core) for tag in tags}
    paths = _collect_module_paths(hierarchy, frozenset(chain.from_iterable(parts_of_tag.values())))
    found: dict[str, RuleMatch] = {}
    for name, parts in parts_of_tag.items():
        matched = _match_paths(paths, parts)
        best = next(filter(None, (_best_matches(matched, places) for places in ends(len(parts)))), [])
        rows = tuple(sorted({row for path in best for row in path.rows}))
        if rows:
            aspect = MeasuredAspect.WEIGHT if parts[-1] != best[0].parts[-1] else None
            found[name] = RuleMatch(rows, aspect, several=len(best) > 1)
    return found


MatchedPaths = dict[int, dict[PathTree, int]]  # end in the tag → path → number of its parts that the tag has


def _match_paths(paths: ModulePaths, parts: Sequence[str]) -> MatchedPaths:
    """Return all paths whose parts a tag has in order, leading names of models excepted."""
    reached: dict[PathTree, int] = {paths.root: 0}
    found: MatchedPaths = {}
    for place, part in enumerate(parts):
        extended = dict.fromkeys(paths.inside.get(part, ()), 1)
        for path, count in reached.items():
            if part in path.below:
                child = path.below[part]
                extended[child] = max(count + 1, extended.get(child, 0))
        found[place] = {
            path: count
            for path, count in extended.items()
            if path.rows and _is_specific_match(path, count, parts, paths.parameters)
        }
        if len(reached) + len(extended) > MAX_JOIN_PATHS:
            break
        reached |= {path: max(count, reached.get(path, 0)) for path, count in extended.items()}
    return found


def _is_specific_match(path: PathTree, count: int, parts: Sequence[str], parameters: Container[str]) -> bool:
    """Return whether a path is more than a number in a tag: "epoch/0" is not about module 0, "towers.0.weight" is if
    there is such a parameter."""
    if not all(part.isdigit() for part in path.parts[-count:]):
        return True
    start = next((place for place, part in enumerate(parts) if part not in TAG_PREFIXES), 0)
    return parts[start].isdigit() or ".".join(parts[start:]) in parameters


def _best_matches(walked: MatchedPaths, places: range) -> list[PathTree]:
    """Return the paths with the most parts in the tag, of these the shortest; several if they tie."""
    found = {path: count for place in places for path, count in walked.get(place, {}).items()}
    rank = {path: (-count, len(path.parts)) for path, count in found.items()}
    least = min(rank.values(), default=None)
    return [path for path, each in rank.items() if each == least]


def _collect_module_paths(hierarchy: Hierarchy, wanted: frozenset[str]) -> ModulePaths:
    """Collect the paths of all layers and scopes, and of ops whose last part is `wanted`."""
    root = PathTree()
    paths_by_name: dict[str, list[PathTree]] = {}
    path_of_row: dict[int, PathTree] = {0: root}
    keep, pytorch = _rows_with_model_ops(hierarchy), hierarchy.graph.has_module_scopes
    for row in range(1, len(hierarchy)):
        parent = int(hierarchy.parent[row])
        around = root if parent < 0 else path_of_row.get(parent)
        if around is None or hierarchy.mark[row] or not keep[row]:
            continue
        if hierarchy.kind[row] == FUNCTION_ROW or hierarchy.kind[row] in STACK_KINDS:
            path_of_row[row] = around
            continue
        is_layer = hierarchy.kind[row] == SCOPE_ROW or hierarchy.name[row] in hierarchy.graph.layers
        for parts in _path_parts(hierarchy, row, pytorch):
            if not is_layer and parts[-1] not in wanted:
                continue
            path = around
            for part in parts:
                path = path.child(part)
            path_of_row.setdefault(row, path)
            if parts:
                path.rows.append(row)
            if is_layer and not pytorch and len(path.rows) == 1 and path.parts[-1] in wanted:
                paths_by_name.setdefault(path.parts[-1], []).append(path)
    return ModulePaths(root, paths_by_name, _parameter_paths(hierarchy.graph) if pytorch else ())


def _path_parts(hierarchy: Hierarchy, row: int, pytorch: bool) -> list[tuple[str, ...]]:
    """Return the possible parts of a row: its name in the file, and its label. The class of a PyTorch scope is not a
    part, and PyTorch ops, named by values, have none."""
    written = hierarchy.name_segment(row)
    if pytorch:
        of_class = MODULE_SCOPE.fullmatch(written)
        if hierarchy.kind[row] == OP_ROW:
            return []
        return [tuple(CALL_NUMBER.sub("", of_class[1]).split(".")) if of_class else ()]
    return [(said,) for said in dict.fromkeys((written, hierarchy.short_label(row)))]


def _rows_with_model_ops(hierarchy: Hierarchy) -> Bools:
    """Mask the rows that contain an op of the model; gradients and updates have its names too."""
    part = hierarchy.graph.meaning.part()
    ours = np.zeros(len(hierarchy), bool)
    ops = hierarchy.node >= 0
    ours[ops] = np.isin(part[hierarchy.node[ops]], COMPUTING_PARTS) & (hierarchy.mark[ops] == 0)
    return sums_below(hierarchy, ours) > 0


# Rule 1: the graph has the summary op that writes the tag, so the measured op is known.
#
# The tag is the constant at the input of that name. The value is followed back through ops that only pass it on, and
# out of the scope that a tf.summary call opened. If it is a variable, the ops that use the variable count.

VALUE_PRESERVING_ROLES = (
    Role.PASS,
    Role.CAST,
    Role.READ,
    Role.REARRANGE,
    Role.UNIT_AXES,
    Role.GRADIENT_STOP,
    Role.CHECK,
)
SUMMARY_SCOPE = "/write_summary"  # the scope that tf.summary.write opens


def _join_by_summary_op(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Return the measured rows of tags that an op of the graph writes."""
    graph = hierarchy.graph
    inputs = {op: slots for op in graph.op_types if (slots := summary_input_slots(op)) is not None}
    if not inputs:
        return {}
    back = InputTracer(graph)
    users = {variable.node: _preferred_users(graph, variable.users) for variable in graph.meaning.variables()}
    measured: dict[str, list[int]] = defaultdict(list)
    for node in np.flatnonzero(graph.nodes_of_types(inputs.__contains__)).tolist():
        tag_slot, slot = inputs[graph.op_types[graph.op[node]]]
        tag, value = back.constant_text(node, tag_slot), back.measured_op(node, slot)
        if tag and value >= 0:
            measured[tag].append(value)
    return {tag.name: found for tag in tags if (found := _measured_rows(hierarchy, users, measured, tag)) is not None}


def _measured_rows(
    hierarchy: Hierarchy, users: dict[int, tuple[int, ...]], measured: dict[str, list[int]], tag: LookedUpTag
) -> RuleMatch | None:
    """Return the rows measured under a tag; None if no op writes it."""
    nodes = next((measured[form] for form in tag.forms if form in measured), None)
    if nodes is None:
        return None
    origin = hierarchy.graph.meaning.origin
    makers = [int(origin[node]) if len(origin) else -1 for node in nodes]
    used = [user for maker in makers for user in users.get(maker, ())]
    rows = box_rows_of_nodes(hierarchy, used or nodes)
    return (
        RuleMatch(rows, MeasuredAspect.WEIGHT if used else _aspect_of_node(hierarchy.graph, nodes[0])) if rows else None
    )


def _aspect_of_node(graph: Graph, node: int) -> MeasuredAspect:
    """Return the aspect of a measured op by its part of the program."""
    part = graph.meaning.part()
    words = {
        Part.GRADIENT: MeasuredAspect.GRADIENT,
        Part.LOSS: MeasuredAspect.LOSS,
        Part.MODEL: MeasuredAspect.ACTIVATION,
    }
    return words.get(Part(int(part[node])), MeasuredAspect.OTHER) if len(part) else MeasuredAspect.OTHER


class InputTracer:
    """Traces a value back from an input to the node that computed it, also out of functions."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        data = np.flatnonzero(~graph.control)
        order, self.start = group_by_key(graph.target[data], len(graph))
        self.source, self.slot = graph.source[data[order]], graph.slot[data[order]]
        self.calls: dict[int, Call] = {}
        for call in graph.calls:
            self.calls.setdefault(call.function, call)  # a summary measures the same op in each call

    def sources_by_slot(self, node: int) -> Iterator[tuple[int, int]]:
        run = slice(self.start[node], self.start[node + 1])
        return zip(self.slot[run].tolist(), self.source[run].tolist(), strict=True)

    def source_at(self, node: int, slot: int) -> int:
        return next((source for number, source in self.sources_by_slot(node) if number == slot), -1)

    def type_of_node(self, node: int) -> str:
        return self.graph.op_types[int(self.graph.op[node])]

    def previous_node(self, node: int) -> int:
        """Return the node whose value a node passes on, or receives as an argument; -1 if it computes a value."""
        if self.type_of_node(node) == INPUT_ARG_OP:
            call = self.calls.get(int(self.graph.function[node]))
            if call is None:
                return -1
            function = self.graph.functions[call.function]
            definition = self.graph.node_def(call.node)
            pairs = wiring_of_call(
                self.type_of_node(call.node), definition, call.attr, len(function.args)
            ).input_argument_pairs()
            place = function.argument_position(node)
            return next((self.source_at(call.node, slot) for slot, argument in pairs if argument == place), -1)
        if has_role(self.type_of_node(node), *VALUE_PRESERVING_ROLES) and not self.is_variable_value(node):
            return self.source_at(node, 0)
        return -1

    def is_variable_value(self, node: int) -> bool:
        """Return whether a node passes on the value of a variable."""
        origin = self.graph.meaning.origin
        return bool(len(origin)) and int(origin[node]) >= 0

    def producer(self, node: int) -> int:
        """Return the op that computes the value of a node, past ops that only pass it on."""
        for _ in range(MAX_FOLLOWED_CARRIERS):
            before = self.previous_node(node)
            if before < 0:
                break
            node = before
        return node

    def constant_text(self, node: int, slot: int) -> str:
        """Return the text of the constant at an input; "" for any other input."""
        source = self.source_at(node, slot)
        constant = self.producer(source) if source >= 0 else -1
        definition = (
            self.graph.node_def(constant) if constant >= 0 and self.type_of_node(constant) in CONSTANT_OPS else None
        )
        if definition is None or "value" not in definition.attr:
            return ""
        texts = definition.attr["value"].tensor.string_val
        return str(texts[0], "utf-8", "replace") if texts else ""

    def measured_op(self, node: int, slot: int) -> int:
        """Return the op that computes the value of a summary; -1 if unknown."""
        source = self.source_at(node, slot)
        if source < 0:
            return -1
        scope = self.graph.name[node]
        end = scope.rfind(SUMMARY_SCOPE)
        found = self.producer(source)
        return found if end < 0 else self.first_op_outside(found, scope[: end + len(SUMMARY_SCOPE)] + "/")

    def first_op_outside(self, node: int, scope: str) -> int:
        """Return the first op outside the scope in which a summary computes buckets and ranges; -1 for none."""
        seen, waiting = {node}, [node]
        for node in waiting:  # breadth first: the list grows during the loop
            node = self.producer(node)
            if not self.graph.name[node].startswith(scope):
                if self.type_of_node(node) not in CONSTANT_OPS:
                    return node
                continue
            fresh = [source for _, source in self.sources_by_slot(node) if source not in seen]
            seen.update(fresh)
            waiting += fresh[: MAX_FOLLOWED_CARRIERS - len(waiting)]
        return -1


JOIN_RULES: tuple[tuple[JoinRule, Callable[[Hierarchy, Sequence[LookedUpTag]], dict[str, RuleMatch]]], ...] = (
    (JoinRule.SUMMARY_OP, _join_by_summary_op),
    (JoinRule.VARIABLE, _join_by_variable),
    (JoinRule.NAME, _join_by_name),
    (JoinRule.PATH, _join_by_path),
    (JoinRule.SCOPE_ABOVE, _join_by_scope_above),
)


def join_tags(hierarchy: Hierarchy, names: Iterable[str]) -> tuple[TagJoin, ...]:
    """Return the join of each tag, in the order of the names, with the rule that made it."""
    waiting = [_parse_tag(name) for name in dict.fromkeys(names)]
    order = {tag.name: number for number, tag in enumerate(waiting)}
    joins: list[TagJoin] = []
    for rule, look_up in JOIN_RULES:
        found = look_up(hierarchy, waiting) if waiting else {}
        joins += [_make_join(tag, rule, found[tag.name]) for tag in waiting if tag.name in found]
        waiting = [tag for tag in waiting if tag.name not in found]
    joins += [TagJoin(tag.name, JoinRule.RUN, aspect=tag.aspect or MeasuredAspect.OTHER) for tag in waiting]
    return tuple(sorted(joins, key=lambda join: order[join.tag]))


def _make_join(tag: LookedUpTag, rule: JoinRule, found: RuleMatch) -> TagJoin:
    """Join a tag with the rows that a rule found. The aspect in the tag's words overrides that of the rows."""
    aspect = tag.aspect or found.aspect or MeasuredAspect.OTHER
    return TagJoin(tag.name, JoinRule.SEVERAL if found.several else rule, found.rows, aspect)
