"""Tensors as chunks in pack files: written, indexed, read, gathered anew."""
