"""The tree of raw name scopes, constants like all other nodes: rows in preorder, nodes filed by their scope."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.caches import MAX_SCOPE_NAME_LETTERS, ScopeNameBudget
from graphviz_tb.diff.columns.hashing import Hashes, digest, mixed, run_sums, sums_by
from graphviz_tb.graphs.rows import Preorder, number_tree
from graphviz_tb.interpret.pytorch import module_attribute
from graphviz_tb.model.columns import Bools, Ints, Longs, int32_column
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.paths import last_segment

# Of the polynomial that hashes paths: odd, or its powers would end in 0 modulo 2^64.
BASE = np.uint64(0x9E6C63D0676A9A99)


@dataclass(frozen=True, slots=True, eq=False)
class Scopes:
    """One row a scope; `roots[b]` is the row of block b (0 the main graph, then each function).

    `parent`, `end`, `depth`, `name`, `leaf` by row; `of_node` the row that holds each node, `node_leaf` the last
    segment of its name (of a module of PyTorch only the attribute, by which modules are matched: another class may be
    there); `node_order` nodes sorted by row, `node_start` where the nodes of each row start: all nodes under row r are
    `node_order[node_start[r]:node_start[end[r]]]`. `path` and `node_path` are polynomial hashes of the names, so that
    the name below any scope has a hash too.
    """

    parent: Ints
    end: Ints
    depth: Ints
    block: Ints
    roots: tuple[int, ...]
    name: list[str]
    leaf: list[str]
    of_node: Ints
    node_leaf: list[str]
    node_order: Ints
    node_start: Longs
    path: Hashes
    node_path: Hashes
    leaf_hash: Hashes
    node_leaf_hash: Hashes

    def __len__(self) -> int:
        return len(self.parent)

    def nodes(self, row: int) -> Ints:
        """All nodes under a row."""
        nodes: Ints = self.node_order[self.node_start[row] : self.node_start[self.end[row]]]
        return nodes

    def own_nodes(self, row: int) -> Ints:
        """The nodes directly in a row."""
        nodes: Ints = self.node_order[self.node_start[row] : self.node_start[row + 1]]
        return nodes

    def size(self, row: int) -> int:
        """How many nodes lie under a row."""
        return int(self.node_start[self.end[row]] - self.node_start[row])

    def sizes(self) -> Longs:
        """The size of every row."""
        sizes: Longs = self.node_start[self.end] - self.node_start[:-1]
        return sizes

    def children(self, row: int) -> list[int]:
        """The scopes directly in a row."""
        rows, child, end = [], row + 1, int(self.end[row])
        while child < end:
            rows.append(child)
            child = int(self.end[child])
        return rows

    def around(self, rows: Ints) -> Ints:
        """Some scopes and all that they are in, each once."""
        found: set[int] = set()
        for row in rows.tolist():
            # What is around a scope that was found was found with it.
            while row >= 0 and row not in found:
                found.add(row)
                row = int(self.parent[row])
        return np.fromiter(found, np.int32, len(found))

    def is_under(self, row: int, nodes: Ints) -> Bools:
        """Which nodes lie under a row."""
        rows = self.of_node[nodes]
        under: Bools = (row <= rows) & (rows < self.end[row])
        return under

    def below(self, row: int, nodes: Ints) -> Hashes:
        """Hashes of the names that `nodes` have below `row`."""
        # node_path = path[row] * BASE^k + hash of the name below `row`, for a node k levels below.
        power = powers(self.depth[self.of_node[nodes]] - self.depth[row] + 1)
        hashes: Hashes = self.node_path[nodes] - self.path[row] * power
        return hashes

    def scopes_below(self, row: int) -> tuple[NDArray[np.int64], Hashes]:
        """The scopes under `row`, and hashes of the names they have below it."""
        rows = np.arange(row + 1, int(self.end[row]))
        return rows, self.path[rows] - self.path[row] * powers(self.depth[rows] - self.depth[row])

    def up_sums(self, of_nodes: Hashes) -> Hashes:
        """For each row the sum over all nodes under it."""
        return run_sums(of_nodes[self.node_order], self.node_start[:-1], self.node_start[self.end])


def powers(exponents: NDArray[np.int32]) -> Hashes:
    """`BASE` to many powers, modulo 2^64."""
    return np.power(BASE, exponents.astype(np.uint64))


@dataclass(slots=True, eq=False)
class ScopeTree:
    """Growing columns: `parent` (-1 for roots; always an earlier id) and `name`."""

    parent: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)

    def add(self, parent: int, name: str) -> int:
        """Append one scope and give back its id."""
        self.parent.append(parent)
        self.name.append(name)
        return len(self.parent) - 1


def build_scopes(graph: Graph) -> Scopes:
    """The scopes of all names, however deep. Nothing recurses."""
    tree, room = ScopeTree(), ScopeNameBudget(MAX_SCOPE_NAME_LETTERS // 4)  # two graphs, and the picture of both
    roots: list[int] = []
    of_node: list[int] = []
    leaves: list[str] = []
    cuts = graph.block_starts()  # nodes of block b are `cuts[b]:cuts[b + 1]`
    for block in range(len(graph.functions) + 1):
        roots.append(tree.add(-1, "" if block == 0 else graph.functions[block - 1].name))
        add_names(tree, roots[-1], graph.name[cuts[block] : cuts[block + 1]], of_node, leaves, room)
    # Scopes were added as names came up; preorder makes the scopes and the nodes under a row one run.
    numbered = number_tree(np.array(tree.parent, np.int64), np.arange(len(tree.parent)))
    names = [tree.name[id] for id in numbered.order.tolist()]
    rows = numbered.row_of[np.array(of_node, np.int64)]
    columns = _columns(numbered, names, int32_column(rows), leaves, [int(numbered.row_of[root]) for root in roots])
    if not graph.is_pytorch:
        return columns
    return replace(
        columns,
        leaf=list(map(module_attribute, columns.leaf)),
        node_leaf=list(map(module_attribute, columns.node_leaf)),
    )


def add_names(
    tree: ScopeTree, root: int, names: list[str], of_node: list[int], leaves: list[str], room: ScopeNameBudget
) -> None:
    """Add the scopes of one block; say for each name its scope, and what of the name is below that."""
    scopes: dict[str, int] = {}
    for name in names:
        cut = name.rfind("/")
        if cut < 0:
            of_node.append(root)
            leaves.append(name)
            continue
        around = name[:cut]
        row = scopes.get(around)
        if row is None and len(around := room.truncate(around)) < cut:
            # No room for the whole path: the node hangs from the deepest scope that fits, the rest of it is its leaf.
            row, cut = scopes.get(around, root if not around else None), len(around) or -1
        of_node.append(add_scope(tree, scopes, root, around, room) if row is None else row)
        leaves.append(name[cut + 1 :])


def add_scope(tree: ScopeTree, scopes: dict[str, int], root: int, name: str, room: ScopeNameBudget) -> int:
    """Add a scope and those around it that are missing."""
    # Upwards to the first scope that is there, then downwards again: parents are added before their children.
    missing, parent = [name], root
    while (cut := missing[-1].rfind("/")) >= 0:
        around = missing[-1][:cut]
        if around in scopes:
            parent = scopes[around]
            break
        missing.append(around)
    room.spend(name, missing)
    for scope in reversed(missing):
        parent = scopes[scope] = tree.add(parent, scope)
    return parent


def _columns(numbered: Preorder, names: list[str], of_node: Ints, leaves: list[str], roots: list[int]) -> Scopes:
    parent, end, depth = numbered.parent, numbered.end, numbered.depth
    leaf = [last_segment(name) for name in names]
    leaf_hash, node_leaf_hash = _hashed(leaf), _hashed(leaves)
    # The name of a function is no part of its paths: bodies are compared whatever they are called.
    leaf_hash[roots] = 0
    path = leaf_hash.copy()
    # path[row] = path[parent] * BASE + leaf: level by level, each from the level above it. What is directly below a
    # root is its own leaf.
    for level in _levels(depth)[2:]:
        path[level] += path[parent[level]] * BASE
    order = np.argsort(of_node, kind="stable")
    counts = np.bincount(of_node, minlength=len(parent))
    block = np.cumsum(np.isin(np.arange(len(parent)), roots)) - 1
    return Scopes(
        parent=parent,
        end=end,
        depth=depth,
        block=int32_column(block),
        roots=tuple(roots),
        name=names,
        leaf=leaf,
        of_node=of_node,
        node_leaf=leaves,
        node_order=int32_column(order),
        node_start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        path=path,
        node_path=path[of_node] * BASE + node_leaf_hash,
        leaf_hash=leaf_hash,
        node_leaf_hash=node_leaf_hash,
    )


def _hashed(words: list[str]) -> Hashes:
    """Hashes of words, each distinct one hashed once."""
    # Odd, so never 0, which is the hash of a root's leaf.
    memo = {word: digest(word) | 1 for word in set(words)}
    return np.fromiter(map(memo.__getitem__, words), np.uint64, len(words))


def _levels(depth: Ints) -> list[NDArray[np.int64]]:
    """Rows by depth."""
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def exact_hashes(scopes: Scopes, own: Hashes) -> Hashes:
    """For each row a hash of everything under it, names below the row and labels."""
    inside = sums_by(scopes.of_node, mixed(own + scopes.node_leaf_hash), len(scopes))
    hashes = mixed(inside)
    # The deepest first: the sum of a row is complete before its hash is added to its parent's.
    for level in reversed(_levels(scopes.depth)[1:]):
        hashes[level] = mixed(inside[level])
        part = mixed(hashes[level] + scopes.leaf_hash[level])
        # `add.at`, as children of one parent occur several times in the index.
        np.add.at(inside, scopes.parent[level], part)
    hashes[list(scopes.roots)] = mixed(inside[list(scopes.roots)])
    return hashes
