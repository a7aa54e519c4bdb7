"""What a reader has seen stays where it is, and the same input gives the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from graphs import foldings, graph_defs, openable
from hypothesis import assume, given
from hypothesis import strategies as st
from laws import levels, order_of

import graphviz_tb
from graphviz_tb.api.pipeline import Model, Picture
from graphviz_tb.model.paths import RowPath as Place
from graphviz_tb.model.paths import path_address
from graphviz_tb.proto import GraphDef
from tests.effort import part

REPOSITORY = Path(__file__).parents[2]
REAL = sorted((REPOSITORY / "fixtures/real").iterdir())


def orders(picture: Picture) -> dict[Place, dict[int, tuple[int, int, int]]]:
    """The order of drawing of every open group, by the path of what its frame shows and the rows of its children."""
    return {
        (*path[:-1], view.metagraph.row): order_of(view.metagraph, view.skeleton) for path, view, _ in levels(picture)
    }


def addresses(model: Model, paths: list[Place]) -> tuple[str, ...]:
    return tuple(path_address(model.hierarchy, path) for path in paths)


@given(graph_defs(), foldings, st.data())
def test_open_then_close_is_identity(graph: GraphDef, folding: dict, data: st.DataObject) -> None:
    model = graphviz_tb.load(graph, **folding)
    chosen = data.draw(st.lists(st.sampled_from([*openable(model), (0,)]), unique=True))
    before = model.picture(depth=0).render()
    opened = model.picture(open=addresses(model, chosen)).render()
    assert model.picture(depth=0).render() == before
    other = graphviz_tb.load(graph, **folding)
    assert other.picture(open=addresses(other, chosen[::-1])).render() == opened
    assert other.picture(depth=0).render() == before


@given(graph_defs(), foldings, st.data())
def test_opening_one_group_moves_no_sibling(graph: GraphDef, folding: dict, data: st.DataObject) -> None:
    model = graphviz_tb.load(graph, **folding)
    groups = [*openable(model), (0,)]
    # A stack that shows one member has what that member holds: of two sets, another one may be shown.
    chosen = [addresses(model, data.draw(st.lists(st.sampled_from(groups)))) for _ in "ab"]
    one, two = (orders(model.picture(open=names, all_members=True)) for names in chosen)
    for path in one.keys() & two.keys():
        assert one[path] == two[path]


@given(graph_defs(functions=False), foldings, st.data())
def test_a_hub_kept_in_the_main_area_keeps_its_edges(graph: GraphDef, folding: dict, data: st.DataObject) -> None:
    model = graphviz_tb.load(graph, **folding)
    away = [
        (group, row)
        for group in [(0,), *openable(model)]
        for row in (model.metagraph(group).children[at] for at in model.metagraph(group).mask.extracted_children)
        if model.hierarchy.name[row] and model.hierarchy.name.count(model.hierarchy.name[row]) == 1
    ]
    assume(away)
    group, row = data.draw(st.sampled_from(away))
    level = graphviz_tb.load(graph, **folding, main=(model.hierarchy.name[row],)).metagraph(group)
    at = level.children.index(row)
    assert at in level.core_children()
    touching = {index for index, edge in enumerate(level.edges) if at in (edge.source, edge.target)}
    assert touching <= set(level.core_edges())
    assert not [note for note in level.annotations if note.kind == "shortcut" and is_inner(level, note, at)]


def is_inner(level: object, note: object, at: int) -> bool:
    """Whether a stub stands for an edge between child `at` and a sibling."""
    return note.other in level.children and at in (note.child, level.children.index(note.other))  # type: ignore[attr-defined]


@given(graph_defs(functions=False), foldings, st.sampled_from(["main", "aux"]), st.data())
def test_moving_one_node_by_hand_moves_no_other(graph: GraphDef, folding: dict, area: str, data: st.DataObject) -> None:
    model = graphviz_tb.load(graph, **folding)
    names = model.hierarchy.name
    rows = [row for row in range(1, len(names)) if names[row] and names.count(names[row]) == 1]
    assume(rows)
    row = data.draw(st.sampled_from([row for row in rows if not model.hierarchy.mark[row]] or rows))
    group = (int(model.hierarchy.parent[row]),)
    moved = graphviz_tb.load(graph, **folding, **{area: (names[row],)})
    before, after = (order_of(one.metagraph(group), one.skeleton(group)) for one in (model, moved))
    kept = [other for other in before if other in after and other != row]
    for at, first in enumerate(kept):
        for second in kept[at + 1 :]:
            if (
                before[first][0] == before[second][0]
            ):  # of one part: of different parts only their own order is promised
                assert compare(before[first], before[second]) == compare(after[first], after[second])


def compare(one: tuple[int, int, int], two: tuple[int, int, int]) -> tuple[bool, bool]:
    """Whether `one` lies on a lower rank, and on an equal one to the left."""
    return one[1] < two[1], one[1] == two[1] and one[2] < two[2]


DIGESTS = """
import hashlib, sys, graphviz_tb
for path in sys.argv[1:]:
    for preset in ("default", "tensorboard"):
        model = graphviz_tb.load(path, preset=preset)
        found = hashlib.sha256(model.json_bytes())
        for choices in ({}, {"open_all": True, "max_open": 150, "direction": "LR", "theme": "dark"}):
            found.update(model.picture(**choices).render("svg"))
        print(path, preset, found.hexdigest())
"""


def test_the_same_bytes_on_every_run() -> None:
    """Whatever the hash seed, the locale and the time zone."""
    paths = part([str(path) for path in REAL if path.stat().st_size < 150_000], 30)
    runs = []
    for seed, locale in (("1", "C"), ("2", "tr_TR.UTF-8")):
        around = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "LANG": locale, "TZ": f"X{seed}"}
        command = [sys.executable, "-c", DIGESTS, *paths]
        runs.append(subprocess.Popen(command, env=around, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True))
    shown = [run.communicate()[0].splitlines() for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert len(shown[0]) == 2 * len(paths)
    assert shown[0] == shown[1]
