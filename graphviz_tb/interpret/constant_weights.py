"""Constants of frozen graphs whose reads a tool has taken out: kernels behind arithmetic, and which may be weights.

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
    ROW_LOOKUP_OPS,
    STORED_DTYPES,
    TAKE_KERNELS,
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
    MATRIX_PRODUCT_OPS,
    REARRANGE_OPS,
    UNIT_AXES_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.roles import LOOKUP_TABLE_OPS as TABLE_HANDLES
from graphviz_tb.ops.table import op_line

if TYPE_CHECKING:
    from graphviz_tb.proto import TensorProto

BOUNDING_OPS = frozenset({"Exp", "Sigmoid", "Softplus", "Tanh"})  # keep a trained number in bounds
PARAMETER_SHAPING_OPS = BOUNDING_OPS | {"Reshape", "ExpandDims", "Rsqrt", "Neg"}
BIAS_LIKE_OPS = ADD_OPS | {"BiasAdd", "Sub", "Mul", "RealDiv"}  # element by element
FUSED_NORM_OPS = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
# Between a product and its bias: what keeps its numbers, sums and factors.
LINEAR_OPS = (
    ADD_OPS | REARRANGE_OPS | UNIT_AXES_OPS | TAKE_KERNELS | {"BatchToSpaceND", "Identity", "Mul", "RealDiv", "Sub"}
)
MAX_OPS_BEFORE_BIAS = 8
OPS_OF_NORM = 3  # by the root, by the scale, and a shift
# With the program, and the constants in it, in an attribute.
COMPILED_PROGRAM_OPS = frozenset({"TRTEngineOp", "XlaCallModule"})
FILLED_TABLES = frozenset(op for op in TABLE_HANDLES if op.startswith("Mutable"))
MIN_PROGRAM_BYTES = 1024  # as the names and settings of an op do not take
NO_ARITHMETIC = (
    Role.VARIABLE, Role.HANDLE, Role.INPUT, Role.ARGUMENT, Role.READ, Role.READ_ROWS, Role.NEXT_ELEMENT,
    Role.FRAME_MERGE, Role.FRAME_NEXT, Role.FRAME_SWITCH, Role.LIST, Role.LOOKUP,
)  # fmt: skip


class MadeOfConstants:
    """Values computed from constants only, and these constants."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.made = graph.nodes_of_types(CONSTANT_OPS.__contains__)
        data = np.flatnonzero(~graph.control)
        source, target = graph.source[data], graph.target[data]
        inputs = np.bincount(target, minlength=len(graph)) > 0
        open_to = inputs & ~graph.nodes_of_types(_is_source)
        open_to[[call.node for call in graph.calls]] = False
        for _ in range(MAX_FOLLOWED_CARRIERS):
            fed = np.bincount(target[~self.made[source]], minlength=len(graph)) > 0
            new = open_to & ~fed & ~self.made
            if not new.any():
                break
            self.made |= new
        inner = self.made[source] & self.made[target]
        self._before: dict[int, list[int]] = {}
        for here, there in zip(target[inner].tolist(), source[inner].tolist(), strict=True):
            self._before.setdefault(here, []).append(there)

    def worked_out(self, node: int, of_product: bool) -> list[int]:
        """Return the constants behind a value that is computed in no program: a vector brought into the shape
        of the data, a variance, an exponent, a slope with another sign; of one number if it is added to a product."""
        types = self.graph.op_types
        behind, ops, seen, waiting = [], set[str](), {node}, [node]
        while waiting and len(seen) < MAX_FOLLOWED_CARRIERS:
            each = waiting.pop()
            before = self._before.get(each, ())
            if not before:
                behind.append(each)
            else:
                ops.add(types[self.graph.op[each]])
            for source in before:
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)
        if not ops & PARAMETER_SHAPING_OPS:
            return []
        least = 1 if (of_product or ops & BOUNDING_OPS) and len(behind) == 1 else 2
        return [constant for constant in behind if _numbers_in(self.graph, constant) >= least]

    def constants_behind(self, nodes: Iterable[int]) -> Iterator[int]:
        """Return the constants behind the values of some nodes, each once."""
        found = reachable_from((node for node in nodes if self.made[node]), self._before.get)
        return (node for node in found if node not in self._before)


def _is_source(op: str) -> bool:
    """Return whether an op yields values that do not derive from constants: random numbers, carried values of loops,
    stored values."""
    return "Random" in op or "Truncated" in op or has_role(op, *NO_ARITHMETIC)


def kernels_behind(graph: Graph, made: MadeOfConstants) -> list[int]:
    """Return the constants behind the second factor of products and the filters of convolutions, including transposed,
    quantised, standardised and scaled ones."""
    takes = graph.nodes_of_types(TAKE_KERNELS.__contains__)[graph.target] & (graph.slot == 1) & ~graph.control
    found = made.constants_behind(distinct_values(graph.source[takes & made.made[graph.source]]).tolist())
    return [node for node in found if is_stored(graph, node) and _numbers_in(graph, node) > 1]


def constants_joined_to_data(graph: Graph, made: MadeOfConstants) -> list[int]:
    """Return the constants that an op combines elementwise with data and that are weights whatever their width:

    product with a kernel ─▶ [Reshape] ─▶ Add ◀─ constant        an addend of a product is its bias
    data ─▶ Mul ◀─ Reshape ◀─ constant                           a number of the program has the shape that it needs
    data ─▶ Mul ◀─ Rsqrt ◀─ + ε ◀─ constant                      the variance of a norm
    data ─▶ Mul ◀─ Exp ◀─ constant                               a program would write the result
    data · Rsqrt(data) ─▶ Mul ◀─ vector                      the scale of a norm, and its shift
    """
    joins = graph.nodes_of_types(BIAS_LIKE_OPS.__contains__)
    data = ~graph.control
    products = graph.nodes_of_types(TAKE_KERNELS.__contains__)
    given = np.zeros(len(graph), bool)
    given[graph.target[data & products[graph.target] & (graph.slot == 1) & made.made[graph.source]]] = True
    shaped = graph.nodes_of_types("Reshape".__eq__)
    after = data & shaped[graph.target] & (graph.slot == 0) & given[graph.source]
    given[graph.target[after]] = True
    # The ops that have such a product for one of their inputs.
    biased = np.zeros(len(graph), bool)
    biased[graph.target[data & given[graph.source]]] = True
    biased &= graph.nodes_of_types(lambda op: op in ADD_OPS or op == "BiasAdd")
    constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    plain = np.zeros(len(graph), bool)
    plain[graph.target[data & ~made.made[graph.source]]] = True
    into = np.flatnonzero(data & (joins & plain)[graph.target] & made.made[graph.source])
    normed = _behind_norms(graph, made)
    found: dict[int, None] = {}
    for source, target in zip(graph.source[into].tolist(), graph.target[into].tolist(), strict=True):
        if constant[source]:
            if biased[target] or (normed[target] and _is_vector(graph, source)):
                found[source] = None
        else:
            found |= dict.fromkeys(made.worked_out(source, bool(biased[target])))
    return [node for node in found if is_stored(graph, node)]


def _behind_norms(graph: Graph, made: MadeOfConstants) -> Bools:
    """Mark the ops that scale or shift what was divided by a root of the sum of its squares."""
    data = np.flatnonzero(~graph.control & graph.nodes_of_types(BIAS_LIKE_OPS.__contains__)[graph.target])
    source, target = graph.source[data], graph.target[data]
    found = graph.nodes_of_types("Rsqrt".__eq__) & ~made.made
    for _ in range(OPS_OF_NORM):
        found[target[found[source]]] = True
    return found


def multiplying_masks(graph: Graph, made: MadeOfConstants, nodes: Iterable[int]) -> set[int]:
    """Return the constants of zeros and ones that mask another constant; they are not weights."""
    times = graph.nodes_of_types("Mul".__eq__)[graph.target] & ~graph.control
    both = np.bincount(graph.target[times & made.made[graph.source]], minlength=len(graph)) > 1
    masks = np.zeros(len(graph), bool)
    masks[graph.source[times & both[graph.target]]] = True
    return {node for node in nodes if masks[node] and _is_mask(graph, node)}


def computed_kernels(graph: Graph, kernels: Iterable[int], others: Iterable[int]) -> set[int]:
    """Return the kernels that a program computes, such as a grid or a transform: their numbers repeat, while those of
    most `others` do not."""
    found = {node for node in kernels if _has_repeated_numbers(graph, node)}
    if not found:
        return found
    compared = [node for node in others if _numbers_in(graph, node) >= LEAST_COMPARED and not is_splat(graph, node)]
    repeated = sum(_has_repeated_numbers(graph, node) for node in compared)
    return found if 2 * repeated <= len(compared) else set()


def projections_of_inputs(graph: Graph, made: MadeOfConstants) -> set[int]:
    """Return the kernels that may be a fixed projection: they only multiply an input, without the bias, scale or norm
    that follows other products of the graph.

    input ─▶ MatMul ◀─ projection        MatMul ─▶ Sin
    """
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    takes = data & graph.nodes_of_types(TAKE_KERNELS.__contains__)[graph.target]
    kernel = np.flatnonzero(takes & (graph.slot == 1) & made.made[graph.source] & (graph.function[graph.target] < 0))
    if not len(kernel):
        return set()
    constants = np.flatnonzero(graph.nodes_of_types(CONSTANT_OPS.__contains__)).tolist()
    vectors = np.zeros(len(graph), bool)
    vectors[[node for node in constants if is_stored(graph, node) and _numbers_in(graph, node) > 1]] = True
    touched = reachable_mask(vectors, source, target)
    followed = _lead_to_vectors(graph, made)
    of_input = np.zeros(len(graph), bool)
    of_input[graph.target[takes & (graph.slot == 0) & ~touched[graph.source] & ~made.made[graph.source]]] = True
    product = graph.target[kernel]
    alone = of_input[product] & ~followed[product]
    if not followed[product].any():
        return set()
    inner = made.made[graph.target] & made.made[graph.source] & data
    used = set(made.constants_behind(distinct_values(graph.source[kernel[~alone]]).tolist()))
    elsewhere = data & ~made.made[graph.target] & made.made[graph.source] & ~inner
    elsewhere[kernel] = False
    used |= set(made.constants_behind(distinct_values(graph.source[elsewhere]).tolist()))
    return set(made.constants_behind(distinct_values(graph.source[kernel[alone]]).tolist())) - used


def _lead_to_vectors(graph: Graph, made: MadeOfConstants) -> Bools:
    """Mark the products whose numbers, as they are, in sums or scaled, meet a constant of more than one number."""
    data = ~graph.control
    source, target = graph.source[data], graph.target[data]
    joins = graph.nodes_of_types(lambda op: op in BIAS_LIKE_OPS or op in FUSED_NORM_OPS)
    into = np.flatnonzero(joins[target] & made.made[source] & ~made.made[target])
    vectors = {
        node: any(not _is_scalar(graph, constant) for constant in made.constants_behind([node]))
        for node in distinct_values(source[into]).tolist()
    }
    leads = np.zeros(len(graph), bool)
    leads[target[into][[vectors[node] for node in source[into].tolist()]]] = True
    passing = graph.nodes_of_types(LINEAR_OPS.__contains__)
    found = np.zeros(len(graph), bool)
    for _ in range(MAX_OPS_BEFORE_BIAS):
        before = source[leads[target] & ~made.made[source]]
        found[before] = True
        fresh = distinct_values(before[passing[before] & ~leads[before]])
        if not len(fresh):
            break
        leads[fresh] = True
    return found


def first_factors(graph: Graph, made: MadeOfConstants, way: Ints) -> set[int]:
    """Return the constants that only products with data use, as their first factor: matrices as often as weights."""
    used = ~graph.control & (way[graph.source] >= 0) & (way[graph.target] != way[graph.source])
    products = graph.nodes_of_types(lambda op: op in MATRIX_PRODUCT_OPS or op in BATCH_PRODUCT_OPS)[graph.target]
    products &= ~made.made[graph.target]
    first = used & products & (graph.slot == 0)
    others = set(distinct_values(way[graph.source[used & ~first]]).tolist())
    return set(distinct_values(way[graph.source[first]]).tolist()) - others


def biases_of_one(graph: Graph, way: Ints) -> set[int]:
    """Constant biases of `BiasAdd` ops: it may be one number."""
    takes = graph.nodes_of_types("BiasAdd".__eq__)[graph.target] & (graph.slot == 1) & ~graph.control
    return {node for node in distinct_values(way[graph.source[takes]]).tolist() if node >= 0}


def doubtful_constants(graph: Graph, way: Ints, weights: Bools, literal: bool) -> list[int]:
    """Return possible weights that are not counted, each with numbers that some op computes with.

    `way` is, for each node, the constant whose value it passes on; `weights` are those that are counted. With
    `literal`, a direct input of an op is a literal of the program, except a kernel without state; else every constant
    may be a weight, except single numbers of the program and, if there are no other weights, constants of equal
    numbers.
    """
    constant = graph.nodes_of_types(CONSTANT_OPS.__contains__)
    into = np.flatnonzero(~graph.control & (way[graph.source] >= 0) & (way[graph.target] != way[graph.source]))
    into = into[(constant & ~weights)[way[graph.source[into]]]]
    if literal:
        target = graph.target[into]
        kernel = graph.nodes_of_types(TAKE_KERNELS.__contains__)[target] & (graph.slot[into] == 1)
        into = into[kernel | (graph.nodes_of_types(ROW_LOOKUP_OPS.__contains__)[target] & (graph.slot[into] == 0))]
    alone = np.bincount(graph.target[~graph.control], minlength=len(graph)) == 1
    # A single number keeps a trained one in bounds, or is joined to data.
    lonely = alone[graph.target[into]] & graph.nodes_of_types(BOUNDING_OPS.__contains__)[graph.target[into]]
    joined = graph.nodes_of_types(lambda op: op in BIAS_LIKE_OPS or op == "Pow")[graph.target[into]]
    worked, scales = np.zeros(len(graph), bool), np.zeros(len(graph), bool)
    worked[way[graph.source[into[lonely]]]] = True
    scales[way[graph.source[into[joined]]]] = True
    nothing = literal or not weights.any()
    found = []
    for node in distinct_values(way[graph.source[into]]).tolist():
        if not is_stored(graph, node):
            continue
        if _is_scalar(graph, node):
            doubtful = not literal and bool(worked[node] or (scales[node] and not _is_literal(graph, node)))
        else:
            doubtful = not (nothing and is_splat(graph, node))
        if doubtful:
            found.append(node)
    if literal:
        computed = computed_kernels(graph, found, np.flatnonzero(constant & weights).tolist())
        found = [node for node in found if node not in computed]
    return found


def opaque_holders(graph: Graph) -> list[int]:
    """Opaque ops: a compiled program, a table that training fills, an op of an unknown type with a long attribute, an
    op whose coefficients are attributes."""
    opaque = {
        op
        for op in set(graph.op_types)
        if op in COMPILED_PROGRAM_OPS or op in FILLED_TABLES or op_line(op) == "" or has_role(op, Role.HOLDS_NUMBERS)
    }
    if not opaque:
        return []
    nodes = np.flatnonzero(graph.nodes_of_types(opaque.__contains__) & (graph.definition >= 0)).tolist()
    called = {function.name for function in graph.functions}
    return [node for node in nodes if graph.op_types[graph.op[node]] not in called and _holds_much(graph, node)]


def _holds_much(graph: Graph, node: int) -> bool:
    """Return whether an op of an opaque type has room for weights: a table of floating numbers, or bytes."""
    definition = graph.node_def(node)
    if definition is None:
        return False
    if definition.op in FILLED_TABLES:
        return definition.attr["value_dtype"].type in STORED_DTYPES if "value_dtype" in definition.attr else False
    if has_role(definition.op, Role.HOLDS_NUMBERS):
        return True
    return any(len(value.s) >= MIN_PROGRAM_BYTES or value.tensor.tensor_content for value in definition.attr.values())


# The numbers of a constant: whether a program writes such down, and whether they are those of a mask or a grid.

MOST_LOOKED_AT = 100_000  # numbers of a constant
# Formulas take roots, ratios and powers of these.
FORMULA_NUMBERS = (2 / np.pi, np.pi, 2 * np.pi, np.e, np.log(2), np.log(10000))
OF_FORMULAS = (0.044715, 1.702)  # of GELU, and of its quick form
MAX_WHOLE = 1e6
LARGEST_EPSILON = 1e-2
LEAST_COMPARED = 32  # numbers of a constant of which it says something that they repeat
MOST_COMPARED = 2048


def _stored_numbers(tensor: TensorProto | None, most: int) -> NDArray[Any] | None:
    """Return the first numbers of a tensor, at most so many; None if it holds no numbers or is damaged."""
    dtype = DTYPE_TABLE.get(tensor.dtype) if tensor is not None else None
    if tensor is None or dtype is None or not dtype.form or len(tensor.tensor_content) % dtype.size:
        return None
    if content := tensor.tensor_content:
        return np.frombuffer(content, dtype.form, min(len(content) // dtype.size, most))
    return np.array(getattr(tensor, dtype.field)[:most])


def _is_mask(graph: Graph, node: int) -> bool:
    """Return whether the numbers of a constant are zeros and ones, and both."""
    numbers = _stored_numbers(constant_tensor(graph, node), MOST_LOOKED_AT)
    return numbers is not None and set(distinct_values(numbers).tolist()) == {0, 1}


def _sizes(graph: Graph, node: int) -> list[int]:
    """Return the shape of a constant; [] for a number, and for a constant without a value."""
    tensor = constant_tensor(graph, node)
    return [] if tensor is None else [dim.size for dim in tensor.tensor_shape.dim]


def _numbers_in(graph: Graph, node: int) -> int:
    """Count the elements of a constant."""
    return 0 if constant_tensor(graph, node) is None else prod(_sizes(graph, node))


def _is_scalar(graph: Graph, node: int) -> bool:
    """Return whether a constant is a number, and no list of one."""
    return graph.node_def(node) is not None and not _sizes(graph, node)


def _is_vector(graph: Graph, node: int) -> bool:
    """Return whether a constant has several numbers along one dimension."""
    sizes = _sizes(graph, node)
    return prod(sizes) > 1 and max(sizes) == prod(sizes)


def _is_literal(graph: Graph, node: int) -> bool:
    """Return whether a single number is one that a program writes down, and no trained one: a small power of ten, a
    whole number or half of one, the root or the inverse of one, or a constant of a formula."""
    tensor = constant_tensor(graph, node)
    dtype = DTYPE_TABLE.get(tensor.dtype) if tensor is not None else None
    if dtype is None or dtype.field not in ("float_val", "double_val"):
        return True
    numbers = _stored_numbers(tensor, 1)
    value = 0.0 if numbers is None or not len(numbers) else abs(float(numbers[0]))
    if not np.isfinite(value) or value == 0:
        return True
    near = {2: 1e-3, 4: 1e-6}.get(dtype.size, 1e-12)
    short = abs(float(f"{value:.0e}") - value) <= near * value
    if (short and (value <= LARGEST_EPSILON or value > MAX_WHOLE)) or 1 / value == 0:
        return True
    forms = (value, 2 * value, 1 / value, value**2, value**-2)
    return any(
        abs(form - exact) <= 4 * near * form
        for form in forms
        for exact in (round(form), *FORMULA_NUMBERS, *OF_FORMULAS)
        if exact and form < MAX_WHOLE
    )


def _has_repeated_numbers(graph: Graph, node: int) -> bool:
    """Return whether the numbers of a constant repeat, as those of a grid, a blur or a cosine transform do and those of
    a trained kernel do not."""
    tensor = constant_tensor(graph, node)
    dtype = DTYPE_TABLE.get(tensor.dtype) if tensor is not None else None
    if dtype is None or dtype.name not in NON_INTEGER_DTYPES or _numbers_in(graph, node) < LEAST_COMPARED:
        return False
    numbers = _stored_numbers(tensor, MOST_COMPARED)
    return numbers is not None and 1 < len(distinct_values(numbers)) <= len(numbers) // 2
