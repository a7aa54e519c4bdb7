"""The result of reading: one graph, its origin, and a list of the source's other contents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphviz_tb.proto import GraphDef, NodeDef, RunMetadata

GraphKind = Literal["op", "conceptual"]


class GraphSource(Protocol):
    """A GraphDef, or a substitute that decodes nodes on demand (`read/packed.py`)."""

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

    `variant` marks a second form of a graph that is listed, but read only if its tag is requested.
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
    format: str = ""
    signatures: tuple[Signature, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadedGraph:
    """A graph, as chosen from a source. `run_metadata` decodes a profile when it is looked up.

    `signature` names the signature whose body the graph is (None: the graph is as in the file), `left_out` is the
    number of ops for saving, restoring and initialising that were removed; `layers` maps names of nodes or scopes to
    Keras layers; `described` is the JSON of the layers for a graph of layers, empty for a graph of ops.
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

    @property
    def graph_def(self) -> GraphDef:
        """The whole message; for a large file it is built on request."""
        return as_graph_def(self.graph)


def as_graph_def(graph: GraphSource) -> GraphDef:
    """Return the whole message of a graph; that of a packed graph is built."""
    whole: Any = getattr(graph, "whole_message", lambda: graph)
    return whole()  # type: ignore[no-any-return]
