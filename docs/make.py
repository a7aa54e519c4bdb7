"""Write the generated parts of the documentation again: `python docs/make.py`, or `--check` to see if they are current.

Every page holds its generated parts between two comments:

    <!-- generated: NAME -->
    …
    <!-- end -->

`PARTS` says which function makes which part. The rest of a page is written by hand and left alone.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path

import click

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

# Command → lines that run from the root of a checkout; the help has the same with names of the reader's own files.
EXAMPLES = {
    "open": """
tbgraph open fixtures/real/mnist_cnn.pbtxt
tbgraph open fixtures/containers/saved_model
tbgraph open fixtures/logdirs/mnist_runs --run train --file
""",
    "render": """
tbgraph render fixtures/real/mnist_cnn.pbtxt
tbgraph render fixtures/real/mnist_cnn.pbtxt graph.svg graph.png
tbgraph render fixtures/real/mnist_cnn.pbtxt -o graph.svg
tbgraph render fixtures/real/mnist_cnn.pbtxt -o graph.svg -o graph.png --open 'conv1/**'
tbgraph render fixtures/real/mnist_cnn.pbtxt -o graph.html
tbgraph render fixtures/containers/saved_model -o graph.json
tbgraph render fixtures/logdirs/mnist_runs --run train -o graph.svg --step all --color-by compute-time --theme dark
tbgraph render fixtures/logged/torch_layers -o gradients.svg --logged 'grad/*' --at 2
tbgraph render fixtures/real/xor.pbtxt -o graph.svg --engine dot   # needs Graphviz
cat fixtures/real/gan_scopes.pb | tbgraph render - -o - --format svg > graph.svg
""",
    "diff": """
tbgraph diff fixtures/edits/base.train.pb fixtures/edits/inserted.train.pb   # all changes, the most severe first
tbgraph diff fixtures/edits/base.train.pb fixtures/edits/inserted.train.pb -o diff.svg   # one picture of both
tbgraph diff fixtures/edits/base.json fixtures/edits/units.json --format markdown   # for a pull request
tbgraph diff fixtures/logdirs --run torch_pair --run torch_transformer --fail-on signature   # two runs
tbgraph diff fixtures/models/keras2 fixtures/models/keras3   # every model of two folders, paired by path
git config diff.tbgraph.command "tbgraph diff --git"   # then git diff shows changes: docs/diff.md, "Git"
""",
    "info": """
tbgraph info fixtures/real/mnist_cnn.pbtxt
tbgraph info fixtures/logdirs/mnist_runs
tbgraph info fixtures/logdirs/mnist_runs --run train
tbgraph info fixtures/logged/torch_layers --joins
tbgraph info fixtures/containers/saved_model --json
""",
    "serve": """
tbgraph serve ./logs
tbgraph serve --logdir ./logs --port 7007
tbgraph serve fixtures/real/mnist_cnn.pbtxt --browser
tbgraph serve ./logs --bind-all   # on a machine of a cluster; the address has a token
""",
    "find": """
tbgraph find fixtures/real/mnist_cnn.pbtxt op:Conv2D
tbgraph find fixtures/real/mnist_cnn.pbtxt 'conv and op:MaxPool' --names
tbgraph find fixtures/real/mnist_cnn.pbtxt 'params>1k not name:gradients' --json -q
tbgraph find fixtures/real/mnist_cnn.pbtxt --run-metadata fixtures/run_metadata/mnist_cnn_step099.pb 'time>1ms'
""",
    "check": """
tbgraph check fixtures/real/mnist_cnn.pbtxt --assert 'params < 5M' --assert 'count(op:Conv2D) == 2'
tbgraph check fixtures/real/mnist_cnn.pbtxt --assert 'flops(name:conv1) <= 2M' --json
tbgraph check fixtures/real/mnist_cnn.pbtxt --run-metadata fixtures/run_metadata/mnist_cnn_step099.pb --assert 'ops<1k'
""",
    "review": """
tbgraph review model/graph.pb
tbgraph review model/graph.pb --base origin/main -o review
tbgraph review model/graph.pb --base HEAD~1 --fail-on signature --assert 'params < 5M' || echo 'look at it'
""",
    "tree": """
tbgraph tree fixtures/real/mnist_cnn.pbtxt
tbgraph tree fixtures/real/mnist_cnn.pbtxt --depth 2
tbgraph tree fixtures/real/mnist_cnn.pbtxt --by flow
tbgraph tree fixtures/real/mnist_cnn.pbtxt --under conv1 --ops
tbgraph tree fixtures/containers/saved_model --json
""",
    "scalars": """
tbgraph scalars fixtures/logged/tf2_summaries
tbgraph scalars fixtures/logged/tf2_summaries --tag loss --run 'train|test' --curves
tbgraph scalars fixtures/logged/tf2_summaries --csv > scalars.csv
tbgraph scalars fixtures/logged/tf2_summaries --tag loss -o loss.svg --smooth 0.6
tbgraph scalars fixtures/logged/tf2_summaries --json -q
""",
    "project": """
tbgraph project fixtures/logged/torch_writer
tbgraph project fixtures/logged/torch_writer -o cloud.svg
tbgraph project fixtures/logged/torch_writer --tensor words:00003 --color-by label -o cloud.png
""",
}
MARK = re.compile(r"(<!-- generated: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
SMALL = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: -1 } dim { size: 8 } } } } }
node { name: "layer/w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "layer/mul" op: "MatMul" input: "x" input: "layer/w" }
node { name: "out" op: "Relu" input: "layer/mul" }
"""


def commands() -> dict[str, click.Command]:
    """Every command by name."""
    from graphviz_tb.commands import COMMANDS

    return {
        name: getattr(import_module(module), function)
        for name, (module, function, _) in COMMANDS.items()
        if find_spec(module)
    }


def command_pages() -> str:
    """All commands with all their options."""
    from graphviz_tb.commands import COMMANDS

    parts = ["| command | what it does |", "|---|---|"]
    parts += [f"| [`tbgraph {name}`](#tbgraph-{name}) | {line} |" for name, (_, _, line) in COMMANDS.items()]
    for name, command in commands().items():
        parts += [
            "",
            f"## tbgraph {name}",
            "",
            f"`{usage(name, command)}`",
            "",
            *prose(command.help or ""),
            f"```sh{EXAMPLES[name]}```",
            "",
            *options(command),
        ]
    return "\n".join(parts) + "\n"


def usage(name: str, command: click.Command) -> str:
    """The line that shows how a command is called."""
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    words = [param.metavar or (param.name or "").upper() + ("…" if param.nargs == -1 else "") for param in arguments]
    return " ".join(["tbgraph", name, "[OPTIONS]", *words])


def prose(text: str) -> list[str]:
    """The paragraphs of the help text, without its examples (behind click's \\b)."""
    blocks = [block for block in cleandoc(text).split("\n\n") if not block.startswith("\b")]
    return [line for block in blocks for line in (escaped(block), "")]


def escaped(text: str) -> str:
    """Text that is no Markdown."""
    return re.sub(r"([|*<>\[\]])", r"\\\1", text)


def options(command: click.Command) -> list[str]:
    """A table of the options."""
    from graphviz_tb.commands.options import DEFAULT_HEADING, GroupedCommand

    lines = ["| option | meaning |", "|---|---|"]
    assert isinstance(command, GroupedCommand)
    for heading, group in command.options_by_heading().items():
        lines += [f"| **{heading}** | |"] if heading != DEFAULT_HEADING else []
        for param in group:
            names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
            value = f" `{param.metavar}`" if param.metavar and not param.is_flag else ""
            help_ = escaped(param.help or "")
            more = " Repeatable." if param.multiple else ""
            need = " Required." if param.required else ""
            lines.append(f"| {names}{value} | {help_}{more}{need} |")
    return lines


def small_graph() -> str:
    """The graph of the JSON example, as text."""
    return f"```text{SMALL}```\n"


def small_json() -> str:
    """The folded graph that `render -o small.json` writes of it."""
    from graphviz_tb import load

    return f"```json\n{load(SMALL.encode()).json_bytes().decode()}```\n"


def printed(*arguments: str, quiet: bool = True) -> str:
    """What a command prints, run from the root of the repository at 80 columns."""
    import contextlib
    import io

    from graphviz_tb.commands import _run_command_line

    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    os.environ["COLUMNS"] = "80"
    with contextlib.redirect_stdout(out), contextlib.chdir(ROOT):
        _run_command_line([*arguments, *(["--quiet"] if quiet else [])])
        told = out.buffer.getvalue().decode()
    return f"```text\n$ tbgraph {shlex.join(arguments)}\n{told}```\n"


def info_json() -> str:
    """What `info --json` prints, long lists cut."""
    text = printed("info", "fixtures/containers/saved_model", "--json").split("\n", 2)[2].removesuffix("```\n")
    return as_json(shortened(json.loads(text)))


def tree_json() -> str:
    """What `tree --json` prints."""
    text = printed("tree", "fixtures/real/mnist_cnn.pbtxt", "--depth", "1", "--json").split("\n", 2)[2]
    document = json.loads(text.removesuffix("```\n"))
    document["nodes"] = document["nodes"][:3]
    return as_json(document)


def as_json(value: object) -> str:
    """JSON with short lists on one line."""
    text = json.dumps(value, indent=1)
    short = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda found: "[" + " ".join(found[1].split()) + "]", text)
    return f"```json\n{short}\n```\n"


def shortened(value: object) -> object:
    """The same with one entry in each list, and three in each histogram."""
    if isinstance(value, list):
        return [shortened(each) for each in value[: 2 if value and not isinstance(value[0], dict) else 1]]
    if isinstance(value, dict):
        counted = len(value) > 3 and all(isinstance(each, int) for each in value.values())
        names = all(re.fullmatch(r"[a-z_]+", key) for key in value)
        keys = list(value)[:3] if counted and not names else list(value)
        return {key: shortened(value[key]) for key in keys}
    return value


def theme_colours() -> str:
    """The base colours of both themes."""
    from graphviz_tb.model.theme import DARK_THEME, LIGHT_THEME

    fields = [name for name in LIGHT_THEME.__dataclass_fields__ if name not in ("name", "frames", "hues")]
    lines = ["| what | light | dark |", "|---|---|---|"]
    lines += [f"| {name} | `{getattr(LIGHT_THEME, name)}` | `{getattr(DARK_THEME, name)}` |" for name in fields]
    for name in ("frames", "hues"):
        pair = [" ".join(f"`{colour}`" for colour in getattr(theme, name)) for theme in (LIGHT_THEME, DARK_THEME)]
        lines.append(f"| {name} | {pair[0]} | {pair[1]} |")
    return "\n".join(lines) + "\n"


# What a number is for → where it is in the code.
NUMBERS = (
    ("closed scope: height", "place.boxes SCOPE_HEIGHT"),
    ("closed scope: least and greatest width", "place.boxes MIN_SCOPE_WIDTH MAX_SCOPE_WIDTH"),
    ("op: height", "place.boxes OP_HEIGHT"),
    ("op: least and greatest width", "place.boxes MIN_OP_WIDTH MAX_OP_WIDTH"),
    ("room beside a label", "place.boxes LABEL_PADDING"),
    ("sheets of a stack, set off by", "place.boxes SHEET_OFFSET"),
    ("type size: scope, op, small", "model.measure NODE_FONT_PX OP_FONT_PX SMALL_FONT_PX"),
    ("open group: title bar", "place.boxes TITLE_BAR_HEIGHT"),
    ("open group: room around the content", "place.frames FRAME_PADDING"),
    ("longest title of an open group", "place.boxes MAX_TITLE_WIDTH"),
    ("constant, summary, stub: width and height", "place.boxes STUB_SIZES"),
    ("from one stub to the next", "place.boxes STUB_ROW"),
    ("longest label of a stub", "words.level STUB_LABEL_PX"),
    ("auxiliary area: distance from the drawing", "place.frames AREA_DISTANCE"),
    ("auxiliary area: heading", "place.frames HEADING_SIZE"),
    ("longest label of an edge", "words.line_labels LINE_LABEL_PX"),
    ("thinnest and thickest edge, tenths of a pixel", "model.metagraph THINNEST_TENTHS THICKEST_TENTHS"),
    ("widest level before it wraps", "arrange.component MAX_LEVEL_WIDTH"),
    ("most ports on a side", "limits MAX_PORTS_PER_SIDE"),
    ("corner of an edge", "render.lines BEND_RADIUS"),
    ("arrow head: length and width", "render.lines ARROW_LENGTH ARROW_WIDTH"),
    ("dashes of control edges", "render.lines CONTROL_LINE_DASHES"),
    ("port, radius", "render.compose PORT_RADIUS"),
    ("margin of the picture", "render.compose PAGE_MARGIN"),
    ("picture title, facts below it", "render.compose TITLE_SIZE FACTS_SIZE"),
    ("widest legend", "render.legend MAX_COLUMN_WIDTH"),
    ("legend: type size", "model.measure OP_FONT_PX"),
    ("PNG: widest, and most pixels in all, unless asked", "limits MAX_PNG_SIDE_PX MAX_PNG_PIXELS"),
)


def numbers() -> str:
    """The sizes, from the code."""
    lines = ["| what | pixels, if nothing else is said |", "|---|---|"]
    for what, place in NUMBERS:
        module, *names = place.split()
        found = [getattr(import_module(f"graphviz_tb.{module}"), name) for name in names]
        lines.append(f"| {what} | {', '.join(map(told_number, found))} |")
    return "\n".join(lines) + "\n"


def told_number(value: object) -> str:
    """A number, a word, several numbers, or sizes by name."""
    if isinstance(value, tuple):
        return " ".join(map(told_number, value))
    if isinstance(value, dict):
        return "; ".join(f"{name} {wide} × {high}" for name, (wide, high) in value.items() if wide)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def gaps() -> str:
    """The distances, from the code."""
    from dataclasses import fields

    from graphviz_tb.model.skeleton import LevelGaps

    lines = ["| between | pixels |", "|---|---|"]
    distances = [field for field in fields(LevelGaps) if type(field.default) is int]  # `bar` and `upward` are none
    return "\n".join([*lines, *(f"| {field.name} | {field.default} |" for field in distances)]) + "\n"


def bounds() -> str:
    """The table of all bounds, stage by stage."""
    from graphviz_tb.limits import _all_limits

    limits = _all_limits().values()
    rows = [f"| {limit.stage} | {limit:,} | {limit.unit} {limit.bounds} | {limit.beyond} |" for limit in limits]
    return "\n".join(["| stage | bound | of what | beyond it |", "|---|--:|---|---|", *rows]) + "\n"


CHECKED = (
    *("fixtures/real/mnist_cnn.pbtxt", "--top", "2", "--assert", "count(op:Cast) == 0"),
    *("--assert", "params < 5M", "--assert", "flops < 1G"),
)
PARTS: dict[str, Callable[[], str]] = {
    "commands": command_pages,
    "small graph": small_graph,
    "small json": small_json,
    "info json": info_json,
    "tree json": tree_json,
    "info": lambda: printed("info", "fixtures/real/numbered_series.pb", "--top", "5"),
    "diff": lambda: printed("diff", "fixtures/edits/base.train.pb", "fixtures/edits/inserted.train.pb", quiet=False),
    "check": lambda: printed("check", *CHECKED, quiet=False),
    "tree": lambda: printed("tree", "fixtures/real/numbered_series.pb", "--depth", "1"),
    "theme": theme_colours,
    "bounds": bounds,
    "numbers": numbers,
    "gaps": gaps,
}


def renewed(text: str) -> str:
    """A page with its generated parts made again."""
    return MARK.sub(lambda found: found[1] + PARTS[found[2]]() + found[3], text)


def pages() -> list[Path]:
    """Pages with generated parts."""
    return [
        path
        for path in (*sorted(DOCS.glob("*.md")), ROOT / "README.md", ROOT / "README.ko.md")
        if "<!-- generated:" in path.read_text()
    ]


def main(check: bool) -> int:
    """Write what is not current, or only name it."""
    stale = [(path, renewed(path.read_text())) for path in pages()]
    stale = [(path, text) for path, text in stale if text != path.read_text()]
    for path, text in stale:
        print(f"{path.relative_to(ROOT)} {'is not current: run docs/make.py' if check else 'written'}")
        if not check:
            path.write_text(text)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
