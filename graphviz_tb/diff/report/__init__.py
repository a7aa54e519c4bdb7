"""Changes as text, JSON and Markdown."""
