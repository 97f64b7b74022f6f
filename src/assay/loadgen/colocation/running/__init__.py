"""Pipelines in processes of their own, started, paused and ended together."""
