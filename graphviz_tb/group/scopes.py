"""Name scopes become a tree; an op whose name is also a scope moves into it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

import numpy as np

from graphviz_tb.group.tree import Tree
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.room import ScopeNameBudget
from graphviz_tb.options import GroupOptions

PORT = "IO Node"  # the op type that `torch.utils.tensorboard` gives to inputs and outputs of a module
INTEGER = re.compile(r"0|[1-9][0-9]*")


@dataclass(slots=True, eq=False)
class Growing:
    """The tree while nodes are read: groups on one side, leaves on the other. Leaves get the ids after all groups.

    A leaf's order among its siblings is twice its node plus one, a scope's twice the first node below it.
    """

    functions: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    key: list[int] = field(default_factory=list)
    leaf_parent: list[int] = field(default_factory=list)
    leaf_node: list[int] = field(default_factory=list)
    renamed: dict[int, str] = field(default_factory=dict)
    leaf_key: dict[int, int] = field(default_factory=dict)
    port: int = -1  # the op type of PyTorch's inputs and outputs, looked up once
    longest: int = 0  # letters of the longest name of a scope
    room: ScopeNameBudget = field(default_factory=ScopeNameBudget)

    def root(self, name: str, key: int) -> int:
        """Add the root of the main graph or of a function and give back its id."""
        self.parent.append(-1)
        self.name.append(name)
        self.key.append(key)
        return len(self.key) - 1

    def tree(self, graph: Graph) -> Tree:
        """All of it as one tree."""
        groups, leaves = len(self.key), len(self.leaf_node)
        kind = np.full(groups + leaves, RowKind.OP, np.uint8)
        kind[:groups] = RowKind.SCOPE
        kind[self.functions] = RowKind.FUNCTION
        nodes = np.array(self.leaf_node, np.int64)
        names = np.empty(groups + leaves, object)
        names[:groups] = self.name
        names[groups:] = list(map(graph.name.__getitem__, self.leaf_node))
        names[[groups + leaf for leaf in self.renamed]] = list(self.renamed.values())
        keys = np.concatenate((np.array(self.key, np.int64), 2 * nodes + 1))
        keys[[groups + leaf for leaf in self.leaf_key]] = list(self.leaf_key.values())
        return Tree(
            kind,
            np.concatenate((np.array(self.parent, np.int64), np.array(self.leaf_parent, np.int64))),
            np.concatenate((np.full(groups, -1), nodes)),
            names,
            keys,
        )


def build_scopes(graph: Graph, options: GroupOptions) -> tuple[Tree, list[int], tuple[Notice, ...]]:
    """The tree of scopes and ops, the tree id of each function, and what was odd.

    Before: names. After: every kept node is a leaf below the scopes of its name; op N that is also a scope is named
    `N/(last)` inside it; marks and the inputs and outputs of PyTorch make no scopes, they hang below the nearest one
    that exists.
    """
    growing = Growing()
    if PORT in graph.op_types and not options.tensorboard:
        growing.port = graph.op_types.index(PORT)
    starts = block_starts(graph)
    for block in range(len(starts) - 1):
        main = block == 0
        name = "" if main else graph.functions[block - 1].name
        # "+ block", as a function without nodes starts where the next one does.
        root = growing.root(name, 2 * starts[block] + block)
        if not main:
            growing.functions.append(root)
        add_block(growing, graph, root, starts[block], starts[block + 1], options)
    return growing.tree(graph), growing.functions, too_deep(growing.room.cut)


def too_deep(count: int) -> tuple[Notice, ...]:
    """Return a notice if some names are in fewer scopes than they have segments; `count` is how many."""
    if not count:
        return ()
    text = "names are so deep that they are not split to their end: their last parts are kept as one name"
    return (Notice("deep-names", text, count=count),)


def block_starts(graph: Graph) -> list[int]:
    """Where the main graph and each function body start among the nodes, with the end."""
    # `graph.function` is sorted: -1 in the main graph, then 0, 1, … in the bodies.
    cuts: list[int] = np.searchsorted(graph.function, np.arange(-1, len(graph.functions) + 1)).tolist()
    return [0, *cuts[1:]]


def add_block(growing: Growing, graph: Graph, root: int, start: int, stop: int, options: GroupOptions) -> None:
    """Add one graph or function body below `root`."""
    scopes: dict[str, int] = {}
    names = graph.name
    first = len(growing.leaf_node)
    ordinary = (start + np.flatnonzero((graph.mark[start:stop] == 0) & ~is_port(growing, graph, start, stop))).tolist()
    add_parent, find = growing.leaf_parent.append, scopes.get  # bound once: the loop runs over every node of a file
    for node in ordinary:
        name = names[node]
        cut = name.rfind("/")
        if cut < 0:
            add_parent(root)
            continue
        if (
            name.startswith("_", cut + 1)
            and not options.tensorboard
            and is_numbered(name, graph.op_types[graph.op[node]])
        ):
            cut = name.rfind("/", 0, cut)
            if cut < 0:
                add_parent(root)
                continue
        # Most nodes are in a scope that is known: one look-up each.
        parent = find(name[:cut])
        add_parent(add_scope(growing, scopes, root, name[:cut], 2 * node) if parent is None else parent)
    growing.leaf_node.extend(ordinary)
    if options.tensorboard:
        drop_unkept(growing, graph, first)
        if start == 0:
            integers_first(growing, graph, first, root)
    if scopes:
        move_into_scopes(growing, graph, scopes, first, options)
    add_marks(growing, graph, scopes, root, start, stop, options)


def is_numbered(name: str, op: str) -> bool:
    """Whether a name is but the type of its op and a number, as TensorFlow writes them in a data pipeline: the part
    before the number is no scope.

    >>> is_numbered("BatchDatasetV2/_9", "BatchDatasetV2"), is_numbered("net/dense/_9", "MatMul")
    (True, False)
    """
    around, _, number = name.rpartition("/_")
    return number.isdigit() and last_segment(around) == op


def add_scope(growing: Growing, scopes: dict[str, int], root: int, name: str, key: int) -> int:
    """Add scope `name` and those around it that are missing, outermost first."""
    name = growing.room.within(name)
    if name in scopes or not name:
        return scopes.get(name, root)
    # From the inside out to the first scope that is known; "" where none is, which is the root.
    missing = []
    parent = None
    around = name
    while parent is None:
        missing.append(around)
        cut = around.rfind("/")
        around = around[: max(cut, 0)]
        parent = scopes.get(around) if cut >= 0 else root
    if len(name) > growing.longest:
        growing.longest = len(name)
    growing.room.take(name, missing)
    for scope in reversed(missing):
        growing.parent.append(parent)
        growing.name.append(scope)
        parent = scopes[scope] = len(growing.key)
        growing.key.append(key)
    return parent


def drop_unkept(growing: Growing, graph: Graph, first: int) -> None:
    """Take out the leaves of nodes that are left out; the scopes they made stay."""
    kept = [leaf for leaf in range(first, len(growing.leaf_node)) if graph.kept[growing.leaf_node[leaf]]]
    growing.leaf_parent[first:] = [growing.leaf_parent[leaf] for leaf in kept]
    growing.leaf_node[first:] = [growing.leaf_node[leaf] for leaf in kept]


def integers_first(growing: Growing, graph: Graph, first: int, root: int) -> None:
    """Names like "7" come before all others, in ascending order, wherever TensorBoard keeps an order."""
    names = {leaf: graph.name[growing.leaf_node[leaf]] for leaf in range(first, len(growing.leaf_node))}
    whole = [leaf for leaf in names if growing.leaf_parent[leaf] == root and INTEGER.fullmatch(names[leaf])]
    # More digits are a larger number, however many there are: none begins with 0.
    whole.sort(key=lambda leaf: (len(names[leaf]), names[leaf]))
    # Keys of all others are 0 or more.
    growing.leaf_key.update(zip(whole, range(-len(whole), 0), strict=True))


def strict_name(name: str) -> str:
    """The name of an op inside the scope of the same name.

    >>> strict_name("a/foo")
    'a/foo/(foo)'
    """
    return f"{name}/({last_segment(name)})"


def move_into_scopes(growing: Growing, graph: Graph, scopes: dict[str, int], first: int, options: GroupOptions) -> None:
    """Give ops that are also scopes their strict name and place; with one more pair of brackets where a scope or a
    node has that name, which TensorBoard does not ask."""
    nodes = growing.leaf_node
    if first == len(nodes):
        return
    index = graph.index[int(graph.function[nodes[first]]) + 1]
    for leaf in leaves_that_are_scopes(growing, graph, scopes, first, index):
        name = graph.name[nodes[leaf]]
        strict, brackets = strict_name(name), 1
        while not options.tensorboard and (strict in index or strict in scopes):
            brackets += 1
            strict = f"{name}/{'(' * brackets}{last_segment(name)}{')' * brackets}"
        growing.renamed[leaf] = strict
        scope = growing.leaf_parent[leaf] = scopes[name]
        # A scope comes where its first node does, and this op may come before all others in it.
        while growing.parent[scope] >= 0 and growing.key[scope] > 2 * nodes[leaf]:
            growing.key[scope] = 2 * nodes[leaf]
            scope = growing.parent[scope]


def leaves_that_are_scopes(
    growing: Growing, graph: Graph, scopes: dict[str, int], first: int, index: Mapping[str, int]
) -> list[int]:
    """Leaves whose name is a scope: few, so the scopes are looked up among the names where each occurs once."""
    nodes = growing.leaf_node
    names = graph.name
    # `index` has one node for each name: where names repeat, it would miss some.
    if len(index) == int((graph.function == graph.function[nodes[first]]).sum()):
        known = np.zeros(len(graph), bool)
        known[[index[scope] for scope in index.keys() & scopes.keys()]] = True
        leaves: list[int] = (first + np.flatnonzero(known[nodes[first:]])).tolist()
        return leaves
    return [leaf for leaf in range(first, len(nodes)) if names[nodes[leaf]] in scopes]


def add_marks(
    growing: Growing, graph: Graph, scopes: dict[str, int], root: int, start: int, stop: int, options: GroupOptions
) -> None:
    """Hang constants, summaries and ports below the nearest scope of their name."""
    hung = ((graph.mark[start:stop] > 0) & graph.kept[start:stop]) | is_port(growing, graph, start, stop)
    marks = (start + np.flatnonzero(hung)).tolist()
    # Last of all: marks hang below scopes that ordinary nodes made.
    skipped = unseen_scopes(graph, marks) if options.tensorboard and marks else frozenset()
    names, add_parent, find = graph.name, growing.leaf_parent.append, scopes.get
    lengths = set(map(len, scopes)) if marks else set()  # of a name of nothing but slashes few parts are looked up
    longest = growing.longest + 1  # no scope has a longer name: slashes beyond need no look-up
    for leaf, node in enumerate(marks, len(growing.leaf_node)):
        name = names[node]
        parent = find(name)
        if parent is not None and name not in skipped:
            growing.renamed[leaf] = strict_name(name)
        else:
            cut, parent = name.rfind("/", 0, longest), None
            while cut >= 0 and (cut not in lengths or (parent := find(name[:cut])) is None):
                cut = name.rfind("/", 0, cut)
        add_parent(root if parent is None else parent)
    growing.leaf_node.extend(marks)


def is_port(growing: Growing, graph: Graph, start: int, stop: int) -> Bools:
    """Which ops are the module's own inputs and outputs, that PyTorch names "input/x" and "output/output.1".

    TensorBoard knows none.
    """
    ports: Bools = graph.op[start:stop] == growing.port
    ports &= graph.mark[start:stop] == 0
    return ports


def unseen_scopes(graph: Graph, marks: list[int]) -> frozenset[str]:
    """Scopes that TensorBoard does not count as such when it names marks: it stops one short of the last name.

    Names are ordered by UTF-16 code units, function bodies under their prefix.
    """
    nodes = np.flatnonzero((graph.mark == 0) & graph.kept).tolist()
    if not nodes:
        return frozenset()
    full = partial(full_name, graph)
    # The last of each body by its own name: thousands of full names would each hold that of the function.
    bodies = groupby(nodes, key=graph.function.__getitem__)
    last = max((full(max(body, key=lambda node: utf_16(graph.name[node]))) for _, body in bodies), key=utf_16)
    # From the outside in: a name in a scope is also in the scopes around it.
    scopes = sorted({name for name in map(full, marks) if last.startswith(f"{name}/")}, key=len)
    seen = 0
    for name in map(full, nodes):
        if seen == len(scopes):
            break
        while name != last and seen < len(scopes) and name.startswith(f"{scopes[seen]}/"):
            seen += 1
    return frozenset(scopes[seen:])


def utf_16(name: str) -> bytes:
    """Return the key by which JavaScript compares strings."""
    return name.encode("utf-16-be", "surrogatepass")


def full_name(graph: Graph, node: int) -> str:
    """A node's name as TensorBoard has it: function bodies under `__function_library__` and the function's name."""
    function = int(graph.function[node])
    prefix = "" if function < 0 else f"__function_library__{graph.functions[function].name}/"
    return prefix + graph.name[node]
