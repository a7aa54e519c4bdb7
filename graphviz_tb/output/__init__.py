"""The table of output formats, and files that are written whole or not at all."""
