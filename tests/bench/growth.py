"""How time grows with the graph, where the graph is nothing that anyone would draw by hand.

    python -m tests.bench.growth [--nodes N…] [--only KIND] [--limit SECONDS] [--no-fold]

CPU seconds from the message to the default picture, each in a process of its own and without its start, and the
exponent to the size before: 1 is linear, 2 square. Past the limit a process is ended and larger sizes are left out.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from random import Random

from graphviz_tb import load
from graphviz_tb.proto import GraphDef

NODES = (2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
LIMIT = 60  # CPU seconds
Make = Callable[[int], GraphDef]


def main() -> int:
    """Print one line a kind; 1 if one was ended."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.growth", description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=NODES)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--limit", type=int, default=LIMIT)
    parser.add_argument("--no-fold", action="store_true")
    chosen = parser.parse_args()
    print(f"{'kind':<16}" + "".join(f"{nodes:>16,}" for nodes in chosen.nodes))
    ended = False
    for kind, make in KINDS.items():
        if chosen.only in (None, kind):
            ended |= line(kind, make, chosen.nodes, chosen.limit, not chosen.no_fold)
    return int(ended)


def line(kind: str, make: Make, sizes: list[int], limit: int, folds: bool) -> bool:
    """Print the seconds and megabytes of one kind, size by size; whether it was ended."""
    print(f"{kind:<16}", end="", flush=True)
    before: tuple[int, float] | None = None
    for nodes in sizes:
        seconds, megabytes = measured(make, nodes, limit, folds)
        if seconds is None:
            print(f"{'> ' + str(limit) + ' s':>16}")
            return True
        power = "" if before is None else f" ^{math.log(seconds / before[1], nodes / before[0]):.1f}"
        print(f"{f'{seconds:.1f}{power} {megabytes}M':>16}", end="", flush=True)
        before = nodes, max(seconds, 0.01)
    print()
    return False


def measured(make: Make, nodes: int, limit: int, folds: bool) -> tuple[float | None, int]:
    """CPU seconds of one picture, None where it was ended; and the megabytes of the process at its peak."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        data = make(nodes).SerializeToString()
        start = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(start) + limit, int(start) + limit))
        load(data, folds=folds).picture().render("svg")
        os.write(writer, f"{time.process_time() - start:.3f}".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        seconds = said.read()
    used = os.wait4(child, 0)[2]
    return (float(seconds) if seconds else None), used.ru_maxrss // 1024


def chain(name: Callable[[int], str]) -> Make:
    """Each node feeds the next."""

    def make(nodes: int) -> GraphDef:
        graph = GraphDef()
        for at in range(nodes):
            graph.node.add(name=name(at), op="Add", input=[name(at - 1)] if at else [])
        return graph

    return make


def unlike(at: int) -> str:
    """A name that has nothing in common with its neighbours'."""
    return "".join(Random(at).choices("abcdefghijklmnop", k=9)) + f"x{at:x}y"


def flat_random(nodes: int) -> GraphDef:
    """No scopes, names unlike, four inputs each from anywhere before."""
    random, graph = Random(nodes), GraphDef()
    names = [unlike(at) for at in range(nodes)]
    for at, name in enumerate(names):
        graph.node.add(name=name, op=random.choice("ABCD"), input=random.choices(names[:at], k=4) if at else [])
    return graph


def dense_random(nodes: int) -> GraphDef:
    """So many lines, each box with inputs from half of all that were before."""
    random, graph = Random(nodes), GraphDef()
    names = [unlike(at) for at in range(math.isqrt(4 * nodes))]
    for at, name in enumerate(names):
        graph.node.add(name=name, op=random.choice("ABCD"), input=random.sample(names[:at], at // 2))
    return graph


def hub(inward: bool, name: Callable[[int], str]) -> Make:
    """One node that all others feed, or that feeds all others."""

    def make(nodes: int) -> GraphDef:
        names, graph = [name(at) for at in range(nodes)], GraphDef()
        graph.node.add(name="hub", op="AddN", input=names if inward else [])
        for each in names:
            graph.node.add(name=each, op="Relu", input=[] if inward else ["hub"])
        return graph

    return make


def deep_name(nodes: int) -> GraphDef:
    """One node so many scopes deep."""
    return GraphDef(node=[{"name": "/".join("s" * nodes), "op": "A"}, {"name": "y", "op": "B"}])


def call_chain(nodes: int) -> GraphDef:
    """Each function calls the next, by its name as an op."""
    graph = GraphDef()
    for at in range(nodes):
        function = graph.library.function.add()
        function.signature.name = f"f{at}"
        function.node_def.add(name="c", op=f"f{at + 1}" if at + 1 < nodes else "Neg")
    graph.node.add(name="top", op="f0")
    return graph


def wrappers(nodes: int) -> GraphDef:
    """Each function is nothing but a call of the next, as `tf.function` writes it."""
    graph = call_chain(nodes)
    for node in (*graph.node, *(node for function in graph.library.function for node in function.node_def)):
        if node.op != "Neg":
            node.attr["f"].func.name, node.op = node.op, "PartitionedCall"
    return graph


def functions(nodes: int) -> GraphDef:
    """So many functions, each called once."""
    graph = GraphDef()
    for at in range(nodes):
        function = graph.library.function.add()
        function.signature.name = f"f{at}"
        function.node_def.add(name="x", op="Neg")
        graph.node.add(name=f"call{at}", op=f"f{at}")
    return graph


KINDS: dict[str, Make] = {
    "chain numbered": chain(lambda at: f"s/n{at}"),
    "chain unlike": chain(unlike),
    "flat random": flat_random,
    "dense random": dense_random,
    "hub in": hub(True, unlike),
    "hub out": hub(False, unlike),
    "hub in numbered": hub(True, lambda at: f"n{at}"),
    "deep name": deep_name,
    "call chain": call_chain,
    "wrappers": wrappers,
    "functions": functions,
}

if __name__ == "__main__":
    sys.exit(main())
