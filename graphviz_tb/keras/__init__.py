"""Keras layers as their JSON describes them: shapes and parameters by the rule of the class, and a short summary."""
