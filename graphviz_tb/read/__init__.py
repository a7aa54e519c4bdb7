"""Read any source: recognise its form, and ask the reader of that form."""
