"""The text of `tbgraph info`: one function per section, which returns lines no wider than `width`; joins of logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphviz_tb.annotate.rankings import StatsSummary, summarize_stats
from graphviz_tb.api.outline import OutlineBox, OutlineGroup, outline_model
from graphviz_tb.api.pipeline import Model
from graphviz_tb.api.summary import StackCounts, Summary, summarize
from graphviz_tb.commands.costs import CostReport, cost_lines, cost_report, statistics_lines
from graphviz_tb.commands.session import open_model
from graphviz_tb.commands.source_contents import (
    SourceArgument,
    describe_choice,
    entry_lines,
    open_run_log,
    signature_lines,
)
from graphviz_tb.commands.table import (
    TextStyle,
    bar_text,
    bar_width,
    clip_end,
    clip_middle,
    color_bars,
    format_percent,
    format_table,
    join_fitting,
    output_style,
    pad_text,
    print_json,
    print_lines,
    shown_width,
    terminal_width,
    wrap_text,
)
from graphviz_tb.errors import MissingFacts
from graphviz_tb.graphs.calls import lower_bound_sign
from graphviz_tb.limits import MAX_LISTED_DEVICES, MAX_OUTLINE_DEPTH, MAX_OUTLINED_BOXES, MAX_RANKED_PLACES
from graphviz_tb.model.formatting import document_header, format_bytes, format_counted_noun, plural_noun, printable
from graphviz_tb.model.joins import JoinRule, TagJoin
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import without_digits
from graphviz_tb.model.sources import Signature, SourceEntry
from graphviz_tb.options import Options

MIN_NOTE_WIDTH = 14  # columns below which notes are left out
MAX_MEMBERS_OUTLINED = 3  # of a stack; of a longer one, the first and the last
NO_DEVICE_WORD = "(none)"
ARGUMENT_OP_TYPE = "input_arg"  # the op type of an argument of a function


@dataclass(frozen=True, slots=True)
class GraphReport:
    """The report on one graph."""

    label: str
    kind: str
    summary: Summary
    statistics: StatsSummary | None
    costs: CostReport | None
    signatures: tuple[Signature, ...]
    notices: tuple[Notice, ...]
    signature: str | None = None
    left_out: int = 0
    outline: tuple[OutlineGroup, ...] = ()


def report_on_graph(model: Model, notices: tuple[Notice, ...], sort: str = "file") -> GraphReport:
    loaded, stats = model.loaded, model.facts.stats
    summary = summarize(model.hierarchy, model.facts)
    costs = cost_report(model.hierarchy, model.cost, sort) if model.options.annotate.infer else None
    return GraphReport(
        label=model.label,
        kind=loaded.kind if loaded else "op",
        summary=summary,
        statistics=summarize_stats(model.hierarchy, stats, MAX_RANKED_PLACES) if stats is not None else None,
        costs=costs,
        signatures=loaded.signatures if loaded else (),
        notices=(*notices, *model.facts.odd()),
        signature=loaded.signature if loaded else None,
        left_out=loaded.left_out if loaded else 0,
        outline=outline_model(model),
    )


def source_lines(
    source: SourceArgument, entries: tuple[SourceEntry, ...], report: GraphReport | None, width: int, look: TextStyle
) -> list[str]:
    """Return the first line, and a table of the contents of the source unless it is a single graph."""
    lines = [look.head(clip_middle(printable(source.name), width))]
    if len(entries) == 1 and report is not None:
        entry = entries[0]
        kind = ", ".join(filter(None, (entry.format, format_bytes(entry.bytes) if entry.bytes else "")))
        # Without the name of the source, which is in the first line.
        choice = report.label.removeprefix(source.name).removeprefix(" · ")
        label = printable(choice) if choice != "the data" else ""
        return [*lines, clip_end(" · ".join(filter(None, (label, kind))), width), ""]
    if not entries and report is None:
        return lines
    lines += [*entry_lines(entries, width, look), ""]
    if report is None:
        return lines + [clip_end(line, width) for line in describe_choice(entries)]
    return [*lines, look.head(clip_middle(printable(report.label), width))]


def graph_lines(report: GraphReport, top: int, quiet: bool, width: int, look: TextStyle) -> list[str]:
    """Return everything about one graph: the counts, then the sections that are not empty."""
    sections = [
        ("architecture", _architecture_lines(report.outline, width)),
        ("run statistics", statistics_lines(report.statistics, top, width, look)),
        ("costs", cost_lines(report.costs, top, width, look)),
        ("op types", _op_type_lines(report.summary, top, width, look)),
        ("repeated structures", _structure_lines(report.summary, top, width)),
        ("series", _stack_lines(report.summary.series, top, width)),
        ("folds", _stack_lines(report.summary.folds, top, width)),
        ("functions", _function_lines(report.summary, top, width, look)),
        ("devices", _device_lines(report.summary, width, look)),
        ("signatures", signature_lines(report.signatures, width, look)),
        ("notices", [] if quiet else _notice_lines(report.notices, width)),
    ]
    # Empty sections have no heading.
    lines = [*_count_lines(report.summary, width), *_left_out_lines(report, width)]
    for title, body in sections:
        if body:
            lines += ["", look.head(clip_middle(title.capitalize(), width)), *body]
    return lines


def _architecture_lines(outline: Sequence[OutlineGroup], width: int) -> list[str]:
    """Return the model along its flow, one line for each group open in its first picture; deep ones are not indented
    further."""
    lines: list[str] = []
    stacks = {part.address for line in outline for rank in (*line.ranks, line.loose) for part in rank if part.times > 1}
    for line in outline:
        head = f"{printable(line.label)}: " if line.label else ""
        flow = _stack_members_words if line.address in stacks else _flow_words
        # Unconnected groups have a separate list, without arrows.
        text = head + "; ".join(filter(None, (flow(line.ranks), _flow_words([line.loose]))))
        beside = _flow_words([line.beside])
        indent = 2 * min(line.depth, MAX_OUTLINE_DEPTH)
        lines += wrap_text(text, width, indent, indent + 4) if line.ranks or line.loose else []
        lines += wrap_text(f"beside: {beside}", width, indent, indent + 4) if line.beside else []
    return lines


def _flow_words(ranks: Sequence[Sequence[OutlineBox]]) -> str:
    """Return the boxes of ranks along the flow; beyond `MAX_OUTLINED_BOXES`, say how many more there are.

    >>> stem, head = OutlineBox("stem", "stem", 3), OutlineBox("head", "head", 2)
    >>> _flow_words([[stem, stem], [head]]), _flow_words([[stem]] * 98 + [[head] * 5])[-27:]
    ('stem · stem → head', ' → head · head · … (3 more)')
    """
    total, rank_texts = sum(map(len, ranks)), []
    remaining: int = MAX_OUTLINED_BOXES
    for rank in ranks:
        texts = [_outline_box_words(box) for box in rank[:remaining]]
        remaining -= len(texts)
        if not remaining and total > MAX_OUTLINED_BOXES:
            texts.append(f"… ({total - MAX_OUTLINED_BOXES:,} more)")
        rank_texts.append(" · ".join(texts))
        if not remaining:
            break
    return " → ".join(rank_texts)


def _stack_members_words(ranks: Sequence[Sequence[OutlineBox]]) -> str:
    """Return the members of a stack, in sequence or in parallel; if more than three differ only in numbers, the first
    and the last.

    >>> blocks = [OutlineBox(f"block_{number}", f"block_{number}", 3) for number in range(12)]
    >>> _stack_members_words([[block] for block in blocks]), _stack_members_words([blocks])
    ('block_0 → … → block_11', 'block_0 · … · block_11')
    >>> _stack_members_words([[OutlineBox(layer, layer, 1)] for layer in ("flatten", "dense", "dropout", "dense_1")])
    'flatten → dense → dropout → dense_1'
    """
    members = [box for rank in ranks for box in rank]
    differ_only_in_numbers = len({without_digits(box.label) for box in members}) == 1
    if not differ_only_in_numbers or len(members) <= MAX_MEMBERS_OUTLINED or 1 < len(ranks) < len(members):
        return _flow_words(ranks)
    arrow = " · " if len(ranks) == 1 else " → "
    return arrow.join((_outline_box_words(members[0]), "…", _outline_box_words(members[-1])))


def _outline_box_words(part: OutlineBox) -> str:
    """Return the label of a box of the outline, and the size of a stack.

    >>> _outline_box_words(OutlineBox("block_[2-4]", "block_[2-4]", 30, 3))
    'block_[2-4] ×3'
    """
    return printable(part.label) + (f" ×{part.times:,}" if part.times > 1 else "")


def _left_out_lines(report: GraphReport, width: int) -> list[str]:
    """Return lines on how many ops of a saved model are not in the graph, and how to see them."""
    if not report.left_out:
        return []
    ops = format_counted_noun(report.left_out, "op")
    text = f"left out: {ops} of saving, initialising, assigning and tracing (--whole-file)"
    return wrap_text(text, width, 0, 2)


def _count_lines(summary: Summary, width: int) -> list[str]:
    rows = [row for row in _count_rows(summary) if row[1]]
    # Name, number, note: the columns are aligned.
    heads, values = max(shown_width(row[0]) for row in rows), max(shown_width(row[1]) for row in rows)
    left = heads + 2 + values + 2
    lines: list[str] = []
    for head, value, note in rows:
        # A long note continues below itself.
        first, *others = wrap_text(note, width - left, 0, 0) if note and width - left >= MIN_NOTE_WIDTH else [""]
        start = f"{pad_text(head, heads)}  {pad_text(value, values, right=True)}  {first}".rstrip()
        lines += [clip_end(line, width) for line in (start, *(" " * left + other for other in others))]
    return lines


def _mark_count_words(summary: Summary) -> str:
    """Return the words that count constants, weights and summaries, which are drawn next to ops."""
    marks = (
        format_counted_noun(summary.constants, "constant") if summary.constants else "",
        f"{format_counted_noun(summary.variables, 'weight')} ({format_counted_noun(summary.weights, 'node')})"
        if summary.weights
        else "",
        format_counted_noun(summary.summaries, "summary", "summaries") if summary.summaries else "",
    )
    said = [word for word in marks if word]
    return f"{', '.join(said[:-1])}{' and ' if said[1:] else ''}{said[-1]} beside them" if said else ""


def _count_rows(summary: Summary) -> Iterator[tuple[str, str, str]]:
    """Yield one row for each number: name, value, note."""
    edges, series, folds, structures = summary.edges, summary.series, summary.folds, summary.structures
    yield "ops", f"{summary.ops:,}", _mark_count_words(summary)
    if summary.buffers:
        yield "buffers", f"{summary.buffers:,}", "of these weights, no parameters: statistics, tables"
    undrawn = f" ({edges.control_into_marks:,} into marks, not drawn)" if edges.control_into_marks else ""
    kinds = ((edges.data, "data"), (edges.control, f"control{undrawn}"), (edges.reference, "of them reference"))
    words = ", ".join(f"{count:,} {word}" for count, word in kinds if count)
    yield "edges", f"{edges.all:,}", words + (f"; {edges.in_functions:,} in functions" if edges.in_functions else "")
    yield (
        "scopes",
        f"{summary.scopes:,}",
        f"up to {format_counted_noun(summary.levels, 'level')} deep" if summary.scopes else "",
    )
    if structures.repeated:
        undecided = f"; {structures.undecided:,} not compared fully" if structures.undecided else ""
        yield (
            "structures",
            f"{structures.distinct:,}",
            f"{structures.repeated:,} repeat, in {structures.groups:,} groups{undecided}",
        )
    yield from _stack_count_rows("series", series)
    yield from _stack_count_rows("folds", folds)
    if summary.functions:
        ops = summary.ops_through_calls
        through = "endless, one calls itself" if ops is None else f"{lower_bound_sign(ops)}{ops:,}"
        bodies = f"{summary.function_ops:,} ops in their bodies, {format_counted_noun(summary.calls, 'call')}"
        yield "functions", f"{len(summary.functions):,}", f"{bodies}; ops through calls: {through}"
    yield "shapes", *_shape_count_words(summary)


def _stack_count_rows(head: str, stacks: StackCounts) -> Iterator[tuple[str, str, str]]:
    """Yield the row of series or folds, if there are any."""
    if stacks.count:
        yield head, f"{stacks.count:,}", f"of {format_counted_noun(stacks.members, 'member')}"


def _shape_count_words(summary: Summary) -> tuple[str, str]:
    """Return how many data edges have a shape, and the sources of the shapes."""
    shapes = summary.shapes
    if not shapes.edges:
        return "", ""
    origins = (
        (shapes.declared, "declared"),
        (shapes.stated, "stated"),
        (shapes.signature, "by signature"),
        (shapes.inferred, "inferred"),
    )
    said = ", ".join(f"{count:,} {word}" for count, word in origins if count)
    return f"{format_percent(shapes.with_shape / shapes.edges)}", f"of {shapes.edges:,} data edges" + (
        f": {said}" if said else ""
    )


def _op_type_lines(summary: Summary, top: int, width: int, look: TextStyle) -> list[str]:
    """Return the most frequent op types; function bodies are counted once each."""
    together = dict(summary.op_types)
    # Arguments of functions have nodes, but are not ops.
    for op, count in summary.function_op_types.items():
        if op != ARGUMENT_OP_TYPE:
            together[op] = together.get(op, 0) + count
    ranked = sorted(together.items(), key=lambda pair: (-pair[1], pair[0]))
    return _bar_lines([(printable(op) or "(no type)", count) for op, count in ranked], top, width, look)


def _device_lines(summary: Summary, width: int, look: TextStyle) -> list[str]:
    together = dict(summary.devices)
    for device, count in summary.function_devices.items():
        together[device] = together.get(device, 0) + count
    if not any(together):
        return []
    return _bar_lines(
        [(printable(device) or NO_DEVICE_WORD, count) for device, count in together.items()],
        MAX_LISTED_DEVICES,
        width,
        look,
    )


def _bar_lines(counts: Sequence[tuple[str, int]], top: int, width: int, look: TextStyle) -> list[str]:
    """Return names with their counts and a bar each; the largest fills the width."""
    if not counts:
        return []
    most, size = max(count for _, count in counts), bar_width(width)
    rows = [(name, f"{count:,}", bar_text(count / most, size)) for name, count in counts[:top]]
    return [*color_bars(format_table(rows, width, right=(1,)), look), *_remainder_lines(len(counts) - top, width, look)]


def _remainder_lines(more: int, width: int, look: TextStyle) -> list[str]:
    """Return a last line that counts the entries not listed."""
    return [look.dim(clip_end(f"  and {more:,} more", width))] if more > 0 else []


def _structure_lines(summary: Summary, top: int, width: int) -> list[str]:
    """Return the largest structures that occur more than once."""
    largest = summary.structures.largest[:top]
    # Names get the room that the numbers leave.
    times_and_ops = [(f"{stack.times:,} ×", format_counted_noun(stack.ops, "op")) for stack in largest]
    taken = max((2 + shown_width(times) + 2 for times, _ in times_and_ops), default=0)
    taken += max((shown_width(ops) + 2 for _, ops in times_and_ops), default=0)
    names = [join_fitting([printable(name) for name in each.names], width - taken, each.times > 3) for each in largest]
    return format_table([(*pair, name) for pair, name in zip(times_and_ops, names, strict=True)], width, (0, 1), (2,))


def _stack_lines(stacks: StackCounts, top: int, width: int) -> list[str]:
    """Return the largest series or folds."""
    rows = [
        (printable(stack.name), f"×{stack.members:,}", format_counted_noun(stack.ops, "op"))
        for stack in stacks.largest[:top]
    ]
    return format_table(rows, width, right=(1, 2))


def _function_lines(summary: Summary, top: int, width: int, look: TextStyle) -> list[str]:
    """Return the functions of the library, the largest first."""
    if not summary.functions:
        return []
    order = sorted(summary.functions, key=lambda function: (-function.ops, function.name))
    rows = [("name", "ops", "through calls", "called")]
    for each in order[:top]:
        ops = each.ops_through_calls
        through = "∞" if ops is None else f"{lower_bound_sign(ops)}{ops:,}"
        rows.append((printable(each.name), f"{each.ops:,}", through, f"{each.calls:,}"))
    return [
        *format_table(rows, width, right=(1, 2, 3), header=True, look=look),
        *_remainder_lines(len(order) - top, width, look),
    ]


def _notice_lines(notices: tuple[Notice, ...], width: int) -> list[str]:
    said = [
        f"{printable(notice.message)}{f' ({notice.count:,} times)' if notice.count > 1 else ''}" for notice in notices
    ]
    return [line for text in said for line in wrap_text(text, width)]


# Joins of log tags with graph nodes, for `tbgraph info --joins`.

MAX_JOINED_NODES = 3  # names in a line of text
JOIN_RULE_WORDS = {
    JoinRule.SUMMARY_OP: "summary op",
    JoinRule.SCOPE_ABOVE: "scope above",
    JoinRule.SEVERAL: "several fit: not joined",
    JoinRule.RUN: "of the run",
}


def print_joins(source: str, options: Options, as_json: bool, quiet: bool) -> None:
    """Print the tags of a log with their nodes, as text or JSON. Raises `MissingFacts` without a log."""
    log = open_run_log(source)
    if log is None:
        raise MissingFacts(
            f"{printable(source)} has no tags to join: nothing was logged there", hint="give a log directory"
        )
    with open_model(source, options, quiet=quiet) as session:
        model = session.model
        joins = model.joins(tag for tag in log.tags() if tag not in log.tags("graph"))
        if as_json:
            print_json(_joins_document(model, joins))
        else:
            print_lines(_join_lines(model, joins))


def _joins_document(model: Model, joins: Sequence[TagJoin]) -> dict[str, object]:
    return {
        **document_header("tbgraph-joins"),
        "label": model.name,
        "joins": [
            {
                "tag": join.tag,
                "rule": join.rule.value,
                "aspect": join.aspect.value,
                "rows": list(join.rows),
                "nodes": [model.hierarchy.name[row] for row in join.rows],
            }
            for join in joins
        ],
    }


def _join_lines(model: Model, joins: Sequence[TagJoin]) -> list[str]:
    rows = [("tag", "of", "rule", "nodes")]
    for join in joins:
        names = [printable(model.hierarchy.name[row]) for row in join.rows]
        if len(names) > MAX_JOINED_NODES:
            names[MAX_JOINED_NODES:] = [f"+{len(names) - MAX_JOINED_NODES} more"]
        rule = JOIN_RULE_WORDS.get(join.rule, join.rule.value)
        rows.append((printable(join.tag), join.aspect.value, rule, ", ".join(names)))
    lines = format_table(rows, terminal_width(), shrinking=(0, 3), header=True, look=output_style())
    counts = Counter(join.rule for join in joins if join.is_joined)
    ambiguous = sum(join.rule is JoinRule.SEVERAL for join in joins)
    by_rule = ", ".join(
        f"{count} by {JOIN_RULE_WORDS.get(rule, rule.value)}" for rule in JoinRule if (count := counts[rule])
    )
    total = f"{counts.total()} of {len(joins)} {plural_noun(len(joins), 'tag')} joined"
    rest = len(joins) - counts.total() - ambiguous
    clauses = [f"{total}: {by_rule}" if by_rule else total, *[f"{ambiguous} fit several nodes"] * bool(ambiguous)]
    return [*lines, "", "; ".join([*clauses, *[f"{rest} of the run"] * bool(rest)])]
