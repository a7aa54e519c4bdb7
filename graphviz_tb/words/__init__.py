"""Texts of boxes, lines and stubs of a picture."""
