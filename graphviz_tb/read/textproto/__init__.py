"""The protobuf text format, read straight into wire bytes.

literals    one literal to the bytes it represents
schema      what each message may hold, and how each field is written on the wire
document    what is being built: open messages, finished bytes, what was skipped
lines       the fast way: one known line at a time, remembered
blocks      the fastest: nodes as TensorFlow prints them, whole attributes remembered
tokens      the whole format, one token at a time
"""
