"""Levels over time: where a series changed, and which commits lie there."""
