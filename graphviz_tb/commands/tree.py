"""`tbgraph tree`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands.options import GroupedCommand, collect_options, fold_options, input_options, json_option
from graphviz_tb.limits import MAX_LISTED_FUNCTIONS
from graphviz_tb.model.formatting import document_header

if TYPE_CHECKING:
    from graphviz_tb.api.pipeline import Model

# lines of a screenful: where there is no terminal, and the bounds
SCREEN_LINES, MIN_SCREEN_LINES, MAX_SCREEN_LINES = 40, 20, 80


@click.command(cls=GroupedCommand, epilog="Exit codes: 0 done, 2 request, 3 file, 4 graph, 5 machine.")
@click.argument("model")
@click.option("--depth", type=click.IntRange(0), metavar="N", help="Show N levels [about a screenful].")
@click.option("--under", metavar="NAME", help="Start at this group, call or function; * ** ? are wildcards.")
@click.option(
    "--by",
    type=click.Choice(("name", "flow")),
    default="name",
    help="Order siblings as in the file, or along the flow [name].",
)
@click.option("--ops", is_flag=True, help="List single ops as well.")
@json_option("Print JSON (docs/json.md), all levels unless --depth is given.")
@fold_options
@input_options
@click.option("-q", "--quiet", is_flag=True, help="Print no notices and no progress bar.")
def tree(
    model: str, depth: int | None, under: str | None, by: str, ops: bool, as_json: bool, quiet: bool, **values: Any
) -> None:
    """Print the name scopes of MODEL as a tree.

    Each line has the number of ops of a group, with functions counted at each call, and a bar. A stack shows its
    number of members (×12), a call its function (→), and "= NAME" marks a group with the structure of an earlier one.
    Functions follow the main graph. With --by flow, the tree lists the architecture from the inputs on, opens each
    structure once, and keeps gradients and updates closed.

    \b
    tbgraph tree model.pb
    tbgraph tree model.pb --depth 2
    tbgraph tree model.pb --by flow
    tbgraph tree model.pb --under conv1 --ops
    tbgraph tree saved_model/ --json
    """
    from graphviz_tb.commands.session import open_model
    from graphviz_tb.commands.table import json_lines, print_lines
    from graphviz_tb.output.files import check_inputs_kept

    lines: Iterable[str]
    options = collect_options(values)
    check_inputs_kept((model, *options.read.run_metadata), ["-"])
    with open_model(model, options, quiet=quiet) as session:
        if as_json:
            lines = json_lines(_tree_values(session.model.with_all_stacks, depth, under, ops, by == "flow"))
        else:
            lines = _tree_lines(session.model.with_all_stacks, depth, under, ops, by == "flow")
    print_lines(lines)


def _tree_values(model: Model, depth: int | None, under: str | None, ops: bool, by_flow: bool) -> dict[str, Any]:
    """Return the JSON document: a flat list in preorder, parents before children."""
    from graphviz_tb.commands.tree_text import branch_values, open_to_depth, tree_roots, walk_branches
    from graphviz_tb.graphs.calls import OpCounter

    hierarchy, roots = model.hierarchy, tree_roots(model, under)
    # No tree is deeper than it has rows.
    opened = open_to_depth(hierarchy, roots, len(hierarchy) if depth is None else depth)
    through = OpCounter(hierarchy)
    nodes = [
        branch_values(hierarchy, branch, through)
        for root in roots
        for branch in walk_branches(hierarchy, root, opened, ops, by_flow)
        if not branch.loose
    ]
    return {**document_header("tbgraph-tree"), "label": model.label, "nodes": nodes}


def _lines_of_screen() -> int:
    if not sys.stdout.isatty():
        return SCREEN_LINES
    return max(MIN_SCREEN_LINES, min(MAX_SCREEN_LINES, shutil.get_terminal_size((80, SCREEN_LINES)).lines - 2))


def _tree_lines(model: Model, depth: int | None, under: str | None, ops: bool, by_flow: bool) -> list[str]:
    """Return the text: one tree for each root; without a depth about a screenful, and functions closed."""
    from graphviz_tb.commands.table import clip_end, output_style, terminal_width
    from graphviz_tb.commands.tree_text import (
        TreeWriter,
        open_distinct_structures,
        open_screenful,
        open_to_depth,
        tree_roots,
        walk_branches,
    )

    hierarchy, roots = model.hierarchy, tree_roots(model, under)
    first, others = roots[0], roots[1:]
    lines = _lines_of_screen()
    if depth is not None:
        opened = open_to_depth(hierarchy, roots, depth)
    elif by_flow:
        opened = open_distinct_structures(hierarchy, roots)
    else:
        opened = open_screenful(hierarchy, first, lines)
    # An explicit request is shown completely; the default is limited to two screens.
    is_limited = depth is None and not by_flow
    shown = list(walk_branches(hierarchy, first, opened, ops, by_flow, join=True))
    max_lines = 2 * lines if is_limited else len(shown)
    max_bodies = max(MAX_LISTED_FUNCTIONS, lines - len(shown)) if is_limited else len(others)
    writer = TreeWriter(hierarchy, terminal_width(), output_style(), model.label)
    # One scale: the bars of functions compare with those of the main graph.
    writer.set_scale(roots)
    output = [
        *writer.branch_lines(shown[:max_lines], opened),
        *writer.remainder_line(len(shown) - max_lines, "more lines; --depth 1 lists all"),
    ]
    if others and under is None:
        output += ["", writer.look.head(clip_end(f"Functions ({len(others):,})", writer.width))]
    for root in others[:max_bodies]:
        output += writer.branch_lines(list(walk_branches(hierarchy, root, opened, ops, by_flow, join=True)), opened)
    rest = f"more{' functions' * (under is None)}; --depth 0 lists all"
    return [*output, *writer.remainder_line(len(others) - max_bodies, rest)]
