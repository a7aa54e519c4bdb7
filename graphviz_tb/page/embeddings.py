"""Embeddings in a page or from a server: their list and metadata in JSON, points in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.errors import TbGraphError
from graphviz_tb.logs.embeddings import Projector
from graphviz_tb.model.logs import Embedding, EmbeddingForm, PointColumn, Points, Projection
from graphviz_tb.model.notice import Notice
from graphviz_tb.page.blocks import DataBlock, json_block, pack_columns
from graphviz_tb.page.points import UNKNOWN_MEDIA_TYPE, media_type
from graphviz_tb.project import project_by_pca

MAX_AXES_SENT = 10  # of a projection


def embedding_entry(one: Embedding, number: int, run: int | None) -> dict[str, Any]:
    """Return one embedding of the list; `run` is the id of its run, if the log has that run."""
    return {
        "id": number,
        "run": run,
        "folder": one.run,
        "name": one.name,
        "title": one.full_name if "/" in one.full_name else "",
        "form": one.form.value,
        "points": one.points,
        "dims": one.dimensions,
        "metadata": one.metadata is not None,
        "sprite": None if one.sprite is None else list(one.sprite.size),
        "step": one.step,
    }


def projection_columns(made: Projection, more: Iterable[Notice] = (), values: Points | None = None) -> bytes:
    """Return the projected points, a block per axis: "axis.0", …; with `values` also the points themselves, by rows."""
    axes = made.axes[:, :MAX_AXES_SENT]
    blocks: list[tuple[str, NDArray[Any]]] = [
        (f"axis.{at}", np.ascontiguousarray(axes[:, at])) for at in range(axes.shape[1])
    ]
    if values is not None:
        blocks.append(("values", values.reshape(-1)))
    head = {
        "method": made.method,
        "variance": [round(share, 6) for share in made.variance],
        "fitted": made.fitted,
        "settings": dict(made.settings),
        "notices": notice_values((*more, *made.notices)),
    }
    return pack_columns(len(axes), blocks, head)


def metadata_values(columns: Iterable[PointColumn], notices: Iterable[Notice]) -> dict[str, Any]:
    """Return the metadata of points: for each column a table of texts, and the text number of each point."""
    return {"columns": [_metadata_column(column) for column in columns], "notices": notice_values(notices)}


def _metadata_column(one: PointColumn) -> Mapping[str, Any]:
    """Return one column; texts are numbered by first occurrence."""
    numbers: dict[str, int] = {}
    at = [numbers.setdefault(text, len(numbers)) for text in one.texts]
    return {"name": one.name, "numeric": one.numeric, "texts": list(numbers), "at": at}


def notice_values(notices: Iterable[Notice]) -> list[dict[str, Any]]:
    return [{"code": notice.code, "text": notice.message} for notice in notices]


def shown_image_type(data: bytes) -> str:
    """Return the media type of an image that a browser may show; "" for anything else.

    >>> shown_image_type(b"GIF89a"), shown_image_type(b"<svg>")
    ('image/gif', '')
    """
    kind = media_type(data)
    return kind if kind != UNKNOWN_MEDIA_TYPE and kind.startswith("image/") else ""


# Embeddings in a page: the points on their principal components, their metadata and their sprites.

MAX_SENT_VALUE_BYTES = 4_000_000  # bytes of values of an embedding up to which a page finds neighbours
MAX_POINTS_IN_PAGE = 50_000  # of an embedding in a page
PCA_METHOD = {"name": "pca", "title": "PCA", "missing": ""}  # a page cannot compute t-SNE or UMAP


def is_shown_in_page(one: Embedding) -> bool:
    """Return whether a page shows an embedding: variables of a checkpoint only with metadata or sprites."""
    return one.form is not EmbeddingForm.CHECKPOINT or one.metadata is not None or one.sprite is not None


def embedding_blocks(projector: Projector, one: Embedding, number: int) -> Iterator[DataBlock]:
    """Yield the blocks of one embedding. Raises TbGraphError if it cannot be read or is too large for a page."""
    values = projector.values(one)
    if len(values) > MAX_POINTS_IN_PAGE:
        raise TbGraphError(
            f"'{one.name[:80]}' has {one.points:,} points; a page has at most {MAX_POINTS_IN_PAGE:,} of one embedding"
        )
    sent = values if values.nbytes <= MAX_SENT_VALUE_BYTES else None
    name = f"log/projector/{number}"
    yield DataBlock(name, "columns", projection_columns(project_by_pca(values), projector.notices(one), sent))
    yield json_block(f"{name}/metadata", metadata_values(*projector.columns(one)))
    if one.sprite is not None:
        data = projector.sprite(one)
        yield DataBlock(f"{name}/sprite", "columns", data if shown_image_type(data) else b"")


def embedding_list_block(
    projector: Projector, packed: Mapping[int, Embedding], left: list[Notice], runs: Mapping[str, int]
) -> DataBlock:
    """Return the list of the embeddings in a page, and notices about omitted ones."""
    values = {
        "tensors": [embedding_entry(one, number, runs.get(one.run)) for number, one in packed.items()],
        "methods": [PCA_METHOD],
        "notices": notice_values((*projector.embeddings.notices, *left)),
    }
    return json_block("log/projector", values)
