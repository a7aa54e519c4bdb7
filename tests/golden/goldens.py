"""Pictures that were looked at, kept at three heights, so that a change shows where it comes from.

    python tests/golden/goldens.py            what changed, and a page with old beside new: build/goldens.html
    python tests/golden/goldens.py --accept   the new ones are right

Each case keeps its metagraphs (what is drawn), its scene (where) and its SVG (how it looks). The first that differs
names the stage: expand, arrange and place, or color and render. `kept.py` adds what each stage makes of small inputs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Any

from kept import KEPT, differing

import graphviz_tb
from graphviz_tb.api.pipeline import Picture
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.view import View

HERE = Path(__file__).parent
REAL = HERE.parents[1] / "fixtures" / "real"
PAGE = HERE.parents[1] / "build" / "goldens.html"


@dataclass(frozen=True)
class Case:
    """One picture: a fixture and the choices it is drawn with."""

    name: str
    fixture: str
    choices: dict[str, Any]

    def picture(self) -> Picture:
        model = graphviz_tb.load(REAL / self.fixture)
        return model.picture(title=self.name, **self.choices)


CASES = [
    Case("hidden_open", "hidden_scope.pbtxt", {"depth": 1, "select": ("hidden/weights",)}),
    Case("mnist_closed", "mnist_cnn.pbtxt", {"depth": 0}),
    Case("mnist_conv1_dark", "mnist_cnn.pbtxt", {"open": ("conv1",), "theme": "dark"}),
    Case("mnist_lr", "mnist_cnn.pbtxt", {"open": ("dropout", "fc2"), "direction": "LR"}),
    Case("cifar10", "cifar10_shapes.pb", {}),
    Case("rnn_open", "lstm_dynamic_rnn.pb", {"open": ("rnn",)}),
    Case("functions_open", "func_library_nested.pb", {"depth": 2}),
    Case("while_loop", "while_v1.pb", {"open": ("outer",)}),
    Case("control_heavy_tb", "control_heavy.pb", {"direction": "TB"}),
    Case("numbered_series", "numbered_series.pb", {}),
    Case("odd_names", "odd_names.pbtxt", {}),
    Case("devices", "multi_device.pb", {"color_by": "device", "open": ("dense_0",)}),
    Case("op_types_dark", "xor.pbtxt", {"color_by": "op-type", "theme": "dark", "depth": 1}),
    Case("projection", "../exported/resnet.pt2", {}),
    Case("references_rl", "word2vec_nce.pb", {"direction": "RL", "color_by": "none"}),
]


def heights(case: Case) -> dict[str, str]:
    """The texts of a case by file name, in the order of the stages."""
    picture = case.picture()
    return {
        f"{case.name}.metagraph.json": metagraphs(picture.view),
        f"{case.name}.scene.json": scene(picture.scene),
        f"{case.name}.svg": picture.render("svg").decode(),
    }


def metagraphs(view: View) -> str:
    """Every open group, one line for each child, edge, bridge and annotation."""
    told: list[str] = []
    todo = [view]
    while todo:
        one = todo.pop()
        told += [f"group {one.address!r}", *group(one.metagraph, [node_label.full for node_label in one.node_labels])]
        todo += [inner for _, inner in sorted(one.opened.items(), reverse=True)]
    return "\n".join(told) + "\n"


def group(metagraph: Metagraph, names: list[str]) -> Iterator[str]:
    """One group as lines of JSON."""
    yield json.dumps({"children": names, "functions": len(metagraph.functions), "loops": metagraph.loops})
    mask = metagraph.mask
    yield json.dumps({"in_extract": mask.in_extract, "out_extract": mask.out_extract, "stubbed": sorted(mask.stubbed)})
    for part in (*metagraph.edges, *metagraph.bridges, *metagraph.annotations):
        yield json.dumps(plain(part))


def scene(one: Scene) -> str:
    """A scene, one line for each thing in it."""
    told = [json.dumps({"width": one.width, "height": one.height, "direction": one.direction})]
    for kind in ("boxes", "routes", "ports", "stubs", "texts", "rules"):
        told += [json.dumps({kind: plain(thing)}, ensure_ascii=False, default=plain) for thing in getattr(one, kind)]
    return "\n".join(told) + "\n"


def plain(thing: Any) -> dict[str, Any]:
    """The fields that count in comparisons, as values that JSON takes."""
    return {field.name: getattr(thing, field.name) for field in fields(thing) if field.compare}


def changed(case: Case) -> dict[str, tuple[str, str]]:
    """Old and new text of the files of a case that differ."""
    found = {}
    for name, new in heights(case).items():
        path = HERE / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old != new:
            found[name] = (old, new)
    return found


def review(found: dict[str, dict[str, tuple[str, str]]]) -> str:
    """A page with old beside new."""
    parts = ["<!doctype html><meta charset=utf-8><title>Goldens</title><body style='font-family:sans-serif'>"]
    for name, files in found.items():
        parts.append(f"<h2>{escape(name)}: {escape(', '.join(files))}</h2><div style='display:flex;gap:16px'>")
        old, new = files.get(f"{name}.svg", ("", ""))
        parts += [f"<div style='flex:1;overflow:auto;border:1px solid #ccc'>{svg}</div>" for svg in (old, new)]
        parts.append("</div>")
    return "\n".join(parts)


def main(accept: bool, stages: list[str]) -> int:
    """Compare all cases, or what the named stages make; write the page, or the new goldens."""
    cases = [] if stages else CASES
    found = {case.name: files for case in cases if (files := changed(case))}
    for name, files in found.items():
        sys.stdout.write(f"{name}: {', '.join(files)}\n")
        for file, (_, new) in files.items():
            if accept:
                (HERE / file).write_text(new, encoding="utf-8")
    for path, new in (kept := differing(stages or KEPT)).items():
        sys.stdout.write(f"{path.relative_to(HERE)}\n")
        if accept:
            path.write_text(new, encoding="utf-8")
    if found and not accept:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(review(found), encoding="utf-8")
        sys.stdout.write(f"look at {os.path.relpath(PAGE)}, then run with --accept\n")
    return 1 if (found or kept) and not accept else 0


if __name__ == "__main__":
    sys.exit(main("--accept" in sys.argv, [word for word in sys.argv[1:] if word != "--accept"]))
