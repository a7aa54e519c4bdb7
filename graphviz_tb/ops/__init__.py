"""Knowledge of op types, all of it from one table, `ops.tsv`: no other part of the package lists op types.

Roles of an op: `has_role(op, Role.SUMMARY)`, and sets of the types with one role. Inputs that are weights or sizes,
names and dtypes of outputs, defaults of attributes. Keras classes have a second table, `layers.tsv`.

Sets contain only types that the table lists. Gradients, updates, summaries and ops that save or restore variables exist
in other libraries too and are recognised by name patterns: ask `has_role` for these.
"""
