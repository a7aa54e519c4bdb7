"""place: skeletons and sizes become coordinates.

measure ─ sizes ─ stubs beside ─ level by level: coordinates, turn, auxiliary area, title ─ scene
"""

from __future__ import annotations

from graphviz_tb.place.nested import Frames, place

__all__ = ["Frames", "place"]
