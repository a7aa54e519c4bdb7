"""What is done in processes of their own: listing the graphs of a source, and making the pages of graphs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphviz_tb.annotate.profile import profile_of
from graphviz_tb.diff import diff
from graphviz_tb.diff.picture.both import Both, picture_options
from graphviz_tb.model.embeddings import Points
from graphviz_tb.model.joins import Join
from graphviz_tb.model.loaded import Entry
from graphviz_tb.model.profile import Profile
from graphviz_tb.model.saved_view import SavedView
from graphviz_tb.options import ReadOptions
from graphviz_tb.page.blocks import DataBlock
from graphviz_tb.page.build import data
from graphviz_tb.page.compared import changes_data
from graphviz_tb.pipeline import load, no_collection
from graphviz_tb.project import positions
from graphviz_tb.read import contents, profiles
from graphviz_tb.report import Report
from graphviz_tb.serve.loading import Packed, ReportStage, ServedPage
from graphviz_tb.statistics import NO_GRAPH

FEW_RUNS = 20  # that are read one by one: each walks through the folders anew

Choices = Mapping[str, Any]


def listed(told: ReportStage, source: str, runs: Collection[str] | None) -> tuple[Entry, ...]:
    """Every graph and traced step of a source, or of some of its runs, before one is chosen."""
    told("read", 0, None)
    few = sorted(runs) if runs is not None and len(runs) <= FEW_RUNS else [None]
    return tuple(entry for run in few for entry in contents(source, ReadOptions(run=run)))


def traced_step(told: ReportStage, source: str, traced: Entry, graph: Entry | None) -> Profile:
    """The profile of a traced step, joined with a graph, or with none."""
    model = load(NO_GRAPH if graph is None else source, **choices_of(graph))
    told("annotate", 0, None)
    tag = traced.tag or ""
    with no_collection():
        return profile_of(model.hierarchy, profiles(source, ReadOptions(run=traced.run))[tag], tag)


def choices_of(entry: Entry | None) -> dict[str, Any]:
    """The options that choose an entry."""
    named = {"run": entry.run, "tag": entry.tag, "tag_set": entry.tag_set} if entry is not None else {}
    said: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    return {**said, "kind": entry.kind} if said and entry is not None else said


def page(told: ReportStage, source: str, choices: Choices, view: SavedView | None, tags: Sequence[str]) -> ServedPage:
    """The page of one graph in a view, with where some tags of the log belong in it."""
    model = load(source, report=reported(told), view=view, **choices)
    return replace(as_page(*data(model, model.options.picture)), joins=model.joins(tags))


def joins_of(told: ReportStage, source: str, choices: Choices, tags: Sequence[str]) -> tuple[Join, ...]:
    """Where tags belong in one graph, without its page."""
    return load(source, report=reported(told), **choices).joins(tags)


def compared_page(told: ReportStage, source: str, old: Choices, new: Choices, view: SavedView | None) -> ServedPage:
    """The page of what changed between two graphs of a source."""
    told("compare", 0, None)
    pairs: dict[str, Any] = {name: (old.get(name), new.get(name)) for name in old.keys() | new.keys()}
    both = Both(diff(source, source, **pairs), view)
    return as_page(*changes_data(both, picture_options(view, {})))


def laid_out(told: ReportStage, values: Points, method: str, axes: int, near: int | None) -> Points:
    """Where t-SNE or UMAP puts points."""
    return positions(values, method, axes, near, lambda done, whole: told(method, done, whole))


def reported(told: ReportStage) -> Report:
    """A report that says how far it is."""
    stage = "read"

    def begin(name: str) -> None:
        nonlocal stage
        stage = name
        told(name, 0, None)

    def part(done: int, total: int | None) -> None:
        told(stage, done, total)

    return Report(begin, part)


def as_page(head: Mapping[str, Any], blocks: Iterable[DataBlock]) -> ServedPage:
    """A page that can be sent."""
    made = (Packed(block.name, block.kind, block.digest(), block.gzipped()) for block in blocks)
    return ServedPage(head, {block.name: block for block in made})
