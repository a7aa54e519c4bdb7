"""One module for each form of input: bytes or objects to a `GraphDef`."""
