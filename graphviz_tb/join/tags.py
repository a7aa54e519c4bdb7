"""Forms of a tag for the look-up: prefixes and suffixes that loggers add to a name are cut off.

histogram, image, gradient, :0 at the end    always cut
grad, params, train, … in front              cut only if the name with them is not found
"""

from __future__ import annotations

import re

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.joins import Aspect

BEHIND = re.compile(r"(?:/histogram|/(?:image|audio)(?:/\d+)?|[/._](?:grad|gradient)s?|:0)$")
IN_FRONT = frozenset(
    (
        *("grad", "grads", "gradient", "gradients", "grad_norm", "grad_norms", "norm", "norms"),
        *("weight", "weights", "param", "params", "parameter", "parameters", "activation", "activations"),
        *("output", "outputs", "hist", "histogram", "histograms", "train", "training", "val", "valid", "validation"),
        *("test", "eval", "evaluation"),
    )
)
PARTS = re.compile(r"[/.]")
GRADIENT = re.compile(r"(?:l\d_)?grad(?:ient)?s?(?:_.*)?|.*_grad(?:ient)?s?(?:_norm)?", re.DOTALL)
ASPECTS = {
    **dict.fromkeys(("activation", "activations", "output", "outputs"), Aspect.ACTIVATION),
    **dict.fromkeys(("weight", "weights", "param", "params", "parameter", "parameters"), Aspect.WEIGHT),
    **dict.fromkeys(("kernel", "bias", "biases", "gamma", "beta", "moving_mean", "moving_variance"), Aspect.WEIGHT),
}


@dataclass(frozen=True, slots=True)
class LookedUpTag:
    """A tag: the `forms` under which it is looked up, least cut first, its `core` (without suffixes always cut), and
    the aspect that its words state (None: none)."""

    name: str
    forms: tuple[str, ...]
    core: str
    aspect: Aspect | None


def tag_of(name: str) -> LookedUpTag:
    """Split a tag into the forms for its look-up.

    >>> tag_of("grad/fc.weight").forms, tag_of("dense/kernel_0/histogram").forms
    (('grad/fc.weight', 'fc.weight'), ('dense/kernel_0/histogram', 'dense/kernel_0'))
    """
    forms = [name]
    core = name
    while found := BEHIND.search(core):
        core = core[: found.start()]
    if core and core != name:
        forms.append(core)
    whole = forms[-1]
    while (split := PARTS.search(core)) and core[: split.start()] in IN_FRONT and core[split.end() :]:
        core = core[split.end() :]
        forms.append(core)
    return LookedUpTag(name, tuple(forms), whole, aspect_of(name))


def aspect_of(name: str) -> Aspect | None:
    """Return the aspect that the words of a tag state; None for none.

    >>> aspect_of("grad_norm/fc/bias").value, aspect_of("layer1/weights_1").value, aspect_of("val/loss").value
    ('gradient', 'weight', 'loss')
    """
    parts = PARTS.split(name)
    if any(GRADIENT.fullmatch(part) for part in parts):
        return Aspect.GRADIENT
    words = [re.sub(r"_\d+$", "", part) for part in reversed(parts)]
    found = next((ASPECTS[word] for word in words if word in ASPECTS), None)
    return Aspect.LOSS if found is None and "loss" in words[0].lower() else found
