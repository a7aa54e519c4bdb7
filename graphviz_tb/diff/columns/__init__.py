"""Each graph as columns that can be compared: labels, hashes of neighbourhoods, the tree of raw name scopes."""
