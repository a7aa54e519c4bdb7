"""Columns of a graph to compare: labels, hashes of neighbourhoods, the tree of raw name scopes."""
