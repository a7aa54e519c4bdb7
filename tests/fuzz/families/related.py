"""Families of two files of which the one was made of the other: what they share brings them to the matchers."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from graphviz_tb.proto import GraphDef
from tests.fuzz.families import calls, graphs, grown, grown_json, products

MAKERS = (*calls.MAKERS, *products.MAKERS, graphs.numbered, graphs.shape, graphs.functions, graphs.odd_names)
Made = tuple[dict[str, bytes], list[str]]


def compared(random: Random) -> list[str]:
    """The options of a comparison."""
    output = random.choice(
        ([], [], ["-o", "out/a.svg"], ["-o", "out/a.html"], ["-o", "out/a.json"], ["-o", "out/a.md"])
    )
    more = random.choice(([], ["--all"], ["--include", "all"], ["--format", "json"], ["--fail-on", "signature"]))
    return [*output, *more]


def edited(graph: GraphDef, random: Random) -> None:
    """Edits as people make them, but to very many nodes at once."""
    nodes = graph.node
    chosen = random.sample(range(len(nodes)), min(len(nodes), random.choice((1, 30, 3000))))
    way = random.choice(("op", "scope", "rename", "drop", "order", "input", "attribute", "double", "between"))
    if way == "drop":
        gone = set(chosen)
        kept = [node for at, node in enumerate(nodes) if at not in gone]
        graph.ClearField("node")
        graph.node.extend(kept)
    elif way == "order":
        kept = list(nodes)
        random.shuffle(kept)
        graph.ClearField("node")
        graph.node.extend(kept)
    elif way == "double":
        for at in chosen:
            graph.node.add().CopyFrom(nodes[at])
    else:
        for at in chosen:
            _edit(graph, nodes[at], way, random)


def _edit(graph: GraphDef, node: Any, way: str, random: Random) -> None:
    if way == "op":
        node.op = random.choice(("Relu", "Neg", node.op + "V2"))
    elif way in ("scope", "rename"):
        node.name = random.choice(("new/", "b/", "x_1/")) + node.name if way == "scope" else node.name + "_renamed"
    elif way == "attribute":
        node.attr[random.choice(("T", "k", "N"))].i = random.choice((1, 2, 2**40))
    elif way == "input" and node.input:
        node.input.append(node.input[0])
    elif way == "between" and node.input:
        added = graph.node.add(name=f"{node.name[:999]}_between", op="Cast", input=[node.input[0]])
        node.input[0] = added.name


def related_graphs(random: Random) -> Made:
    """A graph that no one would make, and the same after an edit or a change."""
    old: GraphDef = random.choice((*MAKERS, grown.graph, grown.graph))(random)
    while old.ByteSize() > 600_000:
        old = random.choice(MAKERS)(random)
    if random.random() < 0.4:
        grown.changed(old, random, 2)
    new = GraphDef.FromString(old.SerializeToString())
    for _ in range(random.choice((1, 1, 2, 5))):
        edited(new, random)
    if random.random() < 0.3:
        grown.changed(new, random)
    return {"old.pb": old.SerializeToString(), "new.pb": new.SerializeToString()}, _told(random, "old.pb", "new.pb")


def unlike_names(random: Random) -> Made:
    """The same structure under other names: scopes, ops, or both; in rows, chains or one in the other."""
    pair = GraphDef(), GraphDef()
    several, parts = random.choice(((3000, 1), (600, 5), (60, 60), (5, 600)))
    form = random.choice(("row", "chain", "nested", "hub"))
    edits = random.choice((0, 1, 3))
    for which, made in enumerate(pair):
        for at in range(several):
            word = _word(at) + ("q" if which else "z")
            stem = f"{word}/" if form != "nested" else f"{'ab'[which]}/" * (at % 400 + 1)
            for part in range(parts):
                op = f"Op{(part + (which if edits and part % 9 == 0 else 0)) % 50}"
                node = made.node.add(name=f"{stem}{_word(part)}{at if form == 'nested' else ''}", op=op)
                node.attr["k"].i = at if edits < 3 else at + which
                if form == "chain" and len(made.node) > 1:
                    node.input.append(made.node[-2].name)
                elif form == "hub":
                    node.input.append(made.node[0].name)
    return {"old.pb": pair[0].SerializeToString(), "new.pb": pair[1].SerializeToString()}, _told(
        random, "old.pb", "new.pb"
    )


def _word(number: int) -> str:
    letters = ""
    while True:
        letters = chr(97 + number % 26) + letters
        number //= 26
        if not number:
            return letters


def related_models(random: Random) -> Made:
    """Keras models: the one is the other, with changes."""
    old = grown_json.changed(grown_json.model(random), random, random.choice((0, 1, 3)))
    new = grown_json.changed(json.loads(json.dumps(old)), random, random.choice((1, 1, 2, 5)))
    files = {"old.json": json.dumps(old).encode(), "new.json": json.dumps(new).encode()}
    return files, _told(random, "old.json", "new.json")


def related_saved(random: Random) -> Made:
    """SavedModels, as folders: the one is the other, with changes."""
    old = grown.changed(grown.saved_model(random), random, random.choice((0, 1, 2)))
    new = grown.changed(type(old).FromString(old.SerializeToString()), random, random.choice((1, 2)))
    files = {f"{name}/saved_model.pb": made.SerializeToString() for name, made in (("old", old), ("new", new))}
    return files, _told(random, "old/saved_model.pb", "new/saved_model.pb")


def _told(random: Random, old: str, new: str) -> list[str]:
    return ["diff", *((old, new) if random.random() < 0.7 else (new, old)), *compared(random)]


SETS = {make.__name__: make for make in (related_graphs, unlike_names, related_models, related_saved)}
