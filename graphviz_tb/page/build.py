"""The data of a page, block by block, and the page itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate, islice
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.algorithms.calls import OpsThroughCalls, uncalled_functions
from graphviz_tb.algorithms.layer_rows import layer_rows
from graphviz_tb.arrange import ArrangeOptions
from graphviz_tb.color import SCHEMES
from graphviz_tb.layout import opened_by
from graphviz_tb.limits import ROWS_OF_STEPS
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import _advance, joins
from graphviz_tb.model.paths import Path, address, child_path
from graphviz_tb.model.stacks import stack_in, usual_member
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import PictureOptions
from graphviz_tb.page import cards, colours, rows
from graphviz_tb.page.apart import put_apart
from graphviz_tb.page.blocks import DataBlock, TextTable, ints, words
from graphviz_tb.page.copied import CopiedLevels, Levels, put_copies
from graphviz_tb.page.held import Held, key_of
from graphviz_tb.page.laying import LayingPage
from graphviz_tb.page.profile import ProfilePart, profile_part
from graphviz_tb.page.walk import Away, all_in_main, has_aside, walk
from graphviz_tb.read.logdir import is_event_file
from graphviz_tb.render.html import document, source
from graphviz_tb.statistics import profiles_of_each, statistics_of_each
from graphviz_tb.view.opening import members_alone

if TYPE_CHECKING:
    from graphviz_tb.model.saved_view import SavedView
    from graphviz_tb.model.subject import PictureStages
    from graphviz_tb.openable import OpenableModel
    from graphviz_tb.page.logged import HeldLog

SHELL = 400_000  # bytes of a page without its blocks, about
LOG_SHARE = 0.5  # largest share of a page for the points of a log
PROFILE_SHARE = 0.25  # largest share of a page for its profiles
MOST_STOPS = 50  # logged steps in a page
OF_STEP, INSIDE = 1000, 3  # cost of a step in rows, besides its own rows; and of each box inside calls
VERSION = 1  # of the data; a viewer refuses other versions
REPLACED = "\N{THIN SPACE}\N{REPLACEMENT CHARACTER}"
ASCII = "".join(map(chr, range(32, 127)))  # the viewer writes counts and shortened names
# Options that the script of a page reads; the data contains the effect of all others.
READ = ("color_by", "direction", "legend", "max_annotations", "theme")


def html(model: OpenableModel, options: PictureOptions) -> bytes:
    """Return the whole page as one file."""
    held, traced = logged_in(model.source), profiles_of(model, int(options.page_max * 1e6 * PROFILE_SHARE))
    if held is None and not traced.count:
        head, blocks = data(model, options)
        return document(head, blocks, head["title"] or "graph")
    from graphviz_tb.page.logged import log_part, no_log

    name, room = title(model, options) or "log", int(options.page_max * 1e6 * LOG_SHARE) - weight(traced.blocks)
    part = no_log(name, traced.count) if held is None else log_part(held, name, room, model.joins, traced.count)
    added = [*part.blocks, *traced.blocks] if traced.count else list(part.blocks)
    used = weight(added) / 1e6
    head, blocks = data(model, replace(options, page_max=max(options.page_max - used, options.page_max * LOG_SHARE)))
    return document({**head, "log": True}, [*blocks, *added], head["title"] or "log")


def logged_in(source: Any) -> HeldLog | None:
    """Open the log and the embeddings of a source; None if it is no log. Imports the log readers only for a folder or
    event file."""
    if not isinstance(source, str | os.PathLike):
        return None
    path = FilePath(source)
    if not (path.is_dir() or is_event_file(path)):
        return None
    from graphviz_tb.page.logged import log_of

    return log_of(source)


def profiles_of(model: OpenableModel, room: int) -> ProfilePart:
    """Pack the profiles of the requested steps, or of all steps in the source."""
    asked = model.options.read
    chosen = asked.step is not None or asked.profile is not None or bool(asked.run_metadata)
    if model.loaded is None or not (chosen or model.loaded.run_metadata):
        return profile_part({}, room)
    return profile_part(profiles_of_each(model.source, model.loaded, model.hierarchy, model.options), room)


@dataclass(frozen=True)
class Extra:
    """Additions to a page: colourings by name, fields of the head, the first picture, and a function that makes their
    blocks from the table of texts and the paths of the levels. `each`: write the levels of copies too."""

    schemes: tuple[str, ...] = ()
    head: Mapping[str, Any] = field(default_factory=dict)
    first: PictureStages | None = None
    blocks: Callable[[TextTable, Iterable[Path]], Iterable[DataBlock]] = lambda table, levels: ()
    each: bool = False


def data(
    model: OpenableModel, options: PictureOptions, extra: Extra = Extra()
) -> tuple[dict[str, Any], list[DataBlock]]:
    """Return the head, and all blocks in the order in which the viewer needs them."""
    hierarchy, table = model.hierarchy, TextTable()
    opened, notices = opened_by(model, options, extra.first)
    limit = int(options.page_max * 1e6)
    alone = members_alone(hierarchy, opened, options) is not None
    held = Held(hierarchy, table, limit, alone)
    lay = LayingPage(ArrangeOptions(options.engine, wrap=options.wrap), model.arrangements, held)
    copied = CopiedLevels(model.members if alone and not extra.each else model.expander)
    levels, inside, apart = put_levels(model, lay, opened, held, copied, whole=bool(extra.schemes), alone=alone)
    index, runs = held.index, held.blocks()
    facts = model.facts if extra.schemes else model.facts_of(options)
    shades = [] if extra.schemes else list(colours.colourings(hierarchy, facts, inside, table, options.stats))
    shades += extra.blocks(table, levels)
    schemes = list(extra.schemes) or [shade.name.split("/")[1] for shade in shades if shade.name.count("/") == 1]
    listed, stepwise, left = put_steps(model, options, inside, table, compared=bool(extra.schemes))
    columns = ints("rows", rows.columns(hierarchy, table))
    edges = cards.edges(hierarchy, model.facts, table)
    head = {
        **head_of(model, options, table),
        "open": [list(path) for path in opened if path != (0,)],
        "schemes": schemes,
        "steps": listed,
        "measured": [word for word in schemes if word in colours.UNITS],
        **(stacks_of(hierarchy) if alone else {}),
        **({"view": view_values(model.view)} if model.view is not None else {}),
        "apart": {str(row): rank for row, rank in apart.items()},
        "notices": [*(notice.message for notice in (*model.notices, *notices, *lay.notices())), *left],
        **extra.head,
    }
    # The table of texts is complete: attributes have their own texts.
    texts = table.listed()
    head["advances"] = advances(texts)
    first, last = [words("words", texts), columns, ints("copies", copied.listed())], [*shades, *stepwise, edges]
    room = limit - SHELL - weight(first) - weight(last)
    attributes = list(cards.about(hierarchy, model.facts))
    # Levels first; the blocks of cards get half of the room if they need it, and whatever levels leave.
    runs = fitting(runs, room - min(weight(attributes), room // 2))
    attributes = fitting(attributes, room - weight(runs))
    kept = {key: place for key, place in index.items() if place[0] < len(runs)}
    # Counts the main graph and functions: keys inside calls have a dot.
    head["left"] = sum(str(copied.written(row)) not in kept for row in range(1, len(hierarchy)) if hierarchy.opens(row))
    return head, [*first, words("levels", kept), *runs, *last, *attributes]


def put_steps(
    model: OpenableModel, options: PictureOptions, inside: list[Path], table: TextTable, compared: bool
) -> tuple[list[str], list[DataBlock], list[str]]:
    """Return the names of the steps to choose from, the blocks of their colours, and notices about omitted steps.
    Traced steps come first, then logged ones; a `compared` page has the colours of the diff only."""
    hierarchy, traced = model.hierarchy, each_step(model)
    most = max(1, ROWS_OF_STEPS // (OF_STEP + len(hierarchy) + INSIDE * len(inside)))
    steps = dict(islice(traced.items(), most))
    if not steps and not compared:
        stops = dict(model.facts_by_step(options, min(MOST_STOPS, most)))
        return list(stops), list(colours.logged_by_step(hierarchy, stops.values(), table)), []
    said = f"only the first {len(steps):,} of {len(traced):,} steps are shown by themselves"
    blocks = list(colours.step_by_step(hierarchy, model.facts, steps.values(), inside, table))
    return list(steps), blocks, [said] if len(steps) < len(traced) else []


def put_levels(
    model: OpenableModel,
    lay: LayingPage,
    opened: Collection[Path],
    held: Held,
    copied: CopiedLevels,
    whole: bool,
    alone: bool,
) -> tuple[list[Path], list[Path], dict[int, int]]:
    """Lay out all levels that a reader can open: as they are, with everything in the main graph, and, unless series
    stay `whole`, with series ungrouped. `alone`: stacks show one member.

    Return the levels as they are, the groups inside calls, and the rank of each level that can be ungrouped
    (`put_apart`).
    """
    hierarchy = model.hierarchy
    inside: list[Path] = []
    away: list[Away] = []
    usual: Levels = {}
    main: Levels = {}
    with model.report.stage("expand"):
        levels = model.members if alone else model.expander
        levels.expect_all()
    with model.report.stage("arrange"):
        for path, level, skeleton, outside in walk(levels, lay, copied, frozenset(opened)):
            held.put(key_of(path), path, level, skeleton)
            usual[path] = level, skeleton
            children = (child_path(hierarchy, path, row) for row in level.children)
            inside += [child for child in children if len(child) > 1]
            if has_aside(level, skeleton):
                away.append((path, level, outside))
            if held.full:  # checked after adding: the root is always there
                break
        put_copies(held, copied, copied.copies, usual, "")
        # Levels with everything in the main graph come last: they are the first to be left out.
        for path, level, skeleton in all_in_main(levels, away, lay):
            if held.full:
                break
            held.put(f"{key_of(path)}+", path, level, skeleton)
            main[path] = level, skeleton
        put_copies(held, copied, copied.copies, main, "+")
        return list(usual), inside, {} if whole or held.full else put_apart(model, held, usual, copied, lay, alone)


def head_of(model: OpenableModel, options: PictureOptions, table: TextTable) -> dict[str, Any]:
    """Return the part of the head that does not depend on which groups are open."""
    hierarchy = model.hierarchy
    return {
        "format": "tbgraph page",
        "version": VERSION,
        "options": {name: getattr(options, name) for name in READ},
        "select": selected(model, options),
        "themes": {name: asdict(theme) for name, theme in THEMES.items()},
        "calls": rows.calls(hierarchy),
        "functions": list(hierarchy.function_rows),
        "uncalled": uncalled_functions(hierarchy),
        "labels": labels(hierarchy, table),
        "layers": layer_rows(hierarchy),
        "rows": len(hierarchy),
        "title": title(model, options),
        "trace": trace(model, options),
        "traced": [word for word, scheme in SCHEMES.items() if scheme.measured or options.stats],
        "leftOut": model.loaded.left_out if model.loaded else 0,
        "opsThrough": -1 if (ops := OpsThroughCalls(hierarchy)(0)) is None else ops,
    }


def view_values(view: SavedView) -> dict[str, Any]:
    """Return the values of a view file: the page saves them with the groups that the reader opened."""
    from graphviz_tb.view_file import values_of  # most pages have none

    return values_of(view)


def stacks_of(hierarchy: Hierarchy) -> dict[str, Any]:
    """Return the stacks that show one member, each with its usual member, and the groups that contain only a stack."""
    groups = np.flatnonzero(hierarchy.node < 0).tolist()
    drawn = {row: stack_in(hierarchy, row) for row in groups if row > 0}
    return {
        "stacks": [[row, usual_member(hierarchy, row)] for row, stack in drawn.items() if row == stack],
        "boxes": [[row, stack] for row, stack in drawn.items() if row != stack >= 0],
    }


def weight(blocks: Iterable[DataBlock]) -> int:
    """Return the bytes of blocks in the file."""
    return sum(len(block.packed) for block in blocks)


def fitting(blocks: list[DataBlock], room: int) -> list[DataBlock]:
    """Return the first blocks that fit in `room` bytes; at least one."""
    sizes = accumulate(len(block.packed) for block in blocks)
    return [block for index, (block, size) in enumerate(zip(blocks, sizes, strict=True)) if not index or size <= room]


def each_step(model: OpenableModel) -> dict[str, Callable[[], Stats]]:
    """Return the statistics of each traced step by name; empty unless several steps were joined."""
    stats = model.facts.stats
    if stats is None or len(stats.steps) < 2 or model.loaded is None:
        return {}
    return statistics_of_each(model.files[0], model.loaded, model.hierarchy, model.options)


def selected(model: OpenableModel, options: PictureOptions) -> str:
    """Return the address to select when the page is opened, "" for none: a page selects one."""
    paths = (path for paths in model.names.find_each(options.select) for path in paths)
    return next((address(model.hierarchy, path) for path in paths), "")


def title(model: OpenableModel, options: PictureOptions) -> str:
    return options.title if options.title is not None else model.name


def trace(model: OpenableModel, options: PictureOptions) -> str:
    """Name the measured steps and those they are compared with; "" if the title was given."""
    stats, before = model.facts.stats, model.facts.before
    if stats is None or options.title is not None:
        return ""
    return f"{stats.title}, against {before.title}" if before is not None else stats.title


def labels(hierarchy: Hierarchy, table: TextTable) -> list[list[int]]:
    """Return [row, text] for each row whose label is not the last segment of its name."""
    rows = hierarchy.row_of_node
    texts = {int(rows[node]): text for node, text in hierarchy.graph.labels.items() if rows[node] >= 0}
    return [[row, table(text)] for row, text in sorted({**texts, **hierarchy.labels, **hierarchy.short}.items())]


def advances(texts: Iterable[str]) -> dict[str, Any]:
    """Return the advance of each character in use, in both weights, and the characters that join the one before."""
    chars = sorted(set(ASCII + REPLACED + source("place.js") + source("strings.js")).union(*map(set, texts)))
    return {
        "chars": chars,
        "regular": [_advance(char, False) for char in chars],
        "semibold": [_advance(char, True) for char in chars],
        "joining": [char for char in chars if joins("a" + char, 1)],
    }
