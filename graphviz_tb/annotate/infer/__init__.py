"""Infer shapes that the file does not declare, op by op.

symbols    numbers that are not known, each with an identity
values     shape and elements of one output, as far as they are known
signatures shapes by the table of ops
rules/     a function for each op whose shapes have no signature; folds the elements of small integer tensors
engine     asks for what is needed, each node once
calls      functions, branches, loops of TensorFlow 2; loops those of TensorFlow 1
"""

from __future__ import annotations

from graphviz_tb.annotate.infer.engine import Inference

__all__ = ["Inference"]
