"""The differences of matched nodes and what has no partner, folded to as few changes as possible."""
