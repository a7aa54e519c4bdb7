"""Forms of a tag for the look-up: prefixes and suffixes that loggers add to a name are cut off.

histogram, image, gradient, :0 at the end    always cut
grad, params, train, … in front              cut only if the name with them is not found
"""

from __future__ import annotations

import re

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.joins import MeasuredAspect

TAG_SUFFIX = re.compile(r"(?:/histogram|/(?:image|audio)(?:/\d+)?|[/._](?:grad|gradient)s?|:0)$")
TAG_PREFIXES = frozenset(
    (
        *("grad", "grads", "gradient", "gradients", "grad_norm", "grad_norms", "norm", "norms"),
        *("weight", "weights", "param", "params", "parameter", "parameters", "activation", "activations"),
        *("output", "outputs", "hist", "histogram", "histograms", "train", "training", "val", "valid", "validation"),
        *("test", "eval", "evaluation"),
    )
)
TAG_SEPARATOR = re.compile(r"[/.]")
GRADIENT_WORD = re.compile(r"(?:l\d_)?grad(?:ient)?s?(?:_.*)?|.*_grad(?:ient)?s?(?:_norm)?", re.DOTALL)
ASPECT_BY_WORD = {
    **dict.fromkeys(("activation", "activations", "output", "outputs"), MeasuredAspect.ACTIVATION),
    **dict.fromkeys(("weight", "weights", "param", "params", "parameter", "parameters"), MeasuredAspect.WEIGHT),
    **dict.fromkeys(
        ("kernel", "bias", "biases", "gamma", "beta", "moving_mean", "moving_variance"), MeasuredAspect.WEIGHT
    ),
}


@dataclass(frozen=True, slots=True)
class LookedUpTag:
    """A tag: the `forms` under which it is looked up, least cut first, its `core` (without suffixes always cut), and
    the aspect that its words state (None: none)."""

    name: str
    forms: tuple[str, ...]
    core: str
    aspect: MeasuredAspect | None


def parse_tag(name: str) -> LookedUpTag:
    """Split a tag into the forms for its look-up.

    >>> parse_tag("grad/fc.weight").forms, parse_tag("dense/kernel_0/histogram").forms
    (('grad/fc.weight', 'fc.weight'), ('dense/kernel_0/histogram', 'dense/kernel_0'))
    """
    forms = [name]
    core = name
    while found := TAG_SUFFIX.search(core):
        core = core[: found.start()]
    if core and core != name:
        forms.append(core)
    whole = forms[-1]
    while (split := TAG_SEPARATOR.search(core)) and core[: split.start()] in TAG_PREFIXES and core[split.end() :]:
        core = core[split.end() :]
        forms.append(core)
    return LookedUpTag(name, tuple(forms), whole, aspect_in_words(name))


def aspect_in_words(name: str) -> MeasuredAspect | None:
    """Return the aspect that the words of a tag state; None for none.

    >>> (
    ...     aspect_in_words("grad_norm/fc/bias").value,
    ...     aspect_in_words("layer1/weights_1").value,
    ...     aspect_in_words("val/loss").value,
    ... )
    ('gradient', 'weight', 'loss')
    """
    parts = TAG_SEPARATOR.split(name)
    if any(GRADIENT_WORD.fullmatch(part) for part in parts):
        return MeasuredAspect.GRADIENT
    words = [re.sub(r"_\d+$", "", part) for part in reversed(parts)]
    found = next((ASPECT_BY_WORD[word] for word in words if word in ASPECT_BY_WORD), None)
    return MeasuredAspect.LOSS if found is None and "loss" in words[0].lower() else found
