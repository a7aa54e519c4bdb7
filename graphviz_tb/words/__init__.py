"""Texts of boxes, lines and stubs of a picture.

view, level     what each box says: its label, its second line; all words of one open group
line_labels     what a line says
paper, block_words
                words of papers: of a group, of the steps in it
layer_steps     the steps themselves: of TensorFlow's ops; keras_steps, pytorch_steps and exported_steps of others
attributes      values of attributes
"""
