"""What any good message can become: a part a thousand times, a name a mile long, a number that is not true.

`changed` knows no kind of message: it walks whatever is there by its descriptors. So it reaches what nobody thought of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Field

from graphviz_tb.proto import Event, GraphDef, MetaGraphDef, RunMetadata, SavedModel, XSpace
from tests.fuzz.families.damage import FIXTURES
from tests.fuzz.families.graphs import ODD
from tests.fuzz.families.records import framed

MOST = 600_000  # bytes that one change may add
GRAPHS = ("real/*.pb", "steps/*.pb", "edits/*.pb", "crashers/*.pb", "run_metadata/*/graph.pb")
WHOLE = (-1, 0, 1, 2, 7, 99, 2**31 - 1, 2**31, -(2**31), 2**53, 2**63 - 1, -(2**63), 2**64 - 1)
REAL = (float("nan"), float("inf"), float("-inf"), -0.0, 1e308, 5e-324)


@cache
def good(kind: Any, *patterns: str) -> tuple[bytes, ...]:
    """The bytes of all fixtures of one kind that are small enough to grow."""
    paths = sorted(path for pattern in patterns for path in FIXTURES.glob(pattern) if path.stat().st_size < 60_000)
    return tuple(path.read_bytes() for path in paths if kind.FromString(path.read_bytes()).ByteSize())


def graph(random: Random) -> GraphDef:
    """A good GraphDef."""
    return GraphDef.FromString(random.choice(good(GraphDef, *GRAPHS)))


def saved_model(random: Random) -> SavedModel:
    """A good SavedModel."""
    return SavedModel.FromString(random.choice(good(SavedModel, "**/saved_model.pb")))


def run_metadata(random: Random) -> RunMetadata:
    """A good traced step."""
    return RunMetadata.FromString(random.choice(good(RunMetadata, "run_metadata/**/*step*.pb")))


def profile(random: Random) -> XSpace:
    """A good profile."""
    return XSpace.FromString(random.choice(good(XSpace, "run_metadata/**/*.xplane.pb")))


def changed(message: Any, random: Random, times: int = 1) -> Any:
    """Before: a message, which is written to. After: the same, with so many changes."""
    for _ in range(times):
        if message.ByteSize() < 2 * MOST:
            random.choice(CHANGES)(message, random)
    return message


def spots(message: Any) -> Iterator[tuple[Any, Field]]:
    """Every field that is set, with the message that it is set in, however deep."""
    stack = [message]
    while stack:
        parent = stack.pop()
        for field, value in parent.ListFields():
            yield parent, field
            if field.type == Field.TYPE_MESSAGE:
                inner = value.values() if is_map(field) else value if is_repeated(field) else [value]
                stack.extend(each for each in inner if hasattr(each, "ListFields"))


def is_repeated(field: Field) -> bool:
    """Whether a field has a list of values."""
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == Field.LABEL_REPEATED)


def is_map(field: Field) -> bool:
    """Whether a field is a map."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def a_spot(message: Any, random: Random, wanted: Callable[[Field], bool]) -> tuple[Any, Field] | None:
    """One of the fields of a sort: first a kind of field, then one of that kind, so that rare ones have their turn."""
    kinds: dict[str, list[tuple[Any, Field]]] = {}
    for parent, field in spots(message):
        if wanted(field):
            kinds.setdefault(field.full_name, []).append((parent, field))
    return random.choice(random.choice(list(kinds.values()))) if kinds else None


def multiplied(message: Any, random: Random) -> None:
    """One element very often, with names of their own or not, each fed by the one before or not."""
    spot = a_spot(message, random, is_repeated)
    if spot is None:
        return
    values = getattr(spot[0], spot[1].name)
    if is_map(spot[1]):
        _more_entries(values, random)
        return
    value = random.choice(list(values))
    size = max(value.ByteSize() if hasattr(value, "ByteSize") else len(str(value)), 2) + 4
    count = min(random.choice((1, 3, 50, 1000, 20_000)), MOST // size)
    if not hasattr(value, "CopyFrom"):
        values.extend([value] * count)
        return
    apart, chained = random.random() < 0.7, random.random() < 0.4
    name = _name_of(value)
    for number in range(count):
        made = values.add()
        made.CopyFrom(value)
        if apart and name:
            _set_name(made, f"{name}_{number}")
        if chained and name and "input" in made.DESCRIPTOR.fields_by_name:
            made.input.append(f"{name}_{number - 1}" if number else name)


def _more_entries(entries: Any, random: Random) -> None:
    """A map with very many keys."""
    key = random.choice(sorted(entries))
    for number in range(random.choice((1, 30, 3000))):
        other = f"{key}{number}" if isinstance(key, str) else (number * 7919 + 1) % 2**31
        if hasattr(entries[key], "CopyFrom"):
            entries[other].CopyFrom(entries[key])
        else:
            entries[other] = entries[key]


def _name_of(value: Any) -> str:
    for holder in (value, getattr(value, "signature", None)):
        name = getattr(holder, "name", None) or getattr(holder, "node_name", None)
        if isinstance(name, str):
            return name
    return ""


def _set_name(value: Any, name: str) -> None:
    holder = value if {"name", "node_name"} & set(value.DESCRIPTOR.fields_by_name) else value.signature
    setattr(holder, "name" if hasattr(holder, "name") else "node_name", name)


def lengthened(message: Any, random: Random) -> None:
    """One name long or deep, wherever it stands or in one place only."""
    spot = a_spot(message, random, lambda field: field.type == Field.TYPE_STRING and not is_map(field))
    if spot is None:
        return
    old = _text(*spot, random)
    texts = [each for each in spots(message) if each[1].type == Field.TYPE_STRING]
    places = texts if random.random() < 0.7 else [spot]
    unit = random.choice((old, f"{old}/", "/", "a/", "x", "_1/", "é", "::", "*"))
    room = MOST // (sum(_replace(*place, old, old) for place in places) * max(len(unit), 1) + 1)
    new = unit * min(random.choice((2, 100, 3000, 50_000, 200_000)), room) + old
    for place in places:
        _replace(*place, old, new)


def _text(parent: Any, field: Field, random: Random) -> str:
    value = getattr(parent, field.name)
    return random.choice(list(value)) if is_repeated(field) else value


def _replace(parent: Any, field: Field, old: str, new: str) -> int:
    """A name, and a name with an output behind it; how often it was there."""

    def other(text: str) -> str:
        return new + text[len(old) :] if text == old or text.startswith(f"{old}:") else text

    value = getattr(parent, field.name)
    texts = list(value) if is_repeated(field) else [value]
    if is_repeated(field):
        value[:] = map(other, texts)
    else:
        setattr(parent, field.name, other(value))
    return sum(text == old or text.startswith(f"{old}:") for text in texts)


def untrue(message: Any, random: Random) -> None:
    """A value that is legal and not so."""
    spot = a_spot(message, random, lambda field: field.type != Field.TYPE_MESSAGE)
    if spot is None:
        return
    parent, field = spot
    value = lie(field, random)
    if is_repeated(field):
        values = getattr(parent, field.name)
        values[random.randrange(len(values))] = value
    else:
        setattr(parent, field.name, value)


def lie(field: Field, random: Random) -> Any:
    """A value that a field may have, and seldom has."""
    if field.cpp_type in (Field.CPPTYPE_DOUBLE, Field.CPPTYPE_FLOAT):
        return random.choice(REAL[:4] if field.cpp_type == Field.CPPTYPE_FLOAT else REAL)
    if field.type in (Field.TYPE_STRING, Field.TYPE_BYTES):
        text = random.choice([*ODD, "9" * 5000, "x:y:" + "9" * 30, "a" * 300])
        return text if field.type == Field.TYPE_STRING else text.encode("utf-8", "surrogatepass")
    if field.cpp_type == Field.CPPTYPE_BOOL:
        return random.random() < 0.5
    unsigned = field.cpp_type in (Field.CPPTYPE_UINT32, Field.CPPTYPE_UINT64)
    bits = 64 if field.cpp_type in (Field.CPPTYPE_INT64, Field.CPPTYPE_UINT64) else 32
    least, most = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return random.choice([number for number in WHOLE if least <= number <= most])


def exchanged(message: Any, random: Random) -> None:
    """A name in the place of another: what is fed by itself, calls itself, names what is not there."""
    one, other = (a_spot(message, random, lambda field: field.type == Field.TYPE_STRING) for _ in range(2))
    if one and other and not is_map(one[1]) and not is_map(other[1]):
        _replace(*one, _text(*one, random), _text(*other, random))


def dropped(message: Any, random: Random) -> None:
    """A field that is gone."""
    spot = a_spot(message, random, lambda field: True)
    if spot is not None:
        spot[0].ClearField(spot[1].name)


CHANGES: list[Callable[[Any, Random], None]] = [
    *(multiplied, multiplied, lengthened, lengthened, untrue, untrue, exchanged, dropped)
]


def _times(random: Random) -> int:
    return random.choice((1, 1, 2, 3, 6, 20))


def grown_graph(random: Random) -> tuple[str, bytes]:
    return "pb", changed(graph(random), random, _times(random)).SerializeToString()


def grown_saved_model(random: Random) -> tuple[str, bytes]:
    saved = changed(saved_model(random), random, _times(random))
    if saved.meta_graphs and random.random() < 0.3:
        return "meta", MetaGraphDef.SerializeToString(saved.meta_graphs[0])
    return "pb", saved.SerializeToString()


def grown_events(random: Random) -> tuple[str, bytes]:
    """An event file, its summaries and the messages in them."""
    event = Event(wall_time=1.0, step=random.choice((0, 7, 2**40)))
    payload = changed(random.choice((graph, run_metadata))(random), random, _times(random)).SerializeToString()
    way = random.randrange(3)
    if way == 0:
        event.graph_def = payload
    elif way == 1:
        event.tagged_run_metadata.tag, event.tagged_run_metadata.run_metadata = "step1", payload
    else:
        value = event.summary.value.add(tag=random.choice(("keras", "batch_2", *ODD)))
        value.metadata.plugin_data.plugin_name = random.choice(
            ("graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model")
        )
        value.metadata.plugin_data.content = b"1"
        value.tensor.dtype = 7
        value.tensor.string_val.append(payload)
    again = random.choice((1, 1, 3, 40))
    changed(event, random, random.choice((0, 0, 1, 3)))
    good_one = Event(graph_def=graph(random).SerializeToString()).SerializeToString()
    payloads = [good_one, *[event.SerializeToString()] * (again if event.ByteSize() < 30_000 else 1)]
    data = framed(Event(file_version="brain.Event:2").SerializeToString()) + b"".join(map(framed, payloads))
    return "tfevents", data[: -random.choice((1, 5, 13))] if random.random() < 0.2 else data


FAMILIES = {family.__name__: family for family in (grown_graph, grown_saved_model, grown_events)}
