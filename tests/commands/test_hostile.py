"""A hostile machine and clumsy words: closed streams, full disks, readers that go away, names nobody expects."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.commands import _run_command_line
from graphviz_tb.errors import CannotWrite
from tests.each import each
from tests.effort import part

ROOT = Path(__file__).parents[2]
GOOD = ROOT / "fixtures/real/hidden_scope.pbtxt"
OTHER = ROOT / "fixtures/real/xor.pbtxt"
TBGRAPH = f"{sys.executable} -m graphviz_tb"

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


def shell(line: str, folder: Path, **words: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in `folder`; `$tbgraph`, `$good` and `$other` stand for what they say."""
    known = {"tbgraph": TBGRAPH, "good": str(GOOD), "other": str(OTHER), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=folder,
        env={**os.environ, **known, **words},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@each(
    ("line", "code", "said"),
    part(
        [
            ("render - -o x.svg <&-", 3, "standard input is empty"),
            ("render $good -o x.svg >&-", 0, ""),
            ("render $good -o - >&-", 5, "cannot write standard output"),
            ("tree $good >&-", 5, "cannot write standard output"),
            ("diff $good $other >&-", 5, "cannot write standard output"),
            ("render $good -o x.svg 2>&-", 0, ""),
            ("render nowhere -o x.svg 2>&-", 3, ""),
            ("diff nowhere $good 2>&-", 3, ""),
        ],
        3,
    ),
)
def test_a_closed_stream(line: str, code: int, said: str, tmp_path: Path) -> None:
    done = shell(f"$tbgraph {line}", tmp_path)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "x.svg").exists() == (code == 0)


@needs_full
@pytest.mark.parametrize(
    "line",
    part(
        [
            "render $good -o /dev/full --format svg",
            "render $good -o - > /dev/full",
            "tree $good > /dev/full",
            "info $good --json > /dev/full",
            "diff $good $other > /dev/full",
        ],
        3,
    ),
)
def test_a_full_disk_is_a_fault_of_the_machine(line: str, tmp_path: Path) -> None:
    done = shell(f"$tbgraph {line}", tmp_path)
    assert done.returncode == 5, done.stderr
    assert "No space left" in done.stderr
    assert done.stderr.startswith("error: cannot write ")
    assert "fault of tbgraph" not in done.stderr


# Python itself would write bytecode that ends there, and later read it.
ROOM_FOR_A_PART = "ulimit -f 1; export PYTHONDONTWRITEBYTECODE=1"


@each("unbuffered", ["", "1"])
@each(
    "line",
    part(["render $good -o -", "info $good --json", "tree $other --json", "diff $good $other --format json"], 4),
)
def test_a_disk_with_room_for_a_part_is_a_fault_of_the_machine(line: str, unbuffered: str, tmp_path: Path) -> None:
    done = shell(f"{ROOM_FOR_A_PART}; $tbgraph {line} > part", tmp_path, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, (tmp_path / "part").stat().st_size) == (5, 1024), done.stderr
    assert done.stderr.startswith("error: cannot write standard output")


def test_from_python_standard_output_takes_all_or_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = "import os, graphviz_tb; graphviz_tb.load(os.environ['good']).save('-')"
    done = shell(f'{ROOM_FOR_A_PART}; {sys.executable} -u -c "{saved}" > part', tmp_path)
    assert (done.returncode, (tmp_path / "part").stat().st_size) == (1, 1024)
    assert "File too large" in done.stderr
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with pytest.raises(CannotWrite, match="takes no bytes"):
        load(GOOD).save("-")


@pytest.mark.parametrize("columns", ["9" * 20, "1000000", "0", "-1", "x"])
def test_a_terminal_of_any_width(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for command in ("tree", "info"):
        assert _run_command_line([command, str(GOOD)]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 10_000


@needs_full
@each("messages", ["2> /dev/full", "2>&-"])
@each(
    ("line", "code"),
    part([("info nowhere", 3), ("info $good --nonsense", 2), ("render $good -o a.svg --timing", 0)], 2),
)
def test_messages_that_cannot_be_written_change_no_exit_code(
    line: str, code: int, messages: str, tmp_path: Path
) -> None:
    assert shell(f"$tbgraph {line} {messages}", tmp_path).returncode == code


@each(
    ("line", "code"),
    part([("tree $good", 0), ("info $good --json", 0), ("render $good -o -", 0), ("diff $good $good", 0),
          ("diff $good $other", 1), ("render --help", 0)], 3),
)  # fmt: skip
def test_a_reader_that_goes_away_changes_no_exit_code(line: str, code: int, tmp_path: Path) -> None:
    done = shell(f"{{ sleep 0.2; $tbgraph {line}; echo $? >&2; }} | true", tmp_path)
    assert done.stderr.strip() == str(code)


def test_help_can_be_said_in_any_encoding(tmp_path: Path) -> None:
    for encoding in ("latin-1", "ascii", "utf-8"):
        done = shell("$tbgraph tree --help > help", tmp_path, PYTHONIOENCODING=encoding)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_pipe_may_be_looked_into(tmp_path: Path) -> None:
    done = shell("$tbgraph info <(cat $good)", tmp_path)
    assert done.returncode == 0, done.stderr
    assert shell("$tbgraph info - < $good", tmp_path).stdout.splitlines()[2:] == done.stdout.splitlines()[2:]


@pytest.mark.slow
def test_standard_input_without_end_is_not_taken_into_memory(tmp_path: Path) -> None:
    line = "ulimit -v 3000000; (yes 'node { name: \"a\" }' || true) | $tbgraph info - --max-bytes 50000000"
    done = shell(line, tmp_path)
    assert done.returncode == 3, done.stderr
    assert "50,000,000 bytes" in done.stderr


@pytest.mark.parametrize("length", [246, 255, 300, 5000])
def test_long_names_of_outputs(length: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / ("a" * (length - 4) + ".svg")
    fits = length <= os.pathconf(tmp_path, "PC_NAME_MAX")
    assert _run_command_line(["render", str(GOOD), "-o", str(target)]) == (0 if fits else 5)
    said = capsys.readouterr().err
    assert ("too long" in said) == (not fits)
    assert "fault" not in said
    assert [path.name for path in tmp_path.iterdir()] == [target.name] * fits


def test_a_scale_that_is_no_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["render", str(GOOD)], ["diff", str(GOOD), str(OTHER)]):
        assert _run_command_line([*command, "-o", str(tmp_path / "x.png"), "--scale", "nan"]) == 2
        assert "nan" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf", "dot", "json"])
def test_a_font_file_that_is_not_there_is_refused_whatever_is_written(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / f"x.{suffix}"
    assert _run_command_line(["render", str(GOOD), "-o", str(target), "--font-file", "nowhere.ttf"]) == 2
    told = "no font file 'nowhere.ttf'" if suffix in ("png", "pdf") else "--font-file changes nothing"
    assert told in capsys.readouterr().err
    assert not target.exists()


def test_a_folder_is_no_font_and_its_files_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("graphviz_tb.sources.walk.WALKED_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.ttf").touch()
    old = tmp_path / "a.png"  # which might be one of them
    old.touch()
    assert _run_command_line(["render", str(GOOD), "-o", str(old), "--font-file", str(tmp_path)]) == 2
    assert "no font file" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_a_font_file_that_is_cut_short(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import fontpkg_arimo

    font, graph = tmp_path / "cut.ttf", tmp_path / "graph.pbtxt"
    font.write_bytes(next(Path(fontpkg_arimo.ROOT).glob("files/Arimo*.ttf")).read_bytes()[:3000])
    graph.write_text('node { name: "한글" op: "Relu" }')
    target = tmp_path / f"x.{suffix}"
    assert _run_command_line(["render", str(graph), "-o", str(target), "--font-file", str(font)]) == 2
    assert repr(str(font)) in capsys.readouterr().err
    assert not target.exists()


def test_many_stars_are_no_more_than_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["render", str(OTHER), "-o", str(tmp_path / "x.svg"), "--open", "*" * 3000 + "zz"]) == 2
    assert "no node or group" in capsys.readouterr().err


@each("name", ["{}", "b_{}", "b_{}_c", "b[{}]"])
@each("preset", ["default", "tensorboard"])
def test_numbers_of_thousands_of_digits(name: str, preset: str, tmp_path: Path) -> None:
    graph, target, name = tmp_path / "graph.pbtxt", tmp_path / "x.json", name.format("9" * 5000)
    names = [name, *(f"{chr(97 + at // 26)}{chr(97 + at % 26)}{name}" for at in range(60))]  # a level too wide
    graph.write_text("".join(f'node {{ name: "{each}" op: "Relu" }}' for each in names))
    assert _run_command_line(["render", str(graph), "-o", str(target), "--preset", preset]) == 0


def test_a_tensor_of_thousands_of_dimensions(tmp_path: Path) -> None:
    dims = "dim { size: 7 }" * 20_000
    shape = f'attr {{ key: "shape" value {{ shape {{ {dims} }} }} }}'
    graph = tmp_path / "graph.pbtxt"
    graph.write_text(f'node {{ name: "x" op: "Placeholder" {shape} }} node {{ name: "y" op: "Relu" input: "x" }}')
    for suffix in ("svg", "json", "dot"):
        target = tmp_path / f"x.{suffix}"
        title = () if suffix == "json" else ("--title", "W" * 100_000)
        assert _run_command_line(["render", str(graph), "-o", str(target), *title]) == 0
        assert suffix != "dot" or max(map(len, target.read_text().split('"'))) < 16_000  # what Graphviz takes


def test_a_scope_without_a_name_opens(tmp_path: Path) -> None:
    graph, target = tmp_path / "graph.pbtxt", tmp_path / "x.svg"
    graph.write_text('node { name: "/a" op: "A" } node { name: "/b" op: "A" input: "/a" } node { name: "c" op: "A" }')
    assert _run_command_line(["render", str(graph), "-o", str(target), "--open", ""]) == 0
    assert 'data-name="/a"' in target.read_text()


def calls_in_calls(levels: int, fan: int) -> str:
    """One call of f0; each function calls the next one `fan` times."""
    call = 'node{} {{ name: "x{}" op: "PartitionedCall" attr {{ key: "f" value {{ func {{ name: "f{}" }} }} }} }}'
    functions = [
        f'function {{ signature {{ name: "f{at}" }} {inside} }}'
        for at in range(levels)
        for inside in [" ".join(call.format("_def", one, at + 1) for one in range(fan))]
    ]
    last = f'function {{ signature {{ name: "f{levels}" }} node_def {{ name: "y" op: "Relu" }} }}'
    return f"{call.format('', 0, 0)} library {{ {' '.join(functions)} {last} }}"


@pytest.mark.slow
def test_patterns_stop_where_a_picture_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, target = tmp_path / "graph.pbtxt", tmp_path / "x.svg"
    graph.write_text(calls_in_calls(12, 4))
    asked = ["render", str(graph), "-o", str(target), "--open"]
    assert _run_command_line([*asked, "::".join(["**"] * 5), "--max-open", "100"]) == 0
    assert "would pass 100 boxes (--max-open)" in capsys.readouterr().err
    assert 50 < target.read_text().count("data-name=") <= 100
    assert _run_command_line([*asked, "::".join(["*"] * 12)]) == 2
    assert "more than 50,000 places" in capsys.readouterr().err


def test_what_a_tree_of_several_roots_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["tree", str(OTHER), "--under", "**"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("more; --depth 0 lists all")
