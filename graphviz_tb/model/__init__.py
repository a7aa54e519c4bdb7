"""The nouns: input and output types of each stage. Nothing here reads, decides or draws."""
