"""Every kind of trouble: the right exit code, `error:` and `hint:` on standard error, and nothing written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from graphviz_tb import errors
from graphviz_tb.commands import _run_command_line
from tests.each import each

ROOT = Path(__file__).parents[2]
BROKEN = ROOT / "fixtures/broken"
GOOD = ROOT / "fixtures/real/hidden_scope.pbtxt"

# What is odd and survived; all other files of `broken` are errors.
SURVIVED = {"bad_crc_last.tfevents", "torn_last.tfevents", "bad_value.pbtxt"}
FILES = sorted(path.name for path in BROKEN.iterdir())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.svg"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: int) -> str:
    """Run a command that must fail, and give what it said."""
    assert _run_command_line(list(arguments)) == code, capsys.readouterr().err
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    assert shown.err.startswith("error: ")
    assert all(line.startswith(("error: ", "hint: ", " ")) for line in shown.err.splitlines()[1:])
    return shown.err


@each("name", [name for name in FILES if name not in SURVIVED])
def test_a_broken_file_is_told_and_writes_nothing(name: str, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "render", str(BROKEN / name), "-o", str(out), code=3)
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize("name", sorted(SURVIVED))
def test_what_is_odd_is_a_notice_and_with_strict_an_error(
    name: str, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run_command_line(["render", str(BROKEN / name), "-o", str(out)]) == 0
    assert capsys.readouterr().err.startswith("notice: ")
    assert _run_command_line(["render", str(BROKEN / name), "-o", str(out), "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    out.unlink()
    assert _run_command_line(["render", str(BROKEN / name), "-o", str(out), "--strict"]) in (3, 4)
    assert not out.exists()


@each(
    ("name", "said"),
    [
        ("missing_colon.pbtxt", "line 4, column 9"),
        ("unclosed_string.pbtxt", "line 3, column 9"),
        ("stray_brace.pbtxt", "line 6, column 1"),
        ("truncated.pb", "at byte"),
        ("bad_length.tfevents", "at byte 40"),
        ("weights.h5", "HDF5"),
        ("model.onnx", "ONNX"),
        ("model.tflite", "TensorFlow Lite"),
        ("model.ckpt.index", "checkpoint"),
        ("picture.pb", "PNG"),
        ("no_graph.tfevents", "2 events"),
        ("no_model", "weights.npy"),
        ("empty.pb", "empty"),
    ],
)
def test_the_error_says_what_and_where(name: str, said: str, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in refused(capsys, "render", str(BROKEN / name), "-o", str(out), code=3)


def test_a_file_that_is_not_there(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "render", str(out.with_name("nowhere.pb")), "-o", str(out), code=3)


@pytest.mark.parametrize("rule", ["duplicate_names", "missing_input"])
def test_an_unsound_graph_is_an_error_with_strict(rule: str, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "render", str(ROOT / f"fixtures/rules/{rule}.pbtxt"), "-o", str(out), "--strict", code=4)
    assert not out.exists()


def test_an_unknown_scope_is_told_with_the_three_nearest(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = ROOT / "fixtures/real/xor.pbtxt"
    said = refused(capsys, "render", str(graph), "-o", str(out), "--open", "Layer3", code=2)
    assert "'Layer3'" in said
    near = said.partition("nearest: ")[2].splitlines()[0].split(", ")
    assert {"'Layer1'", "'Layer2'"} == set(near[:2])
    assert len(near) == 3
    assert not out.exists()


@each(
    ("option", "word", "legal"),
    [
        ("--color-by", "rainbow", "structure"),
        ("--theme", "pink", "dark"),
        ("--direction", "UP", "LR"),
        ("--engine", "neato", "layered"),
        ("--preset", "netron", "tensorboard"),
        ("--format", "bmp", "svg"),
        ("--main", "nobody", "nearest"),
        ("--aux", "hiden", "hidden"),
        ("--group", "n[1-3]", "no run"),
        ("--ungroup", "n[1-3]", "no series"),
    ],
)
def test_a_word_that_is_not_on_the_list(
    option: str, word: str, legal: str, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "render", str(GOOD), "-o", str(out), option, word, code=2)
    assert repr(word) in said
    assert legal in said or option == "--main"
    assert list(out.parent.iterdir()) == []


@each(
    "arguments",
    [
        [],
        ["render"],
        ["render", str(GOOD), "-o"],
        ["render", str(GOOD), "-o", "x.svg", "--depth", "-1"],
        ["render", str(GOOD), "-o", "x.svg", "--depth", "two"],
        ["render", str(GOOD), "-o", "x.svg", "--nonsense"],
        ["rendr"],
    ],
)
def test_a_line_that_cannot_be_understood(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run_command_line(arguments) == 2
    shown = capsys.readouterr()
    assert shown.err
    assert "Traceback" not in shown.err
    assert list(tmp_path.iterdir()) == []


def test_a_suffix_that_says_no_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("graph", "graph.bmp"):
        said = refused(capsys, "render", str(GOOD), "-o", str(tmp_path / name), code=2)
        assert ".svg" in said
    assert list(tmp_path.iterdir()) == []


def test_outputs_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "file").write_text("x")
    for target in ("folder.svg", "nowhere/graph.svg", "file/graph.svg"):
        refused(capsys, "render", str(GOOD), "-o", str(tmp_path / target), code=5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.svg"]


def test_a_folder_that_may_be_listed_and_not_entered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "saved_model.pb").touch()
    monkeypatch.setattr(os.path, "isfile", lambda path: False)  # as the system says it
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.X_OK)
    assert "cannot read the folder" in refused(capsys, "info", str(tmp_path), code=3)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere: run the tests as another user")
def test_a_folder_without_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    refused(capsys, "render", str(GOOD), "-o", str(tmp_path / "graph.svg"), code=5)
    tmp_path.chmod(stat.S_IRWXU)


def test_an_unwritable_second_output_keeps_the_first_from_being_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = [str(tmp_path / "a.svg"), str(tmp_path / "nowhere/b.svg")]
    refused(capsys, "render", str(GOOD), "-o", outputs[0], "-o", outputs[1], code=5)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("before", [True, False], ids=["first", "last"])
def test_outputs_are_written_together_or_not_at_all(
    before: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, full = tmp_path / "a.svg", tmp_path / "full.json"
    old.write_text("old")
    full.symlink_to("/dev/full")
    targets = [full, old, tmp_path / "b.json"] if before else [old, tmp_path / "b.json", full]
    outputs = [word for target in targets for word in ("-o", str(target))]
    refused(capsys, "render", str(GOOD), *outputs, code=5)
    refused(capsys, "diff", str(GOOD), str(ROOT / "fixtures/real/mnist_cnn.pbtxt"), *outputs, code=5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "full.json"]
    assert old.read_text() == "old"


def test_a_full_disk_leaves_the_old_file_whole(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(self: Path, target: object) -> None:
        raise OSError(28, "No space left on device")

    out.write_text("old")
    monkeypatch.setattr(Path, "replace", full)
    assert "No space left" in refused(capsys, "render", str(GOOD), "-o", str(out), code=5)
    assert out.read_text() == "old"
    assert [path.name for path in out.parent.iterdir()] == ["out.svg"]


@pytest.mark.parametrize("name", ["itself", "link"])
def test_the_input_is_never_overwritten(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model.json"
    model.write_bytes((ROOT / "fixtures/containers/keras2_functional.json").read_bytes())
    before = model.read_bytes()
    target = model
    if name == "link":
        target = tmp_path / "link.json"
        target.symlink_to(model)
    refused(capsys, "render", str(model), "-o", str(target), code=2)
    assert model.read_bytes() == before


def test_an_unexpected_exception_is_70_and_says_so(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr("graphviz_tb.api.pipeline.flatten", fail)
    said = refused(capsys, "render", str(GOOD), "-o", str(out), code=70)
    assert "ValueError: a fault" in said
    monkeypatch.setenv("TBGRAPH_DEBUG", "1")
    with pytest.raises(ValueError, match="a fault"):
        _run_command_line(["render", str(GOOD), "-o", str(out)])


def test_names_cannot_command_the_terminal(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "render", str(GOOD), "-o", str(out), "--open", "\x1b[31mred\x07", code=2)
    assert "\x1b" not in said
    assert "\x07" not in said


def test_exit_codes_follow_the_first_branch_of_the_tree() -> None:
    codes = {errors.ReadError: 3, errors.GraphError: 4, errors.RequestError: 2, errors.ToolError: 5}
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.TbGraphError) and kind is not errors.TbGraphError:
            assert kind.exit_code == next(code for root, code in codes.items() if issubclass(kind, root))
            assert kind.__name__ in (errors.__doc__ or "")
