"""Write `viewer/place.js` anew from Python, of `view/`, `place/` and `render/`: `python tests/viewer/twin/make.py`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(Path(__file__).parents[1]))

from twin.kinds import Kinds  # noqa: E402
from twin.names import Global, World  # noqa: E402
from twin.statements import Statements  # noqa: E402

TARGET = ROOT / "graphviz_tb" / "viewer" / "place.js"
PYTHON = [TARGET.with_name(name) for name in ("keyed.js", "python.js")]
VIEW = ("labels", "shared", "stubs", "words")
RENDER = ("compose", "boxes", "lines", "legend", "rows", "sheet", "signs", "texts")
ARRANGE = ("breaks", "spine")  # what a move by hand changes
NOT_READ = ("__init__", "advances")
MODULES = [
    *(
        f"graphviz_tb.{folder}.{path.stem}"
        for folder in ("model", "algorithms", "place")
        for path in sorted((ROOT / "graphviz_tb" / folder).glob("*.py"))
        if path.stem not in NOT_READ
    ),
    *(f"graphviz_tb.view.{name}" for name in VIEW),
    *(f"graphviz_tb.render.{name}" for name in RENDER),
    *(f"graphviz_tb.arrange.{name}" for name in ARRANGE),
]
# What the page needs of it, by module; everything that these use is translated too.
WANTED = {
    "place.nested": ("place", "FrameCache"),
    "view.words": ("words_of", "as_stack"),
    "model.metagraph": ("Metaedge", "Bridge", "Annotation", "Mask", "Metagraph"),
    "model.skeleton": ("PortSlot", "Wire", "Skeleton"),
    "model.view": ("NodeLabel", "View"),
    "model.paint": ("Fill", "LegendRow", "Tint", "Caption", "Paint"),
    "model.theme": ("THEMES",),
    "model.measure": ("elide",),
    "model.drawing": ("Rectangle", "Hatch", "Disc", "Curve", "Label", "Group"),
    "arrange.breaks": ("kept",),
    "arrange.spine": ("spines",),
    "render.compose": ("compose", "in_front_last", "_node", "_rule", "_stub", "_titles", "_port", "_free"),
    "render.lines": ("route", "web"),
    "render.legend": ("legend",),
    "render.rows": ("shapes", "drawn"),
    "render.boxes": ("mark_place", "front", "is_pill"),
}
# Written by hand in `viewer/words.js`: words, and the advances of the font, which come with the data.
BY_HAND = {
    ("measure", "width"), ("measure", "clean"), ("measure", "_advance"), ("measure", "joins"), ("measure", "thousands"),
    ("labels", "shown"), ("labels", "contents"), ("thickness", "thickness"), ("thickness", "load"),
    ("tensors", "carry"),
}  # fmt: skip
HEAD = """// @ts-nocheck
// Made from graphviz_tb/view/, place/ and render/ by `make viewer`; do not edit.
// The same steps on the same integers give the same numbers.
"""


def translated() -> str:
    """The text of `place.js`."""
    world = World(ROOT, MODULES, BY_HAND)
    kinds = Kinds(world.files)
    writers = {name: Statements(world, kinds, name) for name in world.modules}
    done: dict[Global, list[str]] = {}
    wanted = [Global(f"graphviz_tb.{module}", name) for module, names in WANTED.items() for name in names]
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
    given = [f"  {one.name.removeprefix('_')}: {world.js[one]}," for one in wanted]
    return HEAD + "\n".join([*in_order(world, done), "", "const exported = {", *given, "};"])


def by_hand(one: Global) -> bool:
    """Whether `viewer/words.js` has it."""
    return (one.module.rsplit(".", 1)[-1], one.name) in BY_HAND


def in_order(world: World, done: dict[Global, list[str]]) -> list[str]:
    """Definitions in the order of their modules, models first; constants before all that may need them."""
    told: list[str] = []
    rank = {name: at for at, name in enumerate(by_import(world))}
    for module in sorted({one.module for one in done}, key=rank.__getitem__):
        told.append(f"\n// {module.removeprefix('graphviz_tb.')}")
        for name in world.modules[module].defined:
            found = done.get(Global(module, name))
            if found:
                told += found
    return told


def by_import(world: World) -> list[str]:
    """Modules, those that are imported first."""
    order: dict[str, None] = {}
    stack = [(name, False) for name in reversed(world.modules)]
    while stack:
        name, left = stack.pop()
        if left:
            order.setdefault(name)
        elif name not in order:
            stack.append((name, True))
            found = world.modules[name].imported.values()
            inner = [one for source, member in found for one in (source, f"{source}.{member}")]
            stack += [(one, False) for one in inner if one in world.modules and one not in order]
    return list(order)


def main() -> None:
    """Write it."""
    TARGET.write_text(translated() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
