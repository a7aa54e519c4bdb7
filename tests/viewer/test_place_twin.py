"""The viewer places as Python places: number for number, on every fixture, on generated graphs, for any open set."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from scenes import Paths, scenes

import graphviz_tb
from graphviz_tb.api.layout import _draft_picture, first_picture_columns, groups_opened_by_picture
from graphviz_tb.api.pipeline import Model
from graphviz_tb.arrange.level import ArrangeOptions, arrange
from graphviz_tb.errors import TbGraphError
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.model.paths import child_path, parent_path, stack_around
from graphviz_tb.open.groups import OpenSet
from graphviz_tb.options import PictureOptions
from graphviz_tb.page.blocks import TextTable
from graphviz_tb.page.build import page_data
from graphviz_tb.page.levels import LevelStore
from graphviz_tb.page.ungrouping import _rows_of_same_nodes, add_ungrouped_levels
from graphviz_tb.page.walk import CopiedLevels, _is_nested_too_often
from tests.place.test_bare_frames import picture_of_encoder
from tools.twin.make import TARGET, by_import, translated
from tools.twin.names import World

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted([*(FIXTURES / "real").glob("*.pb*"), *(FIXTURES / "rules").glob("*.pbtxt")])
PARTS = 5  # of a long test, so that several processes share it
pytestmark = pytest.mark.machine
PICTURES: list[dict[str, Any]] = [
    {"depth": 0},
    {"direction": "LR"},
    {"open_all": True, "max_open": 300, "direction": "TB"},
]


@pytest.fixture(autouse=True)
def node(require: Callable[..., None]) -> None:
    """What the viewer's script runs in."""
    require("node")


def test_the_script_is_current() -> None:
    assert TARGET.read_text(encoding="utf-8") == translated() + "\n", "run make viewer"


def test_modules_that_import_each_other_are_an_error(tmp_path: Path) -> None:
    # one ◀─▶ two
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / f"{name}.py").write_text(f"import {other}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="import each other: one, two"):
        by_import(World(tmp_path, ["one", "two"]))


def loaded(path: Any) -> list[Model]:
    try:
        return [graphviz_tb.load(path)]
    except TbGraphError:
        return []


def plain(value: Any) -> Any:
    """As JSON gives it back."""
    return json.loads(json.dumps(asdict(value)))


@pytest.mark.parametrize("part", range(PARTS))
def test_every_fixture_is_placed_alike(tmp_path: Path, part: int) -> None:
    models = [(path.name, model) for path in FILES[part::PARTS] for model in loaded(path)]
    cases, expected = [], []
    for name, model in models:
        for choices in PICTURES:
            options = replace(model.options.picture, **choices)
            opened, _ = groups_opened_by_picture(model, options)
            cases.append((model, [[path for path in opened if path != (0,)]], options))
            expected.append((f"{name} {choices}", plain(model.picture(options).scene)))
    for (name, one), other in zip(expected, scenes(cases, tmp_path), strict=True):
        assert one == other, name


def opened_by_chance(model: Model, chance: random.Random, most: int = 60) -> Paths:
    """Groups opened one after the other, each in a group that is open."""
    opened: Paths = []
    known = {(0,), *((row,) for row in model.hierarchy.function_rows)}
    front = [child for path in sorted(known) for child in groups(model, path)]
    for _ in range(chance.randint(0, most)):
        if not front:
            break
        path = front.pop(chance.randrange(len(front)))
        opened.append(path)
        front += groups(model, path)
    return [path for path in opened if parent_path(model.hierarchy, path) in {(0,), None, *opened}]


def groups(model: Model, path: tuple[int, ...]) -> Paths:
    """What opens in an open group."""
    children = (child_path(model.hierarchy, path, row) for row in model.metagraph(path).children)
    return [child for child in children if model.hierarchy.can_open(child[-1]) and not _is_nested_too_often(child)]


@pytest.mark.parametrize("name", ["mnist_cnn.pbtxt", "lstm_dynamic_rnn.pb", "func_library_recursive.pbtxt"])
def test_fifty_open_sets_are_placed_alike(name: str, tmp_path: Path) -> None:
    model = graphviz_tb.load(FIXTURES / "real" / name)
    chance = random.Random(name)
    sets = [opened_by_chance(model, chance) for _ in range(50)]
    found = scenes([(model, sets, listing(model))], tmp_path)
    for opened, one in zip(sets, found, strict=True):
        assert plain(scene_of(model, opened)) == one, opened


@pytest.mark.parametrize("direction", ["BT", "LR"])
def test_stacks_that_show_one_member_are_placed_alike(direction: str, tmp_path: Path) -> None:
    cases = []
    files = FIXTURES / "real" / "numbered_series.pb", FIXTURES / "exported" / "resnet.pt2"
    for number, source in enumerate((nested_stacks(), stacks_alone(), *files)):
        model, chance = graphviz_tb.load(source), random.Random(number)
        options = replace(model.options.picture, direction=direction)
        cases.append((model, [one_of_each(model, opened_by_chance(model, chance)) for _ in range(20)], options))
    found = iter(scenes(cases, tmp_path))
    sheets = boxes = 0
    for model, sets, options in cases:
        for opened in sets:
            scene = scene_of(model, opened, options)
            assert plain(scene) == next(found), opened
            sheets += sum(box.open and box.sheets > 0 for box in scene.boxes)
            boxes += sum(box.surplus for box in scene.boxes)
    assert sheets > 20
    assert boxes > 5


def nested_stacks() -> bytes:
    """Six blocks in a row in a scope that holds nothing else, each with four cells side by side; two that have more
    around them; what all of them read, and what reads each."""
    lines = ['node { name: "x" op: "Placeholder" }', 'node { name: "mask" op: "Placeholder" }']
    last = "x"
    for block in range(6):
        scope = f"net/blocks/block_{block}"
        cells = []
        for cell in range(5):
            name = f"{scope}/cell_{cell}"
            lines.append(f'node {{ name: "{name}/a" op: "MatMul" input: "{last}" input: "mask" }}')
            lines.append(f'node {{ name: "{name}/b" op: "Relu" input: "{name}/a" }}')
            cells.append(f'input: "{name}/b"')
        lines.append(f'node {{ name: "{scope}/sum" op: "AddN" {" ".join(cells)} input: "{last}" }}')
        lines.append(f'node {{ name: "tap_{block}" op: "Identity" input: "{scope}/sum" }}')
        last = f"{scope}/sum"
    lines.append(f'node {{ name: "y" op: "Softmax" input: "{last}" }}')
    return "\n".join(lines).encode()


def stacks_alone() -> bytes:
    """Five blocks, and five cells in each: groups that hold nothing but a stack, one of them a member of another."""
    nodes = [f"a/block_{block}/cell_{cell}" for block in range(5) for cell in range(5)]
    return "".join(
        f'node {{ name: "{name}/x" op: "A" }} node {{ name: "{name}/y" op: "B" input: "{name}/x" }}' for name in nodes
    ).encode()


def one_of_each(model: Model, opened: Paths) -> Paths:
    """An open set without the second and later members of any stack, and what is in them."""
    kept: Paths = []
    members: dict[tuple[int, ...], tuple[int, ...]] = {}
    for path in sorted(opened, key=lambda path: (len(path), path)):
        around = parent_path(model.hierarchy, path)
        stack = stack_around(model.hierarchy, path)
        if around in {(0,), None, *kept} and (stack is None or members.setdefault(stack, path) == path):
            kept.append(path)
    return kept


def copies_of_blocks() -> bytes:
    """Eight blocks in a row, each with a chain of five cells, three numbered ops and a weight from elsewhere; the ops
    of some blocks are called otherwise."""
    lines = ['node { name: "x" op: "Placeholder" }', 'node { name: "mask" op: "Placeholder" }']
    last = "x"
    for block in range(8):
        scope, numbers = f"net/block_{block}", range(3) if block < 5 else range(7, 10)
        lines.append(f'node {{ name: "weights/w_{block}" op: "Const" }}')
        lines.append(f'node {{ name: "{scope}/in" op: "MatMul" input: "{last}" input: "weights/w_{block}" }}')
        last = f"{scope}/in"
        for cell in range(5):
            for op, kind in (("a", "Mul"), ("b", "Relu")):
                more = 'input: "mask"' if op == "a" else ""
                lines.append(f'node {{ name: "{scope}/cell_{cell}/{op}" op: "{kind}" input: "{last}" {more} }}')
                last = f"{scope}/cell_{cell}/{op}"
        for number in numbers:
            lines.append(f'node {{ name: "{scope}/top/n_{number}" op: "Tanh" input: "{last}" }}')
            last = f"{scope}/top/n_{number}"
        lines.append(f'node {{ name: "{scope}/top/out" op: "Sigmoid" input: "{last}" }}')
        last = f"{scope}/top/out"
    lines.append(f'node {{ name: "net/y" op: "Softmax" input: "{last}" }}')
    return "\n".join(lines).encode()


def any_member(model: Model, chance: random.Random) -> Paths:
    """An open set with most groups, and one member by chance of each stack."""
    opened: Paths = []
    front: Paths = [(0,)]
    while front:
        path = front.pop()
        inner = groups(model, path)
        inner = [chance.choice(inner)] if inner and stack_around(model.hierarchy, inner[0]) else inner
        front += [child for child in inner if chance.random() < 0.9]
        opened += [path] if path != (0,) else []
    return opened


def test_copies_in_a_stack_are_placed_alike(tmp_path: Path) -> None:
    model, chance = graphviz_tb.load(copies_of_blocks()), random.Random(8)
    _, blocks = page_data(model, model.options.picture)
    copies = next(block for block in blocks if block.name == "copies")
    assert len(copies.data) > 4 * 20, "the members that the test is about"
    sets = [any_member(model, chance) for _ in range(40)]
    for opened, one in zip(sets, scenes([(model, sets, model.options.picture)], tmp_path), strict=True):
        assert plain(scene_of(model, opened, model.options.picture)) == one, opened


def test_copies_are_placed_as_where_their_levels_are_written_whatever_comes_apart(tmp_path: Path) -> None:
    model, chance = graphviz_tb.load(copies_of_blocks()), random.Random(9)
    hierarchy = model.hierarchy
    levels = sorted({int(hierarchy.parent[row]) for row in np.flatnonzero(hierarchy.kind == RowKind.SERIES).tolist()})
    apart = [chance.sample(levels, number % 4) for number in range(60)]
    sets = [any_member(model, chance) for _ in apart]
    cases = [(model, sets, model.options.picture)]
    assert scenes(cases, tmp_path, [apart]) == scenes(cases, tmp_path, [apart], each=True)


def test_members_of_a_stack_that_came_apart_have_their_own_lines(tmp_path: Path) -> None:
    model, chance = graphviz_tb.load(copies_of_blocks()), random.Random(10)
    net = model.hierarchy.name.index("net")
    whole = graphviz_tb.load(copies_of_blocks(), ungroup=series_on(model, [net]))
    sets = [with_all_around(whole, any_member(whole, chance), model, [net]) for _ in range(20)]
    rows = [[in_page(model, whole, path) for path in opened] for opened in sets]
    found = scenes([(model, rows, model.options.picture)], tmp_path, [[[net]] * len(sets)])
    for opened, one in zip(sets, found, strict=True):
        scene = scene_of(whole, opened, model.options.picture, model)
        assert without_rows(plain(scene)) == without_rows(one), opened


def test_columns_of_a_long_chain_are_placed_alike(tmp_path: Path) -> None:
    nodes = [
        f'node {{ name: "a{at}" op: "Op{at % 7}" input: "a{at - 1}" input: "a{at - at % 4}" }}' for at in range(60)
    ]
    model = graphviz_tb.load("\n".join(nodes).encode(), folds=False, series_min=100)
    scene = scene_of(model, [])
    assert len({box.x for box in scene.boxes}) > 3
    assert plain(scene) == scenes([(model, [[]], listing(model))], tmp_path)[0]


def test_inputs_in_later_columns_are_placed_alike(tmp_path: Path) -> None:
    model = graphviz_tb.load(FIXTURES / "exported" / "t5.pt2")
    options = listing(model)
    opened, _ = groups_opened_by_picture(model, options)
    paths = [path for path in opened if path != (0,)]
    assert plain(model.picture(options).scene) == scenes([(model, [paths], options)], tmp_path)[0]


@pytest.mark.parametrize("direction", ["BT", "TB"])
def test_boxes_in_feet_and_labels_beside_a_loss_are_placed_alike(direction: str, tmp_path: Path) -> None:
    models = [picture_of_encoder("beside").model, graphviz_tb.load(FIXTURES / "real" / "keras2_mnist.pb")]
    cases, expected = [], []
    for model in models:
        options = replace(model.options.picture, direction=direction)
        opened, _ = groups_opened_by_picture(model, options)
        cases.append((model, [[path for path in opened if path != (0,)]], options))
        expected.append(plain(model.picture(options).scene))
    assert expected == scenes(cases, tmp_path)


def test_plain_rows_are_placed_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.arrange.plain_rows.MAX_LEVEL_ITEMS", 5)
    model = graphviz_tb.load(FIXTURES / "real" / "mnist_cnn.pbtxt")
    cases = [replace(listing(model), direction=direction) for direction in ("BT", "LR")]
    sets = [[], opened_by_chance(model, random.Random(3))]
    found = iter(scenes([(model, sets, options) for options in cases], tmp_path))
    for options in cases:
        for opened in sets:
            scene = scene_of(model, opened, options)
            assert scene.webs
            assert plain(scene) == next(found), opened


def scene_of(model: Model, opened: Paths, options: PictureOptions | None = None, page: Model | None = None) -> Any:
    """The scene that Python makes for a set of open groups; in the columns of the `page` of another model."""
    options = options or listing(model)
    order: OpenSet = {(0,): None, **dict.fromkeys(opened)}
    columns = first_picture_columns(page, options, lambda path: None) if page else None
    return _draft_picture(model, options, lambda path: None, order).lay_out(order, columns).scene


def listing(model: Model) -> PictureOptions:
    """The options of a picture whose stacks list their members."""
    return replace(model.options.picture, all_members=True)


def test_a_thousand_generated_cases_are_placed_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "properties")
    cases = []
    for number, model in enumerate(generated(250)):
        chance = random.Random(number)
        options = replace(listing(model), direction=chance.choice(("BT", "TB", "LR", "RL")))
        cases.append((model, [opened_by_chance(model, chance, 8) for _ in range(4)], options))
    found = iter(scenes(cases, tmp_path))
    for model, sets, options in cases:
        for opened in sets:
            assert plain(scene_of(model, opened, options)) == next(found), opened


def generated(count: int) -> list[Model]:
    """Models of arbitrary graphs, the same on every run."""
    from graphs import graph_defs

    found: list[Model] = []

    @settings(max_examples=count, phases=(Phase.generate,), derandomize=True, database=None)
    @given(graph_defs())
    def collect(graph: Any) -> None:
        found.extend(loaded(graph))

    collect()
    return found


WHOLE = "a closed box counts its parts with the series whole, though they came apart"


@pytest.mark.parametrize(
    "name",
    [
        "numbered_series.pb",
        "gan_scopes.pb",
        "cifar10_shapes.pb",
        pytest.param("func_library_v2.pb", marks=pytest.mark.xfail(reason=WHOLE, strict=True)),
    ],
)
def test_series_come_apart_as_python_ungroups_them(name: str, tmp_path: Path) -> None:
    model, chance = graphviz_tb.load(FIXTURES / "real" / name), random.Random(name)
    held = LevelStore(model.hierarchy, TextTable(), 1 << 30)
    copied = CopiedLevels(model.expander)
    levels = sorted(
        add_ungrouped_levels(model, held, {}, copied, lambda level, turned: arrange(level, ArrangeOptions(), turned))
    )
    assert levels
    cases = []
    for number in range(10):
        apart = chance.sample(levels, min(len(levels), 1 + number % 3))
        whole = graphviz_tb.load(FIXTURES / "real" / name, ungroup=series_on(model, apart))
        cases.append((apart, whole, with_all_around(whole, opened_by_chance(whole, chance), model, apart)))
    sets = [[in_page(model, whole, path) for path in opened] for _, whole, opened in cases]
    found = scenes([(model, sets, listing(model))], tmp_path, [[apart for apart, _, _ in cases]])
    for (apart, whole, opened), one in zip(cases, found, strict=True):
        assert without_rows(plain(scene_of(whole, opened, page=model))) == without_rows(one), (apart, opened)


def series_on(model: Model, levels: list[int]) -> tuple[str, ...]:
    """The names of the series that stand on some levels."""
    hierarchy = model.hierarchy
    rows = (row for level in levels for row in hierarchy.children(level).tolist())
    return tuple(hierarchy.name[row] for row in rows if hierarchy.kind[row] == RowKind.SERIES)


def with_all_around(whole: Model, opened: Paths, model: Model, levels: list[int]) -> Paths:
    """An open set with some levels in it, and all around them."""
    to = _rows_of_same_nodes(model.hierarchy, whole.hierarchy)
    wanted = [(int(to[row]),) for level in levels for row in (*model.hierarchy.ancestors(level), level) if to[row] > 0]
    alone = {(row,) for row in whole.hierarchy.function_rows}
    if any(path in alone or whole.hierarchy.ancestors(path[0])[:1] in [list(one) for one in alone] for path in wanted):
        opened = [path for path in opened if len(path) == 1]  # what a call opens to stays in series
    return sorted({*opened, *wanted}, key=lambda path: (len(path), path))


def in_page(model: Model, whole: Model, path: tuple[int, ...]) -> tuple[int, ...]:
    """A path by the rows of the page."""
    to = _rows_of_same_nodes(whole.hierarchy, model.hierarchy)
    return tuple(int(to[row]) for row in path)


def without_rows(scene: Any) -> Any:
    """A scene without the numbers of its rows, for the ungrouped graph has fewer, and without the words that count
    the parts of a fold, for the page goes on counting a series as one."""
    if isinstance(scene, list):
        return [without_rows(one) for one in scene]
    if not isinstance(scene, dict):
        return scene
    untold = ("content", "full", "width") if scene.get("role") == "count" else ("row", "path", "other", "title")
    return {key: without_rows(one) for key, one in scene.items() if key not in untold}


@pytest.mark.parametrize("name", ["mnist_cnn.pbtxt", "xor.pbtxt", "cifar10_shapes.pb"])
def test_what_is_put_away_by_hand_stands_where_aux_puts_it(name: str, tmp_path: Path) -> None:
    model, chance = graphviz_tb.load(FIXTURES / "real" / name), random.Random(name)
    cases = [case for _ in range(30) for case in put_away_by_chance(model, chance)][:10]
    found = scenes(
        [(model, [opened for opened, _ in cases], listing(model))],
        tmp_path,
        aux=[[[(row,) for row in away] for _, away in cases]],
    )
    assert len(cases) == 10
    for (opened, away), one in zip(cases, found, strict=True):
        names = tuple(model.hierarchy.name[row] for row in away)
        moved = graphviz_tb.load(FIXTURES / "real" / name, aux=names)
        assert plain(scene_of(moved, opened, page=model)) == one, (opened, names)


def put_away_by_chance(model: Model, chance: random.Random) -> list[tuple[Paths, list[int]]]:
    """An open set and one or two closed children of the main graph, which no open group has lines to: Python would
    order what lies in such a group anew; none where it so happens."""
    hierarchy = model.hierarchy
    opened = [path for path in opened_by_chance(model, chance, 8) if len(path) == 1 and path[0] < hierarchy.end[0]]
    levels = [model.metagraph(path) for path in [(0,), *opened]]
    seen = {bridge.other for level in levels for bridge in level.bridges} | {path[0] for path in opened}
    rows = [level.children[at] for level in levels for at in level.core_children()]
    rows = [row for row in rows if row not in seen and hierarchy.name[row] in model.names.index(0)]
    return [(opened, sorted(chance.sample(rows, min(len(rows), chance.randint(1, 2)))))] if rows else []
