"""Build the tree of name scopes; an op whose name is also a scope moves into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import partial
from itertools import compress, groupby, repeat
from operator import contains

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.fold.table import HierarchyTree
from graphviz_tb.model.columns import Bools, Ints, Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import ScopeNameBudget, last_segment
from graphviz_tb.options import GroupOptions

MODULE_PORT_OP = "IO Node"  # op type of inputs and outputs of a module in `torch.utils.tensorboard`
INTEGER_NAME = compile_on_use(r"0|[1-9][0-9]*")


@dataclass(slots=True, eq=False)
class GrowingTree:
    """The tree while nodes are read: groups on one side, leaves on the other. Leaves get the ids after all groups.

    The sort key of a leaf is twice its node plus one, that of a scope twice the first node below it.
    """

    ordinary: Bools  # by node, whether it makes scopes: no marks, no inputs and outputs of PyTorch
    scope: Ints  # by node, index into `scopes` of its name up to the last slash
    scopes: list[str | None]
    leaf_parent: Longs  # by node
    functions: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    key: list[int] = field(default_factory=list)
    renamed: dict[int, str] = field(default_factory=dict)  # by node
    leaf_key: dict[int, int] = field(default_factory=dict)  # by node
    longest: int = 0  # letters of the longest name of a scope
    room: ScopeNameBudget = field(default_factory=ScopeNameBudget)

    def add_root(self, name: str, key: int) -> int:
        """Add the root of the main graph or of a function and return its id."""
        self.parent.append(-1)
        self.name.append(name)
        self.key.append(key)
        return len(self.key) - 1

    def to_tree(self, graph: Graph) -> HierarchyTree:
        """Return groups and leaves as one tree."""
        leaves = slice(None) if graph.kept.all() else np.flatnonzero(graph.kept)
        groups, nodes = len(self.key), np.arange(len(graph))
        names, keys = np.array(graph.name, object), 2 * nodes + 1
        names[list(self.renamed)] = list(self.renamed.values())
        keys[list(self.leaf_key)] = list(self.leaf_key.values())
        kind = np.full(groups + len(nodes[leaves]), RowKind.OP, np.uint8)
        kind[:groups] = RowKind.SCOPE
        kind[self.functions] = RowKind.FUNCTION
        return HierarchyTree(
            kind,
            np.concatenate((np.array(self.parent, np.int64), self.leaf_parent[leaves])),
            np.concatenate((np.full(groups, -1), nodes[leaves])),
            np.concatenate((np.array(self.name, object), names[leaves])),
            np.concatenate((np.array(self.key, np.int64), keys[leaves])),
        )


def build_scope_tree(
    graph: Graph, numbered: Iterable[int], moved: Mapping[int, str], options: GroupOptions
) -> tuple[HierarchyTree, list[int], tuple[Notice, ...]]:
    """Return the tree of scopes and ops, the tree id of each function, and notices.

    Before: `numbered` comes from `find_numbered_nodes`; `moved` are the scopes of nodes that differ from their names.
    After: every kept node is a leaf below its scopes; an op `N` that is also a scope is named `N/(last)` inside it;
    marks, and inputs and outputs of PyTorch, are below the nearest existing scope.
    """
    port = graph.op_types.index(MODULE_PORT_OP) if MODULE_PORT_OP in graph.op_types and not options.tensorboard else -1
    ordinary, scopes = (graph.mark == 0) & (graph.op != port), graph.node_scopes
    own_scopes = {node: scope for node, scope in _separate_scopes(graph, numbered) if ordinary[node]}
    own_scopes.update(moved)
    scope = scopes.number.copy()
    scope[list(own_scopes)] = np.arange(len(own_scopes)) + len(scopes.names)
    growing = GrowingTree(ordinary, scope, [*scopes.names, *own_scopes.values()], np.zeros(len(graph), np.int64))
    starts = graph.block_starts()
    for block in range(len(starts) - 1):
        main = block == 0
        name = "" if main else graph.functions[block - 1].name
        # "+ block": a function without nodes starts at the same node as the next one.
        root = growing.add_root(name, 2 * starts[block] + block)
        if not main:
            growing.functions.append(root)
        _add_graph_scopes(growing, graph, root, starts[block], starts[block + 1], options)
    return growing.to_tree(graph), growing.functions, _deep_name_notices(growing.room.cut)


def _deep_name_notices(count: int) -> tuple[Notice, ...]:
    """Return a notice if `count` names were not split into all their segments."""
    if not count:
        return ()
    text = "names are so deep that they are not split to their end: their last parts are kept as one name"
    return (Notice("deep-names", text, count=count),)


def _separate_scopes(graph: Graph, numbered: Iterable[int]) -> Iterator[tuple[int, str | None]]:
    """Yield the nodes whose scope is not their name up to the last slash, with their scope."""
    if "" in graph.node_scopes.names:
        # Scope "" exists once some name has created it.
        yield from ((node, "") for node, name in enumerate(graph.name) if name.rfind("/") == 0)
    for node in numbered:
        around, slash, _ = graph.name[node].rpartition("/")[0].rpartition("/")
        yield node, around if slash else None


def _add_graph_scopes(
    growing: GrowingTree, graph: Graph, root: int, start: int, stop: int, options: GroupOptions
) -> None:
    """Add one graph or function body below `root`."""
    scopes: dict[str, int] = {}
    ordinary = growing.ordinary[start:stop]
    nodes, marks = start + np.flatnonzero(ordinary), start + np.flatnonzero(~ordinary & graph.kept[start:stop])
    parent = _add_node_scopes(growing, scopes, root, nodes)
    if options.tensorboard:
        kept = graph.kept[nodes]  # scopes of dropped nodes stay
        nodes, parent = nodes[kept], parent[kept]
        if start == 0:
            _sort_integer_names_first(growing, graph, nodes[parent == root].tolist())
    is_scope = np.fromiter(map(scopes.__contains__, graph.name[start:stop]), bool, stop - start)
    inside = is_scope[nodes - start]
    parent[inside] = _move_ops_into_scopes(growing, graph, scopes, nodes[inside].tolist(), options)
    growing.leaf_parent[nodes] = parent
    growing.leaf_parent[marks] = _place_marks(growing, graph, scopes, root, marks, is_scope[marks - start], options)


def _add_node_scopes(growing: GrowingTree, scopes: dict[str, int], root: int, nodes: Longs) -> Longs:
    """Add the scopes of some nodes of a block, in file order, and return the scope of each node."""

    def scope_of(node: int, name: str | None) -> int:
        if name is None:
            return root
        found = scopes.get(name)
        return _add_scope(growing, scopes, root, name, 2 * node) if found is None else found

    number = growing.scope[nodes]
    _, first, same_as = np.unique(number, return_index=True, return_inverse=True)
    order, node = np.argsort(first), -1
    found = [root] * len(first)
    some = zip(order.tolist(), nodes[first[order]].tolist(), number[first[order]].tolist(), strict=True)
    for place, node, scope in some:
        found[place] = scope_of(node, growing.scopes[scope])
        if growing.room.cut:
            break
    parent = np.array(found, np.int64)[same_as]
    # Beyond the budget, each name is truncated separately.
    for place in np.flatnonzero(nodes > node).tolist() if growing.room.cut else ():
        parent[place] = scope_of(int(nodes[place]), growing.scopes[number[place]])
    return parent


def _is_type_and_number(name: str, op: str) -> bool:
    """Return whether a name is an op type and a number, as in data pipelines: the op type is not a scope.

    >>> _is_type_and_number("BatchDatasetV2/_9", "BatchDatasetV2"), _is_type_and_number("net/dense/_9", "MatMul")
    (True, False)
    """
    around, _, number = name.rpartition("/_")
    return number.isdigit() and last_segment(around) == op


def find_numbered_nodes(graph: Graph) -> list[int]:
    """Return the nodes named only by op type and number."""
    nodes = compress(range(len(graph)), map(contains, graph.name, repeat("/_")))
    return [node for node in nodes if _is_type_and_number(graph.name[node], graph.op_types[graph.op[node]])]


def _add_scope(growing: GrowingTree, scopes: dict[str, int], root: int, name: str, key: int) -> int:
    """Add scope `name` and missing scopes around it, outermost first."""
    name = growing.room.truncate(name)
    if name in scopes or not name:
        return scopes.get(name, root)
    # From the inside out to the first known scope, or else the root.
    missing, cut = [name], name.rfind("/")
    while cut >= 0 and (around := name[:cut]) not in scopes:
        missing.append(around)
        cut = name.rfind("/", 0, cut)
    parent = scopes[around] if cut >= 0 else root
    if len(name) > growing.longest:
        growing.longest = len(name)
    growing.room.spend(name, missing)
    for scope in reversed(missing):
        growing.parent.append(parent)
        growing.name.append(scope)
        parent = scopes[scope] = len(growing.key)
        growing.key.append(key)
    return parent


def _sort_integer_names_first(growing: GrowingTree, graph: Graph, nodes: list[int]) -> None:
    """Sort nodes with names like "7" before all other nodes, ascending, as TensorBoard does."""
    whole = [node for node in nodes if INTEGER_NAME.fullmatch(graph.name[node])]
    # No name begins with 0, so more digits mean a larger number.
    whole.sort(key=lambda node: (len(graph.name[node]), graph.name[node]))
    # Keys of all other nodes are 0 or more.
    growing.leaf_key.update(zip(whole, range(-len(whole), 0), strict=True))


def _strict_name(name: str) -> str:
    """Return the name of an op inside the scope of the same name.

    >>> _strict_name("a/foo")
    'a/foo/(foo)'
    """
    return f"{name}/({last_segment(name)})"


def _move_ops_into_scopes(
    growing: GrowingTree, graph: Graph, scopes: dict[str, int], nodes: list[int], options: GroupOptions
) -> list[int]:
    """Rename ops that are also scopes to their strict names, move their scopes forward, and return these scopes.

    A name that is taken gets further brackets, except in TensorBoard's preset.
    """
    index = graph.index[int(graph.function[nodes[0]]) + 1] if nodes else {}
    for node in nodes:
        name = graph.name[node]
        strict, brackets = _strict_name(name), 1
        while not options.tensorboard and (strict in index or strict in scopes):
            brackets += 1
            strict = f"{name}/{'(' * brackets}{last_segment(name)}{')' * brackets}"
        growing.renamed[node] = strict
        scope = scopes[name]
        # This op may come before all other ops of the scope.
        while growing.parent[scope] >= 0 and growing.key[scope] > 2 * node:
            growing.key[scope] = 2 * node
            scope = growing.parent[scope]
    return [scopes[graph.name[node]] for node in nodes]


def _place_marks(
    growing: GrowingTree,
    graph: Graph,
    scopes: dict[str, int],
    root: int,
    marks: Longs,
    is_scope: Bools,
    options: GroupOptions,
) -> Longs:
    """Put constants, summaries and ports below the nearest scope of their name, and return these scopes."""
    lengths = set(map(len, scopes)) if len(marks) else set()  # few look-ups even for names made of slashes
    longest = growing.longest + 1  # no scope has a longer name

    def nearest(name: str | None) -> int:
        if name is None:
            return root
        found, cut = scopes.get(name), name.rfind("/", 0, longest)
        while found is None and cut >= 0:
            if cut in lengths:
                found = scopes.get(name[:cut])
            cut = name.rfind("/", 0, cut)
        return root if found is None else found

    number, same_as = np.unique(growing.scope[marks], return_inverse=True)
    parent = np.array([nearest(growing.scopes[each]) for each in number.tolist()], np.int64)[same_as]
    # A mark with the name of a scope goes into it.
    skipped = (
        _scopes_unseen_by_tensorboard(graph, marks.tolist()) if options.tensorboard and len(marks) else frozenset()
    )
    for place in np.flatnonzero(is_scope).tolist():
        node = int(marks[place])
        if (name := graph.name[node]) not in skipped:
            growing.renamed[node], parent[place] = _strict_name(name), scopes[name]
    return parent


def _scopes_unseen_by_tensorboard(graph: Graph, marks: list[int]) -> frozenset[str]:
    """Return the scopes that TensorBoard overlooks when it names marks: its search stops before the last name.

    Names are ordered by UTF-16 code units; those of function bodies have their prefix.
    """
    nodes = np.flatnonzero((graph.mark == 0) & graph.kept).tolist()
    if not nodes:
        return frozenset()
    full = partial(_tensorboard_name, graph)
    # Full names repeat the name of the function, so they are built only for the last node of each body.
    bodies = groupby(nodes, key=graph.function.__getitem__)
    last = max((full(max(body, key=lambda node: _utf_16_key(graph.name[node]))) for _, body in bodies), key=_utf_16_key)
    # From the outside in: a name in a scope is also in the scopes around it.
    scopes = sorted({name for name in map(full, marks) if last.startswith(f"{name}/")}, key=len)
    seen = 0
    for name in map(full, nodes):
        if seen == len(scopes):
            break
        while name != last and seen < len(scopes) and name.startswith(f"{scopes[seen]}/"):
            seen += 1
    return frozenset(scopes[seen:])


def _utf_16_key(name: str) -> bytes:
    """Return the key by which JavaScript compares strings."""
    return name.encode("utf-16-be", "surrogatepass")


def _tensorboard_name(graph: Graph, node: int) -> str:
    """Return a node's name as in TensorBoard: function bodies under `__function_library__` and the function's name."""
    function = int(graph.function[node])
    prefix = "" if function < 0 else f"__function_library__{graph.functions[function].name}/"
    return prefix + graph.name[node]
