"""`tbgraph check`."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands import print_error
from graphviz_tb.commands.options import (
    GroupedCommand,
    collect_options,
    combine_options,
    fold_options,
    input_options,
    json_option,
)
from graphviz_tb.errors import GraphError, MalformedAssertion, ReadError, RequestError, TbGraphError, TooLarge
from graphviz_tb.limits import MAX_ASSERTIONS_BYTES
from graphviz_tb.model.formatting import document_header, printable
from graphviz_tb.options import Options

if TYPE_CHECKING:
    from graphviz_tb.api.checking import CheckedAssertion, CheckedModel

# Up to the end of the line, outside quotes.
ASSERTION_COMMENT = re.compile(r'^(?P<kept>(?:[^"#]|"[^"]*"|(?<=\S)#)*?)(?:(?<=\s)|^)#.*$')
EXIT_PASSED, EXIT_FAILED = 0, 1  # exit codes
assertion_options = combine_options(
    click.option("--assert", "assertions", metavar="ASSERTION", multiple=True, help="Check this assertion."),
    click.option(
        "--assert-file", metavar="FILE", multiple=True, help="Read assertions from a file, one per line; - is stdin."
    ),
    click.option("--ignore-unknown", is_flag=True, help="Judge incomplete values by the known part."),
    heading="Assertions",
)


@click.command(
    cls=GroupedCommand, epilog="Exit codes: 0 all pass, 1 one does not, 2 request, 3 file, 4 graph, 5 machine."
)
@click.argument("models", metavar="MODEL…", nargs=-1, required=True)
@assertion_options
@click.option("--top", type=click.IntRange(0), default=5, metavar="N", help="Name at most N nodes per assertion [5].")
@json_option()
@fold_options
@input_options
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; use the exit code.")
def check(
    models: tuple[str, ...],
    assertions: tuple[str, ...],
    assert_file: tuple[str, ...],
    ignore_unknown: bool,
    top: int,
    as_json: bool,
    quiet: bool,
    **values: Any,
) -> int:
    """Check assertions about MODEL; exit with 1 if one fails.

    An assertion compares a quantity with a number: ops, params, flops, macs, activations, weights, and with run
    statistics time and memory. A quantity is that of the whole graph, or of the results of a query of find:
    count(QUERY), flops(QUERY). If a part is unknown, the assertion fails unless it holds in any case (docs/ci.md).

    \b
    tbgraph check model.pb --assert 'count(op:Cast) == 0' --assert 'params < 5M'
    tbgraph check saved_model/ --assert 'flops(name:encoder) <= 2G' --json
    tbgraph check models/*.pb --assert-file model.assertions
    """
    from graphviz_tb.commands.session import release_models
    from graphviz_tb.commands.table import print_json
    from graphviz_tb.output.files import check_inputs_kept
    from graphviz_tb.sources.streams import check_stdin_once

    check_stdin_once((*models, *assert_file))
    wanted = collect_assertions(assertions, assert_file)
    options = collect_options(values)
    check_inputs_kept((*models, *options.read.run_metadata), ["-"])
    entries: list[dict[str, Any]] = []
    passed, read_error_code = True, EXIT_PASSED
    for model in models:
        try:
            results, label = _check_model(model, wanted, options, ignore_unknown, quiet)
        except (ReadError, GraphError) as error:
            if len(models) == 1:
                raise
            entries.append(_report_unread_model(model, error))  # the other models are still checked
            passed, read_error_code = False, max(read_error_code, error.exit_code)
            continue
        if len(models) > 1:
            release_models()
        passed = passed and bool(results)
        if as_json:
            entries.append({"label": label, **check_values(results, top)})
        elif not quiet:
            _print_results(results, top, model if len(models) > 1 else "")
    if as_json:
        print_json({**document_header("tbgraph-check"), "passed": passed, "models": entries})
    return read_error_code or (EXIT_PASSED if passed else EXIT_FAILED)


def _check_model(
    model: str, assertions: Sequence[str], options: Options, ignore_unknown: bool, quiet: bool
) -> tuple[CheckedModel, str]:
    from graphviz_tb.commands.session import open_model

    with open_model(model, options, quiet=quiet) as session:
        checked = session.model.check(*assertions, ignore_unknown=ignore_unknown)
        return checked, session.model.label


def _report_unread_model(model: str, error: TbGraphError) -> dict[str, Any]:
    """Report one of several models that cannot be read; return its entry of the JSON document."""
    print_error(f"{model}: {error.message}" if model not in error.message else error.message, error.hint)
    return {"label": model, "passed": False, "error": error.message, "assertions": []}


def _print_results(checked: CheckedModel, top: int, model: str) -> None:
    """Print the results of the assertions, under the name of the `model` if it is one of several."""
    from graphviz_tb.api.checking import assertion_lines, assertions_verdict
    from graphviz_tb.commands.table import print_lines
    from graphviz_tb.sources.streams import name_of_user

    heading = [f"{printable(name_of_user(model))}:"] if model else []
    print_lines([*heading, *assertion_lines(checked, top), assertions_verdict(checked)])


def collect_assertions(given: Iterable[str], files: Iterable[str], optional: bool = False) -> list[str]:
    """Return all assertions, those of files last; read before a large graph is.

    Raises `RequestError` if there are none and they are not `optional`, `MalformedAssertion` for an invalid one.
    """
    from graphviz_tb.search.language import parse_assertion

    wanted = list(given)
    for text in wanted:
        parse_assertion(text)
    for file in files:
        for number, text in _read_assertion_lines(file):
            try:
                parse_assertion(text)
            except MalformedAssertion as error:
                message = f"{file}, line {number}: {error.message.partition(chr(10))[0].removesuffix(':')}"
                raise MalformedAssertion(message, text, error.column, hint=error.hint) from None
            wanted.append(text)
    if not wanted and not optional:
        raise RequestError("no assertion given", hint="--assert 'params < 5M' --assert 'count(op:Cast) == 0'")
    return wanted


def _read_assertion_lines(file: str) -> list[tuple[int, str]]:
    """Return the assertions of a file, or of standard input (`-`): one line each, with its number. A # at the beginning
    of a line or after a space begins a comment."""
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            data = stream.read(MAX_ASSERTIONS_BYTES + 1)  # a device may be endless
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it is not text in UTF-8"
        raise ReadError(f"cannot read the assertions in {file!r}: {reason}", hint="one assertion per line") from error
    if len(data) > MAX_ASSERTIONS_BYTES:
        raise TooLarge(
            f"{file!r} has more than {MAX_ASSERTIONS_BYTES:,} bytes of assertions", hint="one assertion per line"
        )
    lines = (
        (number, ASSERTION_COMMENT.sub(r"\g<kept>", line).strip()) for number, line in enumerate(text.splitlines(), 1)
    )
    return [(number, line) for number, line in lines if line]


def check_values(checked: CheckedModel, top: int) -> dict[str, Any]:
    return {
        "passed": bool(checked),
        "assertions": [_assertion_values(checked, assertion, top) for assertion in checked],
    }


def _assertion_values(checked: CheckedModel, each: CheckedAssertion, top: int) -> dict[str, Any]:
    """Return one result; `most` is null if the value has no upper end."""
    from graphviz_tb.api.summary import row_display_name

    return {
        "assertion": each.assertion.text,
        "state": each.state,
        "quantity": each.assertion.compared.quantity,
        "value": each.least,
        "most": each.most if math.isfinite(each.most) else None,
        "unknown": each.why,
        "count": len(each.nodes),
        "nodes": [row_display_name(checked.model.hierarchy, node.row) for node in each.nodes[:top]],
    }
