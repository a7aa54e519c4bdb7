"""`tbgraph info`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands.options import GroupedCommand, collect_options, fold_options, input_options_with, json_option
from graphviz_tb.commands.terminal import print_notices
from graphviz_tb.errors import NoGraph, ReadError, TbGraphError
from graphviz_tb.model.formatting import document_header
from graphviz_tb.options import Options

if TYPE_CHECKING:
    from graphviz_tb.commands.info_text import GraphReport
    from graphviz_tb.commands.source_contents import SourceArgument
    from graphviz_tb.model.logs import Run, Series
    from graphviz_tb.model.sources import Checkpoint, SourceEntry

UNNAMED_PROFILE = "\0"  # `--profile` without a name
SCOPE_ORDERS = ("file", "parameters", "flops", "activations", "name")


@click.command(cls=GroupedCommand, epilog="Exit codes: 0 done, 2 request, 3 file, 4 graph, 5 machine.")
@click.argument("model", required=False)
@json_option("Print JSON (docs/json.md).")
@click.option("--top", type=click.IntRange(1), metavar="N", default=10, help="Length of lists, such as op types [10].")
@click.option(
    "--sort",
    type=click.Choice(SCOPE_ORDERS),
    default="file",
    metavar="WHAT",
    help="Sort scopes by file, parameters, flops, activations or name [file].",
)
@click.option("--joins", is_flag=True, help="List the nodes of the tags of a log, and the rules.")
@click.option("--trace", metavar="FILE", help="Write the traced steps as trace JSON for Perfetto.")
@fold_options
@input_options_with(
    click.option(
        "--profile",
        metavar="[NAME]",
        is_flag=False,
        flag_value=UNNAMED_PROFILE,
        help="Print the time of traced steps by op, type and group; of several profiles, use NAME.",
    )
)
@click.option("-q", "--quiet", is_flag=True, help="Print no notices and no progress bar.")
def info(
    model: str | None,
    as_json: bool,
    top: int,
    sort: str,
    joins: bool,
    trace: str | None,
    profile: str | None,
    quiet: bool,
    **values: Any,
) -> None:
    """Describe MODEL: its graphs, runs and traced steps, or one graph.

    If MODEL has several graphs (a log directory, a SavedModel), list them. If there is one, or --run, --tag or
    --tag-set chooses one, describe it: ops and edges, the architecture along the flow, repeated structures, functions,
    devices, shapes, costs by scope, and with statistics, time and memory. For a checkpoint, list the names, types and
    shapes of its tensors.

    \b
    tbgraph info model.pb
    tbgraph info logdir
    tbgraph info logdir --run train
    tbgraph info logdir --run train --joins
    tbgraph info logdir --run train --profile
    tbgraph info logdir --run train --trace trace.json
    tbgraph info saved_model/ --json
    tbgraph info model.ckpt-1000.index
    """
    from graphviz_tb.output.files import check_inputs_kept
    from graphviz_tb.sources.streams import check_stdin_once

    model, profile = _model_and_profile(model, profile)
    if profile not in (None, UNNAMED_PROFILE):
        values["profile"] = profile
    options = collect_options(values)
    check_inputs_kept((model, *options.read.run_metadata), [trace or "-"])
    check_stdin_once((model, *options.read.run_metadata))
    if joins:
        from graphviz_tb.commands.info_text import print_joins

        print_joins(model, options, as_json, quiet)
        return
    if profile is not None or trace is not None:
        from graphviz_tb.commands.profile import print_profile

        print_profile(model, options, as_json, profile is not None, trace, top, quiet)
        return
    _print_info(model, options, as_json, sort, top, quiet)


def _model_and_profile(model: str | None, profile: str | None) -> tuple[str, str | None]:
    """Return the two arguments; in "--profile MODEL", the word after the option is the model."""
    if model is not None:
        return model, profile
    if profile in (None, UNNAMED_PROFILE):
        raise click.UsageError("Missing argument 'MODEL'.")
    return profile, UNNAMED_PROFILE


def _print_info(model: str, options: Options, as_json: bool, sort: str, top: int, quiet: bool) -> None:
    """Print the contents of a source: its graphs or the chosen one, its runs, its checkpoints."""
    from graphviz_tb.commands.progress_bar import waiting
    from graphviz_tb.commands.source_contents import (
        SourceArgument,
        checkpoint_values,
        run_values,
        source_argument,
        source_checkpoints,
    )

    checkpoints, is_checkpoint = source_checkpoints(model)
    source = SourceArgument(model, model) if is_checkpoint else source_argument(model, options.read)
    with waiting("read runs", quiet):
        runs = [] if is_checkpoint else _source_runs(source, options)
    try:
        entries, report = ((), None) if is_checkpoint else _read_entries_and_graph(source, options, quiet, sort)
    except ReadError as error:
        if not runs and not (checkpoints and isinstance(error, NoGraph)):
            if isinstance(error, NoGraph) and _print_found_embeddings(model, as_json, quiet):
                return
            raise
        entries, report = (), None  # a log without a graph, or checkpoints
    if as_json:
        from graphviz_tb.commands.table import print_json

        logged = {"runs": run_values(runs), "checkpoints": checkpoint_values(checkpoints)}
        print_json({**_info_json(source, entries, report), **logged})
    else:
        _print_report(source, entries, report, runs, checkpoints, top, quiet)


def _source_runs(source: SourceArgument, options: Options) -> list[tuple[Run, list[Series]]]:
    from graphviz_tb.commands.source_contents import open_run_log, runs_with_scalars

    return runs_with_scalars(open_run_log(source.value) if source.form in ("", "events") else None, options.read.run)


def _print_found_embeddings(model: str, as_json: bool, quiet: bool) -> bool:
    """Print the embeddings of a folder without other contents; return False if there are none."""
    from graphviz_tb.commands.project import open_projector, print_embeddings

    try:
        projector = open_projector(model)
    except TbGraphError:
        return False
    if not projector.embeddings.found:
        return False
    print_embeddings(projector.embeddings.found, as_json)
    if not quiet:
        print_notices(list(projector.embeddings.notices))
    return True


def _read_entries_and_graph(
    source: SourceArgument, options: Options, quiet: bool, sort: str
) -> tuple[tuple[SourceEntry, ...], GraphReport | None]:
    """Return the entries of the source, and the facts of its one graph; None if none was chosen."""
    from graphviz_tb.commands.info_text import report_on_graph
    from graphviz_tb.commands.session import open_model
    from graphviz_tb.commands.source_contents import entries_to_choose, source_entries

    try:
        with open_model(source.value, options, quiet=quiet) as session:
            report = report_on_graph(session.model, tuple(session.notices), sort)
            session.notices.clear()  # they are part of the report, and not printed on standard error too
            loaded = session.model.loaded
            return source_entries(source, options.read, loaded) if loaded else (), report
    except TbGraphError as error:
        return entries_to_choose(source, options.read, error), None


def _info_json(source: SourceArgument, entries: tuple[SourceEntry, ...], report: GraphReport | None) -> dict[str, Any]:
    """Return the JSON document; `graph` is null if there are several graphs and none was chosen."""
    from graphviz_tb.commands.costs import statistics_values
    from graphviz_tb.commands.source_contents import entry_values, signature_values

    graph: dict[str, Any] | None = None
    if report is not None:
        summary = asdict(report.summary)
        graph = {
            "kind": report.kind,
            **summary,
            # `asdict` has the fields only; `known` is a property.
            "shapes": {**summary["shapes"], "known": report.summary.shapes.with_shape},
            "signature": report.signature,
            "left_out": report.left_out,
            "signatures": [signature_values(signature) for signature in report.signatures],
            "outline": [asdict(line) for line in report.outline],
            "statistics": statistics_values(report.statistics) if report.statistics else None,
            "costs": asdict(report.costs) if report.costs else None,
            "notices": [asdict(notice) for notice in report.notices],
        }
    return {
        **document_header("tbgraph-info"),
        "source": source.name,
        "label": report.label if report else source.name,
        "holds": [entry_values(entry) for entry in entries],
        "graph": graph,
    }


def _print_report(
    source: SourceArgument,
    entries: tuple[SourceEntry, ...],
    report: GraphReport | None,
    runs: list[tuple[Run, list[Series]]],
    checkpoints: list[Checkpoint],
    top: int,
    quiet: bool,
) -> None:
    """Print the text: the contents of the source unless it is one graph, the graph, then its runs and checkpoints."""
    from graphviz_tb.commands.info_text import graph_lines, source_lines
    from graphviz_tb.commands.source_contents import checkpoint_lines, run_lines
    from graphviz_tb.commands.table import clip_middle, output_style, print_lines, terminal_width

    width, look = terminal_width(), output_style()
    lines = source_lines(source, entries, report, width, look)
    if report is not None:
        lines += graph_lines(report, top, quiet, width, look)
    if listed := run_lines(runs, width, look):
        lines += [*([""] * bool(entries or report)), look.head(clip_middle("Runs", width)), *listed]
    if listed := checkpoint_lines(checkpoints, width, look):
        lines += [*([""] * bool(entries or report or runs)), *listed]
    print_lines(lines)
