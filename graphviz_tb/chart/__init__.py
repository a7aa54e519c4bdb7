"""Prepare series of a log for a screen or a file: smoothed, thinned to pixels, on axes, as lines of a drawing.

Nothing here reads a file or knows a format of pictures: arrays go in, arrays and `Drawing` values come out.
"""
