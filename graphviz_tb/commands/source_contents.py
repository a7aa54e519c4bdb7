"""The contents of a source for `tbgraph info`: graphs, traced steps, checkpoints and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphviz_tb.commands.table import TextStyle, clip_end, clip_middle, format_table, join_fitting, shown_width
from graphviz_tb.errors import Ambiguous, NoGraph, ReadError, TbGraphError
from graphviz_tb.formats.checkpoint import find_index_files, read_checkpoint
from graphviz_tb.formats.contents import selecting_options
from graphviz_tb.formats.detect import detect_format
from graphviz_tb.logs.log import Log, open_log
from graphviz_tb.logs.scalars_export import json_number
from graphviz_tb.model.formatting import format_bytes, format_number, printable
from graphviz_tb.model.logs import Run, Series
from graphviz_tb.model.sources import Checkpoint, LoadedGraph, Signature, SourceEntry
from graphviz_tb.model.tensors import shape_text
from graphviz_tb.options import ReadOptions
from graphviz_tb.sources.streams import name_of_user, open_source
from graphviz_tb.sources.walk import saved_model_file

CONTAINER_FORMS = ("events", "run_metadata", "run_metadata_text")  # forms that may contain more than the chosen graph
FORM_NAMES = {
    "graph": "GraphDef",
    "graph_text": "GraphDef, text",
    "meta_graph": "MetaGraphDef",
    "saved_model": "SavedModel",
    "keras_json": "Keras model",
    "events": "event file",
}
SIGNATURE_DTYPES = {"float": "float32", "double": "float64", "half": "float16"}
ENTRY_KIND_WORDS = {"op": "op graph", "conceptual": "Keras layers", "profile": "run statistics"}


@dataclass(frozen=True, slots=True)
class SourceArgument:
    """The source of a command: `value` is read, `name` is shown, `form` is the sniffed form ("" for a folder)."""

    value: Any
    name: str
    form: str = ""
    bytes: int = 0


def source_argument(model: str, options: ReadOptions) -> SourceArgument:
    """Return a source that can be read twice, for a path or "-": standard input and pipes are read into memory."""
    opened = open_source(model, options)
    if isinstance(opened, Path):
        return SourceArgument(model, name_of_user(model))
    with opened:  # only the head is read here, unless the source can be read only once
        form = detect_format(opened)
        if model != "-" and Path(model).is_file():
            return SourceArgument(model, name_of_user(model), form, Path(model).stat().st_size)
        data = opened.data()
        return SourceArgument(data, opened.name, form, len(data))


def source_entries(source: SourceArgument, options: ReadOptions, loaded: LoadedGraph) -> tuple[SourceEntry, ...]:
    """Return the entries of the source; only the graph itself for a form that contains nothing else."""
    is_chosen = any((options.run, options.tag, options.kind, options.tag_set))
    # Other forms contain one graph, already read: do not decode the file again.
    if source.form in CONTAINER_FORMS or (not source.form and not is_chosen):
        return _matching_entries(source, options)
    graph = loaded.graph
    form = FORM_NAMES.get(source.form, loaded.format)
    return (
        SourceEntry(
            loaded.kind,
            nodes=len(graph.node),
            functions=len(graph.library.function),
            bytes=source.bytes,
            format=form,
            signatures=loaded.signatures,
        ),
    )


def entries_to_choose(source: SourceArgument, options: ReadOptions, error: TbGraphError) -> tuple[SourceEntry, ...]:
    """Return the entries to choose from when no graph could be chosen. Raises the error again if there are none."""
    if not isinstance(error, Ambiguous | NoGraph):
        raise error
    entries = _matching_entries(source, options)
    # A graph without nodes is not a choice; statistics without a graph are listed.
    if not entries or (isinstance(error, NoGraph) and all(entry.kind != "profile" for entry in entries)):
        raise error
    return entries


def _matching_entries(source: SourceArgument, options: ReadOptions) -> tuple[SourceEntry, ...]:
    """Return the entries of a source that the options allow."""
    from graphviz_tb.read.source import list_contents

    entries = list_contents(source.value, ReadOptions(run=options.run, max_bytes=options.max_bytes))
    wanted = {"run": options.run, "tag": options.tag, "kind": options.kind, "tag_set": options.tag_set}
    return tuple(
        entry for entry in entries if all(value in (None, getattr(entry, key)) for key, value in wanted.items())
    )


def entry_values(entry: SourceEntry) -> dict[str, Any]:
    values = {**asdict(entry), "signatures": [signature_values(signature) for signature in entry.signatures]}
    del values["preferred"]  # the graph that is described
    return values


def signature_values(signature: Signature) -> dict[str, Any]:
    """Return a signature as plain values: unknown dimensions and shapes are None."""
    values = asdict(signature)
    for spec in (*values["inputs"], *values["outputs"]):
        spec["dtype"] = SIGNATURE_DTYPES.get(spec["dtype"], spec["dtype"])
        spec["shape"] = None if spec["shape"] is None else [None if dim < 0 else dim for dim in spec["shape"]]
    return values


def entry_lines(entries: tuple[SourceEntry, ...], width: int, look: TextStyle) -> list[str]:
    """Return a table of the entries, without empty columns."""
    # Head of the column ─▶ its cells.
    columns = {
        "run": [entry.run or "" for entry in entries],
        "tag": [entry.tag or "" for entry in entries],
        "tag set": [entry.tag_set or "" for entry in entries],
        "holds": ["variant" if entry.variant else ENTRY_KIND_WORDS[entry.kind] for entry in entries],
        "nodes": ["" if entry.nodes is None else f"{entry.nodes:,}" for entry in entries],
        "functions": [f"{entry.functions:,}" if entry.functions else "" for entry in entries],
        "size": [format_bytes(entry.bytes) if entry.bytes else "" for entry in entries],
        "statistics": ["yes" if entry.profile and entry.kind != "profile" else "" for entry in entries],
    }
    # Drop empty columns.
    filled = {head: [printable(cell) for cell in cells] for head, cells in columns.items() if any(cells)}
    heads = list(filled)
    rows = [heads, *([filled[head][index] for head in heads] for index in range(len(entries)))]
    shrinking = [heads.index(head) for head in ("run", "tag", "tag set", "holds") if head in filled]
    right = [heads.index(head) for head in ("nodes", "functions", "size") if head in filled]
    return format_table(rows, width, right, shrinking, header=True, look=look)


def signature_lines(signatures: tuple[Signature, ...], width: int, look: TextStyle) -> list[str]:
    """Return each signature with its inputs and outputs."""
    lines: list[str] = []
    for signature in signatures:
        values = signature_values(signature)
        name, method = printable(signature.name), printable(signature.method)
        room = width - 4 - shown_width(name)
        lines.append(
            clip_end(f"  {name}", width) + (look.dim(f"  {method}") if 0 < shown_width(method) <= room else "")
        )
        rows = [
            (way, printable(spec["key"]), spec["dtype"], shape_text(spec["shape"]))
            for way in ("in", "out")
            for spec in values[f"{way}puts"]
        ]
        lines += format_table(rows, width, shrinking=(1, 3), indent=4)
    return lines


def describe_choice(entries: tuple[SourceEntry, ...]) -> list[str]:
    """Describe how to choose one graph, with an example."""
    graphs = [entry for entry in entries if entry.kind != "profile"]
    if not graphs:
        return ["No graph, only run statistics: give them with --run-metadata beside the graph."]
    return [
        f"{len(graphs):,} graphs; say which one is meant, for example with",
        f"  {printable(selecting_options(graphs[0]))}",
    ]


# The checkpoints at a path, for `tbgraph info`.


def source_checkpoints(source: str) -> tuple[list[Checkpoint], bool]:
    """Return the checkpoints of a source, the latest last, and whether the source is a checkpoint itself: an index, or
    its prefix.

    Raises ReadError if none of them can be read.
    """
    path = Path(source)
    if source in ("", "-") or "\0" in source or saved_model_file(path) is not None:
        return [], False
    indexes, checkpoints = find_index_files(path), []
    for number, index in enumerate(indexes):
        try:
            checkpoints.append(read_checkpoint(index))
        except ReadError:  # one checkpoint may be incomplete: show the others
            if number == len(indexes) - 1 and not checkpoints:
                raise
    return checkpoints, bool(indexes) and not path.is_dir()


def checkpoint_lines(checkpoints: Sequence[Checkpoint], width: int, look: TextStyle) -> list[str]:
    """Return a line for each of several checkpoints, then every tensor of the latest."""
    if not checkpoints:
        return []
    latest = checkpoints[-1]
    lines = []
    if len(checkpoints) > 1:
        rows = [("name", "tensors", "numbers", "bytes")]
        rows += [
            (printable(one.name), f"{len(one.tensors):,}", f"{one.element_count:,}", format_bytes(one.bytes))
            for one in checkpoints
        ]
        lines = [
            look.head(clip_middle("Checkpoints", width)),
            *format_table(rows, width, (1, 2, 3), header=True, look=look),
            "",
        ]
    head = f"Checkpoint {printable(latest.name)}: {len(latest.tensors):,} tensors, {latest.element_count:,} numbers, "
    rows = [("tensor", "type", "shape", "bytes")]
    for tensor in latest.tensors:
        shape = shape_text(tensor.shape) + (f" in {tensor.slices} parts" if tensor.slices else "")
        rows.append((printable(tensor.name), tensor.dtype or "unknown", shape, format_bytes(tensor.bytes)))
    return [
        *lines,
        look.head(clip_middle(head + format_bytes(latest.bytes), width)),
        *format_table(rows, width, (3,), shrinking=(0, 2), header=True, look=look),
    ]


def checkpoint_values(checkpoints: Sequence[Checkpoint]) -> list[dict[str, Any]]:
    """Return checkpoints as plain values for JSON, with the tensors of each."""
    return [
        {
            "name": checkpoint.name,
            "shards": checkpoint.shards,
            "numbers": checkpoint.element_count,
            "bytes": checkpoint.bytes,
            "tensors": [
                {
                    "name": tensor.name,
                    "dtype": tensor.dtype or None,
                    "shape": list(tensor.shape),
                    "bytes": tensor.bytes,
                    "slices": tensor.slices,
                }
                for tensor in checkpoint.tensors
            ],
        }
        for checkpoint in checkpoints
    ]


# The runs of a log in `tbgraph info`: their last steps and last values.

MAX_LAST_VALUES = 6  # last values in a line of text


def open_run_log(source: object) -> Log | None:
    """Return the log at a path; None if there is none, or for a model."""
    if not isinstance(source, str) or source == "-":
        return None
    path = Path(source)
    if path.is_dir() and saved_model_file(path) is not None:
        return None
    try:
        log = open_log(path)
    except ReadError:
        return None
    return log if any(run.points for run in log.logged.runs) else None


def runs_with_scalars(log: Log | None, name: str | None) -> list[tuple[Run, list[Series]]]:
    """Return the runs with data, or the run of a name, each with its scalars."""
    if log is None:
        return []
    runs = [run for run in log.logged.runs if run.points and name in (None, run.name)]
    return [
        (run, [series for series in log.logged.series if series.run == run.name and series.kind == "scalar"])
        for run in runs
    ]


def _last_scalar_value(series: Series) -> float:
    points = series.point_order()
    return float(series.value[points[-1]]) if len(points) else float("nan")


def run_lines(runs: Sequence[tuple[Run, list[Series]]], width: int, look: TextStyle) -> list[str]:
    """Return one line per run: points, last step, last values."""
    if not runs:
        return []
    rows = [("run", "points", "last step", "last values")]
    for run, scalars in runs:
        said = [
            f"{printable(scalar.tag)} {format_number(_last_scalar_value(scalar))}"
            for scalar in scalars[:MAX_LAST_VALUES]
        ]
        values = join_fitting(said, max(20, width // 2), more=len(scalars) > MAX_LAST_VALUES)
        rows.append((printable(run.name), f"{run.points:,}", str(run.last_step), values))
    return format_table(rows, width, right=(1, 2), shrinking=(0, 3), header=True, look=look)


def run_values(runs: Sequence[tuple[Run, list[Series]]]) -> list[dict[str, Any]]:
    """Return runs as plain values for JSON, with every tag."""
    return [
        {
            "run": run.name,
            "points": run.points,
            "superseded": run.superseded,
            "first_step": run.first_step,
            "last_step": run.last_step,
            "restarts": [restart.step for restart in run.restarts],
            "last_values": {scalar.tag: json_number(_last_scalar_value(scalar)) for scalar in scalars},
        }
        for run, scalars in runs
    ]
