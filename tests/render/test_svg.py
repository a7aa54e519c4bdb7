"""SVG that any viewer takes: well-formed, the same every time, nothing active, every name told and
escaped."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

import graphviz_tb
from graphviz_tb.model.drawing import Drawing, Group, Section
from graphviz_tb.proto import GraphDef
from graphviz_tb.render.svg import svg_bytes as write
from tests.each import each
from tests.effort import part

FIXTURES = Path(__file__).parents[2] / "fixtures"
REAL = FIXTURES / "real"
GRAPHS = sorted(REAL.glob("*.pb*"))
SVG = "{http://www.w3.org/2000/svg}"
# What GitHub's sanitizer leaves in an SVG, as far as we use it.
ELEMENTS = {"svg", "g", "rect", "path", "circle", "text", "title", "desc", "defs", "pattern"}
ATTRIBUTES = {
    "width",
    "height",
    "viewBox",
    "role",
    "font-family",
    "font-size",
    "font-weight",
    "x",
    "y",
    "rx",
    "cx",
    "cy",
    "r",
    "d",
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linejoin",
    "transform",
    "text-anchor",
    "textLength",
    "lengthAdjust",
    "paint-order",
    "data-name",
    "id",
    "patternUnits",
    "patternTransform",
}


@each("path", part(GRAPHS, 12), ids=lambda path: path.name)
def test_well_formed_and_harmless(path: Path) -> None:
    for choices in ({}, {"open_all": True, "max_open": 300, "theme": "dark"}):
        picture = graphviz_tb.load(path).picture(**choices)
        root = ElementTree.fromstring(picture.render("svg"))
        for element in root.iter():
            assert element.tag.removeprefix(SVG) in ELEMENTS
            assert set(element.attrib) <= ATTRIBUTES
        assert root.find(f"{SVG}title") is not None
        assert root.find(f"{SVG}desc") is not None
        names = [element.attrib["data-name"] for element in root.iter() if "data-name" in element.attrib]
        assert len(names) == len(picture.scene.boxes)


def test_hostile_names_are_data() -> None:
    name = '\\"><script>alert(1)<script>&amp;\\n\\001\\342\\200\\256'
    svg = graphviz_tb.load(f'node {{ name: "{name}" op: "X" }}'.encode()).picture().render("svg")
    root = ElementTree.fromstring(svg)
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    (told,) = (element.attrib["data-name"] for element in root.iter() if "data-name" in element.attrib)
    assert told == '"><script>alert(1)<script>&amp;\n��'


def test_texts_are_held_to_their_width() -> None:
    root = ElementTree.fromstring(graphviz_tb.load(FIXTURES / "real/mnist_cnn.pbtxt").picture().render("svg"))
    texts = list(root.iter(f"{SVG}text"))
    assert texts
    assert all(text.attrib.get("lengthAdjust") == "spacingAndGlyphs" for text in texts)


def test_the_legend_tells_only_what_occurs() -> None:
    # a ─▶ b ┄▶ c
    nodes = ("a", ""), ("b", 'input:"a"'), ("c", 'input:"^b"')
    model = graphviz_tb.load("".join(f'node{{name:"{name}" op:"X" {inputs}}}' for name, inputs in nodes).encode())
    told = model.picture().render("svg").decode()
    assert ">data<" in told
    assert ">control<" in told
    for word in ("operation", "reference", "constant", "summary", "series", "opens"):
        assert f">{word}" not in told
    assert ">control<" not in model.picture(legend=False).render("svg").decode()


@pytest.mark.parametrize("seed", part(["4711", "0"], 2))
def test_same_bytes_under_any_hash_seed(seed: str) -> None:
    path = FIXTURES / "real" / "word2vec_nce.pb"
    code = (
        f"import sys, graphviz_tb; sys.stdout.buffer.write(graphviz_tb.load({str(path)!r}).picture(depth=1).render())"
    )
    here = graphviz_tb.load(path).picture(depth=1).render("svg")
    env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env).stdout
    assert here == there


def test_a_selected_node_and_its_edges_stand_out() -> None:
    text = b'node{name:"a" op:"X"} node{name:"b" op:"X" input:"a"}'
    svg = graphviz_tb.load(text).picture(select=("a",)).render("svg").decode()
    assert svg.count("#0969DA") == 3  # the outline, the line, its head


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
def test_empty_and_odd_graphs_draw(direction: str) -> None:
    for text in (b'node{name:" " op:"X"}', b'node{name:"/" op:"X"}', b'node{name:"a/b" op:"" input:"a/b"}'):
        svg = graphviz_tb.load(text).picture(direction=direction).render("svg")
        assert ElementTree.fromstring(svg).tag == f"{SVG}svg"


@pytest.mark.parametrize("name", ["mnist_cnn.pbtxt", "odd_names.pbtxt"])
def test_librsvg_draws_it(name: str, require: Callable[..., None], tmp_path: Path) -> None:
    require("rsvg-convert")
    target = tmp_path / "x.png"
    svg = graphviz_tb.load(REAL / name).picture(depth=1, color_by="device").render("svg")
    done = subprocess.run(["rsvg-convert", "-o", str(target)], input=svg, capture_output=True, check=True)
    assert not done.stderr
    assert target.read_bytes().startswith(b"\x89PNG")


def test_the_facts_below_the_title_are_whole_in_a_narrow_picture() -> None:
    """What was left out is said at their end: a drawing of four boxes is not wide enough for them."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}, {"name": "NoOp", "op": "NoOp", "input": ["^x"]}])
    graph.node.add(name="y", op="Relu", input=["x"])
    graph.node.add(name="Identity", op="Identity", input=["y", "^NoOp"])
    for number in range(1200):
        graph.node.add(name=f"z_{number}", op="Tanh", input=["y"])
    picture = graphviz_tb.load(graph).picture(legend=False, title="t", depth=0)
    assert picture.scene.width < 240
    assert picture.caption.facts.endswith("1 op left out")
    svg = ElementTree.fromstring(picture.render("svg"))
    assert picture.caption.facts in {text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")}


def test_long_names_are_not_there_twice() -> None:
    """Each group of a deep graph names all groups around it: the names alone fill an SVG."""
    groups = tuple(Group((), address=f"{number:04}" * 2_000) for number in range(2_000))
    drawing = Drawing(
        100, 100, "", "", "#FFFFFF", (Section("graph", (8, 8), groups), Section("legend", (8, 90), groups))
    )
    tracemalloc.start()
    text = write(drawing)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert text.count(b"</g>") == sum(len(part.groups) + 1 for part in drawing.parts)
    assert most < 1.6 * len(text)
