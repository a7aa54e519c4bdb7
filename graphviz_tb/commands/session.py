"""One run of a command on one model: load with a progress bar, tell notices and times at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from graphviz_tb.commands.terminal import Progress, tell_notices, tell_times
from graphviz_tb.errors import GraphError
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import Options
from graphviz_tb.pipeline import STAGES, Model, Picture, Report, load

# What says something about the picture that was asked for, not about the file.
OURS = frozenset(
    (
        *("max-open", "template-limit", "unlisted-functions", "conceptual-graph", "several-graphs"),
        *("png-scaled", "png-font", "pdf-font", "engine-limit"),
    )
)


@dataclass(slots=True)
class Session:
    """A loaded model and the notices of this run."""

    model: Model
    strict: bool
    notices: list[Notice] = field(default_factory=list)

    def picture(self) -> Picture:
        """The picture that the options ask for."""
        picture = self.model.picture()
        self.note(picture.notices)
        return picture

    def encode(self, picture: Picture | None, format: str) -> bytes:
        """The picture (or, for JSON, the model) as bytes."""
        if picture is None or format == "json":
            return self.model.json_bytes()
        self.note(picture.shortfalls(format))
        return picture.render(format)

    def note(self, notices: Iterable[Notice]) -> None:
        """Keep notices for the end; with `strict` the first about the file is an error."""
        for notice in notices:
            if self.strict and notice.code not in OURS:
                raise GraphError(notice.message, hint="leave out --strict to go on all the same")
            self.notices.append(notice)


@contextmanager
def open_model(source: Any, options: Options, timing: bool = False, quiet: bool = False) -> Iterator[Session]:
    """Load `source` and give a `Session`; on the way out say what there is to say."""
    bar = Progress(STAGES, quiet)
    report = Report(bar, bar.part)
    try:
        session = Session(load(source, options, report), options.read.strict)
        session.note(session.model.notices)
        yield session
    finally:
        bar.clear()
    if not quiet:
        tell_notices(session.notices)
    if timing:
        tell_times(report.seconds)
