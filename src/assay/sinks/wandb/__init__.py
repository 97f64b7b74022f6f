"""Weights & Biases: a group for a session, a run for each run."""
