"""Embeddings in a page: the points on their principal components, their metadata and their sprites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphviz_tb.errors import TbGraphError
from graphviz_tb.model.embeddings import Embedding, EmbeddingForm
from graphviz_tb.model.notice import Notice
from graphviz_tb.page.blocks import DataBlock, json_block
from graphviz_tb.page.projector import (
    embedding_entry,
    metadata_values,
    notice_values,
    projection_columns,
    shown_image_type,
)
from graphviz_tb.project import project_by_pca
from graphviz_tb.projector import Projector

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
    projector: Projector, held: Mapping[int, Embedding], left: list[Notice], runs: Mapping[str, int]
) -> DataBlock:
    """Return the list of the embeddings in a page, and notices about omitted ones."""
    told = {
        "tensors": [embedding_entry(one, number, runs.get(one.run)) for number, one in held.items()],
        "methods": [PCA_METHOD],
        "notices": notice_values((*projector.embeddings.notices, *left)),
    }
    return json_block("log/projector", told)
