"""`tbgraph review`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.api.checking import CheckedModel, assertion_lines, assertions_verdict
from graphviz_tb.commands.check import assertion_options, check_values, collect_assertions
from graphviz_tb.commands.costs import cost_amount
from graphviz_tb.commands.diff import (
    EXIT_DIFFERENT,
    EXIT_SAME,
    MAX_REPORTED_CHANGES,
    MODEL_TABLE_HEAD,
    diff_exit_code,
    encode_diff_output,
    model_table_row,
    parse_conditions,
)
from graphviz_tb.commands.options import GroupedCommand, reading_options, view_of_command, view_options
from graphviz_tb.commands.progress_bar import waiting
from graphviz_tb.commands.table import print_json
from graphviz_tb.commands.terminal import print_notices, print_report
from graphviz_tb.diff.report.explain import escape_markdown, headline, in_code, markdown
from graphviz_tb.errors import GraphError, ReadError, RequestError, TbGraphError, check_choice
from graphviz_tb.limits import MAX_COMMENT_LETTERS
from graphviz_tb.model.formatting import document_header, format_counted_noun, printable
from graphviz_tb.options import DiffOptions
from graphviz_tb.output.renderers import RENDERERS

if TYPE_CHECKING:
    from graphviz_tb.api.pipeline import Model
    from graphviz_tb.commands.revision import Revision
    from graphviz_tb.diff.result import Changes

# The results of `tbgraph review` for each model, and their report: lines for a terminal, a comment for a pull
# request.

STATE_WORDS = {
    "new": "new", "removed": "removed", "unread": "not compared", "broken": "cannot be read", "same": "no change",
    "changed": "changed",
}  # fmt: skip
CUT_MARK = "\n\n…\n"


@dataclass(frozen=True, slots=True)
class ReviewedModel:
    """The result for one model.

    `state` is "same", "changed", "new", "removed", "unread" if the base could not be read (see `error`), or "broken" if
    the model itself could not; `base` is the name of the base, `files` are the pictures written.
    """

    path: str
    base: str
    state: str
    model: Model | None = None
    changes: Changes | None = None
    checked: CheckedModel | None = None
    error: TbGraphError | None = None
    files: tuple[str, ...] = ()

    def review_exit_code(self, fail_on: str) -> int:
        """Return the exit code for this result: a new model is not a difference."""
        failed = self.checked is not None and not self.checked
        if self.error is not None and (fail_on != "none" or self.state == "broken"):
            return self.error.exit_code
        gone = self.state == "removed" and fail_on != "none"
        differs = self.changes is not None and diff_exit_code(self.changes, fail_on) != EXIT_SAME
        return EXIT_DIFFERENT if failed or gone or differs else EXIT_SAME


def _reviewed_entry(one: ReviewedModel) -> dict[str, Any]:
    """Return one model as plain values: its state, changes, assertions and files; what is not known of it is null."""
    return {
        "path": one.path,
        "base": one.base,
        "state": one.state,
        "error": None if one.error is None else one.error.message,
        "changes": None if one.changes is None else one.changes.to_json(),
        "checked": None if one.checked is None else check_values(one.checked, MAX_REPORTED_CHANGES),
        "files": list(one.files),
    }


def _review_text(one: ReviewedModel) -> str:
    said = [f"{printable(one.path)}: {printable(_model_state_words(one))}"]
    if one.changes is not None and one.state == "changed":
        said = [f"{printable(one.path)}: {one.changes.explain('text', MAX_REPORTED_CHANGES).rstrip()}"]
    if one.checked is not None:
        said += [*assertion_lines(one.checked), assertions_verdict(one.checked)]
    return "\n".join([*said, *(f"written: {name}" for name in one.files), ""])


def _model_state_words(one: ReviewedModel) -> str:
    if one.error is not None:
        where = "" if one.state == "broken" else f" with {one.base}"
        return f"{STATE_WORDS[one.state]}{where}: {' '.join(one.error.message.split())}"
    where = (
        f" (not in {one.base})" if one.state == "new" else f" (it is in {one.base})" if one.state == "removed" else ""
    )
    size = f"; {_model_size_words(one.model)}" if one.model is not None else ""
    return f"{STATE_WORDS[one.state]}{where}{size}"


def _model_size_words(model: Model) -> str:
    """Return the size of a model: `271 ops, 7.37 k parameters, at least 1.63 M FLOPs`."""
    ops, cost = model.hierarchy.op_count(0), model.cost.under(0)
    said = [format_counted_noun(ops, "op")]
    said += (
        [f"{cost_amount(cost, 'parameters')} parameters"]
        if cost.parameters or cost.is_lower_bound("parameters")
        else []
    )
    return ", ".join([*said, f"{cost_amount(cost, 'flops')} FLOPs"] if cost.flops else said)


def _review_comment(title: str, done: Sequence[ReviewedModel]) -> str:
    """Return the comment; its invisible first line identifies it for updates."""
    head = [f"<!-- tbgraph review: {re.sub(r'[^A-Za-z0-9 ._]', '_', title)} -->", f"## {escape_markdown(title)}", ""]
    if len(done) > 1:
        head += [*MODEL_TABLE_HEAD, *map(_review_table_row, done), ""]
    said = "\n".join(head)
    for reviewed in done:
        part = "\n" + _comment_section(reviewed)
        # Keep the first lines, the most important; the rest is in the files.
        if len(said) + len(part) > MAX_COMMENT_LETTERS - len(CUT_MARK):
            return said + part[: max(0, MAX_COMMENT_LETTERS - len(CUT_MARK) - len(said))].rsplit("\n", 1)[0] + CUT_MARK
        said += part
    return said


def _review_table_row(one: ReviewedModel) -> str:
    return model_table_row(
        one.path,
        headline(one.changes) if one.state == "changed" and one.changes else STATE_WORDS[one.state],
        one.changes,
    )


def _comment_section(one: ReviewedModel) -> str:
    if one.state == "changed" and one.changes is not None:
        said = [markdown(one.changes).rstrip()]
    else:
        said = [f"### `{in_code(one.path)}`: {escape_markdown(_model_state_words(one))}"]
    if one.checked is not None:
        said += ["", f"**{assertions_verdict(one.checked)}**", ""]
        said += [_assertion_item(line) for line in assertion_lines(one.checked)]
    if one.files:
        said += ["", f"Pictures: {', '.join(f'`{in_code(name)}`' for name in one.files)}"]
    return "\n".join([*said, ""])


def _assertion_item(line: str) -> str:
    return f"  - {escape_markdown(line.strip())}" if line.startswith(" ") else f"- {escape_markdown(line)}"


COMMENT_FILE = "comment.md"
DRAWN_FORMATS = tuple(word for word, row in RENDERERS.items() if row.uses)


@click.command(
    cls=GroupedCommand, epilog="Exit codes: 0 done, 1 --fail-on or --assert, 2 request, 3 file, 4 graph, 5 machine."
)
@click.argument("models", metavar="MODEL…", nargs=-1, required=True)
@click.option("--base", metavar="REV", default="HEAD", help="Compare with this revision: origin/main, HEAD~3 [HEAD].")
@click.option("-o", "--output", metavar="FOLDER", help=f"Write pictures and {COMMENT_FILE} to this folder.")
@click.option("-f", "--format", "formats", metavar="FORMAT", multiple=True, help=f"{', '.join(DRAWN_FORMATS)} [svg].")
@click.option("--title", metavar="TEXT", default="Model graph", help="Heading of the comment [Model graph].")
@click.option("--fail-on", metavar="WHAT", default="none", help="Exit with 1 for these changes, as in diff [none].")
@click.option(
    "--include", metavar="WHAT", multiple=True, help="Include shapes, devices, colocation, versions, constants, or all."
)
@assertion_options
@reading_options
@view_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as --format json.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; use the exit code and the files.")
def review(models: tuple[str, ...], base: str, output: str | None, as_json: bool, quiet: bool, **values: Any) -> int:
    """Report the changes to each MODEL since a revision of git.

    MODEL is a file or folder of the repository. A model that the revision does not have is new, which is not a failure.
    -o FOLDER writes pictures of the model and of its changes, and a comment for a pull request (docs/ci.md).

    \b
    tbgraph review model/graph.pb              # since the last commit
    tbgraph review model/graph.pb --base origin/main -o review
    tbgraph review model/graph.pb --fail-on signature --assert 'params < 5M'
    """
    from graphviz_tb.commands.revision import Revision
    from graphviz_tb.output.files import write_output

    as_json = as_json or "json" in values["formats"]
    formats = _checked_drawn_formats(tuple(word for word in values["formats"] if word != "json"), output)
    parse_conditions(values["fail_on"])
    wanted = collect_assertions(values["assertions"], values["assert_file"], optional=True)
    revision = Revision.find_revision(base)
    folder = _make_output_folder(output)
    reviews: list[ReviewedModel] = []
    for path in dict.fromkeys(models):
        stem = None if folder is None else folder / _free_file_stem(path, reviews)
        try:
            with waiting("compare", quiet):
                reviewed = _review_model(path, revision, wanted, values)
        except (ReadError, GraphError) as error:
            if len(models) == 1:
                raise
            reviewed = ReviewedModel(path, revision.name, "broken", error=error.with_traceback(None))
        files = () if stem is None else tuple(_draw_review(reviewed, stem, formats))
        reviews.append(replace(reviewed, files=files))
        if not quiet:
            if not as_json:
                print_report(_review_text(reviews[-1]))
            print_notices(reviewed.model.notices if reviewed.model is not None else ())
    if folder is not None:
        write_output(folder / COMMENT_FILE, _review_comment(values["title"], reviews).encode("utf-8", "replace"))
    if as_json and not quiet:
        entries = [_reviewed_entry(reviewed) for reviewed in reviews]
        print_json({**document_header("tbgraph-review"), "base": revision.name, "models": entries})
    return max(reviewed.review_exit_code(values["fail_on"]) for reviewed in reviews)


def _checked_drawn_formats(words: tuple[str, ...], output: str | None) -> tuple[str, ...]:
    """Return the formats of pictures. Raises `RequestError` for an unknown one, or if nothing is written."""
    for word in words:
        check_choice("format", word, DRAWN_FORMATS)
    if words and output is None:
        raise RequestError("--format changes nothing: nothing is written", hint="name a folder: -o review")
    return tuple(dict.fromkeys(words)) or ("svg",)


def _make_output_folder(output: str | None) -> Path | None:
    from graphviz_tb.output.files import convert_file_errors

    if output is None:
        return None
    if not output:
        raise RequestError("the name of the folder is empty", hint="-o review")
    folder = Path(output)
    with convert_file_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _free_file_stem(path: str, done: list[ReviewedModel]) -> str:
    """Return the file name for pictures of a model: its path in letters that any file system accepts, numbered if
    taken.

    >>> _free_file_stem("model/graph.pb", []), _free_file_stem("$(rm -r)|x", [])
    ('model_graph.pb', 'rm_-r_x')
    """
    stem = re.sub(r"[^A-Za-z0-9.-]+", "_", path).strip("._")[-100:] or "model"
    taken = sum(_free_file_stem(reviewed.path, []) == stem for reviewed in done)
    return f"{stem}.{taken + 1}" if taken else stem


def _review_model(path: str, revision: Revision, wanted: list[str], values: dict[str, Any]) -> ReviewedModel:
    """Compare a model with its version in the base revision."""
    import graphviz_tb

    repository_path = revision.repository_path(path)
    read = {name: values[name] for name in ("run", "tag", "kind", "tag_set", "max_bytes") if values[name] is not None}
    with TemporaryDirectory() as scratch:
        try:
            before, error = revision.extract(repository_path, Path(scratch)), None
        except ReadError as refusal:
            before, error = None, refusal
        if not Path(path).exists():
            if before is None and error is None:
                raise RequestError(f"no {path!r} here, nor in {revision.name}", hint="name a file of the repository")
            return ReviewedModel(path, revision.name, "removed")
        model = graphviz_tb.load(path, strict=values["strict"], view=view_of_command(path, values), **read)
        checked = model.check(*wanted, ignore_unknown=values["ignore_unknown"]) if wanted else None
        reviewed = ReviewedModel(path, revision.name, "new", model, checked=checked)
        if before is None:
            return reviewed if error is None else replace(reviewed, state="unread", error=error)
        return _compare_with_base(reviewed, before, repository_path, read, values)


def _compare_with_base(
    one: ReviewedModel, before: Path, place: str, read: dict[str, Any], values: dict[str, Any]
) -> ReviewedModel:
    """Compare a model with its base version: failures are recorded, not raised."""
    from graphviz_tb.diff.run import compare_sources

    options: DiffOptions = DiffOptions.including(values["include"])
    try:
        changes = compare_sources(str(before), one.path, options, read)
    except TbGraphError as error:
        return replace(one, state="unread", error=error.with_traceback(None))
    changes = replace(changes, old_name=f"{one.base}:{place}", new_name=one.path)
    return replace(one, state="same" if changes.same else "changed", changes=changes)


def _draw_review(reviewed: ReviewedModel, stem: Path, formats: tuple[str, ...]) -> Iterator[str]:
    """Write the pictures of a model, and of its changes; yield their names."""
    from graphviz_tb.diff.picture.overlay import Both, picture_options
    from graphviz_tb.output.files import write_outputs

    if reviewed.model is None:
        return
    outputs = []
    view = reviewed.model.view
    comparison = Both(reviewed.changes, view) if reviewed.changes is not None and reviewed.state == "changed" else None
    for word in formats:
        suffix = RENDERERS[word].suffix
        outputs.append((f"{stem}{suffix}", reviewed.model.render(word)))
        if comparison is not None:
            target = f"{stem}.diff{suffix}"
            outputs.append((target, encode_diff_output(comparison, target, picture_options(view, {}))))
    write_outputs(outputs)
    yield from (Path(target).name for target, _ in outputs)
