"""Texts of boxes, lines and stubs of a picture.

view, level     the label and the second line of each box; all texts of one open group
line_labels     the texts of a line
paper           words of papers for a row: a layer, a group, a stack
parameters      the weights below a row: their number, and the ops that use their kernels
block, block_words, heads, shared_words
                linked steps; the words for them; heads of attention; words of several parts on one line
printed_names   names and lines in a figure to print
step_words      one step, and how a paper writes its sizes
op_reader       the inputs, weights and constants of an op
layer_steps     the steps of TensorFlow's ops; keras_steps, pytorch_steps and exported_steps of others
attributes      values of attributes
"""
