"""Whether an op belongs to the network itself, to its gradients, or to the optimizer, by its type and its name."""

from __future__ import annotations

import re

from graphviz_tb.annotate.costs.rules import UPDATES
from graphviz_tb.model.costs import ROLES

FORWARD, GRADIENT, OPTIMIZER = range(len(ROLES))
GRADIENT_SCOPE = re.compile(r"(^|/)(gradients(_\d+)?|gradient_tape)/")
GRADIENT_TYPE = re.compile(r"Grad(V\d+)?$|Backprop(Input|Filter)?(V\d+)?$|GradWithArgmax$")
UPDATE = re.compile(rf"^(Resource)?(Sparse)?Apply({'|'.join(UPDATES)})$")

# Scopes and variables that optimizers make: tf.train, Keras 2 and Keras 3 name them so.
OPTIMIZER_NAME = re.compile(
    r"(^|/)(Adam|AdamW|Adamax|Nadam|Adagrad|Adadelta|Ftrl|RMSProp|RMSprop|Momentum|SGD|sgd|adam|rmsprop|adagrad|Lion"
    r"|GradientDescent|optimizer|Optimizer)(_\d+)?(/|$)"
    r"|(^|/)(beta1_power|beta2_power|global_step|iterations?|learning_rate)(_\d+)?$"
)


def role(name: str, op: str) -> int:
    """An index into `ROLES`.

    >>> ROLES[role("gradients/conv1/Conv2D_grad/Conv2DBackpropInput", "Conv2DBackpropInput")], ROLES[role("a", "Relu")]
    ('gradient', 'forward')
    >>> ROLES[role("conv1/weights/Adam_1", "VariableV2")], ROLES[role("train/u", "ResourceApplyAdam")]
    ('optimizer', 'optimizer')
    """
    # A name that speaks of both ("training/Adam/gradients/mul") counts with the optimizer.
    if UPDATE.match(op) or OPTIMIZER_NAME.search(name):
        return OPTIMIZER
    if GRADIENT_TYPE.search(op) or GRADIENT_SCOPE.search(name):
        return GRADIENT
    return FORWARD
