"""Keras layers as their JSON describes them: one line a class in `ops/layers.tsv` names the rules of its kind.

output_shapes   the rules of shapes: column `shape`
parameters      the rules of weights: column `parameters`; quantized: of kernels packed into bytes
                (the rules of work, column `flops`, are in `annotate/costs/layers.py`)
layers          what is known of each layer of a model by these rules
tree, objects   the layers of a model, from the lists in its JSON or from its objects
calls           which tensors each call of a layer takes
model           the graph of a model: a node for each layer
archive, files  zip files; HDF5 files and metadata of SavedModels
weights, hdf5_items
                stored weights of archives and HDF5 files
validation      what a configuration may hold
"""
