"""The drawing order of a level: ranks, the order in each, and the shelves of what is not connected. No pixels."""
