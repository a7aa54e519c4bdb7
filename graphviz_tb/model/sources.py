"""A source and its contents: the graph that was read, its origin, files and checkpoints."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.tensors import ELEMENT_SIZES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphviz_tb.proto import GraphDef, NodeDef, RunMetadata


URL_SEPARATOR = "://"  # in the name of a remote source


def regular_file_stats(source: Any) -> tuple[os.stat_result, ...]:
    """Return the stat results of the regular files among some sources, to recognise these files under other names."""
    found = []
    for part in source:
        if isinstance(part, str | os.PathLike) and os.fspath(part) not in ("-", ""):
            with suppress(OSError, ValueError):
                found.append(Path(part).stat())
    return tuple(status for status in found if stat.S_ISREG(status.st_mode))


def absolute_sources(source: Any) -> Any:
    """Make the path of a source (or of each in a tuple) absolute, since a program may change the current folder. "-"
    (standard input) and sources that are not paths are returned unchanged.

    >>> absolute_sources("-"), absolute_sources(b"node {}"), absolute_sources((None,))
    ('-', b'node {}', (None,))
    """
    if isinstance(source, tuple):
        return tuple(map(absolute_sources, source))
    if isinstance(source, str | os.PathLike) and os.fspath(source) not in ("-", ""):
        with suppress(OSError, TypeError):  # the current folder is gone; a path may be bytes
            return Path.cwd() / source
    return source


# Contents of a checkpoint: names, types and shapes of its tensors. Their values stay on disk.


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of a checkpoint: `bytes` is the size of its values on disk, `slices` the number of its partitions."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    slices: int = 0

    @property
    def element_count(self) -> int:
        """The number of elements; 0 for types that hold no numbers, such as strings."""
        return prod(self.shape) if ELEMENT_SIZES.get(self.dtype) else 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The tensors of a checkpoint, sorted by name; `shards` is the number of files that hold their values."""

    name: str
    shards: int
    tensors: tuple[StoredTensor, ...]

    @property
    def element_count(self) -> int:
        """The number of elements of all tensors."""
        return sum(tensor.element_count for tensor in self.tensors)

    @property
    def bytes(self) -> int:
        """The size of all values, in bytes."""
        return sum(tensor.bytes for tensor in self.tensors)


# The result of reading: one graph, its origin, and a list of the source's other contents.

GraphKind = Literal["op", "conceptual"]


class GraphSource(Protocol):
    """A GraphDef, or a substitute that decodes nodes on demand (`formats/packed_graph.py`)."""

    @property
    def node(self) -> Sequence[NodeDef]:
        """The nodes of the main graph."""

    @property
    def library(self) -> Any:
        """The functions."""

    @property
    def versions(self) -> Any:
        """Versions of TensorFlow for which the graph is written."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One input or output of a signature.

    `tensor` is "node:0"; a dimension of -1 is unknown, a shape of None has unknown rank.
    """

    key: str
    tensor: str
    dtype: str
    shape: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature of a saved model: its inputs and outputs."""

    name: str
    method: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One item of a source: a graph, or only the profile of a run (`kind` "profile").

    `variant` marks a second form of a graph that is listed, but read only if its tag is requested; `preferred` a graph
    of a run that is drawn by default.
    """

    kind: Literal["op", "conceptual", "profile"]
    run: str | None = None
    tag: str | None = None
    tag_set: str | None = None
    nodes: int | None = None
    functions: int | None = None
    bytes: int = 0
    step: int | None = None
    profile: bool = False
    variant: bool = False
    preferred: bool = field(default=False, compare=False)
    format: str = ""
    signatures: tuple[Signature, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadedGraph:
    """A graph, as chosen from a source. `run_metadata` decodes a profile when it is looked up.

    `signature` names the signature whose body is the graph (None: the graph is as in the file), `left_out` is the
    number of ops for saving, restoring and initialising that were removed; `layers` maps names of nodes or scopes to
    Keras layers; `described` is the JSON of the layers for a graph of layers, empty for a graph of ops. `run` is the
    run of a log that the graph is from, `graph_runs` are all of its runs with graphs; `format` names the form of the
    file.
    """

    graph: GraphSource
    kind: GraphKind
    label: str
    run_metadata: Mapping[str, RunMetadata] = field(default_factory=lambda: MappingProxyType({}))
    signatures: tuple[Signature, ...] = ()
    notices: tuple[Notice, ...] = ()
    signature: str | None = None
    left_out: int = 0
    layers: Mapping[str, Layer] = field(default_factory=lambda: MappingProxyType({}))
    described: bytes = b""
    run: str | None = None
    graph_runs: tuple[str, ...] = ()
    format: str = ""

    @property
    def graph_def(self) -> GraphDef:
        """The whole message; for a large file it is built on request."""
        return as_graph_def(self.graph)


def as_graph_def(graph: GraphSource) -> GraphDef:
    """Return the whole message of a graph; build it for a packed graph."""
    whole: Any = getattr(graph, "whole_message", lambda: graph)
    return whole()  # type: ignore[no-any-return]
