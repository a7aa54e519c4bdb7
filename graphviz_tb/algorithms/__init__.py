"""Algorithms on the nouns of `model/` that several stages need: counts through calls, orders, numberings."""
