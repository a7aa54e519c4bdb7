"""The checkpoints at a path, for `tbgraph info`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphviz_tb.commands.table import TextStyle, clip_middle, format_table
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.errors import ReadError
from graphviz_tb.model.checkpoint import Checkpoint
from graphviz_tb.model.tensors import shape_text
from graphviz_tb.model.units import format_bytes
from graphviz_tb.read.checkpoint import find_index_files, read_checkpoint
from graphviz_tb.read.saved_model import saved_model_file


def source_checkpoints(source: str) -> tuple[list[Checkpoint], bool]:
    """Return the checkpoints of a source, the latest last, and whether the source is a checkpoint itself: an index, or
    its prefix.

    Raises ReadError if none of them can be read.
    """
    path = Path(source)
    if source in ("", "-") or "\0" in source or saved_model_file(path) is not None:
        return [], False
    indexes, made = find_index_files(path), []
    for number, index in enumerate(indexes):
        try:
            made.append(read_checkpoint(index))
        except ReadError:  # one of several may be incomplete: show the rest
            if number == len(indexes) - 1 and not made:
                raise
    return made, bool(indexes) and not path.is_dir()


def checkpoint_lines(checkpoints: Sequence[Checkpoint], width: int, look: TextStyle) -> list[str]:
    """Return a line for each of several checkpoints, then every tensor of the latest."""
    if not checkpoints:
        return []
    latest = checkpoints[-1]
    lines = []
    if len(checkpoints) > 1:
        rows = [("name", "tensors", "numbers", "bytes")]
        rows += [
            (one_line(one.name), f"{len(one.tensors):,}", f"{one.element_count:,}", format_bytes(one.bytes))
            for one in checkpoints
        ]
        lines = [
            look.head(clip_middle("Checkpoints", width)),
            *format_table(rows, width, (1, 2, 3), header=True, look=look),
            "",
        ]
    head = f"Checkpoint {one_line(latest.name)}: {len(latest.tensors):,} tensors, {latest.element_count:,} numbers, "
    rows = [("tensor", "type", "shape", "bytes")]
    for each in latest.tensors:
        shape = shape_text(each.shape) + (f" in {each.slices} parts" if each.slices else "")
        rows.append((one_line(each.name), each.dtype or "unknown", shape, format_bytes(each.bytes)))
    return [
        *lines,
        look.head(clip_middle(head + format_bytes(latest.bytes), width)),
        *format_table(rows, width, (3,), gives=(0, 2), header=True, look=look),
    ]


def checkpoint_values(checkpoints: Sequence[Checkpoint]) -> list[dict[str, Any]]:
    """Return checkpoints as plain values for JSON, with the tensors of each."""
    return [
        {
            "name": one.name,
            "shards": one.shards,
            "numbers": one.element_count,
            "bytes": one.bytes,
            "tensors": [
                {
                    "name": each.name,
                    "dtype": each.dtype or None,
                    "shape": list(each.shape),
                    "bytes": each.bytes,
                    "slices": each.slices,
                }
                for each in one.tensors
            ],
        }
        for one in checkpoints
    ]
