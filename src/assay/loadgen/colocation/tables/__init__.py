"""Colocated runs as text for a terminal."""
