"""The nouns: what each stage receives and gives. Nothing here reads, decides or draws."""
