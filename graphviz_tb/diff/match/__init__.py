"""Which node of one graph is which of the other, and why."""
