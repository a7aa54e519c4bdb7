"""`tbgraph project`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands.options import GroupedCommand, json_option, theme_option
from graphviz_tb.commands.progress_bar import waiting
from graphviz_tb.commands.terminal import print_notices
from graphviz_tb.errors import NoGraph, RequestError, TbGraphError, UnknownNode
from graphviz_tb.limits import MAX_COLOURED_CATEGORIES
from graphviz_tb.model.formatting import document_header, printable

if TYPE_CHECKING:
    from graphviz_tb.logs.embeddings import Projector
    from graphviz_tb.model.logs import Embedding, PointColumn, Projection
    from graphviz_tb.model.notice import Notice

PROJECT_METHODS = ("pca", "tsne", "umap")


@click.command(cls=GroupedCommand, epilog="Exit codes: 0 done, 2 request, 3 file, 5 machine.")
@click.argument("logdir")
@click.option("--tensor", metavar="NAME", help="List or draw this embedding [all, or the first].")
@click.option("--run", metavar="NAME", help="Use embeddings of this run.")
@click.option("--color-by", "color_by", metavar="COLUMN", help="Colour by this column of the metadata.")
@click.option(
    "--method",
    type=click.Choice(PROJECT_METHODS),
    default="pca",
    metavar="METHOD",
    help="Method: pca, tsne or umap [pca].",
)
@click.option(
    "--near", type=click.IntRange(2, 500), metavar="N", help="Perplexity of t-SNE [30], neighbours of UMAP [15]."
)
@click.option("-o", "--output", "outputs", metavar="FILE", multiple=True, help="Draw the cloud: SVG, PNG or PDF.")
@json_option("Print the list as JSON (docs/projector.md).")
@theme_option
@click.option("-q", "--quiet", is_flag=True, help="Print no notices.")
def project(logdir: str, outputs: tuple[str, ...], as_json: bool, quiet: bool, **values: Any) -> None:
    """List the embeddings of LOGDIR, or draw one as a cloud of points.

    Embeddings are tensors named in projector_config.pbtxt, variables of checkpoints with two axes, and logged tensors.
    t-SNE and UMAP need the extra `projector`. The same input gives the same picture.

    \b
    tbgraph project logdir
    tbgraph project logdir -o cloud.svg
    tbgraph project logdir --tensor words --color-by label -o cloud.png
    """
    if outputs and as_json:
        raise RequestError("--json and -o exclude each other")
    if outputs:
        from graphviz_tb.commands.scalars import check_chart_outputs

        check_chart_outputs(logdir, outputs)
    with waiting("read runs", quiet):
        projector = open_projector(logdir)
    found = [embedding for embedding in projector.embeddings.found if values["run"] in (None, embedding.run)]
    if not found:
        raise NoGraph(
            f"no embedding in '{logdir}'{_embedding_runs_clause(projector, values['run'])}",
            hint=_no_embedding_hint(projector),
        )
    notices = list(projector.embeddings.notices)
    if outputs:
        with waiting("project points", quiet):
            notices += _draw_embedding(projector, found, outputs, values)
    else:
        tensor = values["tensor"]
        print_embeddings(found if tensor is None else [projector.get(values["run"], tensor)], as_json)
    if not quiet:
        print_notices(notices)


def open_projector(logdir: str) -> Projector:
    """Open the embeddings of a source, also those in event files. Raises ReadError if it cannot be read."""
    from pathlib import Path

    from graphviz_tb.formats.checkpoint import find_index_files
    from graphviz_tb.logs.embeddings import Projector
    from graphviz_tb.logs.log import open_log
    from graphviz_tb.sources.streams import unreadable_error

    path = Path(logdir)
    if not path.exists() and not find_index_files(path):
        raise unreadable_error(path, FileNotFoundError())
    try:
        log = open_log(logdir)
    except TbGraphError:  # a folder without event files may still have embeddings
        log = None
    projector = Projector(logdir, log)
    projector.refresh()
    return projector


def _embedding_runs_clause(projector: Projector, run: str | None) -> str:
    """Return the end of a sentence that names the folders with embeddings."""
    runs = list(dict.fromkeys(embedding.run for embedding in projector.embeddings.found))
    return f" in '{run}'; there are {', '.join(map(repr, runs[:9]))}" if run is not None and runs else ""


def _no_embedding_hint(projector: Projector) -> str:
    """Return a hint if nothing is found: the first notice, else how to write an embedding."""
    for notice in projector.embeddings.notices:
        return notice.message
    return "write one with projector_config.pbtxt, with add_embedding of torch, or save a checkpoint"


def print_embeddings(found: Sequence[Embedding], as_json: bool) -> None:
    """Print the embeddings of a log directory, one in a line, or as one JSON document."""
    from graphviz_tb.commands.table import format_table, output_style, print_json, print_lines, terminal_width

    if as_json:
        embeddings = [_embedding_values(embedding) for embedding in found]
        print_json({**document_header("tbgraph-embeddings"), "embeddings": embeddings})
        return
    rows = [("folder", "tensor", "points", "dims", "from", "metadata", "images")]
    rows += [
        (
            printable(embedding.run),
            printable(embedding.name),
            f"{embedding.points:,}",
            f"{embedding.dimensions:,}",
            embedding.form.value if embedding.step is None else f"step {embedding.step:,}",
            "yes" if embedding.metadata else "",
            "{}×{}".format(*embedding.sprite.size) if embedding.sprite else "",
        )
        for embedding in found
    ]
    print_lines(
        format_table(rows, terminal_width(), right=(2, 3), shrinking=(0, 1), indent=0, header=True, look=output_style())
    )


def _embedding_values(one: Embedding) -> dict[str, Any]:
    return {
        "run": one.run,
        "name": one.name,
        "from": one.form.value,
        "points": one.points,
        "dimensions": one.dimensions,
        "step": one.step,
        "metadata": one.metadata is not None,
        "sprite": list(one.sprite.size) if one.sprite else None,
    }


def _draw_embedding(
    projector: Projector, found: Sequence[Embedding], outputs: Sequence[str], values: Mapping[str, Any]
) -> list[Notice]:
    """Write the picture of one embedding; return the notices about it."""
    from graphviz_tb.model.notice import Notice
    from graphviz_tb.output.files import write_outputs
    from graphviz_tb.project import project_points

    embedding = projector.get(values["run"], values["tensor"]) if values["tensor"] is not None else found[0]
    columns, notices = projector.columns(embedding)
    projection = project_points(projector.values(embedding), values["method"], 2, values["near"])
    column = _choose_colour_column(columns, values["color_by"])
    write_outputs(_embedding_pictures(embedding, projection, column, outputs, values["theme"]))
    all_notices = [*projector.notices(embedding), *notices, *projection.notices]
    if values["tensor"] is None and len(found) > 1:
        text = f"'{embedding.name}' is drawn, the first of {len(found):,} embeddings; --tensor NAME draws another"
        all_notices.append(Notice("first", text, strict=False))
    return all_notices


def _choose_colour_column(columns: Sequence[PointColumn], name: str | None) -> PointColumn | None:
    """Return the column of the colours: the named one, else the first with few distinct texts, else the first numeric
    one; None without metadata. Raises UnknownNode for an unknown name."""
    if name is None:
        few = [column for column in columns if 1 < len(set(column.texts)) <= MAX_COLOURED_CATEGORIES]
        return next(iter([*few, *(column for column in columns if column.numeric)]), None)
    if not columns:
        raise RequestError("this embedding has no metadata, so that nothing gives colours", hint="leave --color-by out")
    found = next((column for column in columns if column.name == name), None)
    if found is None:
        error = UnknownNode.among(name, [column.name for column in columns], "column")
        raise UnknownNode(error.message, hint=f"the columns are {', '.join(column.name for column in columns)}")
    return found


def _embedding_pictures(
    embedding: Embedding,
    projection: Projection,
    column: PointColumn | None,
    outputs: Sequence[str],
    theme: str | None,
) -> Iterator[tuple[str, bytes]]:
    from graphviz_tb.chart.cloud import CloudPlot, cloud_sheet
    from graphviz_tb.commands.charts import encode_sheet
    from graphviz_tb.project import METHOD_NAMES

    title = METHOD_NAMES[projection.method]
    dimensions = min(projection.axes.shape[1], 2)
    axes = projection.axes[:, :2] if dimensions == 2 else projection.axes.repeat(2, axis=1)
    axis_names = [f"PC {axis} ({100 * share:.1f}%)" for axis, share in enumerate(projection.variance[:2], 1)]
    shown_names = (axis_names[0], axis_names[1]) if len(axis_names) == 2 else ("", "")
    subtitle = f"{embedding.points:,} points, {embedding.dimensions:,} dimensions · {title}"
    if projection.variance:
        subtitle += f": both axes explain {100 * sum(projection.variance[:2]):.1f}% of the variance"
    plot = CloudPlot(embedding.name, subtitle, axes, shown_names, column)
    yield from encode_sheet(lambda look: cloud_sheet(plot, look), outputs, theme)
