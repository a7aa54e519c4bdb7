"""`tbgraph find`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from graphviz_tb.commands.options import GroupedCommand, collect_options, fold_options, input_options, json_option
from graphviz_tb.model.formatting import document_header, format_micros, printable

if TYPE_CHECKING:
    from graphviz_tb.api import Node

EXIT_FOUND, EXIT_NOTHING_FOUND = 0, 1  # exit codes, as in grep


@click.command(
    cls=GroupedCommand, epilog="Exit codes: 0 found, 1 nothing found, 2 request, 3 file, 4 graph, 5 machine."
)
@click.argument("model")
@click.argument("queries", metavar="QUERY…", nargs=-1, required=True)
@click.option("--count", is_flag=True, help="Print only the number of results.")
@click.option("--names", is_flag=True, help="Print only the names, one per line.")
@json_option()
@fold_options
@input_options
@click.option("-q", "--quiet", is_flag=True, help="Print no notices and no progress bar.")
@click.pass_context
def find(
    context: click.Context,
    /,
    model: str,
    queries: tuple[str, ...],
    count: bool,
    names: bool,
    as_json: bool,
    quiet: bool,
    **values: Any,
) -> None:
    """List the ops and groups of MODEL that match every QUERY.

    A word matches names, op types, devices and attributes. A field restricts it: name: op: device: attr: shape:
    dtype: source:. Numbers are compared: params>1M, flops, activations, weights, and with run statistics time>1ms,
    memory. Join queries with and, or, not and parentheses (docs/find.md).

    \b
    tbgraph find model.pb op:Conv2D
    tbgraph find model.pb 'op:MatMul params>1M'
    tbgraph find model.pb 'conv* and not attr:padding=SAME' --names
    tbgraph find logdir --run train 'time>1ms'
    tbgraph find model.pb dtype:float16 -q && echo 'not for this machine'
    """
    from graphviz_tb.commands.session import open_model
    from graphviz_tb.commands.table import print_json, print_lines
    from graphviz_tb.output.files import check_inputs_kept
    from graphviz_tb.search.language import parse_query

    if sum((count, names, as_json)) > 1:
        raise click.UsageError("--count, --names and --json say the same in different ways; choose one")
    for query in queries:
        parse_query(query)  # before a large file is read
    options = collect_options(values)
    check_inputs_kept((model, *options.read.run_metadata), ["-"])
    with open_model(model, options, quiet=quiet) as session:
        nodes = session.model.find(*queries)
        if count:
            print_lines([str(len(nodes))])
        elif as_json:
            items = [_found_node_values(node) for node in nodes]
            print_json({**document_header("tbgraph-find"), "label": session.model.label, "nodes": items})
        else:
            print_lines((printable(node.name) for node in nodes) if names else _found_node_lines(list(nodes)))
    context.exit(EXIT_FOUND if len(nodes) else EXIT_NOTHING_FOUND)


def _found_node_values(node: Node) -> dict[str, Any]:
    cost = node.cost
    return {
        "name": node.name,
        "kind": node.kind,
        "op": node.op,
        "device": node.device,
        "outputs": [
            {"shape": None if shape is None else list(shape), "dtype": dtype}
            for shape, dtype in zip(node.shapes, node.dtypes, strict=True)
        ],
        "parameters": cost.parameters,
        "flops": cost.flops,
        "at_least": sorted(cost.lower_bounds()),
        "at_most": sorted(cost.upper_bounds()),
        "time": node.time,
    }


def _found_node_lines(nodes: list[Node]) -> Iterator[str]:
    """Yield the table: name, op or kind, shape, and parameters, FLOPs and time if there are any."""
    from graphviz_tb.commands.costs import cost_amount
    from graphviz_tb.commands.table import format_table, output_style, terminal_width
    from graphviz_tb.model.tensors import shape_text

    rows: list[tuple[str, ...]] = [("name", "op", "output", "parameters", "FLOPs", "time")]
    for node in nodes:
        cost = node.cost
        shape = "" if node.shape is None else shape_text(node.shape) or "scalar"
        counts = (cost_amount(cost, word) if getattr(cost, word) else "" for word in ("parameters", "flops"))
        time = "" if node.time is None else format_micros(node.time)
        rows.append((printable(node.name), printable(node.op or node.kind), shape, *counts, time))
    shown = [column for column in range(len(rows[0])) if column < 2 or any(row[column] for row in rows[1:])]
    if nodes:
        cells = [[row[column] for column in shown] for row in rows]
        right = [position for position, column in enumerate(shown) if column >= 3]  # numbers
        shrinking = [position for position, column in enumerate(shown) if column < 3]
        yield from format_table(cells, terminal_width(), right, shrinking, indent=0, header=True, look=output_style())
    yield ""
    yield f"{len(nodes):,} found"
