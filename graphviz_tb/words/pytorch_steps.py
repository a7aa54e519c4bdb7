"""Find the steps of a PyTorch trace from recorded shapes and constants, because a trace has no shapes of weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from graphviz_tb.graphs.tensors import declared_shapes
from graphviz_tb.ops.signatures import kernel_size_between
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

NORMS = {"batch_norm": "BN", "layer_norm": "LN", "rms_norm": "RMS", "instance_norm": "norm"}
CONVOLUTIONS = {"_convolution": 8, "conv1d": 6, "conv2d": 6, "conv3d": 6}  # slot of the number of groups
GROUPED_PRODUCT = "_grouped_mm"  # the product of the tokens of each expert with its kernel
PRODUCTS = frozenset({"matmul", "bmm", "baddbmm", GROUPED_PRODUCT})
STACKED_PRODUCTS = frozenset({"bmm", GROUPED_PRODUCT})  # one kernel for each matrix of a stack
TURNING_OPS = frozenset({"aten::t", "aten::transpose", "aten::permute", "aten::to", "aten::contiguous"})
MOST_TURNS = 4
RECURRENT = ("lstm", "gru")
TRUE_WORDS = ("1", "True", "true")
FUSED_ATTENTION = {"_native_multi_head_attention": 3, "_transformer_encoder_layer_fwd": 1}  # the input with its width


class PyTorchSteps(TensorFlowSteps):
    """Finds the steps of nodes of a trace."""

    def _find_steps(self, node: int) -> tuple[LayerStep, ...]:
        name = self.op_of(node).removeprefix("aten::").removesuffix("_")
        slots = {slot: source for slot, (source, _) in self.inputs_of(node)}
        try:
            step = self._step_of(name, node, slots)
        except (KeyError, IndexError, ValueError):  # shapes or constants are not recorded
            is_layer = name in CONVOLUTIONS or name in RECURRENT or name == GROUPED_PRODUCT
            step = UNKNOWN_STEP if is_layer else None
        return () if step is None else (step,)

    def _step_of(self, name: str, node: int, slots: dict[int, int]) -> LayerStep | None:
        if (formula := FORMULA_OPS.get(name.replace("_", ""))) in FORMULA_STEPS:
            return self.formula_step(formula, node)
        if word := ACTIVATION_WORDS.get(name.replace("_", "")):
            return LayerStep("activation", word)
        if name in NORMS:
            return LayerStep("norm", NORMS[name])
        if name in CONVOLUTIONS:
            return self._convolution_of(name, node, slots)
        if name in ("linear", "addmm") or name in PRODUCTS or name == "scaled_dot_product_attention":
            return self._product_of(name, node, slots)
        if name in FUSED_ATTENTION:
            slot = FUSED_ATTENTION[name]
            [width], [heads] = (self._numbers(slots[input_slot]) for input_slot in (slot, slot + 1))
            divides = heads > 0 and width % heads == 0
            return heads_step("attention", heads, heads, width // heads) if divides else LayerStep("attention", "")
        if name == "einsum":
            return self._einsum_of(node, slots)
        if name == "embedding":
            return self.table_step(node, self._parameter(slots[0]), (None, self._shape(node)[-1]))
        if name in RECURRENT:
            return self._recurrent_of(name, node, slots)
        if name in ("max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d"):
            size = self._numbers(slots[1])
            strides = self._numbers(slots[2]) or size
            word = f"{name[:3]} {kernel_word(size)}"
            return worded_step("pool", [word, *step_words(strides, "/")])
        if name.startswith("adaptive_") and "pool" in name:
            word = "max" if "max" in name else "avg"
            return LayerStep("global", f"global {word}") if set(self._numbers(slots[1])) == {1} else None
        if name == "mean" and sorted(number % 4 for number in self._numbers(slots[1])) == [2, 3]:
            return LayerStep("global", "global avg") if len(self._shape(slots[0])) == 4 else None
        if name.startswith("upsample_"):
            return resized_step(name, self._shape(slots[0]), self._shape(node))
        if name == "group_norm":
            return LayerStep("norm", f"g {self._numbers(slots[1])[0]}")
        if name == "topk":
            return LayerStep("top", f"top {self._numbers(slots[1])[0]}")
        if name == "leaky_relu":
            return LayerStep("activation", f"leaky ReLU α {float(self._label(slots[1])):.3g}")
        if name in ("dropout", "feature_dropout"):
            return LayerStep("dropout", f"p {float(self._label(slots[1])):.3g}")
        return None

    def formula_op(self, node: int) -> str:
        """Return TensorFlow's name for the type of a node, if it occurs in formulas of several ops."""
        op = self.op_of(node)
        return FORMULA_OPS.get(op.removeprefix("aten::").replace("_", ""), op)

    def is_number(self, node: int) -> bool:
        """Return whether a node is a constant of the program."""
        return self.op_of(node) == "prim::Constant"

    def number(self, node: int) -> float | None:
        """Return the number of a constant; None if its text (`2`, `tensor(1.7020, dtype=…)`) is no number."""
        text = self._label(node).removeprefix("tensor(").partition(",")[0].rstrip(")")
        try:
            return float(text)
        except ValueError:
            return None

    def is_reshape(self, op: str) -> bool:
        """Return whether ops of a type reshape a tensor."""
        return op in ("aten::view", "aten::reshape")

    def reshaped_sizes(self, node: int) -> list[int]:
        """Return [], because heads come from recorded shapes of products."""
        return []

    def stated_sizes(self, node: int) -> list[int]:
        """Return the recorded sizes of the result of a reshape; [] if there are none."""
        try:
            return self._shape(node)
        except KeyError:
            return []

    # Recorded shapes and constants.

    def _label(self, node: int) -> str:
        return self.graph.labels.get(node, "")

    def _numbers(self, node: int) -> list[int]:
        """Return the integers of a constant or of a list of constants; raises ValueError for anything else."""
        text = self._label(node).strip("[]() ")
        return [int(part) for part in text.split(",")] if text else []

    def _shape(self, node: int) -> list[int]:
        """Return the recorded shape of a result; raises KeyError if there is none."""
        definition = self.graph.node_def(node)
        shapes = declared_shapes(definition) if definition is not None else None
        sizes = [size or 0 for size in (shapes[0] if shapes else None) or (0,)]
        if min(sizes) < 1:
            raise KeyError(node)
        return sizes

    def _known_shape(self, node: int) -> list[int]:
        """Return the recorded shape of a result; [] if there is none."""
        try:
            return self._shape(node)
        except KeyError:
            return []

    # Layers.

    def _convolution_of(self, name: str, node: int, slots: dict[int, int]) -> LayerStep | None:
        before, after = self._shape(slots[0]), self._shape(node)
        in_width, out_width, axes = before[1], after[1], len(after) - 2
        strides, pads, dilation = (_for_axes(self._numbers(slots[slot]), axes) for slot in (3, 4, 5))
        if name == "_convolution" and self._label(slots[6]) in TRUE_WORDS:
            words = [f"→ {size_word(out_width)}", *step_words(strides, "↑")]
            return worded_step("convolution", words, in_width, out_width)
        groups = self._numbers(slots[CONVOLUTIONS[name]])[0]
        axes_of_image = zip(before[2:], after[2:], strides, pads, dilation, strict=True)
        kernel = [kernel_size_between(*axis) for axis in axes_of_image]
        is_depthwise = groups == in_width > 1
        word = kernel_word(kernel) if all(kernel) else ""
        parts = [f"dw {word}".strip()] if is_depthwise else [*([word] if word else []), size_word(out_width)]
        if not is_depthwise and not word:
            parts = [f"→ {size_word(out_width)}"]
        parts += [*step_words(strides, "/"), *step_words(dilation, "d")]
        parts += [f"g{groups}"] if groups > 1 and not is_depthwise else []
        kind, weight = "depthwise" if is_depthwise else "convolution", self._parameter(slots[1])
        return worded_step(kind, parts, in_width, out_width, weight)

    def _product_of(self, name: str, node: int, slots: dict[int, int]) -> LayerStep:
        if name == "scaled_dot_product_attention":
            query, key = self._shape(slots[0]), self._shape(slots[1])
            is_known = len(query) == 4 and len(key) == 4 and query[1] % key[1] == 0
            return heads_step("scores", query[1], key[1], query[3]) if is_known else LayerStep("scores", "")
        data = 1 if name == "addmm" else 0
        if name in STACKED_PRODUCTS and self._weight_before(slots[1]) >= 0:  # a kernel for each expert
            experts = self._shape(node if name == "bmm" else slots[1])[0]
            sizes, weight = (self._shape(slots[0])[-1], self._shape(node)[-1]), self._weight_before(slots[1])
            return experts_step(experts, *sizes, self._parameter(weight))
        has_weight = name in ("linear", "addmm") or self.op_of(slots[1]) in ("prim::GetAttr", "aten::t")
        if not has_weight:
            before = self._shape(slots[0])
            heads = (before[1], before[3]) if len(before) == 4 else (0, 0)
            return LayerStep("product", "", heads=heads)
        in_width, out_width = self._shape(slots[data])[-1], self._shape(node)[-1]
        weight = self._parameter(slots[2 if name == "addmm" else 1])
        return LayerStep("dense", f"→ {size_word(out_width)}", in_width, out_width, weight=weight)

    def _einsum_of(self, node: int, slots: dict[int, int]) -> LayerStep:
        """Return a product along named axes; the letters of the kernel have their sizes from other tensors."""
        inputs, _, result = self._label(slots[0]).replace(" ", "").partition("->")
        tensors = [source for _, (source, _) in self.inputs_of(slots[1])]
        weights = [self._weight_before(source) for source in tensors]
        letters = inputs.split(",")
        if len(letters) != len(tensors) or not result:
            return UNKNOWN_STEP
        if max(weights) < 0:
            return LayerStep("product", "", heads=_einsum_heads(letters, result, self._known_shape(tensors[0])))
        known = [(result, node), *((letter, source) for letter, source in zip(letters, tensors, strict=True))]
        sizes = {
            letter: size
            for each, source in known
            if self.op_of(source) != "prim::GetAttr"
            for letter, size in zip(each, self._shape(source), strict=True)
        }
        kernels = [(letter, weight) for letter, weight in zip(letters, weights, strict=True) if weight >= 0]
        data_letters = "".join(letter for letter, weight in zip(letters, weights, strict=True) if weight < 0)
        each, weight = kernels[0]
        if len(kernels) > 1 or not sizes.keys() >= {*each}:
            return UNKNOWN_STEP
        equation = f"{data_letters},{each}->{result}"
        step = einsum_step(equation, self._parameter(weight), [sizes[letter] for letter in each])
        return step or UNKNOWN_STEP

    def _weight_before(self, node: int) -> int:
        """Return the parameter that a node reads, also transposed or in another dtype; -1 if it reads no parameter."""
        for _ in range(MOST_TURNS):
            op = self.op_of(node)
            if op == "prim::GetAttr":
                return node
            if op not in TURNING_OPS:
                break
            node = self.inputs_of(node)[0][1][0]
        return -1

    def _recurrent_of(self, name: str, node: int, slots: dict[int, int]) -> LayerStep | None:
        # The inputs are the list of weights, then: has biases, layers, dropout, training, bidirectional.
        weights = next((slot for slot, source in slots.items() if slot and self._is_list_of_weights(source)), -1)
        if weights < 0:
            return UNKNOWN_STEP
        layers = self._numbers(slots[weights + 2])[0]
        is_bidirectional = self._label(slots[weights + 5]) in TRUE_WORDS
        directions = 2 if is_bidirectional else 1
        # Projections have one more weight for each layer, and another size of results.
        weights_per_layer = 4 if self._label(slots[weights + 1]) in TRUE_WORDS else 2
        if len(self.inputs_of(slots[weights])) != weights_per_layer * layers * directions:
            return UNKNOWN_STEP
        units = self._units(node, slots[0], layers * directions, directions)
        cell = f"bi {name.upper()}" if is_bidirectional else name.upper()
        words = [f"{cell} {'2 × ' if is_bidirectional else ''}{size_word(units)}" if units else cell]
        words += [f"{layers} layers"] if layers != 1 else []
        return worded_step("recurrent", words, out_width=units * directions, weight=slots[weights])

    def _units(self, node: int, data: int, states: int, directions: int) -> int:
        """Return the units of a recurrent layer from the shape of a result, all outputs or the last states; 0 if it
        could be either."""
        before, after = self._shape(data), self._shape(node)
        has_outputs, has_states = after[:-1] == before[:-1], after[0] == states
        if has_outputs and (not has_states or directions == 1) and after[-1] % directions == 0:
            return after[-1] // directions
        return after[-1] if has_states and not has_outputs else 0

    def _parameter(self, node: int) -> int:
        """Return a number of the parameter that a node reads, equal for all reads of one parameter; -1 if its name has
        no path."""
        while self.op_of(node) == "aten::t":
            node = self.inputs_of(node)[0][1][0]
        path = self.graph.name[node].rpartition("/")[0] if self.op_of(node) == "prim::GetAttr" else ""
        return self.parameters.setdefault(path, len(self.parameters)) if path else -1

    @cached_property
    def parameters(self) -> dict[str, int]:
        """Numbers of the parameters read so far, by their paths in the program."""
        return {}

    def _is_list_of_weights(self, node: int) -> bool:
        inner = [source for _, (source, _) in self.inputs_of(node)]
        return bool(inner) and all(self.op_of(source) == "prim::GetAttr" for source in inner)


def _for_axes(values: Sequence[int], axes: int) -> list[int]:
    """Return a number for each axis; a single number is repeated."""
    return list(values) * axes if len(values) == 1 else list(values)


def _einsum_heads(letters: Sequence[str], result: str, shape: Sequence[int]) -> tuple[int, int]:
    """Return the number and the size of heads of a product of two tensors, 0 if unknown.

    Heads are the second axis, after the batch, that both tensors and the result have; their size is that of the axis
    that is summed. `shape` is the shape of the first tensor.

    >>> _einsum_heads(["bqhd", "bkhd"], "bhqk", [1, 9, 4, 16]), _einsum_heads(["bqd", "bkd"], "bqk", [1, 9, 16])
    ((4, 16), (0, 0))
    """
    both = [letter for letter in letters[0] if letter in letters[-1]]
    kept, summed = ([letter for letter in both if (letter in result) == is_kept] for is_kept in (True, False))
    if (len(letters), len(kept), len(summed)) != (2, 2, 1) or len(shape) != len(letters[0]):
        return 0, 0
    sizes = dict(zip(letters[0], shape, strict=True))
    return sizes[max(kept, key=result.index)], sizes[summed[0]]
