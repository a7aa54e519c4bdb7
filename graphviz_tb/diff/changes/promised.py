"""Signatures beside the changes of the graph: what another input or output is the cause of, or only follows from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphviz_tb.diff.changes.compare import BATCH
from graphviz_tb.diff.changes.precision import is_precision
from graphviz_tb.diff.changes.several import without
from graphviz_tb.diff.changes.traced_widths import WIDTH_KEYS
from graphviz_tb.model.change import Change, sort_by_severity
from graphviz_tb.ops.roles import TRACED_RESULT_OPS


def with_signatures(changes: Sequence[Change], promised: Sequence[Change]) -> tuple[Change, ...]:
    """Merge the changes of a graph with those of its signatures, each reported once.

    Another type or shape of an input is a cause, and so are inputs and outputs that came or went. That outputs have
    another type or shape follows from it, from a single change of the graph, from the last layer that is wider now, or
    from another type of numbers.
    """
    ports = next((change for change in promised if change.kind == "signature-changed"), None)
    others = [*(item for item in changes), *(item for item in promised if item is not ports)]
    if ports is None:
        return sort_by_severity(others)
    # The op that ends a result came or went with it: the signature already says so.
    said = [item for item in others if gives_result(item, ports)]
    inputs = [item for item in changes if item.severity == "signature" and item.detail.get("key") in ("shape", BATCH)]
    # Somebody changed the inputs or the set of outputs: that is the cause, and its changes of the graph follow.
    if not only_outputs(ports):
        behind = [*inputs, *said]
        return sort_by_severity([*without(others, behind), replace(ports, consequences=sort_by_severity(behind))])
    cause = inputs[0] if inputs else cause_of(ports, changes) or widest(changes)
    if cause is None:
        return sort_by_severity([*others, ports])
    grave = replace(cause, severity="signature", consequences=sort_by_severity([*cause.consequences, ports]))
    return sort_by_severity([grave if item is cause else item for item in others])


def gives_result(change: Change, ports: Change) -> bool:
    """Whether only the op came, or went, that ends a result which the signature has, or had, too."""
    keys = {port["key"] for port in ports.detail["ports"] if not (port["old"] and port["new"])}
    ends = change.severity == "signature" or change.name in keys
    return bool(keys) and ends and change.detail.get("op_types", {}).keys() == TRACED_RESULT_OPS


def only_outputs(ports: Change) -> bool:
    """Whether the same outputs as before are given, of another type or shape."""
    return all(port["side"] == "output" and port["old"] and port["new"] for port in ports.detail["ports"])


def cause_of(ports: Change, changes: Sequence[Change]) -> Change | None:
    """The change that other outputs follow from, where it is known: the only one, the one of the layer that gives them,
    or another type of all numbers."""
    real = [change for change in changes if change.severity not in ("rename", "cosmetic")]
    keys = {port["key"] for port in ports.detail["ports"]}
    # First of all changes, then of those that bear the name of an output.
    for known in (real, [change for change in real if change.new in keys]):
        if len(known) == 1:
            return known[0]
    if all(shape_of(port["old"]) == shape_of(port["new"]) for port in ports.detail["ports"]):
        return next((change for change in real if is_precision(change)), None)
    return None


def widest(changes: Sequence[Change]) -> Change | None:
    """Of several changes the last one that makes a layer wider or narrower: what a model gives follows from these."""
    wide = [change for change in changes if change.detail.get("key") in WIDTH_KEYS]
    return wide[-1] if wide else None


def shape_of(spec: str) -> str:
    """Return the shape in the words for an output: the text after its type."""
    return spec.partition(" ")[2]
