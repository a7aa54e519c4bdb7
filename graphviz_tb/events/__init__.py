"""Event files: records, decoding, series of points, runs, and the graphs in them."""
