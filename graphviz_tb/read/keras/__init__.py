"""Keras layers as their JSON describes them: shapes and weights by the rule of the class, and what to say of each."""
