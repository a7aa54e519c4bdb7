"""Names of modules of PyTorch as a figure to print writes them: `self_attn`, not `MultiheadAttention[self_attn]`.

On a screen both parts are needed, to find a module in the program. A reader of a figure wants one word: the attribute
that the program chose, or the class where the attribute is a number.
"""

from __future__ import annotations

import re

MODULE = re.compile(r"([A-Za-z_][\w.<>]*)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")  # class[attribute], attribute[0-5] within
FRAMEWORK = re.compile(r"\b(?:aten|onnx|prims|tfl)::")
NUMBERS = re.compile(r"[0-9@,\[\]\-]+")
CONTAINERS = ("Sequential", "ModuleList", "ModuleDict")
PLAIN_ATTRIBUTES = ("model", "module")  # of whatever class


def module_class(label: str) -> str:
    """Return the class of a module, "" for any other label.

    >>> module_class("LayerNorm[norm1]"), module_class("conv1"), module_class("A[a] · B[b]")
    ('LayerNorm', '', '')
    """
    found = MODULE.fullmatch(label)
    return found[1] if found else ""


def printed_name(label: str) -> str:
    """Return a label without the framework and, for each module in it, with the attribute or the class alone.

    >>> [printed_name(each) for each in ("Linear[fc]", "TransformerBlock[layers.[0-5]]", "Sequential[features.5]")]
    ['fc', 'TransformerBlock', 'features 5']
    >>> printed_name("GroupNorm[out.norm] → Conv2d[out.conv@2]"), printed_name("BertModel[model]")
    ('norm → conv', 'BertModel')
    >>> printed_name("2 aten::pow · aten::div"), printed_name("layer_[0-11]"), printed_name("Sequential[5]")
    ('2 pow · div', 'layer_[0-11]', 'Sequential[5]')
    """
    return MODULE.sub(_module_name, FRAMEWORK.sub("", label))


def _module_name(found: re.Match[str]) -> str:
    """Return the name of one module: the last part of its attribute that is a word, unless a class says more.

    A series of names, as `layer_[0-11]`, is no module.
    """
    kind, attribute = found[1], found[2].partition("@")[0]
    parts = re.split(r"\.(?![^\[]*\])", attribute)
    if not NUMBERS.fullmatch(parts[-1]) and parts[-1] not in PLAIN_ATTRIBUTES:
        return parts[-1]
    if kind not in CONTAINERS and not kind.islower():
        return kind
    return f"{parts[-2]} {parts[-1]}" if len(parts) > 1 else found[0]
