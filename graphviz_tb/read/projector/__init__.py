"""Embeddings of a source: tensors that a configuration names, files, and variables of checkpoints."""

from __future__ import annotations

from graphviz_tb.read.projector.found import find_embeddings
from graphviz_tb.read.projector.metadata import read_metadata
from graphviz_tb.read.projector.values import read_sprite, read_values

__all__ = ["find_embeddings", "read_metadata", "read_sprite", "read_values"]
