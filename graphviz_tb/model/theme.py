"""Base colours of the two themes, shared by colourings and renderers."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours as `#RRGGBB`.

    `secondary` is for text on the background or a frame, `quiet` for the second line of a neutral box; `frames` fill
    open groups by depth (the last two in turn); `main`, `data`, `reference`, `selected` are edges; `mark` the disc of
    the +/− mark and `sign` the sign in it; `rule` thin lines; `stroke` the border of neutral boxes and ops; `hues` the
    seven colours of categories, which colour-blind readers can distinguish; for kinds of layers they are in the order
    of `color/structure.py`.
    """

    name: str
    text: str
    secondary: str
    quiet: str
    background: str
    neutral: str
    op: str
    stroke: str
    frames: tuple[str, ...]
    main: str
    data: str
    reference: str
    selected: str
    mark: str
    sign: str
    rule: str
    hues: tuple[str, ...]

    def frame_fill(self, depth: int) -> str:
        """Return the fill of an open group inside `depth` open groups.

        >>> [LIGHT_THEME.frame_fill(depth) for depth in range(4)]
        ['#FFFFFF', '#F6F8FA', '#EFF2F5', '#F6F8FA']
        """
        first, *rest = self.frames
        return first if depth == 0 else rest[(depth - 1) % len(rest)]


LIGHT_THEME = Theme(
    name="light",
    text="#1F2328",
    secondary="#57606A",
    quiet="#57606A",
    background="#FFFFFF",
    neutral="#EAEEF2",
    op="#FFFFFF",
    stroke="#989B9D",
    frames=("#FFFFFF", "#F6F8FA", "#EFF2F5"),
    main="#57606A",
    data="#8C959F",
    reference="#C2410C",
    selected="#0969DA",
    mark="#6A737D",
    sign="#FFFFFF",
    rule="#D0D7DE",
    hues=("#77AADD", "#EE8866", "#44BB99", "#FFAABB", "#EEDD88", "#99DDFF", "#BBCC33"),
)

DARK_THEME = Theme(
    name="dark",
    text="#F0F3F6",
    secondary="#8B949E",
    quiet="#9DA7B3",
    background="#0D1117",
    neutral="#30363D",
    op="#161B22",
    stroke="#787C81",
    frames=("#0D1117", "#151B23", "#1C232C"),
    main="#9DA7B3",
    data="#6E7681",
    reference="#FB923C",
    selected="#58A6FF",
    mark="#8B949E",
    sign="#0D1117",
    rule="#30363D",
    hues=("#3B6CAD", "#6D2905", "#277C6A", "#761933", "#7C700A", "#067285", "#5D7640"),
)

THEMES = {"light": LIGHT_THEME, "dark": DARK_THEME}
