"""Find the steps of an exported program from the shapes of its weights and results and from attributes of its ops.

Frameworks use different names for the same ops and attributes. In this module the name of an op is in lower case,
without framework and underscores: `maxpool2d`, `layernorm`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from graphviz_tb.graphs.tensors import attr_value
from graphviz_tb.model.tensors import MAX_DIMENSIONS, Shape
from graphviz_tb.ops.roles import (
    BATCH_PRODUCT_OPS,
    CONSTANT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    EMBEDDING_LOOKUP_OPS,
    MATRIX_PRODUCT_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.signatures import (
    is_size_input,
    kernel_layout,
    kernel_sizes,
    kernel_transpose_attribute,
    weight_input_names,
)
from graphviz_tb.ops.table import plain_op_name
from graphviz_tb.words.layer_steps import FORMULA_OPS, FORMULA_STEPS, TensorFlowSteps
from graphviz_tb.words.step_words import (
    ACTIVATION_WORDS,
    UNKNOWN_STEP,
    LayerStep,
    einsum_step,
    experts_step,
    heads_step,
    kernel_word,
    resized_step,
    size_word,
    step_words,
    worded_step,
)

NORMS = (("batchnorm", "BN"), ("layernorm", "LN"), ("rmsnorm", "RMS"), ("groupnorm", "g"), ("norm", "norm"))
FUSED_ACTIVATION = "activation"
SLOPES = ("negative_slope", "alpha")
WINDOWS, STRIDES = ("kernel_size", "kernel_shape", "ksize"), ("stride", "strides")
DILATIONS, GROUPS = ("dilation", "dilations"), ("groups", "group")
CLIPPING_OPS = ("clip", "clamp", "hardtanh")
BOUNDS = ("min", "min_val"), ("max", "max_val")
NORM_GROUPS = ("num_groups", "group")
RECURRENT = ("lstm", "gru", "rnn")
PERMUTATION = ("perm",)
RESHAPED = ("shape", "size")
MAX_COPYING_OPS = 8  # between keys and attention
MAX_KERNEL_OPS = 16  # that compute the kernel of a convolution from a weight
SELECTIONS = ("index", "gather", "indexselect")  # ops that select the kernels of some experts
AXES = ("dim", "axes", "axis")


class ExportedSteps(TensorFlowSteps):
    """Finds the steps of nodes of an exported program."""

    def _find_steps(self, node: int) -> tuple[LayerStep, ...]:
        steps = [self._step(self.op_of(node), node), self._fused_activation(node)]
        return tuple(step for step in steps if step is not None)

    def _step(self, op: str, node: int) -> LayerStep | None:
        name = plain_op_name(op)
        if name in CLIPPING_OPS:
            name = self._clipping_name(node)
        if (formula := FORMULA_OPS.get(name)) in FORMULA_STEPS:
            return self.formula_step(formula, node)
        if name in ACTIVATION_WORDS:
            return LayerStep("activation", self._activation(name, node))
        if has_role(op, Role.NORMALIZATION):
            return LayerStep("norm", self._norm(name, node))
        if has_role(op, Role.RECURRENT):
            return self._recurrent(name, node)
        if has_role(op, Role.ATTENTION):
            return self._attention(node)
        if has_role(op, Role.TRANSPOSED_CONVOLUTION) or op in CONVOLUTION_OPS or op in DEPTHWISE_OPS:
            return self._convolve(op, node)
        if op in EMBEDDING_LOOKUP_OPS:
            return self._embedding(node)
        if op in BATCH_PRODUCT_OPS or op in MATRIX_PRODUCT_OPS:
            return self._multiply(op, node)
        return self._pool_step(name, node)

    def formula_op(self, node: int) -> str:
        """Return TensorFlow's name for the type of a node, if it occurs in formulas of several ops."""
        op = self.op_of(node)
        return FORMULA_OPS.get(plain_op_name(op), op)

    def _factor(self, node: int) -> float:
        factor = self._number(node, ("other",)) if self.formula_op(node) == "Mul" else None
        return super()._factor(node) if factor is None else factor

    def _exponent(self, node: int) -> float | None:
        stated = self._number(node, ("exponent",))
        return super()._exponent(node) if stated is None else stated

    def weight_source(self, node: int) -> int:
        """Return the kernels of all experts from which an op selects some, or the kernel that an op transposes or
        copies for each element of a batch; otherwise the op."""
        if self.graph.meaning.origin[node] >= 0:
            return node
        if plain_op_name(self.op_of(node)) not in SELECTIONS:
            return self._copied_weight(node)
        table = next((source for slot, (source, _) in self.inputs_of(node) if slot == 0), node)
        made = int(self.graph.meaning.origin[table])
        return table if made >= 0 and len(self.shapes.get(made) or ()) == 3 else node

    def _given_shape(self, source: int, made: int) -> Shape:
        """Return the sizes of a weight as the input of an op, after transposes; a kernel of a row may be one of an
        image of height one."""
        shape = super()._given_shape(source, made)
        stated = self._sizes(source) if shape and None not in shape and source != made else []
        ones = [1] * (len(stated) - len(shape or ()) if len(shape or ()) > 2 else 0)
        return tuple(stated) if sorted(stated) == sorted([*ones, *(size or 0 for size in shape or ())]) else shape

    def _copied_weight(self, node: int) -> int:
        """Return the weight that an op copies, in whatever shape; otherwise the op."""
        source, copied = node, False
        for _ in range(MAX_COPYING_OPS):
            op = self.op_of(source)
            copies = plain_op_name(op) == "expand"
            if not (copies or has_role(op, Role.REARRANGE, Role.UNIT_AXES)):
                break
            copied |= copies
            source = self.input_source(source)
            if source < 0 or self.graph.meaning.origin[source] >= 0:
                return source if copied and source >= 0 else node
        return node

    # Attributes and shapes of a node.

    def _clipping_name(self, node: int) -> str:
        """Return the activation that is equivalent to a clip; "" if there is none."""
        least, most = (self._number(node, names) for names in BOUNDS)
        return "" if least != 0 else "relu" if most is None else "relu6" if most == 6 else ""

    def _numbers(self, node: int, names: Sequence[str]) -> list[int]:
        """Return the integers of the first of these attributes that a node has."""
        definition = self.graph.node_def(node)
        for name in names:
            if definition is not None and name in definition.attr:
                value = attr_value(definition, name)
                return list(value.list.i) if value.HasField("list") else [int(value.i)]
        return []

    def is_reshape(self, op: str) -> bool:
        """Return whether ops of a type bring a tensor to another shape."""
        return has_role(op, Role.REARRANGE)

    def reshaped_sizes(self, node: int) -> list[int]:
        """Return the sizes of a reshape to three axes, from its arguments, or otherwise from its output.

        If an exporter merges heads and batch, the three axes are steps, heads and size.
        """
        out_sizes, in_sizes = self._sizes(node), self._input_sizes(node, 0)
        if len(in_sizes) not in (0, 3):
            return []
        stated = self.stated_sizes(node)
        if len(stated) == 3 and (not in_sizes or in_sizes[2] == prod(stated[1:])):
            return [-1, *stated]
        if not in_sizes or len(out_sizes) not in (4, 5):
            return stated
        return out_sizes if in_sizes[2] == prod(out_sizes[2:]) else []

    def stated_sizes(self, node: int) -> list[int]:
        """Return the sizes that a program states for a reshape, -1 for unknown ones; [] if it states none."""
        return self._numbers(node, RESHAPED) or (self._joined_sizes(node) if is_size_input(self.op_of(node), 1) else [])

    def turned_axes(self, node: int) -> list[int]:
        """Return for each axis of the result of a transpose the axis of its input; [] if unknown."""
        return self._numbers(node, PERMUTATION) or self.constant_input(node, 1)

    def _joined_sizes(self, node: int) -> list[int]:
        """Return the sizes that a program concatenates, -1 for unknown sizes: single numbers, or two numbers for the
        last axis after the sizes that stay."""
        source = self.input_source(node, 1)
        if source < 0 or not has_role(self.op_of(source), Role.INDEX):
            return []
        parts = [self._constant(part, 2) for _, (part, _) in self.inputs_of(source)]
        known = [int(size) for part in parts for size in part]
        if len(parts) < 4 and len(known) == 2:
            return [-1, -1, *known]
        return [int(part[0]) if len(part) == 1 else -1 for part in parts]

    def _along_image(self, node: int, names: Sequence[str]) -> list[int]:
        """Return the numbers of a window attribute without those for batch and channels."""
        numbers = self._numbers(node, names)
        return numbers[1:-1] if len(numbers) > 3 else numbers

    def _number(self, node: int, names: Sequence[str]) -> float | None:
        definition = self.graph.node_def(node)
        for name in names:
            if definition is not None and name in definition.attr:
                value = attr_value(definition, name)
                return float(value.f if value.HasField("f") else value.i)
        return None

    def _is_set(self, node: int, name: str) -> bool:
        definition = self.graph.node_def(node)
        if definition is None or name not in definition.attr:
            return False
        value = attr_value(definition, name)
        return value.b or value.i != 0

    def _sizes(self, node: int, output: int = 0) -> list[int]:
        """Return the stated shape of a result, -1 for unknown sizes; [] if none is stated."""
        definition = self.graph.node_def(node)
        if definition is None or "_output_shapes" not in definition.attr:
            return []
        shapes = definition.attr["_output_shapes"].list.shape
        if output >= len(shapes) or shapes[output].unknown_rank:
            return []
        return [int(dim.size) for dim in shapes[output].dim[:MAX_DIMENSIONS]]

    def _input_sizes(self, node: int, slot: int) -> list[int]:
        """Return the stated shape of a node's input."""
        for place, (source, key) in self.inputs_of(node):
            if place == slot:
                text = self.graph.keys[key].rpartition(":")[2]
                return self._sizes(source, int(text) if text.isdecimal() and len(text) < 6 else 0)
        return []

    # Steps.

    def _activation(self, name: str, node: int) -> str:
        slope = self._number(node, SLOPES) if name == "leakyrelu" else None
        return f"{ACTIVATION_WORDS[name]} α {slope:.3g}" if slope else ACTIVATION_WORDS[name]

    def _fused_activation(self, node: int) -> LayerStep | None:
        """Return the activation that an op applies to its result."""
        definition = self.graph.node_def(node)
        if definition is None or FUSED_ACTIVATION not in definition.attr:
            return None
        word = ACTIVATION_WORDS.get(attr_value(definition, FUSED_ACTIVATION).s.decode("utf-8", "replace").lower())
        return None if word is None else LayerStep("activation", word)

    def _norm(self, name: str, node: int) -> str:
        word = next((word for part, word in NORMS if part in name), "norm")
        groups = self._numbers(node, NORM_GROUPS) if word == "g" else []
        return f"g {groups[0]}" if groups else "norm" if word == "g" else word

    def _kernels(self, node: int) -> Iterator[tuple[int, tuple[int | None, ...]]]:
        for _, origin, shape in self.weights_of(node):
            if len(shape) > 1:
                yield origin, shape

    def _kernel_part(self, node: int) -> list[tuple[int, tuple[int | None, ...]]]:
        """Return the kernel of a product if an op computes it only from weights, such as the kernel of queries from one
        weight for queries, keys and values; its shape is () if unknown."""
        source = self.input_source(node, 1)
        weights = self._sources(source) if source >= 0 else []
        sizes = self._input_sizes(node, 1)
        is_known = len(sizes) > 1 and min(sizes) > 0
        return [(weights[0], tuple(sizes) if is_known else ())] if weights and min(weights) >= 0 else []

    def standardized_kernel(self, node: int) -> tuple[int, tuple[int | None, ...]]:
        """Return the kernel of a convolution if a few ops compute it from one weight, factors and constants; its shape
        is () if there is none."""
        sizes = self._input_sizes(node, 1)
        unvisited = [source for slot, (source, _) in self.inputs_of(node) if slot == 1]
        seen, weights = set(unvisited), set[int]()
        while unvisited:
            source = unvisited.pop()
            inputs = self.sources_of(source)
            if (weight := int(self.graph.meaning.origin[source])) >= 0:
                weights.add(weight)
            elif len(seen) > MAX_KERNEL_OPS or not (inputs or self.op_of(source) in CONSTANT_OPS):
                return -1, ()
            else:
                unvisited += [before for before in inputs if before not in seen]
                seen.update(inputs)
        kernels = [
            weight for weight in weights if prod(size or 0 for size in self.shapes.get(weight) or (0,)) == prod(sizes)
        ]
        return (kernels[0], tuple(sizes)) if len(kernels) == 1 else (-1, ())

    def _convolve(self, op: str, node: int) -> LayerStep:
        weight, shape = next(self._kernels(node), None) or self.standardized_kernel(node)
        if len(shape) < 3:
            return UNKNOWN_STEP
        is_transposed = self._is_set(node, "transposed") or has_role(op, Role.TRANSPOSED_CONVOLUTION)
        outputs, inputs, window = kernel_sizes(op, shape)
        if self._is_set(node, "transposed"):
            outputs, inputs = inputs, outputs
        groups = next(iter(self._numbers(node, GROUPS)), 1)
        in_width, out_width = inputs or 0, outputs or 0
        is_depthwise = op in DEPTHWISE_OPS or (groups > 1 and inputs == 1 and not is_transposed)
        in_width, out_width = (in_width, out_width * groups) if is_transposed else (in_width * groups, out_width)
        if self._is_of_row(node):
            window = window[1:]
        sizes = kernel_word(window)
        parts = [f"dw {sizes}"] if is_depthwise else [sizes, size_word(out_width)]
        parts += step_words(self._along_image(node, STRIDES)[-len(window) :], "↑" if is_transposed else "/")
        dilations = self._along_image(node, DILATIONS)[-len(window) :]
        parts += step_words(dilations if max(dilations, default=1) > 1 else self.blocks_before(node), "d")
        parts += [f"g{groups}"] if groups > 1 and not is_depthwise else []
        kind = "depthwise" if is_depthwise else "convolution"
        return worded_step(kind, parts, in_width, out_width, weight)

    def _is_of_row(self, node: int) -> bool:
        """Return whether the input of a convolution is a row as an image of height one, as in TensorFlow."""
        source = self.input_source(node)
        if source < 0 or not has_role(self.op_of(source), Role.UNIT_AXES, Role.REARRANGE):
            return False
        image, (_, kernel) = self._sizes(source), next(self._kernels(node), (-1, ()))
        if len(image) != 4 or len(kernel) != 4 or len(self._input_sizes(source, 0)) != 3:
            return False
        _, channels, window = kernel_sizes(self.op_of(node), kernel)
        # If channels are not last, the axis of size one is the channel axis of an image.
        return window[0] == 1 == image[1] and channels == image[3]

    def image_source(self, node: int) -> int:
        """Return the op whose result is the input of a convolution, before it becomes an image; -1 if unknown."""
        source = self.input_source(node)
        if source >= 0 and self._is_of_row(node):
            return self.input_source(source)
        return source

    def _embedding(self, node: int) -> LayerStep | None:
        weight, shape = next(self._kernels(node), (-1, ()))
        return self.table_step(node, weight, shape) if len(shape) == 2 else None

    def _multiply(self, op: str, node: int) -> LayerStep | None:
        kernels = [*self.factors_of(node), *self._kernel_part(node)]
        if not kernels:
            return LayerStep("product", "", heads=self._product_heads(node))
        weight, shape = kernels[0]
        if not shape:
            return UNKNOWN_STEP
        if plain_op_name(op) == "einsum":
            return self._einsum(node, weight, shape)
        if len(shape) > 2 and not kernel_layout(op).startswith("o"):
            slots = [slot for slot, origin, _ in self.weights_of(node) if origin == weight]
            input_sizes = self._input_sizes(node, slots[0]) if slots else []
            if len(input_sizes) == 2 and prod(input_sizes) == prod(size or 0 for size in shape):
                if not self.graph.meaning.from_inputs()[node]:
                    return UNKNOWN_STEP  # a kernel of a convolution as a matrix, to compute its norm
                gives, takes, _ = kernel_sizes(op, input_sizes, self._is_set(node, kernel_transpose_attribute(op)))
                return self._matrix_step(weight, takes or 0, gives or 0)
            experts, *sizes = shape
            # A kernel may be transposed on the way; the result tells which of its axes is the last.
            last_sizes = self._sizes(node)[-1:] or (sizes[-1:] if weight in self._sources(node) else ())
            width = next((size for size in last_sizes if size in sizes), 0) or 0
            in_width = prod(size or 0 for size in sizes) // width if width else 0
            return experts_step(experts, in_width, width, weight) if len(shape) == 3 and experts else None
        outputs, _, _ = kernel_sizes(op, shape, self._is_set(node, kernel_transpose_attribute(op)))
        # A kernel may be transposed on the way; the result tells which of its axes is the last.
        last = next(iter(self._sizes(node)[-1:]), -1)
        width = last if last in shape else outputs or 0
        in_width = prod(size or 0 for size in shape) // width if width else 0
        return LayerStep("dense", f"→ {size_word(width)}", in_width, width, weight=weight) if width else UNKNOWN_STEP

    def _einsum(self, node: int, weight: int, shape: Sequence[int | None]) -> LayerStep:
        """Return a product along named axes, with its kernel as the last input."""
        definition = self.graph.node_def(node)
        equation = attr_value(definition, "equation").s if definition is not None else b""
        last = weight in self._sources(node)[-1:]
        step = einsum_step(equation.decode("ascii", "replace"), weight, shape) if last else None
        return UNKNOWN_STEP if step is None else step

    def _sources(self, node: int) -> list[int]:
        """Return the stored weights that are inputs of a node; -1 for other inputs."""
        return [int(self.graph.meaning.origin[source]) for _, (source, _) in self.inputs_of(node)]

    def _product_heads(self, node: int) -> tuple[int, int]:
        """Return the heads of a product of two tensors with four axes, as of queries and keys."""
        before = self._input_sizes(node, 0)
        known = len(before) == 4 and before[1] > 0 and before[3] > 0
        return (before[1], before[3]) if known else self.product_heads(node)

    def _attention(self, node: int) -> LayerStep:
        query, key = self._input_sizes(node, 0), self._input_sizes(node, 1)
        known = len(query) == 4 and len(key) == 4 and min(query[1], key[1], query[3]) > 0
        if not known or query[1] % key[1]:
            return LayerStep("scores", "")
        return heads_step("scores", query[1], self._heads_before_copies(node, key), query[3])

    def _heads_before_copies(self, node: int, key: Sequence[int]) -> int:
        """Return the number of heads of the keys before they are repeated for each query of a group."""
        fewest, slot = key[1], 1
        for _ in range(MAX_COPYING_OPS):
            node = self.input_source(node, slot)
            if node < 0 or self.weights_of(node):
                break
            sizes, slot = self._sizes(node), 0
            if len(sizes) == 4 and [sizes[2], sizes[3]] == [key[2], key[3]] and sizes[1] > 0 and not fewest % sizes[1]:
                fewest = sizes[1]
        return fewest

    def _recurrent(self, name: str, node: int) -> LayerStep | None:
        kernels = list(self._kernels(node))
        cell = next((cell.upper() for cell in RECURRENT if cell in name), "")
        if len(kernels) < 2 or not cell:
            return UNKNOWN_STEP
        # If each gate has separate kernels, the second kernel is not that of the state.
        slots = weight_input_names(self.op_of(node))
        states = [shape for slot, _, shape in self.weights_of(node) if slots.get(slot) == "recurrent_kernel"]
        hidden_sizes = self._numbers(node, ("hidden_size",))  # of ONNX, whose quantised kernels are transposed
        units = next(iter(hidden_sizes), 0) or (states[0] if states else kernels[1][1])[-1] or 0
        definition = self.graph.node_def(node)
        direction = attr_value(definition, "direction").s if definition is not None else b""  # of ONNX
        both = "bidirectional" in name or direction == b"bidirectional" or self._is_set(node, "bidirectional")
        layers = next(iter(self._numbers(node, ("num_layers",))), 1)
        words = [f"{'bi ' if both else ''}{cell} {'2 × ' if both else ''}{size_word(units)}"]
        words += [f"{layers} layers"] if layers != 1 else []
        return worded_step("recurrent", words, out_width=units * (1 + both), weight=kernels[0][0])

    def _resize_step(self, name: str, node: int) -> LayerStep:
        """Return the step of a resize, with the interpolation from the op's name or attributes."""
        definition = self.graph.node_def(node)
        if definition is None:
            return resized_step(name, [], [])
        mode = attr_value(definition, "mode").s.decode("utf-8", "replace") or f"{name} nearest"  # the default of ONNX
        if scales := [round(scale, 3) for scale in attr_value(definition, "scales").list.f]:
            return resized_step(mode, [1] * len(scales), [int(scale) if scale.is_integer() else -1 for scale in scales])
        return resized_step(mode, self._input_sizes(node, 0), self._sizes(node))

    def _pool_step(self, name: str, node: int) -> LayerStep | None:
        if name.startswith(("upsample", "resize")):
            return self._resize_step(name, node)
        if "pool" in name:
            word = "max" if "max" in name else "avg"
            if name.startswith("global"):
                return LayerStep("global", f"global {word}")
            if name.startswith("adaptive"):
                sizes = set(self._numbers(node, ("output_size",)))
                return LayerStep("global", f"global {word}") if sizes == {1} else None
            window = self._along_image(node, WINDOWS)
            usual = [] if self.op_of(node).startswith("onnx::") else window  # the default stride of PyTorch
            strides = step_words(self._along_image(node, STRIDES) or usual, "/")
            return worded_step("pool", [f"{word} {kernel_word(window)}".strip(), *strides])
        if name in ("mean", "reducemean"):
            before = self._input_sizes(node, 0)
            axes = sorted(axis % 4 for axis in self._numbers(node, AXES) or self.constant_input(node, 1))
            return LayerStep("global", "global avg") if len(before) == 4 and axes in ([1, 2], [2, 3]) else None
        if "dropout" in name:
            rate = self._number(node, ("p", "ratio"))
            return LayerStep("dropout", f"p {rate:.3g}") if rate else None
        return LayerStep("top", f"top {top[0]}") if name == "topk" and (top := self._numbers(node, ("k",))) else None
