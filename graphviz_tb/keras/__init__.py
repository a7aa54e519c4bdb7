"""Read Keras models from their JSON. The line of a class in `ops/layers.tsv` names its rules.

output_shapes   rules for output shapes: column `shape`
parameters      rules for numbers of parameters, also quantised ones: column `parameters`
                (rules for operations, column `flops`, are in `annotate/costs/layers.py`)
layers          the facts about each layer of a model, by these rules
tree, objects   the layers of a model, from the lists in its JSON or from its objects
calls           the inputs of each call of a layer
model           the graph of a model, with a node for each layer
archive, files  zip files; HDF5 files and metadata of SavedModels
weights, hdf5_items
                stored weights of archives and HDF5 files
validation      checks of configurations
"""
