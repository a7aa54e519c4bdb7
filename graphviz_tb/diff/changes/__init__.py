"""Turn differences of matched nodes, and unmatched nodes, into as few changes as possible."""
