"""Match the nodes of two graphs."""
