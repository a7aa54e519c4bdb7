"""Reads an SVG of ours back: its texts and its filled shapes with their places on the page, in drawing
order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Shape:
    """A filled shape: its bounds and colour; for a text `content` and the colour of its halo."""

    left: float
    top: float
    right: float
    bottom: float
    fill: str
    content: str = ""
    halo: str = ""
    size: float = 0

    def holds(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.top <= y <= self.bottom


def shapes(svg: bytes) -> list[Shape]:
    """Texts and filled shapes in drawing order."""
    found: list[Shape] = []
    walk(ElementTree.fromstring(svg), 0.0, 0.0, found)
    return found


def walk(element: ElementTree.Element, x: float, y: float, found: list[Shape]) -> None:
    moved = element.attrib.get("transform", "")
    if moved.startswith("translate"):
        dx, dy = map(float, NUMBER.findall(moved))
        x, y = x + dx, y + dy
    tag, get = element.tag.removeprefix(SVG), element.attrib.get
    fill = get("fill", "#000000")
    if tag == "text":
        found.append(text(element, x, y, fill))
    elif tag == "rect" and fill != "none":
        left, top = x + float(get("x", "0")), y + float(get("y", "0"))
        found.append(Shape(left, top, left + float(get("width", "0")), top + float(get("height", "0")), fill))
    elif tag == "circle" and fill != "none":
        cx, cy, r = (float(get(key, "0")) for key in ("cx", "cy", "r"))
        found.append(Shape(x + cx - r, y + cy - r, x + cx + r, y + cy + r, fill))
    elif tag == "path" and fill != "none":
        found.append(path(get("d", ""), x, y, fill))
    if tag != "defs":
        for child in element:
            walk(child, x, y, found)


def text(element: ElementTree.Element, x: float, y: float, fill: str) -> Shape:
    get = element.attrib.get
    size, wide = float(get("font-size", "0")), float(get("textLength", "0"))
    left = x + float(get("x", "0")) - wide * {"middle": 0.5, "end": 1.0}.get(get("text-anchor", "start"), 0.0)
    base = y + float(get("y", "0"))
    halo = get("stroke", "") if get("paint-order") == "stroke" else ""
    return Shape(left, base - size * 0.7, left + wide, base, fill, element.text or "", halo, size)


def path(data: str, x: float, y: float, fill: str) -> Shape:
    """The bounds of a path of ours, whose commands are M, L, Q, V, H, A and Z with absolute coordinates."""
    xs, ys = [], []
    for command, rest in re.findall(r"([MLQVHA])([^MLQVHAZ]*)", data):
        numbers = [float(word) for word in NUMBER.findall(rest)]
        if command == "V":
            ys += numbers
        elif command == "H":
            xs += numbers
        else:
            numbers = numbers[-2:] if command == "A" else numbers
            xs += numbers[::2]
            ys += numbers[1::2]
    return Shape(x + min(xs), y + min(ys), x + max(xs), y + max(ys), fill)
