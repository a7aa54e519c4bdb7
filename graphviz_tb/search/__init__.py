"""The query language of `tbgraph find`, `model.find`, the server, and (as `viewer/query.js`) of the page."""
