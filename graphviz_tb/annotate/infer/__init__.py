"""Inference of shapes that the file does not declare, op by op.

symbols    unknown numbers, each with an identity
values     shape and elements of one output, as far as known
signatures shapes by the table of ops
rules/     a function for each op whose shapes have no signature; constant folding of small integer tensors
engine     infers the nodes that are needed, each once
calls      functions, branches, loops of TensorFlow 2; loops those of TensorFlow 1
"""

from __future__ import annotations

from graphviz_tb.annotate.infer.engine import Inference

__all__ = ["Inference"]
