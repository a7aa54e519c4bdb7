"""The log of a network that trains badly on purpose, with its graph: what a reader of the picture is to find.

input ─▶ encoder, 12 layers ─▶ head         gradients shrink tenfold with each layer towards the input
input ─▶ wide, 4 layers     ─▶ head         explodes from step 200 on
input ─▶ dead, 3 layers     ─▶ head         its gradients are zero from step 100 on
                               head         NaN from step 300 on
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from graphviz_tb.proto import GraphDef
from tests.event_files import event, field, scalar, strings, tensor, write

STEPS = range(0, 500, 50)
BRANCHES = {"encoder": 12, "wide": 4, "dead": 3, "head": 2}
DOUBLE = 2  # DT_DOUBLE


def layers() -> list[str]:
    """All layers, in the order of the flow."""
    return [f"{branch}/dense_{number}" for branch, count in BRANCHES.items() for number in range(1, count + 1)]


def graph() -> GraphDef:
    """The network: a product, a bias and a ReLU a layer."""
    out = GraphDef()
    out.node.add(name="input", op="Placeholder")
    for size in (32, 64):
        out.node[0].attr["shape"].shape.dim.add(size=size)
    ends = []
    for branch, count in BRANCHES.items():
        before = ["input"]
        if branch == "head":
            out.node.add(name="join", op="AddN", input=ends)
            before = ["join"]
        for number in range(1, count + 1):
            name = f"{branch}/dense_{number}"
            kernel = out.node.add(name=f"{name}/kernel", op="VariableV2")
            for _ in range(2):
                kernel.attr["shape"].shape.dim.add(size=64)
            out.node.add(name=f"{name}/MatMul", op="MatMul", input=[*before, f"{name}/kernel"])
            out.node.add(name=f"{name}/Relu", op="Relu", input=[f"{name}/MatMul"])
            before = [f"{name}/Relu"]
        ends += before
    return out


def gradient(layer: str, step: int) -> float:
    """The root mean square of the gradient of a layer at a step."""
    branch, number = layer.split("/dense_")
    if branch == "head":
        return float("nan") if step >= 300 else 0.1
    if branch == "dead":
        return 0.0 if step >= 100 else 0.01
    if branch == "wide":
        return 0.02 * (10.0 ** (5 + int(number)) if step >= 200 else 1.0)
    return 0.05 * 10.0 ** -(12 - int(number))


def buckets(size: float) -> np.ndarray:
    """A histogram of 100 numbers of that root mean square."""
    if size == 0:
        return np.array([[0.0, 0.0, 100.0]])
    if not np.isfinite(size):
        return np.array([[np.nan, np.nan, 100.0]])
    wide = size * 3**0.5
    return np.array([[-wide, 0.0, 50.0], [0.0, wide, 50.0]])


def write_log(folder: Path) -> Path:
    """The log in a folder: gradients and weights of each layer, and the graph."""
    events = [
        event(
            step,
            *(
                tensor(f"gradients/{layer}/kernel", buckets(gradient(layer, step)), "histograms", DOUBLE)
                for layer in layers()
            ),
            *(tensor(f"weights/{layer}/kernel", buckets(0.1), "histograms", DOUBLE) for layer in layers()),
        )
        for step in STEPS
    ]
    write(folder / "events.out.tfevents.1.bad", b"\x09" + bytes(8) + field(4, graph().SerializeToString()), *events)
    return folder


def write_training(folder: Path, *notes: tuple[str, str]) -> Path:
    """The same as run "bad" of a folder, with scalars and an image of single layers, and texts by their tags."""
    logged = write_log(folder / "bad")
    size = struct.pack(">IIBBBBB", 2, 1, 8, 0, 0, 0, 0)
    parts = (b"IHDR", size), (b"IDAT", zlib.compress(bytes([0, 255, 40]))), (b"IEND", b"")
    chunks = (
        len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big") for name, data in parts
    )
    png = b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
    picture = strings("activations/head/dense_1/image", [b"2", b"1", png], "images", (3,))
    texts = (strings(tag, [text.encode()], "text", ()) for tag, text in notes)
    write(logged / "events.out.tfevents.2.bad", event(0, picture, *texts))
    numbers = (event(step, scalar("loss", 1 / step), scalar("wide/dense_2/size", step)) for step in range(1, 500, 50))
    write(logged / "events.out.tfevents.3.bad", *numbers)
    return folder
