"""Changes in words: text, JSON, Markdown."""
