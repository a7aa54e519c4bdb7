"""Shapes that the file does not say, from what each op does.

symbols    numbers that are not known, each with an identity
values     what is known of one output
rules/     one rule for each op, by families; fold.py the elements of small integer tensors
engine     asks for what is needed, each node once
calls      functions, branches, loops of TensorFlow 2; loops those of TensorFlow 1
"""

from __future__ import annotations

from graphviz_tb.annotate.infer.engine import Inference

__all__ = ["Inference"]
