"""The list of stages, in order: the program's explanation, its profiler and its progress bar.

file     read ▶ flatten ▶ interpret ▶ group ▶ annotate      once per file
group    expand ▶ arrange                                   once per group, when it is opened
picture  color ▶ open ▶ view ▶ place ▶ paint ▶ render       once per picture
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any

from graphviz_tb.annotate import annotate
from graphviz_tb.api.base_model import BaseModel
from graphviz_tb.api.choices import picture_choices, validate_picture_options, with_choices
from graphviz_tb.api.layout import lay_out_picture
from graphviz_tb.api.picture import Picture, picture_caption
from graphviz_tb.caches import garbage_collection_paused
from graphviz_tb.color import Colouring, make_colouring, resolve_paint, shows_statistics
from graphviz_tb.errors import MissingFacts, RequestError, require_type
from graphviz_tb.flatten import flatten
from graphviz_tb.fold import fold_graph
from graphviz_tb.interpret import interpret
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.facts import Facts, SavedView, UserFacts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.sources import LoadedGraph
from graphviz_tb.model.stats import Stats
from graphviz_tb.options import COLOR_BY_FACTS, Options, PictureOptions
from graphviz_tb.output.files import check_inputs_kept, write_output
from graphviz_tb.output.renderers import check_options_used, find_renderer, output_format
from graphviz_tb.progress import StageReport
from graphviz_tb.read.source import read_source
from graphviz_tb.render.compose import width_notices
from graphviz_tb.sources.streams import check_stdin_once, localize_source

if TYPE_CHECKING:
    import networkx
    import pydot

    from graphviz_tb.api.rendered import NotebookFrame
    from graphviz_tb.render.json import JsonDocument


def load(
    source: Any,
    options: Options | None = None,
    report: StageReport | None = None,
    view: Any = None,
    facts: Any = None,
    **choices: Any,
) -> Model:
    """Read `source` (a path, "-", bytes, or an object that holds a GraphDef) and fold it.

    `choices` are single options by name (`series_min=3`, `preset="tensorboard"`, `run="train"`); they override `view`,
    the path of a view file or its values as a dict. `facts` are numbers or texts by name, as `with_facts` takes them.
    Raises `ReadError` if the source holds no graph, `RequestError` for an unknown choice.

    >>> model = load(b'node { name: "layer/w" op: "Relu" } node { name: "layer/x" op: "Add" input: "layer/w" }')
    >>> model
    <Model: 2 ops, 1 edge>
    """
    require_type("options", options, Options, NoneType)
    require_type("report", report, StageReport, NoneType)
    if options is not None and "preset" in choices:
        raise RequestError("both options and preset are given", hint='begin with Options.preset("…") and change it')
    options = options or Options.preset(choices.pop("preset", "default"))
    saved = _effective_view(view, choices)
    options = with_choices(options, {**dict(saved.choices if saved else ()), **choices})
    validate_picture_options(options.picture)
    check_stdin_once((source, *options.read.run_metadata, *options.read.against))
    source = localize_source(source)
    report = report or StageReport()
    # Users set `strict` once; flattening needs it too, to check names and inputs.
    options = replace(options, flatten=replace(options.flatten, strict=options.read.strict))
    with garbage_collection_paused():
        with report.stage("read"):
            loaded = read_source(source, options.read, report.part)
        model = _build_model(loaded, options, report, source)
    model = model if saved is None else model.with_saved_view(saved)
    return model if facts is None else model.with_facts(facts, color="color_by" not in choices)


def _effective_view(view: Any, said: Mapping[str, Any]) -> SavedView | None:
    """Return the view without what the options in `said` override; None without a view."""
    if view is None:
        return None
    # imported late, as below: most pictures have no view file
    from graphviz_tb.api.view_files import as_saved_view, without_overridden

    found = as_saved_view(view)
    return None if found is None else without_overridden(found, said)


def _build_model(
    loaded: LoadedGraph,
    options: Options,
    report: StageReport,
    source: Any,
    stats: Stats | None = None,
    before: Stats | None = None,
) -> Model:
    """Run the stages after reading, once per file. `stats` and `before` are given for a model that was pickled."""
    with report.stage("flatten"):
        graph = flatten(loaded.graph, options.flatten, loaded.layers)
    with report.stage("interpret"):
        graph = interpret(graph, options.flatten)
    with report.stage("group"):
        hierarchy = fold_graph(graph, options.group)
    with report.stage("annotate"):
        if options.read.selects_statistics:
            from graphviz_tb.logs.run_statistics import join_baseline_statistics, join_selected_statistics

            # A pickled model contains its statistics: their files may be gone.
            stats = stats or join_selected_statistics(source, loaded, hierarchy, options)
            before = before or join_baseline_statistics(source, loaded, hierarchy, options)
        if stats is not None and not options.flatten.tensorboard:
            from graphviz_tb.annotate.devices import with_traced_devices

            hierarchy = with_traced_devices(hierarchy, stats.placed)
        facts = annotate(hierarchy, stats, options.annotate, before)
    return Model(hierarchy, facts, options, loaded, report, source)


def _check_statistics_selected(loaded: LoadedGraph | None, facts: Facts, options: PictureOptions) -> None:
    """Raise `MissingFacts` if a picture needs statistics that were not joined, naming the steps in the source."""
    if facts.stats is not None or not shows_statistics(options):
        return
    steps = list(loaded.run_metadata) if loaded else []  # decodes no trace
    if not steps:
        return
    what = "--stats" if options.stats else f"colouring by {options.color_by}"
    raise MissingFacts(
        f"{what} needs run statistics; the log holds {', '.join(steps[:5])}{', …' * (len(steps) > 5)}",
        hint=f"choose with --step {steps[0]}, or --step all",
    )


def _draw_picture(model: Model, options: PictureOptions) -> Picture:
    """Draw one picture: colours, open groups, order, words, coordinates."""
    report, hierarchy = model.report, model.hierarchy
    validate_picture_options(options)
    _check_statistics_selected(model.loaded, model.facts, options)
    facts = model.facts_for_picture(options)
    with garbage_collection_paused():
        # Colours first: the second line of a closed box says what its colour means.
        with report.stage("color"):
            colouring = model.colouring or make_colouring(
                hierarchy, facts, options.color_by, options.theme, options.stats
            )
        layout = lay_out_picture(model, options, colouring.second_line)
        with report.stage("paint"):
            painter = colouring.for_print() if options.paper else colouring
            paint = resolve_paint(painter, layout.view, layout.scene)
    caption = picture_caption(model, colouring, layout.scene, layout.opened, options)
    notices = (*layout.notices, *model.facts.odd())
    picture = Picture(model, layout.opened, layout.view, layout.scene, paint, caption, options, notices)
    if not options.paper:
        return picture
    return replace(picture, notices=(*notices, *width_notices(picture.drawing, options)))


PICKLED_INPUT_TYPES = (str, os.PathLike, os.stat_result)  # kinds of sources that are pickled with a model


class Model(BaseModel):
    """A folded graph: open any group, draw any picture, write it for machines."""

    _last: Picture | None = None
    noticed: tuple[Notice, ...] = ()  # notices about applying a view

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the graph that was read; unpickling folds it again, to the same bytes."""
        # An open file or a message need not be picklable; the graph read from it is.
        source = self.source if isinstance(self.source, str | os.PathLike) else None
        inputs = tuple(file if isinstance(file, PICKLED_INPUT_TYPES) else None for file in self.files)
        facts = self.facts
        rest = facts.stats, facts.before, self.colouring, self.view, facts.given
        return _rebuild_model, (self.loaded, self.options, source, inputs, *rest)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices of reading and folding, then those of the view."""
        return (*super().notices, *self.noticed)

    def with_view(self, view: Any) -> Model:
        """Return the model with a view file applied; `view` is the path, or the values as a dict.

        Raises `ReadError` or `RequestError` for an invalid view.
        """
        saved = _effective_view(view, {})
        if saved is None:
            return self
        options = with_choices(self.options, dict(saved.choices))
        model = self
        if options.group != self.options.group and self.loaded is not None:
            with garbage_collection_paused():
                model = _build_model(
                    self.loaded, options, StageReport(), self.source, self.facts.stats, self.facts.before
                )
            model.files = self.files
        return model._replace_parts(options=options).with_saved_view(saved)

    def with_facts(self, facts: Any, column: str | None = None, color: bool = True) -> Model:
        """Return the model with facts about its nodes, shown on boxes and cards and, with `color`, as colours.

        `facts` are a CSV or JSON file, node data of Model Explorer, a dict of values by name, records, or a data frame;
        `column` colours the graph (default: the first). Raises `RequestError` if no name is in the graph.
        """
        from graphviz_tb.api.user_facts import join_user_facts

        given, odd = join_user_facts(facts, self, column)
        options = self.options
        if color:
            options = replace(options, picture=replace(options.picture, color_by=COLOR_BY_FACTS))
        model = self._replace_parts(facts=replace(self.facts, given=given), options=options)
        model.noticed = (*self.noticed, *odd)
        return model

    def with_saved_view(self, view: SavedView) -> Model:
        """Return the model with the patterns of a view applied; its `choices` are in the options already."""
        from graphviz_tb.api.view_files import AppliedView

        seen = AppliedView(self, view)
        model = self._replace_parts(
            seen.hierarchy, seen.facts, seen.options, seen.hidden if seen.hidden.any() else None
        )
        model.view, model.noticed = view, seen.notices
        return model

    def _replace_parts(
        self,
        hierarchy: Hierarchy | None = None,
        facts: Facts | None = None,
        options: Options | None = None,
        hidden: Bools | None = None,
    ) -> Model:
        """Return a model of the same source with some parts replaced."""
        parts = hierarchy or self.hierarchy, facts or self.facts, options or self.options
        hidden = self.expander.hidden if hidden is None else hidden
        model = Model(*parts, self.loaded, self.report, self.source, hidden)
        model.colouring, model.files = self.colouring, self.files
        model.view, model.noticed = self.view, self.noticed
        return model

    def with_colouring(self, colouring: Colouring) -> Model:
        """Return a model whose pictures have the colours of `colouring`, whatever their options."""
        require_type("colouring", colouring, Colouring)
        model = self._replace_parts()
        model.colouring = colouring
        model.members = self.members
        model.expander, model.arrangements = self.expander, self.arrangements  # colours do not change these
        return model

    def picture(self, options: PictureOptions | None = None, **choices: Any) -> Picture:
        """Draw a picture; `choices` are fields of `PictureOptions` (`depth=1`, `open=("layer",)`, `theme="dark"`).

        The last picture is cached: it is not drawn again for a second format.
        """
        wanted = self._picture_options(options, choices)
        # Options compare by value: equal ones draw the same bytes.
        last = self._last
        if last is None or last.options != wanted:
            self._last = last = _draw_picture(self, wanted)
        return last  # not `self._last`, which a second thread may have replaced

    def _repr_svg_(self) -> str:
        return self.picture()._repr_svg_()

    @property
    def with_all_stacks(self) -> Model:
        """The model with stacks also on the two legs of a U, where a picture shows their members one by one. The model
        itself if it has run statistics or a view, since these refer to rows as drawn."""
        stacked = self.hierarchy.stacked
        if stacked is None or self.facts.stats is not None or self.view is not None:
            return self
        return self._replace_parts(stacked, self.facts.of_rows(stacked))

    def to_json(self) -> dict[str, Any]:
        """Return the whole folded graph as plain values (docs/json.md)."""
        return self.document().plain_values()

    def document(self) -> JsonDocument:
        """Return the whole folded graph as a document, before it becomes values or text."""
        from graphviz_tb.render.json import JsonDocument, group_rows

        if (stacked := self.with_all_stacks) is not self:
            return stacked.document()
        # One pass over all edges of the file instead of one per group.
        self.expander.bundle_all_levels()
        with self.report.stage("expand"):
            forms = {row: self.expander.level_form(row) for row in group_rows(self.hierarchy)}
            surplus = self.members.all_surplus()
        extra = {"stats": self.facts.stats.json_entry} if self.facts.stats else {}
        alike: dict[str, list[int]] = {}
        if self.options.annotate.infer:
            extra["cost"] = self.cost.json_entry
            alike["cost"] = self.cost.distinct_totals(len(self.hierarchy))[1]
        level = self.expander.metagraph
        return JsonDocument(self.hierarchy, lambda row: level((row,)), extra, alike, forms.get, surplus)

    def to_pydot(self, **choices: Any) -> pydot.Dot:
        """Return the picture as a `pydot.Dot`."""
        return self.picture(**choices).to_pydot()

    def to_networkx(self, path: RowPath = (0,)) -> networkx.DiGraph[int]:
        """Return the group at `path` as a `networkx.DiGraph` of its children."""
        from graphviz_tb.render.exports import to_networkx

        return to_networkx(self.hierarchy, self.metagraph(path))

    def render(self, format: str = "svg", options: PictureOptions | None = None, **choices: Any) -> bytes:
        """Return the whole file as bytes, in a format of `RENDERERS`; `choices` as for `picture`.

        Raises for a choice that changes nothing in this format.
        """
        row = find_renderer(format)
        check_options_used(choices, [format])
        wanted = self._picture_options(options, choices)
        with garbage_collection_paused(), self.report.stage("render"):
            return row.render(self, wanted)

    def json_bytes(self) -> bytes:
        """Return the folded graph as the bytes of a JSON file."""
        return self.render("json")

    def shortfalls(self, format: str, options: PictureOptions | None = None) -> tuple[Notice, ...]:
        """Return notices of requests that a format cannot meet fully: a cap on pixels, letters missing from the
        font."""
        return find_renderer(format).shortfalls(self, self._picture_options(options, {}))

    def show(self, height: int = 640, **choices: Any) -> NotebookFrame:
        """Return the page for a notebook cell, `height` pixels high; `choices` are fields of `PictureOptions`."""
        return self.picture(**choices).show(height)

    def save(self, target: str | os.PathLike[str], format: str | None = None, **choices: Any) -> None:
        """Write a file; the format follows from the suffix."""
        check_inputs_kept(self.files, [target])
        write_output(target, self.render(output_format(target, format), **choices))

    def _picture_options(self, options: PictureOptions | None, choices: Mapping[str, Any]) -> PictureOptions:
        require_type("options", options, PictureOptions, NoneType)
        return picture_choices(options or self.options.picture, choices)


def _rebuild_model(
    loaded: LoadedGraph,
    options: Options,
    source: Any,
    inputs: tuple[Any, ...],
    stats: Stats | None,
    before: Stats | None,
    colouring: Colouring | None,
    view: SavedView | None = None,
    given: UserFacts | None = None,
) -> Model:
    """Fold a pickled model again."""
    with garbage_collection_paused():
        model = _build_model(loaded, options, StageReport(), source, stats, before)
    model.files = inputs
    model = model if view is None else model.with_saved_view(view)
    model = model if given is None else model._replace_parts(facts=replace(model.facts, given=given))
    return model if colouring is None else model.with_colouring(colouring)


__all__ = ["Model", "Picture", "_draw_picture", "load"]
