"""Event files as TensorFlow writes them, a record at a time."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

from graphviz_tb.proto import CustomLayout, Event, GraphDef
from tests.event_files import event as event_of
from tests.event_files import field, histogram, record, strings

BEGIN = 1_600_000_000.0  # seconds since 1970


class Writer:
    """Writes a file of events, which is flushed with every call."""

    def __init__(self, folder: Path, name: str = "events.out.tfevents.1600000000.host") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / name
        if not self.path.exists():
            self.raw(record(Event(wall_time=BEGIN, file_version="brain.Event:2").SerializeToString()))

    def raw(self, data: bytes) -> None:
        """Append bytes as they are."""
        with self.path.open("ab") as handle:
            handle.write(data)

    def scalars(self, step: int, **values: float) -> None:
        """One event with a value for each tag; `__` in a name is a slash."""
        self.raw(record(self.event(step, **values).SerializeToString()))

    def event(self, step: int, **values: float) -> Event:
        """That event."""
        event = Event(wall_time=BEGIN + step, step=step)
        for tag, value in values.items():
            event.summary.value.add(tag=tag.replace("__", "/"), simple_value=value)
        return event

    def graph(self, graph: GraphDef) -> None:
        """The graph of the run."""
        self.raw(record(Event(wall_time=BEGIN, graph_def=graph.SerializeToString()).SerializeToString()))


def chain(*names: str) -> GraphDef:
    """a ─▶ b ─▶ c."""
    graph = GraphDef()
    for number, name in enumerate(names):
        graph.node.add(name=name, op="Relu" if number else "Placeholder", input=[names[number - 1]] if number else [])
    return graph


def sample(step: int) -> bytes:
    """An event with an image of two pixels and a histogram."""
    rows = zlib.compress(bytes([0, 255, 40 * step % 256]))
    parts = (b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 0, 0, 0, 0)), (b"IDAT", rows), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big") for name, data in parts
    )
    picture = field(1, b"picture") + field(4, field(4, png))
    return event_of(step, picture, histogram("weights", [1, 2], [1, 2]), wall=BEGIN + step)


def main(folder: str, *words: str) -> None:
    """`python -m tests.serve.writing FOLDER STEP LOSS`, or `graph NAME…`, `image STEP`, `layout`: write to a run."""
    writer = Writer(Path(folder))
    if words[0] == "graph":
        writer.graph(chain(*words[1:]))
    elif words[0] == "layout":
        layout = CustomLayout()
        layout.category.add(title=b"mine").chart.add(title=b"both").multiline.tag.extend([b"lo.*", b"acc"])
        writer.raw(record(event_of(0, strings("config", [layout.SerializeToString()], "custom_scalars", ()))))
    elif words[0] == "image":
        writer.raw(record(sample(int(words[1]))))
    else:
        writer.scalars(int(words[0]), loss=float(words[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
