"""Changes made to real graphs. Each gives a new graph, or None where it cannot be done to this one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.diff.pairs import copied, renamed, shuffled, wired

Transform = Callable[[Any, random.Random], Any]


def names_of(graph: Any) -> list[str]:
    """Names of the nodes."""
    return [node.name for node in graph.node]


def scopes_of(graph: Any) -> list[str]:
    """Names of scopes of the main graph that no node is called like."""
    names = set(names_of(graph))
    found = {name[:at] for name in names for at, letter in enumerate(name) if letter == "/" and at}
    return sorted(found - names - {""})


def insert(graph: Any, luck: random.Random) -> Any:
    """A new node on an edge."""
    made = copied(graph)
    edges = wired(made)
    if not edges:
        return None
    target, slot = luck.choice(edges)
    node = made.node[target]
    name = node.name.rpartition("/")[0] + "/" * ("/" in node.name) + f"inserted{luck.randrange(100)}"
    if name in names_of(made):
        return None
    made.node.add(name=name, op="Cast", input=[node.input[slot]], attr={"DstT": {"type": 19}})
    node.input[slot] = name
    return made


def insert_scope(graph: Any, luck: random.Random) -> Any:
    """A new scope of three nodes on an edge."""
    made = copied(graph)
    edges = wired(made)
    if not edges:
        return None
    target, slot = luck.choice(edges)
    node = made.node[target]
    name = f"new_scope{luck.randrange(100)}"
    made.node.add(name=f"{name}/a", op="Elu", input=[node.input[slot]])
    made.node.add(name=f"{name}/b", op="Selu", input=[f"{name}/a"])
    made.node.add(name=f"{name}/c/d", op="AddV2", input=[f"{name}/a", f"{name}/b"])
    node.input[slot] = f"{name}/c/d"
    return made


def delete(graph: Any, luck: random.Random) -> Any:
    """A node goes; those that used it use what it used."""
    made = copied(graph)
    names = names_of(made)
    used: dict[str, int] = {}
    for node in made.node:
        for text in node.input:
            used[text] = used.get(text, 0) + 1
    others = {text.split(":")[0].lstrip("^") for text in used if ":" in text or text.startswith("^")}
    fit = [
        node
        for node in made.node
        if len(node.input) == 1 and node.name not in others and not node.input[0].startswith("^")
        and node.input[0] in names and node.input[0] != node.name and names.count(node.name) == 1
    ]  # fmt: skip
    if not fit:
        return None
    gone = luck.choice(fit)
    name, before = gone.name, gone.input[0]
    made.node.remove(gone)
    for node in made.node:
        texts = [before if text == name else text for text in node.input]
        del node.input[:]
        node.input.extend(texts)
    return made


def rename_node(graph: Any, luck: random.Random) -> Any:
    """One node has another name."""
    names = names_of(graph)
    scopes = {name[:at] for name in names for at, letter in enumerate(name) if letter == "/"}
    fit = sorted({name for name in names if names.count(name) == 1 and name not in scopes and ":" not in name})
    if not fit:
        return None
    name = luck.choice(fit)
    other = f"{name}renamed"
    return None if other in names else renamed(graph, lambda one: other if one == name else one)


def rename_scope(graph: Any, luck: random.Random) -> Any:
    """One scope has another name."""
    scopes = scopes_of(graph)
    if not scopes:
        return None
    name = luck.choice(scopes)
    other = name.rpartition("/")[0] + "/" * ("/" in name) + "other"
    return renamed(graph, lambda one: other + one[len(name) :] if one.startswith(name + "/") else one)


def move_scope(graph: Any, luck: random.Random) -> Any:
    """One scope lies elsewhere."""
    scopes = scopes_of(graph)
    if not scopes:
        return None
    name = luck.choice(scopes)
    other = "elsewhere/" + name.rpartition("/")[2]
    return renamed(graph, lambda one: other + one[len(name) :] if one.startswith(name + "/") else one)


def wrap(graph: Any, luck: random.Random) -> Any:
    """Everything lies in a new scope."""
    return renamed(graph, lambda one: f"wrap{luck.__class__.__name__}/{one}")


def retype(graph: Any, luck: random.Random) -> Any:
    """One node has another op type."""
    made = copied(graph)
    if not made.node:
        return None
    luck.choice(made.node).op = "Retyped"
    return made


def reattribute(graph: Any, luck: random.Random) -> Any:
    """One attribute of one node is another."""
    made = copied(graph)
    fit = list(made.node)
    if not fit:
        return None
    luck.choice(fit).attr["changed_attribute"].i = luck.randrange(2, 9)
    return made


def rewire(graph: Any, luck: random.Random) -> Any:
    """One input comes from elsewhere."""
    made = copied(graph)
    edges = wired(made)
    if not edges:
        return None
    target, slot = luck.choice(edges)
    names = [name for name in names_of(made) if ":" not in name and name != made.node[target].input[slot]]
    if not names:
        return None
    made.node[target].input[slot] = luck.choice(names)
    return made


def reorder(graph: Any, luck: random.Random) -> Any:
    """The nodes stand in another order: nothing."""
    return shuffled(graph, luck.randrange(1000))


def noise(graph: Any, luck: random.Random) -> Any:
    """What is no change: versions, shapes, colocation, shared names."""
    made = copied(graph)
    made.versions.producer = 9999
    for node in made.node:
        if luck.random() < 0.3:
            node.attr["_output_shapes"].list.shape.add(unknown_rank=True)
            node.attr["_class"].list.s.append(b"loc:@somewhere")
            node.attr["shared_name"].s = b"random_%d" % luck.randrange(10**6)
    return made


def function_numbers(graph: Any, luck: random.Random) -> Any:
    """Every function has another number behind its name, as after another trace."""
    if not graph.library.function:
        return None
    made = copied(graph)
    names: dict[str, str] = {}
    for function in made.library.function:
        name = function.signature.name
        first, _, last = name.rpartition("_")
        other = f"{first}_{luck.randrange(10**6)}" if first and last.isdigit() else name
        names[name] = name if other in names.values() else other
        function.signature.name = names[name]
    for nodes in (made.node, *(function.node_def for function in made.library.function)):
        for node in nodes:
            node.op = names.get(node.op, node.op)
            for key in node.attr:
                value = node.attr[key]
                for called in [value.func] if value.HasField("func") else value.list.func:
                    called.name = names.get(called.name, called.name)
    return made


def change_body(graph: Any, luck: random.Random) -> Any:
    """One node in the body of a function has another attribute."""
    made = copied(graph)
    bodies = [function for function in made.library.function if function.node_def]
    if not bodies:
        return None
    luck.choice(luck.choice(bodies).node_def).attr["changed_in_body"].i = 5
    return made


# How many changes each is.
TRANSFORMS: dict[str, tuple[Transform, int]] = {
    "insert": (insert, 1),
    "insert_scope": (insert_scope, 1),
    "delete": (delete, 1),
    "rename_node": (rename_node, 1),
    "rename_scope": (rename_scope, 1),
    "move_scope": (move_scope, 1),
    "wrap": (wrap, 1),
    "retype": (retype, 1),
    "reattribute": (reattribute, 1),
    "rewire": (rewire, 1),
    "reorder": (reorder, 0),
    "noise": (noise, 0),
    "function_numbers": (function_numbers, 0),
    "change_body": (change_body, 1),
}
