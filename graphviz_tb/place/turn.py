"""The direction of the flow: turn a level whose flow runs down to the screen."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Direction, Point


@dataclass(frozen=True, slots=True)
class Turn:
    """Turns points of a level of `width` × `height` (across × along the flow) to the screen.

    >>> Turn("BT", 100, 60).point((10, 0)), Turn("LR", 100, 60).point((10, 0)), Turn("RL", 100, 60).point((10, 0))
    ((10, 60), (0, 10), (60, 10))
    """

    direction: Direction
    width: int
    height: int

    @property
    def vertical(self) -> bool:
        """Return whether the flow runs up or down."""
        return self.direction in ("BT", "TB")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height on the screen."""
        return (self.width, self.height) if self.vertical else (self.height, self.width)

    def point(self, point: Point) -> Point:
        """Return a point on the screen."""
        across, along = point
        if self.direction in ("BT", "RL"):
            along = self.height - along
        return (across, along) if self.vertical else (along, across)

    def corner(self, point: Point, size: tuple[int, int]) -> Point:
        """Return the upper left corner on the screen of a rectangle with upper left corner `point` and `size` on the
        screen."""
        along = size[1] if self.vertical else size[0]
        # In a reversed flow the far edge of the rectangle becomes the near one.
        if self.direction in ("BT", "RL"):
            return self.point((point[0], point[1] + along))
        return self.point(point)


def vertical(direction: Direction) -> bool:
    """Return whether the flow runs up or down."""
    return direction in ("BT", "TB")


def across_along(direction: Direction, size: tuple[int, int]) -> tuple[int, int]:
    """Return a size on the screen as (across, along)."""
    return size if vertical(direction) else size[::-1]


def top_side(direction: Direction) -> bool | None:
    """Return which flow side of a frame is its upper one: the first (True), the last (False), or neither (None).

    >>> top_side("TB"), top_side("BT"), top_side("LR")
    (True, False, None)
    """
    return {"TB": True, "BT": False}.get(direction)
