"""The contents of a source, and the choice of one graph of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field

from graphviz_tb.errors import Ambiguous, NoGraph, ReadError, RequestError, UnknownChoice
from graphviz_tb.limits import GRAPHS_LISTED
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.loaded import Entry, Signature
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, RunMetadata
from graphviz_tb.read.packed import PackedGraph

HERE = "."  # the run whose files are directly in the folder that was given
RUN_GRAPH = "__run_graph__"  # TensorBoard's tag for the graph of a whole run


@dataclass(frozen=True, slots=True)
class Content:
    """A graph that was decoded, and what was learnt on the way.

    `signature` is the one whose body it is, `left_out` how many ops of the file are bookkeeping and not in it, `layers`
    which Keras layer a node or scope is, by name. `traced` are the graphs of which `graph_def` is made, if it is;
    `plain` gives a graph of layers as TensorBoard makes it, `described` is the JSON that it was made of.
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
    """One thing in a source: what it is, and how to get its graph; `parts` lists what a file of traces holds."""

    entry: Entry
    load: Callable[[], Content]
    parts: Callable[[], Iterable[SourceItem]] | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """Everything in a source. `profiles` is {run: {tag: how to get it}}; a lone file has the run None. `packed` are the
    bytes that it was unpacked from, if it was."""

    found: tuple[SourceItem, ...] = ()
    profiles: Mapping[str | None, Mapping[str, Callable[[], RunMetadata]]] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    what: str = "a source"  # said when it holds no graph
    damage: ReadError | None = None  # raised then, where a graph may have been lost
    packed: int | None = None


class Profiles(Mapping[str, RunMetadata]):
    """Run metadata by tag; each is decoded when it is looked up, and again when it is looked up again."""

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


def choose(holding: Holding, options: ReadOptions) -> SourceItem:
    """Before: what a source holds. After: the one graph that the options name, or the only one there is."""
    graphs = [found for found in holding.found if found.entry.kind != "profile"]
    if not graphs:
        if holding.damage:
            raise holding.damage
        raise NoGraph(f"no graph in {holding.what}", hint=_profile_hint(holding))
    # Each option narrows what is left; those that were not given choose afterwards.
    graphs = _matching("run", full_run(options.run, (found.entry.run for found in graphs)), graphs)
    graphs = _matching("tag", options.tag, graphs)
    graphs = _of_tag_set(options.tag_set, graphs)
    graphs = _matching("kind", options.kind, graphs)
    if options.tag is None:
        graphs = [found for found in graphs if not found.entry.variant] or graphs
    # An op graph before the layers of the same model.
    if options.kind is None:
        graphs = [found for found in graphs if found.entry.kind == "op"] or graphs
    if len(graphs) > 1:
        raise ambiguous(graphs)
    return graphs[0]


def full_run(wanted: str | None, runs: Iterable[str | None]) -> str | None:
    """The run that an abbreviation means: some folders of its path, one after the other, where only one run has them.

    >>> full_run("a", ["a/train", "b/train"]), full_run("train", ["a/train", "b/train"]), full_run("a", ["a", "a/b"])
    ('a/train', 'train', 'a')
    """
    known = {run for run in runs if run is not None}
    if wanted is None or wanted in known:
        return wanted
    # Whole folders only: "a" is in "logs/a/train" and not in "data/train".
    fitting = [run for run in known if f"/{wanted.strip('/')}/" in f"/{run}/"]
    return fitting[0] if len(fitting) == 1 else wanted


def _profile_hint(holding: Holding) -> str | None:
    if not any(found.entry.kind == "profile" for found in holding.found):
        return None
    return "it holds run statistics only: give them with --run-metadata beside the graph"


def _matching(what: str, wanted: str | None, graphs: list[SourceItem]) -> list[SourceItem]:
    if wanted is None:
        return graphs
    kept = [found for found in graphs if getattr(found.entry, what) == wanted]
    if kept:
        return kept
    legal = sorted({getattr(found.entry, what) for found in graphs} - {None})
    if not legal:
        raise RequestError(f"no {what} can be chosen here: the source is a single graph", hint=f"leave out the {what}")
    raise UnknownChoice.among(what, wanted, legal)


def _of_tag_set(wanted: str | None, graphs: list[SourceItem]) -> list[SourceItem]:
    """SavedModel's tags, in any order: "serve" or "serve,gpu"."""
    if wanted is None:
        return graphs
    tags = set(wanted.split(","))
    kept = [found for found in graphs if set((found.entry.tag_set or "").split(",")) == tags]
    legal = sorted({found.entry.tag_set for found in graphs if found.entry.tag_set})
    # The empty one chooses the MetaGraph without tags among others that have some.
    if kept and (wanted or legal):
        return kept
    if not legal:
        raise RequestError("no tag set can be chosen here: the source is no SavedModel", hint="leave out the tag set")
    raise UnknownChoice.among("tag set", wanted, legal)


def ambiguous(graphs: list[SourceItem]) -> Ambiguous:
    """Return the error that lists the graphs and says how to choose one."""
    entries = [found.entry for found in graphs]
    shown = "".join(f"\n  {describe(entry)}" for entry in entries[:GRAPHS_LISTED])
    more = f"\n  … and {len(entries) - GRAPHS_LISTED} more" if len(entries) > GRAPHS_LISTED else ""
    return Ambiguous(f"{len(entries)} graphs, choose one:{shown}{more}", hint=_how(entries))


def describe(entry: Entry) -> str:
    """The options that choose an entry, as they are typed.

    >>> describe(Entry("op", run="train", tag="keras")), describe(Entry("op", tag="a\\nb"))
    ('--run train --tag keras', "--tag 'a\\\\nb'")
    """
    words = [("run", entry.run), ("tag", entry.tag), ("tag-set", entry.tag_set)]
    typed = " ".join(f"--{name} {value if value.strip() == value != '' and value.isprintable() else repr(value)}"
                     for name, value in words if value is not None)  # fmt: skip
    return typed if entry.kind == "op" else f"{typed} --kind {entry.kind}".strip()


def _how(entries: list[Entry]) -> str:
    different = [
        f"--{name.replace('_', '-')}"
        for name in ("run", "tag", "tag_set", "kind")
        if len({getattr(entry, name) for entry in entries}) > 1
    ]
    return f"choose with {' and '.join(different) or '--tag'}; 'tbgraph info' lists them all"


def label(entry: Entry, name: str) -> str:
    """Return what was opened, for titles; the run directly in the folder is not named.

    >>> label(Entry("op", run="train", tag="keras"), "logs"), label(Entry("op", run=".", tag=RUN_GRAPH), "logs")
    ('logs · run train · tag keras', 'logs')
    """
    parts = [f"run {entry.run}"] if entry.run not in (None, HERE) else []
    parts += [f"tag {entry.tag}"] if entry.tag not in (None, RUN_GRAPH) else []
    parts += [f"tag set {entry.tag_set}"] if entry.tag_set else []
    return " · ".join([name, *parts] if name else parts)
