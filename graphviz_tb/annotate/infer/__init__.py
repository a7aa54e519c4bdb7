"""Infer shapes that the file does not declare, op by op.

symbols    unknown numbers with an identity
op         one op as a rule sees it: its inputs, settings and known facts of each input
signatures shapes by the table of ops
rules/     a function for each op whose shapes have no signature
constant_folding
           the elements of small integer tensors
frame      one call, in which the nodes of a function are inferred
engine     infer the needed nodes, each once
calls      functions, branches, loops of TensorFlow 2; loops those of TensorFlow 1
"""

from __future__ import annotations

from graphviz_tb.annotate.infer.engine import Inference

__all__ = ["Inference"]
