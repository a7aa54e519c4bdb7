"""`tbgraph tree`: scopes, stacks, calls and functions as a tree of any width, and as a flat list in JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.api.outline import outline_model
from graphviz_tb.commands import _run_command_line
from graphviz_tb.commands.table import TextStyle, join_fitting, json_lines
from graphviz_tb.commands.tree import SCREEN_LINES
from graphviz_tb.commands.tree_text import TreeWriter, open_screenful, open_to_depth, walk_branches
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.effort import part
from tests.timing import within

FIXTURES = Path(__file__).parents[2] / "fixtures"
REAL = sorted(path for path in (FIXTURES / "real").iterdir() if path.suffix in (".pb", ".pbtxt"))


def shown(text: str) -> int:
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run `tree` at a width; gives the exit code, the lines and what was said beside them."""

    def call(*arguments: str, width: int = 80) -> tuple[int, list[str], str]:
        monkeypatch.setenv("COLUMNS", str(width))
        code = _run_command_line(["tree", *arguments])
        done = capsys.readouterr()
        return code, done.out.splitlines(), done.err

    return call


@each("path", part(REAL, 3), ids=lambda path: path.stem)
def test_about_a_screenful(tell: Any, path: Path) -> None:
    code, lines, _ = tell(str(path))
    assert code == 0
    main = lines[: lines.index("")] if "" in lines else lines
    assert len(main) <= SCREEN_LINES + 1
    assert len(lines) <= 2 * SCREEN_LINES
    assert max(map(shown, lines)) <= 80


@pytest.mark.parametrize("width", [1, 9, 30, 41, 120])
def test_no_line_is_wider_than_the_terminal(tell: Any, width: int) -> None:
    for name in ("odd_names.pbtxt", "mnist_cnn.pbtxt", "savedmodel_small.pb"):
        code, lines, _ = tell(str(FIXTURES / "real" / name), "--depth", "7", width=width)
        assert code == 0
        assert max(map(shown, lines)) <= width


def test_the_small_tree(tell: Any, tmp_path: Path) -> None:
    # a scope of two ops, its twin, a series of five, an op
    path = tmp_path / "small.pbtxt"
    nodes = [f'node {{ name: "{scope}/{op}" op: "{op}" }}' for scope in ("a", "b") for op in ("Relu", "Add")]
    nodes += [f'node {{ name: "x_{number}" op: "Sin" }}' for number in range(5)]
    path.write_text("\n".join([*nodes, 'node { name: "end" op: "NoOp" }']))
    code, lines, _ = tell(str(path), "--depth", "9")
    assert code == 0
    assert [re.split(r"(?<=\w)[ ,]*  |(?<=\])  ", line)[0] for line in lines[1:]] == [
        "├─ a",
        "│  └─ Relu, Add",
        "├─ b",
        "│  └─ Relu, Add",
        "├─ x_[0-4]",
        "│  └─ 5 Sin",
        "└─ NoOp",
    ]
    assert lines[0].split()[-2] == str(2 * 2 + 5 + 1)
    assert "= a" in lines[3]
    assert "×5" in lines[5]
    closed = tell(str(path), "--depth", "1")[1]
    assert [line[:4] for line in closed[1:]] == ["├+ a", "├+ b", "├+ x", "└─ N"]
    assert len(tell(str(path), "--depth", "0")[1]) == 1


def test_ops_are_listed_when_asked(tell: Any) -> None:
    lines = tell(str(FIXTURES / "real/mnist_cnn.pbtxt"), "--under", "dropout", "--depth", "1", "--ops")[1]
    assert lines[0].startswith("dropout")
    assert any("keep_prob" in line and "Placeholder" in line for line in lines)


def test_calls_name_their_functions_and_functions_follow(tell: Any) -> None:
    path = str(FIXTURES / "containers/saved_model")
    lines = tell(path, "--whole-file")[1]
    assert any("StatefulPartitionedCall_1  → __inference__traced_save_1300" in line for line in lines)
    assert "Functions (20)" in lines
    inside = tell(path, "--whole-file", "--under", "StatefulPartitionedCall_1")[1]
    assert inside[0].startswith("__inference__traced_save_1300")
    assert inside == tell(path, "--whole-file", "--under", "__inference__traced_save_1300")[1]


def test_recursion_is_endless_and_ends(tell: Any) -> None:
    code, lines, _ = tell(str(FIXTURES / "real/func_library_recursive.pbtxt"), "--depth", "50")
    assert code == 0
    assert "∞" in lines[0]


def test_wild_names_show_several_trees(tell: Any) -> None:
    lines = tell(str(FIXTURES / "real/mnist_cnn.pbtxt"), "--under", "conv?", "--depth", "0")[1]
    assert [line.split()[0] for line in lines] == ["conv1", "conv2"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--under", "convx"], "no node or group 'convx'; nearest:"),
        (["--under", "conv1/pool"], "is an op and holds nothing"),
        (["--preset", "tb"], "unknown preset 'tb'"),
        (["--depth", "-1"], "--depth"),
    ],
)
def test_errors_of_the_request(tell: Any, arguments: list[str], said: str) -> None:
    code, lines, err = tell(str(FIXTURES / "real/mnist_cnn.pbtxt"), *arguments)
    assert (code, lines) == (2, [])
    assert said in err


def test_json_is_flat_in_preorder_with_the_ids_of_render(tell: Any) -> None:
    path = FIXTURES / "real/numbered_series.pb"
    code, lines, _ = tell(str(path), "--json")
    found = json.loads("\n".join(lines))
    assert (code, found["format"], found["version"]) == (0, "tbgraph-tree", 1)
    nodes = {node["id"]: node for node in load(path).to_json()["nodes"]}
    groups = [at for at, node in nodes.items() if node["kind"] != "op"]
    assert [node["id"] for node in found["nodes"]] == groups
    for node in found["nodes"]:
        same = nodes[node["id"]]
        assert all(node[key] == same[key] for key in ("name", "kind", "parent", "ops", "template"))
    depth = {node["id"]: node["depth"] for node in found["nodes"]}
    assert all(depth[node["id"]] == depth[node["parent"]] + 1 for node in found["nodes"] if node["parent"] is not None)


@each("path", part(REAL, 3), ids=lambda path: path.stem)
def test_every_op_is_counted_once(path: Path) -> None:
    hierarchy = load(path).hierarchy
    roots = [0, *hierarchy.function_rows]
    opened = open_to_depth(hierarchy, roots, len(hierarchy))
    for root in roots:
        told = list(walk_branches(hierarchy, root, opened))
        loose = sum(len(branch.loose) for branch in told)
        calls = sum(branch.row in hierarchy.calls for branch in told)
        assert loose + calls == hierarchy.op_count(root)


def test_deep_scopes_do_not_recurse(tell: Any, tmp_path: Path) -> None:
    path = tmp_path / "deep.pbtxt"
    path.write_text(f'node {{ name: "{"/".join("a" * 1200)}" op: "Relu" }} node {{ name: "a/b" op: "Relu" }}')
    code, lines, _ = tell(str(path), "--depth", "1200")
    assert code == 0
    assert lines[-1].startswith("│  └─ Relu") or "Relu" in "".join(lines[-2:])
    assert len(lines) == 1 + 1 + 2 + 1, "the model, a, the scopes in it on one line with their op, and b"
    assert tell(str(path))[0] == 0


def test_wide_levels_are_cut_only_without_a_depth(tell: Any, tmp_path: Path) -> None:
    path = tmp_path / "wide.pbtxt"
    names = [f"{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(300)]
    path.write_text("\n".join(f'node {{ name: "{name}/x" op: "Op{name}" }}' for name in names))
    lines = tell(str(path), "--no-fold")[1]
    assert lines[-1] == f"and {300 + 1 - 2 * SCREEN_LINES} more lines; --depth 1 lists all"
    assert len(tell(str(path), "--no-fold", "--depth", "1")[1]) == 300 + 1


def test_a_screenful_opens_the_largest_groups() -> None:
    hierarchy = load(FIXTURES / "real/mnist_cnn.pbtxt").hierarchy
    opened = open_screenful(hierarchy, 0, SCREEN_LINES)
    names = {hierarchy.name[row] for row in opened}
    assert {"", "train", "conv1"} <= names
    assert "conv2" not in names  # built as conv1


def test_quiet_says_nothing_beside(tell: Any) -> None:
    path = str(FIXTURES / "real/odd_names.pbtxt")
    assert tell(path)[2]
    assert tell(path, "--quiet")[2] == ""


@pytest.mark.parametrize("width", [12, 30, 80])
def test_colours_change_no_place(width: int) -> None:
    hierarchy = load(FIXTURES / "real/mnist_cnn.pbtxt").hierarchy
    opened = open_to_depth(hierarchy, [0], 4)
    told = list(walk_branches(hierarchy, 0, opened))
    plain, coloured = (
        list(TreeWriter(hierarchy, width, TextStyle(on), "x").branch_lines(told, opened)) for on in (False, True)
    )
    assert [re.sub(r"\x1b\[\d*m", "", line) for line in coloured] == plain
    assert any("\x1b" in line for line in coloured)


def test_every_branch_of_a_case_has_a_line(tell: Any, tmp_path: Path) -> None:
    functions = [{"signature": {"name": f"a_rather_long_name_of_branch_number_{at}"}} for at in range(5)]
    branches = [{"name": each["signature"]["name"]} for each in functions]
    case = {"name": "choice", "op": "Case", "attr": {"branches": {"list": {"func": branches}}}}
    graph = GraphDef(node=[case, {"name": "x", "op": "NoOp"}], library={"function": functions})
    path = tmp_path / "case.pb"
    path.write_bytes(graph.SerializeToString())
    _, lines, _ = tell(str(path))
    for at in range(5):
        assert any(f"branches[{at}]  → a_rather_long_name_of_branch_number_{at}" in line for line in lines)


@pytest.mark.slow
def test_of_thousands_of_op_types_only_those_that_may_fit_are_tried() -> None:
    start = process_time()
    assert join_fitting([f"Operation{number}" for number in range(4000)], 30) == "Operation0, Operation1 …"
    assert within(process_time() - start, 2)  # 24 s, if every number of words is tried


def test_json_is_the_same_however_much_is_printed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"a": [{"b": "x,\n y"}, 1, []], "c": {}, "d": [1, {"e": None}]}
    for at_once in (0, 5, 1000):
        monkeypatch.setattr("graphviz_tb.commands.table.JSON_CHUNK_LETTERS", at_once)
        assert "\n".join(json_lines(document)) == json.dumps(document, indent=1)


@pytest.mark.parametrize("scope", ["", "s/"])
def test_a_stack_that_is_called_like_something_else_is_shown_by_its_own_name(
    tell: Any, tmp_path: Path, scope: str
) -> None:
    # a0 … a5, and a node with the name of their series
    path = tmp_path / "alike.pb"
    nodes = [{"name": f"{scope}{name}", "op": "Relu"} for name in (*(f"a{at}" for at in range(6)), "a[0-5]")]
    path.write_bytes(GraphDef(node=nodes).SerializeToString())
    name = f"{scope}a[0-5] (a5)"
    lines = tell(str(path), "--depth", "2")[1]
    assert any(re.search(r"[├└]\+? ?─? ?a\[0-5\] \(a5\)  ×6", line) for line in lines), lines
    code, lines, _ = tell(str(path), "--under", name)
    assert (code, lines[0].split("  ")[0]) == (0, "a[0-5] (a5)")
    outlined = outline_model(load(path))[bool(scope)]
    assert [part.label for rank in outlined.ranks for part in rank] == ["a[0-5] (a5)", "a[0-5]"]


def test_a_scope_without_a_name_is_shown_by_its_address(tell: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.pb"
    nodes = [{"name": name, "op": "Relu"} for name in ("/a/f", "/a/g", "/h/x", "b")]
    path.write_bytes(GraphDef(node=nodes).SerializeToString())
    assert tell(str(path))[1][1].split()[:2] == ["├─", "\\"]
    whole, scope = (tell(str(path), "--under", under, "--json")[1] for under in ("", "\\"))
    assert [json.loads("".join(lines))["nodes"][0]["ops"] for lines in (whole, scope)] == [4, 3]
