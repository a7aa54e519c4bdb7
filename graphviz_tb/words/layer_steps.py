"""Find the steps of a TensorFlow graph: the ops that a paper describes, each with its words.

Words come from shapes of weights, attributes and constants. Unknown facts are left out.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from graphviz_tb.graphs.tensors import attr_value, declared_shapes
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.graph import INPUT_ARG_OP
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.ops.roles import (
    ADD_OPS,
    BATCH_PRODUCT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    DILATION_BLOCK_OPS,
    EMBEDDING_LOOKUP_OPS,
    IDENTITY_OPS,
    MATRIX_PRODUCT_OPS,
    RESHAPE_OPS,
    Role,
    has_role,
    is_elementwise,
)
from graphviz_tb.ops.signatures import weight_input_names
from graphviz_tb.ops.table import plain_op_name
from graphviz_tb.words.op_reader import MAX_SCALING_OPS, OpReader, OutputOf
from graphviz_tb.words.step_words import (
    ACTIVATION_WORDS,
    PRELU_STEP,
    RELU_STEP,
    UNKNOWN_STEP,
    LayerStep,
    along_image,
    einsum_step,
    experts_step,
    heads_layer_step,
    kernel_word,
    overlaps,
    size_word,
    step_words,
    worded_step,
)

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

ACTIVATION_TYPES = ("Relu", "LeakyRelu", "Elu", "Selu", "Softplus", "Softmax", "LogSoftmax", "Swish", "Gelu")
ACTIVATIONS = {op: ACTIVATION_WORDS[op.lower()] for op in ACTIVATION_TYPES} | {"Softsign": "softsign"}
POOLS = {"MaxPool": "max", "MaxPoolV2": "max", "AvgPool": "avg", "MaxPool3D": "max", "AvgPool3D": "avg"}
REDUCTIONS = {"Mean": "global avg", "Max": "global max"}
GATED = {"Sigmoid": "SiLU", "Erf": "GELU", "Erfc": "GELU", "Relu6": "hard swish", "Tanh": ""}
PLAIN = {"Sigmoid": "sigmoid", "Relu6": "ReLU6", "Tanh": "tanh", "Erf": "", "Erfc": ""}
SCALED_OPS = ADD_OPS | {"Mul", "RealDiv", "Div", "Sub", "Neg", *IDENTITY_OPS, "IdentityN"}
QUICK_GELU_FACTOR = 1.702
POLYNOMIAL_OPS = frozenset({"Pow", "Square", "Mul", "Softplus"})
NORM_OPS = frozenset({"Rsqrt", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
MOMENT_OPS = frozenset({"SquaredDifference", "Sub", "StopGradient"})  # use a mean to compute a variance
VARIANCE_OPS = SCALED_OPS | {"Reshape", "ExpandDims", "Squeeze", "Cast", "Maximum"}  # pass a variance on
DIVIDING_OPS = ("RealDiv", "Div", "Reciprocal")
KERNEL = 1  # the slot of a kernel, a shape, an axis
ROW_RANGE_OPS = frozenset({"Slice", "StridedSlice"})
BROADCAST_OPS = RESHAPE_OPS | IDENTITY_OPS | {"Cast", "ExpandDims", "BroadcastTo", "Tile"}  # of rows that are added
STACKED_PRODUCTS = frozenset({"matmul", "batchmatmul", "batchmatmulv2", "batchmatmulv3"})  # of the last two axes
FORMULA_STEPS = frozenset((*PLAIN, "Rsqrt", "Sqrt"))  # ops at which a formula of several is recognised

# TensorFlow's names for ops in formulas, by the type in other frameworks in lower case and without underscores.
FORMULA_OPS = {
    **{name: name.capitalize() for name in ("sub", "mul", "neg", "pow", "square", "sqrt", "rsqrt", "erf", "mean")},
    "reciprocal": "Reciprocal",
    **{name: name.capitalize() for name in ("sigmoid", "tanh", "softplus", "relu6", "cast", "reshape", "identity")},
    "add": "AddV2",
    "div": "RealDiv",
    "logistic": "Sigmoid",
    "reducemean": "Mean",
    "tocopy": "Cast",
    "squareddifference": "SquaredDifference",
    "to": "Cast",
    "typeas": "Cast",
    "float": "Cast",
}


class TensorFlowSteps(OpReader):
    """Finds the steps of nodes."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        super().__init__(hierarchy)
        self._found: dict[int, tuple[LayerStep, ...]] = {}

    def steps_of(self, node: int) -> tuple[LayerStep, ...]:
        if node not in self._found:
            steps = self._find_steps(node)
            self._found[node] = (PRELU_STEP,) if steps == (RELU_STEP,) and self._is_prelu(node) else steps
        return self._found[node]

    def steps_of_all(self, nodes: Sequence[int]) -> list[tuple[LayerStep, ...]]:
        """Return the steps of each node; fast if most are cached."""
        found = map(self._found.get, nodes)
        return [self.steps_of(node) if steps is None else steps for node, steps in zip(nodes, found, strict=True)]

    def _find_steps(self, node: int) -> tuple[LayerStep, ...]:
        step = self._step(self.op_of(node), node) if self._telling[self.graph.op[node]] else None
        return () if step is None else (step,)

    @cached_property
    def reshapes(self) -> Bools:
        """Nodes that reshape a tensor."""
        return self.graph.nodes_of_types(self.is_reshape)

    def is_reshape(self, op: str) -> bool:
        """Return whether ops of a type reshape a tensor."""
        return op in RESHAPE_OPS

    @cached_property
    def _telling(self) -> list[bool]:
        """Return whether ops of each type may be steps."""
        return [_is_step_type(op) for op in self.graph.op_types]

    def _step(self, op: str, node: int) -> LayerStep | None:
        if op in ACTIVATIONS or op in PLAIN:
            word = ACTIVATIONS[op] if op in ACTIVATIONS else self.gate_word(op, node)
            return LayerStep("activation", self._with_alpha(op, word, node)) if word else None
        if op in POOLS:
            return worded_step("pool", self._pool(op, node))
        if op in REDUCTIONS:
            return self._reduction(op, node)
        if op in BATCH_PRODUCT_OPS or op in MATRIX_PRODUCT_OPS or op in CONVOLUTION_OPS or op in EMBEDDING_LOOKUP_OPS:
            return self._product(op, node)
        if has_role(op, Role.TRANSPOSED_CONVOLUTION):
            filters = [(origin, shape) for _, origin, shape in self.weights_of(node) if len(shape) > 3]
            return self._transposed_step(node, *filters[0]) if filters else UNKNOWN_STEP
        if op in NORM_OPS or has_role(op, Role.NORMALIZATION) or (op == "Sqrt" and self.is_root_of_mean(node)):
            is_batch_norm = op.startswith("FusedBatchNorm") or self._scales_by_weight(node)
            return LayerStep("norm", "BN" if is_batch_norm else "norm")
        if op.startswith("Resize"):
            return self._resize(op, node)
        if op == "Tile":
            return self._repeat_along_image(node)
        if op in ROW_RANGE_OPS:
            return self._added_rows(node)
        if op in ("TopK", "TopKV2"):
            chosen = self.constant_input(node, KERNEL)
            return LayerStep("top", f"top {chosen[0]}") if len(chosen) == 1 and chosen[0] > 0 else None
        return None

    # Activations.

    def formula_step(self, formula: str, node: int) -> LayerStep | None:
        """Return the step of an op of another framework whose TensorFlow name is `formula`: an activation, or the
        characteristic op of an activation or norm that consists of several ops; None for other ops."""
        if formula in PLAIN:
            word = self.gate_word(formula, node)
            return LayerStep("activation", word) if word else None
        is_norm = formula == "Rsqrt" or (formula == "Sqrt" and self.is_root_of_mean(node))
        return LayerStep("norm", "norm") if is_norm else None

    def gate_word(self, op: str, node: int) -> str:
        """Return the name of an activation that consists of several ops: `x · sigmoid(x)` is SiLU, `x · sigmoid(1.702
        x)` an approximation of GELU (Hendrycks and Gimpel 2016), `x · erf(x)` with factors GELU."""
        inputs = self.tensors_into(node)
        if len(inputs) != 1:
            return PLAIN[op]
        scaled, has_power = self._scaled_sources(inputs[0], sums=op == "Tanh")
        if not self._multiplies(node, scaled):
            is_shifted = self.formula_op(inputs[0][0]) in ADD_OPS and len(self.tensors_into(inputs[0][0])) == 1
            return "" if op == "Relu6" and is_shifted else PLAIN[op]
        if op == "Tanh":  # of a polynomial
            return "GELU" if has_power else "Mish" if self.formula_op(inputs[0][0]) == "Softplus" else ""
        if op == "Sigmoid" and (factor := self._factor(inputs[0][0])) != 1:
            return "GELU" if round(factor, 3) == QUICK_GELU_FACTOR else "swish"
        return GATED[op]

    def _is_prelu(self, node: int) -> bool:
        """Return whether a ReLU is a part of `relu(x) - alpha · relu(-x)`."""
        parts = [node, *self._negative_parts(node)]
        scaled = (self.formula_op(user) == "Mul" for each in parts for user in self._users_of(each))
        return len(parts) > 1 and any(scaled)

    def is_squared_among(self, node: int, among: Set[int]) -> bool:
        """Return whether the ops in `among` only use the result of an op to square it."""
        users = self._users_of(node)
        return bool(users) and all(user in among and self._squares(user) for user in users)

    def _negative_parts(self, node: int) -> list[int]:
        """Return the ops of the same type whose input is the negative of the input of an op."""
        before = self.tensors_into(node)[:1]
        parts = [user for source, _ in before for user in self._users_of(source) if self.formula_op(user) == "Neg"]
        if before and self.formula_op(before[0][0]) == "Neg":
            parts += [source for source, _ in self.tensors_into(before[0][0])]
        op = self.op_of(node)
        return [user for part in parts for user in self._users_of(part) if self.op_of(user) == op]

    def _squares(self, node: int) -> bool:
        op, inner = self.formula_op(node), self.tensors_into(node)
        if op == "Mul":
            return len(inner) == 2 and inner[0] == inner[1]
        return op == "Square" or (op == "Pow" and len(inner) == 1 and self._exponent(node) == 2)

    def _exponent(self, node: int) -> float | None:
        """Return the power to which an op raises its first input; None if unknown."""
        return next((self.number(source) for slot, (source, _) in self.inputs_of(node) if slot == 1), None)

    def _factor(self, node: int) -> float:
        """Return the number with which an op multiplies a tensor; 1 if unknown, and for other ops."""
        numbers = [self.number(source) for _, (source, _) in self.inputs_of(node) if self.is_number(source)]
        known = self.formula_op(node) == "Mul" and len(numbers) == 1
        return numbers[0] if known and numbers[0] is not None else 1

    def _scaled_sources(self, port: OutputOf, sums: bool) -> tuple[set[OutputOf], bool]:
        """Return a tensor and the tensors of which it is a multiple (with `sums`, a polynomial), and whether it is
        computed with a power."""
        scaled, unvisited, has_power = {port}, [port], False
        while unvisited and len(scaled) < MAX_SCALING_OPS:
            node = unvisited.pop(0)[0]
            op = self.formula_op(node)
            inputs = self.tensors_into(node)
            has_power |= op in ("Pow", "Square") or (op == "Mul" and len(inputs) == 2)
            if (op in SCALED_OPS and len(inputs) == 1) or (sums and (op in POLYNOMIAL_OPS or op in SCALED_OPS)):
                unvisited += [tensor for tensor in inputs if tensor not in scaled]
                scaled.update(inputs)
        return scaled, has_power

    def _multiplies(self, node: int, factors: set[OutputOf]) -> bool:
        """Return whether the result of an op, scaled and shifted by numbers, is multiplied with a tensor of
        `factors`."""
        unvisited = [(node, 0)]
        while unvisited:
            source, distance = unvisited.pop()
            for user in self._users_of(source):
                inputs = self.tensors_into(user)
                if len(inputs) == 2 and self.formula_op(user) == "Mul":
                    others = [tensor for tensor in inputs if tensor[0] != source]
                    if any(not factors.isdisjoint(self._multiples(other)) for other in others):
                        return True
                elif len(inputs) == 1 and self.formula_op(user) in SCALED_OPS and distance < MAX_SCALING_OPS // 2:
                    unvisited.append((user, distance + 1))
        return False

    def _multiples(self, port: OutputOf) -> set[OutputOf]:
        seen = {port}
        while (
            self.formula_op(port[0]) in SCALED_OPS and len(inputs := self.tensors_into(port[0])) == 1 and len(seen) < 4
        ):
            port = inputs[0]
            seen.add(port)
        return seen

    def _with_alpha(self, op: str, word: str, node: int) -> str:
        definition = self.graph.node_def(node) if op == "LeakyRelu" else None
        if definition is None:
            return word
        slope = attr_value(definition, "alpha").f if "alpha" in definition.attr else 0.2
        return f"{word} α {slope:.3g}"

    def is_root_of_mean(self, node: int) -> bool:
        """Return whether an op is the root of a mean plus a number, and a tensor is divided by it, as in a norm (but
        not in a logged standard deviation)."""
        if not any(self.formula_op(user) in DIVIDING_OPS for user in self._users_of(node)):
            return False
        for _ in range(MAX_SCALING_OPS // 2):
            inner = self.tensors_into(node)
            if len(inner) != 1:
                return False
            node = inner[0][0]
            if self.formula_op(node) == "Mean":
                return True
            if self.formula_op(node) not in VARIANCE_OPS:
                return False
        return False

    def _scales_by_weight(self, node: int) -> bool:
        """Return whether the input of an `Rsqrt` is a stored variance, as in batch norm at inference."""
        for _ in range(MAX_SCALING_OPS // 2):
            inner = self.tensors_into(node)
            weights = [source for source, _ in inner if self.graph.meaning.origin[source] >= 0]
            if weights or len(inner) != 1 or self.op_of(inner[0][0]) not in VARIANCE_OPS:
                return bool(weights)
            node = inner[0][0]
        return False

    # Layers.

    def factors_of(self, node: int) -> list[tuple[int, tuple[int | None, ...]]]:
        """Return the weights among the factors of a product, with their sizes. Of two weights the second comes first;
        the other is an initial state or a learned query."""
        names, weights = weight_input_names(self.op_of(node)), self.weights_of(node)
        factors = [(origin, shape) for _, origin, shape in weights if len(shape) > 1]
        are_kernels = len(weights) > 1 and all(names.get(slot) == "kernel" for slot, _, _ in weights[:2])
        return factors[1::-1] if are_kernels else factors

    def _product(self, op: str, node: int) -> LayerStep | None:
        kernels = self.factors_of(node)
        if kernels:
            found = self._weighted_step(op, node, *kernels[0])
            return UNKNOWN_STEP if found is None else found
        weights = [int(self.graph.meaning.origin[source]) for _, (source, _) in self.inputs_of(node)]
        if max(weights, default=-1) >= 0:
            if op in EMBEDDING_LOOKUP_OPS:
                return None
            width = self._restored_width(node) if op in MATRIX_PRODUCT_OPS else 0
            return LayerStep("dense", f"→ {size_word(width)}", 0, width, weight=max(weights)) if width else UNKNOWN_STEP
        if op in BATCH_PRODUCT_OPS or op in MATRIX_PRODUCT_OPS:
            heads = self.product_heads(node)
            return LayerStep("product", "", heads=heads) if _sums_an_axis(self.graph.node_def(node)) else None
        return UNKNOWN_STEP if op in CONVOLUTION_OPS else None

    def _restored_width(self, node: int) -> int:
        """Return the width of a product that is reshaped back to the axes of its input, as in `tensordot`; 0 for other
        products."""
        for user in self._users_of(node):
            shape = self.inputs_of(user)[-1][1][0]
            if self.op_of(user) == "Reshape" and self.op_of(shape) == "ConcatV2":
                *parts, _ = [source for _, (source, _) in self.inputs_of(shape)]
                width = self._constant(parts[-1], 2) if len(parts) == 2 else []
                return int(width[0]) if len(width) == 1 and width[0] > 0 else 0
        return 0

    def product_heads(self, node: int) -> tuple[int, int]:
        """Return the number and the size of heads of a product of two tensors with four axes, such as queries and keys,
        from the reshapes before it; 0 if unknown."""
        if plain_op_name(self.op_of(node)) not in STACKED_PRODUCTS:
            return 0, 0
        definition = self.graph.node_def(node)
        adjoint = [definition is not None and attr_value(definition, name).b for name in ("adj_x", "adj_y")]
        tensors = self.tensors_into(node)
        queries, keys = (self._split_sizes(source) for source, _ in tensors) if len(tensors) == 2 else ((), ())
        if adjoint[0] or not queries or (keys and keys[3 if adjoint[1] else 2] != queries[3]):
            return 0, 0
        # An axis of one element may be repeated on the way.
        return (queries[1], queries[3]) if min(queries[1], queries[3]) > 1 else (0, 0)

    def _split_sizes(self, node: int) -> Sequence[int]:
        """Return the sizes of the four axes of a tensor, from the last reshape before it, -1 for unknown sizes; () if
        there is no such reshape."""
        axes = [0, 1, 2, 3]
        for _ in range(MAX_SCALING_OPS):
            op = self.op_of(node)
            if plain_op_name(op) == "transpose":
                input_axes = self.turned_axes(node)
                if sorted(input_axes) != [0, 1, 2, 3]:
                    break
                axes = [input_axes[axis] for axis in axes]
            elif self.is_reshape(op):
                sizes = self.stated_sizes(node)
                return [sizes[axis] for axis in axes] if len(sizes) == len(axes) else ()
            elif not is_elementwise(op):
                break
            origin = self.graph.meaning.origin
            node = next((source for source, _ in self.tensors_into(node) if origin[source] < 0), -1)
            if node < 0:
                break
        return ()

    def turned_axes(self, node: int) -> list[int]:
        """Return for each axis of the result of a transpose the axis of its input; [] if unknown."""
        return self.constant_input(node, 1)

    def reshaped_sizes(self, node: int) -> list[int]:
        """Return the sizes of the result of a reshape, -1 for unknown sizes."""
        return self.stated_sizes(node)

    def stated_sizes(self, node: int) -> list[int]:
        """Return the sizes that a program states for a reshape, -1 for unknown ones; [] if it states none."""
        return self.constant_input(node, 1)

    def _weighted_step(self, op: str, node: int, weight: int, kernel: tuple[int | None, ...]) -> LayerStep | None:
        if op in EMBEDDING_LOOKUP_OPS or self._selects_rows(node):
            return self.table_step(node, weight, kernel) if len(kernel) == 2 else None
        if op in CONVOLUTION_OPS or op in DEPTHWISE_OPS:
            return self._convolution(op, node, weight, kernel)
        definition = self.graph.node_def(node)
        if op == "Einsum" and len(kernel) == 3:
            equation = attr_value(definition, "equation").s if definition is not None else b""
            return einsum_step(equation.decode("ascii", "replace"), weight, kernel)
        in_width, width = kernel[-2] or 0, kernel[-1] or 0
        if definition is not None and (attr_value(definition, "transpose_b").b or attr_value(definition, "adj_y").b):
            in_width, width = width, in_width
        if len(kernel) > 2:  # one kernel for each expert, or for each position
            return experts_step(kernel[0], in_width, width, weight) if len(kernel) == 3 and kernel[0] else None
        if op == "Einsum" and not _is_last_axis_product(definition):
            return None
        return self._matrix_step(weight, in_width, width) if width else None

    def _matrix_step(self, weight: int, in_width: int, out_width: int) -> LayerStep:
        """Return the step of a product with a matrix, with the heads that the shape of its weight may have."""
        first, *heads = self.shapes.get(weight) or (None,)
        if len(heads) == 2 and first == in_width and all(heads) and prod(size or 0 for size in heads) == out_width:
            return heads_layer_step(in_width, heads[0] or 0, heads[1] or 0, weight)
        return LayerStep("dense", f"→ {size_word(out_width)}", in_width, out_width, weight=weight)

    def table_step(self, node: int, weight: int, sizes: Sequence[int | None]) -> LayerStep:
        """Return the step of a node that looks up rows of a table of these sizes."""
        counted = not self.graph.meaning.from_inputs()[node]
        return LayerStep("embedding", " × ".join(map(size_word, sizes)), weight=weight, positional=counted)

    def _added_rows(self, node: int) -> LayerStep | None:
        """Return the step of an op that slices a range of rows of a table which are then added: embeddings of
        positions."""
        tables = [(origin, shape) for slot, origin, shape in self.weights_of(node) if slot == 0 and len(shape) == 2]
        for _ in range(MAX_SCALING_OPS if tables else 0):
            users = self._users_of(node)
            if len(users) != 1:
                return None
            if self.op_of(users[0]) in ADD_OPS:
                return self.table_step(node, *tables[0])
            if self.op_of(users[0]) not in BROADCAST_OPS:
                return None
            node = users[0]
        return None

    def _selects_rows(self, node: int) -> bool:
        """Return whether an op multiplies a weight by one-hot vectors, which is a lookup."""
        return any(plain_op_name(self.op_of(source)) == "onehot" for _, (source, _) in self.inputs_of(node))

    def _convolution(self, op: str, node: int, weight: int, kernel: tuple[int | None, ...]) -> LayerStep | None:
        if len(kernel) < 3 or op.startswith(("Dilation", "Erosion")):
            return None
        definition = self.graph.node_def(node)
        *sizes, in_width, out_width = kernel
        input_channels = 0 if op in DEPTHWISE_OPS or not in_width else self._channels_into(node)
        is_depthwise = op in DEPTHWISE_OPS or in_width == 1 < input_channels
        word = kernel_word(sizes)
        if op in DEPTHWISE_OPS:
            out_width = in_width * out_width if in_width is not None and out_width is not None else None
        parts = [f"dw {word}"] if is_depthwise else [word, *([size_word(out_width)] if out_width else [])]
        if definition is not None:
            layout = _layout(definition)
            strides = along_image(attr_value(definition, "strides").list.i, layout)[-len(sizes) :]
            parts += step_words(strides, "/")
            dilations = along_image(attr_value(definition, "dilations").list.i, layout)[-len(sizes) :]
            parts += step_words(dilations if max(dilations, default=1) > 1 else self.blocks_before(node), "d")
            is_grouped = not is_depthwise and in_width and input_channels > in_width and input_channels % in_width == 0
            parts += [f"g{input_channels // in_width}"] if in_width and is_grouped else []
            is_valid = attr_value(definition, "padding").s == b"VALID" and overlaps(sizes, strides)
            parts += ["valid"] if is_valid and not self._is_padded(node) else []
        kind = "depthwise" if is_depthwise else "convolution"
        return worded_step(kind, parts, in_width or 0, out_width or 0, weight)

    def _channels_into(self, node: int) -> int:
        """Return the output channels of the last convolution before a node; 0 if unknown."""
        for _ in range(MAX_SCALING_OPS):
            node = self.input_source(node)
            if node < 0:
                return 0
            op = self.op_of(node)
            if op in CONVOLUTION_OPS:
                kernels = [shape for _, _, shape in self.weights_of(node) if len(shape) > 3]
                return (kernels[0][-1] or 0) if kernels and op not in DEPTHWISE_OPS else 0
            if op == INPUT_ARG_OP:
                return self._channels_of_argument(node)
            if not (op in ACTIVATIONS or op in PLAIN or op in NORM_OPS or op in POOLS or op in ("BiasAdd", "Pad")):
                return 0
        return 0

    def _channels_of_argument(self, node: int) -> int:
        """Return the size of the last axis of an argument, as its function states it; 0 if unknown."""
        function = self.graph.functions[self.graph.function[node]]
        argument_attributes = self.graph.graph_def.library.function[function.index].arg_attr
        place = function.argument_position(node)
        shapes = declared_shapes(argument_attributes[place]) if place in argument_attributes else None
        return (shapes[0][-1] or 0) if shapes and shapes[0] else 0

    def image_source(self, node: int) -> int:
        """Return the op whose result is the input of a convolution, before it becomes an image; -1 if unknown."""
        source = self.input_source(node)
        return self.weight_source(source) if source >= 0 else -1

    def blocks_before(self, node: int) -> list[int]:
        """Return the dilation of a convolution that is implemented by cutting its image into blocks; [] for others."""
        source = self.image_source(node)
        return self.constant_input(source, 1) if source >= 0 and self.op_of(source) in DILATION_BLOCK_OPS else []

    def _is_padded(self, node: int) -> bool:
        source = self.image_source(node)
        return source >= 0 and self.op_of(source) in ("Pad", "PadV2", "MirrorPad", *DILATION_BLOCK_OPS)

    def _transposed_step(self, node: int, weight: int, kernel: tuple[int | None, ...]) -> LayerStep:
        definition = self.graph.node_def(node)
        *sizes, out_width, in_width = kernel
        parts = [kernel_word(sizes), size_word(out_width)]
        if definition is not None:
            parts += step_words(along_image(attr_value(definition, "strides").list.i, _layout(definition)), "↑")
        return worded_step("convolution", parts, in_width or 0, out_width or 0, weight)

    def _pool(self, op: str, node: int) -> list[str]:
        definition = self.graph.node_def(node)
        if definition is None:
            return [POOLS[op]]
        layout = _layout(definition)
        window = along_image(attr_value(definition, "ksize").list.i, layout)
        strides = step_words(along_image(attr_value(definition, "strides").list.i, layout), "/")
        return [f"{POOLS[op]} {kernel_word(window)}".strip(), *strides]

    def _reduction(self, op: str, node: int) -> LayerStep | None:
        """Return the step of a mean or a maximum over the two axes of an image, unless a norm subtracts it."""
        if sorted(self.constant_input(node, KERNEL)) not in ([1, 2], [2, 3]):
            return None
        reduced = {source for slot, (source, _) in self.inputs_of(node) if slot == 0}
        subtracted = any(
            self.op_of(user) in MOMENT_OPS
            and (self.op_of(user) == "StopGradient" or reduced & {source for _, (source, _) in self.inputs_of(user)})
            for user in self._users_of(node)
        )
        return None if subtracted else LayerStep("global", REDUCTIONS[op])

    def _resize(self, op: str, node: int) -> LayerStep | None:
        """Return the step of a resize, with its factor if the size is a product with a constant."""
        size = self.input_source(node, KERNEL)
        interpolation = op.removeprefix("Resize").removesuffix("Neighbor").lower()
        if size >= 0 and self.op_of(size) == "Mul":
            for slot in (0, 1):
                factors = self.constant_input(size, slot)
                if len(factors) == 2 and factors[0] == factors[1] > 1:
                    return LayerStep("pool", f"↑{factors[0]} {interpolation}")
        sizes = self.constant_input(node, KERNEL) if size >= 0 else []
        words = f"{interpolation} {sizes[0]}×{sizes[1]}" if len(sizes) == 2 and min(sizes) > 0 else interpolation
        return LayerStep("pool", words)

    def _repeat_along_image(self, node: int) -> LayerStep | None:
        """Return the step of an upsampling that repeats each row, then each column, as Keras does; at the second op."""
        times, axis = self._repeat(node)
        source = self._source_past(node, ("ExpandDims", "Reshape"))
        enlarges = times > 1 and source >= 0 and self._repeat(source) == (times, axis - 1)
        return LayerStep("pool", f"↑{times} nearest") if enlarges else None

    def _repeat(self, node: int) -> tuple[int, int]:
        """Return how often an op repeats a tensor along one axis, and that axis; (0, 0) for other ops."""
        times = self.constant_input(node, KERNEL) if self.op_of(node) == "Tile" else []
        axes = [axis for axis, count in enumerate(times) if count != 1]
        source = self._source_past(node, ())
        if len(axes) != 1 or source < 0 or self.op_of(source) != "ExpandDims":
            return 0, 0
        return times[axes[0]], axes[0]


def _is_step_type(op: str) -> bool:
    """Return whether ops of a type may be steps.

    >>> _is_step_type("Conv2D"), _is_step_type("ResizeBilinear"), _is_step_type("Reshape")
    (True, True, False)
    """
    named = op in ACTIVATIONS or op in PLAIN or op in POOLS or op in REDUCTIONS or op in NORM_OPS
    products = op in BATCH_PRODUCT_OPS or op in MATRIX_PRODUCT_OPS or op in CONVOLUTION_OPS
    roles = has_role(op, Role.TRANSPOSED_CONVOLUTION, Role.NORMALIZATION)
    named = named or op in ("Sqrt", "Tile") or op in ROW_RANGE_OPS
    return named or products or op in EMBEDDING_LOOKUP_OPS or roles or op.startswith(("Resize", "TopK"))


def _layout(definition: NodeDef) -> str:
    return str(attr_value(definition, "data_format").s.decode("ascii", "replace")) or "NHWC"


def _sums_an_axis(definition: NodeDef | None) -> bool:
    """Return whether a product sums over an axis; an einsum such as `i,j->ij` does not."""
    equation = attr_value(definition, "equation").s if definition is not None else b""
    inputs, _, result = equation.partition(b"->")
    return not result or not {*inputs} - {*b", "} <= {*result}


def _is_last_axis_product(definition: NodeDef | None) -> bool:
    """Return whether an einsum multiplies the last axis of a tensor with a matrix, such as `abc,cd->abd`."""
    equation = attr_value(definition, "equation").s.decode("ascii", "replace") if definition is not None else ""
    inputs, _, result = equation.replace(" ", "").partition("->")
    tensor, _, matrix = inputs.partition(",")
    return len(matrix) == 2 and tensor[-1:] == matrix[0] and result == tensor[:-1] + matrix[1]
