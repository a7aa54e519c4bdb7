"""Shorten names for a figure for print: one word for a PyTorch module, whole words of a list that is too long.

The name `MultiheadAttention[self_attn]` becomes `self_attn`. On a screen both parts help to find a module in the
program; in a figure the attribute is enough, or the class if the attribute is a number.
"""

from __future__ import annotations

import re

from graphviz_tb.caches import compile_on_use
from graphviz_tb.model.measure import WORDS_DOT, text_width

LISTED_LAYER = compile_on_use(r", (?:dw )?(?:[0-9]+×|k)[0-9]|, → ")  # another layer of a list
BLOCK_COUNT = compile_on_use(r"(\d{1,9}) × \((\d{1,9} heads?)?.*", re.ASCII)  # words of equal blocks
# class[attribute], with attribute[0-5] within; only from the beginning of a word, so that a long name is read once
MODULE = compile_on_use(r"(?<![\w.<>])([A-Za-z_][\w.<>]*)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
FRAMEWORK = compile_on_use(r"\b(?:aten|onnx|prims|tfl)::")
NUMBERS = compile_on_use(r"[0-9@,\[\]\-]+")
CONTAINERS = ("Sequential", "ModuleList", "ModuleDict")
PLAIN_ATTRIBUTES = ("model", "module")  # of whatever class


def module_class(label: str) -> str:
    """Return the class of a module; "" for any other label.

    >>> module_class("LayerNorm[norm1]"), module_class("conv1"), module_class("A[a] · B[b]")
    ('LayerNorm', '', '')
    """
    found = MODULE.fullmatch(label)
    return found[1] if found else ""


def first_words(text: str, limit: int, size: int, goes_on: bool = False) -> str:
    """Return the first words of a text, between dots and commas, that fit `limit` pixels, with `…` in place of further
    layers or branches of a list, unless the list continues elsewhere (`goes_on`).

    >>> first_words("3 layers · 594 k each", 76, 10), first_words("12 544 → 1024 → 1024, ReLU", 76, 10)
    ('3 layers', '')
    >>> first_words("3×3 /2 | 1×7, 7×1 | max 3×3 /2", 76, 10), first_words("3×3 32 /2, 3×3 32, 3×3 64", 76, 10)
    ('3×3 /2 | …', '3×3 32 /2, …')

    Equal blocks whose words do not fit are only counted, blocks of attention with their heads.

    >>> first_words("24 × (1×1 128, 3×3 32)", 76, 10), first_words("3 × (7×7), → 1536", 60, 10)
    ('24 blocks', '3 × (7×7), …')
    >>> first_words("12 × (12 heads × 64), 64 → 64", 76, 10), first_words("2 × (24 heads × 32, w 7)", 76, 10)
    ('12 × (12 heads)', '2 × (24 heads)')
    """
    whole, mark = text, ""
    while text and (text_width(text + mark, size) > limit or text.count("(") > text.count(")")):
        marks = (" | ",) if " | " in whole else (WORDS_DOT, ", ")  # a branch is not cut
        shorter = max((text.rpartition(each)[0] for each in marks), key=len)
        blocks = BLOCK_COUNT.fullmatch(text)
        counted = blocks and (not shorter or shorter.count("(") > shorter.count(")"))
        heads = f"{blocks[1]} × ({blocks[2]})" if blocks and blocks[2] else ""
        text = (heads if len(heads) < len(text) and heads else f"{blocks[1]} blocks") if blocks and counted else shorter
        rest = "" if counted else whole[len(text) :]
        mark = "" if goes_on else " | …" if " | " in rest else ", …" if LISTED_LAYER.search(rest) else ""
    return text + mark if text else ""


def printed_name(label: str) -> str:
    """Return a label without the framework, and with only the attribute or the class of each module.

    >>> [printed_name(name) for name in ("Linear[fc]", "TransformerBlock[layers.[0-5]]", "Sequential[features.5]")]
    ['fc', 'TransformerBlock', 'features 5']
    >>> printed_name("GroupNorm[out.norm] → Conv2d[out.conv@2]"), printed_name("BertModel[model]")
    ('norm → conv', 'BertModel')
    >>> printed_name("2 aten::pow · aten::div"), printed_name("layer_[0-11]"), printed_name("Sequential[5]")
    ('2 pow · div', 'layer_[0-11]', 'Sequential[5]')
    """
    return MODULE.sub(_module_name, FRAMEWORK.sub("", label))


def _module_name(found: re.Match[str]) -> str:
    """Return the name of one module: the last part of its attribute that is a word, unless a class says more.

    A series of names, such as `layer_[0-11]`, is not a module.
    """
    kind, attribute = found[1], found[2].partition("@")[0]
    parts = re.split(r"\.(?![^\[]*\])", attribute)
    if not NUMBERS.fullmatch(parts[-1]) and parts[-1] not in PLAIN_ATTRIBUTES:
        return parts[-1]
    if kind not in CONTAINERS and not kind.islower():
        return kind
    return f"{parts[-2]} {parts[-1]}" if len(parts) > 1 else found[0]
