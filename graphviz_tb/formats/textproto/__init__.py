"""The protobuf text format, read straight into wire bytes.

Three readers write the same bytes: whole nodes as TensorFlow prints them (fastest), known lines (fast), and tokens (the
whole format). Each hands over to the next where it finds text that it does not know.
"""
