"""Streams of coded values: how each kind is written and read back."""
