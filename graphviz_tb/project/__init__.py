"""Project the points of an embedding to two or three axes, and find nearest neighbours.

PCA and exact neighbours (cosine or Euclidean) need only numpy; t-SNE and UMAP need the extra `projector`.
"""

from __future__ import annotations

from graphviz_tb.project.manifold import METHODS, NAMES, lay_out, missing, placed, positions, usable_points
from graphviz_tb.project.neighbours import METRICS, nearest
from graphviz_tb.project.pca import pca

__all__ = [
    "METHODS",
    "METRICS",
    "NAMES",
    "lay_out",
    "missing",
    "nearest",
    "pca",
    "placed",
    "positions",
    "usable_points",
]
