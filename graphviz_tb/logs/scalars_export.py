"""Export scalars in full, as CSV or JSON, one chunk at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from graphviz_tb.model.formatting import json_integer
from graphviz_tb.model.logs import Series

CSV_HEADER = ("run", "tag", "step", "wall_time", "value", "superseded")
POINTS_PER_CHUNK = 5_000  # points per chunk
NON_FINITE_NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def scalars_as_csv(chosen: Iterable[Series]) -> Iterator[str]:
    """Yield RFC 4180 text: a header, then one line per point in the order of writing.

    >>> [part.strip() for part in scalars_as_csv(())]
    ['run,tag,step,wall_time,value,superseded']
    """
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\r\n")
    write.writerow(CSV_HEADER)
    for series in chosen:
        for start in range(0, len(series), POINTS_PER_CHUNK):
            write.writerows((series.run, series.tag, *row) for row in zip(*_chunk_columns(series, start), strict=True))
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def _chunk_columns(series: Series, start: int) -> list[list[Any]]:
    """Return steps, wall times, values and superseded marks of one chunk of points."""
    part = slice(start, start + POINTS_PER_CHUNK)
    walls, values = (list(map(exact_number_text, column[part].tolist())) for column in (series.wall, series.value))
    return [series.step[part].tolist(), walls, values, list(map(int, series.superseded[part].tolist()))]


def exact_number_text(number: float) -> str:
    """Return a number as the shortest text that reads back as the same number.

    >>> exact_number_text(0.1), exact_number_text(float("-inf"))
    ('0.1', '-Infinity')
    """
    text = repr(float(number))
    return NON_FINITE_NAMES.get(text, text)


def scalars_as_json(chosen: Iterable[Series]) -> Iterator[str]:
    """Yield the JSON document, one series at a time.

    >>> "".join(scalars_as_json(()))
    '{"format":"tbgraph-scalars","version":1,"series":[]}'
    """
    yield '{"format":"tbgraph-scalars","version":1,"series":['
    for number, series in enumerate(chosen):
        document = {
            "run": series.run,
            "tag": series.tag,
            "step": list(map(json_integer, series.step.tolist())),
            "wall_time": list(map(json_number, series.wall.tolist())),
            "value": list(map(json_number, series.value.tolist())),
            "superseded": list(map(int, series.superseded.tolist())),
        }
        yield ("," if number else "") + json.dumps(document, separators=(",", ":"))
    yield "]}"


def json_number(number: float) -> float | str:
    """Return a number as a JSON value: text if it is not finite."""
    return number if number - number == 0 else exact_number_text(number)
