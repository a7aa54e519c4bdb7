"""Read the programs of `torch.export.save`: a zip archive, of which only the JSON is read. No pickle is opened.

from 2.8    NAME/archive_format "pt2", NAME/models/PROGRAM.json, NAME/data/weights/PROGRAM_weights_config.json
up to 2.7   serialized_exported_program.json, version

Each program is one graph of the source.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from graphviz_tb.errors import UnknownFormat
from graphviz_tb.formats.contents import GraphContent, SourceContents, SourceItem
from graphviz_tb.formats.detect import EXPORT_HINT
from graphviz_tb.formats.torch_nodes import parse_program
from graphviz_tb.formats.torch_program import ProgramReader
from graphviz_tb.limits import MAX_CONFIG_BYTES, MAX_GRAPH_BYTES
from graphviz_tb.model.sources import SourceEntry
from graphviz_tb.sources.bounds import check_json_memory, check_listed_nodes
from graphviz_tb.sources.streams import OpenedSource
from graphviz_tb.sources.text import JsonWalk, ParseStep, parse_json
from graphviz_tb.sources.zip_members import ARCHIVE_ERRORS, archive_error, member_blocks

OLD_PROGRAM_NAME = "serialized_exported_program.json"
PROGRAM_NAME = re.compile(r"(?:(?P<root>.*)/)?models/(?P<name>[^/]+)\.json", re.DOTALL)
COMPILED_NAME = re.compile(r"(?:.*/)?data/aotinductor/.*", re.DOTALL)
FORMAT_NAME = "PyTorch export"
NEWEST_SCHEMA = 8  # the major version of the newest layout that this reader knows


def is_export_archive(names: Sequence[str]) -> bool:
    """Return whether the members of a zip archive are those of an exported program.

    >>> is_export_archive(["m/archive_format", "m/models/model.json"]), is_export_archive(["config.json"])
    (True, False)
    """
    ends = {name.rpartition("/")[2] for name in names}
    return OLD_PROGRAM_NAME in ends or (
        "archive_format" in ends and bool(_programs(names) or any(COMPILED_NAME.fullmatch(name) for name in names))
    )


def read_export_archive(opened: OpenedSource, archive: zipfile.ZipFile) -> SourceContents:
    """Return the programs of an archive. Raises UnknownFormat if it contains only compiled programs."""
    names = archive.namelist()
    programs = _programs(names)
    if not programs:
        raise UnknownFormat(
            f"{opened.name} is a compiled program (AOTInductor), which holds no graph", hint=EXPORT_HINT
        )
    several = len(programs) > 1
    items = []
    for name, member in programs.items():
        size = archive.getinfo(member).file_size
        entry = SourceEntry("op", tag=name if several else None, bytes=size, format=FORMAT_NAME)
        items.append(SourceItem(entry, partial(_load_program, opened, archive, member, name, name if several else "")))
    return SourceContents(tuple(items), what=opened.name)


def _programs(names: Sequence[str]) -> dict[str, str]:
    listed = [name for name in names if name.endswith(".json")]  # most members are weights
    found = {match["name"]: name for name in listed if (match := PROGRAM_NAME.fullmatch(name))}
    old = next((name for name in listed if name.rpartition("/")[2] == OLD_PROGRAM_NAME), None)
    return found or ({"model": old} if old is not None else {})


def _load_program(opened: OpenedSource, archive: zipfile.ZipFile, member: str, name: str, title: str) -> GraphContent:
    """Read one program. Raises `ReadError`."""
    parsed = _member_json(opened, archive, member, parse_program)
    nodes = _main_nodes(parsed)
    if opened.bounded and isinstance(nodes, list):
        check_listed_nodes(len(nodes), archive.getinfo(member).file_size, opened.name)
    root = member.removesuffix(f"models/{name}.json")
    stored = {}
    for kind in ("weights", "constants"):
        config = f"{root}data/{kind}/{name}_{kind}_config.json"
        if config in archive.NameToInfo:
            held = _member_json(opened, archive, config)
            listed = held.get("config", {}) if isinstance(held, dict) else {}
            stored[kind] = _with_numbers(listed, archive, root) if kind == "weights" else listed
    constants = partial(_stored_bytes, opened, archive, f"{root}data/constants/")
    return _program_content(parsed, opened.name, title or Path(opened.name).stem, stored, constants)


def _with_numbers(listed: Any, archive: zipfile.ZipFile, root: str) -> Any:
    """Return the list of weights without weights that have no values: those of the device `meta`, and fake tensors. All
    of these share one empty file, tied or not; that of fake tensors has weights of different sizes."""
    if not isinstance(listed, dict) or all(info.file_size for info in archive.NameToInfo.values()):
        return listed
    files: dict[str, set[str]] = {}  # kinds of the weights in each empty file
    places: dict[str, str] = {}
    for name, held in listed.items():
        path = f"{root}data/weights/{held.get('path_name')}" if isinstance(held, dict) else ""
        info = archive.NameToInfo.get(path)
        if info is not None and not info.file_size:
            meta = held.get("tensor_meta")
            sizes, device = (meta.get("sizes"), meta.get("device")) if isinstance(meta, dict) else (None, None)
            lacking = isinstance(device, dict) and device.get("type") == "meta"
            places[name] = path
            files.setdefault(path, set()).update((repr(sizes), "meta") if lacking else (repr(sizes),))
    empty = {path for path, kinds in files.items() if len(kinds) > 1}
    return {name: held for name, held in listed.items() if places.get(name) not in empty}


def _main_nodes(parsed: Any) -> Any:
    for key in ("graph_module", "graph", "nodes"):
        parsed = parsed.get(key) if isinstance(parsed, dict) else None
    return parsed


def _program_content(
    parsed: Any,
    name: str,
    title: str,
    stored: Mapping[str, Any],
    constants: Callable[[str, int], bytes | None] = lambda path, most: None,
) -> GraphContent:
    """Return the graph of the JSON of a program; `stored` are the lists of its weights and constants. Raises
    UnknownFormat."""
    module = parsed.get("graph_module") if isinstance(parsed, dict) else None
    if not isinstance(module, dict) or not isinstance(module.get("graph"), dict):
        raise UnknownFormat(f"{name} holds no program of torch.export", hint=EXPORT_HINT)
    version = parsed.get("schema_version")
    major = version.get("major") if isinstance(version, dict) else None
    if isinstance(major, int) and major > NEWEST_SCHEMA:
        account = (
            f"{name} is a program of a newer torch.export (its layout is {major}, this release reads {NEWEST_SCHEMA})"
        )
        raise UnknownFormat(
            account, hint="update tbgraph (pip install --upgrade tbgraph), or export with an older torch"
        )
    return ProgramReader(parsed, title, stored, constants).content()


def _member_json(
    opened: OpenedSource, archive: zipfile.ZipFile, member: str, step: ParseStep = JsonWalk.parse_value
) -> Any:
    """Parse a member of the archive. Raises UnknownFormat, MalformedText, TooLarge."""
    try:
        most = MAX_CONFIG_BYTES if opened.bounded else MAX_GRAPH_BYTES
        data = b"".join(member_blocks(archive, member, opened, most))
    except ARCHIVE_ERRORS as error:
        raise archive_error(opened.name, error) from None
    if opened.bounded:
        check_json_memory(data, archive.getinfo(member).compress_size, f"{opened.name}: {member}")
    return parse_json(data, f"{opened.name}: {member}", step)


def _stored_bytes(opened: OpenedSource, archive: zipfile.ZipFile, folder: str, path: str, most: int) -> bytes | None:
    """Return the bytes of a small stored tensor; None for a large or a missing one."""
    info = archive.NameToInfo.get(folder + path)
    if info is None or info.file_size > most:
        return None
    try:
        return b"".join(member_blocks(archive, info.filename, opened, most))
    except ARCHIVE_ERRORS:
        return None
