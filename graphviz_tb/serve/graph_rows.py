"""The rows of a graph as its page has them: search by text, trace along edges, describe one by one.

The whole graph is searched, whatever groups are open. A page without a server does so too (`find.js`, `facts.js`).
"""

from __future__ import annotations

import asyncio
import gzip
import json
import math
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import isfinite
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.caches import BoundedCache
from graphviz_tb.chart.measures import MEASURES
from graphviz_tb.color.hues import plain_fill
from graphviz_tb.color.logged import LoggedColouring
from graphviz_tb.limits import CARDS_PER_BLOCK
from graphviz_tb.logs.training import LoggedSelection, TrainingLog, select_logged
from graphviz_tb.model.columns import Floats, Ints, Longs, group_by_key
from graphviz_tb.model.formatting import json_integer, replace_non_finite
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import OP_ROW, SCOPE_ROW, Hierarchy, RowKind, sort_children_by_parent
from graphviz_tb.model.joins import LoggedValues, RowValue, TagJoin
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import COLOR_BY_LOGGED, PictureOptions
from graphviz_tb.page.blocks import INT_DTYPE, TextTable, pack_columns
from graphviz_tb.page.colours import row_looks, theme_fill_values
from graphviz_tb.page.rows import ROW_COLUMNS
from graphviz_tb.search import Query, match_rows
from graphviz_tb.serve.answers import RefusedRequest
from graphviz_tb.serve.jobs import CompressedBlock, Job, NotLoaded, ServedPage

EDGE_COLUMNS = ("source", "target", "key", "slot", "flags", "tensor")
CONTROL_FLAG, REFERENCE_FLAG = 1, 2
MAX_CARD_EDGES = 1_000  # edges of a row
MEASURED_SCHEMES = ("compute-time", "memory")
# The colouring with the values of each quantity.
QUANTITY_SCHEMES = {"parameters": "parameters", "flops": "flops", "activation_bytes": "activations",
             "memory": "memory", "time": "compute-time"}  # fmt: skip
MAX_UNPACKED_BLOCKS = 32  # unpacked blocks


class GraphRows:
    """The rows of one page."""

    def __init__(self, page: ServedPage) -> None:
        self.page = page
        self.words: list[str] = unpack_block(page.blocks["words"])
        numbers = unpack_block(page.blocks["rows"]).reshape(len(ROW_COLUMNS), -1)
        self.column: dict[str, NDArray[np.int32]] = dict(zip(ROW_COLUMNS, numbers, strict=True))
        self.labels = {row: self.words[word] for row, word in page.head["labels"]}

    def __len__(self) -> int:
        return len(self.column["kind"])

    # contents, as in `RowTree`

    @property
    def kind(self) -> Ints:
        """Return the kind of each row."""
        return self.column["kind"]

    @property
    def parent(self) -> Ints:
        """Return the group of each row."""
        return self.column["parent"]

    @cached_property
    def calls(self) -> dict[int, tuple[tuple[str, int], ...]]:
        """Return the functions to which rows open."""
        return {row: tuple((attr, body) for attr, body in bodies) for row, bodies in self.page.head["calls"]}

    @cached_property
    def _children(self) -> tuple[Ints, Longs]:
        return sort_children_by_parent(self.parent, self.column["mark"])

    def children(self, row: int) -> Ints:
        """Return the rows directly below a row, without marks."""
        order, start = self._children
        below: Ints = order[start[row] : start[row + 1]]
        return below

    # names

    def name(self, row: int) -> str:
        """Return the full name of a row: a shortened name continues those of the scopes around it."""
        parts, kind, parent, name = [], self.column["kind"], self.column["parent"], self.column["name"]
        while True:
            word = int(name[row])
            parts.append(self.words[word >> 1])
            if not word & 1:
                return "/".join(reversed(parts))
            row = int(parent[row])
            while kind[row] != SCOPE_ROW:
                row = int(parent[row])

    def row_entry(self, row: int) -> dict[str, Any]:
        """Return a row in a few words."""
        op, device = (self.words[int(self.column[word][row])] for word in ("op", "device"))
        kind = RowKind(int(self.column["kind"][row])).name.lower()
        return {"row": row, "name": self.name(row), "kind": kind, "op": op, "device": device}

    # find

    def find_rows(self, query: Query) -> list[int]:
        """Return the rows that match a query. Raises `MissingFacts` for an unknown quantity."""
        found: list[int] = np.flatnonzero(match_rows(self, query)).tolist()
        return found

    def interned_texts(self, field: str) -> tuple[Longs, Sequence[str]]:
        """Return the number of the op type or device of each row, and the texts."""
        numbers = self.column[field].astype(np.int64)
        used = np.unique(numbers)
        return np.searchsorted(used, numbers), [self.words[word] if word > 0 else "" for word in used.tolist()]

    def field_texts(self, field: str) -> Iterator[tuple[int, str]]:
        """Yield rows with each text that they have in a field."""
        if field == "name":
            yield from ((row, self.name(row)) for row in range(1, len(self)))
            yield from self.labels.items()
        elif field == "attr":
            yield from self._each_attribute()
        else:
            yield from self._each_tensor(field)

    def _each_attribute(self) -> Iterator[tuple[int, str]]:
        for block in range(len(self.row_of_node) // CARDS_PER_BLOCK + 1):
            for at, pairs in enumerate(self._attributes(block)):
                row = int(self.row_of_node[block * CARDS_PER_BLOCK + at])
                if row >= 0:
                    yield from ((row, f"{name}={value}") for name, value, *_ in pairs)

    def _each_tensor(self, field: str) -> Iterator[tuple[int, str]]:
        """Yield source rows with the shape or the type of each of their outputs."""
        data = self.edges["flags"] & CONTROL_FLAG == 0
        columns = self.edges["source"][data], self.edges["key"][data], self.edges["tensor"][data]
        for row, _, word in np.unique(np.stack(columns), axis=1).T.tolist():
            shape, _, dtype = self.words[word].rpartition(" ")
            text = shape if field == "shape" else dtype
            if text and text != "unknown rank":
                yield row, text

    def quantity_values(self, quantity: str) -> Floats | None:
        """Return a number for each row, NaN if unknown; None if unknown for all rows."""
        scheme = QUANTITY_SCHEMES.get(quantity, "")
        block = self.page.blocks.get(f"colour/{scheme}")
        told = unpack_block(block) if block is not None else {}
        if "values" not in told or told.get("signed"):
            return None
        numbers = np.array([math.nan if value is None else value for value in told["values"][: len(self)]], float)
        return np.where(numbers < 0, math.nan if scheme in MEASURED_SCHEMES else 0, numbers)

    @cached_property
    def row_of_node(self) -> NDArray[np.int64]:
        """Return the row of each node, -1 for none."""
        node = self.column["node"]
        rows = np.flatnonzero(node >= 0)
        made = np.full(int(np.max(node, initial=-1)) + 1, -1, np.int64)
        made[node[rows]] = rows
        return made

    def _attributes(self, block: int) -> list[Any]:
        """Return the attributes of a block of nodes; [] if the page had no room for them."""
        found = self.page.blocks.get(f"attributes/{block}")
        return [] if found is None else unpack_block(found)

    # edges

    @cached_property
    def edges(self) -> dict[str, NDArray[np.int32]]:
        """Return every edge of the file, by column."""
        numbers = unpack_block(self.page.blocks["edges"]).reshape(len(EDGE_COLUMNS), -1)
        return dict(zip(EDGE_COLUMNS, numbers, strict=True))

    @cached_property
    def edges_by_row(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Edge numbers sorted by the row at either end, and the start of each row in them."""
        return {end: group_by_key(self.edges[end], len(self)) for end in ("source", "target")}

    def trace_rows(self, row: int, way: str, hops: int | None) -> list[int]:
        """Return all rows within `hops` steps that lead to a row or into it ("in"), or that it leads to ("out")."""
        near, far = ("target", "source") if way == "in" else ("source", "target")
        order, start = self.edges_by_row[near]
        other, begin = self.edges[far][order].tolist(), start.tolist()
        front = list(range(row, int(self.column["end"][row])))
        found = set(front)
        while front and (hops is None or hops > 0):
            hops = None if hops is None else hops - 1
            following = []
            for one in front:
                for reached in other[begin[one] : begin[one + 1]]:
                    if reached not in found:
                        found.add(reached)
                        following.append(reached)
            front = following
        return sorted(found)

    def row_card(self, row: int) -> dict[str, Any]:
        """Return the contents of a row's card: attributes, inputs, outputs; of a group the edges across its border."""
        node, end = int(self.column["node"][row]), int(self.column["end"][row])
        block, at = divmod(node, CARDS_PER_BLOCK)
        attributes = self._attributes(block)[at : at + 1] if node >= 0 else []
        return {
            **self.row_entry(row),
            "ops": int(self.column["ops"][row]),
            "inside": end - row - 1,
            "attributes": attributes[0] if attributes else [],
            "types": self.op_types_below(row, end) if self.column["kind"][row] != OP_ROW else {},
            "inputs": self.crossing_edges(row, end, "target", "source"),
            "outputs": self.crossing_edges(row, end, "source", "target"),
        }

    def op_types_below(self, row: int, end: int) -> dict[str, int]:
        """Count the ops of each type in a group."""
        part = slice(row, end)
        counted = (self.column["kind"][part] == OP_ROW) & (self.column["mark"][part] == 0)
        types, counts = np.unique(self.column["op"][part][counted], return_counts=True)
        named = zip((self.words[word] for word in types.tolist()), counts.tolist(), strict=True)
        return dict(sorted(named, key=lambda pair: (-pair[1], pair[0])))

    def crossing_edges(self, row: int, end: int, near: str, far: str) -> dict[str, Any]:
        """Return the edges between the rows of a group and rows outside."""
        order, start = self.edges_by_row[near]
        numbers = order[start[row] : start[end]]
        other = self.edges[far][numbers]
        numbers = numbers[(other < row) | (other >= end)]
        return {
            "count": len(numbers),
            "edges": [self.edge_entry(number, near, far) for number in numbers[:MAX_CARD_EDGES].tolist()],
        }

    def edge_entry(self, number: int, near: str, far: str) -> dict[str, Any]:
        values = {name: int(column[number]) for name, column in self.edges.items()}
        other = values[far]
        return {
            "row": other,
            "name": self.name(other),
            "inside": values[near],
            "output": self.words[values["key"]],
            "input": values["slot"],
            "control": bool(values["flags"] & CONTROL_FLAG),
            "reference": bool(values["flags"] & REFERENCE_FLAG),
            "tensor": self.words[values["tensor"]],
        }


@lru_cache(MAX_UNPACKED_BLOCKS)
def unpack_block(block: CompressedBlock) -> Any:
    """Return the numbers or the JSON value of a block."""
    data = gzip.decompress(block.data)
    return np.frombuffer(data, INT_DTYPE) if block.kind == "ints" else json.loads(data)


def page_level_numbers(page: ServedPage, key: str) -> NDArray[np.int32] | None:
    """Return the level of one group as numbers; None if it is not in the page.

    For a copy in a stack, the numbers of the usual member: block `copies` maps its rows to those of the copy.
    """
    place = _level_place(page, key)
    if place is None:
        return None
    block, start, length = place
    numbers: NDArray[np.int32] = unpack_block(page.blocks[f"levels/{block}"])[start : start + length]
    return numbers


def _level_place(page: ServedPage, key: str) -> list[int] | None:
    """Return the block, the start and the length of a level; None if it is not in the page."""
    place: list[int] | None = unpack_block(page.blocks["levels"]).get(key)
    if place is None and key.isdigit() and (usual := _usual_member_row(page, int(key))) is not None:
        return _level_place(page, str(usual))
    return place


def _usual_member_row(page: ServedPage, row: int) -> int | None:
    """Return the row of the usual member for a row of a copy; None outside copies."""
    numbers, ends = unpack_block(page.blocks["copies"]), unpack_block(page.blocks["rows"])[2 * page.head["rows"] :]
    at = 0
    while at < len(numbers):
        member, usual, marks = numbers[at : at + 3].tolist()
        if member <= row < ends[member]:
            return int(row - member + usual)
        at += 3 + 2 * marks
    return None


# A served graph coloured by logged values of a step, and the rows that log tags are joined with.

MAX_SLIDER_STEPS = 1_000  # steps that a slider stops at
MAX_KEPT_COLOURINGS = 8  # colourings with values of all steps in the cache
VALUE_ESTIMATED, VALUE_BOUND, VALUE_STALE, VALUE_NONFINITE, VALUE_SILENT = 1, 2, 4, 8, 16  # flags of a row's value
JoinInProcess = Callable[[Sequence[str]], Job]


@dataclass(frozen=True, slots=True)
class LogColouringRequest:
    """A requested colouring: a pattern of tags and a measure (None: the defaults), a run and one to compare with, by
    name."""

    pattern: str | None
    measure: str | None
    run: str | None
    against: str | None


class LogColouringCache:
    """Recently requested colourings, measured at all steps: a slider repeats its requests."""

    def __init__(self) -> None:
        self._kept: BoundedCache[LoggedSelection] = BoundedCache(MAX_KEPT_COLOURINGS)

    def measured_colouring(
        self, training: TrainingLog, of: Hashable, asked: LogColouringRequest, run: str | None
    ) -> LoggedSelection:
        """Return the values of all steps; `run` is the run of the graph, `of` everything else that they depend on.

        Raises `RequestError` if nothing fits.
        """
        kept = self._kept.get((of, asked), None)
        if kept is not None:
            return kept
        options = PictureOptions(
            color_by=COLOR_BY_LOGGED,
            logged=asked.pattern,
            measure=asked.measure,
            logged_run=asked.run,
            against_run=asked.against,
        )
        return self._kept.store((of, asked), None, select_logged(training, options, run))


def logged_colour_columns(rows: GraphRows, shown: LoggedSelection, at: int | None) -> bytes:
    """Return the columns of one step (None: the last): rows with or without a value, and the looks of their boxes.

    The head has fills, texts, the legend, the scale and all steps.
    """
    stops = shown.logged_steps(MAX_SLIDER_STEPS)
    values = shown.values_at(stops[-1] if at is None else at)
    order = sorted(values.rows.keys() | values.silent)
    table = TextTable()
    # These colours use the rows of a hierarchy only.
    painters = [
        LoggedColouring(cast("Hierarchy", rows), theme, COLOR_BY_LOGGED, values.heading, values)
        for theme in THEMES.values()
    ]
    told, (fill, second, account, start, entries) = row_looks(painters, table, order)
    usual = [theme_fill_values(tuple(plain_fill(theme, op) for theme in THEMES.values())) for op in (False, True)]
    head = {
        **told,
        "plain": usual,
        "texts": table.numbered_texts(),
        "at": json_integer(values.at),
        "steps": [json_integer(step) for step in stops],
        "measure": shown.measure,
        "measures": list(_applicable_measures(shown)),
        "low": replace_non_finite(values.low),
        "high": replace_non_finite(values.high),
    }
    looked = {"fill": fill, "second": second, "account": account, "start": start, "entries": entries}
    return pack_columns(len(order), [*_value_columns(order, values), *looked.items()], head)


def _value_columns(order: list[int], values: LoggedValues) -> list[tuple[str, NDArray[Any]]]:
    """Return rows, their values, their flags, and the number of layers of each."""
    found = [values.rows.get(row) for row in order]
    return [
        ("row", np.array(order, np.int64)),
        ("value", np.array([np.nan if one is None else one.value for one in found], np.float64)),
        ("flags", np.array([_value_flags(one, values) for one in found], np.uint8)),
        ("n", np.array([0 if one is None else one.layers for one in found], np.int64)),
    ]


def _value_flags(value: RowValue | None, values: LoggedValues) -> int:
    """Return the flags of a value."""
    if value is None:
        return VALUE_SILENT
    estimated = 0 if value.exact else VALUE_ESTIMATED if values.bound == "≈" else VALUE_BOUND
    return estimated | VALUE_STALE * (value.step < values.at) | VALUE_NONFINITE * (not isfinite(value.value))


def _applicable_measures(shown: LoggedSelection) -> Iterator[str]:
    """Yield the measures that apply to the tags shown."""
    tags = {tag.join.tag for tag in (*shown.tags, *shown.other)}
    kinds = {series.kind for series in shown.training.logged.series if series.tag in tags}
    for word, measure in MEASURES.items():
        if (measure.of_histograms and "histogram" in kinds) or (measure.of_scalars and "scalar" in kinds):
            yield word


class TagJoins:
    """The joins of tags with the graph of one page. `join` joins more tags in a process that reads the graph again."""

    def __init__(self, page: ServedPage, join: JoinInProcess) -> None:
        self.page, self._join = page, join
        self._known = {each.tag: each for each in page.joins}
        self._task: asyncio.Task[None] | None = None

    async def joins_of_tags(self, tags: Collection[str]) -> Mapping[str, TagJoin]:
        """Return the join of each tag. Raises `RefusedRequest` if the graph can no longer be read."""
        while new := [tag for tag in tags if tag not in self._known]:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self.join_more_tags(new))
                self._task.add_done_callback(lambda done: done.cancelled() or done.exception())  # whoever still waits
            try:
                await asyncio.shield(self._task)  # other requests wait for it too
            except NotLoaded as error:
                raise RefusedRequest(404, error.error, error.hint) from None
        return self._known

    async def join_more_tags(self, tags: Sequence[str]) -> None:
        joins: Sequence[TagJoin] = await self._join(tags).result(lambda *told: None)
        self._known = {**self._known, **{each.tag: each for each in joins}}
