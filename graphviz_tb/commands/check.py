"""`tbgraph check`."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands.options import collect, fold_options, input_options, together
from graphviz_tb.model.json_values import heading

if TYPE_CHECKING:
    from graphviz_tb.api.checked import CheckedAssertion, CheckedModel
    from graphviz_tb.errors import TbGraphError

# Up to the end of the line, outside quotes.
COMMENT = re.compile(r'^(?P<kept>(?:[^"#]|"[^"]*"|(?<=\S)#)*?)(?:(?<=\s)|^)#.*$')
PASSED, FAILED = 0, 1  # exit codes
assertion_options = together(
    click.option("--assert", "assertions", metavar="ASSERTION", multiple=True, help="What must hold; repeatable."),
    click.option("--assert-file", metavar="FILE", multiple=True, help="A file of assertions, one a line; - is stdin."),
    click.option(
        "--ignore-unknown", is_flag=True, help="Where a part of a value is not known, judge by what is counted."
    ),
)


@click.command(epilog="Exit codes: 0 all pass, 1 one does not, 2 request, 3 file, 4 graph, 5 machine.")
@click.argument("models", metavar="MODEL…", nargs=-1, required=True)
@assertion_options
@click.option("--top", type=click.IntRange(0), default=5, metavar="N", help="Nodes named for each assertion [5].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@fold_options
@input_options
@click.option("-q", "--quiet", is_flag=True, help="Print nothing: the exit code says it.")
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
    """Check assertions about MODEL, and end with exit code 1 where one does not hold.

    An assertion compares a quantity of the whole graph with a number, or, with a query of find in parentheses, of
    what it finds: count(QUERY), params, flops, macs, activations, weights, ops, and, with run statistics, time and
    memory. A value of which a part is not known fails unless the assertion holds in any case (docs/ci.md).

    \b
    tbgraph check model.pb --assert 'count(op:Cast) == 0' --assert 'params < 5M'
    tbgraph check saved_model/ --assert 'flops(name:encoder) <= 2G' --json
    tbgraph check models/*.pb --assert-file model.assertions
    """
    from graphviz_tb.api.checked import assertion_lines, verdict
    from graphviz_tb.commands.session import forget_models, open_model
    from graphviz_tb.commands.table import json_lines, tell
    from graphviz_tb.errors import GraphError, ReadError
    from graphviz_tb.output import keep_inputs
    from graphviz_tb.read.inputs import check_once

    check_once((*models, *assert_file))
    wanted = wanted_assertions(assertions, assert_file)
    options = collect(values)
    keep_inputs((*models, *options.read.run_metadata), ["-"])
    entries: list[dict[str, Any]] = []
    passed, unread = True, PASSED
    for model in models:
        try:
            with open_model(model, options, quiet=quiet) as session:
                checked = session.model.check(*wanted, ignore_unknown=ignore_unknown)
                label = session.model.loaded.label if session.model.loaded else ""
        except (ReadError, GraphError) as error:
            if len(models) == 1:
                raise
            entries.append(not_read(model, error))  # the other models are still checked
            passed, unread = False, max(unread, error.exit_code)
            continue
        if len(models) > 1:
            forget_models()
        passed = passed and bool(checked)
        if as_json:
            entries.append({"label": label, **entry(checked, top)})
        elif not quiet:
            tell([*([line_above(model)] if len(models) > 1 else []), *assertion_lines(checked, top), verdict(checked)])
    if as_json:
        tell(json_lines({**heading("tbgraph-check"), "passed": passed, "models": entries}))
    return unread or (PASSED if passed else FAILED)


def not_read(model: str, error: TbGraphError) -> dict[str, Any]:
    """Report one of several models that cannot be read; return its entry of the JSON document."""
    from graphviz_tb.commands import complain

    complain(f"{model}: {error.message}" if model not in error.message else error.message, error.hint)
    return {"label": model, "passed": False, "error": error.message, "assertions": []}


def line_above(model: str) -> str:
    """Return the heading of the results of one of several models."""
    from graphviz_tb.commands.terminal import one_line
    from graphviz_tb.read.inputs import named

    return f"{one_line(named(model))}:"


def wanted_assertions(given: Iterable[str], files: Iterable[str], optional: bool = False) -> list[str]:
    """Return all assertions, those of files last; read before a large graph is.

    Raises `RequestError` if there are none and they are not `optional`, `MalformedAssertion` for an invalid one.
    """
    from graphviz_tb.errors import MalformedAssertion, RequestError
    from graphviz_tb.search import parse_assertion

    wanted = list(given)
    for text in wanted:
        parse_assertion(text)
    for file in files:
        for number, text in lines_of(file):
            try:
                parse_assertion(text)
            except MalformedAssertion as error:
                what = f"{file}, line {number}: {error.message.partition(chr(10))[0].removesuffix(':')}"
                raise MalformedAssertion(what, text, error.column, hint=error.hint) from None
            wanted.append(text)
    if not wanted and not optional:
        raise RequestError("nothing is asserted", hint="--assert 'params < 5M' --assert 'count(op:Cast) == 0'")
    return wanted


def lines_of(file: str) -> list[tuple[int, str]]:
    """Return the assertions of a file, or of standard input (`-`): one line each, with its number. A # at the beginning
    of a line or after a space begins a comment."""
    from graphviz_tb.errors import ReadError, TooLarge
    from graphviz_tb.limits import ASSERTIONS_BYTES

    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            data = stream.read(ASSERTIONS_BYTES + 1)  # a device may go on for ever
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it is no text in UTF-8"
        raise ReadError(f"cannot read the assertions in {file!r}: {reason}", hint="one assertion a line") from error
    if len(data) > ASSERTIONS_BYTES:
        raise TooLarge(f"{file!r} has more than {ASSERTIONS_BYTES:,} bytes of assertions", hint="one assertion a line")
    lines = ((number, COMMENT.sub(r"\g<kept>", line).strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line]


def entry(checked: CheckedModel, top: int) -> dict[str, Any]:
    """Return the results of one model as plain values."""
    return {"passed": bool(checked), "assertions": [result(checked, each, top) for each in checked]}


def result(checked: CheckedModel, each: CheckedAssertion, top: int) -> dict[str, Any]:
    """Return one result; `most` is null if the value has no upper end."""
    from graphviz_tb.summary import displayed_name

    return {
        "assertion": each.assertion.text,
        "state": each.state,
        "quantity": each.assertion.compared.quantity,
        "value": each.least,
        "most": each.most if math.isfinite(each.most) else None,
        "unknown": each.why,
        "count": len(each.nodes),
        "nodes": [displayed_name(checked.model.hierarchy, node.row) for node in each.nodes[:top]],
    }
