"""Keras layers as their JSON tells them: shapes and weights by the rule of the class, and what to say of each."""
