"""No output takes the place of what is read, however either is spelled; folders end, whatever links are in them."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphviz_tb import diff, load
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import ReadError, RequestError
from graphviz_tb.sources.walk import list_files_below
from tests.each import each
from tests.effort import part

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of one input of each kind, as the current folder."""
    shutil.copytree(FIXTURES / "containers/saved_model", tmp_path / "sm")
    shutil.copytree(FIXTURES / "logdirs/trace_export", tmp_path / "logs")
    shutil.copy(FIXTURES / "containers/keras3_functional.json", tmp_path / "k.json")
    shutil.copy(FIXTURES / "real/hidden_scope.pbtxt", tmp_path / "good.pbtxt")
    shutil.copy(FIXTURES / "real/mnist_cnn.pbtxt", tmp_path / "mnist.pbtxt")
    shutil.copy(FIXTURES / "run_metadata/mnist_cnn_step099.pb", tmp_path / "step.pb")
    next(path for path in (tmp_path / "logs").rglob("*") if path.is_file()).rename(tmp_path / "logs/e.tfevents.svg")
    shutil.copytree(FIXTURES / "models/keras2/cnn_told", tmp_path / "told")
    (tmp_path / "told/variables").mkdir()
    (tmp_path / "told/variables/variables.index").write_bytes(b"weights")
    (tmp_path / "traced/plugins/profile/p").mkdir(parents=True)
    shutil.copy(FIXTURES / "run_metadata/xplane_cpu/host.xplane.pb", tmp_path / "traced/plugins/profile/p")
    shutil.copy(FIXTURES / "run_metadata/xplane_cpu/graph.pb", tmp_path / "traced.pb")
    (tmp_path / "soft.json").symlink_to("k.json")
    (tmp_path / "hard.json").hardlink_to(tmp_path / "k.json")
    (tmp_path / "sm2").symlink_to("sm")
    (tmp_path / "models").mkdir()
    shutil.copy(FIXTURES / "containers/keras3_functional.json", tmp_path / "models/k.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "line",
    [
        "render k.json -o k.json",
        "render k.json -o ./sm/../k.json",
        "render k.json -o soft.json",
        "render k.json -o hard.json",
        "render hard.json -o k.json",
        "render good.pbtxt -o out.svg -o good.pbtxt -f svg",
        "render sm -o sm/saved_model.pb -f svg",
        "render sm -o sm2/saved_model.pb -f svg",
        "render sm/saved_model.pb -o sm2/saved_model.pb -f json",
        "render told -o told/keras_metadata.pb -f svg",
        "render told/saved_model.pb -o told/keras_metadata.pb -f svg",
        "render told -o told/variables/variables.index -f svg",
        "render sm -o sm/fingerprint.pb -f json",
        "render logs -o logs/e.tfevents.svg",
        "render logs --run elsewhere -o logs/e.tfevents.svg",
        "render mnist.pbtxt --run-metadata step.pb -o step.pb -f svg",
        "render traced.pb --run-metadata traced -f svg -o traced/plugins/profile/p/host.xplane.pb",
        "render traced --step all -f svg -o traced/plugins/profile/p/host.xplane.pb",
        "diff k.json k.json -o k.json",
        "diff good.pbtxt k.json -o k.json",
        "diff hard.json good.pbtxt -o soft.json",
        "diff sm logs -o logs/../logs/e.tfevents.svg",
    ],
)
def test_an_input_is_never_an_output(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    assert _run_command_line(line.split()) == 2
    assert "is the input itself" in capsys.readouterr().err
    assert contents(folder) == before


@pytest.mark.parametrize(
    "line",
    part(
        [
            "render - -o k.json < k.json",
            "render good.pbtxt -f json -o - 1<> good.pbtxt",
            "diff - good.pbtxt -o hard.json < k.json",
            "info k.json >> hard.json",
            "info - < k.json >> k.json",
            "info mnist.pbtxt --run-metadata step.pb >> step.pb",
            "tree --json k.json 1<> k.json",
            "diff k.json good.pbtxt >> good.pbtxt",
            "diff models models >> models/k.json",
            "diff --git k.json 1<> k.json",
        ],
        3,
    ),
)
def test_nor_where_a_shell_has_opened_it(line: str, folder: Path) -> None:
    before = contents(folder)
    line = f"{sys.executable} -m graphviz_tb {line}"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "is the input itself" in done.stderr
    assert contents(folder) == before


def test_nor_from_python(folder: Path) -> None:
    model = load("k.json")
    for save in (model.save, model.picture().save):
        with pytest.raises(RequestError, match="is the input itself"):
            save(folder / "hard.json", "json")
    model.save(folder / "sm/beside.svg")
    load("mnist.pbtxt", run_metadata="step.pb").save("other.pb", "svg")
    changes = diff("k.json", load("models/k.json"))
    for save in (changes.save, changes.filter().inverse().save, changes.picture().save):
        for target in ("hard.json", "models/k.json"):
            with pytest.raises(RequestError, match="is the input itself"):
                save(folder / target)


def test_what_lies_beside_an_input_may_be_written_again(folder: Path) -> None:
    for _ in range(2):
        assert _run_command_line(["render", "logs", "-o", "logs/graph.svg", "-q"]) == 0
        assert _run_command_line(["render", "sm", "-o", "sm/graph.json", "-q"]) == 0
        assert _run_command_line(["diff", "sm", "sm", "-o", "sm/diff.json", "-q"]) == 0


@pytest.mark.parametrize("line", ["render --format svg -o x.svg", "info", "tree", "diff good.pbtxt"])
def test_an_empty_name_is_not_the_current_folder(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line([*line.split(), ""]) == 3
    assert "the name is empty" in capsys.readouterr().err


def test_nor_for_run_statistics(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["render", "mnist.pbtxt", "-o", "x.svg", "--run-metadata="]) == 3
    assert "the name is empty" in capsys.readouterr().err
    assert not Path("x.svg").exists()


def test_links_to_the_folder_itself(folder: Path) -> None:
    """Two of them are 2^64 paths to whoever follows both; one lists every run once for each level."""
    alone = list_files_below(folder / "logs")
    for name in ("again", "once_more"):
        (folder / "logs" / name).symlink_to(".")
    assert list_files_below(folder / "logs") == alone


def test_links_that_branch_without_a_circle(folder: Path) -> None:
    """31 folders, each with two links to the next: 2^30 paths to the last."""
    for level in range(31):
        (folder / f"many/f{level}").mkdir(parents=True)
        for name in "ab" * (level > 0):
            link = folder / f"many/f{level - 1}" / name
            link.unlink(missing_ok=True)
            link.symlink_to(f"../f{level}")
    shutil.copy(folder / "logs/e.tfevents.svg", folder / "many/f30/events")
    run_name = "/".join("a" * 30)
    assert list_files_below(folder / "many/f0").files == ((run_name, folder / "many/f0" / run_name / "events"),)


def test_a_run_bears_its_own_name_and_a_link_finds_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "runs").mkdir()
    for run_name in ("one", "two"):
        shutil.copytree(folder / "logs", folder / "runs" / run_name)
    (folder / "runs/best").symlink_to("two")
    assert _run_command_line(["info", "runs"]) == 0
    said = capsys.readouterr().out
    assert "best" not in said
    assert _run_command_line(["render", "runs", "--run", "best", "-o", "x.svg", "-q"]) == 0
    assert _run_command_line(["info", "runs", "--run", "best"]) == 0
    assert "best" in capsys.readouterr().out


@pytest.mark.slow
def test_folders_deeper_than_python_recurses(tmp_path: Path) -> None:
    deep = "/".join("d" * 1500)
    subprocess.run(["mkdir", "-p", deep], cwd=tmp_path, check=True)
    try:
        (tmp_path / deep / "events").write_bytes(b"x")
        assert list_files_below(tmp_path).files == ((deep, tmp_path / deep / "events"),)
    finally:
        subprocess.run(["rm", "-rf", "d"], cwd=tmp_path, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("fixture", ["logdirs/mnist_runs/train", "real/hidden_scope.pbtxt"])
def test_a_model_beside_folders_deeper_than_python_recurses(fixture: str, tmp_path: Path) -> None:
    source = FIXTURES / fixture
    (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / source.name)
    subprocess.run(["mkdir", "-p", "/".join("d" * 1500)], cwd=tmp_path, check=True)
    try:
        assert _run_command_line(["diff", str(tmp_path), str(tmp_path), "-q"]) == 0
    finally:
        subprocess.run(["rm", "-rf", "d"], cwd=tmp_path, check=True)


def test_a_pipe_called_like_a_model_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To open it would wait for whoever writes to it."""
    for name in ("one", "two"):
        (folder / name).mkdir()
        shutil.copy("k.json", folder / name / "k.json")
        os.mkfifo(folder / name / "p.pb")
    assert _run_command_line(["diff", "one", "two"]) == 0
    assert capsys.readouterr().out.startswith("k.json: same")


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(path: Path) -> Iterator[os.DirEntry[str]]:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", forbidden)
    with pytest.raises(ReadError, match="Permission denied"):
        load(tmp_path)


def test_an_input_is_what_was_opened_wherever_the_program_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, changes = load("k.json"), diff("k.json", "k.json")
    copy = pickle.loads(pickle.dumps(model))
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    before = contents(folder)
    saves = (model.save, model.picture().save, copy.save, copy.picture().save, changes.save, changes.picture().save)
    for save in saves:
        with pytest.raises(RequestError, match="is the input itself"):
            save(folder / "k.json")
    assert contents(folder) == before
    (folder / "k.json").rename(folder / "renamed.json")
    for save in saves:
        with pytest.raises(RequestError, match="is the input itself"):
            save(folder / "renamed.json")


def test_another_file_may_take_the_place_of_an_input(folder: Path) -> None:
    model = load("k.json")
    (folder / "k.json").unlink()
    for _ in range(3):
        model.save(folder / "other.json")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd on this system")
@each("target", part(["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"], 3))
@pytest.mark.parametrize("opened", [">>", "1<>"])
def test_what_stands_in_a_file_of_standard_output_stays(target: str, opened: str, folder: Path) -> None:
    command = f"{sys.executable} -m graphviz_tb render good.pbtxt -q -f svg -o {target}"
    subprocess.run(["bash", "-c", f"(printf old; {command}; printf new) {opened} out"], cwd=folder, check=True)
    text = (folder / "out").read_text()
    assert text.startswith("old<svg")
    assert text.endswith("</svg>\nnew")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("number", part([signal.SIGTERM, signal.SIGHUP, signal.SIGINT], 3))
def test_a_command_that_is_ended_leaves_nothing(number: signal.Signals, folder: Path) -> None:
    """It waits for a reader of the pipe when the drafts of its files are written."""
    os.mkfifo(folder / "pipe")
    before = {path.name for path in folder.iterdir()}
    words = [sys.executable, "-m", "graphviz_tb", "render", "good.pbtxt", "-o", "x.svg", "-f", "svg", "-o", "pipe"]
    # What `nohup` ignores, the command ignores, too.
    command = subprocess.Popen(words, cwd=folder, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    while not any(path.name.startswith(".x.svg") for path in folder.iterdir()):
        assert command.poll() is None
        time.sleep(0.01)
    time.sleep(0.2)
    command.send_signal(number)
    assert command.wait(60) == 128 + number
    assert {path.name for path in folder.iterdir()} == before
