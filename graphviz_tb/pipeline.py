"""The list of stages, in order: the program's explanation, its profiler and its progress bar.

file     read ▶ flatten ▶ group ▶ annotate                  once per file
group    expand ▶ arrange                                   once per group, when it is opened
picture  color ▶ view ▶ place ▶ render                      once per picture
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import PurePath
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from graphviz_tb.annotate import StatsOptions, annotate, join_statistics
from graphviz_tb.arrange import ArrangeOptions, arrange, turned_inside
from graphviz_tb.color import MEASURED, Measured, paint
from graphviz_tb.color.with_stats import WithStats, with_stats
from graphviz_tb.errors import MissingFacts, RequestError, UnknownChoice, UnknownNode
from graphviz_tb.expand import Expander
from graphviz_tb.flatten import flatten
from graphviz_tb.group import group
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.loaded import Loaded
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paint import Caption, Painter
from graphviz_tb.model.paths import Path, address, child_path
from graphviz_tb.model.scene import DIRECTIONS, Scene
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.through import OpsThroughCalls
from graphviz_tb.model.view import View
from graphviz_tb.options import LEAST, Options, PictureOptions, ReadOptions
from graphviz_tb.output import format_of, keep_inputs, write
from graphviz_tb.place import place
from graphviz_tb.proto import RunMetadata
from graphviz_tb.read import profiles, read
from graphviz_tb.render import RENDERERS, notices, render
from graphviz_tb.render.json import document, encode
from graphviz_tb.view import Names, build_view, open_groups
from graphviz_tb.view.faces import Faces
from graphviz_tb.view.opening import OpenSet

if TYPE_CHECKING:
    import networkx

STAGES = ("read", "flatten", "group", "annotate", "color", "expand", "arrange", "place", "render")  # as they run


class Report:
    """Runs stages and remembers how long each took, in seconds of wall and CPU time.

    `told` is called with the stage's name before it runs, `part` with how far reading is: bytes done, and of how many.
    """

    def __init__(
        self,
        told: Callable[[str], None] = lambda stage: None,
        part: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self.told = told
        self.part = part
        self.seconds: dict[str, tuple[float, float]] = {}

    def __call__(self, stage: str, run: Callable[..., Any], *args: Any) -> Any:
        """Run one stage."""
        self.told(stage)
        wall, cpu = perf_counter(), process_time()
        value = run(*args)
        before = self.seconds.get(stage, (0.0, 0.0))
        self.seconds[stage] = (before[0] + perf_counter() - wall, before[1] + process_time() - cpu)
        return value


def load(source: Any, options: Options | None = None, report: Report | None = None, **choices: Any) -> Model:
    """Read `source` (a path, "-", bytes, or an object that holds a GraphDef) and fold it.

    `choices` are single options by name (`series_min=3`, `preset="tensorboard"`, `run="train"`). Raises `ReadError`
    where the source is no graph, `RequestError` where a choice does not exist.

    >>> model = load(b'node { name: "layer/w" op: "Relu" } node { name: "layer/x" op: "Add" input: "layer/w" }')
    >>> model
    <Model: 2 ops, 1 edge>
    """
    options = with_choices(options or Options.preset(choices.pop("preset", "default")), choices)
    report = report or Report()
    options = replace(options, flatten=replace(options.flatten, strict=options.read.strict))
    with no_collection():
        loaded = report("read", read, source, options.read, report.part)
        graph = report("flatten", flatten, loaded.graph_def, options.flatten)
        hierarchy = report("group", group, graph, options.group)
        stats = report("annotate", statistics, source, loaded, hierarchy, options)
        facts = report("annotate", annotate, hierarchy, stats)
    return Model(hierarchy, facts, options, loaded, report, source)


@contextmanager
def no_collection() -> Iterator[None]:
    """Hold the garbage collector back: it would walk over millions of strings again and again and find no cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def statistics(source: Any, loaded: Loaded, hierarchy: Hierarchy, options: Options) -> Stats | None:
    """The run statistics that were asked for: files, or steps of the source itself."""
    chosen: dict[str, RunMetadata] = {}
    files = options.read.run_metadata
    for file in (files,) if isinstance(files, str) else files:
        chosen.update((f"{file}:{tag}" if tag else file, trace) for tag, trace in profiles(file).items())
    if options.read.step is not None:
        own = loaded.run_metadata or profiles(source, ReadOptions(run=options.read.run))
        chosen.update((tag, own[tag]) for tag in steps_of(own, options.read.step))
    if not chosen:
        return None
    return join_statistics(
        hierarchy, list(chosen.values()), StatsOptions(options.flatten.tensorboard), names=list(chosen)
    )


def steps_of(tags: Iterable[str], step: str) -> list[str]:
    """The tags that `step` means: a tag itself, the one with that number at its end, or all.

    >>> steps_of(["step099", "step199"], "99"), steps_of(["a", "b"], "all")
    (['step099'], ['a', 'b'])
    """
    known = list(tags)
    if step in known or step == "all":
        return known if step not in known else [step]
    number = re.compile(rf"(^|.*\D)0*{int(step)}", re.DOTALL) if step.isascii() and step.isdigit() else None
    found = [tag for tag in known if number and number.fullmatch(tag)]
    if len(found) != 1:
        raise UnknownChoice.among("step", step, [*known, "all"])
    return found


def with_choices(options: Options, choices: dict[str, Any]) -> Options:
    """Options with some fields changed, whichever group they are in.

    >>> with_choices(Options(), {"series_min": 3}).group.series_min
    3
    """
    unknown = set(choices)
    for part in fields(options):
        values = getattr(options, part.name)
        names = [field.name for field in fields(values) if field.name in choices]
        mine = {name: settled(name, getattr(values, name), choices[name]) for name in names}
        if mine:
            options = replace(options, **{part.name: replace(values, **mine)})
            unknown -= set(mine)
    if unknown:
        legal = sorted({field.name for part in fields(options) for field in fields(getattr(options, part.name))})
        raise UnknownChoice.among("option", sorted(unknown)[0], legal)
    return options


def settled(name: str, usual: Any, value: Any) -> Any:
    """A choice as its option takes it: one word is a list of one; a number below the least is refused.

    >>> settled("open", (), "conv1"), settled("open", (), ["conv1", "conv2"]), settled("depth", "auto", 2)
    (('conv1',), ('conv1', 'conv2'), 2)
    """
    if isinstance(usual, tuple):
        return (value,) if isinstance(value, str | os.PathLike) else tuple(value)
    if name == "direction" and value not in DIRECTIONS:
        raise UnknownChoice.among("direction", value, DIRECTIONS)
    if name in LEAST and isinstance(value, int | float) and not value >= LEAST[name]:
        raise RequestError(f"{name} is {value}; the least is {LEAST[name]}")
    return value


class Model:
    """A folded graph: open any group, draw any picture, write it for machines."""

    def __init__(
        self,
        hierarchy: Hierarchy,
        facts: Facts,
        options: Options,
        loaded: Loaded | None = None,
        report: Report | None = None,
        source: Any = None,
    ) -> None:
        self.source = source
        self.hierarchy = hierarchy
        self.facts = facts
        self.options = options
        self.loaded = loaded
        self.report = report or Report()
        self.expander = Expander(hierarchy, facts, options.expand)
        self._check_names()

    def __repr__(self) -> str:
        ops, edges = self.hierarchy.ops(0), len(self.hierarchy.edge_order)
        return f"<Model: {ops:,} op{'s' * (ops != 1)}, {edges:,} edge{'s' * (edges != 1)}>"

    @cached_property
    def names(self) -> Names:
        """Finds rows by name."""
        return Names(self.hierarchy)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was odd on the way."""
        return (*(self.loaded.notices if self.loaded else ()), *self.hierarchy.notices)

    def inputs(self) -> tuple[Any, ...]:
        """What was given to read: no output may take its place."""
        return (self.source, *self.options.read.run_metadata)

    def metagraph(self, path: Path = (0,)) -> Metagraph:
        """What the group at `path` holds when it is open."""
        return self.expander.metagraph(path)

    def skeleton(self, path: Path = (0,), engine: str = "layered") -> Skeleton:
        """The order in which the group at `path` is drawn when nothing around it is turned."""
        return arrange(self.metagraph(path), ArrangeOptions(engine))

    def picture(self, options: PictureOptions | None = None, **choices: Any) -> Picture:
        """A picture; `choices` are fields of `PictureOptions` (`depth=1`, `open=("layer",)`, `theme="dark"`)."""
        legal = [field.name for field in fields(PictureOptions)]
        if strange := sorted(set(choices) - set(legal)):
            raise UnknownChoice.among("option of a picture", strange[0], legal)
        options = with_choices(replace(self.options, picture=options or self.options.picture), choices).picture
        with no_collection():
            return draw(self, options)

    def to_json(self) -> dict[str, Any]:
        """The whole folded graph as plain values (docs/json.md)."""
        stats = self.facts.stats
        return document(self.hierarchy, lambda row: self.metagraph((row,)), stats.entry if stats else None)

    def to_networkx(self, path: Path = (0,)) -> networkx.DiGraph[int]:
        """The group at `path` as a `networkx.DiGraph` of its children."""
        from graphviz_tb.render.networkx import to_networkx

        return to_networkx(self.hierarchy, self.metagraph(path))

    def json_bytes(self) -> bytes:
        """The same as a file."""
        found: bytes = self.report("render", lambda: encode(self.to_json()))
        return found

    def save(self, target: str | os.PathLike[str], format: str | None = None, **choices: Any) -> None:
        """Write the default picture, or `.json`, to a file; the format follows from the suffix."""
        keep_inputs(self.inputs(), [target])
        if format_of(target, format) == "json":
            write(target, self.json_bytes())
        else:
            self.picture(**choices).save(target, format)

    def _check_names(self) -> None:
        """`--main` and `--aux` must name something."""
        for name in (*self.options.expand.main, *self.options.expand.aux):
            if name not in self.names.index(0):
                raise UnknownNode.among(name, self.names.index(0))


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture of a model: a scene with coordinates and a painter for its colours."""

    model: Model
    view: View
    scene: Scene
    painter: Painter
    caption: Caption
    options: PictureOptions
    notices: tuple[Notice, ...]

    def render(self, format: str = "svg") -> bytes:
        """The whole file as bytes."""
        if format == "json":
            return self.model.json_bytes()
        run = self.model.report
        found: bytes = run("render", render, self.scene, self.painter, self.caption, self.options, format)
        return found

    def shortfalls(self, format: str) -> tuple[Notice, ...]:
        """What a format cannot do quite as asked: a cap on pixels, letters that the font lacks."""
        return () if format == "json" else notices(self.scene, self.painter, self.caption, self.options, format)

    def save(self, target: str | os.PathLike[str], format: str | None = None) -> None:
        """Write it; the format follows from the suffix."""
        keep_inputs((*self.model.inputs(), *self.options.font_files), [target])
        write(target, self.render(format_of(target, format)))

    def _repr_svg_(self) -> str:
        return self.render("svg").decode()


def draw(model: Model, options: PictureOptions, painter: Painter | None = None) -> Picture:
    """Once per picture: which groups are open, their order, colours (`painter`, where it is given), coordinates."""
    report, hierarchy = model.report, model.hierarchy
    check_statistics(model, options)
    painter = painter or report("color", paint, hierarchy, options.color_by, options.theme, model.facts.stats)
    if options.stats and not isinstance(painter, Measured):
        painter = with_stats(hierarchy, painter, model.facts.stats)
    opened, odd = report("expand", open_groups, hierarchy, model.metagraph, options, model.names)
    told: list[Notice] = []
    order = ArrangeOptions(options.engine, report=told.append)
    view = report(
        "arrange",
        build_view,
        hierarchy,
        model.metagraph,
        opened,
        Faces(hierarchy, second_of(painter)),
        lambda level, turned: arrange(level, order, turned),
        turned_inside,
    )
    scene = report("place", place, view, options)
    if isinstance(painter, Measured | WithStats):
        painter = painter.over(*shown_paths(hierarchy, model.metagraph, opened))
    return Picture(model, view, scene, painter, caption(model, scene, options), options, (*odd, *told))


def check_statistics(model: Model, options: PictureOptions) -> None:
    """Statistics that are asked for but were not joined: name the steps that the source itself holds."""
    steps = list(model.loaded.run_metadata) if model.loaded else []
    if model.facts.stats is None and steps and (options.stats or options.color_by in MEASURED):
        what = "--stats" if options.stats else f"colouring by {options.color_by}"
        raise MissingFacts(
            f"{what} needs run statistics; the log holds {', '.join(steps[:5])}{', …' * (len(steps) > 5)}",
            hint=f"choose with --step {steps[0]}, or --step all",
        )


def second_of(painter: Painter) -> Callable[[Path], str | None]:
    """What the second line of a node says: of one call, where the painter tells calls apart."""
    if isinstance(painter, Measured | WithStats):
        return painter.second_at
    return lambda path: painter.second(path[-1])


def shown_paths(
    hierarchy: Hierarchy, metagraph: Callable[[Path], Metagraph], opened: OpenSet
) -> tuple[list[Path], dict[str, Path]]:
    """The nodes that are shown and not open, and all that are shown by address."""
    children = [child_path(hierarchy, path, row) for path in opened for row in metagraph(path).children]
    return [child for child in children if child not in opened], {address(hierarchy, path): path for path in children}


def caption(model: Model, scene: Scene, options: PictureOptions) -> Caption:
    """What the title row says."""
    shown = sum(not box.open for box in scene.boxes)
    title = options.title if options.title is not None else model_name(model)
    ops = OpsThroughCalls(model.hierarchy)(0)
    return Caption(title, model.hierarchy.ops(0) if ops is None else ops, shown, selected(model, options))


def model_name(model: Model) -> str:
    """The name of what was opened, without the folders above it: the same wherever the file lies."""
    label = model.loaded.label if model.loaded else ""
    source = PurePath(model.source) if isinstance(model.source, str | os.PathLike) else PurePath()
    return source.name + label.removeprefix(str(source)) if label.startswith(str(source)) and source.name else label


def selected(model: Model, options: PictureOptions) -> tuple[str, ...]:
    """Addresses picked out with `select`."""
    from graphviz_tb.model.paths import address

    return tuple(address(model.hierarchy, path) for pattern in options.select for path in model.names.find(pattern))


def formats() -> tuple[str, ...]:
    """All words that `--format` takes."""
    return (*RENDERERS, "json")


__all__ = ["Model", "Picture", "Report", "RequestError", "child_path", "draw", "formats", "load"]
