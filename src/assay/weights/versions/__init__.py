"""Commits, references and merges: which tensors a version of a model has."""
