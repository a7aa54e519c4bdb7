"""Translate to `viewer/place.js` what the page computes as Python does: `python tools/twin/make.py`.

The browser places and draws as Python does, with equal numbers, parses the same queries, and writes numbers, ticks and
addresses alike. So the same code runs twice: the modules below are read as syntax trees with the types that mypy finds,
and written as JavaScript. By hand is what Python does with NumPy (smoothing, percentiles) or regular expressions that
JavaScript lacks (wildcards): tests run both on the same tables.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parents[1]))

from twin.kinds import Kinds  # noqa: E402
from twin.names import Global, World  # noqa: E402
from twin.statements import Statements  # noqa: E402

TARGET = ROOT / "graphviz_tb" / "viewer" / "place.js"
PYTHON = [TARGET.with_name(name) for name in ("keyed.js", "python.js")]
WORDS = ("line_labels", "level")
RENDER = ("close_frame", "compose", "boxes", "lines", "legend")
ARRANGE = ("wrap",)  # changed when a reader moves a box
OTHERS = ("chart.axes", "color.cost", "color.measured", "limits", "search.language")
NOT_READ = ("__init__", "advances")
MODULES = [
    *(
        f"graphviz_tb.{folder}.{path.stem}"
        for folder in ("model", "graphs", "place")
        for path in sorted((ROOT / "graphviz_tb" / folder).glob("*.py"))
        if path.stem not in NOT_READ
    ),
    *(f"graphviz_tb.words.{name}" for name in WORDS),
    *(f"graphviz_tb.render.{name}" for name in RENDER),
    *(f"graphviz_tb.arrange.{name}" for name in ARRANGE),
    *(f"graphviz_tb.{name}" for name in OTHERS),
]
# Names that the page uses, by module, as "Python name" or "Python name: JavaScript name". All that they use is
# translated too.
WANTED = {
    "place.picture": (
        "place",
        "FrameCache",
    ),
    "words.level": (
        "level_words: words_of",
        "stack_label: as_stack",
        "_name_on_box: name_on_box",
        "joined_label: as_one_frame",
    ),
    "model.metagraph": (
        "Metaedge",
        "Bridge",
        "Annotation",
        "DrawingMask: Mask",
        "IMPLIED_LINE",
        "Metagraph",
    ),
    "model.skeleton": (
        "PortSlot",
        "Wire",
        "Skeleton",
    ),
    "model.view": (
        "NodeLabel",
        "View",
    ),
    "model.paint": (
        "surplus_fill",
        "RowFill: Fill",
        "LegendRow",
        "LineTint: Tint",
        "Caption",
        "Paint",
    ),
    "model.theme": ("THEMES",),
    "model.measure": ("elide_text: elide",),
    "model.formatting": (
        "format_bytes",
        "format_count",
        "format_micros",
        "format_number",
    ),
    "model.paths": (
        "join_address",
        "_escape_address_part",
    ),
    "chart.axes": (
        "pad_axis",
        "_axis_between",
        "axis_ticks",
        "axis_time_ticks",
        "format_duration",
    ),
    "color.cost": (
        "_format_flops",
        "_format_parameters",
    ),
    "color.measured": ("round_ticks",),
    "search.language": (
        "parse_query",
        "Joined",
        "Negated",
        "NumberTerm",
        "TextTerm",
    ),
    "model.drawing": (
        "Rectangle",
        "Hatch",
        "Disc",
        "Curve",
        "Label",
        "Group",
    ),
    "arrange.wrap": ("carry_breaks: kept",),
    "graphs.main_path": ("main_paths",),
    "render.compose": (
        "compose",
        "edge_order: in_front_last",
        "_node_group: node",
        "_rule_group: rule",
        "_stub_group: stub",
        "_titles_group: titles",
        "_port_group: port",
        "_free_text_group: free",
    ),
    "render.lines": (
        "draw_route: route",
        "draw_web: web",
    ),
    "render.legend": (
        "legend_blocks: legend",
        "_legend_shapes: shapes",
        "draw_legend: drawn",
    ),
    "render.boxes": (
        "_open_mark_place: mark_place",
        "front_bounds: front",
        "is_pill",
    ),
}
# Written by hand in `viewer/words.js`: words, and the advances of the font, which come with the data.
BY_HAND = {
    ("line_labels", "describe_contents"),
    ("line_labels", "drawn_label"),
    ("line_labels", "tensor_count"),
    ("measure", "advance_of"),
    ("measure", "replace_unsafe_characters"),
    ("measure", "joins_previous_character"),
    ("measure", "group_thousands"),
    ("measure", "text_width"),
    ("tensors", "carry_tensors"),
    ("metagraph", "main_path_weight"),
    ("metagraph", "line_thickness"),
    ("language", "_query_error"),
}
HEAD = """// @ts-nocheck
// Made from the modules named below by `make viewer`; do not edit.
// The same steps on the same integers give the same numbers.
"""


def translated() -> str:
    """Return the text of `place.js`."""
    world = World(ROOT, MODULES, BY_HAND)
    kinds = Kinds(world.files)
    writers = {name: Statements(world, kinds, name) for name in world.modules}
    done: dict[Global, list[str]] = {}
    exports = {
        Global(f"graphviz_tb.{module}", name.partition(": ")[0]): name.rpartition(": ")[2].removeprefix("_")
        for module, names in WANTED.items()
        for name in names
    }
    wanted = list(exports)
    waiting = list(wanted)
    while waiting:
        one = waiting.pop()
        if one in done or by_hand(one):
            continue
        writer = writers[one.module]
        writer.used = {}
        done[one] = writer.definition(one)
        waiting += list(writer.used)
    text = "\n".join(line for lines in done.values() for line in lines)
    there = "".join(one.read_text(encoding="utf-8") for one in PYTHON)
    missing = set(re.findall(r"\bpy_\w+", text)) - set(re.findall(r"\bpy_\w+(?= =|\()", there))
    assert not missing, f"neither viewer/keyed.js nor viewer/python.js has {', '.join(sorted(missing))}"
    given = [f"  {exports[one]}: {world.js[one]}," for one in wanted]
    return HEAD + "\n".join([*in_order(world, done), "", "const exported = {", *given, "};"])


def by_hand(one: Global) -> bool:
    """Return whether `viewer/words.js` defines it by hand."""
    return (one.module.rsplit(".", 1)[-1], one.name) in BY_HAND


def in_order(world: World, done: dict[Global, list[str]]) -> list[str]:
    """Return definitions by module, imported modules first, so that constants come before their uses."""
    ordered: list[str] = []
    rank = {name: at for at, name in enumerate(by_import(world))}
    for module in sorted({one.module for one in done}, key=rank.__getitem__):
        ordered.append(f"\n// {module.removeprefix('graphviz_tb.')}")
        for name in world.modules[module].defined:
            found = done.get(Global(module, name))
            if found:
                ordered += found
    return ordered


def by_import(world: World) -> list[str]:
    """Return the modules, imported ones first. Raises ValueError if modules import each other."""
    order: dict[str, None] = {}
    entered: dict[str, None] = {}
    stack = [(name, False) for name in reversed(world.modules)]
    while stack:
        name, left = stack.pop()
        if left:
            order[name] = entered.pop(name, None)
        elif name in entered:
            raise ValueError(f"import each other: {', '.join([*entered][[*entered].index(name) :])}")
        elif name not in order:
            entered[name] = None
            found = world.modules[name].imported.values()
            inner = [one for source, member in found for one in (source, f"{source}.{member}")]
            stack += [(name, True), *((one, False) for one in inner if one in world.modules and one not in order)]
    return list(order)


def main() -> None:
    """Write `place.js`."""
    TARGET.write_text(translated() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
