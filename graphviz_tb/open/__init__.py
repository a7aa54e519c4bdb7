"""Choice of the groups that a picture opens.

groups          what is open: named groups, all down to a depth, or those of a first picture
first_picture   what a first picture opens
weight_rows     which groups hold weights of the model
repeats         how large the repeats of a model are: the first picture shows the largest
"""
