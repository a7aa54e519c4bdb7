"""Algorithms shared by several stages: traversal, reachability, numbering, counts through calls."""
