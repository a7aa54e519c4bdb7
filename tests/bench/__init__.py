"""Benchmarks: measure, then write the number down."""
