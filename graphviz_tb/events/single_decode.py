"""Decode events one by one with protobuf, and group their values by form, as for events of equal structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from graphviz_tb.events.batch_decode import WAV_HEADER_BYTES, FoundValues, TagNumber, ValueGroup
from graphviz_tb.events.structure import EventStructure, ValueForm, as_signed, locate_event_structure, parse_pixel_size
from graphviz_tb.formats.protobuf import DECODE_ERRORS, parse_wire_varint
from graphviz_tb.formats.records import RECORD_HEADER_BYTES
from graphviz_tb.graphs.tensors import stored_elements
from graphviz_tb.model.logs import TagMetadata
from graphviz_tb.model.tensors import STRING_DTYPE_NUMBER
from graphviz_tb.proto import Event, HistogramProto, Summary, TensorProto

SESSION_START = 1  # SessionLog.status: a program started
NumberBytes = dict[str, bytes]
BlobSpans = list[tuple[int, int]]  # start in the payload, and length


ValuePlace = tuple[int, int, float, int, int]  # offset, step, wall time, size of the event, number of the value


class ParsedValue(NamedTuple):
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
class SingleDecoder:
    """Events decoded one by one: values by form and metadata, and counts of other events."""

    tag: TagNumber
    tags: dict[str, int] = field(default_factory=dict)
    values: dict[tuple[ValueForm, TagMetadata | None, int, tuple[int, ...]], list[ParsedValue]] = field(
        default_factory=dict
    )
    graphs: int = 0
    starts: list[tuple[int, int]] = field(default_factory=list)  # SessionLog.START: offset and step
    abouts: dict[tuple[str, str, str, bytes], TagMetadata] = field(default_factory=dict)

    def add_event(self, payload: bytes, place: int) -> bool:
        """Add an event; return False if the payload is not an event."""
        try:
            event = Event.FromString(payload)
        except DECODE_ERRORS:
            return self._parse_without_protobuf(payload, place)
        what = event.WhichOneof("what")
        if what == "summary":
            event_place = place, event.step, event.wall_time, len(payload)
            stop = 0
            for index, value in enumerate(event.summary.value):
                stop = self._add_value((*event_place, index), payload, value, stop)
        elif what in ("graph_def", "meta_graph_def"):
            self.graphs += 1
        elif what == "session_log" and event.session_log.status == SESSION_START:
            self.starts.append((place, event.step))
        return True

    def _add_value(self, event_place: ValuePlace, payload: bytes, value: Summary.Value, stop: int) -> int:
        name = value.tag
        tag = self.tags.get(name)
        if tag is None:
            tag = self.tags[name] = self.tag(name.encode())
        about = self._cached_about(value) if value.HasField("metadata") else None
        plugin = None if about is None else about.plugin
        kind = value.WhichOneof("value")
        form, numbers, strings = DECODE_BY_FIELD[kind](value, plugin) if kind else (ValueForm("", plugin), {}, [])
        if not strings:
            self.put_value(about, form, ParsedValue(tag, *event_place, numbers, [], b""))
            return stop
        blobs: BlobSpans = []
        for string in strings:
            # Strings are in order: search each after the previous one, or where equal bytes were found.
            first = max(0, payload.find(string, stop))
            stop = max(stop, first + len(string))
            blobs.append((first, len(string)))
        if form.plugin == "images" and form.field == "strings" and len(blobs) > 1:
            form = form._replace(width=parse_pixel_size(strings[0]), height=parse_pixel_size(strings[1]), sized=True)
            blobs = blobs[2:]
        head = strings[0][:WAV_HEADER_BYTES] if form.plugin == "audio" else b""
        self.put_value(about, form, ParsedValue(tag, *event_place, numbers, blobs, head))
        return stop

    def put_value(self, about: TagMetadata | None, form: ValueForm, parsed: ParsedValue) -> None:
        lengths = (*map(len, parsed.numbers.values()), len(parsed.head))
        key = (form, about, len(parsed.blobs), lengths)
        found = self.values.get(key)
        if found is None:
            found = self.values[key] = []
        found.append(parsed)

    def _cached_about(self, value: Summary.Value) -> TagMetadata:
        metadata = value.metadata
        plugin = metadata.plugin_data
        key = (plugin.plugin_name, metadata.display_name, metadata.summary_description, plugin.content)
        if key not in self.abouts:
            self.abouts[key] = TagMetadata(*key)
        return self.abouts[key]

    def _parse_without_protobuf(self, payload: bytes, place: int) -> bool:
        """Parse an event that protobuf refuses because of invalid UTF-8; return whether that worked."""
        try:
            structure = locate_event_structure(payload, len(payload))
        except Exception:
            return False
        if structure is None:
            return False
        self.add_structure(structure, payload, place, len(payload))
        return True

    def add_structure(self, structure: EventStructure, data: Any, place: int, size: int) -> None:
        """Add an event by its structure; only the bytes of numbers and names are read."""
        wall = float(np.frombuffer(data[slice(*structure.wall)], "<f8")[0])
        step = 0
        if structure.step is not None:
            step = as_signed(parse_wire_varint(data, *structure.step)[0])
        for index, value in enumerate(structure.values):
            numbers = {name: bytes(data[slice(*span)]) for name, span in value.numbers.items()}
            blobs = [(first, last - first) for first, last in value.blobs]
            head = b""
            if value.form.plugin == "audio" and blobs:
                head = bytes(data[blobs[0][0] : blobs[0][0] + min(WAV_HEADER_BYTES, blobs[0][1])])
            tag = self.tag(bytes(data[slice(*value.tag)]))
            self.put_value(
                value.about, value.form, ParsedValue(tag, place, step, wall, size, index, numbers, blobs, head)
            )

    def grouped_values(self) -> Iterator[FoundValues]:
        for (form, about, _, _), values in self.values.items():
            first: dict[int, int] = {}
            for value in values:
                first.setdefault(value.tag, value.place)
            yield FoundValues(_group_values(form, values), about, first)


def _group_values(form: ValueForm, values: list[ParsedValue]) -> ValueGroup:
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
        numbers={name: lines([number[name] for number in numbers]) for name in numbers[0]},
        at=places[:, None] + RECORD_HEADER_BYTES + spans[:, :, 0],
        length=spans[:, :, 1],
        heads=lines(list(heads)) if heads[0] else None,
    )


# Result of reading a field: form, numbers as bytes, strings.
DecodedField = tuple[ValueForm, NumberBytes, list[bytes]]
PACK_VALUE, PACK_STATS = Struct("<f").pack, Struct("<5d").pack
SIMPLE_FORM, HISTO_FORM = ValueForm("simple_value"), ValueForm("histo")


def _decode_simple_value(value: Summary.Value, plugin: str | None) -> DecodedField:
    form = SIMPLE_FORM if plugin is None else ValueForm("simple_value", plugin)
    return form, {"value": PACK_VALUE(value.simple_value)}, []


def _decode_histo_value(value: Summary.Value, plugin: str | None) -> DecodedField:
    histo: HistogramProto = value.histo
    limits, counts = histo.bucket_limit, histo.bucket
    numbers = {
        "stats": PACK_STATS(histo.min, histo.max, histo.num, histo.sum, histo.sum_squares),
        "limits": limits[: len(limits) & ~7],
        "counts": counts[: len(counts) & ~7],
    }
    return HISTO_FORM if plugin is None else ValueForm("histo", plugin), numbers, []


def _decode_image_value(value: Summary.Value, plugin: str | None) -> DecodedField:
    image = value.image
    form = ValueForm("image", plugin, width=max(0, image.width), height=max(0, image.height))
    return form, {}, [image.encoded_image_string]


def _decode_audio_value(value: Summary.Value, plugin: str | None) -> DecodedField:
    audio = value.audio
    return (
        ValueForm("audio", plugin, rate=audio.sample_rate, frames=audio.length_frames),
        {},
        [audio.encoded_audio_string],
    )


def _decode_tensor_value(value: Summary.Value, plugin: str | None) -> DecodedField:
    tensor: TensorProto = value.tensor
    shape = tuple([dim.size for dim in tensor.tensor_shape.dim])
    if tensor.dtype == STRING_DTYPE_NUMBER:
        return ValueForm("strings", plugin, STRING_DTYPE_NUMBER, shape), {}, list(tensor.string_val)
    elements = stored_elements(tensor)
    content = b"" if elements is None else elements.tobytes()
    return ValueForm("content", plugin, tensor.dtype, shape), {"content": content}, []


DECODE_BY_FIELD = {
    "simple_value": _decode_simple_value,
    "histo": _decode_histo_value,
    "image": _decode_image_value,
    "audio": _decode_audio_value,
    "tensor": _decode_tensor_value,
}
