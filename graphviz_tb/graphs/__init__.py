"""Algorithms that several stages use.

layer_rows      which boxes are layers
rows            what is in a row, sums below it, rows outside of the model
calls           which functions a node calls, ops counted through calls
traversal       orders and reachability; level_flow: the order of one level; main_path: its longest path
tensors         elements and dtypes of tensors
index_arithmetic
                ops that compute positions and sizes
node_columns, canonical, skyline, drawing_math
                columns of node messages; names of small graphs; free room at an edge; colours and polylines
"""
