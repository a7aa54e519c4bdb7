"""Decode events one by one with protobuf, and group their values by form, as for events of equal structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from graphviz_tb.algorithms.constants import stored
from graphviz_tb.model.dtypes import STRING
from graphviz_tb.model.logged import About
from graphviz_tb.proto import Event, HistogramProto, Summary, TensorProto
from graphviz_tb.read.logged.alike import Tag
from graphviz_tb.read.logged.group import WAV_HEAD, Found, ValueGroup
from graphviz_tb.read.logged.structure import Structure, ValueForm, pixels, signed, structure_of
from graphviz_tb.read.pb import BROKEN
from graphviz_tb.read.records import HEADER
from graphviz_tb.read.wire import varint

START = 1  # SessionLog.status: a program started
NumberBytes = dict[str, bytes]
BlobSpans = list[tuple[int, int]]  # start in the payload, and length


ValuePlace = tuple[int, int, float, int, int]  # offset, step, wall time, size of the event, number of the value


class Parsed(NamedTuple):
    """One value: a line of a ValueGroup."""

    tag: int
    place: int
    step: int
    wall: float
    event: int
    value: int
    numbers: NumberBytes
    blobs: BlobSpans
    head: bytes


@dataclass(slots=True)
class Singles:
    """Events decoded one by one: values by form and metadata, and counts of other events."""

    tag: Tag
    tags: dict[str, int] = field(default_factory=dict)
    values: dict[tuple[ValueForm, About | None, int, tuple[int, ...]], list[Parsed]] = field(default_factory=dict)
    graphs: int = 0
    starts: list[tuple[int, int]] = field(default_factory=list)  # SessionLog.START: offset and step
    abouts: dict[tuple[str, str, str, bytes], About] = field(default_factory=dict)

    def add(self, payload: bytes, place: int) -> bool:
        """Add an event; return False if the payload is none."""
        try:
            event = Event.FromString(payload)
        except BROKEN:
            return self._by_hand(payload, place)
        what = event.WhichOneof("what")
        if what == "summary":
            at = place, event.step, event.wall_time, len(payload)
            stop = 0
            for index, value in enumerate(event.summary.value):
                stop = self._value((*at, index), payload, value, stop)
        elif what in ("graph_def", "meta_graph_def"):
            self.graphs += 1
        elif what == "session_log" and event.session_log.status == START:
            self.starts.append((place, event.step))
        return True

    def _value(self, at: ValuePlace, payload: bytes, value: Summary.Value, stop: int) -> int:
        name = value.tag
        tag = self.tags.get(name)
        if tag is None:
            tag = self.tags[name] = self.tag(name.encode())
        about = self._about(value) if value.HasField("metadata") else None
        plugin = None if about is None else about.plugin
        held = value.WhichOneof("value")
        form, numbers, strings = _READ[held](value, plugin) if held else (ValueForm("", plugin), {}, [])
        if not strings:
            self.put(about, form, Parsed(tag, *at, numbers, [], b""))
            return stop
        blobs: BlobSpans = []
        for each in strings:
            # Strings are in order: search each after the previous one, or where equal bytes were found.
            first = max(0, payload.find(each, stop))
            stop = max(stop, first + len(each))
            blobs.append((first, len(each)))
        if form.plugin == "images" and form.field == "strings" and len(blobs) > 1:
            form = form._replace(width=pixels(strings[0]), height=pixels(strings[1]), sized=True)
            blobs = blobs[2:]
        head = strings[0][:WAV_HEAD] if form.plugin == "audio" else b""
        self.put(about, form, Parsed(tag, *at, numbers, blobs, head))
        return stop

    def put(self, about: About | None, form: ValueForm, parsed: Parsed) -> None:
        """Add a value to the values of its form."""
        lengths = (*map(len, parsed.numbers.values()), len(parsed.head))
        key = (form, about, len(parsed.blobs), lengths)
        found = self.values.get(key)
        if found is None:
            found = self.values[key] = []
        found.append(parsed)

    def _about(self, value: Summary.Value) -> About:
        metadata = value.metadata
        plugin = metadata.plugin_data
        key = (plugin.plugin_name, metadata.display_name, metadata.summary_description, plugin.content)
        if key not in self.abouts:
            self.abouts[key] = About(*key)
        return self.abouts[key]

    def _by_hand(self, payload: bytes, place: int) -> bool:
        """Parse an event that protobuf refuses because of invalid UTF-8; return whether that worked."""
        try:
            structure = structure_of(payload, len(payload))
        except Exception:
            return False
        if structure is None:
            return False
        self.add_structure(structure, payload, place, len(payload))
        return True

    def add_structure(self, structure: Structure, data: Any, place: int, size: int) -> None:
        """Add an event by its structure; only the bytes of numbers and names are read."""
        wall = float(np.frombuffer(data[slice(*structure.wall)], "<f8")[0])
        step = 0
        if structure.step is not None:
            step = signed(varint(data, *structure.step)[0])
        for index, value in enumerate(structure.values):
            numbers = {name: bytes(data[slice(*span)]) for name, span in value.numbers.items()}
            blobs = [(first, last - first) for first, last in value.blobs]
            head = b""
            if value.form.plugin == "audio" and blobs:
                head = bytes(data[blobs[0][0] : blobs[0][0] + min(WAV_HEAD, blobs[0][1])])
            tag = self.tag(bytes(data[slice(*value.tag)]))
            self.put(value.about, value.form, Parsed(tag, place, step, wall, size, index, numbers, blobs, head))

    def found(self) -> Iterator[Found]:
        """Yield all values, grouped by form."""
        for (form, about, _, _), values in self.values.items():
            yield Found(_group(form, values), about, _first(values))


def _first(values: list[Parsed]) -> dict[int, int]:
    """Return the first offset of each tag."""
    first: dict[int, int] = {}
    for value in values:
        first.setdefault(value.tag, value.place)
    return first


def _group(form: ValueForm, values: list[Parsed]) -> ValueGroup:
    def lines(parts: list[bytes]) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return np.frombuffer(b"".join(parts), np.uint8).reshape(len(parts), -1 if parts[0] else 0)

    tag, place, step, wall, event, index, numbers, blobs, heads = zip(*values, strict=True)
    places = np.array(place, np.int64)
    spans = (
        np.array(blobs, np.int64).reshape(len(values), -1, 2) if blobs[0] else np.zeros((len(values), 0, 2), np.int64)
    )
    return ValueGroup(
        form=form,
        tag=np.array(tag, np.int32),
        place=places,
        step=np.array(step, np.int64),
        wall=np.array(wall, np.float64),
        event=np.array(event, np.int64),
        index=np.array(index, np.int32),
        numbers={name: lines([each[name] for each in numbers]) for name in numbers[0]},
        at=places[:, None] + HEADER + spans[:, :, 0],
        length=spans[:, :, 1],
        heads=lines(list(heads)) if heads[0] else None,
    )


# Result of reading a field: form, numbers as bytes, strings.
_Read = tuple[ValueForm, NumberBytes, list[bytes]]
_pack_value, _pack_stats = Struct("<f").pack, Struct("<5d").pack
_SIMPLE, _HISTO = ValueForm("simple_value"), ValueForm("histo")


def _simple(value: Summary.Value, plugin: str | None) -> _Read:
    form = _SIMPLE if plugin is None else ValueForm("simple_value", plugin)
    return form, {"value": _pack_value(value.simple_value)}, []


def _histo(value: Summary.Value, plugin: str | None) -> _Read:
    histo: HistogramProto = value.histo
    limits, counts = histo.bucket_limit, histo.bucket
    numbers = {
        "stats": _pack_stats(histo.min, histo.max, histo.num, histo.sum, histo.sum_squares),
        "limits": limits[: len(limits) & ~7],
        "counts": counts[: len(counts) & ~7],
    }
    return _HISTO if plugin is None else ValueForm("histo", plugin), numbers, []


def _image(value: Summary.Value, plugin: str | None) -> _Read:
    image = value.image
    form = ValueForm("image", plugin, width=max(0, image.width), height=max(0, image.height))
    return form, {}, [image.encoded_image_string]


def _audio(value: Summary.Value, plugin: str | None) -> _Read:
    audio = value.audio
    return (
        ValueForm("audio", plugin, rate=audio.sample_rate, frames=audio.length_frames),
        {},
        [audio.encoded_audio_string],
    )


def _tensor(value: Summary.Value, plugin: str | None) -> _Read:
    tensor: TensorProto = value.tensor
    shape = tuple([dim.size for dim in tensor.tensor_shape.dim])
    if tensor.dtype == STRING:
        return ValueForm("strings", plugin, STRING, shape), {}, list(tensor.string_val)
    elements = stored(tensor)
    content = b"" if elements is None else elements.tobytes()
    return ValueForm("content", plugin, tensor.dtype, shape), {"content": content}, []


_READ = {"simple_value": _simple, "histo": _histo, "image": _image, "audio": _audio, "tensor": _tensor}
