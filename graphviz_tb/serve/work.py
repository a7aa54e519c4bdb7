"""Tasks of worker processes: listing the graphs of a source, making the pages of graphs, layouts of embeddings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphviz_tb.annotate.step_profile import build_profile
from graphviz_tb.api.pipeline import load
from graphviz_tb.caches import garbage_collection_paused
from graphviz_tb.diff import diff
from graphviz_tb.diff.picture.overlay import Both, picture_options
from graphviz_tb.logs.run_statistics import PLACEHOLDER_GRAPH
from graphviz_tb.model.facts import SavedView
from graphviz_tb.model.joins import TagJoin
from graphviz_tb.model.logs import Points
from graphviz_tb.model.profile import Profile
from graphviz_tb.model.sources import SourceEntry
from graphviz_tb.options import ReadOptions
from graphviz_tb.page.blocks import DataBlock
from graphviz_tb.page.build import page_data
from graphviz_tb.page.changes import changes_data
from graphviz_tb.progress import StageReport
from graphviz_tb.project import compute_positions
from graphviz_tb.read.source import list_contents, list_profiles
from graphviz_tb.serve.jobs import CompressedBlock, ReportStage, ServedPage
from graphviz_tb.serve.settings import Settings

MAX_RUNS_READ_SINGLY = 20  # above this number all runs are read, since each reading walks through the folders again

EntryChoices = Mapping[str, Any]


def list_entries(report_stage: ReportStage, source: str, runs: Collection[str] | None) -> tuple[SourceEntry, ...]:
    """List every graph and traced step of a source, or of some of its runs."""
    report_stage("read", 0, None)
    few = sorted(runs) if runs is not None and len(runs) <= MAX_RUNS_READ_SINGLY else [None]
    return tuple(entry for run in few for entry in list_contents(source, ReadOptions(run=run)))


def load_profile(report_stage: ReportStage, source: str, traced: SourceEntry, graph: SourceEntry | None) -> Profile:
    """Return the profile of a traced step, joined with a graph if there is one."""
    model = load(PLACEHOLDER_GRAPH if graph is None else source, **entry_choices(graph))
    report_stage("annotate", 0, None)
    tag = traced.tag or ""
    with garbage_collection_paused():
        return build_profile(model.hierarchy, list_profiles(source, ReadOptions(run=traced.run))[tag], tag)


def entry_choices(entry: SourceEntry | None) -> dict[str, Any]:
    """Return the options that choose an entry."""
    named = {"run": entry.run, "tag": entry.tag, "tag_set": entry.tag_set} if entry is not None else {}
    said: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    return {**said, "kind": entry.kind} if said and entry is not None else said


def make_graph_page(
    report_stage: ReportStage, drawing: Settings, choices: EntryChoices, tags: Sequence[str]
) -> ServedPage:
    """Return the page of one graph, drawn by the settings, with the joins of some tags of the log."""
    model = load(drawing.source, drawing.options, _forwarding_report(report_stage), view=drawing.view, **choices)
    model = model if drawing.facts is None else model.with_facts(*drawing.facts)
    return replace(_compress_page(*page_data(model, model.options.picture)), joins=model.joins(tags))


def join_tags_with_graph(
    report_stage: ReportStage, drawing: Settings, choices: EntryChoices, tags: Sequence[str]
) -> tuple[TagJoin, ...]:
    """Return the joins of tags with one graph, without its page."""
    return load(drawing.source, drawing.options, _forwarding_report(report_stage), **choices).joins(tags)


def make_diff_page(
    report_stage: ReportStage, source: str, old: EntryChoices, new: EntryChoices, view: SavedView | None
) -> ServedPage:
    """Return the page of the diff between two graphs of a source."""
    report_stage("compare", 0, None)
    pairs: dict[str, Any] = {name: (old.get(name), new.get(name)) for name in old.keys() | new.keys()}
    both = Both(diff(source, source, **pairs), view)
    return _compress_page(*changes_data(both, picture_options(view, {})))


def lay_out_points(report_stage: ReportStage, values: Points, method: str, axes: int, near: int | None) -> Points:
    """Return the positions of points by t-SNE or UMAP."""
    return compute_positions(values, method, axes, near, lambda done, whole: report_stage(method, done, whole))


def _forwarding_report(report_stage: ReportStage) -> StageReport:
    stage = "read"

    def begin(name: str) -> None:
        nonlocal stage
        stage = name
        report_stage(name, 0, None)

    def part(done: int, total: int | None) -> None:
        report_stage(stage, done, total)

    return StageReport(begin, part)


def _compress_page(head: Mapping[str, Any], blocks: Iterable[DataBlock]) -> ServedPage:
    made = (CompressedBlock(block.name, block.kind, block.digest, block.gzip_bytes()) for block in blocks)
    return ServedPage(head, {block.name: block for block in made})
