"""The query language of `tbgraph find`, `model.find`, the server, and (translated to JavaScript) of the page."""
