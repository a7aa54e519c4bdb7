"""User facts from a CSV or JSON file, Model Explorer node data, a dict or a data frame, joined to nodes by name."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphviz_tb.errors import (
    MalformedText,
    ReadError,
    RequestError,
    UnknownChoice,
    WrongType,
    nearest_names,
    short_repr,
)
from graphviz_tb.limits import MAX_FACTS_BYTES
from graphviz_tb.model.facts import FactValue, UserFacts
from graphviz_tb.model.notice import Notice
from graphviz_tb.sources.streams import read_small_file

if TYPE_CHECKING:
    from graphviz_tb.api.base_model import BaseModel

NAME_COLUMNS = ("name", "node", "id", "op_name", "node_name")  # of the name column, else the first
FACTS_EXAMPLE = 'a CSV file: name,latency and a line for each node; or JSON: {"conv1/Conv2D": 1.5}'
FactColumns = dict[str, dict[str, FactValue]]  # column name → node name → value


def join_user_facts(source: Any, model: BaseModel, column: str | None = None) -> tuple[UserFacts, tuple[Notice, ...]]:
    """Read facts and join them to the rows of a model. Returns the facts and notices about unknown names.

    `column` colours the graph (default: the first). Raises `ReadError` for a file that is neither CSV nor JSON,
    `UnknownChoice` for a missing column, `RequestError` if no name is in the graph.
    """
    label, table = _read_user_facts(source, lambda name: model.names.find_main_row(name) >= 0)
    if not any(table.values()):
        raise RequestError(f"{label} has no facts", hint=FACTS_EXAMPLE)
    if column is not None and column not in table:
        raise UnknownChoice.among(f"column of {label}", column, table)
    columns: dict[str, dict[int, FactValue]] = {}
    names = dict.fromkeys(name for values in table.values() for name in values)
    rows = {name: row for name in names if (row := model.names.find_main_row(name)) >= 0}
    unknown = [name for name in names if name not in rows]
    if not rows:
        known = model.names.index(0)
        near = nearest_names(unknown[0], known) if unknown else []
        hint = f"nearest: {', '.join(near)}" if near else "tbgraph tree MODEL --ops lists all names"
        raise RequestError(
            f"{label}: none of {len(unknown):,} names is in this graph: {short_repr(unknown[0])}", hint=hint
        )
    for name, values in table.items():
        columns[name] = {rows[node]: value for node, value in values.items() if node in rows}
    colour_column = column or next((name for name, values in columns.items() if values), next(iter(columns)))
    if not unknown:
        return UserFacts(columns, colour_column), ()
    text = f"{label}: {len(unknown):,} of {len(names):,} names are not in this graph: {short_repr(unknown[0])}"
    return UserFacts(columns, colour_column), (Notice("facts", text, unknown[0], strict=False),)


def _read_user_facts(source: Any, is_node: Callable[[str], bool]) -> tuple[str, FactColumns]:
    """Return the label of a source and its columns. `is_node` says whether a name is in the graph."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        text = _read_facts_text(path)
        if text.lstrip().startswith(("{", "[")):
            return path.name, _columns_of_json(path.name, _parse_facts_json(text, path.name))
        header, records = _parse_facts_csv(text, path.name)
        if not any(word.lower() in NAME_COLUMNS for word in header) and (
            any(map(_is_number_text, header)) or is_node(header[0])
        ):
            what = (
                f"this is not a header: {short_repr(header[0])} is a node"
                if is_node(header[0])
                else "a number is not a header"
            )
            raise MalformedText(what, line=1, column=1, name=path.name, hint="begin the file with: name,value")
        return path.name, _columns_of_records("facts", header, records)
    if hasattr(source, "to_dict") and hasattr(source, "index"):  # a pandas DataFrame or Series
        return "facts", _columns_of_data_frame(source)
    if isinstance(source, Mapping | list | tuple):
        return "facts", _columns_of_json("facts", source)
    raise WrongType(f"facts are of type {type(source).__name__}; they take a path, a dict, records or a data frame")


def _read_facts_text(path: Path) -> str:
    """Read a UTF-8 file. Raises `ReadError`."""
    try:
        return read_small_file(path, MAX_FACTS_BYTES, FACTS_EXAMPLE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(f"{path.name} is not text in UTF-8", hint=FACTS_EXAMPLE) from None


def _parse_facts_json(text: str, name: str) -> Any:
    """Parse JSON. Raises `MalformedText`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise MalformedText(error.msg, line=error.lineno, column=error.colno, name=name, hint=FACTS_EXAMPLE) from None
    except (RecursionError, ValueError):
        raise ReadError(
            f"{name}: JSON that is too deep, or has a number that is too long", hint=FACTS_EXAMPLE
        ) from None


def _parse_facts_csv(text: str, name: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Return header and records of CSV separated by commas, semicolons or tabs. Raises `MalformedText` with the
    line."""
    first = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count))
    try:
        header = [word.strip() for word in next(reader, [])]
        if len(header) < 2 or len(set(header)) < len(header):
            what = "two columns of one name" if len(header) > 1 else "a column of names and one of values are needed"
            raise MalformedText(what, line=1, column=1, name=name, hint=FACTS_EXAMPLE)
        records = []
        for values in reader:
            if values and len(values) != len(header):
                what = f"{len(values)} values for {len(header)} columns"
                raise MalformedText(what, line=reader.line_num, column=1, name=name, hint="quote values with commas")
            records += [dict(zip(header, values, strict=True))] if values else []
    except csv.Error as error:
        raise MalformedText(str(error), line=reader.line_num, column=1, name=name, hint=FACTS_EXAMPLE) from None
    return header, records


def _columns_of_records(label: str, header: list[str], records: Iterable[Mapping[str, Any]]) -> FactColumns:
    """Return columns of records, keyed by node name."""
    named = next((word for word in header if word.lower() in NAME_COLUMNS), header[0])
    table: FactColumns = {word: {} for word in header if word != named}
    for record in records:
        for word, values in table.items():
            if (value := _parse_fact_value(label, word, record.get(word))) is not None:
                values[str(record.get(named, ""))] = value
    return table


def _columns_of_json(label: str, values: Any) -> FactColumns:
    """Return the columns of JSON: records, values by name, columns by name, or Model Explorer node data."""
    if isinstance(values, list | tuple):
        if not all(isinstance(record, Mapping) for record in values):
            raise RequestError(f"{label}: a list of facts takes records", hint='[{"name": "conv1", "latency": 1.5}]')
        return _columns_of_records(
            label, list(dict.fromkeys(str(key) for record in values for key in record)) or ["name"], values
        )
    if not isinstance(values, Mapping):
        raise RequestError(f"{label}: {short_repr(values)} is not a table", hint=FACTS_EXAMPLE)
    if _is_node_data(values):
        return _columns_of_node_data(label, values)
    table: FactColumns = {}
    for name, value in values.items():
        for word, cell in (value if isinstance(value, Mapping) else {"value": value}).items():
            if (fact := _parse_fact_value(label, str(word), cell)) is not None:
                table.setdefault(str(word), {})[str(name)] = fact
    return table


def _is_node_data(values: Mapping[Any, Any]) -> bool:
    """Return whether this is Model Explorer node data, of one graph or of several by id."""
    graphs = [values] if isinstance(values.get("results"), Mapping) else list(values.values())
    return bool(graphs) and all(isinstance(one, Mapping) and isinstance(one.get("results"), Mapping) for one in graphs)


def _columns_of_node_data(label: str, values: Mapping[Any, Any]) -> FactColumns:
    """Return one column per name in the node data."""
    table: FactColumns = {}
    for one in [values] if "results" in values else list(values.values()):
        column = table.setdefault(str(one.get("name") or "value"), {})
        for node, result in one["results"].items():
            value = result.get("value") if isinstance(result, Mapping) else result
            if (known := _parse_fact_value(label, str(node), value)) is not None:
                column[str(node)] = known
    return table


def _columns_of_data_frame(frame: Any) -> FactColumns:
    """Return the columns of a data frame or series. Nodes are named by a name column, else by the index."""
    if not hasattr(frame, "columns"):
        return _columns_of_json("facts", {"": {}} | {str(key): value for key, value in frame.to_dict().items()})
    header = [str(word) for word in frame.columns]
    records = [{str(key): value for key, value in record.items()} for record in frame.to_dict("records")]
    if not any(word.lower() in NAME_COLUMNS for word in header):
        records = [{"name": name, **record} for name, record in zip(frame.index.tolist(), records, strict=True)]
        header = ["name", *header]
    return _columns_of_records("facts", header, records)


def _is_number_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parse_fact_value(label: str, where: str, value: Any) -> FactValue | None:
    """Return a number or text, None for an empty value. Raises `RequestError` for anything else."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return value
        return number if math.isfinite(number) or value.strip().lower() in ("nan", "inf", "-inf") else value
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise RequestError(
            f"{label}: {where}: {short_repr(value)} is neither a number nor text", hint=FACTS_EXAMPLE
        ) from None
