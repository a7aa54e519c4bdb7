"""A made-up embedding of handwritten digits, the same each time: ten clusters, a small picture of each point, and one
part of a cluster that is labelled wrongly. It looks as torch's `add_embedding` writes it."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from graphviz_tb.proto import GraphDef
from graphviz_tb.render.png import PNG_SIGNATURE, _png_chunk
from tests.serve.writing import Writer

SIDE, DIMENSIONS = 14, 24  # pixels of a picture; columns of the embedding
WRONG, TRUE, MANY = 9, 4, 18  # so many points are labelled 9 and lie, and look, among the fours
GLYPHS = (
    *("011110110011110011110011110011011110", "001100011100001100001100001100011110"),
    *("011110110011000110001100011000111111", "111110000011001110000011000011111110"),
    *("000110001110010110111111000110000110", "111111110000111110000011110011011110"),
    *("001110011000111110110011110011011110", "111111000011000110001100011000011000"),
    *("011110110011011110110011110011011110", "011110110011110011011111000110011100"),
)


def picture(digit: int, noise: np.random.Generator) -> np.ndarray:
    """A digit in white on black, a little moved and noisy."""
    small = np.array([int(bit) for bit in GLYPHS[digit]], float).reshape(6, 6)
    large = np.kron(small, np.ones((2, 2)))
    out = np.zeros((SIDE, SIDE))
    down, right = noise.integers(0, SIDE - 12 + 1, 2)
    out[down : down + 12, right : right + 12] = large
    return np.clip(out * noise.uniform(0.7, 1) + noise.normal(0, 0.05, out.shape), 0, 1)


def png(pixels: np.ndarray) -> bytes:
    """A grey picture as a file."""
    rows = b"".join(b"\0" + row.tobytes() for row in (255 * pixels).astype(np.uint8))
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    return (
        PNG_SIGNATURE
        + _png_chunk(b"IHDR", header)
        + _png_chunk(b"IDAT", zlib.compress(rows))
        + _png_chunk(b"IEND", b"")
    )


def write_digits(folder: Path, each: int = 60) -> np.ndarray:
    """Write the embedding; the true digit of each point."""
    noise = np.random.default_rng(7)
    centres = noise.normal(0, 4, (10, DIMENSIONS))
    digits = np.repeat(np.arange(10), each)
    noise.shuffle(digits)
    values = (centres[digits] + noise.normal(0, 1, (len(digits), DIMENSIONS))).astype(np.float32)
    labels = digits.copy()
    labels[np.flatnonzero(digits == TRUE)[:MANY]] = WRONG
    columns = int(np.ceil(np.sqrt(len(digits))))
    sheet = np.zeros((columns * SIDE, columns * SIDE))
    for at, digit in enumerate(digits.tolist()):
        down, right = SIDE * (at // columns), SIDE * (at % columns)
        sheet[down : down + SIDE, right : right + SIDE] = picture(digit, noise)
    inner = folder / "00000" / "default"
    inner.mkdir(parents=True)
    (inner / "tensors.tsv").write_text("".join("\t".join(map(repr, row)) + "\n" for row in values.tolist()))
    ink = sheet.reshape(columns, SIDE, columns, SIDE).sum(axis=(1, 3)).reshape(-1)
    names = [f"image {at}" for at in range(len(labels))]
    names[0] = "<img src=x onerror=alert(1)>"
    rows = "".join(
        f"{label}\t{name}\t{dark:.1f}\n"
        for label, name, dark in zip(labels.tolist(), names, ink.tolist(), strict=False)
    )
    (inner / "metadata.tsv").write_text("digit\tname\tink\n" + rows)
    (inner / "sprite.png").write_bytes(png(sheet))
    (folder / "projector_config.pbtxt").write_text(
        'embeddings {\n  tensor_name: "default:00000"\n  tensor_path: "00000/default/tensors.tsv"\n'
        '  metadata_path: "00000/default/metadata.tsv"\n  sprite {\n    image_path: "00000/default/sprite.png"\n'
        f"    single_image_dim: {SIDE}\n    single_image_dim: {SIDE}\n  }}\n}}\n"
    )
    return digits


def write_looked_up(folder: Path, each: int = 60) -> np.ndarray:
    """The same, and a run whose graph looks its rows up: default, ids ─▶ lookup ─▶ out."""
    graph = GraphDef()
    graph.node.add(name="default", op="VarHandleOp")
    graph.node[0].attr["shared_name"].s = b"default"
    graph.node[0].attr["dtype"].type = 1
    graph.node.add(name="ids", op="Placeholder")
    graph.node.add(name="model/lookup", op="ResourceGather", input=["default", "ids"])
    graph.node.add(name="out", op="Relu", input=["model/lookup"])
    Writer(folder / "run").graph(graph)
    return write_digits(folder, each)
