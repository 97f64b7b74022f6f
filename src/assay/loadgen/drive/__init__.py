"""Issuing queries to a graph of stages, in this process."""
