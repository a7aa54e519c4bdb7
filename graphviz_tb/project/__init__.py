"""project: the points of an embedding on few axes, and the nearest of each.

pca         principal components, by numpy
neighbours  the nearest points by cosine or Euclidean distance, exactly
manifold    t-SNE and UMAP, by the libraries of the extra `projector`
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
