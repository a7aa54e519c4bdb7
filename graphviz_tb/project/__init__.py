"""Project the points of an embedding to two or three axes, and find nearest neighbours.

PCA and exact neighbours (cosine or Euclidean) need only numpy; t-SNE and UMAP need the extra `projector`.
"""

from __future__ import annotations

from graphviz_tb.project.projections import (
    DISTANCE_METRICS,
    METHOD_NAMES,
    PROJECTION_METHODS,
    compute_positions,
    layout_points,
    missing_library,
    nearest_points,
    project_by_pca,
    project_points,
    projection_of_positions,
)

__all__ = [
    "DISTANCE_METRICS",
    "METHOD_NAMES",
    "PROJECTION_METHODS",
    "compute_positions",
    "layout_points",
    "missing_library",
    "nearest_points",
    "project_by_pca",
    "project_points",
    "projection_of_positions",
]
