"""One run of a command on one model: load with a progress bar, print notices and times at the end."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphviz_tb.commands.terminal import ProgressBar, tell_notices, tell_quality, tell_times
from graphviz_tb.errors import LENIENT, GraphError
from graphviz_tb.formats import renderer
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import Options
from graphviz_tb.pipeline import Model, load, no_collection
from graphviz_tb.report import STAGES, Report

if TYPE_CHECKING:
    from graphviz_tb.commands.views import FactsAsked
    from graphviz_tb.model.saved_view import SavedView
    from graphviz_tb.place.quality import Quality


@dataclass(slots=True)
class Session:
    """A loaded model and the notices of this run."""

    model: Model
    strict: bool
    timing: bool = False
    notices: list[Notice] = field(default_factory=list)
    quality: Quality | None = None

    def encode(self, formats: Iterable[str]) -> list[bytes]:
        """Return the graph in each format; record the notices of the picture and of each format."""
        words = list(formats)
        # JSON has no picture: do not draw one for JSON alone.
        if any(renderer(word).uses for word in words):
            picture = self.model.picture()
            self.note(picture.notices)
            if self.timing:
                from graphviz_tb.place.quality import quality

                self.quality = quality(picture.scene)
        made = [self.model.render(word) for word in words]
        for word in words:
            self.note(self.model.shortfalls(word))
        return made

    def note(self, notices: Iterable[Notice]) -> None:
        """Collect notices for the end; with `strict`, raise the first that is about the file."""
        for notice in notices:
            if self.strict and notice.strict:
                raise GraphError(notice.message, hint=LENIENT)
            self.notices.append(notice)


@contextmanager
def open_model(
    source: Any,
    options: Options,
    timing: bool = False,
    quiet: bool = False,
    view: SavedView | None = None,
    facts: FactsAsked | None = None,
) -> Iterator[Session]:
    """Load `source`, with a view, and yield a `Session`; at the end print notices and times."""
    with no_collection():
        bar = ProgressBar(STAGES, quiet)
        report = Report(bar, bar.part)
        try:
            model = load(source, options, report, view)
            if facts is not None:
                model = model.with_facts(facts.file, facts.column, facts.color)
            session = Session(model, options.read.strict, timing)
            session.note(session.model.notices)
            yield session
        # Also after an error: its message needs a separate line.
        finally:
            bar.clear()
        if not quiet:
            tell_notices(session.notices)
        if timing:
            tell_times({stage: report.seconds[stage] for stage in STAGES if stage in report.seconds})
            if session.quality is not None:
                tell_quality(session.quality)
        gc.freeze()  # nearly every command ends with this model: no walk over all of it


def forget_models() -> None:
    """Free the models that were open: for a command that opens several, after each."""
    gc.unfreeze()
    gc.collect()
