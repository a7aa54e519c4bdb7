"""The contents of a source: graphs and profiles, none decoded before it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from graphviz_tb.errors import ReadError
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import Signature, SourceEntry
from graphviz_tb.proto import GraphDef, RunMetadata

if TYPE_CHECKING:
    from graphviz_tb.formats.packed_graph import PackedGraph

NO_SIGNATURE_MESSAGE = "no signature can be chosen here: the source has none"
TOP_RUN = "."  # the run whose files are directly in the given folder
RUN_GRAPH_TAG = "__run_graph__"  # TensorBoard's tag for the graph of a whole run


@dataclass(frozen=True, slots=True)
class GraphContent:
    """A decoded graph and further results of reading.

    `signature` is the signature whose body it is; `left_out` counts bookkeeping ops that were removed; `layers` maps
    nodes and scopes to Keras layers. `traced` are the graphs that `graph_def` was merged from. `plain` returns the
    graph of layers as TensorBoard draws it; `described` is the JSON of the layers.
    """

    graph_def: GraphDef | PackedGraph
    notices: tuple[Notice, ...] = ()
    signatures: tuple[Signature, ...] = ()
    signature: str | None = None
    left_out: int = 0
    layers: Mapping[str, Layer] = field(default_factory=dict)
    traced: tuple[GraphDef, ...] = ()
    plain: Callable[[], GraphDef] | None = None
    described: bytes = b""


def empty_graph_content() -> GraphContent:
    """Return the content of a profile, which has no graph."""
    return GraphContent(GraphDef())


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One graph or profile in a source: an entry and how to load it. `parts` lists the steps of a trace file."""

    entry: SourceEntry
    load: Callable[[], GraphContent]
    parts: Callable[[], Iterable[SourceItem]] | None = None


@dataclass(frozen=True, slots=True)
class SourceContents:
    """Everything in a source.

    `profiles` is {run: {tag: loader}}; a single file has the run None. `packed` is the compressed size, if the source
    was compressed.
    """

    found: tuple[SourceItem, ...] = ()
    profiles: Mapping[str | None, Mapping[str, Callable[[], RunMetadata]]] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    what: str = "a source"  # used in the error of a source without a graph
    damage: ReadError | None = None  # raised instead of that error, since damage may hide a graph
    packed: int | None = None

    @property
    def graph_runs(self) -> tuple[str, ...]:
        runs = (each.entry.run for each in self.found if each.entry.kind != "profile")
        return tuple(dict.fromkeys(run for run in runs if run is not None))


class LazyProfiles(Mapping[str, RunMetadata]):
    """Run metadata by tag, decoded on every lookup."""

    def __init__(self, loaders: Mapping[str, Callable[[], RunMetadata]]) -> None:
        self._loaders = loaders

    def __getitem__(self, tag: str) -> RunMetadata:
        return self._loaders[tag]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaders)

    def __len__(self) -> int:
        return len(self._loaders)

    def __repr__(self) -> str:
        return f"Profiles({', '.join(self._loaders)})"


def selecting_options(entry: SourceEntry) -> str:
    """Return the command line options that select an entry.

    >>> (
    ...     selecting_options(SourceEntry("op", run="train", tag="keras")),
    ...     selecting_options(SourceEntry("op", tag="a\\nb")),
    ... )
    ('--run train --tag keras', "--tag 'a\\\\nb'")
    """
    words = [("run", entry.run), ("tag", entry.tag), ("tag-set", entry.tag_set)]
    typed = " ".join(f"--{name} {value if value.strip() == value != '' and value.isprintable() else repr(value)}"
                     for name, value in words if value is not None)  # fmt: skip
    return typed if entry.kind == "op" else f"{typed} --kind {entry.kind}".strip()
