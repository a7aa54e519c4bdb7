"""Families of graphs by how names are made and how nodes are wired, each way with each: regular, as programs are."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from graphviz_tb.proto import GraphDef
from tests.fuzz.families.graphs import binary

UNITS = ("1", "_1", "1_", "_", "-", ".", "1.", "0", "1_1/", "9x", "__1", "(", "a1_")
LENGTHS = (3, 26, 60, 3000)
ENDS = ("", "x", "_", "!", "_x", "é")
FORMS: dict[str, Callable[[int, str], str]] = {
    "numbered": lambda at, run: f"add_{at}",
    "powers": lambda at, run: f"add_{10 ** (at % 700) + at}",
    "gaps": lambda at, run: f"add_{at**3 if at % 3 else at + 2**64}",
    "blocks": lambda at, run: f"net/stage_{at // 60}/block_{at // 12 % 5}/unit_{at // 4 % 3}/{'abcd'[at % 4]}",
    "in turn": lambda at, run: f"{'abcdefgh'[at % 8]}_{at // 8}",
    "one child": lambda at, run: "/".join(f"c{at}_{level}" for level in range(at % 9 + 1)),
    "modules": lambda at, run: f"Net/Block[{at // 5}]/Linear[{at % 5}]/{at}",
    "gradients": lambda at, run: f"{'gradients/' if at % 2 else ''}layer_{at // 6}/op{at // 2 % 3}_{at % 2}",
    "layers": lambda at, run: f"model_{at // 50}/dense_{at // 4}/{('MatMul', 'BiasAdd', 'Relu', 'Read')[at % 4]}",
    "run first": lambda at, run: f"{run}{at // 3}/{'abc'[at % 3]}",
    "run last": lambda at, run: f"a_{at}{run}",
    "run within": lambda at, run: f"lay_{at // 3}{run}{at // 3}/{'abc'[at % 3]}",
    "runs apart": lambda at, run: f"lay_{run}_{at // 3}_{run}y/{'abc'[at % 3]}",
}
WIRINGS: dict[str, Callable[[int, int], list[int]]] = {  # which nodes feed one, among so many
    "chain": lambda at, count: [at - 1],
    "ladder": lambda at, count: [at - 2, at - 1 if at % 2 else at - 3],
    "grid": lambda at, count: [at - 1 if at % (side := int(count**0.5) or 1) else -1, at - side],
    "halves": lambda at, count: list(range(min(count // 2, 60))) if at >= count // 2 else [],
    "tree": lambda at, count: [(at - 1) // 2],
    "stars": lambda at, count: [at - at % 20 if at % 20 else at - 20],
    "dense": lambda at, count: list(range(max(0, at - 30), at)),
    "skips": lambda at, count: [at - 2**power for power in range(5)],
    "fan": lambda at, count: list(range(1, at)) if at == count - 1 else [0][:at],
    "loops": lambda at, count: [at - 1, *([min(count - 1, at + 3)] if at % 7 == 0 else [])],
    "round": lambda at, count: [(at - 1) % count, (at + 5) % count],
    "none": lambda at, count: [],
}


def run_of(random: Random) -> str:
    """A run of digits and separators, longer than a search that tries every way through it can bear."""
    return random.choice(UNITS) * random.choice(LENGTHS) + random.choice(ENDS)


def wired(random: Random) -> GraphDef:
    """One form of names and one of wires; or several forms, in scopes beside each other."""
    graph = GraphDef()
    forms = random.sample(list(FORMS), random.choice((1, 1, 1, 3)))
    several = random.choice((1, 5, 30, 200, 200, 1000))
    for form in forms:
        run = run_of(random)
        count = max(1, min(several, 400_000 // (len(run) + 1)))
        scope = f"{form}/" if len(forms) > 1 else ""
        names = [scope + FORMS[form](at, run) for at in range(count)]
        feeds = WIRINGS[random.choice(list(WIRINGS))]
        kinds = random.sample(("Relu", "MatMul", "NoOp", "Const", "Add", "Identity"), random.choice((1, 3)))
        for at, name in enumerate(names):
            node = graph.node.add(name=name, op=random.choice(kinds))
            node.input.extend(names[before] for before in feeds(at, count) if before >= 0)
    return graph


def runs(random: Random) -> GraphDef:
    """Runs of digits and separators wherever names are: of functions, ops, arguments, outputs, devices, classes."""
    graph = GraphDef()
    called = [f"{run_of(random)}_{number}" for number in range(random.choice((1, 3, 30)))]
    for name in called:
        function = graph.library.function.add()
        function.signature.name = name
        argument, inner = run_of(random), run_of(random)
        function.signature.input_arg.add(name=argument, type=1)
        function.signature.output_arg.add(name="o", type=1)
        node = function.node_def.add(name=inner, op=random.choice((*called, "Relu")), input=[argument])
        node.attr["T"].type = 1
        function.ret["o"] = f"{inner}:{run_of(random)}:0"
        function.attr["forward_function_name"].s = random.choice(called).encode()
    for number in range(random.choice((3, 40))):
        node = graph.node.add(name=f"{run_of(random)}{number}", op=random.choice((*called, run_of(random))))
        node.device = f"/job:{run_of(random)}/device:{run_of(random)}:{number}"
        node.attr["_class"].list.s.append(f"loc:@{run_of(random)}".encode())
        node.attr["_gradient_op_type"].s = f"CustomGradient-{run_of(random)}".encode()
        node.input.extend(f"{before.name}:{run_of(random)}" for before in list(graph.node)[-3:-1])
    return graph


MAKERS = (wired, runs)
FAMILIES = {make.__name__: binary(make) for make in MAKERS}
