"""Secrets: how they are told, and kept out of what is written."""
