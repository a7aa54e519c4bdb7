"""place: turn skeletons and sizes into coordinates.

measure ─ sizes ─ stubs ─ level by level: coordinates, turn, auxiliary area, title ─ scene
"""

from __future__ import annotations

from graphviz_tb.place.picture import FrameCache, place

__all__ = ["FrameCache", "place"]
