"""Knowledge of op types, all of it from one table, `ops.tsv`: no other part of the package lists op types.

table     the file, and its lines
roles     what an op is for: `has_role(op, Role.SUMMARY)`, and sets as `VARIABLES`
inputs    inputs that are weights or sizes
outputs   names and dtypes of outputs, defaults of attributes
layers    the classes of Keras: a table of their own, `layers.tsv`

Sets hold the types that the table lists. Gradients, updates, summaries and what writes, saves and restores variables
come from other libraries too and are known by their names: ask `has_role` for these.
"""
