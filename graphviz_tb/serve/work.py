"""Tasks of worker processes: listing the graphs of a source, making the pages of graphs, layouts of embeddings."""

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

FEW_RUNS = 20  # read one by one up to this number: each reading walks through the folders again

Choices = Mapping[str, Any]


def listed(report_stage: ReportStage, source: str, runs: Collection[str] | None) -> tuple[Entry, ...]:
    """List every graph and traced step of a source, or of some of its runs."""
    report_stage("read", 0, None)
    few = sorted(runs) if runs is not None and len(runs) <= FEW_RUNS else [None]
    return tuple(entry for run in few for entry in contents(source, ReadOptions(run=run)))


def traced_step(report_stage: ReportStage, source: str, traced: Entry, graph: Entry | None) -> Profile:
    """Return the profile of a traced step, joined with a graph if there is one."""
    model = load(NO_GRAPH if graph is None else source, **choices_of(graph))
    report_stage("annotate", 0, None)
    tag = traced.tag or ""
    with no_collection():
        return profile_of(model.hierarchy, profiles(source, ReadOptions(run=traced.run))[tag], tag)


def choices_of(entry: Entry | None) -> dict[str, Any]:
    """Return the options that choose an entry."""
    named = {"run": entry.run, "tag": entry.tag, "tag_set": entry.tag_set} if entry is not None else {}
    said: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    return {**said, "kind": entry.kind} if said and entry is not None else said


def page(
    report_stage: ReportStage, source: str, choices: Choices, view: SavedView | None, tags: Sequence[str]
) -> ServedPage:
    """Return the page of one graph in a view, with the joins of some tags of the log."""
    model = load(source, report=reported(report_stage), view=view, **choices)
    return replace(as_page(*data(model, model.options.picture)), joins=model.joins(tags))


def joins_of(report_stage: ReportStage, source: str, choices: Choices, tags: Sequence[str]) -> tuple[Join, ...]:
    """Return the joins of tags with one graph, without its page."""
    return load(source, report=reported(report_stage), **choices).joins(tags)


def compared_page(
    report_stage: ReportStage, source: str, old: Choices, new: Choices, view: SavedView | None
) -> ServedPage:
    """Return the page of the diff between two graphs of a source."""
    report_stage("compare", 0, None)
    pairs: dict[str, Any] = {name: (old.get(name), new.get(name)) for name in old.keys() | new.keys()}
    both = Both(diff(source, source, **pairs), view)
    return as_page(*changes_data(both, picture_options(view, {})))


def laid_out(report_stage: ReportStage, values: Points, method: str, axes: int, near: int | None) -> Points:
    """Return the positions of points by t-SNE or UMAP."""
    return positions(values, method, axes, near, lambda done, whole: report_stage(method, done, whole))


def reported(report_stage: ReportStage) -> Report:
    """Return a report that forwards stages and progress to `report_stage`."""
    stage = "read"

    def begin(name: str) -> None:
        nonlocal stage
        stage = name
        report_stage(name, 0, None)

    def part(done: int, total: int | None) -> None:
        report_stage(stage, done, total)

    return Report(begin, part)


def as_page(head: Mapping[str, Any], blocks: Iterable[DataBlock]) -> ServedPage:
    """Compress the blocks of a page for sending."""
    made = (Packed(block.name, block.kind, block.digest(), block.gzipped()) for block in blocks)
    return ServedPage(head, {block.name: block for block in made})
