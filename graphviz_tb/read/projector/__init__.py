"""Embeddings of a source: tensors that a configuration names, files, and variables of checkpoints."""

from __future__ import annotations

from graphviz_tb.read.projector.found import find_embeddings
from graphviz_tb.read.projector.metadata import read_point_metadata
from graphviz_tb.read.projector.values import read_points, read_sprite

__all__ = ["find_embeddings", "read_point_metadata", "read_points", "read_sprite"]
