"""Facts about nodes and tensors: shapes, dtypes, devices, run statistics, costs. Computed on demand."""

from __future__ import annotations

from functools import cache, partial

from graphviz_tb.annotate.tensors import TensorDecoder, main_output_shapes
from graphviz_tb.annotate.weights import total_weight_cost
from graphviz_tb.model.costs import Cost, Costs
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import Stats
from graphviz_tb.options import AnnotateOptions

DEFAULT_ANNOTATE_OPTIONS = AnnotateOptions()

__all__ = ["Stats", "annotate", "main_output_shapes", "operation_costs", "weight_costs"]


def annotate(
    hierarchy: Hierarchy,
    stats: Stats | None = None,
    options: AnnotateOptions = DEFAULT_ANNOTATE_OPTIONS,
    before: Stats | None = None,
) -> Facts:
    """Return the facts of a hierarchy's graph, with run statistics and those of an earlier run to compare with."""
    traced = {int(hierarchy.node[row]): seen for row, seen in stats.shapes.items()} if stats is not None else {}
    tensors = TensorDecoder(hierarchy.graph, options.infer, traced)

    @cache
    def costs_of(rows: Hierarchy) -> Costs:
        # Imported here, because pictures seldom need the rules of all ops.
        from graphviz_tb.annotate.costs import hierarchy_costs

        with tensors.inference.lock:
            return hierarchy_costs(rows, tensors.inference, options.batch)

    @cache
    def weights() -> Cost:
        with tensors.inference.lock:
            return total_weight_cost(tensors.inference)

    return Facts(
        hierarchy.graph,
        tensors.tensors_of_node,
        tensors.definitions.number_of,
        stats=stats,
        before=before,
        odd=tensors.inference_notices,
        cost=partial(costs_of, hierarchy),
        costs_of=costs_of,
        weights=weights,
    )


def operation_costs(tensors: TensorDecoder) -> list[Cost]:
    """Return the cost of the operations of each node of a flat graph, in node order."""
    from graphviz_tb.annotate.costs import CostSummer

    return CostSummer(tensors.inference, 1).costs_of_nodes()


def weight_costs(tensors: TensorDecoder) -> dict[int, Cost]:
    """Return the cost of the weights of a flat graph, at the nodes where sums count them."""
    from graphviz_tb.annotate.costs import weight_costs_by_node

    return weight_costs_by_node(tensors.inference)
