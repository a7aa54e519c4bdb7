"""Differences of Keras models as a whole: how they are compiled, and their outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.meaning import configuration, setting_differences
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import Ints


def model_settings(m: Matching) -> Iterator[Change]:
    """Yield the differences in how Keras models are compiled: optimizer, loss."""
    old, new = m.a.graph, m.b.graph
    rows = rows_by_name(m.a), rows_by_name(m.b)
    for row, name in enumerate(m.a.scopes.name):
        partner = int(m.scope_to_b[row])
        other = m.b.scopes.name[partner] if exists(partner) else ""
        # A scope that is a layer: a model, or a model in a model; layers proper are nodes and compared there.
        if name in old.layers and other in new.layers and name not in old.index[0]:
            differences = setting_differences(configuration(old.layers[name]), configuration(new.layers[other]))
            for key, before, after in differences:
                detail = {"key": key, "old": before, "new": after}
                yield Change("changed", "attribute", name, other, 0, detail)
            yield from other_results(m, name, other, rows)


def rows_by_name(side: GraphColumns) -> dict[str, int]:
    """The first scope of each name."""
    return {name: row for row, name in reversed(list(enumerate(side.scopes.name)))}


def other_results(m: Matching, name: str, other: str, rows: tuple[Mapping[str, int], ...]) -> Iterator[Change]:
    """Outputs of a Keras model that came, went or have another source; not those of a layer in the place of one."""
    old, new = m.a.graph.layers[name].results, m.b.graph.layers[other].results
    before = [partner_name(result, (m.a, m.b), m.to_b, m.scope_to_b, rows[0]) for result in old]
    back = [partner_name(result, (m.b, m.a), m.to_a, m.scope_to_a, rows[1]) for result in new]
    if not old or not new or before == list(new) or (len(old) == len(new) and "" in (*before, *back)):
        return
    ports = [
        {"side": "output", "key": str(number), "old": result, "new": new_result}
        for number, (result, new_result, partner) in enumerate(zip_longest(old, new, before))
        if partner != new_result
    ]
    yield Change("signature-changed", "signature", name, other, len(ports), {"ports": ports})


def partner_name(
    name: str, sides: tuple[GraphColumns, GraphColumns], partner: Ints, scope_partner: Ints, rows: Mapping[str, int]
) -> str:
    """The name that a layer, or a model in the model, has on the other side; "" for none. `rows` are its scopes."""
    mine, other = sides
    if exists(node := mine.graph.index[0].get(name, -1)):
        return other.graph.name[partner[node]] if exists(partner[node]) else ""
    row = rows.get(name, 0)
    return other.scopes.name[scope_partner[row]] if row and exists(scope_partner[row]) else ""
