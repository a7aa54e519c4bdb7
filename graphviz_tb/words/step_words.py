"""One step of a network, such as a layer, a pool or a norm, and the notation of its sizes in papers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import group_thousands

WEIGHTED_KINDS = (
    "convolution",
    "depthwise",
    "dense",
    "heads",
    "embedding",
    "experts",
    "recurrent",
    "attention",
    "scan",
)
RESIZE_WAYS = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}

# Activations by op type or name, in lower case and without underscores.
ACTIVATION_WORDS = {
    "relu": "ReLU",
    "relu6": "ReLU6",
    "elu": "ELU",
    "selu": "SELU",
    "prelu": "PReLU",
    "gelu": "GELU",
    "silu": "SiLU",
    "swish": "SiLU",
    "mish": "Mish",
    "hardswish": "hard swish",
    "hardsigmoid": "hard sigmoid",
    "sigmoid": "sigmoid",
    "logistic": "sigmoid",
    "tanh": "tanh",
    "softplus": "softplus",
    "softmax": "softmax",
    "logsoftmax": "log softmax",
    "leakyrelu": "leaky ReLU",
}


@dataclass(frozen=True, slots=True)
class LayerStep:
    """One op that a paper describes: its kind, its words, its input and output channels (0: unknown).

    - `word`: the first of its words: a kernel, a width, the name of a norm or an activation.
    - `sizes`: the other words in order: channels, stride, dilation, groups, padding.
    - `heads`: the number and the size of heads that a dense layer computes; of experts only the number.
    - `weight`: the node of its kernel, -1 if unknown.
    - `positional`: rows of a table are read by position, independent of the input.
    """

    kind: str
    word: str
    in_width: int = 0
    out_width: int = 0
    heads: tuple[int, int] = (0, 0)
    weight: int = -1
    positional: bool = False
    sizes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Its words as the only step of a line, `3×3, 64, /2`."""
        return ", ".join([self.word, *self.sizes])

    @property
    def item(self) -> str:
        """Its words as an item of a list of layers, `3×3 64 /2`."""
        return " ".join([self.word, *self.sizes])

    @property
    def is_pointwise(self) -> bool:
        """Whether its kernel covers one position of an image or a sequence."""
        return self.word in ("1×1", "k1") and bool(self.sizes)


def worded_step(kind: str, words: Sequence[str], in_width: int = 0, out_width: int = 0, weight: int = -1) -> LayerStep:
    """Return a step with one or more words."""
    word, *sizes = words
    return LayerStep(kind, word, in_width, out_width, weight=weight, sizes=tuple(sizes))


def experts_step(count: int, in_width: int, out_width: int, weight: int = -1) -> LayerStep:
    """Return the step of a product with a kernel for each of `count` experts."""
    return LayerStep("experts", f"{count} experts", in_width, out_width, (count, 0), weight)


def heads_step(kind: str, heads: int, shared: int, size: int) -> LayerStep:
    """Return a step of attention; keys and values may have fewer heads (`shared`).

    >>> heads_step("attention", 12, 12, 64).line, heads_step("attention", 32, 8, 128).line
    ('12 heads × 64', '32 heads, 8 kv × 128')
    """
    count = f"{heads} head" if heads == 1 else f"{heads} heads"
    return worded_step(kind, [f"{count} × {size}"] if heads == shared else [count, f"{shared} kv × {size}"])


def heads_layer_step(in_width: int, heads: int, size: int, weight: int = -1) -> LayerStep:
    """Return the step of a dense layer whose result has an axis for heads.

    >>> heads_layer_step(64, 4, 16).word
    '→ 4×16'
    """
    return LayerStep("heads", f"→ {heads}×{size}", in_width, heads * size, (heads, size), weight)


UNKNOWN_STEP = LayerStep("unknown", "")  # a layer whose weights have no known shape
RELU_STEP, SQUARED_RELU_STEP, PRELU_STEP = (LayerStep("activation", word) for word in ("ReLU", "ReLU²", "PReLU"))
SCAN_STEP = LayerStep("scan", "scan")  # a recurrence without weights


def kernel_word(sizes: Iterable[int | None]) -> str:
    """Write the sizes of a kernel or a window; a single size has the letter `k`, because a list has other numbers, too.

    >>> kernel_word([3, 3]), kernel_word([7])
    ('3×3', 'k7')
    """
    words = list(map(size_word, sizes))
    return "×".join(words) if len(words) > 1 else "".join(f"k{word}" for word in words)


def step_words(along: Sequence[int], sign: str) -> list[str]:
    """Return the strides, dilations or factors of an image that are greater than one; equal numbers once.

    >>> step_words([2, 2], "/"), step_words([1, 2], "/"), step_words([1, 1], "/")
    (['/2'], ['/1×2'], [])
    """
    if not along or max(along) < 2:
        return []
    return [f"{sign}{along[0]}" if len(set(along)) == 1 else f"{sign}{'×'.join(map(str, along))}"]


def overlaps(sizes: Sequence[int | None], strides: Sequence[int]) -> bool:
    """Return whether a kernel is larger than its stride, so that padding matters."""
    return any((size or 0) > step for size, step in zip(sizes, strides, strict=False))


def along_image(values: Sequence[int], layout: str) -> list[int]:
    """Return the values for the axes of an image.

    >>> along_image([1, 2, 3, 1], "NHWC"), along_image([1, 1, 2, 2], "NCHW")
    ([2, 3], [2, 2])
    """
    return [value for value, axis in zip(values, layout, strict=False) if axis not in "NC"]


def einsum_step(equation: str, weight: int, kernel: Sequence[int | None]) -> LayerStep | None:
    """Return the step of a product with a kernel, its last input: a dense layer, which may split or join heads, or a
    layer for each expert, whose results another input may weight and sum.

    >>> [einsum_step(text, -1, [8, 2, 4]).word for text in ("abd,dce->abce", "abcd,cde->abce", "abc,abcd,cde->abe")]
    ['→ 2×4', '8 experts', '8 experts']
    """
    inputs, _, result = equation.replace(" ", "").partition("->")
    tensors, _, letters = inputs.rpartition(",")
    if len(letters) != len(kernel) or not all(kernel):
        return None
    sizes = dict(zip(letters, (size or 0 for size in kernel), strict=True))
    result_sizes = [sizes[letter] for letter in letters if letter in result]
    summed_sizes = [sizes[letter] for letter in letters if letter not in result]
    first = letters[0]
    if any(letter in tensors and letter in result for letter in letters) or tensors.count(first) > 1:
        in_width = prod(sizes[letter] for letter in letters[1:] if letter not in result)
        out_width = prod(sizes[letter] for letter in letters[1:] if letter in result)
        experts = experts_step(sizes[first], in_width, out_width, weight)
        return experts if first in tensors + result else None
    in_width, out_width = prod(summed_sizes), prod(result_sizes)
    if len(result_sizes) == 2 and len(summed_sizes) == 1:
        heads, size = result_sizes
        return heads_layer_step(in_width, heads, size, weight)
    return LayerStep("dense", f"→ {size_word(out_width)}", in_width, out_width, weight=weight)


def resized_step(name: str, before: Sequence[int], after: Sequence[int]) -> LayerStep:
    """Return the step of a resize, with its factor if all axes that change have the same factor.

    >>> resized_step("upsample_nearest2d", [1, 64, 8, 8], [1, 64, 16, 16]).word, resized_step("cubic", [], []).word
    ('↑2 nearest', 'bicubic')
    """
    interpolation = next((word for mode, word in RESIZE_WAYS.items() if mode in name), "resize")
    changed = [(old, new) for old, new in zip(before, after, strict=False) if old != new]
    is_enlarged = len(before) == len(after) and all(new > old > 0 == new % old for old, new in changed)
    factors = {new // old for old, new in changed} if is_enlarged else set()
    return LayerStep("pool", f"↑{factors.pop()} {interpolation}" if len(factors) == 1 else interpolation)


def size_word(size: int | None) -> str:
    """Write a size as in papers, with thin spaces from five digits on.

    >>> size_word(3072), size_word(None)
    ('3072', '?')
    """
    return "?" if size is None else str(size) if size < 10_000 else group_thousands(size)
