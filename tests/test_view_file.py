"""View files: what they may hold, what they change in a model, and that the command line outrules them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import diff, load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.api.view_files import _view_of_values, read_view_file
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import MalformedText, ReadError, RequestError, TbGraphError
from graphviz_tb.page.build import page_data
from tests.each import each

# in ─▶ enc/a ─▶ enc/cast ─▶ dec/b ─▶ out
CHAIN = b"""
node { name: "in" op: "Placeholder" }
node { name: "enc/a" op: "Relu" input: "in" }
node { name: "enc/cast" op: "Cast" input: "enc/a" }
node { name: "dec/b" op: "Tanh" input: "enc/cast" }
node { name: "out" op: "Identity" input: "dec/b" }
"""


def shown(model: Model, **choices: Any) -> list[str]:
    return [box.address for box in model.picture(**choices).scene.boxes]


def fills(model: Model) -> dict[str, str]:
    picture = model.picture()
    return {box.address: fill.fill for box, fill in zip(picture.scene.boxes, picture.paint.boxes, strict=True)}


def test_what_is_hidden_is_not_drawn_nor_its_lines_but_still_counted() -> None:
    model = load(CHAIN, view={"open": ["enc", "dec"], "hide": ["op:Cast"]})
    assert "enc/cast" not in shown(model)
    assert {"enc/a", "dec/b"} <= set(shown(model))
    enc = model.names.find_paths("enc")[0]
    assert [model.hierarchy.name[row] for row in model.metagraph(enc).children] == ["enc/a"]
    assert not [bridge for bridge in model.metagraph(enc).bridges if not bridge.inbound]
    assert len(model) == 5
    assert model.find("op:Cast").names == ["enc/cast"]


def test_what_is_hidden_is_counted_as_boxes_count_it() -> None:
    # x ─▶ enc/y ◀─ enc/w, a constant that is drawn as a mark
    graph = (
        CHAIN[:38]
        + b"""
    node { name: "enc/w" op: "Const" }
    node { name: "enc/y" op: "MatMul" input: "in" input: "enc/w" }
    """
    )

    def told(pattern: str) -> list[str]:
        return [notice.message for notice in load(graph, view={"hide": pattern}).noticed if notice.code == "hidden"]

    assert told("enc") == ["1 op and 1 constant, weight or summary hidden"]
    assert told("in") == ["1 op hidden"]
    assert told("op:Const") == ["1 constant, weight or summary hidden"]


def test_a_group_of_which_nothing_is_left_is_hidden() -> None:
    model = load(CHAIN, view={"hide": "op:Tanh", "depth": 0})
    assert shown(model) == [name for name in shown(load(CHAIN, depth=0)) if name != "dec"]


def test_all_of_a_graph_may_be_hidden() -> None:
    model = load(CHAIN, view={"hide": "**"})
    assert shown(model.with_view({"hide": ["op:*"]})) == []
    assert b"<svg" in model.render("svg")
    assert model.render("html")


def test_a_hidden_group_may_still_be_asked_for() -> None:
    model = load(CHAIN, view={"hide": "enc"})
    assert "enc" not in shown(model, open="enc")
    assert json.loads(model.render("json"))["nodes"]


def test_what_is_open_and_aside() -> None:
    model = load(CHAIN, view={"open": "op:Tanh", "aside": "out"})
    assert "dec/b" in shown(model)
    assert model.metagraph().mask.extracted_children == {
        model.metagraph().children.index(model.names.find_paths("out")[0][0])
    }


def test_colours_by_pattern_the_last_counts_and_groups_show_shares() -> None:
    model = load(CHAIN, view={"open": ["dec"], "colors": {"dec": "blue", "op:Tanh": "#fa0", "op:Cast": "red"}})
    assert model.options.picture.color_by == "patterns"
    assert fills(model)["dec/b"] == "#FFAA00"
    picture = model.picture()
    enc = [box.address for box in picture.scene.boxes].index("enc")
    assert len(picture.paint.boxes[enc].bands) == 2
    assert [row.label for row in picture.paint.legend][:2] == ["op:Tanh", "op:Cast"]


@each("theme", ["light", "dark"])
def test_text_is_read_on_given_colours(theme: str) -> None:
    from graphviz_tb.color.colouring import contrast
    from graphviz_tb.model.theme import THEMES

    model = load(CHAIN, view={"colors": {"op:Tanh": "black", "op:Cast": "#888888", "in": "white"}, "theme": theme})
    for fill in model.picture(depth=1).paint.boxes:
        ground = THEMES[theme].neutral if fill.bands else fill.fill  # no word is on the bar of several colours
        assert contrast(fill.text, ground) >= 4.5, fill


def test_titles_are_on_boxes_and_names_stay() -> None:
    model = load(CHAIN, view={"titles": {"enc": "Text encoder", "op:Identity": "result"}, "depth": 0})
    assert "Text encoder" in model.render("svg").decode()
    assert "enc" in shown(model)
    assert model["enc"].name == "enc"
    assert "result" in model.render("svg").decode()


def test_a_pattern_that_means_nothing_is_a_notice() -> None:
    model = load(CHAIN, strict=True, view={"hide": ["op:Conv2D", "time>1ms"], "open": "nosuch"})
    assert [notice.code for notice in model.notices] == ["view", "view-pattern"]


def test_what_is_said_outrules_the_view() -> None:
    view = {"theme": "dark", "open": ["enc"], "depth": 1, "colors": {"in": "red"}}
    model = load(CHAIN, view=view, theme="light", open=("dec",), color_by="none")
    assert (model.options.picture.theme, model.options.picture.color_by) == ("light", "none")
    assert (model.options.picture.open, model.options.picture.depth) == (("dec",), "auto")


def test_a_model_with_a_view_is_pickled() -> None:
    model = load(CHAIN, view={"hide": "op:Cast", "colors": {"in": "red"}, "titles": {"enc": "E"}, "open": "enc"})
    assert pickle.loads(pickle.dumps(model)).render("svg") == model.render("svg")


def test_folding_of_a_view() -> None:
    nodes = b"".join(b'node { name: "a_%d" op: "Relu" }' % number for number in range(3))
    plain = load(nodes)
    assert len(plain.with_view({"group": ["a_[0-2]"]}).metagraph().children) == 1


def test_a_page_holds_its_view_to_save_it() -> None:
    view = {"hide": ["op:Cast"], "colors": {"in": "red"}, "open": ["enc"]}
    model = load(CHAIN, view=view)
    head, _ = page_data(model, model.options.picture)
    assert head["view"] == {"hide": ["op:Cast"], "colors": {"in": "#D55E00"}}
    assert "patterns" in head["schemes"]


def test_a_diff_takes_what_is_hidden_and_titles() -> None:
    changes = diff(CHAIN, CHAIN.replace(b"Tanh", b"Sigmoid"))
    drawn = changes.picture(view={"hide": "in", "titles": {"dec": "Decoder"}, "theme": "dark", "open": "enc"})
    assert "in" not in [box.address for box in drawn.scene.boxes]
    assert drawn.options.theme == "dark"
    assert "Decoder" in drawn.render("svg").decode()


WRONG = {
    'open = ["a"': "line 1, column 12",
    "open = 1": "open is 1; it takes a list of patterns",
    "hid = []": "no key 'hid'; nearest: hide",
    "depth = -1": "depth is -1; the least is 0",
    'theme = "blue"': "unknown theme 'blue'; choose one of: light, dark",
    'title = ["x"]': "title",
    'colors = "red"': "colors is 'red'; it takes a table",
    '[colors]\n"op:Add" = "redd"': "colors: 'op:Add' is 'redd', which is not a colour",
    '[titles]\n"a" = 1': "titles: 'a' is 1; it takes a text",
    'hide = ["a)"]': None,  # a query is read where there is a graph
}


@each("text", WRONG)
def test_a_wrong_file_says_where_and_what(text: str, tmp_path: Path) -> None:
    (tmp_path / "tbgraph.toml").write_text(text)
    wanted = WRONG[text]
    if wanted is None:
        read_view_file(tmp_path / "tbgraph.toml")
        return
    with pytest.raises(TbGraphError) as error:
        read_view_file(tmp_path / "tbgraph.toml")
    assert "tbgraph.toml" in str(error.value)
    assert wanted in str(error.value)
    assert (
        error.value.hint or "choose" in str(error.value) or "least" in str(error.value) or "takes" in str(error.value)
    )


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no view file"):
        read_view_file(tmp_path / "x.toml")
    (tmp_path / "x.toml").write_bytes(b"\xff")
    with pytest.raises(ReadError, match="not UTF-8"):
        read_view_file(tmp_path / "x.toml")
    (tmp_path / "x.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(ReadError, match="more than"):
        read_view_file(tmp_path / "x.toml")
    (tmp_path / "x.toml").write_text("a = " + "[" * 5000)
    with pytest.raises(ReadError):
        read_view_file(tmp_path / "x.toml")
    with pytest.raises(MalformedText):
        read_text(tmp_path)


def read_text(folder: Path) -> None:
    (folder / "z.toml").write_text("a = [1,\n")
    read_view_file(folder / "z.toml")


def test_a_query_that_cannot_be_read_names_the_key() -> None:
    with pytest.raises(RequestError, match=r"hide: 'parms>5': nothing to compare"):
        load(CHAIN, view={"hide": ["parms>5"]})


def test_a_project_has_a_table_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.tbgraph]\nhide = ["a"]\n')
    assert read_view_file(tmp_path / "pyproject.toml").hide == ("a",)
    assert _view_of_values({}, "x").hide == ()


def test_the_command_line_finds_it_beside_the_model_and_outrules_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "m.pbtxt").write_bytes(CHAIN)
    (folder / "tbgraph.toml").write_text('hide = ["op:Cast"]\nopen = ["enc"]\ntheme = "dark"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.tbgraph]\ntheme = "dark"\n')
    monkeypatch.chdir(tmp_path)

    def drawn(*words: str) -> str:
        assert _run_command_line(["render", *words, "-o", "x.svg"]) == 0
        return Path("x.svg").read_text()

    first = drawn("models/m.pbtxt")
    assert "view of tbgraph.toml" in capsys.readouterr().err
    assert "enc/cast" not in first
    assert '"enc/a"' in first
    assert "#0D1117" in first
    assert "#0D1117" not in drawn("models/m.pbtxt", "--theme", "light")
    assert '"enc/a"' not in drawn("models/m.pbtxt", "--depth", "0")
    assert '"enc/cast"' in drawn("models/m.pbtxt", "--hide", "in")
    plain = drawn("models/m.pbtxt", "--no-view")
    (folder / "tbgraph.toml").unlink()
    capsys.readouterr()
    assert "#0D1117" in drawn("models/m.pbtxt")
    assert "view of pyproject.toml" in capsys.readouterr().err
    Path("pyproject.toml").unlink()
    assert drawn("models/m.pbtxt") == plain
    assert _run_command_line(["render", "models/m.pbtxt", "-o", "x.svg", "--view", "none.toml"]) == 3
    assert _run_command_line(["render", "models/m.pbtxt", "-o", "x.svg", "--view", "a", "--no-view"]) == 2
