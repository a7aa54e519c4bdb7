"""Shapes that the file does not say, from what each op does.

symbols    numbers that are not known, each with an identity
values     what is known of one output
signatures shapes that the table of ops says
rules/     a function for each op whose shapes no signature says; folds the elements of small integer tensors
engine     asks for what is needed, each node once
calls      functions, branches, loops of TensorFlow 2; loops those of TensorFlow 1
"""

from __future__ import annotations

from graphviz_tb.annotate.infer.engine import Inference

__all__ = ["Inference"]
