"""The embeddings of a source: which there are, and their values.

config      projector_config.pbtxt: tensors that it names, with their metadata and sprites
inside      paths that a log names lead to files of the source alone
found       the list: named tensors, files by their names, variables of checkpoints
values      the numbers of one
metadata    what is known of its points
"""

from __future__ import annotations

from graphviz_tb.read.projector.found import find_embeddings
from graphviz_tb.read.projector.metadata import read_metadata
from graphviz_tb.read.projector.values import read_sprite, read_values

__all__ = ["find_embeddings", "read_metadata", "read_sprite", "read_values"]
