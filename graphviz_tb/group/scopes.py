"""Name scopes become a tree; an op whose name is also a scope moves into it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import compress, groupby, repeat
from operator import contains

import numpy as np

from graphviz_tb.group.tree import Tree
from graphviz_tb.model.columns import Bools, Ints, Longs
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

    ordinary: Bools  # by node, whether it makes scopes: no mark, none of PyTorch's inputs and outputs
    scope: Ints  # by node, the place in `scopes` of its name before a slash; equal where one look-up is enough
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

    def root(self, name: str, key: int) -> int:
        """Add the root of the main graph or of a function and give back its id."""
        self.parent.append(-1)
        self.name.append(name)
        self.key.append(key)
        return len(self.key) - 1

    def tree(self, graph: Graph) -> Tree:
        """All of it as one tree."""
        leaves = slice(None) if graph.kept.all() else np.flatnonzero(graph.kept)
        groups, nodes = len(self.key), np.arange(len(graph))
        names, keys = np.array(graph.name, object), 2 * nodes + 1
        names[list(self.renamed)] = list(self.renamed.values())
        keys[list(self.leaf_key)] = list(self.leaf_key.values())
        kind = np.full(groups + len(nodes[leaves]), RowKind.OP, np.uint8)
        kind[:groups] = RowKind.SCOPE
        kind[self.functions] = RowKind.FUNCTION
        return Tree(
            kind,
            np.concatenate((np.array(self.parent, np.int64), self.leaf_parent[leaves])),
            np.concatenate((np.full(groups, -1), nodes[leaves])),
            np.concatenate((np.array(self.name, object), names[leaves])),
            np.concatenate((np.array(self.key, np.int64), keys[leaves])),
        )


def build_scopes(
    graph: Graph, numbered: Iterable[int], options: GroupOptions
) -> tuple[Tree, list[int], tuple[Notice, ...]]:
    """The tree of scopes and ops, the tree id of each function, and what was odd.

    Before: names, and which nodes are `numbered_nodes`. After: every kept node is a leaf below the scopes of its name;
    op N that is also a scope is named `N/(last)` inside it; marks and the inputs and outputs of PyTorch make no scopes,
    they hang below the nearest one that exists.
    """
    port = graph.op_types.index(PORT) if PORT in graph.op_types and not options.tensorboard else -1
    ordinary, scopes = (graph.mark == 0) & (graph.op != port), graph.scopes
    alone = {node: scope for node, scope in looked_up_alone(graph, numbered) if ordinary[node]}
    scope = scopes.number.copy()
    scope[list(alone)] = np.arange(len(alone)) + len(scopes.names)
    growing = Growing(ordinary, scope, [*scopes.names, *alone.values()], np.zeros(len(graph), np.int64))
    starts = graph.block_starts()
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


def looked_up_alone(graph: Graph, numbered: Iterable[int]) -> Iterator[tuple[int, str | None]]:
    """The nodes whose scope others with equal names before the last slash need not have, and that scope."""
    if "" in graph.scopes.names:
        # In scope "" from where on another name has made that.
        yield from ((node, "") for node, name in enumerate(graph.name) if name.rfind("/") == 0)
    for node in numbered:
        around, slash, _ = graph.name[node].rpartition("/")[0].rpartition("/")
        yield node, around if slash else None


def add_block(growing: Growing, graph: Graph, root: int, start: int, stop: int, options: GroupOptions) -> None:
    """Add one graph or function body below `root`."""
    scopes: dict[str, int] = {}
    ordinary = growing.ordinary[start:stop]
    nodes, marks = start + np.flatnonzero(ordinary), start + np.flatnonzero(~ordinary & graph.kept[start:stop])
    parent = add_scopes(growing, scopes, root, nodes)
    if options.tensorboard:
        kept = graph.kept[nodes]  # the scopes that others made stay
        nodes, parent = nodes[kept], parent[kept]
        if start == 0:
            integers_first(growing, graph, nodes[parent == root].tolist())
    is_scope = np.fromiter(map(scopes.__contains__, graph.name[start:stop]), bool, stop - start)
    inside = is_scope[nodes - start]
    parent[inside] = move_into_scopes(growing, graph, scopes, nodes[inside].tolist(), options)
    growing.leaf_parent[nodes] = parent
    growing.leaf_parent[marks] = add_marks(growing, graph, scopes, root, marks, is_scope[marks - start], options)


def add_scopes(growing: Growing, scopes: dict[str, int], root: int, nodes: Longs) -> Longs:
    """Add the scopes of some nodes of a block, in the order of the file, and give back that of each node."""

    def scope_of(node: int, name: str | None) -> int:
        if name is None:
            return root
        found = scopes.get(name)
        return add_scope(growing, scopes, root, name, 2 * node) if found is None else found

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
    # What there is no room for is cut anew at each node.
    for place in np.flatnonzero(nodes > node).tolist() if growing.room.cut else ():
        parent[place] = scope_of(int(nodes[place]), growing.scopes[number[place]])
    return parent


def is_numbered(name: str, op: str) -> bool:
    """Whether a name is but the type of its op and a number, as TensorFlow writes them in a data pipeline: the part
    before the number is no scope.

    >>> is_numbered("BatchDatasetV2/_9", "BatchDatasetV2"), is_numbered("net/dense/_9", "MatMul")
    (True, False)
    """
    around, _, number = name.rpartition("/_")
    return number.isdigit() and last_segment(around) == op


def numbered_nodes(graph: Graph) -> list[int]:
    """The nodes whose names are but the types of their ops and numbers."""
    nodes = compress(range(len(graph)), map(contains, graph.name, repeat("/_")))
    return [node for node in nodes if is_numbered(graph.name[node], graph.op_types[graph.op[node]])]


def add_scope(growing: Growing, scopes: dict[str, int], root: int, name: str, key: int) -> int:
    """Add scope `name` and those around it that are missing, outermost first."""
    name = growing.room.within(name)
    if name in scopes or not name:
        return scopes.get(name, root)
    # From the inside out to the first scope that is known; "" where none is, which is the root.
    missing, cut = [name], name.rfind("/")
    while cut >= 0 and (around := name[:cut]) not in scopes:
        missing.append(around)
        cut = name.rfind("/", 0, cut)
    parent = scopes[around] if cut >= 0 else root
    if len(name) > growing.longest:
        growing.longest = len(name)
    growing.room.take(name, missing)
    for scope in reversed(missing):
        growing.parent.append(parent)
        growing.name.append(scope)
        parent = scopes[scope] = len(growing.key)
        growing.key.append(key)
    return parent


def integers_first(growing: Growing, graph: Graph, nodes: list[int]) -> None:
    """Of some nodes, those with names like "7" come before all others, in ascending order, wherever TensorBoard keeps
    an order."""
    whole = [node for node in nodes if INTEGER.fullmatch(graph.name[node])]
    # More digits are a larger number, however many there are: none begins with 0.
    whole.sort(key=lambda node: (len(graph.name[node]), graph.name[node]))
    # Keys of all others are 0 or more.
    growing.leaf_key.update(zip(whole, range(-len(whole), 0), strict=True))


def strict_name(name: str) -> str:
    """The name of an op inside the scope of the same name.

    >>> strict_name("a/foo")
    'a/foo/(foo)'
    """
    return f"{name}/({last_segment(name)})"


def move_into_scopes(
    growing: Growing, graph: Graph, scopes: dict[str, int], nodes: list[int], options: GroupOptions
) -> list[int]:
    """Give ops that are also scopes their strict name; with one more pair of brackets where a scope or a node has that
    name, which TensorBoard does not ask. Give back their scopes, which come where the first node in them does."""
    index = graph.index[int(graph.function[nodes[0]]) + 1] if nodes else {}
    for node in nodes:
        name = graph.name[node]
        strict, brackets = strict_name(name), 1
        while not options.tensorboard and (strict in index or strict in scopes):
            brackets += 1
            strict = f"{name}/{'(' * brackets}{last_segment(name)}{')' * brackets}"
        growing.renamed[node] = strict
        scope = scopes[name]
        # This op may come before all others in it.
        while growing.parent[scope] >= 0 and growing.key[scope] > 2 * node:
            growing.key[scope] = 2 * node
            scope = growing.parent[scope]
    return [scopes[graph.name[node]] for node in nodes]


def add_marks(
    growing: Growing,
    graph: Graph,
    scopes: dict[str, int],
    root: int,
    marks: Longs,
    is_scope: Bools,
    options: GroupOptions,
) -> Longs:
    """Hang constants, summaries and ports below the nearest scope of their name, and give back those."""
    lengths = set(map(len, scopes)) if len(marks) else set()  # of a name of nothing but slashes few parts are looked up
    longest = growing.longest + 1  # no scope has a longer name: slashes beyond need no look-up

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
    # Last of all: marks hang below scopes that ordinary nodes made.
    skipped = unseen_scopes(graph, marks.tolist()) if options.tensorboard and len(marks) else frozenset()
    for place in np.flatnonzero(is_scope).tolist():
        node = int(marks[place])
        if (name := graph.name[node]) not in skipped:
            growing.renamed[node], parent[place] = strict_name(name), scopes[name]
    return parent


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
