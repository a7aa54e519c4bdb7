"""Statistics of places: what a call took is what was measured inside it, however calls lie in one another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.annotate.statistics import join_statistics
from graphviz_tb.api.pipeline import Model, load
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.model.paths import RowPath
from graphviz_tb.proto import GraphDef
from tests.annotate.traces import entry, trace
from tests.effort import examples
from tests.functions.strategies import graphs
from tests.functions.test_calls_laws import contexts, every_group

LOWERED = {"cond": "cond/_1/", "body": "body/_2/", "then_branch": "then/_3/", "else_branch": "else/_4/"}


def spelled(model: Model, path: RowPath) -> str:
    """The name that TensorFlow gives to the op at `path` when all calls around it are inlined."""
    hierarchy, told = model.hierarchy, ""
    for at, row in enumerate(path):
        if at:
            bodies = hierarchy.calls[path[at - 1]]
            attr = next(attr for attr, body in bodies if body <= row < int(hierarchy.end[body]))
            told += "/" + (LOWERED[attr] if len(bodies) > 1 else "")
        told += hierarchy.graph.name[hierarchy.node[row]]
    return told


@given(graphs(), st.data())
@examples(40)
def test_a_call_took_what_was_measured_inside_it(graph: GraphDef, data: st.DataObject) -> None:
    model = load(graph)
    hierarchy = model.hierarchy
    places = [
        (*calls, row)
        for calls, body in contexts(model, every_group(model))
        for row in range(body, int(hierarchy.end[body]))
        if hierarchy.kind[row] == RowKind.OP and row not in hierarchy.calls
    ]
    names = {spelled(model, path): path for path in places}
    if len(names) < len(places):
        return  # two ways to read one name: an op of the main graph and one inside a call
    chosen = data.draw(st.lists(st.sampled_from(sorted(names)), min_size=1, max_size=12, unique=True))
    times = {name: data.draw(st.integers(0, 50)) for name in chosen}
    stats = join_statistics(hierarchy, [trace(cpu=[entry(name, at, times[name]) for at, name in enumerate(chosen)])])
    assert not stats.unmatched
    assert stats.figures(0).time == sum(times.values())
    for name in chosen:
        path = names[name]
        assert stats.figures_at(path).time == times[name], name
        for length in range(1, len(path)):
            inside = [one for one in chosen if names[one][:length] == path[:length]]
            assert stats.figures_at(path[:length]).time == sum(times[one] for one in inside)
