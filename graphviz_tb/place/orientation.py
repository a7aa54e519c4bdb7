"""The direction of the flow: turn a level whose flow runs down to the screen."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Direction, Point


@dataclass(frozen=True, slots=True)
class FlowTurn:
    """Turns points of a level of `width` × `height` (across × along the flow) to the screen.

    >>> (
    ...     FlowTurn("BT", 100, 60).to_screen((10, 0)),
    ...     FlowTurn("LR", 100, 60).to_screen((10, 0)),
    ...     FlowTurn("RL", 100, 60).to_screen((10, 0)),
    ... )
    ((10, 60), (0, 10), (60, 10))
    """

    direction: Direction
    width: int
    height: int

    @property
    def runs_vertically(self) -> bool:
        """Return whether the flow runs up or down."""
        return self.direction in ("BT", "TB")

    @property
    def screen_size(self) -> tuple[int, int]:
        """Width and height on the screen."""
        return (self.width, self.height) if self.runs_vertically else (self.height, self.width)

    def to_screen(self, point: Point) -> Point:
        across, along = point
        if self.direction in ("BT", "RL"):
            along = self.height - along
        return (across, along) if self.runs_vertically else (along, across)

    def corner_on_screen(self, point: Point, size: tuple[int, int]) -> Point:
        """Return the upper left corner on the screen of a rectangle with upper left corner `point` and `size` on the
        screen."""
        along = size[1] if self.runs_vertically else size[0]
        # In a reversed flow the far edge of the rectangle becomes the near one.
        if self.direction in ("BT", "RL"):
            return self.to_screen((point[0], point[1] + along))
        return self.to_screen(point)


def is_vertical(direction: Direction) -> bool:
    """Return whether the flow runs up or down."""
    return direction in ("BT", "TB")


def flow_size(direction: Direction, size: tuple[int, int]) -> tuple[int, int]:
    """Return a size on the screen as (across, along)."""
    return size if is_vertical(direction) else size[::-1]


def upper_flow_side(direction: Direction) -> bool | None:
    """Return which flow side of a frame is its upper one: the first (True), the last (False), or neither (None).

    >>> upper_flow_side("TB"), upper_flow_side("BT"), upper_flow_side("LR")
    (True, False, None)
    """
    return {"TB": True, "BT": False}.get(direction)
