"""Runs of empty messages, texts and numbers, in every list of every message there is, plain and compressed."""

from __future__ import annotations

import gzip
from functools import cache
from random import Random
from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor import FieldDescriptor as Field

from graphviz_tb.proto import Event, GraphDef, RunMetadata, SavedModel, XSpace
from tests.fuzz.families.grown import good, is_repeated
from tests.fuzz.families.records import framed
from tests.fuzz.families.saved import field

PLAIN, PACKED = (1000, 30_000, 300_000), (100_000, 1_000_000, 3_500_000)  # elements
OBJECTS = ((1,), (1, 1), (1, 3), (2,), (2, 2), (2, 2, 2))  # fields of a SavedObjectGraph, which has no message here
Way = tuple[int, ...]  # the numbers of the fields that lead to a list


@cache
def lists(root: Any) -> tuple[Way, ...]:
    """The ways to all lists of a message, each kind of message entered once or twice."""
    found: list[Way] = []
    stack: list[tuple[Descriptor, Way, tuple[str, ...]]] = [(root.DESCRIPTOR, (), ())]
    while stack:
        message, way, around = stack.pop()
        if message.name == "SavedObjectGraph":
            found.extend((*way, *rest) for rest in OBJECTS)
        for each in message.fields:
            if is_repeated(each):
                found.append((*way, each.number))
            if each.type == Field.TYPE_MESSAGE and each.message_type.full_name not in around:
                stack.append((each.message_type, (*way, each.number), (*around, each.message_type.full_name)))
    return tuple(sorted(found))


def run(way: Way, count: int, unit: bytes) -> bytes:
    """A message with so many of one element at the end of a way."""
    data = field(way[-1], unit) * count
    for number in reversed(way[:-1]):
        data = field(number, data)
    return data


def emptied(root: Any, random: Random) -> tuple[bytes, bool]:
    """A run in some list of a message, in bytes; and whether they are so many that they must be compressed."""
    packed = random.random() < 0.5
    way = random.choice([way for way in lists(root) if len(way) <= random.choice((2, 4, 9))])
    return run(way, random.choice(PACKED if packed else PLAIN), random.choice((b"", b"", b"", b"a"))), packed


def empties(random: Random) -> tuple[str, bytes]:
    """A good file with such a run."""
    root, before = random.choice(
        (
            (GraphDef, random.choice(good(GraphDef, "real/*.pb"))),
            (SavedModel, random.choice((b"", *good(SavedModel, "**/saved_model.pb")))),
            (Event, b""),
        )
    )
    data, packed = emptied(root, random)
    suffix = "pb"
    if root is Event:
        started = framed(Event(file_version="brain.Event:2").SerializeToString())
        started += framed(Event(graph_def=random.choice(good(GraphDef, "real/*.pb"))).SerializeToString())
        suffix, data = "tfevents", started + framed(data)
    data = before + data
    return (f"{suffix}.gz", gzip.compress(data, 6, mtime=0)) if packed else (suffix, data)


def traces(random: Random) -> tuple[dict[str, bytes], list[str]]:
    """A good graph with a trace that has such a run."""
    root = random.choice((RunMetadata, XSpace))
    data, packed = emptied(root, random)
    name = "run.pb.gz" if packed else "run.pb"
    data = (
        random.choice(
            (b"", random.choice(good(RunMetadata, "run_metadata/**/*step*.pb")) if root is RunMetadata else b"")
        )
        + data
    )
    words = random.choice((["info"], ["info", "--json"], ["render", "-o", "out/a.svg", "--color-by", "memory"]))
    graph = random.choice(good(GraphDef, "run_metadata/*/graph.pb"))
    files = {"graph.pb": graph, name: gzip.compress(data, 6, mtime=0) if packed else data}
    return files, [*words, "graph.pb", "--run-metadata", name]


FAMILIES = {"empties": empties}
SETS = {"empty_traces": traces}
