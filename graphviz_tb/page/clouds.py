"""Embeddings in a page: the points on their principal components, their metadata and their sprites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphviz_tb.errors import TbGraphError
from graphviz_tb.model.embeddings import Embedding, EmbeddingForm
from graphviz_tb.model.notice import Notice
from graphviz_tb.page.blocks import DataBlock, words
from graphviz_tb.page.projector import embedding_entry, image_kind, metadata_told, notices_told, projection_columns
from graphviz_tb.project import pca
from graphviz_tb.projector import Projector

VALUES = 4_000_000  # bytes of values of an embedding up to which a page finds neighbours
POINTS = 50_000  # of an embedding in a page
METHOD = {"name": "pca", "title": "PCA", "missing": ""}  # a page cannot compute t-SNE or UMAP


def belongs(one: Embedding) -> bool:
    """Return whether a page shows an embedding: variables of a checkpoint only with metadata or sprites."""
    return one.form is not EmbeddingForm.CHECKPOINT or one.metadata is not None or one.sprite is not None


def cloud_blocks(projector: Projector, one: Embedding, number: int) -> Iterator[DataBlock]:
    """Yield the blocks of one embedding. Raises TbGraphError if it cannot be read or is too large for a page."""
    values = projector.values(one)
    if len(values) > POINTS:
        raise TbGraphError(
            f"'{one.name[:80]}' has {one.points:,} points; a page has at most {POINTS:,} of one embedding"
        )
    sent = values if values.nbytes <= VALUES else None
    name = f"log/projector/{number}"
    yield DataBlock(name, "columns", projection_columns(pca(values), projector.notices(one), sent))
    yield words(f"{name}/metadata", metadata_told(*projector.columns(one)))
    if one.sprite is not None:
        data = projector.sprite(one)
        yield DataBlock(f"{name}/sprite", "columns", data if image_kind(data) else b"")


def clouds_told(
    projector: Projector, held: Mapping[int, Embedding], left: list[Notice], runs: Mapping[str, int]
) -> DataBlock:
    """Return the list of the embeddings in a page, and notices about omitted ones."""
    told = {
        "tensors": [embedding_entry(one, number, runs.get(one.run)) for number, one in held.items()],
        "methods": [METHOD],
        "notices": notices_told((*projector.embeddings.notices, *left)),
    }
    return words("log/projector", told)
