"""The log of a run joined with its graph: the `Log` of the Python API, tags to nodes, colours by logged values."""
