"""What the tests compare, in one form for both sides: dictionaries of lists that JSON keeps as they are."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

Facts = dict[str, Any]
LIBRARY = "__function_library__"  # TensorBoard hangs the body of function f below a scope of this name and "f"
ROOT = "__root__"


def of_document(document: dict[str, Any]) -> Facts:
    """The facts in our JSON."""
    nodes = {node["id"]: node for node in document["nodes"]}
    body: dict[int, str] = {}  # the prefix of the function that a node lies in
    name: dict[int, str] = {}
    for at, node in nodes.items():
        function = node["kind"] == "function"
        body[at] = LIBRARY + node["name"] if function else "" if node["parent"] is None else body[node["parent"]]
        name[at] = body[at] if function else f"{body[at]}/{node['name']}" if body[at] else node["name"]
    found = empty()
    for at, node in nodes.items():
        kind = {"call": "op", "function": "scope"}.get(node["kind"], node["kind"])
        if at:
            parent = None if node["embedded_in"] else name[node["parent"]] if node["parent"] is not None else ""
            found["nodes"][name[at]] = [kind, parent, node["op"]]
        if kind in ("scope", "fold"):
            found["histograms"][name[at]] = dict(sorted(node["op_types"].items()))
        if kind != "op":
            found["cardinality"][name[at]] = node["ops"]
    for key, group in document["groups"].items():
        here = name[int(key)]
        for edge in group["edges"]:
            ends = [name[edge["from"]], name[edge["to"]]]
            found["edges"].append([here, *ends, edge["tensors"] > 0, edge["control"] > 0])
        if group["in_extract"] or group["out_extract"]:
            found["extracts"][here] = [[name[at] for at in group[side]] for side in ("in_extract", "out_extract")]
        for child, sides in group["annotations"].items():
            for side, notes in sides.items():
                for other, kind in notes:
                    found["annotations"].append([name[int(child)], side, name[other], kind])
    return in_order(found)


def of_oracle(oracle: dict[str, Any]) -> Facts:
    """The facts that TensorBoard computed.

    Left out is what comes of behaviour that we do not reproduce: copies of function bodies in the place of calls at
    the root (the call is an op, as it is in the file); the op that stands for each function inside its own scope; and
    bodies counted as part of the root.
    """
    entries = oracle["hierarchy"]
    bodies = [one for one in entries if one["name"].startswith(LIBRARY) and one["parent"] == ROOT]
    unseen = {f"{one['name']}/({one['name']})" for one in bodies}
    library = sum((histogram(one) for one in bodies), Counter())
    copies = {one["name"]: one["fn"] for one in entries if one.get("fn") and not one["name"].startswith(LIBRARY)}
    copied = tuple(f"{name}/" for name in copies)
    found = empty()
    for one in entries:
        name, kind, parent = one["name"], {"meta": "scope"}.get(one["type"], one["type"]), one.get("parent")
        parent = "" if parent == ROOT else parent
        if name.startswith(copied) or name in unseen:
            continue
        if name in copies:
            found["nodes"][name] = ["op", parent, copies[name]]
            continue
        here = "" if name == ROOT else name
        if kind == "op" and one in bodies:  # an empty function
            kind = "scope"
        if here:
            op = one.get("op", "") if kind == "op" else None
            found["nodes"][here] = [kind, None if one.get("embedded") else parent, op]
        if kind == "op":
            continue
        counted = histogram(one) - (Counter({"": 1}) if one in bodies else Counter() if here else library)
        if kind == "scope":  # TensorBoard keeps no histogram of a series
            found["histograms"][here] = dict(sorted(counted.items()))
        found["cardinality"][here] = counted.total() if kind == "scope" else one["cardinality"]
        for source, target, data, control, *_ in one.get("edges", ()):
            found["edges"].append([here, source, target, data > 0, control > 0])
    for name, group in oracle["render"].items():
        if name in copies or name.startswith(copied):
            continue
        for child, notes in group.get("ann", {}).items():
            for side, note in notes.items():
                for other, kind in zip(note["all"], kinds_shown(note), strict=True):
                    found["annotations"].append([child, side, other, kind])
    found["extracts"] = extracts(oracle["render"], copied, unseen)
    found["extracts without hubs"] = extracts(oracle["renderNoAuto"], copied, unseen)
    return in_order(found)


def extracts(render: dict[str, Any], copied: tuple[str, ...], unseen: set[str]) -> Facts:
    """The auxiliary columns of each group."""
    found = {}
    for name, group in render.items():
        sides = [[at for at in group.get(side, ()) if at not in unseen] for side in ("isoIn", "isoOut")]
        if any(sides) and not f"{name}/".startswith(copied):
            found["" if name == ROOT else name] = sides
    return found


def histogram(entry: dict[str, Any]) -> Counter[str]:
    """Op types; TensorBoard counts a node without one under "undefined"."""
    ops = entry["ops"] if "ops" in entry else {entry.get("op", "undefined"): 1}
    return Counter({"" if op == "undefined" else op: count for op, count in ops.items()})


def kinds_shown(note: dict[str, Any]) -> list[str | None]:
    """The kind of each annotation; None past the fifth, where TensorBoard keeps only the name."""
    shown = [text.partition("|")[0] for text in note["shown"]]
    if "ellipsis" in shown:
        shown.remove("ellipsis")
    return [*shown, *[None] * (len(note["all"]) - len(shown))]


def empty() -> Facts:
    return {"nodes": {}, "histograms": {}, "cardinality": {}, "edges": [], "extracts": {}, "annotations": []}


def in_order(facts: Facts) -> Facts:
    """Lists sorted, but for extracts, whose order is TensorBoard's."""
    return {**facts, "edges": sorted(facts["edges"]), "annotations": sorted(facts["annotations"], key=str)}


def flat_of_oracle(oracle: dict[str, Any]) -> Facts:
    """How many ordinary ops there are (functions not counted), and the edges between them.

    Inputs that name no node are left out (TensorBoard keeps them here and drops them later), and an edge into a copy of
    a function's body ends at the call.
    """
    entries = {one["name"]: one for one in oracle["hierarchy"]}
    copies = {name for name, one in entries.items() if one.get("fn") and not name.startswith(LIBRARY)}

    def called(name: str) -> str:
        return next((copy for copy in copies if name.startswith(f"{copy}/")), name)

    edges = [
        [called(source), called(target), key, bool(control)]
        for source, target, key, control, _ in oracle["baseEdges"]
        if source in entries and target in entries
    ]
    functions = oracle["meta"]["libraryFunctions"]
    return {"flat ops": oracle["meta"]["graphNodes"] - len(functions), "flat edges": sorted(edges)}


def load(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return found
