"""Name scopes become a tree; an op whose name is also a scope moves into it."""

from __future__ import annotations

from graphviz_tb.group.tree import Tree
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import Kind
from graphviz_tb.options import GroupOptions


def build_scopes(graph: Graph, options: GroupOptions) -> tuple[Tree, list[int]]:
    """The tree of scopes and ops, and the tree id of each function.

    Before: names. After: every kept node is a leaf below the scopes of its name; op N that is also a scope is named
    `N/(last)` inside it; marks make no scopes, they hang below the nearest one that exists.
    """
    tree = Tree()
    functions: list[int] = []
    sizes = block_starts(graph)
    for block in range(len(sizes) - 1):
        name = "" if block == 0 else graph.functions[block - 1].name
        root = tree.add(Kind.SCOPE if block == 0 else Kind.FUNCTION, -1, name)
        if block:
            functions.append(root)
        add_block(tree, graph, root, sizes[block], sizes[block + 1], options)
    return tree, functions


def block_starts(graph: Graph) -> list[int]:
    """Where the main graph and each function body start among the nodes, with the end."""
    import numpy as np

    cuts = np.searchsorted(graph.function, np.arange(-1, len(graph.functions) + 1)).tolist()
    return [0, *cuts[1:]]


def add_block(tree: Tree, graph: Graph, root: int, start: int, stop: int, options: GroupOptions) -> None:
    """Add one graph or function body below `root`."""
    scopes: dict[str, int] = {}
    names = graph.name
    mark, kept = graph.mark.tolist(), graph.kept.tolist()
    first = len(tree)
    for node in range(start, stop):
        if mark[node]:
            continue
        name = names[node]
        cut = name.rfind("/")
        parent = root
        if cut >= 0:
            found = scopes.get(name[:cut])
            parent = add_scope(tree, scopes, root, name[:cut]) if found is None else found
        if kept[node]:
            tree.add(Kind.OP, parent, name, node)
    if options.tensorboard and block_is_main(graph, start):
        integers_first(tree, first, root)
    if scopes:
        move_into_scopes(tree, scopes, first)
    add_marks(tree, graph, scopes, root, start, stop, options)


def block_is_main(graph: Graph, start: int) -> bool:
    """Whether nodes from `start` on belong to the main graph."""
    return start < len(graph) and int(graph.function[start]) < 0


def integers_first(tree: Tree, first: int, root: int) -> None:
    """Names like "7" stand before all others, in ascending order, wherever TensorBoard keeps an order."""
    for row in range(first, len(tree)):
        name = tree.name[row]
        if tree.parent[row] == root and name.isascii() and name.isdigit() and str(int(name)) == name:
            tree.key[row] = int(name) - 2**40


def add_scope(tree: Tree, scopes: dict[str, int], root: int, name: str) -> int:
    """Add scope `name` and those around it that are missing, outermost first."""
    missing = [name]
    while True:
        cut = missing[-1].rfind("/")
        if cut < 0:
            parent = root
            break
        around = missing[-1][:cut]
        if around in scopes:
            parent = scopes[around]
            break
        missing.append(around)
    for scope in reversed(missing):
        parent = scopes[scope] = tree.add(Kind.SCOPE, parent, scope)
    return parent


def strict_name(name: str) -> str:
    """The name of an op inside the scope of the same name.

    >>> strict_name("a/foo")
    'a/foo/(foo)'
    """
    return f"{name}/({name.rsplit('/', 1)[-1]})"


def move_into_scopes(tree: Tree, scopes: dict[str, int], first: int) -> None:
    """Give ops that are also scopes their strict name and place."""
    for row in range(first, len(tree)):
        if tree.node[row] >= 0 and (scope := scopes.get(tree.name[row])) is not None:
            tree.name[row] = strict_name(tree.name[row])
            tree.parent[row] = scope
            while scope >= 0 and tree.parent[scope] >= 0 and tree.key[scope] > row:
                tree.key[scope] = row
                scope = tree.parent[scope]


def add_marks(
    tree: Tree, graph: Graph, scopes: dict[str, int], root: int, start: int, stop: int, options: GroupOptions
) -> None:
    """Hang constants and summaries below the nearest scope of their name."""
    mark, kept = graph.mark[start:stop].tolist(), graph.kept[start:stop].tolist()
    marks = [start + at for at in range(stop - start) if mark[at] and kept[at]]
    skipped = unseen_scopes(graph, marks) if options.tensorboard and marks else frozenset()
    for node in marks:
        name = graph.name[node]
        if name in scopes and name not in skipped:
            tree.add(Kind.OP, scopes[name], strict_name(name), node)
            continue
        around, cut = name, name.rfind("/")
        while cut >= 0 and (around := around[:cut]) not in scopes:
            cut = around.rfind("/")
        tree.add(Kind.OP, scopes[around] if cut >= 0 else root, name, node)


def unseen_scopes(graph: Graph, marks: list[int]) -> frozenset[str]:
    """Scopes that TensorBoard does not count as such when it names marks: it stops one short of the last name.

    Names are ordered by UTF-16 code units, function bodies under their prefix.
    """
    names = [full_name(graph, node) for node in range(len(graph)) if not graph.mark[node] and graph.kept[node]]
    if not names:
        return frozenset()
    last = max(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    wanted = {full_name(graph, node) for node in marks}
    around = {last[:at] for at, char in enumerate(last) if char == "/"} & wanted
    return frozenset(
        scope for scope in around if not any(name.startswith(scope + "/") for name in names if name != last)
    )


def full_name(graph: Graph, node: int) -> str:
    """A node's name as TensorBoard has it: function bodies under `__function_library__` and the function's name."""
    function = int(graph.function[node])
    prefix = "" if function < 0 else f"__function_library__{graph.functions[function].name}/"
    return prefix + graph.name[node]
