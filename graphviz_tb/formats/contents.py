"""The contents of a source, and the choice of one graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from graphviz_tb.errors import Ambiguous, NoGraph, ReadError, RequestError, UnknownChoice
from graphviz_tb.limits import MAX_LISTED_GRAPHS
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import Signature, SourceEntry
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, RunMetadata

if TYPE_CHECKING:
    from graphviz_tb.formats.packed_graph import PackedGraph

NO_SIGNATURE_MESSAGE = "no signature can be chosen here: the source has none"
TOP_RUN = "."  # the run whose files are directly in the given folder
RUN_GRAPH_TAG = "__run_graph__"  # TensorBoard's tag for the graph of a whole run


@dataclass(frozen=True, slots=True)
class GraphContent:
    """A decoded graph and what reading found out about it.

    `signature` is the one whose body it is; `left_out` counts bookkeeping ops that were removed; `layers` maps nodes
    and scopes to Keras layers. `traced` are the graphs that `graph_def` was merged from. `plain` makes a graph of
    layers as TensorBoard does; `described` is the JSON it was made from.
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
    what: str = "a source"  # used in the message if it holds no graph
    damage: ReadError | None = None  # raised in that case, as it may have cost a graph
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


def choose_graph(holding: SourceContents, options: ReadOptions) -> SourceItem:
    """Return the graph that the options select, or the only one. Raises `NoGraph`, `Ambiguous`, `UnknownChoice`."""
    graphs = [found for found in holding.found if found.entry.kind != "profile"]
    if not graphs:
        if holding.damage:
            raise holding.damage
        raise NoGraph(f"no graph in {holding.what}", hint=_only_profiles_hint(holding))
    # Each given option narrows the list; the others choose afterwards.
    graphs = _keep_matching("run", expand_run_name(options.run, (found.entry.run for found in graphs)), graphs)
    graphs = _keep_matching("tag", options.tag, graphs)
    graphs = _keep_tag_set(options.tag_set, graphs)
    graphs = _keep_matching("kind", options.kind, graphs)
    if options.tag is None:
        graphs = [found for found in graphs if not found.entry.variant] or graphs
    # Prefer an op graph to the layers of the same model.
    if options.kind is None:
        graphs = [found for found in graphs if found.entry.kind == "op"] or graphs
    if len(graphs) > 1:
        raise _ambiguous_graphs_error(graphs)
    return graphs[0]


def expand_run_name(wanted: str | None, runs: Iterable[str | None]) -> str | None:
    """Expand an abbreviated run: consecutive folders of its path, if only one run has them.

    >>> (
    ...     expand_run_name("a", ["a/train", "b/train"]),
    ...     expand_run_name("train", ["a/train", "b/train"]),
    ...     expand_run_name("a", ["a", "a/b"]),
    ... )
    ('a/train', 'train', 'a')
    """
    known = {run for run in runs if run is not None}
    if wanted is None or wanted in known:
        return wanted
    # Whole folders only: "a" matches "logs/a/train" but not "data/train".
    fitting = [run for run in known if f"/{wanted.strip('/')}/" in f"/{run}/"]
    return fitting[0] if len(fitting) == 1 else wanted


def _only_profiles_hint(holding: SourceContents) -> str | None:
    if not any(found.entry.kind == "profile" for found in holding.found):
        return None
    return "it holds run statistics only: give them with --run-metadata beside the graph"


def _keep_matching(what: str, wanted: str | None, graphs: list[SourceItem]) -> list[SourceItem]:
    if wanted is None:
        return graphs
    kept = [found for found in graphs if getattr(found.entry, what) == wanted]
    if kept:
        return kept
    legal = sorted({getattr(found.entry, what) for found in graphs} - {None})
    if not legal:
        raise RequestError(f"no {what} can be chosen here: the source is a single graph", hint=f"leave out the {what}")
    raise UnknownChoice.among(what, wanted, legal)


def _keep_tag_set(wanted: str | None, graphs: list[SourceItem]) -> list[SourceItem]:
    """Keep the graphs with SavedModel tags in any order, such as "serve" or "serve,gpu"."""
    if wanted is None:
        return graphs
    tags = set(wanted.split(","))
    kept = [found for found in graphs if set((found.entry.tag_set or "").split(",")) == tags]
    legal = sorted({found.entry.tag_set for found in graphs if found.entry.tag_set})
    # The empty tag set selects the MetaGraph without tags among others.
    if kept and (wanted or legal):
        return kept
    if not legal:
        raise RequestError(
            "no tag set can be chosen here: the source is not a SavedModel", hint="leave out the tag set"
        )
    raise UnknownChoice.among("tag set", wanted, legal)


def _ambiguous_graphs_error(graphs: list[SourceItem]) -> Ambiguous:
    """Return the error that lists the graphs and says how to choose."""
    entries = [found.entry for found in graphs]
    shown = "".join(f"\n  {selecting_options(entry)}" for entry in entries[:MAX_LISTED_GRAPHS])
    more = f"\n  … and {len(entries) - MAX_LISTED_GRAPHS} more" if len(entries) > MAX_LISTED_GRAPHS else ""
    return Ambiguous(f"{len(entries)} graphs, choose one:{shown}{more}", hint=_choice_hint(entries))


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


def _choice_hint(entries: list[SourceEntry]) -> str:
    different = [
        f"--{name.replace('_', '-')}"
        for name in ("run", "tag", "tag_set", "kind")
        if len({getattr(entry, name) for entry in entries}) > 1
    ]
    return f"choose with {' and '.join(different) or '--tag'}; 'tbgraph info' lists them all"


def graph_label(entry: SourceEntry, name: str) -> str:
    """Return the name of what was opened, for titles; the run "." is omitted.

    >>> (
    ...     graph_label(SourceEntry("op", run="train", tag="keras"), "logs"),
    ...     graph_label(SourceEntry("op", run=".", tag=RUN_GRAPH_TAG), "logs"),
    ... )
    ('logs · run train · tag keras', 'logs')
    """
    parts = [f"run {entry.run}"] if entry.run not in (None, TOP_RUN) else []
    parts += [f"tag {entry.tag}"] if entry.tag not in (None, RUN_GRAPH_TAG) else []
    parts += [f"tag set {entry.tag_set}"] if entry.tag_set else []
    return " · ".join([name, *parts] if name else parts)
