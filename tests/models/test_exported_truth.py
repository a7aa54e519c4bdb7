"""Twenty networks as programs of `torch.export` and ONNX, against what PyTorch says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphviz_tb import load
from graphviz_tb.errors import UnknownFormat
from graphviz_tb.model.hierarchy import SCOPE_ROW, Hierarchy
from graphviz_tb.words.paper import PaperWords
from tests.effort import part

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TABLE: dict[str, dict[str, Any]] = json.loads((FIXTURES / "exported/truth.json").read_text())
LITE: dict[str, dict[str, Any]] = json.loads((FIXTURES / "lite/truth.json").read_text())
FORMS = ("pt2", "dynamo.onnx.gz", "script.onnx.gz")
MODULE = re.compile(r"[^\[\]/]+\[([^\]]*)\]")
CALL_NUMBER = re.compile(r"@\d+$")
MACS_WITHIN = 0.02
# Of these the older exporter of ONNX folds norms, drops parameters or stores one twice; of others the file has all.
CHANGED_BY_EXPORTER = frozenset(
    [
        *("conformer", "densenet", "efficientnet", "gpt", "lora"),
        *("maskrcnn", "resnet", "swin", "unet", "wavenet"),
    ]
)
# No words of attention: queries and values are each made by three dense layers.
UNUSUAL = {"lora": "SelfAttention"}


@cache
def model_of(path: str) -> Any:
    return load(FIXTURES / path)


def programs(form: str) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """The networks of a form, with their truth. A form without a reader is skipped."""
    for name in part(sorted(TABLE), 32):
        if form in TABLE[name]["forms"]:
            try:
                model = model_of(f"exported/{name}.{form}")
            except UnknownFormat as error:
                pytest.skip(str(error))
            yield name, model, TABLE[name]


def module_path(name: str) -> str:
    """The path of a module in its program, from the name of its scope; "" for what is none.

    `GPT/GPTBlock[h.0]/SelfAttention[attn@2]` ─▶ `h.0.attn`; an exporter that says no class: `h.0/attn` ─▶ `h.0.attn`
    """
    segments = name.split("/")
    modules = [found[1] for segment in segments if (found := MODULE.fullmatch(segment))]
    path = ""
    for segment in (CALL_NUMBER.sub("", each) for each in (modules if "[" in name else segments)):
        # One exporter repeats the path of the module around: `layer1/layer1.0/conv1`.
        path = segment if not path or segment.startswith(f"{path}.") else f"{path}.{segment}"
    return path


def scopes(hierarchy: Hierarchy) -> dict[str, list[int]]:
    """The rows of the scopes of each module."""
    found: dict[str, list[int]] = {}
    for row in range(1, len(hierarchy)):
        if hierarchy.kind[row] == SCOPE_ROW and (path := module_path(hierarchy.name[row])):
            found.setdefault(path, []).append(row)
    return found


def given_shapes(model: Any, prefix: str) -> set[tuple[int | None, ...]]:
    """The shapes of what ops of a scope give to others outside."""
    graph = model.hierarchy.graph
    inside = np.array([name.startswith(prefix) for name in graph.name])
    leaving = graph.source[inside[graph.source] & ~inside[graph.target] & ~graph.control]
    nodes = {graph.name[node] for node in set(leaving.tolist())}
    return {shape for (name, _), shape in model.shapes().items() if name in nodes and shape is not None}


def fits(given: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    """Whether a shape is the one that torch saw; a size that the file leaves open is not wrong."""
    return len(given) == len(shape) and all(size in (None, true) for size, true in zip(given, shape, strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_parameters_are_exact_or_a_bound_that_is_said(form: str) -> None:
    wrong = []
    for name, model, told in programs(form):
        cost, count = model.cost.under(0), told["parameters"]
        # Of the last convolution of a residual path, which no output needs, the older exporter leaves no trace.
        assert cost.is_lower_bound("parameters") or "script" not in form, name
        assert cost.parameters == count or "script" not in form or name in CHANGED_BY_EXPORTER, name
        least = 0 if cost.is_upper_bound("parameters") else cost.parameters
        most = inf if cost.is_lower_bound("parameters") else cost.parameters
        if not least <= count <= most or not 0.95 * count < cost.parameters < 1.4 * count:
            wrong.append(f"{name}: {cost.parameters}, but {told['parameters']}")
    assert not wrong


@pytest.mark.parametrize("form", FORMS)
def test_multiply_adds_are_within_two_percent(form: str) -> None:
    wrong = []
    for name, model, told in programs(form):
        macs = model.cost.under(0).macs
        if abs(macs - told["macs"]) > MACS_WITHIN * told["macs"]:
            wrong.append(f"{name}: {macs}, but {told['macs']}")
    assert not wrong


@pytest.mark.parametrize("form", FORMS)
def test_blocks_of_stages_are_as_many_as_the_paper_has(form: str) -> None:
    asked, wrong = 0, []
    for name, model, told in programs(form):
        paths = scopes(model.hierarchy)
        for container, count in told["stages"].items():
            blocks = {path for path in paths if re.fullmatch(re.escape(container) + r"\.[^.]+", path)}
            asked += 1
            if len(blocks) != count:
                wrong.append(f"{name}.{container}: {len(blocks)}, but {count}")
    assert len(wrong) <= 0.08 * asked, wrong


@pytest.mark.parametrize("form", FORMS)
def test_modules_give_the_shapes_that_torch_saw(form: str) -> None:
    wrong = []
    for name, model, told in programs(form):
        for path, rows in scopes(model.hierarchy).items():
            said = told["modules"].get(path)
            if said is None or not said["shapes"] or not isinstance(said["shapes"][0][0], int):
                continue
            shapes = {tuple(shape) for shape in said["shapes"]}
            for row in rows:
                given = given_shapes(model, f"{model.hierarchy.name[row]}/")
                if given and not any(fits(each, shape) for each in given for shape in shapes):
                    wrong.append(f"{name}.{path}: {given}, but {shapes}")
    assert not wrong


def second_line(said: dict[str, Any]) -> str:
    """What the second line of a layer begins with, from its settings; "" for any other module."""
    kind = said["class"]
    if kind in ("Conv1d", "Conv2d"):
        kernel = ("k" if kind == "Conv1d" else "") + "×".join(map(str, said["kernel_size"]))
        depthwise = said["groups"] == said["in_channels"] > 1
        words = [f"dw {kernel}"] if depthwise else [kernel, grouped(said["out_channels"])]
        if max(said["stride"]) > 1:
            words.append("/" + "×".join(map(str, sorted(set(said["stride"])))))
        return ", ".join(words)
    if kind == "Linear":
        return f"{grouped(said['in_features'])} → {grouped(said['out_features'])}"
    if kind == "Embedding":
        return f"{grouped(said['num_embeddings'])} × {grouped(said['embedding_dim'])}"
    if kind == "SelfAttention":
        shared = f", {said['kv']} kv" if said["kv"] != said["heads"] else ""
        return f"{said['heads']} heads{shared} × {said['shapes'][0][-1] // said['heads']}"
    return ""


def grouped(number: int) -> str:
    text = f"{number:,}".replace(",", "\u2009")
    return text if number > 9999 else str(number)


@pytest.mark.parametrize("form", FORMS)
def test_second_lines_of_layers_are_their_settings(form: str) -> None:
    asked, wrong = 0, []
    for name, model, told in programs(form):
        paper = PaperWords(model.hierarchy)
        for path, rows in scopes(model.hierarchy).items():
            said = told["modules"].get(path, {"class": ""})
            expected = second_line(said) if said["class"] != UNUSUAL.get(name) else ""
            for row in rows if expected else ():
                asked += 1
                if not (paper.words_of_row(row) or "").startswith(expected):
                    wrong.append(f"{name}.{path}: {paper.words_of_row(row)!r}, but {expected!r}")
    assert asked
    assert not wrong
