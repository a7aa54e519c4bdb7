"""Families of SavedModels: signatures by the thousand, names deep in bodies, definitions of ops that do not fit, and
graphs of Python objects in chains, rings and lattices, larger than the graph itself."""

from __future__ import annotations

from random import Random
from typing import Any

from graphviz_tb.formats.textproto.schema import encode_varint
from graphviz_tb.proto import GraphDef, MetaGraphDef, SavedModel
from tests.fuzz.families import calls
from tests.fuzz.families.graphs import ODD


def field(number: int, content: bytes | int) -> bytes:
    """A field on the wire: the graph of objects has no messages of its own here."""
    if isinstance(content, int):
        return encode_varint(number << 3) + encode_varint(content)
    return encode_varint(number << 3 | 2) + encode_varint(len(content)) + content


def signatures(random: Random) -> tuple[str, bytes]:
    """Very many signatures, or very wide ones, of a small graph or a large one."""
    saved, meta = empty_model(random)
    graph = meta.graph_def
    nodes = random.choice((1, 100, 8000))
    for number in range(nodes):
        graph.node.add(name=f"n{number}", op="Relu", input=[f"n{number - 1}"] if number else [])
    bodies = random.choice((0, 1, 200))
    for number in range(bodies):
        body(graph, f"f{number}", random.choice((1, 3, 30)), "r", random, 100_000 // bodies)
        graph.node.add(name=f"call{number}", op="StatefulPartitionedCall", input=["n0"]).attr[
            "f"
        ].func.name = f"f{number}"
    targets = [f"call{number}:0" for number in range(bodies)] or [f"n{nodes - 1}:0"]
    width = random.choice((1, 1, 30, 3000))
    for number in range(random.choice((1, 20, 3000)) if width == 1 else 3):
        signature = meta.signature_def[random.choice((f"s{number}", f"{random.choice(ODD)}{number}"))]
        for at in range(width):
            signature.inputs[f"x{at}"].name = random.choice(("n0:0", f"n{at}:0", "absent:0", ":0", "n0:x"))
            signature.outputs[f"y{at}"].name = random.choice((*targets[:9], f"n{at}:99999999999999", ""))
    return "pb", saved.SerializeToString()


def bodies(random: Random) -> tuple[str, bytes]:
    """A body with names that are deep or long, and inputs that are nearly right, by definitions that do not fit."""
    saved, meta = empty_model(random)
    deep = random.choice(("", "a/" * 300, "a/" * 50_000, "x" * 100_000, "/" * 100_000, "b_1/" * 3000))
    count = random.choice((1, 5, 40)) if len(deep) < 30_000 else 2
    body(meta.graph_def, "f", count, deep + "d", random)
    call = meta.graph_def.node.add(name=random.choice(("c", deep + "c")), op="PartitionedCall", input=["x"])
    call.attr["f"].func.name = "f"
    meta.graph_def.node.add(name="x", op="Placeholder")
    for op in random.sample(("MatMul", "Relu", "Split", "Mine"), 3):
        definition = meta.meta_info_def.stripped_op_list.op.add(name=op)
        for at in range(random.choice((0, 1, 2, 3000))):
            definition.input_arg.add(name=f"i{at}", type_attr="T", number_attr=random.choice(("", "N", "absent")))
            definition.output_arg.add(
                name=random.choice((f"o{at}", "product", "")), type_list_attr=random.choice(("", "T"))
            )
    meta.signature_def["serving_default"].outputs["y"].name = f"{call.name}:0"
    return "pb", saved.SerializeToString()


def body(graph: GraphDef, name: str, count: int, stem: str, random: Random, most: int = 100_000) -> None:
    """A function of so many ops and bytes, with inputs that are spelled in every way."""
    function = graph.library.function.add()
    function.signature.name = name
    function.signature.input_arg.add(name="x", type=1)
    function.signature.output_arg.add(name="y", type=1)
    for number in range(count):
        node = function.node_def.add(name=f"{stem}{number}", op=random.choice(("MatMul", "Relu", "Split", "Mine")))
        node.attr[random.choice(("N", "num_split", "T"))].i = random.choice((0, -1, 3, 2**62))
        room = max(1, most // count // (len(stem) + 9))
        node.attr["T"].list.type.extend([1] * random.choice((0, 1, room)))
        before = f"{stem}{number - 1}" if number else "x"
        suffix = random.choice(("", ":0", ":product:0", ":product:", ":product:abc", ":o0:1:2", ":y:" + "9" * 30))
        node.input.extend([before + suffix] * random.choice((1, 2, 2, room)))
    function.ret["y"] = f"{stem}{count - 1}:{random.choice(('product:0', 'o0:7', '', 'y:x'))}"


def objects(random: Random) -> tuple[str, bytes]:
    """A graph of Python objects around a few functions."""
    saved, meta = empty_model(random)
    if random.random() < 0.5:
        meta.graph_def.CopyFrom(calls.wrappers(random))
        while meta.graph_def.ByteSize() > 100_000:
            meta.graph_def.CopyFrom(calls.wrappers(random))
    body(meta.graph_def, "__inference_call_1", 3, "d", random)
    count = random.choice((2, 50, 3000, 12_000))
    form = random.choice(("chain", "ring", "star", "twice", "any", "tree"))
    name = random.choice(("kernel", "m/kernel", "v" * 1000, "a/" * 3000 + "v", "/" * 20_000))
    variables = count - random.choice((1, 2, 40, count // 2))
    data = []
    for at in range(count):
        made = b"".join(
            field(1, field(1, child) + field(2, random.choice(("layer", f"l{at}", "variables", "a.b/c", "")).encode()))
            for child in children(form, at, count, random)
        )
        if at >= variables:
            told = name if len(name) < 40 or at < variables + 40 else "v"
            made += field(7, field(1, 1) + field(6, told.encode()))
        elif random.random() < 0.1:
            made += field(6, field(1, b"__inference_call_1"))
        data.append(field(1, made))
    several, wide = random.choice(((1, 3), (1, 9000), (500, 30), (5000, 0)))
    captured = b"".join(field(2, random.randrange(count + 2)) for _ in range(wide))
    for number in range(several):
        data.append(field(2, field(1, f"__inference_call_{number + 1}".encode()) + field(2, captured)))
    meta.object_graph_def.MergeFromString(b"".join(data))
    return "pb", saved.SerializeToString()


def children(form: str, at: int, count: int, random: Random) -> list[int]:
    """What an object leads to."""
    after = min(at + 1, count - 1)
    return {
        "chain": [after],
        "ring": [(at + 1) % count],
        "star": list(range(count)) if at == 0 else [0],
        "twice": [after, after],
        "any": [random.randrange(count), random.randrange(count), 2**31 - 1],
        "tree": [min(2 * at + 1, count - 1), min(2 * at + 2, count - 1)],
    }[form]


def empty_model(random: Random) -> tuple[SavedModel, Any]:
    """A SavedModel with one MetaGraph."""
    saved = SavedModel(saved_model_schema_version=1)
    for _ in range(random.choice((0, 0, 0, 2))):
        saved.meta_graphs.add().meta_info_def.tags.append(random.choice(("serve", "train", "")))
    meta: MetaGraphDef = saved.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    return saved, meta


FAMILIES = {family.__name__: family for family in (signatures, bodies, objects)}
