"""Bytes of a source: open, unzip, walk folders, read remote files, detect the form."""
