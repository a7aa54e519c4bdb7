"""The protobuf text format, read straight into wire bytes.

Two readers write the same bytes: known lines (fast), and tokens (the whole format). Each hands over to the other where
it finds text that it does not know.
"""
