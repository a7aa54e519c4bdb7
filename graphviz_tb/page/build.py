"""The data of a page, block by block, and the page itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate, islice
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.api.layout import first_picture_columns, groups_opened_by_picture
from graphviz_tb.arrange.level import ArrangeOptions
from graphviz_tb.color import SCHEMES
from graphviz_tb.events.graphs import is_event_file
from graphviz_tb.graphs.calls import OpCounter, uncalled_functions
from graphviz_tb.graphs.layer_rows import layer_rows
from graphviz_tb.limits import MAX_STEP_ROWS
from graphviz_tb.logs.run_statistics import profiles_by_step, statistics_by_step
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.facts import SavedView
from graphviz_tb.model.hierarchy import SCOPE_ROW, Hierarchy
from graphviz_tb.model.measure import advance_of, joins_previous_character
from graphviz_tb.model.paths import RowPath, child_path, path_address, sole_scope, sole_stack, usual_member
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.theme import THEMES
from graphviz_tb.open.groups import lone_members
from graphviz_tb.options import PictureOptions
from graphviz_tb.page import cards, colours
from graphviz_tb.page.blocks import DataBlock, TextTable, ints_block, json_block
from graphviz_tb.page.levels import LevelStore, PageArranger, page_level_key
from graphviz_tb.page.profile import ProfilePart, pack_profiles
from graphviz_tb.page.ungrouping import add_ungrouped_levels
from graphviz_tb.page.walk import (
    AsideLevel,
    CopiedLevels,
    WalkedLevels,
    add_differing_copies,
    has_auxiliary_area,
    levels_without_aside,
    walk_levels,
)
from graphviz_tb.progress import advance
from graphviz_tb.render.html import page_bytes, viewer_source
from graphviz_tb.words.level import model_counts

if TYPE_CHECKING:
    from graphviz_tb.api.base_model import BaseModel
    from graphviz_tb.model.subject import PictureStages
    from graphviz_tb.page.log import SourceLog

PAGE_SHELL_BYTES = 400_000  # approximate size of a page without its blocks
LOG_SHARE_OF_PAGE = 0.5  # largest share of a page for the points of a log
PROFILE_SHARE_OF_PAGE = 0.25  # largest share of a page for its profiles
MAX_LOGGED_STEPS_IN_PAGE = 50  # logged steps in a page
# Fixed cost of a step, and cost of each box inside calls, in rows.
STEP_COST_ROWS, CALL_BOX_COST_ROWS = 1000, 3
PAGE_DATA_VERSION = 1  # of the data; a viewer refuses other versions
REPLACEMENT_CHARS = "\N{THIN SPACE}\N{REPLACEMENT CHARACTER}"
PRINTABLE_ASCII = "".join(map(chr, range(32, 127)))  # the viewer writes counts and shortened names
# Options that the script of a page reads; the data contains the effect of all others.
SCRIPT_OPTIONS = ("color_by", "direction", "legend", "max_annotations", "theme")


def html(model: BaseModel, options: PictureOptions) -> bytes:
    """Return the whole page as one file."""
    log = _open_page_log(model.source)
    traced = _pack_model_profiles(model, int(options.page_max * 1e6 * PROFILE_SHARE_OF_PAGE))
    if log is None and not traced.count:
        head, blocks = page_data(model, options)
        return page_bytes(head, blocks, head["title"] or "graph")
    from graphviz_tb.page.log import empty_log_part, pack_log

    name = _page_title(model, options) or "log"
    room = int(options.page_max * 1e6 * LOG_SHARE_OF_PAGE) - _packed_size(traced.blocks)
    part = (
        empty_log_part(name, traced.count)
        if log is None
        else pack_log(log, name, room, model.joins, traced.count, model.loaded)
    )
    added = [*part.blocks, *traced.blocks] if traced.count else list(part.blocks)
    used = _packed_size(added) / 1e6
    head, blocks = page_data(
        model, replace(options, page_max=max(options.page_max - used, options.page_max * LOG_SHARE_OF_PAGE))
    )
    return page_bytes({**head, "log": True}, [*blocks, *added], head["title"] or "log")


def _open_page_log(source: Any) -> SourceLog | None:
    """Open the log and the embeddings of a source; None if it is not a log. Imports the log readers only for a folder
    or event file."""
    if not isinstance(source, str | os.PathLike):
        return None
    path = FilePath(source)
    if not (path.is_dir() or is_event_file(path)):
        return None
    from graphviz_tb.page.log import open_source_log

    return open_source_log(source)


def _pack_model_profiles(model: BaseModel, room: int) -> ProfilePart:
    """Pack the profiles of the requested steps, or of all steps in the source."""
    asked = model.options.read
    chosen = asked.step is not None or asked.profile is not None or bool(asked.run_metadata)
    if model.loaded is None or not (chosen or model.loaded.run_metadata):
        return pack_profiles({}, room)
    return pack_profiles(profiles_by_step(model.source, model.loaded, model.hierarchy, model.options), room)


@dataclass(frozen=True)
class PageExtras:
    """Additions to a page: colourings by name, fields of the head, the first picture, and a function that makes their
    blocks from the table of texts and the paths of the levels. `each`: write the levels of copies too."""

    schemes: tuple[str, ...] = ()
    head: Mapping[str, Any] = field(default_factory=dict)
    first: PictureStages | None = None
    blocks: Callable[[TextTable, Iterable[RowPath]], Iterable[DataBlock]] = lambda table, levels: ()
    each: bool = False


def page_data(
    model: BaseModel, options: PictureOptions, extra: PageExtras = PageExtras()
) -> tuple[dict[str, Any], list[DataBlock]]:
    """Return the head, and all blocks in the order in which the viewer needs them."""
    hierarchy, table = model.hierarchy, TextTable()
    opened, notices = groups_opened_by_picture(model, options, extra.first)
    limit = int(options.page_max * 1e6)
    one_member = lone_members(hierarchy, opened, options) is not None
    store = LevelStore(hierarchy, table, limit, one_member)
    first_columns = first_picture_columns(model, options, lambda path: None)
    arranger = PageArranger(ArrangeOptions(options.engine, wrap=options.wrap), model.arrangements, store, first_columns)
    copied = CopiedLevels(model.members if one_member and not extra.each else model.expander)
    levels, inside, ungrouping_ranks = _add_page_levels(
        model, arranger, opened, store, copied, whole=bool(extra.schemes), one_member=one_member
    )
    level_places, level_blocks = store.index, store.level_blocks()
    facts = model.facts if extra.schemes else model.facts_for_picture(options)
    shades = [] if extra.schemes else list(colours.colouring_blocks(hierarchy, facts, inside, table, options.stats))
    shades += extra.blocks(table, levels)
    schemes = list(extra.schemes) or [shade.name.split("/")[1] for shade in shades if shade.name.count("/") == 1]
    steps, step_blocks, omitted = _pack_step_colours(model, options, inside, table, compared=bool(extra.schemes))
    columns = ints_block("rows", _row_columns(hierarchy, table))
    edges = cards.edge_block(hierarchy, model.facts, table)
    head = {
        **_page_head(model, options, table),
        "open": [list(path) for path in opened if path != (0,)],
        "schemes": schemes,
        "steps": steps,
        "measured": [word for word in schemes if word in colours.COLOURING_UNITS],
        **(_stack_rows(hierarchy) if one_member else {}),
        "inner": [[row, inner] for row in range(1, len(hierarchy)) if (inner := sole_scope(hierarchy, row)) >= 0],
        **({"view": _saved_view_values(model.view)} if model.view is not None else {}),
        "apart": {str(row): rank for row, rank in ungrouping_ranks.items()},
        "notices": [*(notice.message for notice in (*model.notices, *notices, *arranger.notices())), *omitted],
        **extra.head,
    }
    # The table of texts is complete: attributes have their own texts.
    texts = table.numbered_texts()
    head["advances"] = _character_advances(texts)
    first = [json_block("words", texts), columns, ints_block("copies", copied.copy_numbers())]
    last = [*shades, *step_blocks, edges]
    room = limit - PAGE_SHELL_BYTES - _packed_size(first) - _packed_size(last)
    level_blocks, attributes = _share_room(room, level_blocks, list(cards.card_blocks(hierarchy, model.facts)))
    kept = {key: place for key, place in level_places.items() if place[0] < len(level_blocks)}
    # Counts the main graph and functions: keys inside calls have a dot.
    head["left"] = sum(
        str(copied.written_row(row)) not in kept for row in range(1, len(hierarchy)) if hierarchy.can_open(row)
    )
    return head, [*first, json_block("levels", kept), *level_blocks, *last, *attributes]


def _share_room(
    room: int, levels: list[DataBlock], attributes: list[DataBlock]
) -> tuple[list[DataBlock], list[DataBlock]]:
    """Return the blocks that fit: blocks of cards may use half of the room, and what the levels leave."""
    levels = _blocks_within(levels, room - min(_packed_size(attributes), room // 2))
    return levels, _blocks_within(attributes, room - _packed_size(levels))


def _pack_step_colours(
    model: BaseModel, options: PictureOptions, inside: list[RowPath], table: TextTable, compared: bool
) -> tuple[list[str], list[DataBlock], list[str]]:
    """Return the names of the steps to choose from, the blocks of their colours, and notices about omitted steps.
    Traced steps come first, then logged ones; a `compared` page has the colours of the diff only."""
    hierarchy, traced = model.hierarchy, _step_statistics(model)
    most = max(1, MAX_STEP_ROWS // (STEP_COST_ROWS + len(hierarchy) + CALL_BOX_COST_ROWS * len(inside)))
    steps = dict(islice(traced.items(), most))
    if not steps and not compared:
        logged_steps = dict(model.facts_by_step(options, min(MAX_LOGGED_STEPS_IN_PAGE, most)))
        return list(logged_steps), list(colours.logged_colouring_blocks(hierarchy, logged_steps.values(), table)), []
    notice = f"only the first {len(steps):,} of {len(traced):,} steps are shown by themselves"
    blocks = list(colours.step_colouring_blocks(hierarchy, model.facts, steps.values(), inside, table))
    return list(steps), blocks, [notice] if len(steps) < len(traced) else []


def _add_page_levels(
    model: BaseModel,
    arranger: PageArranger,
    opened: Collection[RowPath],
    store: LevelStore,
    copied: CopiedLevels,
    whole: bool,
    one_member: bool,
) -> tuple[list[RowPath], list[RowPath], dict[int, int]]:
    """Lay out all levels that a reader can open: as usual, with everything in the main graph, and, unless `whole`, with
    series ungrouped. `one_member`: stacks show one member.

    Return the usual levels, the groups inside calls, and the rank of each level that can be ungrouped
    (`add_ungrouped_levels`).
    """
    hierarchy = model.hierarchy
    inside: list[RowPath] = []
    aside_levels: list[AsideLevel] = []
    usual: WalkedLevels = {}
    without_aside: WalkedLevels = {}
    levels = model.members if one_member else model.expander
    groups = int(np.count_nonzero(hierarchy.node < 0))
    with model.report.stage("arrange"):
        for path, level, skeleton, outside in walk_levels(levels, arranger, copied, frozenset(opened)):
            store.add_level(page_level_key(path), path, level, skeleton)
            usual[path] = level, skeleton
            advance("groups", len(usual), groups)
            children = (child_path(hierarchy, path, row) for row in level.own_children())
            inside += [child for child in children if len(child) > 1]
            if has_auxiliary_area(level, skeleton):
                aside_levels.append((path, level, outside))
            if store.is_page_full:  # checked after adding: the root is always there
                break
        add_differing_copies(store, copied, copied.copies, usual, "")
        # Levels with everything in the main graph come last, to be left out first.
        for path, level, skeleton in levels_without_aside(levels, aside_levels, arranger):
            if store.is_page_full:
                break
            store.add_level(f"{page_level_key(path)}+", path, level, skeleton)
            without_aside[path] = level, skeleton
        add_differing_copies(store, copied, copied.copies, without_aside, "+")
        ranks: dict[int, int] = {}
        if not whole and not store.is_page_full:
            ranks = add_ungrouped_levels(model, store, usual, copied, arranger, one_member)
        return list(usual), inside, ranks


def _page_head(model: BaseModel, options: PictureOptions, table: TextTable) -> dict[str, Any]:
    """Return the part of the head that does not depend on which groups are open."""
    hierarchy = model.hierarchy
    return {
        "format": "tbgraph page",
        "version": PAGE_DATA_VERSION,
        "options": {name: getattr(options, name) for name in SCRIPT_OPTIONS},
        "select": _selected_address(model, options),
        "themes": {name: asdict(theme) for name, theme in THEMES.items()},
        "calls": [[row, [[attr, body] for attr, body in bodies]] for row, bodies in sorted(hierarchy.calls.items())],
        "functions": list(hierarchy.function_rows),
        "uncalled": uncalled_functions(hierarchy),
        "labels": _row_labels(hierarchy, table),
        "layers": layer_rows(hierarchy),
        "rows": len(hierarchy),
        "title": _page_title(model, options),
        "trace": _trace_title(model, options),
        "traced": [word for word, scheme in SCHEMES.items() if scheme.measured or options.stats],
        "leftOut": model.loaded.left_out if model.loaded else 0,
        "counts": model_counts(hierarchy, model.facts.weights()),
        "opsThrough": -1 if (ops := OpCounter(hierarchy)(0)) is None else ops,
    }


def _saved_view_values(view: SavedView) -> dict[str, Any]:
    """Return the values of a view file: the page saves them with the groups that the reader opened."""
    from graphviz_tb.api.view_files import view_file_values  # most pages have none

    return view_file_values(view)


def _stack_rows(hierarchy: Hierarchy) -> dict[str, Any]:
    """Return the stacks that show one member, each with its usual member, and the groups that contain only a stack."""
    groups = np.flatnonzero(hierarchy.node < 0).tolist()
    drawn = {row: sole_stack(hierarchy, row) for row in groups if row > 0}
    return {
        "stacks": [[row, usual_member(hierarchy, row)] for row, stack in drawn.items() if row == stack],
        "boxes": [[row, stack] for row, stack in drawn.items() if row != stack >= 0],
    }


def _packed_size(blocks: Iterable[DataBlock]) -> int:
    return sum(len(block.base64_text) for block in blocks)


def _blocks_within(blocks: list[DataBlock], room: int) -> list[DataBlock]:
    """Return the first blocks that fit in `room` bytes; at least one."""
    sizes = accumulate(len(block.base64_text) for block in blocks)
    return [block for index, (block, size) in enumerate(zip(blocks, sizes, strict=True)) if not index or size <= room]


def _step_statistics(model: BaseModel) -> dict[str, Callable[[], Stats]]:
    """Return the statistics of each traced step by name; empty unless several steps were joined."""
    stats = model.facts.stats
    if stats is None or len(stats.steps) < 2 or model.loaded is None:
        return {}
    return statistics_by_step(model.files[0], model.loaded, model.hierarchy, model.options)


def _selected_address(model: BaseModel, options: PictureOptions) -> str:
    """Return the address to select when the page is opened, "" for none; a page selects at most one."""
    paths = (path for paths in model.names.find_each(options.select) for path in paths)
    return next((path_address(model.hierarchy, path) for path in paths), "")


def _page_title(model: BaseModel, options: PictureOptions) -> str:
    return options.title if options.title is not None else model.name


def _trace_title(model: BaseModel, options: PictureOptions) -> str:
    """Name the measured steps and those they are compared with; "" if the title was given."""
    stats, before = model.facts.stats, model.facts.before
    if stats is None or options.title is not None:
        return ""
    return f"{stats.title}, against {before.title}" if before is not None else stats.title


def _row_labels(hierarchy: Hierarchy, table: TextTable) -> list[list[int]]:
    """Return [row, text] for each row whose label is not the last segment of its name."""
    rows = hierarchy.row_of_node
    texts = {int(rows[node]): text for node, text in hierarchy.graph.labels.items() if rows[node] >= 0}
    return [[row, table(text)] for row, text in sorted({**texts, **hierarchy.labels, **hierarchy.short}.items())]


def _character_advances(texts: Iterable[str]) -> dict[str, Any]:
    """Return the advance of each character in use, in both weights, and the characters that join the one before."""
    chars = sorted(
        set(PRINTABLE_ASCII + REPLACEMENT_CHARS + viewer_source("place.js") + viewer_source("strings.js")).union(
            *map(set, texts)
        )
    )
    return {
        "chars": chars,
        "regular": [advance_of(char, False) for char in chars],
        "semibold": [advance_of(char, True) for char in chars],
        "joining": [char for char in chars if joins_previous_character("a" + char, 1)],
    }


# Rows of the hierarchy as columns: the source of every name, address, count and search in the viewer.

ROW_COLUMNS = ("kind", "parent", "end", "name", "ops", "op", "device", "mark", "node", "template")


def _row_columns(hierarchy: Hierarchy, words: TextTable) -> Longs:
    """Return the columns one after the other, each with one number per row.

    `name` is twice the number of a text, plus 1 if the text continues the name of the enclosing scope; `ops` counts
    through calls (-1: infinite); `op` and `device` are texts.
    """
    graph, rows = hierarchy.graph, range(len(hierarchy))
    # A last entry for rows that are not ops, whose number is -1.
    types, devices = (np.array([*map(words, texts), 0], np.int64) for texts in (graph.op_types, graph.devices))
    through = OpCounter(hierarchy)
    op, device = (np.append(column, -1)[hierarchy.node] for column in (graph.op, graph.device))
    counted = np.fromiter((-1 if (count := through(row)) is None else count for row in rows), np.int64, len(rows))
    return np.concatenate(
        (
            hierarchy.kind,
            hierarchy.parent,
            hierarchy.end,
            np.array(_shortened_names(hierarchy, words), np.int64),
            counted,
            types[op],
            devices[device],
            hierarchy.mark,
            hierarchy.node,
            hierarchy.template,
        )
    )


def _shortened_names(hierarchy: Hierarchy, words: TextTable) -> list[int]:
    """Return the name of each row, without the name of the enclosing scope."""
    parent, kind, name = hierarchy.parent.tolist(), hierarchy.kind.tolist(), hierarchy.name
    # Rows are in preorder: an enclosing row comes first.
    base = [-1] * len(name)  # the scope around each row
    names = []
    for row, above in enumerate(parent):
        if above > 0:
            base[row] = above if kind[above] == SCOPE_ROW else base[above]
        scope = base[row]
        inside = scope > 0 and name[row].startswith(name[scope] + "/")
        names.append(2 * words(name[row][len(name[scope]) + 1 :]) + 1 if inside else 2 * words(name[row]))
    return names
