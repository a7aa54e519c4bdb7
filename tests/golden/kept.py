"""What each stage makes of small inputs, kept as text, so that a fault shows in the stage that has it.

    python tests/golden/goldens.py            says which differ
    python tests/golden/goldens.py --accept   the new ones are right
    python tests/golden/goldens.py programs bodies --accept   only these stages

The inputs are `fixtures/rules`, each of which shows one rule, some small files from TensorFlow, and what is drawn by a
seed: `networks.py`, and `drawn_*.py` for programs, models, levels, boxes and coordinates. A test compares one input of
one stage; `git diff` shows what a change of the code changes.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from colours import metered
from each_kind import KERAS, OPS
from edits import TRANSFORMS, edited
from openings import named
from rooms import of_each_op, of_keras
from writers import written

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.color import SCHEMES, make_colouring
from graphviz_tb.diff import diff
from graphviz_tb.errors import MissingFacts, UnknownNode
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy, RowKind
from graphviz_tb.model.paths import RowPath as RowPath
from graphviz_tb.model.sources import as_graph_def
from graphviz_tb.model.view import View
from graphviz_tb.proto import GraphDef
from graphviz_tb.read.source import read_source

FIXTURES = Path(__file__).parents[2] / "fixtures"
HERE = Path(__file__).parent / "stages"
RULES = sorted((FIXTURES / "rules").glob("*.pbtxt"))
REAL = [
    FIXTURES / "real" / name
    for name in (
        "cond_case_v1.pb",
        "func_library_nested.pb",
        "func_library_recursive.pbtxt",
        "hidden_scope.pbtxt",
        "legacy_function_calls.pb",
        "multi_device.pb",
        "ref_edges.pbtxt",
        "savedmodel_small.pb",
        "transformer_block_v2.pb",
        "while_v1.pb",
        "xor.pbtxt",
    )
]
MORE = [
    FIXTURES / "containers" / "saved_model",
    FIXTURES / "logdirs" / "torch_pair",
    FIXTURES / "edits" / "base.frozen.pb",
    FIXTURES / "real" / "frozen_mlp.pb",
]
ALL = sorted((FIXTURES / "real").iterdir())
INPUTS = {path.name: path for path in (*RULES, *REAL, *MORE, *ALL)}
STEP = str(FIXTURES / "run_metadata" / "mnist_cnn_step099.pb")
MEASURED: dict[str, tuple[Path, dict[str, Any]]] = {
    "one step": (FIXTURES / "real" / "mnist_cnn.pbtxt", {"run_metadata": (STEP,)}),
    "two files": (FIXTURES / "real" / "mnist_cnn.pbtxt", {"run_metadata": (STEP, STEP)}),
    "against itself": (FIXTURES / "real" / "mnist_cnn.pbtxt", {"run_metadata": (STEP,), "against": (STEP,)}),
    "all steps": (FIXTURES / "logdirs" / "mnist_runs", {"run": "train", "step": "all"}),
    "against a step": (FIXTURES / "logdirs" / "mnist_runs", {"run": "train", "step": "all", "against": (STEP,)}),
}
EDITS = FIXTURES / "edits"
HEAD = "== "  # before the name of an input; no line of JSON begins with it
MANY = 120  # boxes of a picture with all open: enough for each kind of word
SOME = 20  # the same, of pictures whose every coordinate is kept
LISTED = 4  # changes whose details are kept
ROWS = 30  # whose colours are kept
PATTERNS = ("*", "**", "?*", "*/*", "**/w*", "*::*")


@cache
def load(name: str, **choices: Any) -> Model:
    """The model of an input."""
    return graphviz_tb.load(INPUTS[name], **choices)


def flattened(name: str) -> Iterator[Any]:
    """The columns of the graph, and those that TensorBoard would have."""
    yield from columns(lambda **choices: load(name, **choices), {}, {"preset": "tensorboard"})


def columns(made: Callable[..., Model], *several: dict[str, Any]) -> Iterator[Any]:
    """The columns of a graph for the first of several choices, and what differs from there to the next."""
    ours: dict[str, Any] = {}
    for choices in several:
        graph = made(**choices).hierarchy.graph
        names = [
            field.name for field in fields(graph) if field.init and field.name not in ("graph_def", "index", "meaning")
        ]
        names.insert(names.index("layers"), "weights")
        meant = {"weights": graph.meaning.weights}
        found = {name: plain(meant.get(name, getattr(graph, name, None))) for name in names}
        yield from ((*choices, field, column) for field, column in found.items() if ours.get(field) != column)
        ours = found


def grouped(name: str) -> Iterator[Any]:
    """Every group as we fold, as TensorBoard does where that differs, and where the names say nothing."""
    ours = groups(load(name).hierarchy)
    yield from ours
    theirs = groups(load(name, preset="tensorboard").hierarchy)
    yield from (("tensorboard", *group) for group in theirs if group not in ours)
    graph = as_graph_def(load(name).hierarchy.graph.graph_def)
    yield from (("nameless", *group) for group in groups(graphviz_tb.load(without_names(graph)).hierarchy))


def groups(hierarchy: Hierarchy) -> list[tuple[Any, ...]]:
    """Name and label, kind, origin, structure, parent, number of children and of ops of every group."""
    found = []
    for row in range(len(hierarchy)):
        if hierarchy.can_open(row):
            words = hierarchy.name[row], hierarchy.labels.get(row, "")
            origin = RowKind(hierarchy.kind[row]).name, GroupOrigin(hierarchy.how[row]).name
            numbers = (
                hierarchy.template[row],
                hierarchy.parent[row],
                len(hierarchy.children(row)),
                hierarchy.op_count(row),
            )
            found.append((*words, *origin, *map(int, numbers)))
    return found


def without_names(graph: GraphDef) -> GraphDef:
    """The same graph, its nodes numbered from the last to the first."""
    made = GraphDef()
    made.CopyFrom(graph)
    called = {node.name: f"n{number}" for number, node in enumerate(reversed(made.node))}
    for node in made.node:
        node.name = called[node.name]
        for slot, text in enumerate(node.input):
            source, colon, output = text.removeprefix("^").partition(":")
            node.input[slot] = f"{'^' * text.startswith('^')}{called.get(source, source)}{colon}{output}"
    return made


def arranged(name: str) -> Iterator[Any]:
    """Every skeleton of a picture that is open, and of one where the model itself is drawn in one column."""
    model = load(name)
    folded = views(model.picture(open_all=True, max_open=MANY).view)
    flat = graphviz_tb.load(INPUTS[name], folds=False, series_min=1000)
    yield from (view.skeleton for view in folded)
    yield from (view.skeleton for view in views(flat.picture(depth=2, max_open=SOME).view))


def placed(name: str) -> Iterator[Any]:
    """The coordinates of pictures: the first one, one that is open, and one that runs from left to right."""
    model = load(name)
    for choices in ({}, {"open_all": True, "max_open": SOME}, {"depth": 1, "direction": "LR"}):
        yield from coordinates(model, choices)


def coordinates(model: Model, choices: Mapping[str, Any]) -> Iterator[Any]:
    """Where everything in a picture is."""
    scene = model.picture(**choices).scene
    yield scene.width, scene.height
    yield from ((box.address, box.x, box.y, box.width, box.height) for box in scene.boxes)
    yield from ((route.source, route.target, route.points) for route in scene.routes)
    yield from ((port.box, port.x, port.y) for port in scene.ports)
    yield from ((stub.box, stub.x, stub.y, stub.width, stub.points) for stub in scene.stubs)
    yield from ((text.x, text.y, text.content) for text in scene.texts)


def expanded(name: str) -> Iterator[Any]:
    """Every metagraph; what JSON has of them."""
    model = load(name)
    yield from metagraphs(model, load(name, preset="tensorboard"))
    if INPUTS[name] in RULES:
        for row, group in model.to_json()["groups"].items():
            yield (
                row,
                [list(edge.values()) for edge in group["edges"]],
                list(group["annotations"].items()),
                group["loops"],
            )


def metagraphs(model: Model, tensorboard: Model) -> Iterator[Any]:
    """Every metagraph, as we fold and, where that differs, as TensorBoard does."""
    ours = [view.metagraph for view in views(model.picture(open_all=True, max_open=MANY).view)]
    yield from ours
    theirs = tensorboard.picture(open_all=True, max_open=MANY)
    yield from (("tensorboard", view.metagraph) for view in views(theirs.view) if view.metagraph not in ours)


def viewed(name: str) -> Iterator[Any]:
    """Which groups are open under several choices, every word about them, and what patterns find."""
    model = load(name)
    for choices in ({}, {"depth": 0}, {"depth": 2}, {"open": ("*",)}):
        with suppress(UnknownNode):
            picture = model.picture(**choices)
            yield [view.address for view in views(picture.view)], picture.caption.facts, map(str, picture.notices)
    for view in views(model.picture(max_annotations=2, open_all=True, max_open=MANY).view):
        yield view.address, view.node_labels, view.functions, view.words, view.names, view.labels
    for pattern in PATTERNS:
        with suppress(UnknownNode):
            yield pattern, model.names.find_paths(pattern)[:20]


def opened(name: str) -> Iterator[Any]:
    """Which groups the first picture opens, and how many boxes it has."""
    picture = load(name).picture()
    yield [view.address for view in views(picture.view)]
    yield len(picture.scene.boxes), picture.caption.facts


def coloured(name: str) -> Iterator[Any]:
    """What each colouring says of the first rows, and its legend."""
    model = load(name)
    yield from said(model, [scheme for scheme, row in SCHEMES.items() if not (row.measured or row.logged or row.given)])


def measured(name: str) -> Iterator[Any]:
    """What colourings by run statistics say, and the lines that they make fainter."""
    source, choices = MEASURED[name]
    model = graphviz_tb.load(source, **choices)
    yield from said(model, [scheme for scheme, row in SCHEMES.items() if row.measured])
    yield from said(model, ["structure", "device"], stats=True)
    for scheme in ("compute-time", "device"):
        picture = model.picture(depth=1, color_by=scheme, stats=True, title="title")
        yield picture.paint.tints, picture.paint.accounts, picture.caption.facts


def numbered(name: str) -> Iterator[Any]:
    """The numbers of colourings by run statistics."""
    source, choices = MEASURED[name]
    yield from metered(graphviz_tb.load(source, **choices))


def said(model: Model, schemes: list[str], stats: bool = False) -> Iterator[Any]:
    """Fill, second line and account of each row, then the legend, for each of some schemes."""
    rows = range(1, min(len(model.hierarchy), ROWS))
    paths: list[RowPath] = [(row,) for row in rows]
    for scheme in schemes:
        for theme in ("light", "dark"):
            try:
                colouring = make_colouring(model.hierarchy, model.facts, scheme, theme, stats).scaled_to(paths)
            except MissingFacts as error:
                yield scheme, str(error)
                break
            yield scheme, [colouring.heading, colouring.title_text(3), colouring.legend_rows(paths)]
            for path in paths if theme == "light" else paths[:2]:
                yield path[0], [colouring.fill_of(path), colouring.second_line(path), colouring.tooltip_text(path)]


def legends(name: str) -> Iterator[Any]:
    """Which colours a whole file has."""
    model = load(name)
    paths = [(row,) for row in range(1, len(model.hierarchy))]
    for scheme in ("structure", "device", "op-type"):
        yield scheme, make_colouring(model.hierarchy, model.facts, scheme).legend_rows(paths)


def rendered(name: str) -> Iterator[Any]:
    """The formats that are texts, and the operators of the PDF page."""
    model = load(name)
    picture = model.picture(open_all=True, max_open=MANY, title="title", color_by="op-type")
    yield from picture.render("dot").decode().splitlines()
    yield from model.to_json()["nodes"]
    streams = re.findall(rb"stream\n(.*?)\nendstream", picture.render("pdf"), re.DOTALL)
    yield from zlib.decompress(streams[0]).decode("latin-1").splitlines()


def documented(name: str) -> Iterator[Any]:
    """The lines of JSON, and a level as `networkx` has it."""
    model = load(name)
    yield from model.render("json").decode().splitlines()
    graph = model.to_networkx()
    yield graph.name, list(graph.nodes(data=True)), list(graph.edges(data=True))


def signed(name: str) -> Iterator[Any]:
    """SVG with the signs of a diff, and with what is selected."""
    edit, _, form = name.partition(".")
    changes = diff(EDITS / f"base.{form}", EDITS / f"{edit}.{form}")
    yield from changes.picture(title="diff").render("svg").decode().splitlines()
    chosen = graphviz_tb.load(EDITS / name).picture(select=("**",), title="title", theme="dark")
    yield from chosen.render("svg").decode().splitlines()


def compared(name: str) -> Iterator[Any]:
    """The report on the model as it was and as it was edited."""
    edit, _, form = name.partition(".")
    yield from reported(EDITS / f"base.{form}", EDITS / f"{edit}.{form}")


def paired(name: str) -> Iterator[Any]:
    """The report on a rule's graph and the next one's: two graphs with little in common."""
    names = list(INPUTS)
    yield from reported(INPUTS[name], INPUTS[names[(names.index(name) + 1) % len(RULES)]])


def edited_anew(name: str) -> Iterator[Any]:
    """The report on a real graph and an edited copy, without what is noise, and with all that may be asked for."""
    graph = read_source(INPUTS[name]).graph_def
    for include in ((), ("all",)):
        changes = diff(graph, edited(graph, f"{name} {include}"), include)
        yield from (line.rstrip() for line in changes.explain("text", None).splitlines()[1:])
        yield from json.loads(changes.explain("json", None))["changes"][:LISTED]


def transformed(name: str) -> Iterator[Any]:
    """The report on a graph and on each of its transformations, there and back."""
    graph = read_source(INPUTS[name]).graph_def
    for word, (transform, _) in TRANSFORMS.items():
        made = transform(graph, random.Random(f"{name} {word}"))
        for changes in (diff(graph, made), diff(made, graph)) if made is not None else ():
            yield from (line.rstrip() for line in (word, *changes.explain("text", None).splitlines()[1:]))
            yield from json.loads(changes.explain("json", None))["changes"][:LISTED]


def reported(old: Path, new: Path) -> Iterator[Any]:
    """The report as text and as JSON, and the marks of the picture."""
    changes = diff(old, new)
    yield from (line.rstrip() for line in changes.explain("text", None).splitlines()[1:])
    yield json.loads(changes.explain("json", None)) | {"old": old.name, "new": new.name}
    picture = changes.picture(title="diff")
    yield from zip((box.address for box in picture.scene.boxes), picture.paint.boxes, strict=True)
    yield picture.paint.tints, picture.paint.legend, picture.caption.facts


def views(view: View) -> Iterator[View]:
    """A view and those inside it, in preorder."""
    todo = [view]
    while todo:
        view = todo.pop()
        yield view
        todo += [inner for _, inner in sorted(view.opened.items(), reverse=True)]


SMALL = [path.name for path in RULES]
FORMS = ("json", "frozen.pb", "train.pb")
EDITED = sorted(path.name for form in FORMS for path in EDITS.glob(f"*.{form}") if not path.name.startswith("base."))
# Stage → what is kept of it, and the names of the inputs.
PLAIN = [path.name for path in (*RULES, *REAL, *MORE)]
LABELLED = ["edits/rebuilt.frozen.pb", *(f"models/keras3/{name}_saved" for name in ("custom", "nested", "siamese"))]
DOCUMENTS = [
    *(
        "constant_with_control_inputs.pbtxt",
        "saved_model",
        "reference_edges.pbtxt",
        "self_loop.pbtxt",
        "while_frame.pbtxt",
    ),
]
KEPT: dict[str, tuple[Callable[[str], Iterator[Any]], list[str]]] = {
    "flatten": (flattened, PLAIN),
    "group": (grouped, [path.name for path in (*RULES, *ALL)]),
    "arrange": (arranged, [*PLAIN, "cifar10_shapes.pb", "gan_scopes.pb", "keras2_functional.pb"]),
    "place": (placed, [*SMALL[::2], *(path.name for path in REAL), "cifar10_shapes.pb", "keras2_functional.pb"]),
    "expand": (expanded, [*PLAIN, "control_heavy.pb", "input_queue.pb", "keras2_functional.pb", "word2vec_nce.pb"]),
    "view": (viewed, PLAIN),
    "color": (coloured, [*SMALL[::3], *(path.name for path in (*REAL, *MORE))]),
    "names": (lambda name: named(graphviz_tb.load(FIXTURES / name)), LABELLED),
    "opened": (opened, [path.name for path in ALL]),
    "legends": (legends, [path.name for path in ALL]),
    "measured": (measured, list(MEASURED)),
    "numbers": (numbered, ["one step", "all steps", "against a step"]),
    "render": (rendered, SMALL[::6]),
    "signs": (signed, ["gelu.json", "inserted.json", "no_norm.json", "renamed.json"]),
    "writers": (written, ["svg", "hatches", "pdf", "dot", "dot without title"]),
    "documents": (documented, DOCUMENTS),
    "diff": (compared, EDITED),
    "pairs": (paired, SMALL[::2]),
    "transforms": (transformed, [*SMALL[::3], *(path.name for path in REAL)]),
    "edits": (edited_anew, [path.name for path in ALL if path.suffix in (".pb", ".pbtxt")]),
    "ops": (of_each_op, OPS),
    "keras": (of_keras, KERAS),
}


def plain(thing: Any) -> Any:
    """A value as JSON takes it; our own types as a list of the fields that count in comparisons."""
    if is_dataclass(thing) and not isinstance(thing, type):
        return [plain(getattr(thing, field.name)) for field in fields(thing) if field.compare]
    if isinstance(thing, Mapping):
        return {str(key): plain(value) for key, value in thing.items()}
    if isinstance(thing, np.ndarray):
        return thing.astype(int).tolist()
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, list | tuple | map):
        return [plain(inner) for inner in thing]
    return sorted(thing) if isinstance(thing, set | frozenset) else thing


def text_of(stage: str, name: str) -> str:
    """What the stage makes of an input now, one line for each thing."""
    make, _ = KEPT[stage]
    lines = (json.dumps(plain(thing), ensure_ascii=False, default=str, separators=(",", ":")) for thing in make(name))
    return "".join(f"{line}\n" for line in lines)


@cache
def accepted(stage: str) -> dict[str, str]:
    """The accepted text by input."""
    path = HERE / f"{stage}.txt"
    parts = path.read_text(encoding="utf-8").split(HEAD)[1:] if path.exists() else []
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def differing(stages: Collection[str] = KEPT.keys()) -> dict[Path, str]:
    """The new text of each file of these stages that is another now."""
    found = {}
    for stage in stages:
        names = KEPT[stage][1]
        new = {name: text_of(stage, name) for name in names}
        if new != accepted(stage):
            found[HERE / f"{stage}.txt"] = "".join(f"{HEAD}{name}\n{text}" for name, text in new.items())
    return found
