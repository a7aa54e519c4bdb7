"""One run of a command on one model: load with a progress bar, print notices and times at the end."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from graphviz_tb.api.pipeline import Model, load
from graphviz_tb.caches import garbage_collection_paused
from graphviz_tb.commands.progress_bar import ProgressBar
from graphviz_tb.commands.terminal import print_notices, print_quality, print_times
from graphviz_tb.errors import NOT_STRICT_HINT, GraphError
from graphviz_tb.model.facts import SavedView
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import Options
from graphviz_tb.output.renderers import find_renderer
from graphviz_tb.progress import STAGE_NAMES, StageReport, listening

if TYPE_CHECKING:
    from graphviz_tb.commands.options import FactsRequest
    from graphviz_tb.place.quality import SceneQuality


@dataclass(slots=True)
class CommandSession:
    """A loaded model and the notices of this run."""

    model: Model
    strict: bool
    timing: bool = False
    notices: list[Notice] = field(default_factory=list)
    quality: SceneQuality | None = None

    def encode_formats(self, formats: Iterable[str]) -> list[bytes]:
        """Return the graph in each format; record the notices of the picture and of each format."""
        words = list(formats)
        # JSON has no picture: do not draw one for JSON alone.
        if any(find_renderer(word).uses for word in words):
            picture = self.model.picture()
            self.collect_notices(picture.notices)
            if self.timing:
                from graphviz_tb.place.quality import measure_quality

                self.quality = measure_quality(picture.scene)
        made = [self.model.render(word) for word in words]
        for word in words:
            self.collect_notices(self.model.shortfalls(word))
        return made

    def collect_notices(self, notices: Iterable[Notice]) -> None:
        """Collect notices for the end; with `strict`, raise the first that is about the file."""
        for notice in notices:
            if self.strict and notice.strict:
                raise GraphError(notice.message, hint=NOT_STRICT_HINT)
            self.notices.append(notice)


@contextmanager
def open_model(
    source: Any,
    options: Options,
    timing: bool = False,
    quiet: bool = False,
    view: SavedView | None = None,
    facts: FactsRequest | None = None,
) -> Iterator[CommandSession]:
    """Load `source`, with a view, and yield a `CommandSession`; at the end print notices and times."""
    with garbage_collection_paused():
        bar = ProgressBar(STAGE_NAMES, quiet)
        report = StageReport(bar, bar.show_progress)
        try:
            with listening(bar.show_steps):
                model = load(source, options, report, view)
                if facts is not None:
                    model = model.with_facts(facts.file, facts.column, facts.color)
                session = CommandSession(model, options.read.strict, timing)
                session.collect_notices(session.model.notices)
                yield session
        # Clear the bar after an error too, whose message needs its own line.
        finally:
            bar.clear()
        if not quiet:
            print_notices(session.notices)
        if timing:
            print_times({stage: report.seconds[stage] for stage in STAGE_NAMES if stage in report.seconds})
            if session.quality is not None:
                print_quality(session.quality)
        gc.freeze()  # nearly every command ends with this model: never traverse it for garbage


def release_models() -> None:
    """Free the open models; for a command that opens several models, after each."""
    gc.unfreeze()
    gc.collect()
