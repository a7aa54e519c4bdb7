"""Inference of shapes that the file does not declare, op by op.

symbols    unknown numbers, each with an identity
op         one op as a rule sees it: its inputs, settings and what is known of each output
signatures shapes by the table of ops
rules/     a function for each op whose shapes have no signature
constant_folding
           the elements of small integer tensors
frame      one call, in which the nodes of a function are inferred
engine     infers the nodes that are needed, each once
calls      functions, branches, loops of TensorFlow 2; loops those of TensorFlow 1
"""

from __future__ import annotations

from graphviz_tb.annotate.infer.engine import Inference

__all__ = ["Inference"]
