"""Algorithms that several stages use.

layer_rows      rows and scopes that are layers
rows            preorder of rows, sums below a row, rows outside of the model
calls           functions that a node calls, and numbers of ops through calls
traversal       orders and reachability; level_flow: the order of one level; main_path: its main path
tensors         elements and dtypes of tensors
index_arithmetic
                ops that compute positions and sizes
node_columns, canonical, skyline, drawing_math
                columns of node messages; canonical forms of small graphs; extents of a drawing; colours and polylines
"""
