"""Generators of input data: realistic, and the same for the same seed."""
