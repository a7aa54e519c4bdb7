"""Recognise weights among the constants of a frozen graph by their use, if a tool has removed the reads of variables.

kernel ─▶ FakeQuant ─▶ Conv2D        variance ─▶ Rsqrt ─▶ · scale ─▶ Mul with the data
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.graphs.tensors import constant_tensor
from graphviz_tb.graphs.traversal import reachable_from, reachable_mask
from graphviz_tb.interpret.frozen_reads import (
    KERNEL_USING_OPS,
    ROW_LOOKUP_OPS,
    STORED_DTYPES,
    is_splat,
    is_stored,
)
from graphviz_tb.limits import MAX_FOLLOWED_CARRIERS
from graphviz_tb.model.columns import Bools, Ints, distinct_values
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import DTYPE_TABLE, NON_INTEGER_DTYPES
from graphviz_tb.ops.roles import (
    ADD_OPS,
    BATCH_PRODUCT_OPS,
    CONSTANT_OPS,
    LOOKUP_TABLE_OPS,
    MATRIX_PRODUCT_OPS,
    REARRANGE_OPS,
    UNIT_AXES_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.table import op_line

if TYPE_CHECKING:
    from graphviz_tb.proto import TensorProto

BOUNDING_OPS = frozenset({"Exp", "Sigmoid", "Softplus", "Tanh"})  # keep a trained number within bounds
PARAMETER_SHAPING_OPS = BOUNDING_OPS | {"Reshape", "ExpandDims", "Rsqrt", "Neg"}
BIAS_LIKE_OPS = ADD_OPS | {"BiasAdd", "Sub", "Mul", "RealDiv"}  # element by element
FUSED_NORM_OPS = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
# Ops between a product and its bias, which keep, add or scale its numbers.
OPS_BEFORE_BIAS = (
    ADD_OPS | REARRANGE_OPS | UNIT_AXES_OPS | KERNEL_USING_OPS | {"BatchToSpaceND", "Identity", "Mul", "RealDiv", "Sub"}
)
MAX_OPS_BEFORE_BIAS = 8
MAX_OPS_AFTER_ROOT = 3  # of a norm: multiply by the root, multiply by the scale, add the shift
# Ops with a program and its constants in an attribute.
COMPILED_PROGRAM_OPS = frozenset({"TRTEngineOp", "XlaCallModule"})
FILLED_TABLES = frozenset(op for op in LOOKUP_TABLE_OPS if op.startswith("Mutable"))
MIN_PROGRAM_BYTES = 1024  # of an attribute; names and settings are shorter
SOURCE_ROLES = (
    Role.VARIABLE, Role.HANDLE, Role.INPUT, Role.ARGUMENT, Role.READ, Role.READ_ROWS, Role.NEXT_ELEMENT,
    Role.FRAME_MERGE, Role.FRAME_NEXT, Role.FRAME_SWITCH, Role.LIST, Role.LOOKUP,
)  # fmt: skip


class ConstantExpressions:
    """Nodes computed from constants alone (`is_constant`), and the constants behind them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.is_constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
        data = np.flatnonzero(~graph.control)
        source, target = graph.source[data], graph.target[data]
        inputs = np.bincount(target, minlength=len(graph)) > 0
        open_to = inputs & ~graph.nodes_of_types(_is_source)
        open_to[[call.node for call in graph.calls]] = False
        for _ in range(MAX_FOLLOWED_CARRIERS):
            fed = np.bincount(target[~self.is_constant[source]], minlength=len(graph)) > 0
            new = open_to & ~fed & ~self.is_constant
            if not new.any():
                break
            self.is_constant |= new
        inner = self.is_constant[source] & self.is_constant[target]
        self._before: dict[int, list[int]] = {}
        for here, there in zip(target[inner].tolist(), source[inner].tolist(), strict=True):
            self._before.setdefault(here, []).append(there)

    def trained_constants_behind(self, node: int, of_product: bool) -> list[int]:
        """Return the constants behind a value that a program would store as its result if it were no weight.

        Such a value is a reshaped vector, the root of a variance, an exponential or a negated slope. A constant has at
        least two numbers, or one if it is added to a product (`of_product`) or kept within bounds.
        """
        types = self.graph.op_types
        constants, ops, seen, unvisited = [], set[str](), {node}, [node]
        while unvisited and len(seen) < MAX_FOLLOWED_CARRIERS:
            value = unvisited.pop()
            inputs = self._before.get(value, ())
            if not inputs:
                constants.append(value)
            else:
                ops.add(types[self.graph.op[value]])
            for source in inputs:
                if source not in seen:
                    seen.add(source)
                    unvisited.append(source)
        if not ops & PARAMETER_SHAPING_OPS:
            return []
        min_elements = 1 if (of_product or ops & BOUNDING_OPS) and len(constants) == 1 else 2
        return [constant for constant in constants if _element_count(self.graph, constant) >= min_elements]

    def constants_behind(self, nodes: Iterable[int]) -> Iterator[int]:
        """Return the constants behind the values of some nodes, each once."""
        found = reachable_from((node for node in nodes if self.is_constant[node]), self._before.get)
        return (node for node in found if node not in self._before)


def _is_source(op: str) -> bool:
    """Return whether the results of an op do not derive from its inputs: random, looping or stored values."""
    return "Random" in op or "Truncated" in op or has_role(op, *SOURCE_ROLES)


def kernels_behind(graph: Graph, values: ConstantExpressions) -> list[int]:
    """Return the constants from which second factors of products and filters of convolutions are computed."""
    takes = graph.nodes_of_types(KERNEL_USING_OPS.__contains__)[graph.target] & (graph.slot == 1) & ~graph.control
    found = values.constants_behind(distinct_values(graph.source[takes & values.is_constant[graph.source]]).tolist())
    return [node for node in found if is_stored(graph, node) and _element_count(graph, node) > 1]


def constants_joined_to_data(graph: Graph, values: ConstantExpressions) -> list[int]:
    """Return the constants that are weights because of the op that combines them with data, whatever their width:

    product with a kernel ─▶ [Reshape] ─▶ Add ◀─ constant        the bias of the product
    data ─▶ Mul ◀─ Reshape ◀─ constant                           a literal would have the right shape
    data ─▶ Mul ◀─ Rsqrt ◀─ + ε ◀─ constant                      the variance of a norm
    data ─▶ Mul ◀─ Exp ◀─ constant                               a literal would be the result
    data · Rsqrt(data) ─▶ Mul ◀─ vector                          the scale of a norm, or its shift
    """
    is_joining = graph.nodes_of_types(BIAS_LIKE_OPS.__contains__)
    data = ~graph.control
    products = graph.nodes_of_types(KERNEL_USING_OPS.__contains__)
    of_product = np.zeros(len(graph), bool)
    of_product[graph.target[data & products[graph.target] & (graph.slot == 1) & values.is_constant[graph.source]]] = (
        True
    )
    is_reshape = graph.nodes_of_types("Reshape".__eq__)
    reshaped = data & is_reshape[graph.target] & (graph.slot == 0) & of_product[graph.source]
    of_product[graph.target[reshaped]] = True
    # Additions to such a product.
    adds_to_product = np.zeros(len(graph), bool)
    adds_to_product[graph.target[data & of_product[graph.source]]] = True
    adds_to_product &= graph.nodes_of_types(lambda op: op in ADD_OPS or op == "BiasAdd")
    constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    has_data_input = np.zeros(len(graph), bool)
    has_data_input[graph.target[data & ~values.is_constant[graph.source]]] = True
    edges = np.flatnonzero(data & (is_joining & has_data_input)[graph.target] & values.is_constant[graph.source])
    after_norm = _ops_after_norm_roots(graph, values)
    found: dict[int, None] = {}
    for source, target in zip(graph.source[edges].tolist(), graph.target[edges].tolist(), strict=True):
        if constant[source]:
            if adds_to_product[target] or (after_norm[target] and _is_vector(graph, source)):
                found[source] = None
        else:
            found |= dict.fromkeys(values.trained_constants_behind(source, bool(adds_to_product[target])))
    return [node for node in found if is_stored(graph, node)]


def _ops_after_norm_roots(graph: Graph, values: ConstantExpressions) -> Bools:
    """Mark the ops within three steps after an `Rsqrt` of data: they scale or shift in a norm."""
    data = np.flatnonzero(~graph.control & graph.nodes_of_types(BIAS_LIKE_OPS.__contains__)[graph.target])
    source, target = graph.source[data], graph.target[data]
    found = graph.nodes_of_types("Rsqrt".__eq__) & ~values.is_constant
    for _ in range(MAX_OPS_AFTER_ROOT):
        found[target[found[source]]] = True
    return found


def mask_constants(graph: Graph, values: ConstantExpressions, nodes: Iterable[int]) -> set[int]:
    """Return the constants of zeros and ones that mask another constant; they are not weights."""
    times = graph.nodes_of_types("Mul".__eq__)[graph.target] & ~graph.control
    both = np.bincount(graph.target[times & values.is_constant[graph.source]], minlength=len(graph)) > 1
    masks = np.zeros(len(graph), bool)
    masks[graph.source[times & both[graph.target]]] = True
    return {node for node in nodes if masks[node] and _is_mask(graph, node)}


def computed_kernels(graph: Graph, kernels: Iterable[int], others: Iterable[int]) -> set[int]:
    """Return the kernels that a program computes, such as a grid or a transform.

    Their numbers repeat, while those of most `others` do not.
    """
    found = {node for node in kernels if _has_repeated_numbers(graph, node)}
    if not found:
        return found
    compared = [
        node for node in others if _element_count(graph, node) >= MIN_COMPARED_NUMBERS and not is_splat(graph, node)
    ]
    repeated = sum(_has_repeated_numbers(graph, node) for node in compared)
    return found if 2 * repeated <= len(compared) else set()


def projections_of_inputs(graph: Graph, values: ConstantExpressions) -> set[int]:
    """Return the kernels that may be a fixed projection: they only multiply an input, without a bias, scale or norm.

    Empty if no product of the graph has a bias, scale or norm. In columns of edges, with the nodes at both ends:

    input ─▶ MatMul ◀─ projection        MatMul ─▶ Sin
    """
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    from_constant = data & values.is_constant[graph.source]
    into_product = data & graph.nodes_of_types(KERNEL_USING_OPS.__contains__)[graph.target]
    kernel = np.flatnonzero(into_product & (graph.slot == 1) & from_constant & (graph.function[graph.target] < 0))
    if not len(kernel):
        return set()
    constants = np.flatnonzero(graph.nodes_of_types(CONSTANT_OPS.__contains__)).tolist()
    vectors = np.zeros(len(graph), bool)
    vectors[[node for node in constants if is_stored(graph, node) and _element_count(graph, node) > 1]] = True
    depends_on_vector = reachable_mask(vectors, source, target)
    followed = _products_followed_by_vectors(graph, values)
    product = graph.target[kernel]
    if not followed[product].any():
        return set()
    from_input = into_product & (graph.slot == 0) & ~depends_on_vector[graph.source] & ~from_constant
    of_input = np.zeros(len(graph), bool)
    of_input[graph.target[from_input]] = True
    projects = of_input[product] & ~followed[product]
    other_uses = from_constant & ~values.is_constant[graph.target]
    other_uses[kernel] = ~projects

    def constants_behind_edges(edges: NDArray[Any]) -> set[int]:
        return set(values.constants_behind(distinct_values(graph.source[edges]).tolist()))

    return constants_behind_edges(kernel[projects]) - constants_behind_edges(other_uses)


def _products_followed_by_vectors(graph: Graph, values: ConstantExpressions) -> Bools:
    """Mark the nodes whose result, through a few linear ops, is combined with a constant vector."""
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    is_joining = graph.nodes_of_types(lambda op: op in BIAS_LIKE_OPS or op in FUSED_NORM_OPS)
    edges = np.flatnonzero(is_joining[target] & values.is_constant[source] & ~values.is_constant[target])
    vectors = {
        node: any(not _is_scalar(graph, constant) for constant in values.constants_behind([node]))
        for node in distinct_values(source[edges]).tolist()
    }
    leads_to_vector = np.zeros(len(graph), bool)
    leads_to_vector[target[edges][[vectors[node] for node in source[edges].tolist()]]] = True
    passing = graph.nodes_of_types(OPS_BEFORE_BIAS.__contains__)
    found = np.zeros(len(graph), bool)
    for _ in range(MAX_OPS_BEFORE_BIAS):
        before = source[leads_to_vector[target] & ~values.is_constant[source]]
        found[before] = True
        fresh = distinct_values(before[passing[before] & ~leads_to_vector[before]])
        if not len(fresh):
            break
        leads_to_vector[fresh] = True
    return found


def constant_first_factors(graph: Graph, values: ConstantExpressions, origin: Ints) -> set[int]:
    """Return the constants whose only use is as the first factor of products with data; they may not be weights."""
    used = ~graph.control & (origin[graph.source] >= 0) & (origin[graph.target] != origin[graph.source])
    products = graph.nodes_of_types(lambda op: op in MATRIX_PRODUCT_OPS or op in BATCH_PRODUCT_OPS)[graph.target]
    products &= ~values.is_constant[graph.target]
    first = used & products & (graph.slot == 0)
    others = set(distinct_values(origin[graph.source[used & ~first]]).tolist())
    return set(distinct_values(origin[graph.source[first]]).tolist()) - others


def constant_biases(graph: Graph, origin: Ints) -> set[int]:
    """Return the constants that are biases of `BiasAdd`, which may be single numbers."""
    takes = graph.nodes_of_types("BiasAdd".__eq__)[graph.target] & (graph.slot == 1) & ~graph.control
    return {node for node in distinct_values(origin[graph.source[takes]]).tolist() if node >= 0}


def doubtful_constants(graph: Graph, origin: Ints, weights: Bools, literal: bool) -> list[int]:
    """Return the constants that may be weights but are not counted in `weights`.

    `origin` is, for each node, the constant whose value it passes on. With `literal`, only kernels and looked-up tables
    may be weights, since other direct inputs of ops are literals of the program. Otherwise every constant may be one,
    except literal numbers and, if there are no other weights, constants of equal numbers.
    """
    constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    uses = np.flatnonzero(~graph.control & (origin[graph.source] >= 0) & (origin[graph.target] != origin[graph.source]))
    uses = uses[(constant & ~weights)[origin[graph.source[uses]]]]
    if literal:
        target = graph.target[uses]
        kernel = graph.nodes_of_types(KERNEL_USING_OPS.__contains__)[target] & (graph.slot[uses] == 1)
        uses = uses[kernel | (graph.nodes_of_types(ROW_LOOKUP_OPS.__contains__)[target] & (graph.slot[uses] == 0))]
    has_one_input = np.bincount(graph.target[~graph.control], minlength=len(graph)) == 1
    # A single number may be a weight that is kept within bounds, or combined with data.
    is_bounded = has_one_input[graph.target[uses]] & graph.nodes_of_types(BOUNDING_OPS.__contains__)[graph.target[uses]]
    is_added = graph.nodes_of_types(lambda op: op in BIAS_LIKE_OPS or op == "Pow")[graph.target[uses]]
    bounded, added = np.zeros(len(graph), bool), np.zeros(len(graph), bool)
    bounded[origin[graph.source[uses[is_bounded]]]] = True
    added[origin[graph.source[uses[is_added]]]] = True
    no_weights = literal or not weights.any()
    found = []
    for node in distinct_values(origin[graph.source[uses]]).tolist():
        if not is_stored(graph, node):
            continue
        if _is_scalar(graph, node):
            is_doubtful = not literal and bool(bounded[node] or (added[node] and not _is_literal(graph, node)))
        else:
            is_doubtful = not (no_weights and is_splat(graph, node))
        if is_doubtful:
            found.append(node)
    if literal:
        computed = computed_kernels(graph, found, np.flatnonzero(constant & weights).tolist())
        found = [node for node in found if node not in computed]
    return found


def opaque_ops_with_numbers(graph: Graph) -> list[int]:
    """Return the ops that may contain weights that cannot be counted.

    These are compiled programs, tables that training fills, ops of unknown types with long attributes, and ops with
    coefficients as attributes.
    """
    opaque = {
        op
        for op in set(graph.op_types)
        if op in COMPILED_PROGRAM_OPS or op in FILLED_TABLES or op_line(op) == "" or has_role(op, Role.HOLDS_NUMBERS)
    }
    if not opaque:
        return []
    nodes = np.flatnonzero(graph.nodes_of_types(opaque.__contains__) & (graph.definition >= 0)).tolist()
    called = {function.name for function in graph.functions}
    return [node for node in nodes if graph.op_types[graph.op[node]] not in called and _may_hold_weights(graph, node)]


def _may_hold_weights(graph: Graph, node: int) -> bool:
    """Return whether an op of an opaque type has a table of floats, coefficients, or a long attribute."""
    definition = graph.node_def(node)
    if definition is None:
        return False
    if definition.op in FILLED_TABLES:
        return definition.attr["value_dtype"].type in STORED_DTYPES if "value_dtype" in definition.attr else False
    if has_role(definition.op, Role.HOLDS_NUMBERS):
        return True
    return any(len(value.s) >= MIN_PROGRAM_BYTES or value.tensor.tensor_content for value in definition.attr.values())


# The numbers of a constant: whether they are a literal, a mask or a grid.

MAX_MASK_NUMBERS = 100_000  # numbers of a constant that are examined
# Numbers of which formulas use roots, ratios and powers.
FORMULA_NUMBERS = (2 / np.pi, np.pi, 2 * np.pi, np.e, np.log(2), np.log(10000))
GELU_COEFFICIENTS = (0.044715, 1.702)  # of GELU, and of its quick form
MAX_LITERAL_NUMBER = 1e6
MAX_EPSILON = 1e-2
MIN_COMPARED_NUMBERS = 32  # in fewer numbers, repetitions are chance
MAX_COMPARED_NUMBERS = 2048


def _stored_numbers(tensor: TensorProto | None, most: int) -> NDArray[Any] | None:
    """Return the first numbers of a tensor, at most `most`; None if it has no numbers or is damaged."""
    dtype = DTYPE_TABLE.get(tensor.dtype) if tensor is not None else None
    if tensor is None or dtype is None or not dtype.form or len(tensor.tensor_content) % dtype.size:
        return None
    if content := tensor.tensor_content:
        return np.frombuffer(content, dtype.form, min(len(content) // dtype.size, most))
    return np.array(getattr(tensor, dtype.field)[:most])


def _is_mask(graph: Graph, node: int) -> bool:
    """Return whether the numbers of a constant are both zeros and ones, and no others."""
    numbers = _stored_numbers(constant_tensor(graph, node), MAX_MASK_NUMBERS)
    return numbers is not None and set(distinct_values(numbers).tolist()) == {0, 1}


def _constant_shape(graph: Graph, node: int) -> list[int]:
    """Return the shape of a constant; [] for a single number or without a value."""
    tensor = constant_tensor(graph, node)
    return [] if tensor is None else [dim.size for dim in tensor.tensor_shape.dim]


def _element_count(graph: Graph, node: int) -> int:
    return 0 if constant_tensor(graph, node) is None else prod(_constant_shape(graph, node))


def _is_scalar(graph: Graph, node: int) -> bool:
    """Return whether a constant has no dimensions."""
    return graph.node_def(node) is not None and not _constant_shape(graph, node)


def _is_vector(graph: Graph, node: int) -> bool:
    """Return whether a constant has several numbers along one dimension."""
    sizes = _constant_shape(graph, node)
    return prod(sizes) > 1 and max(sizes) == prod(sizes)


def _is_literal(graph: Graph, node: int) -> bool:
    """Return whether a single number is a literal of a program rather than trained.

    Literals are a small or large number of one digit, an integer or its half, root or inverse, or a number of a
    formula.
    """
    tensor = constant_tensor(graph, node)
    dtype = DTYPE_TABLE.get(tensor.dtype) if tensor is not None else None
    if dtype is None or dtype.field not in ("float_val", "double_val"):
        return True
    numbers = _stored_numbers(tensor, 1)
    value = 0.0 if numbers is None or not len(numbers) else abs(float(numbers[0]))
    if not np.isfinite(value) or value == 0:
        return True
    tolerance = {2: 1e-3, 4: 1e-6}.get(dtype.size, 1e-12)
    is_one_digit = abs(float(f"{value:.0e}") - value) <= tolerance * value
    if (is_one_digit and (value <= MAX_EPSILON or value > MAX_LITERAL_NUMBER)) or 1 / value == 0:
        return True
    forms = (value, 2 * value, 1 / value, value**2, value**-2)
    return any(
        abs(form - exact) <= 4 * tolerance * form
        for form in forms
        for exact in (round(form), *FORMULA_NUMBERS, *GELU_COEFFICIENTS)
        if exact and form < MAX_LITERAL_NUMBER
    )


def _has_repeated_numbers(graph: Graph, node: int) -> bool:
    """Return whether the numbers of a constant repeat, as in a grid, a blur or a transform, not in trained weights."""
    tensor = constant_tensor(graph, node)
    dtype = DTYPE_TABLE.get(tensor.dtype) if tensor is not None else None
    if dtype is None or dtype.name not in NON_INTEGER_DTYPES or _element_count(graph, node) < MIN_COMPARED_NUMBERS:
        return False
    numbers = _stored_numbers(tensor, MAX_COMPARED_NUMBERS)
    return numbers is not None and 1 < len(distinct_values(numbers)) <= len(numbers) // 2
