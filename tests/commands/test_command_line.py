"""What the command does when all is well: outputs, help, colours, the progress bar, signals."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from array import array
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

import graphviz_tb
from graphviz_tb.commands import COMMANDS, _run_command_line, cli
from graphviz_tb.commands.options import DEFAULT_HEADING, GroupedCommand
from graphviz_tb.progress import STAGE_NAMES

ROOT = Path(__file__).parents[2]
GOOD = ROOT / "fixtures/real/hidden_scope.pbtxt"
MODULE = [sys.executable, "-m", "graphviz_tb"]
PATIENCE = 600  # seconds to wait for a program: a machine may be busy with something else
ESCAPE = "\x1b["


def test_several_outputs_from_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["a.svg", "b.json", "c.png", "D.SVG"]
    assert (
        _run_command_line(["render", str(GOOD), *(word for name in names for word in ("-o", str(tmp_path / name)))])
        == 0
    )
    assert capsys.readouterr().out == ""
    ElementTree.parse(tmp_path / "a.svg")
    assert json.loads((tmp_path / "b.json").read_text())["format"] == "tbgraph"
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "D.SVG").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_the_format_may_be_said(tmp_path: Path) -> None:
    assert _run_command_line(["render", str(GOOD), "-o", str(tmp_path / "graph.txt"), "--format", "json"]) == 0
    assert json.loads((tmp_path / "graph.txt").read_text())["version"] == 1


def test_from_standard_input_to_standard_output(tmp_path: Path) -> None:
    assert _run_command_line(["render", str(GOOD), "-o", str(tmp_path / "a.json")]) == 0
    done = subprocess.run(
        [*MODULE, "render", "-", "-o", "-", "-f", "json"],
        input=GOOD.read_bytes(),
        capture_output=True,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout == (tmp_path / "a.json").read_bytes()
    assert done.stderr == b""


def test_an_old_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "a.svg"
    target.write_text("old")
    target.chmod(0o640)
    assert _run_command_line(["render", str(GOOD), "-o", str(target)]) == 0
    assert target.read_bytes().startswith(b"<")
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link.svg").symlink_to(tmp_path / "there/graph.svg")
    for _ in "ab":  # the file it points to is made, then replaced
        assert _run_command_line(["render", str(GOOD), "-o", str(tmp_path / "link.svg")]) == 0
        assert (tmp_path / "link.svg").is_symlink()
        assert (tmp_path / "there/graph.svg").read_bytes().startswith(b"<")
        assert [path.name for path in (tmp_path / "there").iterdir()] == ["graph.svg"]


def test_a_device_is_written_to(tmp_path: Path) -> None:
    assert _run_command_line(["render", str(GOOD), "-o", os.devnull, "-f", "svg"]) == 0
    assert not Path(os.devnull).is_file()


def test_what_is_drawn_does_not_depend_on_the_command(tmp_path: Path) -> None:
    arguments = ["--depth", "1", "--direction", "LR", "--theme", "dark", "--color-by", "device", "--title", "T"]
    assert _run_command_line(["render", str(GOOD), "-o", str(tmp_path / "a.svg"), *arguments]) == 0
    model = graphviz_tb.load(GOOD)
    picture = model.picture(depth=1, direction="LR", theme="dark", color_by="device", title="T")
    assert (tmp_path / "a.svg").read_bytes() == picture.render("svg")


def test_open_takes_names_and_patterns(tmp_path: Path) -> None:
    graph = ROOT / "fixtures/rules/bridges.pbtxt"
    for name, shown in (("a/b", "a/b/c"), ("a/*", "a/b/c"), ("**", "a/b/c/x"), ("a/b/c/x", "a/b/c/x")):
        assert _run_command_line(["render", str(graph), "-o", str(tmp_path / "a.svg"), "--open", name]) == 0
        assert f'data-name="{shown}"' in (tmp_path / "a.svg").read_text()


def test_max_open_stops_with_a_notice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = ROOT / "fixtures/real/mnist_cnn.pbtxt"
    assert (
        _run_command_line(["render", str(graph), "-o", str(tmp_path / "a.svg"), "--open-all", "--max-open", "60"]) == 0
    )
    assert "--max-open" in capsys.readouterr().err


def test_timing_lists_every_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["render", str(GOOD), "-o", str(tmp_path / "a.svg"), "--timing"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    rows = dict(line.split(maxsplit=1) for line in shown.err.splitlines())
    assert [*rows] == ["stage", *STAGE_NAMES, "total", "drawn"]
    assert re.fullmatch(r"\d+ crossings, \d+ bends, \d+ of \d+ steps straight, \d+×\d+ px", rows["drawn"])
    times = [[float(number) for number in rows[stage].split()] for stage in (*STAGE_NAMES, "total")]
    assert sum(wall for wall, _ in times[:-1]) == pytest.approx(times[-1][0], abs=0.1 * len(times))


def commands() -> list[tuple[str, click.Command]]:
    found = []
    for name in COMMANDS:
        try:
            command = cli.get_command(click.Context(cli), name)
        except ModuleNotFoundError:  # in the table, not in the folder yet
            continue
        assert command
        found.append((name, command))
    return found


@pytest.mark.parametrize(("name", "command"), commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_help_mentions_every_option_and_shows_examples(
    name: str, command: click.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run_command_line([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"tbgraph {name} " in shown.partition("Options:")[0].replace("Usage: tbgraph", "", 1)
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:  # words of TensorBoard that do nothing here
            assert option.help, f"{option.name} is not explained"
            assert all(re.search(rf"(?<![\w-]){word}\b", shown) for word in option.opts)
    assert _run_command_line([name, "-h"]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(("name", "command"), commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_help_groups_options_and_fits_a_terminal(
    name: str, command: click.Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert _run_command_line([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert isinstance(command, GroupedCommand)
    groups = command.options_by_heading()
    headings = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
    assert headings == [heading for heading in groups if heading != DEFAULT_HEADING or groups[heading]]
    listed = [option for options in groups.values() for option in options]
    assert sorted(map(id, listed)) == sorted(
        id(param) for param in command.params if isinstance(param, click.Option) and not param.hidden
    )
    assert "None" not in shown  # a bound that is not there


def test_the_first_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, (_, _, line) in COMMANDS.items():
        assert re.search(rf"^  {name}\s", shown, re.MULTILINE)
        assert line.split()[0] in shown


def test_every_option_of_the_model_and_the_picture_can_be_said() -> None:
    """A field of `Options` that no option of `render` sets is a feature that nobody finds."""
    from dataclasses import fields

    from graphviz_tb.options import Options

    spelt = {option.name for option in dict(commands())["render"].params}
    spelt |= {"folds", "infer", "extract", "auto_extract", "legend", "wrap"}  # --no-fold, --no-infer and so on
    inside = {"max_bytes", "tensorboard", "scope_series", "lenient_numbers", "max_children", "min_nodes", "min_degree"}
    inside |= {"max_control_degree", "max_bridge_degree", "sink_types", "max_annotations", "stats"}
    for part in fields(Options):
        names = {field.name for field in fields(getattr(Options(), part.name))}
        assert names - inside <= spelt


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["--version"]) == 0
    assert graphviz_tb.__version__ in capsys.readouterr().out


@pytest.mark.parametrize("start", [MODULE, [sys.executable, "cli.py"]])
def test_ways_to_start(start: list[str]) -> None:
    done = subprocess.run([*start, "--version"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "tbgraph" in done.stdout


def on_a_terminal(*arguments: str, **around: str) -> tuple[int, str]:
    """Run the command with a terminal as its standard error, and give the exit code and what it showed."""
    primary, secondary = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"} | around
    run = subprocess.Popen(
        [*MODULE, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=secondary,
        env=environment,
    )
    os.close(secondary)
    shown = b""
    while True:
        try:
            part = os.read(primary, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(primary)
    run.communicate()
    return run.returncode, shown.decode()


def test_a_progress_bar_on_a_terminal_only(tmp_path: Path) -> None:
    target = str(tmp_path / "a.svg")
    code, shown = on_a_terminal("render", str(GOOD), "-o", target)
    assert code == 0
    told = re.findall(r"([━╌]+) (\w+)", shown)
    assert [stage for _, stage in told] == sorted((stage for _, stage in told), key=STAGE_NAMES.index)
    assert {stage for _, stage in told} == set(STAGE_NAMES)
    done = [bar.count("━") for bar, _ in told]
    assert done == sorted(done)
    assert shown.endswith(f"\r{ESCAPE}K")  # nothing of it stays
    assert on_a_terminal("render", str(GOOD), "-o", target, "--quiet") == (0, "")
    done = subprocess.run([*MODULE, "render", str(GOOD), "-o", target], cwd=ROOT, capture_output=True, check=True)
    assert done.stderr == b""


def test_colours_on_a_terminal_unless_no_color() -> None:
    code, shown = on_a_terminal("render", "nowhere.pb", "-o", "a.svg", "-q")
    assert (code, ESCAPE in shown) == (3, True)
    code, shown = on_a_terminal("render", "nowhere.pb", "-o", "a.svg", "-q", NO_COLOR="1")
    assert (code, ESCAPE in shown) == (3, False)


def wait_until_read(pipe: int) -> None:
    """Wait until the other end has taken all that was written: then the program runs, however slow the machine."""
    left = array("i", [1])
    deadline = time.monotonic() + PATIENCE
    while left[0] and time.monotonic() < deadline:
        time.sleep(0.05)
        fcntl.ioctl(pipe, termios.FIONREAD, left)
    assert not left[0]


def test_ctrl_c_is_130_and_writes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a.svg"
    run = subprocess.Popen(
        [*MODULE, "render", "-", "-o", str(target)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdin
    run.stdin.write("node {")  # it waits for the rest
    run.stdin.flush()
    wait_until_read(run.stdin.fileno())
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=PATIENCE)[1]
    assert run.returncode == 130
    assert "Traceback" not in said
    assert not target.exists()


def test_a_reader_that_leaves_is_no_error() -> None:
    graph = ROOT / "fixtures/real/mnist_cnn.pbtxt"
    run = subprocess.Popen(
        [*MODULE, "render", str(graph), "-o", "-", "-f", "json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert run.stdout
    assert run.stderr
    assert run.stdout.read(10)
    run.stdout.close()
    said = run.stderr.read()
    run.stderr.close()
    assert run.wait(timeout=PATIENCE) == 0
    assert said == b""
