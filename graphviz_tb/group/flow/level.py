"""Fold one level: same neighbours, names, flow; the flow alone if names do not help."""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.group.flow.box import FlowBox, group
from graphviz_tb.group.flow.dag import Dag, contract, part
from graphviz_tb.group.flow.likeness import stack_alike
from graphviz_tb.group.flow.names import name_groups
from graphviz_tb.group.flow.readable import cost, readable
from graphviz_tb.group.flow.regions import SMALL, fold_flow
from graphviz_tb.group.flow.setting import DEEPEST, Setting
from graphviz_tb.group.flow.tokens import tokens
from graphviz_tb.model.hierarchy import How

DISTRUST = 0.75  # cost without names, to that with names, below which names are dropped
FEWEST_NAMED = 3  # boxes; levels up to this size need no groups by name


def fold_dag(dag: Dag, setting: Setting, limit: int, deep: int = 0) -> list[FlowBox]:
    """Return the boxes of a level, along its flow."""
    alike = stack_alike(dag, setting.symbols)
    total = dag.ops()
    named = with_names(alike, setting, deep) if deep <= DEEPEST else alike
    boxes = readable(fold_flow(named, setting, limit, deep), limit, total)
    # Try without names, at the top of a level only: doing so at every depth would double the work each time.
    if deep == 0 and named is not alike:
        bare = readable(fold_flow(alike, setting, limit), limit, total)
        if cost(bare) < DISTRUST * cost(boxes):
            return bare
    return boxes


def with_names(dag: Dag, setting: Setting, deep: int) -> Dag:
    """Fold the groups by name of a level, each with its content folded."""
    if len(dag) <= FEWEST_NAMED:
        return dag
    groups = []
    for named in name_groups(dag, setting.order(dag), setting.vocabulary):
        inner = part(dag, named.members)
        symbol = setting.symbols.of("shape", *tokens(inner, setting.order(inner), setting.symbols))
        # Inner wiring, whatever its inputs.
        alone = tokens(replace(inner, outside=None), setting.order(inner), setting.symbols)
        fold = fold_dag if len(inner) > SMALL else fold_flow
        members = fold(inner, setting, setting.soft, deep + 1)
        box = group(How.NAME, members, symbol, "_".join(named.words))
        box.inside = setting.symbols.of("inside", *alone)
        groups.append((named.members, box))
    return contract(dag, groups)
