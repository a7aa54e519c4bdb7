"""Graphs with functions that call each other, made by hypothesis; and a slow account of their edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import strategies as st

from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef

ARGS = 2  # every function takes two and gives two


def call(name: str, kind: str, functions: list[str], inputs: list[str]) -> NodeDef:
    """A node that calls one or two functions."""
    node = NodeDef(name=name, op=kind)
    attrs = {"PartitionedCall": ["f"], "While": ["cond", "body"], "If": ["then_branch", "else_branch"]}[kind]
    if kind == "If":
        inputs = [inputs[0], *inputs]
    for attr, function in zip(attrs, functions, strict=False):
        node.attr[attr].func.name = function
    node.input.extend(inputs)
    return node


@st.composite
def bodies(draw: st.DrawFn, functions: list[str], starts: list[str], inside: bool) -> list[NodeDef]:
    """Nodes of one body; each takes its inputs from those before it."""
    known = list(starts)
    nodes: list[NodeDef] = []
    for number in range(draw(st.integers(2, 5))):
        scope = draw(st.sampled_from(["", "s/", "s/t/", "u/"]))
        name = f"{scope}n{number}"
        inputs = [draw(st.sampled_from(known)) for _ in range(ARGS)] if known else []
        kind = draw(st.sampled_from(["op", "op", "PartitionedCall", "While", "If"])) if known else "op"
        if kind == "op" or not functions:
            nodes.append(NodeDef(name=name, op="Add", input=inputs))
            outputs = [f"{name}:z:0"] if inside else [name]
        else:
            chosen = [draw(st.sampled_from(functions)) for _ in range(2)]
            nodes.append(call(name, kind, chosen, inputs))
            outputs = [f"{name}:output:{at}" if inside else f"{name}:{at}" for at in range(ARGS)]
        if draw(st.booleans()) and len(nodes) > 1:
            nodes[-1].input.append("^" + nodes[0].name)
        known += outputs
    return nodes


@st.composite
def graphs(draw: st.DrawFn, recursive: bool = False) -> GraphDef:
    """A graph with up to three functions. Without `recursive` each calls only those before it."""
    names = [f"f{number}" for number in range(draw(st.integers(1, 3)))]
    graph = GraphDef()
    for number, name in enumerate(names):
        function = FunctionDef()
        function.signature.name = name
        args = [f"x{at}" for at in range(ARGS)]
        for arg in args:
            function.signature.input_arg.add(name=arg)
        nodes = draw(bodies(names if recursive else names[:number], args, True))
        function.node_def.extend(nodes)
        for at in range(ARGS):
            function.signature.output_arg.add(name=f"y{at}")
            node = draw(st.sampled_from(nodes))
            function.ret[f"y{at}"] = f"{node.name}:z:0" if node.op == "Add" else f"{node.name}:output:{at}"
        graph.library.function.append(function)
    graph.node.extend(draw(bodies(names, [], False)))
    return graph


class Instances:
    """All edges of a graph with every call taken apart, by brute force: `(source path, target path, edge)`.

    Each edge of a body stands there once for each place of the body, and once more for each way in which its ends
    can be followed into the calls they lie at. `base` marks ends that were not followed.
    """

    def __init__(self, hierarchy: Hierarchy, contexts: list[tuple[RowPath, int]]) -> None:
        self.hierarchy = hierarchy
        self.edges: Counter[tuple[RowPath, bool, RowPath, bool, int]] = Counter()
        graph = hierarchy.graph
        for prefix, root in contexts:
            function = -1 if root == 0 else hierarchy.function_rows.index(root)
            for edge in hierarchy.edge_order.tolist():
                source, target = int(graph.source[edge]), int(graph.target[edge])
                if graph.function[source] != function:
                    continue
                key, slot = graph.keys[graph.key[edge]], int(graph.slot[edge])
                control = bool(graph.control[edge])
                outer_source = (*prefix, int(hierarchy.row_of_node[source]))
                outer_target = (*prefix, int(hierarchy.row_of_node[target]))
                for real_source, base_source in self.sources(outer_source, key, control):
                    for real_target, base_target in self.targets(outer_target, slot, control):
                        self.edges[real_source, base_source, real_target, base_target, edge] += 1

    def sources(self, path: RowPath, key: str, control: bool, depth: int = 0) -> Iterator[tuple[RowPath, bool]]:
        """The path itself, and those inside it that make its output."""
        yield path, depth == 0
        graph = self.hierarchy.graph
        if control or depth > 3:
            return
        for attr, body in self.bodies(path[-1]):
            if attr == "cond":
                continue
            function = graph.functions[self.hierarchy.function_rows.index(body)]
            node, inner = function.returns[int(key.rpartition(":")[2])]
            yield from self.sources((*path, int(self.hierarchy.row_of_node[node])), inner, False, depth + 1)

    def targets(self, path: RowPath, slot: int, control: bool) -> Iterator[tuple[RowPath, bool]]:
        """The path itself, and the arguments inside it."""
        yield path, True
        graph = self.hierarchy.graph
        if control:
            return
        op = graph.op_types[graph.op[self.hierarchy.node[path[-1]]]]
        index = slot - 1 if op == "If" else slot
        for _, body in self.bodies(path[-1]):
            function = graph.functions[self.hierarchy.function_rows.index(body)]
            if 0 <= index < len(function.args):
                yield (*path, int(self.hierarchy.row_of_node[function.args[index]])), False

    def bodies(self, row: int) -> list[tuple[str, int]]:
        """Each function of a call once; a loop's body before its condition where both are one."""
        found: dict[int, str] = {}
        for attr, body in self.hierarchy.calls.get(row, ()):
            if found.get(body, "cond") == "cond":
                found[body] = attr
        return [(attr, body) for body, attr in found.items()]

    def crossing(self, path: RowPath) -> Counter[tuple[int, int, bool]]:
        """What must cross the border of `path`: `(edge, row inside, comes in)`; the end outside is not followed."""
        hierarchy, row = self.hierarchy, path[-1]
        inside_call = row in hierarchy.calls

        def within(end: RowPath) -> bool:
            if inside_call:
                return len(end) > len(path) and end[: len(path)] == path
            return (
                len(end) >= len(path)
                and end[: len(path) - 1] == path[:-1]
                and row <= end[len(path) - 1] < int(hierarchy.end[row])
            )

        found: Counter[tuple[int, int, bool]] = Counter()
        place = len(path) if inside_call else len(path) - 1
        for (source, base_source, target, base_target, edge), count in self.edges.items():
            a, b = within(source), within(target)
            if a and not b and base_target and len(source) == place + 1 and not self.near(path, target, source):
                found[edge, source[place], False] += count
            if b and not a and base_source and len(target) == place + 1 and not self.near(path, source, target):
                found[edge, target[place], True] += count
        return found

    def near(self, path: RowPath, outside: RowPath, inside: RowPath) -> bool:
        """Whether the end outside lies in the group or call itself (then the edge does not leave it)."""
        return len(outside) >= len(path) and outside[: len(path)] == path and len(inside) <= len(path)
