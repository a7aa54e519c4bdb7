"""Command lines of somebody who has not read the documentation: they work, or say which one does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from graphviz_tb.commands import COMMANDS, _run_command_line, cli
from graphviz_tb.commands.habits import COMMAND_SYNONYMS, OPTION_RENAMES, SWITCH_RENAMES, choose_command
from tests.conftest import FIXTURES
from tests.each import each
from tests.effort import part

SVG, PNG, PDF, HTML = b"<svg", b"\x89PNG", b"%PDF", b"<!doctype html>"
# The words → the files that are there afterwards, each with how it begins. `m.pbtxt`, `new.pbtxt`, `saved/`, `k.keras`
# and `logs/` are in the current folder.
DRAWS: dict[str, dict[str, bytes]] = {
    # tbgraph's own
    "m.pbtxt": {"m.html": HTML},
    "open m.pbtxt": {"m.html": HTML},
    "show m.pbtxt": {"m.html": HTML},
    "view m.pbtxt": {"m.html": HTML},
    "render m.pbtxt": {"m.svg": SVG},
    "render saved": {"saved.svg": SVG},
    "render saved/": {"saved.svg": SVG},
    "render saved/saved_model.pb": {"saved.svg": SVG},
    "render k.keras": {"k.svg": SVG},
    "render m.pbtxt out.svg": {"out.svg": SVG},
    "render m.pbtxt out.svg out.png": {"out.svg": SVG, "out.png": PNG},
    "render m.pbtxt out.pdf -o out.svg": {"out.svg": SVG, "out.pdf": PDF},
    "m.pbtxt out.svg": {"out.svg": SVG},
    "m.pbtxt -o out.svg": {"out.svg": SVG},
    "-o out.svg m.pbtxt": {"out.svg": SVG},
    "draw m.pbtxt": {"m.svg": SVG},
    "export m.pbtxt out.html": {"out.html": HTML},
    "convert m.pbtxt out.png": {"out.png": PNG},
    "saved": {"saved.html": HTML},
    "k.keras": {"k.html": HTML},
    "logs": {"logs.html": HTML},
    # Graphviz: dot -Tsvg in -o out, -O, -K, -G
    "-Tsvg m.pbtxt -o out.svg": {"out.svg": SVG},
    "render -Tpng m.pbtxt -o out.png": {"out.png": PNG},
    "render -T svg -o out.svg m.pbtxt": {"out.svg": SVG},
    "dot -Tpdf -O m.pbtxt": {"m.pdf": PDF},
    "render m.pbtxt -Grankdir=LR": {"m.svg": SVG},
    "render m.pbtxt -Klayered": {"m.svg": SVG},
    "render m.pbtxt -o out.gv": {"out.gv": b"digraph"},
    # Keras: plot_model(to_file, show_shapes, rankdir, expand_nested)
    "plot_model m.pbtxt --to_file=out.png --show_shapes": {"out.png": PNG},
    "render m.pbtxt --rankdir LR --to-file out.svg": {"out.svg": SVG},
    "render m.pbtxt --expand_nested": {"m.svg": SVG},
    # Netron: netron FILE, -b
    "m.pbtxt -b": {"m.html": HTML},
    "browse m.pbtxt": {"m.html": HTML},
    # Model Explorer: model-explorer FILE --no_open_in_browser
    "m.pbtxt --no_open_in_browser": {"m.html": HTML},
    "visualize m.pbtxt": {"m.html": HTML},
    # Spellings
    "render m.pbtxt --color_by device": {"m.svg": SVG},
    "render m.pbtxt --colour-by=device": {"m.svg": SVG},
    "render m.pbtxt -theme dark": {"m.svg": SVG},
    "render m.pbtxt --dark": {"m.svg": SVG},
    "render m.pbtxt --png": {"m.png": PNG},
    "render m.pbtxt --format png": {"m.png": PNG},
    "render m.pbtxt --output-format pdf --out out.pdf": {"out.pdf": PDF},
    "render m.pbtxt --no_legend=true": {"m.svg": SVG},
    "render logs --run train": {"logs.svg": SVG},
    # A second round: what these programs, git, tree and find taught
    "dot -Tsvg m.pbtxt": {"m.svg": SVG},
    "-Tpng -oout.png m.pbtxt": {"out.png": PNG},
    "render m.pbtxt -Tjson -o out.json": {"out.json": b"{"},
    "plot_model k.keras --show_layer_names --show_layer_activations": {"k.svg": SVG},
    "render --input m.pbtxt --output out.svg": {"out.svg": SVG},
    "render --model=m.pbtxt": {"m.svg": SVG},
    "--model m.pbtxt": {"m.html": HTML},
    "-i m.pbtxt": {"m.html": HTML},
    "netron m.pbtxt": {"m.html": HTML},
    "preview m.pbtxt": {"m.html": HTML},
    "ui m.pbtxt": {"m.html": HTML},
    "svg m.pbtxt": {"m.svg": SVG},
    "to-png m.pbtxt": {"m.png": PNG},
    "html m.pbtxt": {"m.html": HTML},
    "save m.pbtxt out.png": {"out.png": PNG},
    "render m.pbtxt --save out.svg": {"out.svg": SVG},
    "render m.pbtxt --orientation LR": {"m.svg": SVG},
    "render m.pbtxt --max-depth 2": {"m.svg": SVG},
    "render m.pbtxt --level=1": {"m.svg": SVG},
    "render m.pbtxt --zoom 1 -o out.png": {"out.png": PNG},
    "render m.pbtxt --expand_all": {"m.svg": SVG},
    "render m.pbtxt --collapse-all": {"m.svg": SVG},
    "render m.pbtxt --verbose": {"m.svg": SVG},
    "scalars curves -o out.csv": {"out.csv": b"run,tag,step"},
    "scalars curves -o out.json -o out.svg": {"out.json": b'{"format"', "out.svg": SVG},
    "diff m.pbtxt m.pbtxt --html": {"diff.html": HTML},
}
# The words → what is on standard output.
SAYS: dict[str, str] = {
    "-V": "tbgraph, version",
    "--version": "tbgraph, version",
    "version": "tbgraph, version",
    "help": "Usage: tbgraph",
    "-h": "Usage: tbgraph",
    "-help": "Usage: tbgraph",
    "help render": "Usage: tbgraph render",
    "summary m.pbtxt": "GraphDef",
    "info m.pbtxt": "GraphDef",
    "inspect m.pbtxt": "GraphDef",
    "describe saved": "SavedModel",
    "ls logs": "train",
    "--inspect --logdir=logs": "train",  # TensorBoard
    "--inspect --logdir logs": "train",
    "compare m.pbtxt m.pbtxt": "same",
    "search m.pbtxt op:MatMul": "MatMul",
    "grep m.pbtxt MatMul": "MatMul",
    "scopes m.pbtxt": "Layer",
    "metrics logs": "test_accuracy",
    "scalar curves --tags loss": "loss",
    "leet curves --smoothing 0.5": "loss",  # wandb beta leet
    "params k.keras": "Keras",
    "runs logs": "train",
    "tags logs": "train",
    "layers k.keras": "k.keras",
    "print m.pbtxt": "GraphDef",
    "info -v m.pbtxt": "GraphDef",
    "info m.pbtxt --all": "GraphDef",
    "tree -L 2 m.pbtxt": "Layer",
    "tree m.pbtxt -d 1 -a": "Layer",
    "find m.pbtxt --name MatMul": "MatMul",
    "diff -u m.pbtxt m.pbtxt": "same",
    "diff --stat m.pbtxt m.pbtxt": "same",
    "scalars curves --tag loss --plot": "loss",
    "about": "tbgraph, version",
}
# The words → what an error or a hint says to type.
POINTS: dict[str, str] = {
    "render m.pbtxt -o out.jpg": "-o out.png",
    "render m.pbtxt out.webp": "-o out.png",
    "render m.pbtxt -o out.eps": "-o out.pdf",
    "render m.pbtxt -o out.gexf": "-o out.graphml",
    "render m.pbtxt -o out.txt": "tbgraph tree MODEL",
    "render m.pbtxt -o net": "--format",
    "m.pbtxt new.pbtxt": "tbgraph diff m.pbtxt new.pbtxt",
    "render m.pbtxt new.pbtxt": "tbgraph diff m.pbtxt new.pbtxt",
    "diff m.pbtxt new.pbtxt -o out.jpg": "-o out.png",
    "rendr m.pbtxt": "tbgraph render",
    "no.pb": "no file or folder 'no.pb'",
    "login": "no account",  # wandb
    "sync logs": "tbgraph render LOGDIR -o page.html",
    "dev upload --logdir logs": "tbgraph render LOGDIR -o page.html",  # TensorBoard
    "completion bash": "_TBGRAPH_COMPLETE=bash_source",
    "packed": "saved_model.pb.gz",
    "render packed": "saved_model.pb.gz",
    "serve": "tbgraph serve ./logs",
    "render curves": "tbgraph scalars curves -o curves.svg",
    "curves out.svg": "tbgraph scalars curves -o curves.svg",
    "render m.pbtxt -o out.csv": "tbgraph scalars LOGDIR -o out.csv",
    "watch curves": "tbgraph scalars LOGDIR --watch",
    "profile logs": "tbgraph info MODEL --profile",
    "hparams logs": "tbgraph serve LOGDIR",
    "ops m.pbtxt": "tbgraph tree MODEL --ops",
    "download logs": "tbgraph scalars LOGDIR -o scalars.csv",
    "install-completion": "_TBGRAPH_COMPLETE=bash_source",
}
# The words → the words of ours that they are taken for: a server goes on, so that these are not run here.
SERVES: dict[str, str] = {
    "--logdir logs": "serve --logdir logs",
    "--logdir=logs": "serve --logdir=logs",
    "-logdir=logs": "serve --logdir=logs",
    "serve -logdir=logs": "serve --logdir=logs",
    "serve --logdir=logs --bind_all": "serve --logdir=logs --bind_all",
    "--logdir logs --port 7007 --host 0.0.0.0": "serve --logdir logs --port 7007 --host 0.0.0.0",
    "--logdir logs --bind_all=true": "serve --logdir logs --bind_all",
    "--logdir logs --load_fast=false": "serve --logdir logs --load_fast=false",
    "--logdir logs --window_title x": "serve --logdir logs --window_title x",
    "tensorboard --logdir logs": "serve --logdir logs",
    "server logs -p 8080": "serve logs --port 8080",
    "serve logs --address 0.0.0.0": "serve logs --host 0.0.0.0",
    "serve logs --no_open_in_browser": "serve logs",
    "serve logs --browse": "serve logs --browser",
    "m.pbtxt --port=8080": "open m.pbtxt --port=8080",
    "start m.pbtxt -p 8080 --browse": "open m.pbtxt --port 8080",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of somebody's own models and logs, on a machine without a display."""
    text = (FIXTURES / "real/xor.pbtxt").read_text()
    (tmp_path / "m.pbtxt").write_text(text)
    (tmp_path / "new.pbtxt").write_text(text.replace('op: "Sub"', 'op: "Mul"', 1))
    shutil.copy(FIXTURES / "containers/keras3_mnist.keras", tmp_path / "k.keras")
    (tmp_path / "saved").symlink_to(FIXTURES / "containers/saved_model")
    (tmp_path / "logs").symlink_to(FIXTURES / "logdirs/mnist_runs")
    (tmp_path / "curves").symlink_to(FIXTURES / "logged/tf2_summaries")
    (tmp_path / "embeddings").symlink_to(FIXTURES / "logged/torch_writer")
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed/fingerprint.pb").write_bytes(b"\x08\x01")
    (tmp_path / "packed/saved_model.pb.gz").write_bytes(b"\x1f\x8b")
    monkeypatch.chdir(tmp_path)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def invoke(words: str) -> Result:
    return CliRunner().invoke(cli, words.split(), prog_name="tbgraph")


@pytest.mark.parametrize("words", part(DRAWS, 4))
def test_what_draws(words: str, here: Path) -> None:
    before = {path.name for path in here.iterdir()}
    result = invoke(words)
    assert result.exit_code == 0, result.output
    made = {path.name: path for path in here.iterdir() if path.name not in before}
    assert set(made) == set(DRAWS[words])
    for name, start in DRAWS[words].items():
        assert made[name].read_bytes().startswith(start)


@each("words", part(SAYS, 3))
def test_what_is_said(words: str, here: Path) -> None:
    result = invoke(words)
    assert result.exit_code == 0, result.output
    assert SAYS[words] in result.output


@each("words", POINTS)
def test_what_points_to_the_word(words: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(words.split()) in (2, 3)
    assert POINTS[words] in capsys.readouterr().err


@each("words", SERVES)
def test_what_serves(words: str, here: Path) -> None:
    context = click.Context(cli)
    found = choose_command(words.split(), COMMANDS)
    name, _, rest = cli.resolve_command(context, found)
    assert [name, *rest] == SERVES[words].split()


def test_there_are_as_many_guesses_as_were_asked_for() -> None:
    assert len(DRAWS) + len(SAYS) + len(POINTS) + len(SERVES) >= 22 + 40 + 40


JSON_COMMANDS = (
    "info m.pbtxt", "tree m.pbtxt", "find m.pbtxt op:MatMul", "check m.pbtxt --assert ops>1", "scalars logs",
    "project embeddings",
)  # fmt: skip


@pytest.mark.parametrize("switch", ["--json", "--format json", "-f json", "--format=json"])
@each("words", JSON_COMMANDS)
def test_every_report_is_json_too(words: str, switch: str, here: Path) -> None:
    result = invoke(f"{words} {switch} -q")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)


@each("switch", ["--json", "--format json", "-f json"])
def test_a_review_is_json_too(switch: str, here: Path, git: object) -> None:
    result = invoke(f"review m.pbtxt {switch}")
    document = json.loads(result.output)
    assert (document["format"], document["models"][0]["state"]) == ("tbgraph-review", "same")


@pytest.fixture
def git(here: Path) -> None:
    """The folder as a repository with one commit."""
    import subprocess

    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "m.pbtxt"], [*author, "commit", "-qm", "a"]):
        subprocess.run(["git", *words], check=True, cwd=here)


def test_two_formats_are_refused(here: Path) -> None:
    result = invoke("tree m.pbtxt --json --format text")
    assert (result.exit_code, "exclude each other" in result.output) == (2, True)


@each("words", ["render m.pbtxt", "render m.pbtxt m.svg", "m.pbtxt m.svg", "render m.pbtxt -f svg"])
def test_a_file_of_somebody_is_never_written_over(words: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "m.svg").write_text("<svg>mine</svg>")
    assert _run_command_line(words.split()) == 5
    assert "tbgraph did not write it" in capsys.readouterr().err
    assert (here / "m.svg").read_text() == "<svg>mine</svg>"


@each("words", ["m.pbtxt", "open m.pbtxt --file", "show m.pbtxt"])
def test_nor_by_a_page(words: str, here: Path) -> None:
    (here / "m.html").write_text("<p>mine")
    assert _run_command_line(words.split()) == 5
    assert (here / "m.html").read_text() == "<p>mine"


@each("format", part(["svg", "png", "pdf", "html", "dot", "json", "cytoscape"], 2))
def test_what_it_wrote_is_written_again(format: str, here: Path) -> None:
    words = f"render m.pbtxt --format {format}"
    assert [invoke(words).exit_code for _ in range(2)] == [0, 0]


def test_minus_o_writes_over_what_it_names(here: Path) -> None:
    (here / "m.svg").write_text("mine")
    assert invoke("render m.pbtxt -o m.svg").exit_code == 0


def test_the_input_is_never_an_output(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(FIXTURES / "containers/keras3_functional.json", here / "k.json")
    before = (here / "k.json").read_bytes()
    assert _run_command_line(["render", "m.pbtxt", "k.json"]) == 5
    assert _run_command_line(["render", "k.json", "-f", "json"]) == 2
    assert (here / "k.json").read_bytes() == before


def test_standard_input_goes_to_standard_output(here: Path) -> None:
    result = CliRunner().invoke(cli, ["render", "-"], input=(here / "m.pbtxt").read_bytes())
    assert (result.exit_code, result.stdout_bytes[:4]) == (0, SVG)
    result = CliRunner().invoke(cli, ["-", "--json"], input=(here / "m.pbtxt").read_bytes())
    assert json.loads(result.output)["format"] == "tbgraph-info"


def test_a_synonym_that_is_no_word_of_ours_is_pointed_out(here: Path) -> None:
    assert "`tbgraph draw` is `tbgraph render`" in invoke("draw m.pbtxt").stderr
    assert "is `tbgraph" not in invoke("show m.pbtxt").stderr


def test_a_path_comes_before_a_synonym(here: Path) -> None:
    shutil.copy(here / "m.pbtxt", here / "summary")
    assert choose_command(["summary"], COMMANDS) == ["open", "summary"]


def test_the_tables_name_what_there_is() -> None:
    context = click.Context(cli)
    known = {}
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        known[name] = {word for param in command.params for word in param.opts}
    assert set(COMMAND_SYNONYMS.values()) <= set(COMMANDS)
    assert not set(COMMAND_SYNONYMS) & set(COMMANDS)
    for name, renamed in OPTION_RENAMES.items():
        assert set(renamed.values()) - {""} <= known[name]
        assert not set(renamed) & known[name]
    for name, switches in SWITCH_RENAMES.items():
        assert {words[0] for words in switches.values() if words} <= known[name]


@each("words", ["--title=-x", "-q -o a.svg", "--hide -x", "--open=a=b"])
def test_words_of_our_own_stay_as_they_are(words: str) -> None:
    _, _, rest = cli.resolve_command(click.Context(cli), ["render", "m", *words.split()])
    assert rest == ["m", *words.split()]
