"""Kernels of the entropy coder, several interleaved states at once."""
