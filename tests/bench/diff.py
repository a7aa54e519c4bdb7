"""Time and memory of a diff against those of loading both graphs.

python tests/bench/diff.py big.pb   loading both, then the diff of the file and a changed copy, each in its own process
python tests/bench/diff.py          the text and the page of pairs of 22,000 nodes, as multiples of loading both
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def changed(path: str, seed: int = 1) -> bytes:
    """The graph with a new scope on an edge, a renamed scope, another attribute and another input."""
    from graphviz_tb.read.source import read_source

    luck = random.Random(seed)
    graph = read_source(path).graph_def
    scopes = sorted({node.name.rpartition("/")[0] for node in graph.node} - {""})
    name = luck.choice(scopes)
    rename(graph, name, name + "_renamed")
    luck.choice(graph.node).attr["bench"].i = 7
    fed = [node for node in graph.node if node.input and not node.input[0].startswith("^")]
    first, second = luck.sample(fed, 2)
    second.input[0] = graph.node[0].name
    graph.node.add(name="bench_scope/a", op="Elu", input=[first.input[0]])
    graph.node.add(name="bench_scope/b", op="Selu", input=["bench_scope/a"])
    first.input[0] = "bench_scope/b"
    data: bytes = graph.SerializeToString()
    return data


def rename(graph: Any, old: str, new: str) -> None:
    """Another name for a scope."""
    for node in graph.node:
        if node.name.startswith(old + "/"):
            node.name = new + node.name[len(old) :]
        for at, text in enumerate(node.input):
            bare = text.removeprefix("^")
            if bare.startswith(old + "/"):
                node.input[at] = text[: len(text) - len(bare)] + new + bare[len(old) :]


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load_both(old: str, new: str) -> None:
    """Load both graphs and hold them."""
    from graphviz_tb import load

    start = process_time()
    models = [load(old), load(new)]
    print(f"load both  {process_time() - start:8.2f} s  {peak():8.0f} MB  {len(models)} models")


def diff_both(old: str, new: str) -> None:
    """The diff, from the files."""
    from graphviz_tb.diff.run import compare_sources  # imported before the clock starts
    from graphviz_tb.options import DiffOptions

    start = process_time()
    changes = compare_sources(old, new, DiffOptions(), {})
    print(f"diff       {process_time() - start:8.2f} s  {peak():8.0f} MB  {len(changes)} changes")
    print(changes.explain(limit=4), end="")


FLOAT, HALF = 1, 19  # as TensorFlow numbers types
LAYER_NODES = 11
ELEMENTWISE = ("Relu", "Elu", "Selu", "Tanh", "Sigmoid", "Softsign", "Abs", "Square", "Exp")


def network(layers: int, width: int = 16, dtype: int = FLOAT, moved: range = range(0)) -> Any:
    """Dense layers with a residual each, ten in a block, as TensorFlow 1 writes them; the `moved` blocks elsewhere."""
    from graphviz_tb.proto import GraphDef

    graph = GraphDef()
    put(graph, "x", "Placeholder", (), dtype, (-1, width))
    last = "x"
    for at in range(layers):
        scope = f"{'head' if at // 10 in moved else 'net'}/block_{at // 10}/dense_{at}"
        reads = []
        for name, sizes in (("kernel", (width, width)), ("bias", (width,))):
            put(graph, f"{scope}/{name}", "VariableV2", (), dtype, sizes)
            reads.append(put(graph, f"{scope}/{name}/read", "Identity", [f"{scope}/{name}"], dtype))
        product = put(graph, f"{scope}/MatMul", "MatMul", [last, reads[0]], dtype)
        name = put(graph, f"{scope}/BiasAdd", "BiasAdd", [product, reads[1]], dtype)
        for op in ("Relu", "Square"):
            name = put(graph, f"{scope}/{op}", op, [name], dtype)
        name = put(graph, f"{scope}/add", "AddV2", [name, last], dtype)
        for op in ("Identity", "Abs"):
            name = put(graph, f"{scope}/{op}", op, [name], dtype)
        last = name
    return graph


def put(graph: Any, name: str, op: str, inputs: Any, dtype: int, sizes: Any = None) -> str:
    """Add a node; its name."""
    node = graph.node.add(name=name, op=op, input=inputs)
    node.attr["T" if inputs else "dtype"].type = dtype
    for size in sizes or ():
        node.attr["shape"].shape.dim.add(size=size)
    return name


def exchanged(graph: Any, count: int, seed: int = 1) -> Any:
    """Other activations at so many places."""
    luck = random.Random(seed)
    for node in luck.sample([node for node in graph.node if node.op in ELEMENTWISE], count):
        node.op = luck.choice([op for op in ELEMENTWISE if op != node.op])
    return graph


def pairs(nodes: int) -> dict[str, Callable[[], tuple[Any, Any]]]:
    """Pairs of graphs of so many nodes, by what is changed."""
    many = nodes // LAYER_NODES
    return {
        "nothing": lambda: (network(many), network(many)),
        "one op": lambda: (network(many), exchanged(network(many), 1)),
        "a moved block": lambda: (network(many), network(many, moved=range(3, 6))),
        "another type of all": lambda: (network(many), network(many, dtype=HALF)),
        "another width of all": lambda: (network(many), network(many, width=24)),
        "an op in seven": lambda: (network(many), exchanged(network(many), nodes // 7)),
    }


def multiples(old: bytes, new: bytes) -> tuple[float, float]:
    """CPU of the text, and of the text and the page, in multiples of loading both graphs."""
    from graphviz_tb import load
    from graphviz_tb.diff import diff

    gc.collect()
    start = process_time()
    load(old), load(new)  # nothing is kept
    both = process_time()
    changes = diff(old, new)
    changes.explain(limit=40)
    text = process_time()
    changes.html()
    whole = both - start
    return (text - both) / whole, (process_time() - both) / whole


def print_multiples(nodes: int) -> None:
    """A line a pair."""
    multiples(*(graph.SerializeToString() for graph in pairs(200)["one op"]()))  # import everything
    print(f"{'changed, of ' + format(nodes, ',') + ' nodes':<30}{'text':>8}{'page':>8}  × loading both")
    for word, make in pairs(nodes).items():
        text, page = multiples(*(graph.SerializeToString() for graph in make()))
        print(f"{word:<30}{text:>8.1f}{page:>8.1f}", flush=True)


def main() -> None:
    """Run the bench, each part in its own process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", nargs="?")
    parser.add_argument("--nodes", type=int, default=22_000)
    parser.add_argument("--copy", default=str(Path(tempfile.gettempdir()) / "bench_diff_copy.pb"))
    parser.add_argument("--part", choices=("copy", "load", "diff"))
    options = parser.parse_args()
    if options.graph is None:
        print_multiples(options.nodes)
    elif options.part == "copy":
        Path(options.copy).write_bytes(changed(options.graph))
    elif options.part == "load":
        load_both(options.graph, options.copy)
    elif options.part == "diff":
        diff_both(options.graph, options.copy)
    else:
        for part in ("copy", "load", "diff"):
            command = [sys.executable, __file__, options.graph, "--copy", options.copy, "--part", part]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
